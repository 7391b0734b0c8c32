package fields_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// untyped reads s by its descriptor alone, and puts the values into to, which is of the same type,
// in one of several ways.
func untyped(s, to engine.Struct, d *schema.Struct, inPlace bool) {
	for i := range d.NumFields() {
		f := d.Field(i)
		if !s.HasField(f) {
			continue
		}
		v := s.Value(f, d)
		if inPlace && v.Type().Kind() >= schema.Record {
			n := 0
			if v.Type().Kind() == schema.List && v.Struct().Count() > 0 && i%2 == 0 {
				n = v.Struct().Count()
			}
			untypedInto(v, to.NewValue(f, d, n))
			continue
		}
		to.SetValue(f, d, v)
	}
}

// untypedInto copies a struct or container into an empty one, or a list with as many elements.
func untypedInto(v, to engine.Value) {
	t, s, c := v.Type(), v.Struct(), to.Struct()
	switch t.Kind() {
	case schema.Record:
		untyped(s, c, t.Struct(), true)
	case schema.List:
		had := c.Count()
		for i := range s.Count() {
			elem := s.Element(i)
			switch {
			case had > 0:
				c.SetElement(i, elem)
			case t.Elem().Kind() >= schema.Record:
				untypedInto(elem, c.AppendNewElement(0))
			default:
				c.AppendElement(elem)
			}
		}
	case schema.Dict:
		for key, value := range s.Pairs() {
			switch {
			case t.Key().Kind() >= schema.Record && t.Elem().Kind() >= schema.Record:
				k, v := c.AppendNewPair()
				untypedInto(key, k)
				untypedInto(value, v)
			case t.Key().Kind() >= schema.Record:
				untypedInto(key, c.AppendPair(value))
			case t.Elem().Kind() >= schema.Record:
				untypedInto(value, c.PutNewPair(key, 0))
			default:
				c.PutPair(key, value)
			}
		}
	}
}

// TestUntyped: reading by descriptors returns the values of the message, and putting by
// descriptors sets them.
func TestUntyped(t *testing.T) {
	for name, wire := range map[string][]byte{"full": handles.Wire(), "none": {0}} {
		for _, inPlace := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in place %v", name, inPlace), func(t *testing.T) {
				s := mustParse(t, allDesc, wire)
				to := engine.New(allDesc)
				for i := range allDesc.NumFields() {
					to.UnsetValue(allDesc.Field(i), allDesc)
				}
				untyped(s, to, allDesc, inPlace)
				if diff := cmp.Diff(render.Text(s, allDesc), render.Text(to, allDesc)); diff != "" {
					t.Errorf("-read +put:\n%s", diff)
				}
				again := mustParse(t, allDesc, to.Message().Bytes())
				if diff := cmp.Diff(render.Text(s, allDesc), render.Text(again, allDesc)); diff != "" {
					t.Errorf("-read +parsed:\n%s", diff)
				}
			})
		}
	}
}

// TestUntypedAbsent: values that are not set read as their defaults, absent containers as empty,
// and nothing can be put into them.
func TestUntypedAbsent(t *testing.T) {
	s := engine.New(allDesc)
	for i := range allDesc.NumFields() {
		s.UnsetValue(allDesc.Field(i), allDesc)
	}
	for _, s := range []engine.Struct{s, engine.Absent(), {}} {
		for i := range allDesc.NumFields() {
			v := s.Value(allDesc.Field(i), allDesc)
			if v.Type() != allDesc.FieldDesc(i).Type {
				t.Errorf("%s is of type %v", allDesc.FieldDesc(i).Name, v.Type())
			}
			if v.Bool() || v.Int() != 0 || len(v.Bytes()) > 0 && v.UUID() != (nocopy.UUID{}) || v.Struct().Count() != 0 {
				t.Errorf("%s reads as %+v", allDesc.FieldDesc(i).Name, v)
			}
			if c := v.Struct(); v.Type().Kind() == schema.List {
				panicsWith(t, "nocopy: ", func() { c.AppendNewElement(0) })
				panicsWith(t, "nocopy: ", func() { c.Element(0) })
				panicsWith(t, "nocopy: ", func() { c.DeleteElements(0, 1) })
			} else if v.Type().Kind() == schema.Dict {
				for range c.Pairs() {
					t.Error("pairs of an absent map")
				}
				panicsWith(t, "nocopy: ", func() { c.AppendNewPair() })
			}
		}
	}
}

// TestUntypedMismatch: putting a value of another type is refused.
func TestUntypedMismatch(t *testing.T) {
	s := engine.New(allDesc)
	values := []engine.Value{engine.ValueOfBool(true), engine.ValueOfFloat(1), engine.ValueOfInt(schema.TypeI32, 1), engine.ValueOfUUID(nocopy.UUID{}),
		engine.ValueOfBytes(schema.TypeString, []byte("x")), engine.ValueOfStruct(schema.StructOf(pointDesc), engine.New(pointDesc)), {}}
	for i := range allDesc.NumFields() {
		ft := allDesc.FieldDesc(i).Type
		for _, v := range values {
			if !ft.Equal(v.Type()) {
				panicsWith(t, "nocopy: value of type", func() { s.SetValue(allDesc.Field(i), allDesc, v) })
			}
		}
	}
	list := s.NewValue(fieldNamed(allDesc, "words"), allDesc, 0).Struct()
	panicsWith(t, "nocopy: value of type i32", func() { list.AppendElement(engine.ValueOfInt(schema.TypeI32, 1)) })
	panicsWith(t, "nocopy: ", func() { list.AppendNewElement(0) })
	panicsWith(t, "nocopy: ", func() { engine.ValueOfInt(schema.TypeString, 1) })
	panicsWith(t, "nocopy: ", func() { engine.ValueOfBytes(schema.TypeI8, nil) })
	panicsWith(t, "nocopy: ", func() { engine.ValueOfStruct(schema.TypeI8, engine.Struct{}) })
	panicsWith(t, "nocopy: ", func() { engine.ValueOfInt(nil, 1) })
}

func TestEnumDesc(t *testing.T) {
	e := schema.NewEnum("E", []schema.EnumValue{{Name: "A", Value: 5}, {Name: "B", Value: -1}, {Name: "C", Value: 5}}, nil)
	if e.Name(5) != "A" || e.Name(-1) != "B" || e.Name(0) != "" || e.Text(7) != "E(7)" || e.Text(5) != "A" {
		t.Errorf("%q %q %q %q", e.Name(5), e.Name(-1), e.Name(0), e.Text(7))
	}
	if v, err := e.Parse("C"); v != 5 || err != nil {
		t.Error(v, err)
	}
	if _, err := e.Parse("D"); err == nil || err.Error() != `"D" is not a E` {
		t.Error(err)
	}
}

// TestSetOwnUnion: an arm of a union can be set to the union itself, or to a value within another
// arm, also by descriptors only. The value is copied before the old arm is removed.
func TestSetOwnUnion(t *testing.T) {
	d := schema.NewUnion("U")
	d.Define(schema.FieldDesc{ID: 1, Name: "self", Type: schema.StructOf(d), Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "n", Type: schema.TypeI8, Req: schema.Optional},
		schema.FieldDesc{ID: 3, Name: "list", Type: schema.ListOf(schema.StructOf(d)), Req: schema.Optional})
	self, n, list := d.Field(0), d.Field(1), d.Field(2)
	wire := "\x0f\x00\x03\x0c\x00\x00\x00\x01" + "\x03\x00\x02\x07\x00" + "\x00"
	for _, built := range []bool{false, true} {
		s, err := engine.Parse(d, []byte(wire))
		if err != nil {
			t.Fatal(err)
		}
		if built {
			s = engine.New(d)
			e := s.NewValue(list, d, 0).Struct().AppendNewElement(0).Struct()
			e.SetValue(n, d, engine.ValueOfInt(schema.TypeI8, 7))
		}
		s.SetValue(self, d, engine.ValueOfStruct(d.Type(), s))
		if got, want := string(s.Message().Bytes()), "\x0c\x00\x01"+wire+"\x00"; got != want {
			t.Errorf("built %v: a union in itself: %x, want %x", built, got, want)
		}
		s.SetValue(list, d, s.Child(self, d).Value(list, d))
		if got := string(s.Message().Bytes()); got != wire {
			t.Errorf("built %v: a list of the arm that goes: %x, want %x", built, got, wire)
		}
		s.SetValue(self, d, s.Value(list, d).Struct().Element(0))
		s.SetValue(n, d, s.Value(self, d).Struct().Value(n, d))
		if got, want := string(s.Message().Bytes()), "\x03\x00\x02\x07\x00"; got != want {
			t.Errorf("built %v: a number of the arm that goes: %x, want %x", built, got, want)
		}
	}
}
