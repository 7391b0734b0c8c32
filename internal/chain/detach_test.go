package chain

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

	var a, b Buffer
	a.Reset(true)
	p := a.AddChunk(hold([]byte("shared")))
	b.Reset(true)
	b.Share(&a, p, 6)
	a.Free()
	if freed != 1 {
		t.Error("freed while another Buffer holds it")
	}
	if b.Free(); freed != 2 {
		t.Errorf("freed %d times", freed)
	}

	// A Buffer that does not recycle may have lent the memory: it is never freed then.
	a.Reset(true)
	p = a.AddChunk(hold([]byte("lent")))
	b.Reset(false)
	b.Share(&a, p, 4)
	a.Free()
	b.Free()
	if freed != 2 {
		t.Errorf("freed %d times", freed)
	}
}

// TestDetach fills and frees Buffers, and checks that pieces detached from earlier ones stay the
// same.
func TestDetach(t *testing.T) {
	var b Buffer
	var all [][][]byte
	var want [][]byte
	foreign := bytes.Repeat([]byte("foreign "), 4<<10)
	for i := range 50 {
		b.Begin(false, 8)
		_, mem := b.Extend(100 + i*1000)
		for j := range mem {
			mem[j] = byte(i + j)
		}
		at, _ := b.Extend(1)
		p := b.AddForeign(foreign[i:], false)
		b.Close()
		id := b.AddReplace(at, at+1)
		b.AddContent(id, p, p+Pos(len(foreign)-i))
		b.Seal()
		want = append(want, b.AppendTo(nil))
		all = append(all, b.Detach(4<<10, 32<<10))
		b.Free()
	}
	for i, pieces := range all {
		if got := bytes.Join(pieces, nil); !bytes.Equal(got, want[i]) {
			t.Errorf("message %d of %d bytes has changed", i, len(want[i]))
		}
		last := pieces[len(pieces)-1]
		if &last[0] != &foreign[i] {
			t.Errorf("message %d: the caller's memory was copied", i)
		}
		if own := len(want[i]) - len(last); own < 32<<10 && cap(pieces[0]) > own+1 {
			t.Errorf("message %d: %d bytes keep %d alive", i, own, cap(pieces[0]))
		}
	}
}

// TestHoldReadOnly: read-only memory is never stored into. Changes go elsewhere, and a Buffer that
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
	var a Buffer
	a.Reset(true)
	p := a.AddChunk(hold())
	if a.Writable(p) {
		t.Error("it may be stored into")
	}
	a.Free()
	a.Reset(true)
	c := hold()
	a.Hold(c)
	if p := a.AddHeld(c, 5); a.Writable(p) || string(a.At(p)) != "only" {
		t.Error("a piece of it may be stored into")
	}
	a.Free()
	for _, recycle := range []bool{true, false} {
		freed = 0
		a.Reset(true)
		p = a.AddChunk(hold())
		var b Buffer
		b.Reset(recycle)
		q := b.Share(&a, p+5, 4)
		a.Free()
		if got := string(b.At(q)[:4]); got != "only" {
			t.Errorf("recycle %t: %q", recycle, got)
		}
		if (freed == 0) != recycle {
			t.Errorf("recycle %t: freed %d times", recycle, freed)
		}
		if b.Free(); freed != 1 {
			t.Errorf("recycle %t: freed %d times", recycle, freed)
		}
	}
}

// TestMoveTo: a Batch's pieces are copied in their order, and it is empty then.
func TestMoveTo(t *testing.T) {
	var b Batch
	for range 2 {
		b.AddBytes([]byte("some "))
		b.AddBytes(bytes.Repeat([]byte("many "), 1000))
		dst := make([]byte, b.Len())
		if b.MoveTo(dst); string(dst) != "some "+string(bytes.Repeat([]byte("many "), 1000)) || b.Len() != 0 {
			t.Errorf("%.20q, %d left", dst, b.Len())
		}
	}
}

// TestCopyWarm: copyWarm copies like copy, for all lengths.
func TestCopyWarm(t *testing.T) {
	src := make([]byte, 1<<20)
	for i := range src {
		src[i] = byte(i%251 + 1)
	}
	for _, n := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 512 << 10, 700_000, 1 << 20} {
		for _, room := range []int{n, n + 100, n / 2} {
			dst := make([]byte, room+1)
			if got, want := copyWarm(dst[:room], src[:n]), min(n, room); got != want || !bytes.Equal(dst[:got], src[:got]) || dst[got] != 0 {
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

// TestCompactReturns: the memory of an Owner is returned when the message is given up, even if the
// message was compacted before. Until then slices may alias it.
func TestCompactReturns(t *testing.T) {
	freed := 0
	var b Buffer
	b.Reset(true)
	b.AddChunk(HoldOwned([]byte("somebody's"), returnFunc(func() { freed++ }), true))
	for range 3 {
		if b.Compact(false); freed != 0 {
			t.Fatalf("freed %d times", freed)
		}
	}
	if b.Free(); freed != 1 {
		t.Errorf("freed %d times", freed)
	}
}
