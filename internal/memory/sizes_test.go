package memory

import "testing"

// TestSizesFit: relations of sizes that are no constants, see sizes.go.
func TestSizesFit(t *testing.T) {
	if class := classOf(SlabSize); 1<<class != SlabSize {
		t.Errorf("a slab of %d bytes is of class %d", SlabSize, class)
	}
	if class := classOf(MaxSlabSize); class != maxClass {
		t.Errorf("the largest slab is of class %d, the largest class is %d", class, maxClass)
	}
	if class := classOf(1); class != minClass {
		t.Errorf("one byte is of class %d, the smallest class is %d", class, minClass)
	}
	if n := Segments(MaxSlabSize - 1); n != 1 {
		t.Errorf("a slab takes %d segments", n)
	}
	if len(zeroes) < TextLength || len(zeroes) < 16 {
		t.Errorf("%d zeroes are not enough for any value", len(zeroes))
	}
	// A block for a value of nearly MaxSlabSize is used again, with what follows the value.
	var s Space
	s.Start(false)
	for n := MaxSlabSize / 2; n <= MaxSlabSize; n += MaxSlabSize / 64 {
		if size := s.TailSize(n); size < n+2 || size > keepRewound {
			t.Errorf("a block of %d bytes for %d", size, n)
		}
	}
	// A small message takes a slab, whatever came before.
	if size := s.TailSize(smallPart); size != SlabSize {
		t.Errorf("a block of %d bytes for %d", size, smallPart)
	}
	// A Receiver never allocates more for promised bytes than it may, and gets to any size.
	for _, want := range []int{1, Claim, large, SlabSize, MaxSlabSize, MaxSize} {
		for have, steps := 0, 0; have < want; steps++ {
			r := Receiver{to: have}
			size := stage(want, r.worth(), trust)
			if size > max(Claim, trust*have) || size <= have || steps > 6 {
				t.Fatalf("%d of %d bytes have arrived: a block of %d, step %d", have, want, size, steps)
			}
			have = size
		}
	}
}
