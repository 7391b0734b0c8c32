package chain

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
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
		c := memory.NewChunk(memory.SlabSize, true)
		for i := range c.Mem {
			c.Mem[i] = 0xff
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

// TestNodeInItself: changes by several goroutines at once may leave a node that contains itself.
// Sending it panics, and does not fill the stack.
func TestNodeInItself(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(64 << 20)) // so that failing takes little memory
	b, p := three(t)
	b.SetPlaced(b.AddReplace(p, p+2), p, p+3)
	defer func() {
		if got := recover(); got != changedAtOnce {
			t.Errorf("%v, not %v", got, changedAtOnce)
		}
	}()
	t.Errorf("it is sent as %q", b.Range(p, p+3, 0).AppendTo(nil))
}
