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
func JSON[S nocopy.StructView](s S) ([]byte, error) {
	return jsonvalue.MarshalValue(s.ThriftDesc(), nocopy.Struct(s))
}

// PutJSON implements the method MarshalJSONTo of generated types.
func PutJSON[S nocopy.StructView](s S, e JSONOut) error {
	return jsonvalue.MarshalTo(s.ThriftDesc(), nocopy.Struct(s), e)
}

// SetJSON implements the method UnmarshalJSON of generated types.
func SetJSON[S nocopy.StructView](s *S, b []byte) error {
	return setJSON(s, func(d *Desc) (nocopy.Struct, error) { return jsonvalue.UnmarshalValue(d, b) })
}

// GetJSON implements the method UnmarshalJSONFrom of generated types.
func GetJSON[S nocopy.StructView](s *S, d JSONIn) error {
	return setJSON(s, func(desc *Desc) (nocopy.Struct, error) { return jsonvalue.UnmarshalFrom(desc, d) })
}

// setJSON sets *s to what read returns, unless that is an error.
func setJSON[S nocopy.StructView](s *S, read func(*Desc) (nocopy.Struct, error)) error {
	if s == nil {
		panic("nocopy: nil instead of a handle to be set")
	}
	made, err := read((*s).ThriftDesc())
	if err == nil {
		*s = S(made)
	}
	return err
}

// JSONNames returns the JSON names of the struct's fields, by field number. It returns an error if
// two fields have the same name.
func JSONNames(d *Desc) ([]JSONName, error) { return d.JSONNames() }
