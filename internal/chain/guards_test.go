package chain

import (
	"bytes"
	"strings"
	"testing"
)

// Tests of single guards. internal/rehearse/mutants lists them and others.

// three returns a Buffer whose message is "abc", and its position.
func three(t *testing.T) (*Buffer, Pos) {
	t.Helper()
	b := new(Buffer)
	b.Begin(false, 0)
	p, mem := b.Extend(3)
	copy(mem, "abc")
	b.Close()
	return b, p
}

// put makes text the content of a node.
func put(b *Buffer, id NodeID, text string) {
	p, mem := b.Place(len(text))
	copy(mem, text)
	b.SetPlaced(id, p, p+Pos(len(text)))
}

// TestFlatOfGrown: bytes are not flat if a node extends the value that ends with them.
func TestFlatOfGrown(t *testing.T) {
	b, p := three(t)
	put(b, b.AddGrow(p+3, p), "d")
	if got, ok := b.Flat(p, p+3, 0); ok {
		t.Errorf("flat: %q", got)
	}
	if got := b.Range(p, p+3, 0).AppendTo(nil); string(got) != "abcd" {
		t.Errorf("the range is %q", got)
	}
}

// TestLongestReplaces: of two nodes that replace bytes from the same position on, the one that
// replaces more of them hides the other.
func TestLongestReplaces(t *testing.T) {
	for _, longFirst := range []bool{false, true} {
		b, p := three(t)
		ends := []Pos{p + 1, p + 3}
		if longFirst {
			ends[0], ends[1] = ends[1], ends[0]
		}
		for _, end := range ends {
			put(b, b.AddReplace(p, end), strings.Repeat("x", int(end-p)))
		}
		b.Seal()
		if got := b.AppendTo(nil); string(got) != "xxx" {
			t.Errorf("the longer one first %t: %q", longFirst, got)
		}
	}
}

// TestTakeBackTheLast: only memory that was added last gives its positions back.
func TestTakeBackTheLast(t *testing.T) {
	b := new(Buffer)
	b.Reset(false)
	first := b.AddForeign(make([]byte, 2*segSize), false)
	second := b.AddForeign([]byte("second"), false)
	b.TakeBack(first, first+2*segSize)
	if n := len(b.segs); n != int(second>>segBits)+1 || string(b.At(second)) != "second" {
		t.Errorf("%d segments are left", n)
	}
	b.TakeBack(second, second+6)
	if got := string(b.At(second)); got != "second" {
		t.Errorf("the segment of the position itself is %q", got)
	}
}

// TestCompactedStaysValid: memory that a message had before it was compacted is not used for
// others.
func TestCompactedStaysValid(t *testing.T) {
	b := new(Buffer)
	b.Begin(true, 0)
	p, mem := b.Extend(3)
	copy(mem, "abc")
	old := b.At(p)[:3]
	b.Close()
	put(b, b.AddReplace(p, p+3), "xyz")
	b.Compact(false)
	for range 4 {
		c := newBlock(SlabSize)
		for i := range c.mem {
			c.mem[i] = 0xff
		}
	}
	if string(old) != "abc" {
		t.Errorf("a slice of it is %q", old)
	}
}

// TestFrameOfFrozen: the length before a message that is being written stays when the message
// changes.
func TestFrameOfFrozen(t *testing.T) {
	b := new(Buffer)
	b.Begin(false, 8)
	_, mem := b.Extend(3)
	copy(mem, "abc")
	b.Close()
	b.Seal()
	var batch Batch
	batch.Add(b, true)
	b.Freeze()
	put(b, b.AddAtStop(b.pieces[0].to-1), "more")
	b.Seal()
	if b.Len() != 7 {
		t.Fatalf("%d bytes", b.Len())
	}
	if got, c := batch.Gather(); string(got) != "\x00\x00\x00\x03abc" {
		t.Errorf("the frame is %q", got)
		c.Release()
	}
}

// TestVacateKeeps: an idle Receiver keeps bytes that have arrived, and a block that others hold.
func TestVacateKeeps(t *testing.T) {
	var r Receiver
	r.Reset(true)
	defer r.Free()
	if err := r.Fill(strings.NewReader("abcdef"), 6); err != nil {
		t.Fatal(err)
	}
	r.Idle = true
	if r.Vacate(); string(r.Bytes()) != "abcdef" {
		t.Errorf("of 6 bytes %q are left", r.Bytes())
	}
	c := r.Take(6)
	if r.Vacate(); !r.Fits(1) {
		t.Error("the rest of a block that a message holds is given up")
	}
	c.Release()
	if r.Vacate(); r.Fits(1) {
		t.Error("a block that nobody holds is kept")
	}
}

// TestBlockOfItsClass: a pool has blocks of up to twice the size. One that is too small is not
// taken.
func TestBlockOfItsClass(t *testing.T) {
	const small, large = 140_000, 250_000 // of the same class
	for range 100 {
		newSlab(small).release()
		b := newBlock(large)
		if len(b.mem) < large {
			t.Fatalf("a block of %d bytes for %d", len(b.mem), large)
		}
		copy(b.mem, bytes.Repeat([]byte{1}, large))
	}
}
