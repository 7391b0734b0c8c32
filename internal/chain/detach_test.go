package chain

import (
	"bytes"
	"testing"
)

// TestHoldPieces looks at when pieces of others' memory are given back.
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

	// A Buffer that does not recycle may have lent it: then it is never freed.
	a.Reset(true)
	p = a.AddChunk(hold([]byte("lent")))
	b.Reset(false)
	b.Share(&a, p, 4)
	a.Free()
	b.Free()
	if freed != 2 {
		t.Errorf("freed %d times", freed)
	}
	if n := ChunkOf([]byte("x"), []byte("yz")).Len(); n != 3 {
		t.Errorf("a chunk of %d bytes", n)
	}
}

// TestDetach fills and frees Buffers, and looks at what was detached from earlier ones.
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
