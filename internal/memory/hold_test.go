package memory

import (
	"bytes"
	"testing"
)

// TestHoldPieces checks when foreign pieces of memory are given back.
func TestHoldPieces(t *testing.T) {
	freed := 0
	hold := func(pieces ...[]byte) Chunk { return HoldPieces(pieces, func() { freed++ }) }
	c := hold([]byte("ab"), []byte("c"), []byte("def"))
	if c.Len() != 6 {
		t.Errorf("a chunk of %d bytes", c.Len())
	}
	rest := c.From(1)
	c.Release()
	if freed != 0 {
		t.Error("freed while the rest is held")
	}
	if rest.Release(); freed != 1 {
		t.Errorf("freed %d times", freed)
	}

	var a, b Space
	a.Start(true)
	p := a.AddChunk(hold([]byte("shared")))
	b.Start(true)
	b.ShareFrom(&a, p, 6)
	a.Free(Appended)
	if freed != 1 {
		t.Error("freed while another Space holds it")
	}
	if b.Free(Appended); freed != 2 {
		t.Errorf("freed %d times", freed)
	}

	// A Space that does not recycle may have lent the memory: it is never freed then.
	a.Start(true)
	p = a.AddChunk(hold([]byte("lent")))
	b.Start(false)
	b.ShareFrom(&a, p, 4)
	a.Free(Appended)
	b.Free(Appended)
	if freed != 2 {
		t.Errorf("freed %d times", freed)
	}
}

// TestHoldReadOnly: read-only memory is never stored into. Changes go elsewhere, and a Space that
// never gives memory back has a copy.
func TestHoldReadOnly(t *testing.T) {
	freed := 0
	mem := []byte("read only")
	hold := func() Chunk { return HoldOwned(mem, returnFunc(func() { freed++ }), true) }
	if c := hold(); !c.block.readOnly || NewChunk(9, true).block.readOnly {
		t.Error("ReadOnly is wrong")
	} else {
		c.Release()
	}
	var a Space
	a.Start(true)
	p := a.AddChunk(hold())
	if a.Writable(p) {
		t.Error("it may be stored into")
	}
	a.Free(Appended)
	a.Start(true)
	c := hold()
	c.next = &Chunk{Mem: []byte{}}
	a.TakeOver(c)
	if p := a.AddPiece(c, 5); a.Writable(p) || string(a.At(p)) != "only" {
		t.Error("a piece of it may be stored into")
	}
	a.Free(Appended)
	for _, recycle := range []bool{true, false} {
		freed = 0
		a.Start(true)
		p = a.AddChunk(hold())
		var b Space
		b.Start(recycle)
		q := b.ShareFrom(&a, p+5, 4)
		a.Free(Appended)
		if got := string(b.At(q)[:4]); got != "only" {
			t.Errorf("recycle %t: %q", recycle, got)
		}
		if (freed == 0) != recycle {
			t.Errorf("recycle %t: freed %d times", recycle, freed)
		}
		if b.Free(Appended); freed != 1 {
			t.Errorf("recycle %t: freed %d times", recycle, freed)
		}
	}
}

// TestCopyWarm: CopyWarm copies like copy, for all lengths.
func TestCopyWarm(t *testing.T) {
	src := make([]byte, 1<<20)
	for i := range src {
		src[i] = byte(i%251 + 1)
	}
	for _, n := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 512 << 10, 700_000, 1 << 20} {
		for _, room := range []int{n, n + 100, n / 2} {
			dst := make([]byte, room+1)
			if got, want := CopyWarm(dst[:room], src[:n]), min(n, room); got != want || !bytes.Equal(dst[:got], src[:got]) || dst[got] != 0 {
				t.Errorf("%d of %d bytes: %d were copied", room, n, got)
			}
		}
	}
}

// TestCopy: a Receiver's copies have memory of their own, which goes back to the pools.
func TestCopy(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		var r Receiver
		r.Reset(recycle)
		for _, n := range []int{1, 5000, 100_000} {
			mem := bytes.Repeat([]byte("x"), n)
			c := r.Copy(mem)
			clear(mem)
			if bytes.Count(c.Mem, []byte("x")) != n || (c.block != nil) != recycle {
				t.Errorf("recycle %t: a copy of %d bytes is another", recycle, n)
			}
			c.Release()
		}
		r.Free()
	}
}
