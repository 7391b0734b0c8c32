package chain

import (
	"math/bits"
	"slices"
)

const (
	// radixFew is how many numbers are sorted by inserting one after the other.
	radixFew = 64
	// radixBits bounds the bits by which one pass sorts.
	radixBits = 11
)

// SortByHigh sorts numbers by their high halves. Those with equal ones stay in order. It may use
// spare as memory. It returns the sorted slice, which is s or spare, and the other one. It takes
// time proportional to len(s), whatever the numbers are.
func SortByHigh[T ~uint64](s, spare []T) (sorted, other []T) {
	if len(s) <= radixFew {
		for i, x := range s {
			for ; i > 0 && s[i-1]>>32 > x>>32; i-- {
				s[i] = s[i-1]
			}
			s[i] = x
		}
		return s, spare
	}
	lo, hi := s[0]>>32, s[0]>>32
	for _, x := range s {
		lo, hi = min(lo, x>>32), max(hi, x>>32)
	}
	spare = slices.Grow(spare[:0], len(s))[:len(s)]
	width := bits.Len64(uint64(hi - lo))
	most := min(radixBits, bits.Len(uint(len(s)))) // counting then takes no longer than moving
	passes := (width + most - 1) / most
	for pass := range passes {
		from, to := width*pass/passes, width*(pass+1)/passes
		shift, mask := from, T(1)<<(to-from)-1
		var starts [1 << radixBits]uint32
		for _, x := range s {
			starts[(x>>32-lo)>>shift&mask]++
		}
		at := uint32(0)
		for i := range mask + 1 {
			starts[i], at = at, at+starts[i]
		}
		for _, x := range s {
			start := &starts[(x>>32-lo)>>shift&mask]
			spare[*start] = x
			*start++
		}
		s, spare = spare, s
	}
	return s, spare
}
