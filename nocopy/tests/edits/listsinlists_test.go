package edits_test

import (
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// inner is where a list in the element of a list is filled: the message, the outer list, the inner
// one, and for each list the number of the element that was begun last.
type inner struct {
	root        engine.Struct
	outer, list nocopy.StructList[engine.Struct]
	i, j        int
}

// TestListsInLists: lists in the elements of a list may be filled in order, and anything that does
// not change the values may happen in between, at any element. The inner lists have one element
// that is never touched.
func TestListsInLists(t *testing.T) {
	const outerLen, innerLen = 3, 4
	text, medium, children := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "medium"), fieldNamed(allDesc, "children")
	name := func(i, j int) string { return fmt.Sprint("text ", i, ".", j) }
	between := map[string]func(inner){
		"nothing":               func(inner) {},
		"the same text again":   func(n inner) { n.list.At(n.j).SetText(text, name(n.i, n.j)) },
		"a text, then another":  func(n inner) { n.list.At(n.j).SetText(text, ""); n.list.At(n.j).SetText(text, name(n.i, n.j)) },
		"removed and set":       func(n inner) { n.list.At(n.j).Unset(text); n.list.At(n.j).SetText(text, name(n.i, n.j)) },
		"the first element":     func(n inner) { n.list.At(0).SetText(text, name(n.i, 0)) },
		"a number of the outer": func(n inner) { n.outer.At(n.i).SetInt32(medium, int32(n.i)) },
		"the outer before":      func(n inner) { n.outer.At(0).SetInt32(medium, 0) },
		"an element made anew":  func(n inner) { n.list.Set(n.j, n.list.At(n.j)) },
		"a list elsewhere": func(n inner) {
			n.root.NewChild(fieldNamed(allDesc, "points"), allDesc, 2)
			n.root.Unset(fieldNamed(allDesc, "points"))
		},
		"the message is written": func(n inner) { n.root.Message().AppendTo(nil) },
		"the message is compacted": func(n inner) {
			n.root.Message().Compact()
		},
		"an element appended, and deleted": func(n inner) {
			n.list.AppendNew()
			n.list.Delete(innerLen, innerLen+1)
		},
	}
	for what, f := range between {
		for at := range outerLen * innerLen {
			s := engine.New(allDesc)
			outer := nocopy.StructList[engine.Struct](s.NewChild(children, allDesc, outerLen))
			for i := range outerLen {
				e := outer.At(i)
				e.SetText(text, name(i, -1))
				list := nocopy.StructList[engine.Struct](e.NewChild(children, allDesc, innerLen))
				for j := range innerLen - 1 {
					list.At(j).SetText(text, name(i, j))
					if i*innerLen+j == at {
						f(inner{s, outer, list, i, j})
					}
				}
				e.SetInt32(medium, int32(i))
			}
			again := mustParse(t, allDesc, s.Message().AppendTo(nil))
			for _, s := range []engine.Struct{s, again} {
				outer := nocopy.StructList[engine.Struct](s.Child(children, allDesc))
				for i, e := range outer.All() {
					list := nocopy.StructList[engine.Struct](e.Child(children, allDesc))
					if e.Text(text) != name(i, -1) || e.Int32(medium) != int32(i) || list.Len() != innerLen {
						t.Fatalf("%s at %d: element %d is %v", what, at, i, e)
					}
					for j, c := range list.All() {
						if has := j < innerLen-1; c.Has(text) != has || has && c.Text(text) != name(i, j) {
							t.Fatalf("%s at %d: element %d of list %d has the text %q", what, at, j, i, c.Text(text))
						}
					}
				}
				s.Release()
			}
		}
	}
}

// TestElementsInOrder: elements that are begun in order are complete, whatever fields their type
// requires, and there are no more of them than the list has.
func TestElementsInOrder(t *testing.T) {
	numbers := func(name string, n, required int) *schema.Struct {
		d, fields := schema.NewStruct(name), make([]schema.FieldDesc, n)
		for i := range fields {
			fields[i] = schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i), Type: schema.TypeI64, Req: schema.Optional}
			if i < required {
				fields[i].Req = schema.Required
			}
		}
		define(d, fields)
		return d
	}
	const n = 400 // with long elements more than a block has room for
	for _, d := range []*schema.Struct{pointDesc, defaultDesc, testtypes.Strict, numbers("Long", 50, 50), numbers("Broad", 200, 3)} {
		list := schema.NewStruct("ListOf" + d.Name())
		define(list, []schema.FieldDesc{{ID: 1, Name: "l", Type: schema.ListOf(schema.StructOf(d)), Req: schema.Optional}})
		s := newStruct(list)
		l := nocopy.StructList[engine.Struct](s.NewChild(list.Field(0), list, n))
		for i := range n + 1 {
			for _, no := range []int{n, -1} { // before the next element, and after the last one
				testtypes.PanicsWith(t, engine.IndexError{Index: no, Len: n}.Error(), func() { l.At(no) })
			}
			if i < n {
				l.At(i)
			}
		}
		want := []byte{byte(wire.List), 0, 1, byte(wire.Struct), 0, 0, n >> 8, n & 0xff}
		for range n {
			want = schema.AppendZero(want, schema.StructOf(d))
		}
		got := s.Message().AppendTo(nil)
		if string(got) != string(want)+stop {
			t.Errorf("%s: the list is %x, not %x", d.Name(), got, want)
		}
		again := nocopy.StructList[engine.Struct](mustParse(t, list, got).Child(list.Field(0), list))
		for i, e := range l.All() {
			for k := range d.Fields() {
				if f := d.Field(k); e.HasField(f) != again.At(i).HasField(f) {
					t.Errorf("%s: element %d has field %d: %t", d.Name(), i, k, e.HasField(f))
				}
			}
		}
		s.Release()
	}
}
