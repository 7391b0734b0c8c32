// Package schema finds out what .thrift files mean: it follows their includes,
// looks up names, resolves typedefs, assigns field ids and evaluates constants
// and defaults. What it returns is complete and free of contradictions; what
// is wrong is reported all at once, each error with its place.
//
//	Load → Set → Program (a file) → Struct, Enum, Const, Typedef, Service
//
// Reading order: model.go (what comes out), load.go (files), resolve.go (names
// and types), check.go (declarations), value.go and wire.go (constants).
package schema
