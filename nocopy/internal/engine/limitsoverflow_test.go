package engine

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
)

// Products of counts and sizes stay right where an int has 32 bits: these tests run there, too
// (.ci/run).

func TestMaxIndex(t *testing.T) {
	for _, c := range []struct {
		limit, n int
		want     int64
	}{
		{0, 0, 16 << 20}, {0, 1000, 16<<20 + 64_000}, {0, 33 << 20, 16<<20 + 64*33<<20}, {0, 1 << 30, 16<<20 + 64<<30},
		{400, 1 << 30, 400}, {math.MaxInt, 1 << 30, math.MaxInt64}, {-1, 0, 16 << 20},
	} {
		l := Limits{MaxIndex: c.limit}
		if got, want := int64(l.maxIndex(c.n)), min(c.want/4, index.MaxWords); got != want {
			t.Errorf("%d bytes, MaxIndex %d: %d words, not %d", c.n, c.limit, got, want)
		}
	}
}

// TestHugeCounts: impossible counts are refused with a fixed text before anything is done.
func TestHugeCounts(t *testing.T) {
	wideField, lists, counts := fieldOf("wide"), fieldOf("forest"), fieldOf("counts")
	for _, n := range []int{-1, math.MinInt32, 1<<24 - 1, 1 << 24, 1<<30 + 1, math.MaxInt32} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for what, f := range map[string]func(s Struct){
				"a list of structs": func(s Struct) { s.NewChild(wideField, allDesc, n) },
				"a map":             func(s Struct) { s.NewChild(counts, allDesc, n) },
				"numbers":           func(s Struct) { s.NewChild(fieldOf("numbers"), allDesc, n) },
				"a list in a list":  func(s Struct) { NestedList[StructList[Struct]](s.NewChild(lists, allDesc, 0)).AppendNew(n) },
			} {
				if 0 < n && n <= 1<<24 && (what != "a list of structs" || index.MaxWords > 1<<30) {
					continue // possible
				}
				s := New(allDesc)
				func() {
					defer func() {
						if v := recover(); v != "nocopy: count "+strconv.Itoa(n)+" out of range" {
							t.Errorf("%s of %d: %v", what, n, v)
						}
					}()
					f(s)
				}()
			}
		})
	}
}
