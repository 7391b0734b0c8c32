package chain_test

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// TestLastSegment: all segments below position 1<<31 can be used, and no other.
func TestLastSegment(t *testing.T) {
	var b chain.Buffer
	b.Reset(false)
	last := chain.Pos(0)
	for b.Room(0) {
		last = b.AddForeign([]byte{7}, false)
	}
	if last != 1<<31-segSize || b.At(last)[0] != 7 {
		t.Errorf("the last memory is at %#x", last)
	}
	if b.RoomAfter(0, 1) || !panics(func() { b.AddForeign(nil, false) }) {
		t.Error("there is room after it")
	}
	b.Free()
	b.Reset(false)
	for b.RoomAfter(2, 0) {
		b.AddForeign(nil, false)
	}
	if !b.Room(2*segSize-1) || b.Room(2*segSize) {
		t.Error("there is not room for 2 segments")
	}
}

// panics reports whether f panics.
func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

// TestAdoptShared: Adopt leaves memory alone that another Buffer has, however small. It copies a
// caller's.
func TestAdoptShared(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		var a, b chain.Buffer
		a.Begin(true, 0)
		_, mem := a.Extend(100)
		copy(mem, bytes.Repeat([]byte{'a'}, 100))
		a.Seal()
		at, _ := a.Whole()
		b.Reset(recycle)
		p := b.ShareFrom(&a.Space, at, 100)
		if b.Writable(p) || b.Adopt(p) {
			t.Errorf("recycle %t: shared memory is adopted", recycle)
		}
		p = b.AddForeign(make([]byte, 100), false)
		if !b.Adopt(p) || !b.Writable(p) {
			t.Errorf("recycle %t: a caller's memory is not adopted", recycle)
		}
		b.Free()
		a.Free()
	}
}
