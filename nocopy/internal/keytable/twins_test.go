package keytable

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestTwins: the last pair with a key counts, in whichever order pairs come and go.
func TestTwins(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 6))
			var tb Table
			in := map[uint32]bool{}
			head := uint32(0) // number+1
			for step := range 300 {
				i := uint32(r.IntN(30))
				switch {
				case in[i] && tb.HasLater(i):
					tb.removeEarlier(i)
				case in[i]:
					head = tb.removeLast(i, true)
				case head == 0:
					head = i + 1
				case i+1 > head:
					tb.addLater(head-1, i)
					head = i + 1
				default:
					tb.addEarlier(head-1, i)
				}
				in[i] = !in[i]
				last, n := uint32(0), 0
				for x, is := range in {
					if is {
						last, n = max(last, x+1), n+1
					}
				}
				if head != last || int(tb.dups) != max(n-1, 0) {
					t.Fatalf("seed %d, step %d: %d leads, not %d; %d twins of %d", seed, step, head, last, tb.dups, n)
				}
			}
		})
	}
}
