package parse_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestCompactMismatch: a map that comes again with values of another type is an unknown field,
// also when the message is compacted.
func TestCompactMismatch(t *testing.T) {
	d := schema.NewStruct("Again")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "map", Type: schema.MapOf(schema.TypeString, schema.TypeI32), Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "text", Type: schema.TypeString, Req: schema.Optional},
	)
	const right = "\x0d\x00\x01\x0b\x08\x00\x00\x00\x01\x00\x00\x00\x01a\x00\x00\x00\x07"
	const wrong = "\x0d\x00\x01\x0b\x0b\x00\x00\x00\x01\x00\x00\x00\x01b\x00\x00\x00\x05later"
	for _, b := range []string{right + wrong, wrong + right} {
		s, err := engine.Parse(d, []byte(b+"\x00"))
		if err != nil {
			t.Fatal(err)
		}
		s.SetText(d.Field(1), "text")
		s.Message().Compact()
		m := nocopy.Map[string, int32, engine.AsString, engine.AsInt32](s.Child(d.Field(0), d))
		if v, ok := m.Get("a"); v != 7 || !ok || m.Len() != 1 {
			t.Errorf("a map of %d pairs, with %d", m.Len(), v)
		}
		if got := string(s.Message().AppendTo(nil)); got != b+"\x0b\x00\x02\x00\x00\x00\x04text\x00" {
			t.Errorf("%q", got)
		}
		s.Release()
	}
}

// TestUnionMismatch: in a union, a field whose elements turn out to be of another type is an
// unknown one, which leaves the union when another field is set.
func TestUnionMismatch(t *testing.T) {
	d := schema.NewUnion("Arms")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "lists", Type: schema.ListOf(schema.ListOf(schema.TypeI32))},
		schema.FieldDesc{ID: 2, Name: "text", Type: schema.TypeString},
	)
	const lists = "\x0f\x00\x01\x0f\x00\x00\x00\x02\x08\x00\x00\x00\x01\x00\x00\x00\x05\x03\x00\x00\x00\x01\x05\x00"
	s, err := engine.Parse(d, []byte(lists))
	if err != nil || s.Which() != 0 {
		t.Fatalf("field %d, %v", s.Which(), err)
	}
	defer s.Release()
	s.SetText(d.Field(1), "text")
	s.Arm(d.Field(1), d)
	if got := string(s.Message().AppendTo(nil)); got != "\x0b\x00\x02\x00\x00\x00\x04text\x00" {
		t.Errorf("with another field %q", got)
	}
}
