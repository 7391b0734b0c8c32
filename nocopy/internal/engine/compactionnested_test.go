package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

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
	words := s.m.ix.Used
	nest(s)
	if s.m.ix.Used != words {
		t.Error("the entries that are free are not used again")
	}
	if err := s.m.Check(); err == nil {
		t.Error("a message that is nested too deeply can be sent if its entries were used before")
	}
}

// TestFreeEntriesEnd: the next message knows nothing of the last one's free entries.
func TestFreeEntriesEnd(t *testing.T) {
	words := fieldNamed(allDesc, "words")
	// For one of these n the index is just as large as any message's may be
	for n := 48 << 10; n < 48<<10+200; n++ {
		s := New(allDesc)
		s.NewChild(words, allDesc, n-200)
		s.Unset(words)
		s.m.Compact()
		m := s.m
		s.Release()
		if m.ix.Reuses || !m.dead.isEmpty() {
			t.Fatalf("with %d elements there are free entries after Release", n-200)
		}
	}
}

// TestIndexForEver: the index is bounded by the values that a message has had at once, for
// all sizes of added and removed values.
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
			if testmode.Race || !testmode.Long {
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
				t.Errorf("%s: %d bytes, %d words", c.what, n, s.m.ix.Used)
			}
			checkSent(t, c.what, s)
			s.Release()
		})
	}
}
