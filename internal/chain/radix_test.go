package chain

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestSortByHigh: radix sort and comparison sort give the same result for all high halves. Numbers
// with equal ones keep their order.
func TestSortByHigh(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 1))
	var spare []placed
	for range testmode.Of(300, 3000) {
		n := []int{0, 1, radixFew, radixFew + 1, 100, 2000, 20_000}[r.IntN(7)]
		width := r.IntN(32)
		lo := Pos(r.Uint32N(1 << 20))
		s := make([]placed, n)
		for i := range s {
			at := lo + Pos(r.Uint64N(1<<width))
			if r.IntN(4) == 0 && i > 0 {
				at = s[i-1].at()
			}
			s[i] = placed(at)<<32 | placed(r.Uint32())
		}
		want := slices.Clone(s)
		slices.SortStableFunc(want, func(a, b placed) int { return cmp.Compare(a.at(), b.at()) })
		var got []placed
		if got, spare = SortByHigh(s, spare); !slices.Equal(got, want) {
			t.Fatalf("%d of %d bits: not in order", n, width)
		}
	}
}

// TestManyNodes: a message with more nodes than nearPieces is sent correctly. The nodes come in
// random order; some lie in bytes that others replace, some in the contents of others.
func TestManyNodes(t *testing.T) {
	const cell, n = 10, 3*nearPieces + 1
	r := rand.New(rand.NewPCG(testmode.Seed(t), 1))
	mem := make([]byte, cell*n)
	for i := range mem {
		mem[i] = '.'
	}
	var b Buffer
	b.Reset(false)
	from := b.AddForeign(mem, false)
	b.SetRoot(from, from+Pos(len(mem)))
	cells := make([]string, n)
	place := func(node NodeID, text string) Pos {
		p, to := b.Place(len(text))
		copy(to, text)
		b.SetPlaced(node, p, p+Pos(len(text)))
		return p
	}
	for k, i := range r.Perm(n) {
		at := from + Pos(cell*i)
		text := fmt.Sprintf("<%d>", k)
		cells[i] = ".." + text + "....."
		switch r.IntN(4) {
		case 0: // a hidden one
			place(b.AddReplace(at+3, at+4), "hidden")
			place(b.AddReplace(at+2, at+5), text)
		case 1: // one in the content of another
			p := place(b.AddReplace(at+2, at+5), text)
			place(b.AddReplace(p+1, p+Pos(len(text))-1), "inside")
			cells[i] = "..<inside>....."
		case 2: // one that inserts
			place(b.AddAtStop(at+2), text)
			cells[i] = ".." + text + "........"
		default:
			place(b.AddReplace(at+2, at+5), text)
		}
		if r.IntN(n) < 3 {
			b.Seal()
		}
	}
	want := ""
	for _, c := range cells {
		want += c
	}
	b.Seal()
	if got := string(b.AppendTo(nil)); got != want {
		t.Fatalf("%d bytes that are not the %d wanted ones", len(got), len(want))
	}
	var w recorder
	if _, err := b.WriteTo(&w); err != nil || w.String() != want {
		t.Fatalf("what was written is not as wanted, error %v", err)
	}
}
