package edits_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// TestClearOpen: Clear removes everything from a struct that is being built, also what completing
// it adds. What is set afterwards is in the struct, and what was built around it stays.
func TestClearOpen(t *testing.T) {
	outer := schema.NewStruct("Outer")
	outer.Define(
		schema.FieldDesc{ID: 1, Name: "before", Type: schema.TypeI32},
		schema.FieldDesc{ID: 2, Name: "inner", Type: schema.StructOf(defaultDesc)},
		schema.FieldDesc{ID: 3, Name: "after", Type: schema.TypeI32},
	)
	text := fieldNamed(defaultDesc, "text0")
	fill := func(s engine.Struct) {
		s.SetText(text, "some text")
		s.NewChild(fieldNamed(defaultDesc, "child0"), defaultDesc, 0).SetInt32(fieldNamed(pointDesc, "x"), 1)
		s.AppendUnknown(defaultDesc, 99, engine.ValueOfWire(wire.I8, []byte{7}))
	}
	const added = "\x0b\x00\x02\x00\x00\x00\x03new" // text0
	for _, again := range []bool{false, true} {
		// The root
		s, want := engine.New(defaultDesc), "\x00"
		fill(s)
		if s.Clear(defaultDesc); again {
			s.SetText(text, "new")
			want = added + "\x00"
		}
		if got := string(s.Message().Bytes()); got != want {
			t.Errorf("a root, set again %t: %q, not %q", again, got, want)
		}
		s.Release()

		// A struct in another one
		s = engine.New(outer)
		s.SetInt32(outer.Field(0), 5)
		inner := s.NewChild(outer.Field(1), outer, 0)
		fill(inner)
		if inner.Clear(defaultDesc); again {
			inner.SetText(text, "new")
		}
		s.SetInt32(outer.Field(2), 6)
		b := s.Message().Bytes()
		got, err := engine.Peek(b, 2)
		if err != nil || string(got.Raw()) != want {
			t.Errorf("a struct in another, set again %t: %q (%v), not %q", again, got.Raw(), err, want)
		}
		if s.Int32(outer.Field(0)) != 5 || s.Int32(outer.Field(2)) != 6 {
			t.Errorf("beside it: %x", b)
		}
		s.Release()
	}
	// A union
	s := engine.New(shapeDesc)
	s.SetText(fieldNamed(shapeDesc, "label"), "a label")
	s.Arm(fieldNamed(shapeDesc, "label"), shapeDesc)
	s.AppendUnknown(shapeDesc, 99, engine.ValueOfWire(wire.I8, []byte{7}))
	s.Clear(shapeDesc)
	if b := s.Message().Bytes(); len(b) != 1 || s.Which() != 0 {
		t.Errorf("a union: %x, with field %d", b, s.Which())
	}
	s.Release()
}
