package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestBitset: a bitset is the set that its numbers make.
func TestBitset(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 4096, 5000, 300_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			var s bitset
			have := make([]bool, n)
			for range 3000 {
				i := r.IntN(n)
				if have[i] = r.IntN(3) == 0; have[i] {
					s.add(i)
				} else {
					s.remove(i)
				}
				from := r.IntN(n)
				want := from
				for want < n && !have[want] {
					want++
				}
				if got := s.next(from); got != want && (got != -1 || want != n) {
					t.Fatalf("of %d: %d follows %d, want %d", n, got, from, want)
				}
			}
			if got := s.next(n + 5_000_000); got != -1 {
				t.Errorf("of %d: %d is beyond", n, got)
			}
		})
	}
}
