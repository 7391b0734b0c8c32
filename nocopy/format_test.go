package nocopy

import (
	"fmt"
	"io"
	"testing"
)

// TestContainerText: lists, sets and maps print as they do inside of a struct.
func TestContainerText(t *testing.T) {
	f := allDesc.named
	s := newStruct(allDesc)
	defer s.Release()
	list := func(name string, n int) XStruct { return s.NewChild(f(name), allDesc, n) }
	numbers, words, blobs, points := Int64List(list("numbers", 2)), StringList(list("words", 2)), BytesList(list("blobs", 1)), StructList[XStruct](list("points", 2))
	numbers.Set(1, 5)
	words.Set(0, "a")
	blobs.Set(0, []byte{1, 2})
	if got := points.String(); got != "[{}, {}]" {
		t.Errorf("elements still to come: %s", got)
	}
	matrix := NestedList[Int32List](list("matrix", 2))
	matrix.NewAt(1, 1).Set(0, 7)
	counts, byNumber := Map[string, int64, XAsString, XAsInt64](list("counts", 0)), StructMap[int32, XStruct, XAsInt32](list("byNumber", 0))
	counts.Put("one", 1)
	byNumber.PutNew(3).SetInt32(pointDesc.named("x"), 4)
	groups := NestedMap[string, StructList[XStruct], XAsString](list("groups", 0))
	groups.PutNew("g", 1)
	flags, colors, unique := BoolList(list("flags", 1)), EnumList[int32](list("colors", 2)), Int32List(list("unique", 0))
	colors.Set(0, 1)
	unique.Add(3)
	d := newStructDesc("Texts")
	d.Define(XFieldDesc{ID: 1, Name: "m", Type: mapTypeOf(typeString, typeString)})
	other := newStruct(d)
	defer other.Release()
	texts := StringMap(other.NewChild(d.named("m"), d, 0))
	texts.Put("k", "v")
	for _, c := range []struct {
		of   fmt.Stringer
		want string
	}{
		{numbers, "[0, 5]"}, {words, `["a", ""]`}, {blobs, "[0x0102]"}, {points, "[{x: 0, y: 0}, {x: 0, y: 0}]"}, {matrix, "[[], [7]]"},
		{counts, `{"one": 1}`}, {byNumber, "{3: {x: 4, y: 0}}"}, {groups, `{"g": [{x: 0, y: 0}]}`}, {flags, "[false]"}, {colors, "[RED, 0]"},
		{unique, "[3]"}, {texts, `{"k": "v"}`},
		{Int64List(s.Child(f("keys"), allDesc)), "[]"}, {StringMap(s.Child(f("nested"), allDesc)), "{}"},
		{Int64List{}, "<none>"}, {Float64List{}, "<none>"}, {StringList{}, "<none>"}, {BytesList{}, "<none>"}, {StructList[XStruct]{}, "<none>"},
		{NestedList[Int64List]{}, "<none>"}, {Map[bool, bool, XAsBool, XAsBool]{}, "<none>"}, {StructMap[bool, XStruct, XAsBool]{}, "<none>"},
		{NestedMap[bool, Int64List, XAsBool]{}, "<none>"}, {StringMap{}, "<none>"},
	} {
		s.m.Finish()
		if got := fmt.Sprint(c.of); got != c.want {
			t.Errorf("%T: %s, want %s", c.of, got, c.want)
		}
	}
}

// TestNoStructText: what Parse returns beside an error can be printed.
func TestNoStructText(t *testing.T) {
	s, err := parseStruct(pointDesc, []byte{1})
	if got := s.Format(pointDesc); err == nil || got != "<none>" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		e    Error
		want string
	}{
		{Error{3, "Point.x", io.ErrUnexpectedEOF}, "nocopy: Point.x: offset 3: unexpected EOF"},
		{Error{3, "", io.ErrUnexpectedEOF}, "nocopy: offset 3: unexpected EOF"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
