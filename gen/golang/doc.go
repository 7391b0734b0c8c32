// Package golang generates Go source from a schema. Accessors are single calls into package nocopy
// or thriftimpl. Descriptors tell these what the types are. The commands nocopyc and
// thrift-gen-nocopy call it.
//
// The noun is a file: the Go file that is being written for one .thrift file. It knows how types
// and other packages' names are spelled there:
//
//	schema.Set ─► generator ─► file ─► views ─► templates ─► gofmt ─► []File
//	                 │           │
//	                 │           └─ imports, types       names of Go things: internal/names
//	                 └─ which package, errors            Validate methods:   internal/rules
//
// From the ground up: emit.go has the options and executes templates, imports.go knows paths of
// files and packages, file.go and types.go spell names and types. views.go and services.go prepare
// the input of the templates for declarations, source.go for a whole file, fields.go for what
// Options.Fields adds and kitex.go for what Options.Kitex adds. generate.go puts them together.
//
// All that depends on a base type is in the table scalars of types.go, and in rulesOf of
// internal/rules.
package golang
