package edits_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// orderSession sets texts of lists in any order, and compares them with Go slices.
type orderSession struct {
	*rand.Rand
	t    *testing.T
	s    engine.Struct
	way  string
	kept []struct{ got, want string } // strings that were read
}

// text returns a text of one of the sizes at which something changes.
func (o *orderSession) text() string {
	n := 0
	switch class := o.IntN(200); {
	case class < 150:
		n = o.IntN(40)
	case class < 190:
		n = o.IntN(600)
	case class < 198:
		n = engine.ReferSize - 10 + o.IntN(3*engine.ReferSize)
	case class < 199:
		n = o.IntN(200 << 10)
	case o.IntN(8) == 0:
		n = 1<<20 - 5 + o.IntN(10)
	}
	return strings.Repeat(string(rune('a'+o.IntN(26))), n)
}

func (o *orderSession) check(l nocopy.StringList, want []string) {
	o.t.Helper()
	if got := l.AppendTo(nil); !slices.Equal(got, want) {
		for i := range want {
			if got[i] != want[i] {
				o.t.Fatalf("%s: element %d of %d is %d bytes %.20q, not %d bytes %.20q", o.way, i, len(want), len(got[i]), got[i], len(want[i]), want[i])
			}
		}
	}
}

// keep reads an element and remembers its value.
func (o *orderSession) keep(l nocopy.StringList, i int, want string) {
	got := l.At(i)
	if got != want {
		o.t.Fatalf("%s: element %d is %d bytes %.20q, not %d bytes %.20q", o.way, i, len(got), got, len(want), want)
	}
	o.kept = append(o.kept, struct{ got, want string }{got, want})
}

// fill makes field words a list of n texts and sets its elements, with other things in between.
func (o *orderSession) fill(n int, quiet bool) {
	words := fieldNamed(allDesc, "words")
	l := nocopy.StringList(o.s.NewChild(words, allDesc, n))
	want := make([]string, n)
	order := o.Perm(n)
	if o.IntN(4) == 0 {
		slices.Sort(order)
		slices.Reverse(order)
	}
	some := order[:n-o.IntN(2)*o.IntN(n)]
	for k := range len(some) + o.IntN(3)*n {
		i := o.IntN(n) // again
		if k < len(some) {
			i = min(some[k], n-1)
		}
		want[i] = o.text()
		l.Set(i, want[i])
		if quiet {
			continue
		}
		switch o.IntN(60) {
		case 0, 1, 2:
			j := o.IntN(n)
			o.keep(l, j, want[j])
		case 3:
			if v := want[o.IntN(n)]; !l.Contains(v) || l.Contains("nowhere") {
				o.t.Fatalf("%s: Contains(%.20q) is wrong", o.way, v)
			}
		case 4:
			if o.IntN(10) == 0 {
				o.check(l, want)
			}
		case 5:
			if o.IntN(10) == 0 {
				want = append(want, "appended")
				n++
				l.Append("appended")
			}
		case 6:
			if o.IntN(20) == 0 {
				o.s.SetInt32(fieldNamed(allDesc, "medium"), int32(k))
				o.s.SetText(fieldNamed(allDesc, "text"), "ends the list")
			}
		case 7:
			if o.IntN(10) == 0 { // forwarded in the middle, both go on
				c := engine.New(allDesc)
				c.SetChild(words, allDesc, engine.Struct(l))
				o.check(nocopy.StringList(c.Child(words, allDesc)), want)
				c.Release()
			}
		case 8:
			if o.IntN(10) == 0 {
				if again := mustParse(o.t, allDesc, o.s.Message().AppendTo(nil)); true {
					o.check(nocopy.StringList(again.Child(words, allDesc)), want)
					again.Release()
				}
			}
		case 9:
			if o.IntN(20) == 0 {
				o.s.Message().Compact()
			}
		case 10:
			if o.IntN(10) == 0 {
				a, b := o.IntN(n), o.IntN(n)
				l.Swap(a, b)
				want[a], want[b] = want[b], want[a]
			}
		case 11:
			if n > 1 && o.IntN(10) == 0 {
				l.Delete(n-1, n)
				n, want = n-1, want[:n-1]
			}
		}
	}
	if o.IntN(8) == 0 {
		o.s.Unset(words)
		return
	}
	o.check(l, want)
	again := mustParse(o.t, allDesc, o.s.Message().AppendTo(nil))
	o.check(nocopy.StringList(again.Child(words, allDesc)), want)
	again.Release()
}

// TestAnyOrder: a list of texts may be filled in any order, elements may be set again, and
// anything else may happen before the list is complete. Strings that were read stay as they are.
func TestAnyOrder(t *testing.T) {
	o := &orderSession{Rand: rand.New(rand.NewPCG(testmode.Seed(t), 1)), t: t}
	for round := range testmode.Of(75, 400) {
		blocks := memory.BlocksInUse()
		recycle := round%3 == 0
		o.way = fmt.Sprintf("round %d, recycle %t", round, recycle)
		var opts []engine.Option
		if recycle {
			opts = append(opts, engine.Recycle)
		}
		if o.s = engine.New(allDesc, opts...); round%5 == 0 { // edited
			o.s.Release()
			o.s = mustParse(t, allDesc, []byte("\x0f\x00\x0e\x0b\x00\x00\x00\x01\x00\x00\x00\x01x\x00"), opts...)
		}
		for range 1 + o.IntN(3) {
			o.fill(1+o.IntN([]int{3, 20, 300, 2000}[o.IntN(4)]), o.IntN(3) == 0)
		}
		if o.IntN(10) == 0 { // released in the middle
			l := nocopy.StringList(o.s.NewChild(fieldNamed(allDesc, "words"), allDesc, 100))
			l.Set(50, "in the middle")
			l.Set(7, longText)
		}
		if recycle {
			o.kept = nil
		}
		o.s.Release()
		for _, k := range o.kept {
			if k.got != k.want {
				t.Fatalf("%s: a string that was read as %.20q is %.20q now", o.way, k.want, k.got)
			}
		}
		o.kept = o.kept[max(0, len(o.kept)-100):]
		if now := memory.BlocksInUse(); now != blocks {
			t.Fatalf("%s: %d blocks in use, %d before", o.way, now, blocks)
		}
	}
}

// TestAnyOrderHuge: when many positions are in use, further texts set out of order take nodes.
func TestAnyOrderHuge(t *testing.T) {
	n := testmode.Of(2_000, 75_000) // more than are staged
	text := strings.Repeat("x", 4000)
	s := engine.New(allDesc)
	defer s.Release()
	l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
	for k := range n {
		i := n - 1 - k
		l.Set(i, fmt.Sprintf("%d%s", i, text))
	}
	again := mustParse(t, allDesc, s.Message().AppendTo(nil), engine.Limits{MaxBytes: 1 << 30})
	defer again.Release()
	for i, got := range nocopy.StringList(again.Child(fieldNamed(allDesc, "words"), allDesc)).All() {
		if want := fmt.Sprintf("%d%s", i, text); got != want {
			t.Fatalf("element %d is %.20q", i, got)
		}
	}
}

// TestAnyOrderRecycled: a string of a recycled message may be set in any order, and that message
// released before the list is complete.
func TestAnyOrderRecycled(t *testing.T) {
	from := engine.New(allDesc, engine.Recycle)
	from.SetText(fieldNamed(allDesc, "text"), "of a recycled message")
	s := engine.New(allDesc)
	defer s.Release()
	l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, 3))
	l.Set(2, from.Text(fieldNamed(allDesc, "text")))
	l.Set(0, from.Text(fieldNamed(allDesc, "text")))
	from.Release()
	for range 10 { // whose memory others use
		x := engine.New(allDesc, engine.Recycle)
		x.SetText(fieldNamed(allDesc, "text"), strings.Repeat("#", 1000))
		defer x.Release()
	}
	if got, want := l.AppendTo(nil), []string{"of a recycled message", "", "of a recycled message"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestAnyOrderLarge: a list that takes many blocks, in random order, set twice. Only the second
// values take nodes.
func TestAnyOrderLarge(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		o := &orderSession{Rand: rand.New(rand.NewPCG(3, 4)), t: t, way: fmt.Sprintf("recycle %t", recycle)}
		o.s = engine.New(allDesc, optionsOf(recycle, false))
		n := testmode.Of(40_000, 400_000)
		want := make([]string, n)
		l := nocopy.StringList(o.s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
		for round := range 2 {
			for _, i := range o.Perm(n) {
				want[i] = fmt.Sprintf("%d of round %d%*s", i, round, i%90, "")
				l.Set(i, want[i])
				if i%1000 == 0 {
					o.keep(l, i, want[i])
				}
			}
			if got := o.s.Message().Nodes(); round == 0 && got > 0 {
				t.Errorf("%s: %d nodes", o.way, got)
			}
		}
		o.check(l, want)
		again := mustParse(t, allDesc, o.s.Message().AppendTo(nil), engine.Limits{MaxBytes: 200 << 20})
		o.check(nocopy.StringList(again.Child(fieldNamed(allDesc, "words"), allDesc)), want)
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
// more memory than a few times its size, whatever the texts' sizes and whether they are read or
// not.
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
				s := engine.New(allDesc, optionsOf(recycle, false))
				l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
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
						most = max(most, engine.Buffer(s.Message()).Footprint())
					}
				}
				live := 0
				for _, x := range want {
					live += len(x)
				}
				// 4,096 texts of 4 KiB may be replaced before the message is compacted.
				if limit := 8*live + 28<<20; most > limit {
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

// TestAnyOrderBytes: a list that was filled in any order has the wire bytes of one that was filled
// in order, in one piece, and the values after it have theirs.
func TestAnyOrderBytes(t *testing.T) {
	const n = 200
	texts := make([][]byte, n)
	for i := range texts {
		texts[i] = []byte(fmt.Sprintf("text %d", i*i))
	}
	build := func(order []int) []byte {
		s := engine.New(allDesc)
		defer s.Release()
		for range 3 {
			s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0).SetText(fieldNamed(allDesc, "text"), "before")
			l := nocopy.BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, n))
			for _, i := range order {
				l.Set(i, texts[i])
			}
		}
		s.SetText(fieldNamed(allDesc, "text"), "after")
		return bytes.Clone(s.Message().Bytes())
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
	s := engine.New(allDesc)
	defer s.Release()
	l := nocopy.BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, n))
	for _, i := range order {
		l.Set(i, texts[i])
	}
	s.Message().Finish()
	if _, whole := engine.Buffer(s.Message()).Bytes(); !whole || s.Message().Nodes() > 0 {
		t.Errorf("%d nodes, one piece: %t", s.Message().Nodes(), whole)
	}
}

// TestAnyOrderAllocs: nothing is allocated in steady state.
func TestAnyOrderAllocs(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		for _, n := range []int{10, 2000} {
			text := []byte("a text of some bytes")
			order := rand.New(rand.NewPCG(1, 2)).Perm(n)
			once := func() {
				s := engine.New(allDesc, optionsOf(recycle, false))
				l := nocopy.BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, n))
				for _, i := range order {
					l.Set(i, text)
				}
				s.Message().Len()
				s.Release()
			}
			if got := allocsPerRun(once); got > 0 && !debugging && !raceEnabled {
				t.Errorf("%d texts, recycle %t: %v allocations", n, recycle, got)
			}
		}
	}
}
