package thriftimpl

import (
	"github.com/nocopythrift/nocopythrift/internal/jsontext"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
)

// What the methods of encoding/json/v2 write to and read from.
type (
	JSONOut = *jsontext.Encoder
	JSONIn  = *jsontext.Decoder
)

// JSON is the method MarshalJSON of generated types.
func JSON[S nocopy.StructView](s S) ([]byte, error) { return nocopyjson.MarshalValue(s) }

// PutJSON is the method MarshalJSONTo of generated types.
func PutJSON[S nocopy.StructView](s S, e JSONOut) error { return nocopyjson.MarshalTo(s, e) }

// SetJSON is the method UnmarshalJSON of generated types.
func SetJSON[S nocopy.StructView](s *S, b []byte) error { return nocopyjson.UnmarshalValue(s, b) }

// GetJSON is the method UnmarshalJSONFrom of generated types.
func GetJSON[S nocopy.StructView](s *S, d JSONIn) error { return nocopyjson.UnmarshalFrom(s, d) }

// JSONNames returns how the fields of the struct are called in JSON, by their numbers; or an error
// if two have the same name.
func JSONNames(d *Desc) ([]nocopy.XJSONName, error) { return nocopy.X{}.JSONNames(d) }
