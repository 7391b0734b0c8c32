//go:build !nounsafe

package nocopy

import (
	"encoding/binary"
	"unsafe"
)

// follow takes steps of pl, from k on, as long as the bytes at b[i:] are as planned, and fills the words of idx, which
// begins with the struct's entry, number e; 0 if structs inside are not to be indexed. It returns where it stopped: index
// and step. All that it uses fits registers.
func follow(pl *plan, k int, b []byte, i int, idx []uint32, base, e uint32) (int, int) {
	// SAFETY: as in usualStructs: at is compared with size before anything is read there. No step follows the last one, which
	// is a stepStop. Words below d.words are the entry's own, those of structs inside are looked at by hasRoom, if e is not 0.
	mem, size := unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b))
	steps, words := unsafe.Pointer(unsafe.SliceData(pl.steps)), unsafe.Pointer(unsafe.SliceData(idx))
	base += fieldHeader
	at := uint64(i)
	for next := uint64(k); ; next++ {
		s := *(*uint64)(unsafe.Add(steps, next*8))
		if s&stepStop != 0 {
			if at >= size || *(*byte)(unsafe.Add(mem, at)) != byte(WireStop) {
				return int(at), int(next)
			}
			*(*uint32)(unsafe.Add(words, s>>stepWord&stepWords*4)) = base - fieldHeader + uint32(at)
			at++
			if s&stepLast != 0 {
				return int(at), int(next) + 1
			}
			continue
		}
		if at+8 > size {
			return int(at), int(next)
		}
		x := binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(mem, at))[:])
		if (x^s)>>40 != 0 {
			return int(at), int(next)
		}
		end := at + s&stepReach
		// Branches, not arithmetic: predicted, they let the next load start before this one is done.
		if s&stepText != 0 {
			end += uint64(uint32(x >> 8))
		}
		if end > size {
			return int(at), int(next)
		}
		if s&(stepOpen|stepOther) != 0 {
			if e == 0 || s&stepOther != 0 {
				return int(at), int(next)
			}
			entry := s >> stepEntry & stepWords
			*(*uint32)(unsafe.Add(words, entry*4)) = base + uint32(at)
			*(*uint32)(unsafe.Add(words, s>>stepWord&stepWords*4)) = e + uint32(entry)
			at = end
			continue
		}
		*(*uint32)(unsafe.Add(words, s>>stepWord&stepWords*4)) = base + uint32(at)
		at = end
	}
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
			at += s & stepReach
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
			at += s & stepReach
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
