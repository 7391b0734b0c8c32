package chain_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestKindsInTurn: one Buffer holds one message after another, built and received in any order,
// with and without recycling. No message shows anything of earlier ones.
func TestKindsInTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 1))
	var b, other chain.Buffer
	var shared []byte // the bytes that other refers to
	text := func() string { return strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(300)) }
	for i := range testmode.Of(2_000, 10_000) {
		recycle := r.IntN(16) == 0 != (i%1000 > 500)
		var want, edited []byte
		var log string
		build := func(n int) {
			for range n {
				s := text()
				p := b.AppendWithHead(uint64(len(s))<<32, 4, s)
				want = append(binary.BigEndian.AppendUint32(want, uint32(len(s))), s...)
				if got := b.Text(p); got != s {
					t.Fatalf("%d%s: the text that was appended last is %q, not %q", i, log, got, s)
				}
			}
		}
		kind := r.IntN(8)
		log = fmt.Sprintf(" kind %d, recycle %t", kind, recycle)
		switch {
		case kind < 4:
			b.Begin(recycle, []int{0, 8, 64, 600}[r.IntN(4)])
			build([]int{0, 1, 5, 3000, 400}[min(r.IntN(128), 4)])
		case kind < 5:
			b.Reset(recycle)
			b.OpenRoot(8)
			build(3)
		case kind < 7: // received, and edited
			want = []byte(text() + "in the middle" + text())
			p := b.Refer(bytes.Clone(want), recycle, false)
			if r.IntN(2) == 0 {
				at := r.IntN(len(want))
				b.Seal()
				node := b.AddReplace(p+chain.Pos(at), p+chain.Pos(at+1))
				q, mem := b.Place(3)
				copy(mem, "new")
				edited = mem
				b.SetPlaced(node, q, q+3)
				want = append(append(bytes.Clone(want[:at]), "new"...), want[at+1:]...)
			}
		default:
			b.Reset(recycle)
			want = []byte(text())
			p, mem, err := b.ReadN(bytes.NewReader(want), len(want))
			if err != nil {
				t.Fatal(err)
			}
			b.AddRoot(p, p+chain.Pos(len(mem)))
		}
		b.Seal()
		if got := b.AppendTo(nil); !bytes.Equal(got, want) {
			t.Fatalf("%d%s: %d bytes, not the %d that were appended", i, log, len(got), len(want))
		}
		if r.IntN(16) == 0 && b.Len() > 0 && b.NodeCount() == 0 { // another Buffer refers to it
			other.Reset(recycle)
			b.Pieces(func(p chain.Pos, mem []byte) bool {
				q := other.ShareFrom(&b.Space, p, len(mem))
				other.AddRoot(q, q+chain.Pos(len(mem)))
				return true
			})
			other.Seal()
			shared = bytes.Clone(want)
		}
		var keep, lent []string
		switch {
		case recycle || r.IntN(2) == 0:
		case kind < 5 && len(want) > 4:
			b.Lend()
			b.Pieces(func(_ chain.Pos, mem []byte) bool { keep = append(keep, memory.String(mem)); return true })
		case edited != nil:
			b.Lend()
			keep = append(keep, memory.String(edited))
		}
		for _, s := range keep {
			lent = append(lent, strings.Clone(s))
		}
		b.Free()
		if r.IntN(64) == 0 {
			b.Shrink()
		}
		if keep != nil {
			if edited != nil {
				b.Refer([]byte("received"), false, false)
				_, mem := b.Place(200)
				copy(mem, strings.Repeat("!", 200))
			} else {
				b.Begin(false, 8)
				for range len(want)/200 + 1 {
					b.AppendWithHead(0, 0, strings.Repeat("!", 200))
				}
			}
			b.Free()
			if !slices.Equal(keep, lent) {
				t.Fatalf("%d%s: what was lent has changed", i, log)
			}
			if shared != nil && !bytes.Equal(other.AppendTo(nil), shared) {
				t.Fatalf("%d%s: what another Buffer refers to has changed", i, log)
			}
		}
	}
}

// TestFlatText: FlatText finds texts in foreign memory, except texts that reach to the end of the
// memory. For bytes that are not a text it returns false, whatever their length says.
func TestFlatText(t *testing.T) {
	const lead = 6
	for _, s := range []string{"", "a", strings.Repeat("long", segSize/3)} {
		t.Run(s, func(t *testing.T) {
			for after := range 3 {
				mem := append(binary.BigEndian.AppendUint32(make([]byte, lead), uint32(len(s))), s...)
				mem = append(mem, "after"[:after]...)
				var b chain.Buffer
				p := b.Refer(mem, true, false) + lead
				if got, ok := b.FlatText(p); ok != (after > 0) || ok && got != s {
					t.Errorf("%d bytes with %d after: %d bytes, %t", len(s), after, len(got), ok)
				}
				if got := b.Text(p); got != s {
					t.Errorf("%d bytes with %d after: %d bytes by Text", len(s), after, len(got))
				}
				for _, p := range []chain.Pos{0, segSize - 4, p + 4 + chain.Pos(len(s)+after), 1 << 31, 1<<31 | p, 1<<32 - 1} {
					if got, ok := b.FlatText(p); ok {
						t.Errorf("%d bytes with %d after: at %#x there is a text of %d", len(s), after, p, len(got))
					}
				}
				for _, n := range []uint32{uint32(len(s) + after), 1<<32 - 1} {
					binary.BigEndian.PutUint32(mem[lead:], n)
					if got, ok := b.FlatText(p); ok {
						t.Errorf("%d bytes with %d after: %d bytes if the length says %d", len(s), after, len(got), n)
					}
				}
				binary.BigEndian.PutUint32(mem[lead:], uint32(len(s)))
				if b.Adopt(p) {
					if _, ok := b.FlatText(p); ok || b.Text(p) != s {
						t.Errorf("%d bytes with %d after: %q after they were copied, %t", len(s), after, b.Text(p), ok)
					}
				}
				b.Reset(true)
				if _, ok := b.FlatText(p); ok {
					t.Errorf("%d bytes with %d after are still there after Reset", len(s), after)
				}
			}
		})
	}
}
