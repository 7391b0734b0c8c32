// Package idlfmt formats .thrift files, as gofmt does Go files: one form for all, whatever the
// white space was.
//
// Format changes white space only. It works on the tokens of the text, comments included, so that
// nothing gets lost, and checks that those of its result are the same and that each comment still
// belongs to the same declaration.
//
// walk.go follows the grammar and tells where lines end, printer.go writes tokens and comments,
// diff.go compares lines.
package idlfmt
