//go:build !nounsafe

package nocopy

import (
	"encoding/binary"
	"unsafe"
)

// usualStructs indexes structs with all fields in order into the words [first, end), as long as they come. It
// returns where it stopped, and the first words that it has not filled.
func (p *parser) usualStructs(steps []step, first, end uint32, i int) (int, uint32) {
	// SAFETY: at is compared with size before anything is read there: before 8 bytes, and before the STOP. steps is read
	// below its length; there is one at least. w stays below end, a bound that slicing checks once, here: a struct takes
	// structWords and a word a step, and [first, end) is made of whole ones. With slices the loop has more to keep than registers.
	words := unsafe.Pointer(unsafe.SliceData(p.m.idx[:end]))
	mem, size := unsafe.Pointer(unsafe.SliceData(p.b)), uint64(len(p.b))
	step0, n := unsafe.Pointer(unsafe.SliceData(steps)), uint64(len(steps))
	base := p.base
	for first < end {
		w := uint64(first) + structWords
		at := uint64(i)
		for q := uint64(0); q < n; q++ {
			if at+8 > size {
				return i, first
			}
			x := binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(mem, at))[:])
			s := *(*uint64)(unsafe.Add(step0, q*8))
			next := at + uint64(uint32(s))
			// A branch, not arithmetic: predicted, it lets the next load start before this one is done.
			if s&stepText != 0 {
				next += uint64(uint32(x >> 8))
			}
			if (x^s)>>40 != 0 || next > size {
				return i, first
			}
			*(*uint32)(unsafe.Add(words, (w+q)*4)) = base + uint32(at) + fieldHeader
			at = next
		}
		if at >= size || *(*byte)(unsafe.Add(mem, at)) != byte(WireStop) {
			return i, first
		}
		*(*uint32)(unsafe.Add(words, uint64(first)*4)) = base + uint32(i)
		*(*uint32)(unsafe.Add(words, uint64(first)*4+4)) = base + uint32(at)
		first = uint32(w + n)
		i = int(at) + 1
	}
	return i, first
}
