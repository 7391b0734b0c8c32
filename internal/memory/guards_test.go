package memory

import (
	"bytes"
	"strings"
	"testing"
)

// Tests of single guards. internal/rehearse/mutants lists them and others.

// TestTakeBackTheLast: only memory that was added last gives its positions back.
func TestTakeBackTheLast(t *testing.T) {
	s := new(Space)
	s.Start(false)
	first := s.AddForeign(make([]byte, 2*segSize), false)
	second := s.AddForeign([]byte("second"), false)
	s.TakeBack(first, first+2*segSize)
	if n := len(s.segs); n != int(second>>segBits)+1 || string(s.At(second)) != "second" {
		t.Errorf("%d segments are left", n)
	}
	s.TakeBack(second, second+6)
	if got := string(s.At(second)); got != "second" {
		t.Errorf("the segment of the position itself is %q", got)
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
