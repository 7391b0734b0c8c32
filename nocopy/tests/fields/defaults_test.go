package fields_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestWrittenForUnset: which unset fields a finished message contains, by requiredness: 0 default,
// 1 required, 2 optional.
func TestWrittenForUnset(t *testing.T) {
	s := newStruct(defaultDesc)
	defer s.Release()
	const want = `{number0: 7, text0: "hi", list0: [5], point0: {x: 3, y: 4}, plain0: 0, ` +
		`number1: 7, text1: "hi", list1: [5], point1: {x: 3, y: 4}, plain1: 0, empty1: "", map1: {}, child1: {x: 0, y: 0}}`
	s.Message().Finish()
	for name, got := range map[string]string{
		"finished": render.Text(s, defaultDesc), "parsed": render.Text(mustParse(t, defaultDesc, s.Message().Bytes()), defaultDesc), "cloned": render.Text(s.Clone(defaultDesc), defaultDesc),
	} {
		t.Run(name, func(t *testing.T) {
			if got != want {
				t.Errorf("%s: %s\nwant %s", name, got, want)
			}
		})
	}
	u := newStruct(shapeDesc)
	defer u.Release()
	if got := u.Message().Bytes(); string(got) != "\x00" {
		t.Errorf("a union that was never given an arm: %x", got)
	}
}

// TestDefaultsRead: getters of unset fields return defaults, before and after the message is
// finished.
func TestDefaultsRead(t *testing.T) {
	s := newStruct(defaultDesc)
	defer s.Release()
	check := func(when string) {
		t.Helper()
		for _, i := range []string{"0", "1", "2"} {
			if f := fieldNamed(defaultDesc, "number"+i); s.Has(f) && s.Int64(f) != 7 {
				t.Errorf("%s: number%s is %d", when, i, s.Int64(f))
			}
			if f := fieldNamed(defaultDesc, "text"+i); s.Has(f) && s.Text(f) != "hi" {
				t.Errorf("%s: text%s is %q", when, i, s.Text(f))
			}
			if l := nocopy.Int32List(s.Child(fieldNamed(defaultDesc, "list"+i), defaultDesc)); l.Len() != 1 || l.At(0) != 5 {
				t.Errorf("%s: list%s has %d elements", when, i, l.Len())
			}
			if got := s.Child(fieldNamed(defaultDesc, "point"+i), defaultDesc).Int32(fieldNamed(pointDesc, "y")); got != 4 {
				t.Errorf("%s: point%s.y is %d", when, i, got)
			}
			if p := (nocopy.Map[string, int32, thriftimpl.AsString, thriftimpl.AsInt32](s.Child(fieldNamed(defaultDesc, "map"+i), defaultDesc))); p.Len() != 0 {
				t.Errorf("%s: map%s has %d pairs", when, i, p.Len())
			}
		}
		if s.Has(fieldNamed(defaultDesc, "number2")) || s.Has(fieldNamed(defaultDesc, "list2")) || s.Child(fieldNamed(defaultDesc, "list2"), defaultDesc).Valid() {
			t.Errorf("%s: an optional field counts as set", when)
		}
	}
	check("while it is built")
	s.Message().Finish()
	check("when it is finished")
}

// TestUnsetDefaults: fields that are set and unset again are not sent; required fields get their
// default back.
func TestUnsetDefaults(t *testing.T) {
	for name, finish := range map[string]func(s thriftimpl.Struct) thriftimpl.Struct{
		"while it is built": func(s thriftimpl.Struct) thriftimpl.Struct { return s },
		"finished":          func(s thriftimpl.Struct) thriftimpl.Struct { s.Message().Finish(); return s },
		"parsed": func(s thriftimpl.Struct) thriftimpl.Struct {
			return mustParse(t, defaultDesc, s.Message().AppendTo(nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStruct(defaultDesc)
			for _, i := range []string{"0", "1", "2"} {
				s.SetInt64(fieldNamed(defaultDesc, "number"+i), 1)
				s.SetText(fieldNamed(defaultDesc, "text"+i), "x")
				s.SetInt32s(fieldNamed(defaultDesc, "list"+i), defaultDesc, []int32{1, 2})
				s.NewChild(fieldNamed(defaultDesc, "point"+i), defaultDesc, 0)
			}
			s = finish(s)
			for _, field := range []string{"number", "text", "list", "point"} {
				s.Unset(fieldNamed(defaultDesc, field+"0"))
				s.Reset(fieldNamed(defaultDesc, field+"1"), defaultDesc)
				s.Unset(fieldNamed(defaultDesc, field+"2"))
			}
			const want = `{plain0: 0, number1: 7, text1: "hi", list1: [5], point1: {x: 3, y: 4}, plain1: 0, empty1: "", map1: {}, child1: {x: 0, y: 0}}`
			s.Message().Finish()
			if got := render.Text(s, defaultDesc); got != want {
				t.Errorf("%s: %s\nwant %s", name, got, want)
			}
			if got := render.Text(mustParse(t, defaultDesc, s.Message().Bytes()), defaultDesc); got != want {
				t.Errorf("%s, parsed: %s\nwant %s", name, got, want)
			}
			s.Release()
		})
	}
}

// TestWhich: a union on the wire may have none or several arms; the last counts. The API sets one.
func TestWhich(t *testing.T) {
	const (
		radius = "\x04\x00\x01\x3f\xf8\x00\x00\x00\x00\x00\x00"
		label  = "\x0b\x00\x03\x00\x00\x00\x01l"
		line   = "\x0f\x00\x04\x0c\x00\x00\x00\x00"
	)
	word := func(arm string) int32 { return armNumber(fieldNamed(shapeDesc, arm)) }
	for _, c := range []struct {
		name, wire string
		want       int32
		unset      string // an arm to unset, and the arm that counts then
		then       int32
	}{
		{"none", "", 0, "label", 0},
		{"one", label, word("label"), "label", 0},
		{"two", radius + label, word("label"), "label", word("radius")},
		{"two, the other first", label + radius, word("radius"), "radius", word("label")},
		{"two, one of them kept", label + radius, word("radius"), "label", word("radius")},
		{"three", label + line + radius, word("radius"), "label", word("radius")},
		{"one of them twice", label + radius + label, word("label"), "label", word("radius")},
		{"one twice", label + label, word("label"), "radius", word("label")},
		{"only an unknown one", "\x08\x00\x63\x00\x00\x00\x01", 0, "label", 0},
		{"one, then an unknown one", label + "\x08\x00\x63\x00\x00\x00\x01", word("label"), "label", 0},
		{"one, then one of another type", label + "\x08\x00\x01\x00\x00\x00\x01", word("label"), "radius", word("label")},
		{"one, then one of other elements", label + "\x0f\x00\x04\x08\x00\x00\x00\x01\x00\x00\x00\x01", word("label"), "radius", word("label")},
		{"one of other elements, then one", "\x0f\x00\x04\x08\x00\x00\x00\x01\x00\x00\x00\x01" + label, word("label"), "radius", word("label")},
		{"one, then itself with other elements", line + "\x0f\x00\x04\x08\x00\x00\x00\x01\x00\x00\x00\x01", word("outline"), "radius", word("outline")},
		{"one among unknown ones", "\x08\x00\x63\x00\x00\x00\x01" + label + "\x0b\x00\x64\x00\x00\x00\x02hi\x0c\x00\x63\x00", word("label"), "label", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := []byte(c.wire + "\x00")
			for _, w := range []way{inOnePiece, with(inOnePiece, nocopy.Lazy, "lazy"), cutEvery(1), with(cutEvery(3), nocopy.Lazy, "lazy"), owned} {
				s, err := w.Parse(shapeDesc, wire)
				if err != nil {
					t.Fatal(err)
				}
				if got := s.Which(); got != c.want {
					t.Errorf("%s, %s: %d, want %d", c.name, w.Name, got, c.want)
				}
				checkOutput(t, c.name, nocopy.Struct(s).Message(), wire)
				s.UnsetArm(fieldNamed(shapeDesc, c.unset))
				if got := s.Which(); got != c.then {
					t.Errorf("%s, %s: without %s %d, want %d", c.name, w.Name, c.unset, got, c.then)
				}
				s.Arm(fieldNamed(shapeDesc, "label"), shapeDesc).SetText(fieldNamed(shapeDesc, "label"), "new")
				if got := render.Text(s, shapeDesc); got != `{label: "new"}` || s.Which() != word("label") {
					t.Errorf("%s, %s: after setting an arm %s, %d", c.name, w.Name, got, s.Which())
				}
				checkOutput(t, c.name+", "+w.Name+", then an arm set", nocopy.Struct(s).Message(), []byte("\x0b\x00\x03\x00\x00\x00\x03new\x00"))
				s.Release()
			}
		})
	}
}
