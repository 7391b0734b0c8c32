package engine

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestAnyFieldsBounded: setting the fields of a list's elements again and again, in any order,
// takes no more memory than a few times what they hold.
func TestAnyFieldsBounded(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		for _, n := range []int{2, 300} {
			r := rand.New(rand.NewPCG(1, 2))
			s := beginMessage(allDesc, flagIf(recycle, Recycle), 0)
			l := StructList[Struct](s.NewChild(fieldNamed(allDesc, "children"), allDesc, n))
			most, sizes := 0, []int{3, 40, 700}
			for k := range testmode.Of(100_000, 1_000_000) {
				c := l.At(r.IntN(n))
				c.SetText(fieldNamed(allDesc, "text"), strings.Repeat("t", sizes[r.IntN(3)]))
				c.SetInt32(fieldNamed(allDesc, "medium"), int32(k))
				if k%1000 == 7 {
					most = max(most, s.m.buf.Footprint()+4*int(s.m.words))
				}
			}
			if limit := 8*s.m.Len() + 4*int(s.m.words) + 2<<20; most > limit {
				t.Errorf("%d elements, recycle %t: %d bytes at most, limit %d", n, recycle, most, limit)
			}
			s.Release()
		}
	}
}
