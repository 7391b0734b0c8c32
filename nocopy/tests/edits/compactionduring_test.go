package edits_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestEditedWhileIterating: even if the message is changed or compacted during All, All
// yields elements of the list, or pairs of the map. All pairs that are not removed are yielded,
// none of them twice.
func TestEditedWhileIterating(t *testing.T) {
	words, counts, matrix, points := fieldNamed(allDesc, "words"), fieldNamed(allDesc, "counts"), fieldNamed(allDesc, "matrix"), fieldNamed(allDesc, "points")
	forEach := func(f func(what string, s engine.Struct)) {
		for _, state := range []string{"received", "built", "cloned"} {
			for _, always := range []bool{false, true} {
				s := stateOf(t, state)
				if always {
					engine.CompactAlways(s.Message())
				}
				f(fmt.Sprint(state, always), s)
				checkSent(t, state, s)
				s.Release()
			}
		}
	}
	forEach(func(what string, s engine.Struct) {
		c := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(counts, allDesc, 0))
		for i := range 200 {
			c.Put(fmt.Sprint(i), int64(i))
		}
		n := 0
		for k := range c.All() {
			c.Delete(k)
			c.Put("new", 1) // perhaps yielded, perhaps not
			if n++; n%10 == 0 {
				s.Message().Compact()
			}
		}
		if c.Len() > 1 || n < 200 {
			t.Errorf("%s: %d of 200 pairs were yielded, %d are left", what, n, c.Len())
		}
		for i := range 200 {
			c.Put(fmt.Sprint(i), int64(i))
		}
		s.Message().Compact()
		if c.Len() < 200 || c.Len() > 201 {
			t.Errorf("%s: %d pairs instead of those removed", what, c.Len())
		}
		seen := map[string]bool{}
		for k, v := range c.All() {
			if seen[k] || fmt.Sprint(v) != k && k != "new" {
				t.Errorf("%s: %q twice, or %d", what, k, v)
			}
			seen[k] = true
			if len(seen)%2 == 0 {
				c.Delete(fmt.Sprint(300 - len(seen)))
				s.Message().Compact()
			}
		}
		for k := range c.All() {
			s.NewChild(counts, allDesc, 0)
			s.Message().Compact()
			if !seen[k] {
				t.Errorf("%s: key %q is yielded", what, k)
			}
		}
	})
	u := engine.New(itemDesc)
	texts := nocopy.StringMap(u.NewChild(fieldNamed(itemDesc, "labels"), itemDesc, 0))
	for i := range 200 {
		texts.Put(fmt.Sprint(i), fmt.Sprint(i))
	}
	for k := range texts.All() {
		texts.Delete(k)
		u.Message().Compact()
	}
	if texts.Len() != 0 {
		t.Errorf("%d of 200 pairs of texts are left", texts.Len())
	}
	forEach(func(what string, s engine.Struct) {
		l := nocopy.StringList(s.NewChild(words, allDesc, 0))
		for i := range 20 {
			l.Append(fmt.Sprint("word ", i))
		}
		for i, x := range l.All() {
			l.Delete(0, 1)
			if want := fmt.Sprint("word ", 2*i); x != want {
				t.Errorf("%s: element %d is %q, want %q", what, i, x, want)
			}
		}
	})
	gone := map[string]func(s engine.Struct){
		"words": func(s engine.Struct) {
			for _, x := range nocopy.StringList(s.Child(words, allDesc)).All() {
				if s.NewChild(words, allDesc, 0); len(x) > 10 {
					t.Errorf("%q is yielded", x)
				}
				s.Message().Compact()
			}
		},
		"blobs": func(s engine.Struct) {
			for range nocopy.BytesList(s.Child(fieldNamed(allDesc, "blobs"), allDesc)).All() {
				s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, 0)
				s.Message().Compact()
			}
		},
		"matrix": func(s engine.Struct) {
			for _, x := range nocopy.NestedList[nocopy.Int32List](s.Child(matrix, allDesc)).All() {
				s.NewChild(matrix, allDesc, 0)
				s.Message().Compact()
				x.Len()
			}
		},
		"points": func(s engine.Struct) {
			l := nocopy.StructList[engine.Struct](s.Child(points, allDesc))
			l.AppendNew()
			for _, x := range l.All() {
				s.NewChild(points, allDesc, 0)
				s.Message().Compact()
				x.Int32(fieldNamed(pointDesc, "x"))
			}
		},
	}
	for name, f := range gone {
		forEach(func(what string, s engine.Struct) {
			words := nocopy.StringList(s.NewChild(words, allDesc, 200))
			for i := range 200 {
				words.Set(i, "abc")
			}
			s.NewChild(matrix, allDesc, 100)
			s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, 100)
			s.Message().Finish()
			f(s)
			_ = name
		})
	}
}

// TestSortedWhileCompacted: the compare function may change anything but the list, and the message
// may be compacted meanwhile. If it changes the list, the sort panics with a text of its own.
func TestSortedWhileCompacted(t *testing.T) {
	words, points := fieldNamed(allDesc, "words"), fieldNamed(allDesc, "points")
	x := fieldNamed(pointDesc, "x")
	begin := func() (engine.Struct, nocopy.StringList, nocopy.StructList[engine.Struct]) {
		s := stateOf(t, "built")
		l := nocopy.StringList(s.NewChild(words, allDesc, 0))
		p := nocopy.StructList[engine.Struct](s.NewChild(points, allDesc, 0))
		for i := range 200 {
			l.Append(fmt.Sprintf("%03d", (i*77)%200))
			p.AppendNew().SetInt32(x, int32((i*77)%200))
		}
		return s, l, p
	}
	s, l, p := begin()
	n := 0
	l.SortFunc(func(a, b string) int {
		if n++; n%50 == 0 {
			s.Message().Compact()
		}
		return strings.Compare(a, b)
	})
	p.SortFunc(func(a, b engine.Struct) int {
		if n++; n%50 == 0 {
			s.Message().Compact()
		}
		return int(a.Int32(x) - b.Int32(x))
	})
	for i := range 200 {
		if l.At(i) != fmt.Sprintf("%03d", i) || p.At(i).Int32(x) != int32(i) {
			t.Fatalf("element %d is %s, %d", i, l.At(i), p.At(i).Int32(x))
		}
	}
	checkSent(t, "sorted", s)
	const changed = "nocopy: list changed while it was sorted"
	for _, change := range []func(s engine.Struct, l nocopy.StringList){
		func(s engine.Struct, l nocopy.StringList) {
			s.NewChild(words, allDesc, 0)
			s.NewChild(points, allDesc, 0)
		},
		func(s engine.Struct, l nocopy.StringList) { l.Truncate(1); s.NewChild(points, allDesc, 3) },
	} {
		s, l, p = begin()
		panics(t, "texts removed", changed, func() {
			l.SortFunc(func(a, b string) int { change(s, l); s.Message().Compact(); return strings.Compare(a, b) })
		})
		s, l, p = begin()
		panics(t, "structs removed", changed, func() {
			p.SortFunc(func(a, b engine.Struct) int { change(s, l); s.Message().Compact(); return int(a.Int32(x) - b.Int32(x)) })
		})
	}
}

// TestCompactDropsDuplicates: of a field that came twice only the last one stays, in whatever
// memory the message was received.
func TestCompactDropsDuplicates(t *testing.T) {
	d := schema.NewStruct("D")
	d.Define(schema.FieldDesc{ID: 1, Name: "n", Type: schema.TypeI8, Req: schema.Optional})
	wire, want := []byte{3, 0, 1, 7, 3, 0, 1, 8, 0}, []byte{3, 0, 1, 8, 0}
	for name, parse := range map[string]func() (engine.Struct, error){
		"Parse":         func() (engine.Struct, error) { return engine.Parse(d, wire) },
		"Read":          func() (engine.Struct, error) { return engine.Read(d, bytes.NewReader(wire), len(wire)) },
		"Read, recycle": func() (engine.Struct, error) { return engine.Read(d, bytes.NewReader(wire), len(wire), engine.Recycle) },
	} {
		s, err := parse()
		if err != nil {
			t.Fatal(err)
		}
		s.Message().Compact()
		if got := s.Message().AppendTo(nil); !bytes.Equal(got, want) || s.Int8(d.Field(0)) != 8 {
			t.Errorf("%s: % x, want % x", name, got, want)
		}
		s.Release()
	}
}
