// Package golang generates Go source from a schema. Each accessor is a single call into package
// nocopy or thriftimpl. Descriptors describe the types to these packages. The commands nocopyc and
// thrift-gen-nocopy call package golang.
//
// The central type is file: the Go file that is being written for one .thrift file. It knows how
// types and names of other packages are written there:
//
//	schema.Set ─► generator ─► file ─► views ─► templates ─► gofmt ─► []File
//	                 │           │
//	                 │ └─ imports, types names in Go code: internal/names
//	                 └─ which package, errors            Validate methods:   internal/rules
//
// From the bottom up: emit.go has the options and executes templates, imports.go knows paths of
// files and packages, file.go and types.go write names and types. views.go and services.go prepare
// the input of the templates for declarations, source.go for a whole file, fields.go for
// Options.Fields, and kitex.go for Options.Kitex. generate.go puts them together.
//
// All code that depends on base types is in the table scalars of types.go, and in rulesOf of
// internal/rules.
//
// It is a part of commands: its names may change in any version, see docs/upgrading.md.
package golang
