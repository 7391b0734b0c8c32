// Package golang writes Go source for a schema: accessors that are one call
// each into package nocopy, and the tables that tell it what the types are.
//
// names.go is Apache Thrift's way of naming things in Go, scope.go makes the
// names unique, packages.go finds out which file goes into which package,
// types.go spells types, and emit.go fills in the templates.
package golang
