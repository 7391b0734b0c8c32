//go:build !nounsafe

package nocopy

import (
	"encoding/binary"
	"unsafe"
)

// inOrder indexes the fields at i as long as they come in the IDL's order, beginning with the field next, and are
// not containers. It returns where it stopped, and the field behind the last one that it has done.
func (p *parser) inOrder(d *Desc, e uint32, i, next int) (int, int) {
	// SAFETY: as in usualStructs: at is compared with size before anything is read there, q with n; and there is a word for
	// each of the n fields behind the first one's.
	mem, size := unsafe.Pointer(unsafe.SliceData(p.b)), uint64(len(p.b))
	step0, n := unsafe.Pointer(unsafe.SliceData(d.steps)), uint64(len(d.steps))
	words := unsafe.Pointer(unsafe.SliceData(p.m.idx[e+d.first:][:n]))
	base := p.base + fieldHeader
	at, q := uint64(i), uint64(next)
	for ; q < n && at+8 <= size; q++ {
		x := binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(mem, at))[:])
		s := *(*uint64)(unsafe.Add(step0, q*8))
		word := (*uint32)(unsafe.Add(words, q*4))
		if (x^s)>>40 != 0 || *word != 0 {
			break
		}
		end := at + uint64(uint32(s))
		// A branch, not arithmetic: predicted, it lets the next load start before this one is done.
		if s&stepText != 0 {
			end += uint64(uint32(x >> 8))
		}
		if end > size {
			break
		}
		*word = base + uint32(at)
		at = end
	}
	return int(at), int(q)
}

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
			if (x^s)>>40 != 0 {
				return i, first
			}
			*(*uint32)(unsafe.Add(words, w*4)) = base + fieldHeader + uint32(at)
			w++
			at += uint64(uint32(s))
			if s&stepText != 0 {
				at += uint64(uint32(x >> 8))
			}
			if at > size {
				return i, first
			}
		}
		if at >= size || *(*byte)(unsafe.Add(mem, at)) != byte(WireStop) {
			return i, first
		}
		*(*uint32)(unsafe.Add(words, uint64(first)*4)) = base + uint32(i)
		*(*uint32)(unsafe.Add(words, uint64(first)*4+4)) = base + uint32(at)
		first = uint32(w)
		i = int(at) + 1
	}
	return i, first
}

// passStructs finds the end of n structs with all fields in order, as long as they come. It returns where it stopped,
// and how many are left.
func passStructs(b []byte, steps []step, i int, n uint32) (int, uint32) {
	// SAFETY: as in usualStructs.
	mem, size := unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b))
	step0, fields := unsafe.Pointer(unsafe.SliceData(steps)), uint64(len(steps))
	for start := uint64(i); ; n-- {
		if n == 0 {
			return int(start), 0
		}
		at := start
		for q := uint64(0); q < fields; q++ {
			if at+8 > size {
				return int(start), n
			}
			x := binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(mem, at))[:])
			s := *(*uint64)(unsafe.Add(step0, q*8))
			if (x^s)>>40 != 0 {
				return int(start), n
			}
			at += uint64(uint32(s))
			if s&stepText != 0 {
				at += uint64(uint32(x >> 8))
			}
			if at > size {
				return int(start), n
			}
		}
		if at >= size || *(*byte)(unsafe.Add(mem, at)) != byte(WireStop) {
			return int(start), n
		}
		start = at + 1
	}
}

// passTexts finds the end of n strings. It returns where it stopped, and how many are left.
func passTexts(b []byte, i int, n uint32) (int, uint32) {
	mem, size := unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b))
	at := uint64(i)
	for ; n > 0; n-- {
		if at+textHeader > size {
			break
		}
		// SAFETY: at+4 is compared with size just above.
		end := at + textHeader + uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:]))
		if end > size {
			break
		}
		at = end
	}
	return int(at), n
}
