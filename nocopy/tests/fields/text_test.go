package fields_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestContainerText: lists, sets and maps print as they do in a struct.
func TestContainerText(t *testing.T) {
	f := namedIn(allDesc)
	s := newStruct(allDesc)
	defer s.Release()
	list := func(name string, n int) thriftimpl.Struct { return s.NewChild(f(name), allDesc, n) }
	numbers, words, blobs, points := nocopy.Int64List(list("numbers", 2)), nocopy.StringList(list("words", 2)), nocopy.BytesList(list("blobs", 1)), nocopy.StructList[thriftimpl.Struct](list("points", 2))
	numbers.Set(1, 5)
	words.Set(0, "a")
	blobs.Set(0, []byte{1, 2})
	if got := points.String(); got != "[{}, {}]" {
		t.Errorf("elements still to come: %s", got)
	}
	matrix := nocopy.NestedList[nocopy.Int32List](list("matrix", 2))
	matrix.NewAt(1, 1).Set(0, 7)
	counts, byNumber := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](list("counts", 0)), nocopy.StructMap[int32, thriftimpl.Struct, thriftimpl.AsInt32](list("byNumber", 0))
	counts.Put("one", 1)
	byNumber.PutNew(3).SetInt32(fieldNamed(pointDesc, "x"), 4)
	groups := nocopy.NestedMap[string, nocopy.StructList[thriftimpl.Struct], thriftimpl.AsString](list("groups", 0))
	groups.PutNew("g", 1)
	flags, colors, unique := nocopy.BoolList(list("flags", 1)), nocopy.EnumList[int32](list("colors", 2)), nocopy.Int32List(list("unique", 0))
	colors.Set(0, 1)
	unique.Add(3)
	d := newStructDesc("Texts")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "m", Type: mapTypeOf(typeString, typeString)})
	other := newStruct(d)
	defer other.Release()
	texts := nocopy.StringMap(other.NewChild(fieldNamed(d, "m"), d, 0))
	texts.Put("k", "v")
	for _, c := range []struct {
		of   fmt.Stringer
		want string
	}{
		{numbers, "[0, 5]"}, {words, `["a", ""]`}, {blobs, "[0x0102]"}, {points, "[{x: 0, y: 0}, {x: 0, y: 0}]"}, {matrix, "[[], [7]]"},
		{counts, `{"one": 1}`}, {byNumber, "{3: {x: 4, y: 0}}"}, {groups, `{"g": [{x: 0, y: 0}]}`}, {flags, "[false]"}, {colors, "[RED, 0]"},
		{unique, "[3]"}, {texts, `{"k": "v"}`},
		{nocopy.Int64List(s.Child(f("keys"), allDesc)), "[]"}, {nocopy.StringMap(s.Child(f("nested"), allDesc)), "{}"},
		{nocopy.Int64List{}, "<none>"}, {nocopy.Float64List{}, "<none>"}, {nocopy.StringList{}, "<none>"}, {nocopy.BytesList{}, "<none>"}, {nocopy.StructList[thriftimpl.Struct]{}, "<none>"},
		{nocopy.NestedList[nocopy.Int64List]{}, "<none>"}, {nocopy.Map[bool, bool, thriftimpl.AsBool, thriftimpl.AsBool]{}, "<none>"}, {nocopy.StructMap[bool, thriftimpl.Struct, thriftimpl.AsBool]{}, "<none>"},
		{nocopy.NestedMap[bool, nocopy.Int64List, thriftimpl.AsBool]{}, "<none>"}, {nocopy.StringMap{}, "<none>"},
	} {
		s.Message().Finish()
		if got := fmt.Sprint(c.of); got != c.want {
			t.Errorf("%T: %s, want %s", c.of, got, c.want)
		}
	}
}

// TestNoStructText: the handle that Parse returns with an error can be printed.
func TestNoStructText(t *testing.T) {
	s, err := parseStruct(pointDesc, []byte{1})
	if got := render.Text(s, pointDesc); err == nil || got != "<none>" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		e    nocopy.Error
		want string
	}{
		{nocopy.Error{Offset: 3, Path: "Point.x", Err: io.ErrUnexpectedEOF}, "nocopy: Point.x: offset 3: unexpected EOF"},
		{nocopy.Error{Offset: 3, Err: io.ErrUnexpectedEOF}, "nocopy: offset 3: unexpected EOF"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestMessageText: a message prints as its root does, with all verbs and in logs. One that is
// empty or nil prints as the zero handle.
func TestMessageText(t *testing.T) {
	s := newStruct(pointDesc)
	s.SetInt32(fieldNamed(pointDesc, "x"), 4)
	m := nocopy.Struct(s).Message()
	for _, verb := range []string{"%v", "%s", "%q", "%x"} {
		if got, want := fmt.Sprintf(verb, m), fmt.Sprintf(verb, nocopy.Struct(s)); got != want {
			t.Errorf("%s: %s, want %s", verb, got, want)
		}
	}
	if got, want := fmt.Sprintf("%#v", m), nocopy.Struct(s).GoString(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := m.LogValue().String(), nocopy.Struct(s).LogValue().String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var empty nocopy.Message
	kept := engine.NewInto(pointDesc, (*engine.Message)(&empty), nil)
	kept.Message().Release()
	for name, m := range map[string]*nocopy.Message{"zero": new(nocopy.Message), "emptied": &empty, "nil": nil} {
		if got := fmt.Sprintf("%v %d %s", m, m, m.LogValue()); got != "<none> <none> <none>" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := fmt.Sprint(nocopy.Struct{}.Message()); got != "{}" {
		t.Error(got)
	}
	s.Release()
}
