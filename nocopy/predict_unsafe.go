//go:build !nounsafe

package nocopy

import (
	"encoding/binary"
	"unsafe"
)

// follow takes steps of pl, from k on, as long as the bytes at b[i:] are as planned, and fills the words of the entry e and
// of those of what is inside, which are shift words from where they would be if they followed the entry; shift may be
// nothingInside. It returns where it stopped: index and step. All that it uses fits registers.
func (m *Message) follow(pl *plan, k int, b []byte, i int, e, shift, base uint32) (int, int) {
	// SAFETY: at is compared with size before anything is read there. No step follows the last one, which is a stepStop. The
	// words of the entry are its owner's; that the index has those of what is inside is seen to by shiftOf, or by Parse. Behind a
	// stepList there is its listStep.
	mem, size := unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b))
	steps, words := unsafe.Pointer(unsafe.SliceData(pl.steps)), unsafe.Pointer(unsafe.SliceData(m.idx))
	at, head := uint64(i), base+fieldHeader
	first := e // what words are counted from
	for next := uint64(k); ; next++ {
		s := *(*step)(unsafe.Add(steps, next*8))
		if int64(s) >= 0 {
			// A branch, not arithmetic: predicted, it lets the next load start before this one is done.
			end := at + uint64(uint32(s)>>stepReach)
			if end > size || !s.is(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:])) {
				return int(at), int(next)
			}
			if s&stepText != 0 {
				end += uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at+fieldHeader))[:]))
				if end > size {
					return int(at), int(next)
				}
			}
			*(*uint32)(unsafe.Add(words, uint64(first+uint32(s>>stepWord))*4)) = head + uint32(at)
			at = end
			continue
		}
		if s&stepStop != 0 {
			if at >= size || *(*byte)(unsafe.Add(mem, at)) != byte(WireStop) {
				return int(at), int(next)
			}
			*(*uint32)(unsafe.Add(words, uint64(first+s.word())*4)) = base + uint32(at)
			at++
			if s&stepLast != 0 {
				return int(at), int(next) + 1
			}
			if s&stepEdge != 0 {
				first = e
			}
			continue
		}
		if at+8 > size || !s.is(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:])) || s&stepOther != 0 || shift == nothingInside {
			return int(at), int(next)
		}
		end := at + uint64(uint32(s)>>stepReach)
		entry := e + shift + s.entry()
		if s&stepOpen != 0 {
			*(*uint32)(unsafe.Add(words, uint64(first+s.word())*4)) = entry
			*(*uint32)(unsafe.Add(words, uint64(entry)*4)) = head + uint32(at)
			if s&stepEdge != 0 {
				first = e + shift
			}
			at = end
			continue
		}
		l := *(*listStep)(unsafe.Add(steps, next*8+8))
		n := binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at+fieldHeader+1))[:])
		if end += uint64(n) * uint64(l.size()); end > size || *(*byte)(unsafe.Add(mem, at+fieldHeader)) != byte(l.wire()) {
			return int(at), int(next)
		}
		*(*uint32)(unsafe.Add(words, uint64(first+s.word())*4)) = entry
		w := (*[listWords]uint32)(unsafe.Add(words, uint64(entry)*4))
		w[listStart], w[listEnd] = head+listHeader+uint32(at), base+uint32(end)
		w[listCount], w[listElems], w[listRoom], w[listType] = n, entry+listWords, n, l.typeID()
		at = end
		next++
	}
}

// usualStructs indexes structs with all fields in order into the words [first, end), as long as they come. It
// returns where it stopped, and the first words that it has not filled.
func (p *parser) usualStructs(steps []step, first, end uint32, i int) (int, uint32) {
	if len(steps) == 2 && steps[0]&steps[1]&stepText != 0 && len(p.b) >= labelSize {
		return p.usualLabels(steps, first, end, i)
	}
	// SAFETY: at is compared with size before anything is read there: before the 7 bytes of a text's head, which no field is
	// shorter than by more than the STOP and what follows it, and before the STOP. A text that reaches too far is found
	// then. steps is read below its length; there is one at least. w stays below end, a bound that slicing checks once, here:
	// a struct takes structWords and a word a step, and [first, end) is made of whole ones. With slices the loop has more to
	// keep than registers.
	words := unsafe.Pointer(unsafe.SliceData(p.m.idx[first:end]))
	mem, size := unsafe.Pointer(unsafe.SliceData(p.b)), uint64(len(p.b))
	step0, n := unsafe.Pointer(unsafe.SliceData(steps)), uint64(len(steps))
	base := p.base + fieldHeader
	left := uint64(end - first)
	start := uint64(i)
	for left > 0 {
		at := start
		for q := uint64(0); q < n; q++ {
			s := *(*step)(unsafe.Add(step0, q*8))
			if at+8 > size || !s.is(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:])) {
				return int(start), end - uint32(left)
			}
			*(*uint32)(unsafe.Add(words, q*4+structWords*4)) = base + uint32(at)
			if s&stepText != 0 {
				at += uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at+fieldHeader))[:]))
			}
			at += uint64(uint32(s) >> stepReach)
		}
		if at >= size || *(*byte)(unsafe.Add(mem, at)) != byte(WireStop) {
			break
		}
		*(*uint32)(words) = base - fieldHeader + uint32(start)
		*(*uint32)(unsafe.Add(words, 4)) = base - fieldHeader + uint32(at)
		start = at + 1
		if left -= structWords + n; left == 0 { // no pointer may be made that is behind the last word
			break
		}
		words = unsafe.Add(words, (structWords+n)*4)
	}
	return int(start), end - uint32(left)
}

// usualLabels is usualStructs of structs of two texts, such as a label's name and value. There must be room for one at least in
// the window, if it were at its beginning.
func (p *parser) usualLabels(steps []step, first, end uint32, i int) (int, uint32) {
	// SAFETY: a struct begins at at; but for the texts it takes labelSize bytes, and there are as many behind last, the first of
	// them included. at, then with the first text, then with both, is compared with last before what follows is read. Of idx, it
	// takes labelWords words. See also usualStructs.
	words, n := unsafe.Pointer(unsafe.SliceData(p.m.idx[first:end])), uint64(end-first)
	mem, last := unsafe.Pointer(unsafe.SliceData(p.b)), uint64(len(p.b)-labelSize)
	name := unsafe.Pointer(unsafe.SliceData(steps))
	base := p.base
	at, w := uint64(i), uint64(0)
	for ; w < n && at <= last; w += labelWords {
		if !(*(*step)(name)).is(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:])) {
			break
		}
		v := at + uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at+fieldHeader))[:]))
		if v > last || !(*(*step)(unsafe.Add(name, 8))).is(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(mem, v+textSize))[:])) {
			break
		}
		z := v + uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, v+textSize+fieldHeader))[:]))
		if z > last || *(*byte)(unsafe.Add(mem, z+2*textSize)) != byte(WireStop) {
			break
		}
		*(*uint32)(unsafe.Add(words, w*4)) = base + uint32(at)
		*(*uint32)(unsafe.Add(words, w*4+4)) = base + uint32(z) + 2*textSize
		*(*uint32)(unsafe.Add(words, w*4+8)) = base + uint32(at) + fieldHeader
		*(*uint32)(unsafe.Add(words, w*4+12)) = base + uint32(v) + textSize + fieldHeader
		at = z + labelSize
	}
	return int(at), first + uint32(w)
}

const (
	labelWords = structWords + 2
	textSize   = fieldHeader + textHeader
	labelSize  = 2*textSize + 1
)

// passStructs finds the end of n structs with all fields in order, as long as they come. It returns where it stopped,
// and how many are left.
func passStructs(b []byte, steps []step, i int, n uint32) (int, uint32) {
	// SAFETY: as in usualStructs.
	mem, size := unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b))
	step0, fields := unsafe.Pointer(unsafe.SliceData(steps)), uint64(len(steps))
	start := uint64(i)
	for ; n > 0; n-- {
		at := start
		for q := uint64(0); q < fields; q++ {
			s := *(*step)(unsafe.Add(step0, q*8))
			if at+8 > size || !s.is(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:])) {
				return int(start), n
			}
			if s&stepText != 0 {
				at += uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at+fieldHeader))[:]))
			}
			at += uint64(uint32(s) >> stepReach)
		}
		if at >= size || *(*byte)(unsafe.Add(mem, at)) != byte(WireStop) {
			break
		}
		start = at + 1
	}
	return int(start), n
}

// textPairs indexes pairs of texts of a map, as many of n as are whole in the window. It returns the index
// behind them and how many it has done.
func (p *parser) textPairs(first uint32, i, n int) (int, int) {
	words := p.m.idx[first : first+uint32(n*pairWords)]
	mem, size := unsafe.Pointer(unsafe.SliceData(p.b)), uint64(len(p.b))
	base, at := p.base, uint64(i)
	for k := 0; len(words) >= pairWords; k++ {
		// SAFETY: both lengths are compared with size before they are read.
		if at+textHeader > size {
			return int(at), k
		}
		value := at + textHeader + uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:]))
		if value+textHeader > size {
			return int(at), k
		}
		end := value + textHeader + uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, value))[:]))
		if end > size {
			return int(at), k
		}
		words[0], words[1], words[pairNode] = base+uint32(at), base+uint32(value), 0
		words = words[pairWords:]
		at = end
	}
	return int(at), n
}

// usualTexts indexes texts, a word each, as many as are whole in the window. It returns the index behind them and how many it
// has done.
func (p *parser) usualTexts(words []uint32, i int) (int, int) {
	mem, size := unsafe.Pointer(unsafe.SliceData(p.b)), uint64(len(p.b))
	base, at := p.base, uint64(i)
	for k := range words {
		if at+textHeader > size {
			return int(at), k
		}
		// SAFETY: at+4 is compared with size just above.
		end := at + textHeader + uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:]))
		if end > size {
			return int(at), k
		}
		words[k] = base + uint32(at)
		at = end
	}
	return int(at), len(words)
}

// textsEnd returns the index behind n strings, or unusual if they are not all whole.
func textsEnd(b []byte, i int, n uint32) int {
	if n == 0 {
		return i
	}
	if len(b) < textHeader {
		return unusual
	}
	mem, last := unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b)-textHeader)
	at := uint64(i)
	for ; n > 0; n-- {
		if at > last {
			return unusual
		}
		// SAFETY: there are as many bytes as a length takes behind last.
		at += textHeader + uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(mem, at))[:]))
	}
	return within(b, at)
}
