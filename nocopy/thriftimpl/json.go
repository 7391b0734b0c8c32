package thriftimpl

import (
	"github.com/nocopythrift/nocopythrift/internal/jsontext"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/jsonvalue"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// The Encoder and Decoder of the methods for encoding/json/v2.
type (
	JSONOut = *jsontext.Encoder
	JSONIn  = *jsontext.Decoder
)

// JSONName is the name of a field in JSON.
type JSONName = schema.JSONName

// JSON implements the method MarshalJSON of generated types.
func JSON[S nocopy.StructView](s S) ([]byte, error) { return jsonvalue.MarshalValue(s) }

// PutJSON implements the method MarshalJSONTo of generated types.
func PutJSON[S nocopy.StructView](s S, e JSONOut) error { return jsonvalue.MarshalTo(s, e) }

// SetJSON implements the method UnmarshalJSON of generated types.
func SetJSON[S nocopy.StructView](s *S, b []byte) error { return jsonvalue.UnmarshalValue(s, b) }

// GetJSON implements the method UnmarshalJSONFrom of generated types.
func GetJSON[S nocopy.StructView](s *S, d JSONIn) error { return jsonvalue.UnmarshalFrom(s, d) }

// JSONNames returns the JSON names of the struct's fields, by field number. It returns an error if
// two fields have the same name.
func JSONNames(d *Desc) ([]JSONName, error) { return d.JSONNames() }
