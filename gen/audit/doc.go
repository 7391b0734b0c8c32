// Package audit finds what a change of .thrift files breaks: all that Apache's thrift --audit
// finds, mostly by its rules, and more.
//
// A Version is one state of the files: on disk, or in a git revision. Compare pairs the files of
// two Versions, the definitions in them, and returns a Finding for each difference that matters.
//
// version.go and git.go load Versions, history.go tells what had an id before, pair.go pairs what
// belongs together, compare.go, fields.go and service.go compare, types.go tells which types are
// read as each other, print.go writes.
package audit
