package edits_test

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestReferredSize: setters copy a binary shorter than 4,096 bytes, and refer to one of 4,096, by
// itself and as an element, key or value.
func TestReferredSize(t *testing.T) {
	if !aliasing {
		return // the safe twins copy all
	}
	blob, blobs := fieldNamed(allDesc, "blob"), fieldNamed(allDesc, "blobs")
	byText := schema.NewStruct("ByText")
	byText.Define(
		schema.FieldDesc{ID: 1, Name: "map", Type: schema.MapOf(schema.TypeI32, schema.TypeBinary)},
		schema.FieldDesc{ID: 2, Name: "set", Type: schema.SetOf(schema.TypeBinary)},
	)
	filled := func(n int) []byte { return bytes.Repeat([]byte{'a'}, n) }
	ways := map[string]func(v []byte) engine.Struct{
		"a field": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			s.SetBytes(blob, v)
			return s
		},
		"a field that was set": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			s.SetBytes(blob, []byte("before"))
			s.SetBytes(blob, v)
			return s
		},
		"a field of a received message": func(v []byte) engine.Struct {
			made := engine.New(allDesc)
			made.SetBytes(blob, []byte("before"))
			s := mustParse(t, allDesc, bytes.Clone(made.Message().Bytes()))
			made.Release()
			s.SetBytes(blob, v)
			return s
		},
		"elements at once": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			s.SetByteSlices(blobs, allDesc, [][]byte{[]byte("before"), v})
			return s
		},
		"an element": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			nocopy.BytesList(s.NewChild(blobs, allDesc, 2)).Set(0, v)
			return s
		},
		"an appended element": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			nocopy.BytesList(s.NewChild(blobs, allDesc, 0)).Append(v)
			return s
		},
		"elements of a set at once": func(v []byte) engine.Struct {
			s := engine.New(byText)
			s.SetByteSlices(byText.Field(1), byText, [][]byte{[]byte("before"), v})
			return s
		},
		"a value in a map": func(v []byte) engine.Struct {
			s := engine.New(byText)
			nocopy.Map[int32, []byte, engine.AsInt32, engine.AsBytes](s.NewChild(byText.Field(0), byText, 0)).Put(1, v)
			return s
		},
	}
	for name, set := range ways {
		for n, refers := range map[int]bool{4095: false, 4096: true, 4097: true} {
			v := filled(n)
			s := set(v)
			v[n-1] = 'b' // which nobody may do
			if got := bytes.Contains(s.Message().AppendTo(nil), v); got != refers {
				t.Errorf("%s, %d bytes: referred to %t", name, n, got)
			}
			s.Release()
		}
	}
}
