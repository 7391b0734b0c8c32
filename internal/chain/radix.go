package chain

import (
	"math/bits"
	"slices"
)

const (
	// radixFew is the most that are sorted by comparing.
	radixFew = 64
	// radixBits is the most bits of positions that one pass sorts by.
	radixBits = 11
)

// sortPlaced sorts s, in which what begins at the same position is in the order of its numbers, by
// where it begins. spare is memory that it may use; it returns the sorted slice, which is s or
// spare, and the other one. It takes time in proportion to len(s), wherever things are.
func sortPlaced(s, spare []placed) (sorted, other []placed) {
	if len(s) <= radixFew {
		slices.Sort(s)
		return s, spare
	}
	lo, hi := s[0].at(), s[0].at()
	for _, x := range s {
		lo, hi = min(lo, x.at()), max(hi, x.at())
	}
	spare = slices.Grow(spare[:0], len(s))[:len(s)]
	width := bits.Len32(hi - lo)
	most := min(radixBits, bits.Len(uint(len(s)))) // so that counting takes no longer than moving
	passes := (width + most - 1) / most
	for pass := range passes {
		from, to := width*pass/passes, width*(pass+1)/passes
		shift, mask := from, Pos(1)<<(to-from)-1
		var starts [1 << radixBits]uint32
		for _, x := range s {
			starts[(x.at()-lo)>>shift&mask]++
		}
		at := uint32(0)
		for i := range mask + 1 {
			starts[i], at = at, at+starts[i]
		}
		for _, x := range s {
			start := &starts[(x.at()-lo)>>shift&mask]
			spare[*start] = x
			*start++
		}
		s, spare = spare, s
	}
	return s, spare
}
