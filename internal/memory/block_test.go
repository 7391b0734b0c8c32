package memory

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// filled returns a recycling Space with n bytes of value v at the tail, and their position.
func filled(n int, v byte) (*Space, Pos) {
	s := new(Space)
	s.Start(true)
	s.Gap(n)
	p, mem := s.Tail(), s.FreeTail()[:n]
	for i := range mem {
		mem[i] = v
	}
	s.Advance(n)
	return s, p
}

// TestShareOutlives: shared memory is used again only after its last holder has released it,
// whatever the order of the releases.
func TestShareOutlives(t *testing.T) {
	const n = 100_000
	orders := permutations(4)
	for _, order := range orders {
		a, p := filled(n, 'a')
		block := a.tailMem
		holders, at := []*Space{a}, []Pos{p}
		for range 3 { // each shares from the one before
			b := new(Space)
			b.Start(true)
			at = append(at, b.ShareFrom(holders[len(holders)-1], at[len(at)-1], n))
			holders = append(holders, b)
		}
		want := bytes.Repeat([]byte("a"), n)
		for k, i := range order {
			if got := block.refs.Load(); got != int32(4-k) {
				t.Fatalf("%v: %d holders after %d are gone", order, got, k)
			}
			holders[i].Free(Appended)
			holders[i].Start(false) // and does not keep it for its next message
			x, _ := filled(n, 'x')
			x.Free(Appended) // would have overwritten memory that was given back too early
			for _, j := range order[k+1:] {
				if got := holders[j].At(at[j])[:n]; !bytes.Equal(got, want) {
					t.Fatalf("%v: holder %d lost its bytes when %d went", order, j, i)
				}
			}
		}
		if got := block.refs.Load(); got > 1 { // 1: in use again
			t.Errorf("%v: %d holders are left", order, got)
		}
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// TestReleasedOnce: releasing or retaining a block once too often panics; two users never get the
// same block.
func TestReleasedOnce(t *testing.T) {
	for name, f := range map[string]func(b *Block){
		"nocopy: block released twice":                  (*Block).release,
		"nocopy: block retained after its last release": (*Block).retain,
	} {
		t.Run(name, func(t *testing.T) {
			func() {
				defer func() {
					if got := recover(); got != name {
						t.Errorf("panic with %v, want %q", got, name)
					}
				}()
				b := newBlock(maxClassBytes + 1) // too large for the pools
				b.release()
				f(b)
			}()
		})
	}
}

const maxClassBytes = mostSpare

// TestBlockSizes: a block has room for what was asked for, and comes back from the pool for its
// size.
func TestBlockSizes(t *testing.T) {
	for _, n := range []int{0, 1, 4095, 4096, 4097, 1 << 16, 1<<20 + 1, 1<<24 - 1, 1 << 24, 1<<24 + 1, 20 << 20, maxClassBytes - 1, maxClassBytes, maxClassBytes + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBlock(n)
			if len(b.mem) < n || n > 4096 && len(b.mem) > 2*n {
				t.Errorf("block of %d bytes for %d", len(b.mem), n)
			}
			b.release()
			if n > SlabSize && n < maxClassBytes { // a larger one, perhaps of the same pool
				larger := newBlock(n + n/4)
				if len(larger.mem) < n+n/4 {
					t.Errorf("block of %d bytes for %d", len(larger.mem), n+n/4)
				}
				larger.release()
			}
			again := newBlock(n)
			if len(again.mem) < n || again.refs.Load() != 1 {
				t.Errorf("second block for %d: %d bytes, %d holders", n, len(again.mem), again.refs.Load())
			}
			again.release()
		})
	}
}
