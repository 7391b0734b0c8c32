package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestEditedWhileIterating: whatever is changed while All is under way, also if the message is
// compacted then, what All yields are elements of the list, or pairs of the map: of these all that
// are not removed, and none twice.
func TestEditedWhileIterating(t *testing.T) {
	words, counts, matrix, points := fieldNamed(allDesc, "words"), fieldNamed(allDesc, "counts"), fieldNamed(allDesc, "matrix"), fieldNamed(allDesc, "points")
	forEach := func(f func(what string, s Struct)) {
		for _, state := range []string{"received", "built", "cloned"} {
			for _, always := range []bool{false, true} {
				s := stateOf(t, state)
				if always {
					CompactAlways(s.m)
				}
				f(fmt.Sprint(state, always), s)
				checkSent(t, state, s)
				s.Release()
			}
		}
	}
	forEach(func(what string, s Struct) {
		c := Map[string, int64, AsString, AsInt64](s.NewChild(counts, allDesc, 0))
		for i := range 200 {
			c.Put(fmt.Sprint(i), int64(i))
		}
		n := 0
		for k := range c.All() {
			c.Delete(k)
			c.Put("new", 1) // perhaps yielded, perhaps not
			if n++; n%10 == 0 {
				s.m.Compact()
			}
		}
		if c.Len() > 1 || n < 200 {
			t.Errorf("%s: %d of 200 pairs were yielded, %d are left", what, n, c.Len())
		}
		for i := range 200 {
			c.Put(fmt.Sprint(i), int64(i))
		}
		s.m.Compact()
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
				s.m.Compact()
			}
		}
		for k := range c.All() {
			s.NewChild(counts, allDesc, 0)
			s.m.Compact()
			if !seen[k] {
				t.Errorf("%s: key %q is yielded", what, k)
			}
		}
	})
	u := New(clashDesc)
	texts := StringMap(u.NewChild(fieldNamed(clashDesc, "texts"), clashDesc, 0))
	for i := range 200 {
		texts.Put(fmt.Sprint(i), fmt.Sprint(i))
	}
	for k := range texts.All() {
		texts.Delete(k)
		u.m.Compact()
	}
	if texts.Len() != 0 {
		t.Errorf("%d of 200 pairs of texts are left", texts.Len())
	}
	forEach(func(what string, s Struct) {
		l := StringList(s.NewChild(words, allDesc, 0))
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
	gone := map[string]func(s Struct){
		"words": func(s Struct) {
			for _, x := range StringList(s.Child(words, allDesc)).All() {
				if s.NewChild(words, allDesc, 0); len(x) > 10 {
					t.Errorf("%q is yielded", x)
				}
				s.m.Compact()
			}
		},
		"blobs": func(s Struct) {
			for range BytesList(s.Child(fieldNamed(allDesc, "blobs"), allDesc)).All() {
				s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, 0)
				s.m.Compact()
			}
		},
		"matrix": func(s Struct) {
			for _, x := range NestedList[Int32List](s.Child(matrix, allDesc)).All() {
				s.NewChild(matrix, allDesc, 0)
				s.m.Compact()
				x.Len()
			}
		},
		"points": func(s Struct) {
			l := StructList[Struct](s.Child(points, allDesc))
			l.AppendNew()
			for _, x := range l.All() {
				s.NewChild(points, allDesc, 0)
				s.m.Compact()
				x.Int32(fieldNamed(pointDesc, "x"))
			}
		},
	}
	for name, f := range gone {
		forEach(func(what string, s Struct) {
			words := StringList(s.NewChild(words, allDesc, 200))
			for i := range 200 {
				words.Set(i, "abc")
			}
			s.NewChild(matrix, allDesc, 100)
			s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, 100)
			s.m.Finish()
			f(s)
			_ = name
		})
	}
}

// TestSortedWhileCompacted: a function that compares may change anything else, and the message may
// be compacted then; if it changes the list that is a panic of its own.
func TestSortedWhileCompacted(t *testing.T) {
	words, points := fieldNamed(allDesc, "words"), fieldNamed(allDesc, "points")
	x := fieldNamed(pointDesc, "x")
	begin := func() (Struct, StringList, StructList[Struct]) {
		s := stateOf(t, "built")
		l := StringList(s.NewChild(words, allDesc, 0))
		p := StructList[Struct](s.NewChild(points, allDesc, 0))
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
			s.m.Compact()
		}
		return strings.Compare(a, b)
	})
	p.SortFunc(func(a, b Struct) int {
		if n++; n%50 == 0 {
			s.m.Compact()
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
	for _, change := range []func(s Struct, l StringList){
		func(s Struct, l StringList) { s.NewChild(words, allDesc, 0); s.NewChild(points, allDesc, 0) },
		func(s Struct, l StringList) { l.Truncate(1); s.NewChild(points, allDesc, 3) },
	} {
		s, l, p = begin()
		panics(t, "texts removed", changed, func() {
			l.SortFunc(func(a, b string) int { change(s, l); s.m.Compact(); return strings.Compare(a, b) })
		})
		s, l, p = begin()
		panics(t, "structs removed", changed, func() {
			p.SortFunc(func(a, b Struct) int { change(s, l); s.m.Compact(); return int(a.Int32(x) - b.Int32(x)) })
		})
	}
}

// TestCompactedNesting: neither compacting nor using entries again hides that structs are nested
// too deeply.
func TestCompactedNesting(t *testing.T) {
	self := fieldNamed(allDesc, "self")
	nest := func(s Struct) {
		for range 90 {
			s = s.NewChild(self, allDesc, 0)
		}
	}
	s := New(allDesc)
	nest(s)
	s.m.Compact()
	if err := s.m.Check(); err == nil {
		t.Error("a message that is nested too deeply can be sent once it is compacted")
	}
	s = New(allDesc)
	for range 100 {
		s.NewChild(self, allDesc, 0)
	}
	s.m.Compact()
	s.SetText(fieldNamed(allDesc, "text"), "x")
	s.m.Finish()
	words := s.m.words
	nest(s)
	if s.m.words != words {
		t.Error("the entries that are free are not used again")
	}
	if err := s.m.Check(); err == nil {
		t.Error("a message that is nested too deeply can be sent if its entries were used before")
	}
}

// TestFreeEntriesEnd: the next message knows nothing of the last one's free entries.
func TestFreeEntriesEnd(t *testing.T) {
	words := fieldNamed(allDesc, "words")
	// For one of these the index is just as large as that of any message may be
	for n := 48 << 10; n < 48<<10+200; n++ {
		s := New(allDesc)
		s.NewChild(words, allDesc, n-200)
		s.Unset(words)
		s.m.Compact()
		m := s.m
		s.Release()
		if m.dead.compacted || m.dead.used() {
			t.Fatalf("with %d elements there are free entries after Release", n-200)
		}
	}
}

// TestIndexForEver: the index is bounded by what a message has had at once, whatever the sizes of
// what comes and goes.
func TestIndexForEver(t *testing.T) {
	words, points, matrix, grown, wide := fieldNamed(allDesc, "words"), fieldNamed(allDesc, "points"), fieldNamed(allDesc, "matrix"), fieldNamed(allDesc, "grown"), fieldNamed(allDesc, "wide")
	x := fieldNamed(pointDesc, "x")
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		what   string
		rounds int
		do     func(s Struct, i int)
	}{
		{"an element that was changed is set", 20_000, func(s Struct, i int) {
			l := StructList[Struct](s.Child(wide, allDesc))
			f := fieldNamed(wideDesc, "f3")
			l.At(0).SetInt64(f, 3)
			l.At(0).Unset(f)
			l.Set(0, l.At(1))
		}},
		{"lists of any size that are added to", 30_000, func(s Struct, i int) {
			StringList(s.NewChild(words, allDesc, r.IntN(2000))).Append("x")
		}},
		{"lists of structs of any size that are added to", 30_000, func(s Struct, i int) {
			l := StructList[Struct](s.NewChild(points, allDesc, r.IntN(1000)))
			s.m.Finish()
			l.AppendNew()
		}},
		{"large and small lists", 10_000, func(s Struct, i int) {
			s.NewChild(words, allDesc, 1000)
			for range 10 {
				s.NewChild(words, allDesc, r.IntN(20))
			}
		}},
		{"a set of structs, one in and one out", 20_000, func(s Struct, i int) {
			l := StructList[Struct](s.Child(grown, allDesc))
			l.AppendNew().SetInt32(x, int32(i+1000))
			l.At(3).SetInt32(fieldNamed(pointDesc, "y"), int32(i))
			if l.Delete(0, 1); !l.Contains(l.At(7)) {
				t.Fatal("an element is not in the set")
			}
		}},
		{"a set of lists", 100_000, func(s Struct, i int) {
			m := NestedList[Int32List](s.Child(matrix, allDesc))
			m.Set(0, m.At(i%19+1))
			m.At(3).Set(0, int32(i))
			if !m.Contains(m.At(3)) {
				t.Fatal("an element is not in the set")
			}
			l := StructList[Struct](s.Child(grown, allDesc))
			l.At(5).SetInt32(x, int32(i))
			if !l.Contains(l.At(5)) {
				t.Fatal("an element is not in the set")
			}
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			if raceEnabled || !testmode.Long {
				c.rounds /= 10
			}
			s := stateOf(t, "built")
			g, m := StructList[Struct](s.NewChild(grown, allDesc, 40)), NestedList[Int32List](s.NewChild(matrix, allDesc, 0))
			for i := range 40 {
				g.At(i).SetInt32(x, int32(i))
				m.AppendNew(i)
			}
			StructList[Struct](s.NewChild(wide, allDesc, 2)).At(1)
			s.m.Finish()
			for i := range c.rounds {
				c.do(s, i)
			}
			if n := footprint(s.m); n > 5<<20 {
				t.Errorf("%s: %d bytes, %d words", c.what, n, s.m.words)
			}
			checkSent(t, c.what, s)
			s.Release()
		})
	}
}
