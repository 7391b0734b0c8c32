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

// TestExchangeable: other memory of the caller's may get the positions of foreign memory that it
// fits in, and not those of memory of the Space's own, or of a part of it.
func TestExchangeable(t *testing.T) {
	s := new(Space)
	s.Start(false)
	foreign := s.AddForeign(make([]byte, 3000), false)
	own, mem := s.AddBlock(3000)
	for _, c := range []struct {
		from, to Pos
		n        int
		want     bool
	}{
		{foreign, foreign + 3000, 3000, true},
		{foreign, foreign + 3000, segSize - 1, true},
		{foreign, foreign + 3000, segSize, false},
		{foreign + 1, foreign + 3000, 3000, false},
		{own, own + Pos(len(mem)), 3000, false},
		{0, 1, 1, false},
	} {
		if got := s.Exchangeable(c.from, c.to, c.n); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	if !Begins(own) {
		t.Error("the Space's own memory does not begin a segment")
	}
}

// noOwner is an owner of memory that needs none.
type noOwner struct{}

func (noOwner) Return() {}

// TestReusable: the next message begins in a block only if nobody else holds it, it is not a large
// one, and it is not in foreign memory.
func TestReusable(t *testing.T) {
	for _, c := range []struct {
		size  int
		refs  int32
		owner Owner
		want  bool
	}{
		{MaxSlabSize, 1, nil, true},
		{MaxSlabSize + 1, 1, nil, false},
		{MaxSlabSize, 2, nil, false},
		{MaxSlabSize, 1, noOwner{}, false},
	} {
		b := &Block{mem: make([]byte, c.size), owner: c.owner}
		b.refs.Store(c.refs)
		if got := b.reusable(); got != (c.want && !Debugging) {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
