//go:build nounsafe

package memory

import "encoding/binary"

// Load8 returns the 8 bytes at position p as a big-endian number.
func (s *Space) Load8(p Pos) uint64 { return binary.BigEndian.Uint64(s.At(p)) }

// Load4 returns the 4 bytes at position p as a big-endian number.
func (s *Space) Load4(p Pos) uint32 { return binary.BigEndian.Uint32(s.At(p)) }

// Load2 returns the 2 bytes at position p as a big-endian number.
func (s *Space) Load2(p Pos) uint16 { return binary.BigEndian.Uint16(s.At(p)) }

// Load1 returns the byte at position p.
func (s *Space) Load1(p Pos) byte { return s.At(p)[0] }

// Take appends n contiguous bytes, contents undefined, in the block at the tail, and returns them
// with their position. ok is false if they would fill the block or do not fit.
func (s *Space) Take(n int) (p Pos, mem []byte, ok bool) {
	i := s.used
	if n >= len(s.tail)-i {
		return 0, nil, false
	}
	s.used = i + n
	return s.tailPos + Pos(i), s.tail[i : i+n : i+n], true
}

// AppendShort appends the high lead bytes of head, at most 8, then v, whose length must Fit, at
// Tail.
func (s *Space) AppendShort(head uint64, lead int, v string) {
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], head)
	s.used += copy(s.tail[s.used:], bytes[:lead])
	s.used += copy(s.tail[s.used:], v)
}

// AppendTexts returns the number of texts that it has appended: here 0. Built without the tag
// nounsafe, it appends the texts that it can append faster than AppendShort, each after its
// length, and stores their positions in at.
func AppendTexts[T string | []byte](s *Space, v []T, at []Pos) int { return 0 }

// Put8 stores v, big-endian, in the 8 bytes at position p, which must be InTail.
func (s *Space) Put8(p Pos, v uint64) { binary.BigEndian.PutUint64(s.tail[p-s.tailPos:], v) }

// Put4 stores v, big-endian, in the 4 bytes at position p, which must be InTail.
func (s *Space) Put4(p Pos, v uint32) { binary.BigEndian.PutUint32(s.tail[p-s.tailPos:], v) }

// Put2 stores v, big-endian, in the 2 bytes at position p, which must be InTail.
func (s *Space) Put2(p Pos, v uint16) { binary.BigEndian.PutUint16(s.tail[p-s.tailPos:], v) }

// Put1 stores v in the byte at position p, which must be InTail.
func (s *Space) Put1(p Pos, v byte) { s.tail[p-s.tailPos] = v }

// Text returns the string at position p: its length, a big-endian uint32, precedes its bytes.
// Built without the tag nounsafe it aliases the memory; here it is a copy.
func (s *Space) Text(p Pos) string {
	mem := s.At(p)
	return string(mem[4 : 4+uint64(binary.BigEndian.Uint32(mem))])
}

// FlatText is a faster Text for the memory at FirstPos, if that is foreign or a chunk. It returns
// false if p is not in that memory, or if the text reaches to the end of the memory. Callers need
// not call Lend. Any p is allowed.
func (s *Space) FlatText(p Pos) (text string, ok bool) {
	if off, size := uint64(p-segSize)+TextLength, uint64(len(s.flat)); off < size {
		if n := uint64(binary.BigEndian.Uint32(s.flat[off-TextLength:])); off+n < size {
			return string(s.flat[off : off+n]), true
		}
	}
	return
}
