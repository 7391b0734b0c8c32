// Package schema makes a model of .thrift files. It reads included files, looks up names, resolves
// typedefs, assigns field ids, and evaluates constants and defaults. The model is complete and
// consistent unless there are errors. Errors are returned together, each with its position.
//
//	Load → Set → Program (a file) → Struct, Enum, Const, Typedef, Service
//
// Reading order: model.go (the model), load.go (files), declarations.go and service.go
// (declarations), resolve.go (names and types), value.go, reference.go and wire.go
// (constants).
//
// It is a part of commands: its names may change in any version, see docs/upgrading.md.
package schema
