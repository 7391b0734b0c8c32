package chain

import (
	"math/bits"
	"slices"
)

const (
	// radixFew is the number of entries up to which sorting compares.
	radixFew = 64
	// radixBits bounds the bits of positions by which one pass sorts.
	radixBits = 11
)

// sortPlaced sorts s by position. Entries with equal positions must already be in the order of
// their numbers. It may use spare as memory. It returns the sorted slice, which is s or spare, and
// the other one. It takes time proportional to len(s), whatever the positions are.
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
	most := min(radixBits, bits.Len(uint(len(s)))) // counting then takes no longer than moving
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
