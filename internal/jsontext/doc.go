// Package jsontext is encoding/json/jsontext if the Go release has it. For other releases it is
// the module in which that package was developed, github.com/go-json-experiment/json, at a fixed
// version. This library reads JSON with it. It also names the types of the methods MarshalJSONTo
// and UnmarshalJSONFrom, so that generated code is the same for all releases.
//
// Go 1.27 has the standard package unless it is built with GOEXPERIMENT=nojsonv2; Go 1.26 with
// GOEXPERIMENT=jsonv2, where the module consists of aliases for it. For comparisons of the module
// with other packages see bench/measurements.md.
package jsontext
