package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// orderSession sets texts of lists in any order, and compares with slices of Go.
type orderSession struct {
	*rand.Rand
	t    *testing.T
	s    Struct
	way  string
	kept []struct{ got, want string } // strings that were read
}

func (o *orderSession) check(l StringList, want []string) {
	o.t.Helper()
	if got := l.AppendTo(nil); !slices.Equal(got, want) {
		for i := range want {
			if got[i] != want[i] {
				o.t.Fatalf("%s: element %d of %d is %d bytes %.20q, not %d bytes %.20q", o.way, i, len(want), len(got[i]), got[i], len(want[i]), want[i])
			}
		}
	}
}

// keep reads an element and remembers what it was.
func (o *orderSession) keep(l StringList, i int, want string) {
	got := l.At(i)
	if got != want {
		o.t.Fatalf("%s: element %d is %d bytes %.20q, not %d bytes %.20q", o.way, i, len(got), got, len(want), want)
	}
	o.kept = append(o.kept, struct{ got, want string }{got, want})
}

// TestAnyOrderLarge: a list that takes many blocks, in random order, set twice.
func TestAnyOrderLarge(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		o := &orderSession{Rand: rand.New(rand.NewPCG(3, 4)), t: t, way: fmt.Sprintf("recycle %t", recycle)}
		o.s = beginMessage(allDesc, flagIf(recycle, Recycle), 0)
		n := testmode.Of(40_000, 400_000)
		want := make([]string, n)
		l := StringList(o.s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
		for round := range 2 {
			for _, i := range o.Perm(n) {
				want[i] = fmt.Sprintf("%d of round %d%*s", i, round, i%90, "")
				l.Set(i, want[i])
				if i%1000 == 0 {
					o.keep(l, i, want[i])
				}
			}
		}
		o.check(l, want)
		if got := o.s.m.Nodes(); got > 0 {
			t.Errorf("%s: %d nodes", o.way, got)
		}
		again := mustParse(t, allDesc, o.s.m.AppendTo(nil), Limits{MaxBytes: 200 << 20})
		o.check(StringList(again.Child(fieldNamed(allDesc, "words"), allDesc)), want)
		again.Release()
		for _, k := range o.kept {
			if k.got != k.want {
				t.Fatalf("%s: a string that was read as %.20q is %.20q now", o.way, k.want, k.got)
			}
		}
		o.s.Release()
	}
}

// TestAnyOrderBounded: setting elements again and again while the list is not complete takes no
// more memory than a few times what it holds, whatever the texts' sizes and whether they are read.
func TestAnyOrderBounded(t *testing.T) {
	texts := map[string][]string{
		"short":           {"a", "bc", strings.Repeat("d", 200)},
		"copied":          {strings.Repeat("a", 1000), strings.Repeat("b", 4000)},
		"referred":        {longText, longText + "x"},
		"both":            {longText, "short", longText + "x", strings.Repeat("c", 300)},
		"large and short": {strings.Repeat("L", 1<<20+5), "short"},
	}
	for name, texts := range texts {
		for _, recycle := range []bool{false, true} {
			for _, n := range []int{2, 50} {
				s := beginMessage(allDesc, flagIf(recycle, Recycle), 0)
				l := StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
				want := make([]string, n)
				most := 0
				for k := range testmode.Of(2_000, 60_000) {
					i := n - 1 - k%n
					want[i] = texts[k%len(texts)]
					l.Set(i, want[i])
					if k%1000 == 7 {
						if got := l.At(i); got != want[i] {
							t.Fatalf("%s: element %d is %.20q, not %.20q", name, i, got, want[i])
						}
						most = max(most, s.m.buf.Footprint())
					}
				}
				live := 0
				for _, x := range want {
					live += len(x)
				}
				if limit := 8*live + 2<<20; most > limit {
					t.Errorf("%s, %d elements, recycle %t: %d bytes at most for %d, limit %d", name, n, recycle, most, live, limit)
				}
				if got := l.AppendTo(nil); !slices.Equal(got, want) {
					t.Errorf("%s, %d elements, recycle %t: other elements", name, n, recycle)
				}
				s.Release()
			}
		}
	}
}

// TestAnyOrderBytes: a list filled in any order is on the wire as one filled in order, in one
// piece, and so is what comes after it.
func TestAnyOrderBytes(t *testing.T) {
	const n = 200
	texts := make([][]byte, n)
	for i := range texts {
		texts[i] = []byte(fmt.Sprintf("text %d", i*i))
	}
	build := func(order []int) []byte {
		s := New(allDesc)
		defer s.Release()
		for range 3 {
			s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0).SetText(fieldNamed(allDesc, "text"), "before")
			l := BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, n))
			for _, i := range order {
				l.Set(i, texts[i])
			}
		}
		s.SetText(fieldNamed(allDesc, "text"), "after")
		return bytes.Clone(s.m.Bytes())
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	want := build(order)
	slices.Reverse(order)
	if got := build(order); !bytes.Equal(got, want) {
		t.Error("in reverse order it is other bytes")
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	if got := build(order); !bytes.Equal(got, want) {
		t.Error("in random order it is other bytes")
	}
	s := New(allDesc)
	defer s.Release()
	l := BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, n))
	for _, i := range order {
		l.Set(i, texts[i])
	}
	s.m.Finish()
	if _, whole := s.m.buf.Bytes(); !whole || s.m.Nodes() > 0 {
		t.Errorf("%d nodes, one piece: %t", s.m.Nodes(), whole)
	}
}

// TestAnyOrderAllocs: nothing is allocated in steady state.
func TestAnyOrderAllocs(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		for _, n := range []int{10, 2000} {
			text := []byte("a text of some bytes")
			order := rand.New(rand.NewPCG(1, 2)).Perm(n)
			once := func() {
				s := beginMessage(allDesc, flagIf(recycle, Recycle), 0)
				l := BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, n))
				for _, i := range order {
					l.Set(i, text)
				}
				s.m.Len()
				s.Release()
			}
			if got := allocsPerRun(once); got > 0 && !debugging && !raceEnabled {
				t.Errorf("%d texts, recycle %t: %v allocations", n, recycle, got)
			}
		}
	}
}
