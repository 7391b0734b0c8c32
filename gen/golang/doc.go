// Package golang generates Go source from a schema: accessors, each of which is one
// call into package nocopy or thriftimpl, and descriptors that tell these what the types are.
//
// names.go forms Go names as Apache Thrift's generator does, scope.go makes them
// unique, packages.go decides which file's code goes into which package, types.go
// spells types, views.go and services.go prepare the templates' input, and emit.go
// executes the templates.
package golang
