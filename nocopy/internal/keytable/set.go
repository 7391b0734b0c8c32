package keytable

import "math/bits"

// Set is a set of numbers. It finds the next number in a few steps, however far away that is.
// Level 0 has a bit for each number. Level k+1 has a bit for each word of level k that is not 0.
type Set [bitLevels][]uint64

const bitLevels = 6 // 64⁶ numbers

// Add adds i to the set.
func (s *Set) Add(i int) {
	for k := range s {
		for i/64 >= len(s[k]) {
			s[k] = append(s[k], 0)
		}
		word := &s[k][i/64]
		before := *word
		*word |= 1 << (i % 64)
		if before != 0 {
			return
		}
		i /= 64
	}
}

// Remove removes i from the set.
func (s *Set) Remove(i int) {
	for k := range s {
		if i/64 >= len(s[k]) {
			return
		}
		word := &s[k][i/64]
		*word &^= 1 << (i % 64)
		if *word != 0 {
			return
		}
		i /= 64
	}
}

// Next returns the least number in the set from i on, −1 if there is none.
func (s *Set) Next(i int) int {
	for k := 0; k < bitLevels; k++ {
		if i/64 < len(s[k]) {
			if word := s[k][i/64] >> (i % 64); word != 0 {
				i += bits.TrailingZeros64(word)
				for ; k > 0; k-- {
					i = i*64 + bits.TrailingZeros64(s[k-1][i])
				}
				return i
			}
		}
		i = i/64 + 1
	}
	return -1
}
