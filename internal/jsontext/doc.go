// Package jsontext is encoding/json/jsontext where the Go release has it, and the module that it
// was developed in where it has not: github.com/go-json-experiment/json at a fixed version. It is
// what reads JSON for this library, and names the types of the methods MarshalJSONTo and
// UnmarshalJSONFrom, so that generated code is the same for all releases.
//
// Go 1.27 has the standard package unless it is built with GOEXPERIMENT=nojsonv2; Go 1.26 with
// GOEXPERIMENT=jsonv2, where the module consists of aliases for it. What the module was compared
// with is in bench/measurements.md.
package jsontext
