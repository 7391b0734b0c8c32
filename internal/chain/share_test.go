package chain

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// filled returns a recycling Buffer whose root run is n bytes of value v.
func filled(n int, v byte) *Buffer {
	b := new(Buffer)
	b.Reset(true)
	b.OpenRoot(0)
	_, mem := b.Extend(n)
	for i := range mem {
		mem[i] = v
	}
	b.Seal()
	return b
}

// TestShareIsReadOnly: neither side stores into shared memory.
func TestShareIsReadOnly(t *testing.T) {
	a := filled(1000, 'a')
	p := a.pieces[0].from
	if !a.Writable(p) {
		t.Error("memory of a Buffer's own is not writable")
	}
	b := new(Buffer)
	b.Reset(false)
	at := b.ShareFrom(&a.Space, p+10, 100)
	if a.Writable(p) || b.Writable(at) {
		t.Error("shared memory is writable")
	}
	a.OpenContent(a.AddGrow(p+1000, p))
	q, _ := a.Extend(10)
	if !a.Writable(q) {
		t.Error("what is added after sharing is not writable")
	}
	if b.Writable(0) {
		t.Error("position 0 is writable")
	}
	foreign := b.AddForeign(make([]byte, 10), false)
	owned := b.AddForeign(make([]byte, 10), true)
	if b.Writable(foreign) || !b.Writable(owned) {
		t.Errorf("foreign memory writable: %v, owned: %v", b.Writable(foreign), b.Writable(owned))
	}
}

// TestReuse: a Buffer that is used again shows nothing of its previous message, with recycling
// switched on and off in turn.
func TestReuse(t *testing.T) {
	var b Buffer
	var kept [][]byte // lent memory of slabs must keep its contents
	for i := range 300 {
		recycle := i%3 == 0
		b.Reset(recycle)
		b.OpenRoot(4)
		want := bytes.Repeat([]byte{byte(i)}, i*97%40_000+1)
		_, mem := b.Extend(len(want))
		copy(mem, want)
		b.Seal()
		if got := b.AppendTo(nil); !bytes.Equal(got, want) || b.NodeCount() != 0 {
			t.Fatalf("message %d: %d bytes, want %d; %d nodes", i, len(got), len(want), b.NodeCount())
		}
		if !recycle {
			b.Lend()
			kept = append(kept, mem)
		}
		b.Free()
	}
	for _, mem := range kept {
		for _, c := range mem {
			if c != mem[0] {
				t.Fatal("a slab was used twice")
			}
		}
	}
}

// TestAddressSpace: positions run out with an error that says so, long before they wrap around.
func TestAddressSpace(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != "nocopy: message larger than its address space of 2 GiB" {
			t.Errorf("panic with %s", got)
		}
	}()
	var b Buffer
	b.Reset(false)
	last := Pos(0)
	for range 1 << 20 {
		p := b.AddForeign(make([]byte, 1), false)
		if p <= last || p >= 1<<31 {
			t.Fatalf("position %x after %x", p, last)
		}
		last = p
	}
	t.Error("no end of positions")
}

// TestCrossingSegments: a value is contiguous wherever it lies in a block of several segments.
func TestCrossingSegments(t *testing.T) {
	const segSize = int(FirstPos)
	mem := make([]byte, 3*segSize+5)
	for i := range mem {
		mem[i] = byte(i*7) ^ byte(i>>13)
	}
	var b Buffer
	b.Reset(false)
	p := b.AddForeign(mem, false)
	for _, i := range []int{0, 1, segSize - 1, segSize, segSize + 1, 2*segSize - 4, 3 * segSize, len(mem) - 1} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if got := b.At(p + Pos(i)); !bytes.Equal(got, mem[i:]) {
				t.Errorf("%d bytes at %d, want %d", len(got), i, len(mem)-i)
			}
		})
	}
	if got := b.At(p + Pos(len(mem))); len(got) != 0 {
		t.Errorf("%d bytes after the end", len(got))
	}
	b.AddRoot(p, p+Pos(len(mem)))
	b.Seal()
	if got, ok := b.Bytes(); !ok && !bytes.Equal(b.AppendTo(nil), mem) || ok && !bytes.Equal(got, mem) {
		t.Error("the block does not come out as it went in")
	}
}

// TestAdopt: a store into a small piece of foreign memory copies the piece. The end of a large
// piece is not copied, since it is also read through the segment before it.
func TestAdopt(t *testing.T) {
	const segSize = int(FirstPos)
	for _, c := range []struct {
		size, at int
		want     bool
	}{
		{1, 0, true}, {memory.SmallForeign, memory.SmallForeign - 1, true}, {memory.SmallForeign + 1, 0, false},
		{segSize + 100, segSize + 50, false}, {segSize + 100, 50, false}, {segSize - 1, segSize - 10, false},
	} {
		for _, recycle := range []bool{false, true} {
			mem := bytes.Repeat([]byte{'x'}, c.size)
			var b Buffer
			at := b.Refer(mem, recycle, false) + Pos(c.at)
			if got := b.Adopt(at); got != c.want || got != b.Writable(at) {
				t.Errorf("%d of %d bytes: adopted %v, writable %v", c.at, c.size, got, b.Writable(at))
			}
			want := bytes.Clone(mem)
			if c.want {
				b.At(at)[0], want[c.at] = 'y', 'y'
			}
			b.Seal()
			if got := b.AppendTo(nil); !bytes.Equal(got, want) {
				t.Errorf("%d of %d bytes: goes out as %.40q", c.at, c.size, got)
			}
			if mem[c.at] != 'x' {
				t.Errorf("%d of %d bytes: stored into foreign memory", c.at, c.size)
			}
			b.Free()
		}
	}
}
