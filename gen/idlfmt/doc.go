// Package idlfmt formats .thrift files as gofmt formats Go files: the result has one form,
// whatever the original white space was.
//
// Format changes only white space. It works on the tokens of the text, comments included, so that
// nothing gets lost. It checks that its result has the same tokens, and that each comment still
// belongs to the same declaration.
//
// walk.go follows the grammar and says where lines end, printer.go writes tokens and comments,
// diff.go compares lines.
//
// It is a part of commands: its names may change in any version, see docs/upgrading.md.
package idlfmt
