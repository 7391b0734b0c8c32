package shapes_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestRowsOfUnequalSize: a list whose first elements are large takes memory for its actual
// elements, not as if all were large.
func TestRowsOfUnequalSize(t *testing.T) {
	v := make([]shapes.RefusedFields, 1_000_000)
	for i := range 20 {
		v[i].Reason = strings.Repeat("r", 4000)
	}
	for name, set := range map[string]func(s shapes.Lists){
		"of":     func(s shapes.Lists) { s.SetRefusalsOf(v) },
		"by":     func(s shapes.Lists) { s.SetRefusalsBy(len(v), func(i int) shapes.RefusedFields { return v[i] }) },
		"few of": func(s shapes.Lists) { s.SetRefusalsOf(v[:20_000]) },
	} {
		s := shapes.NewLists()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		set(s)
		runtime.ReadMemStats(&after)
		wire := s.Message().Len()
		if n := int(after.TotalAlloc - before.TotalAlloc); n > 32*wire {
			t.Errorf("%s: %d KiB for a message of %d", name, n>>10, wire>>10)
		}
		s.Release()
	}
}

// TestDefaultsAtTheEndOfMemory: a default that just fits into the memory is not lost when more
// memory is taken for the next field. With the tag nocopydebug, loading from memory that was given
// up faults.
func TestDefaultsAtTheEndOfMemory(t *testing.T) {
	built := shapes.NewRequiredDefaults()
	built.Message().Finish()
	want := built.GetPoints()
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		for size := 100_000; size < 160_000; size += 50 {
			v := shapes.DefaultRequiredDefaultsFields()
			v.Words = []string{strings.Repeat("w", size%3000)}
			for range size / 3000 {
				v.Words = append(v.Words, strings.Repeat("w", 3000))
			}
			v.Counts, v.Points = nil, nil
			s := shapes.NewRequiredDefaultsOf(v, opts...)
			if two, _ := s.GetCounts().Get("two"); two != 2 || !s.GetPoints().Equal(want) {
				t.Fatalf("after %d bytes: %v, %v", size, s.GetCounts(), s.GetPoints())
			}
			s.Release()
		}
	}
}

// TestCompactInLoop: a loop over a list continues with the list's elements, even if the memory
// that Compact has given up is used again.
func TestCompactInLoop(t *testing.T) {
	want := []int64{1, 2, 3, 4, 5, 6, 7, 8}
	other := slices.Repeat([]int64{-1}, 100)
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		s := shapes.NewLists(opts...)
		s.SetLarges(want)
		var got []int64
		for i, v := range s.GetLarges().All() {
			got = append(got, v)
			if i != 2 {
				continue
			}
			s.Message().Repack()
			for range 200 {
				shapes.NewLists(opts...).SetLarges(other)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("options %v: the loop has %v", opts, got)
		}
	}
}
