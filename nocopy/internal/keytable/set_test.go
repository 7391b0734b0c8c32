package keytable

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestSet: a Set is the set that its numbers make.
func TestSet(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 4096, 5000, 300_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			var s Set
			have := make([]bool, n)
			for range 3000 {
				i := r.IntN(n)
				if have[i] = r.IntN(3) == 0; have[i] {
					s.Add(i)
				} else {
					s.Remove(i)
				}
				from := r.IntN(n)
				want := from
				for want < n && !have[want] {
					want++
				}
				if got := s.Next(from); got != want && (got != -1 || want != n) {
					t.Fatalf("of %d: %d follows %d, want %d", n, got, from, want)
				}
			}
			if got := s.Next(n + 5_000_000); got != -1 {
				t.Errorf("of %d: %d is beyond", n, got)
			}
		})
	}
}
