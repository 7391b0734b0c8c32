//go:build nounsafe

package chain

import "encoding/binary"

// Load8 returns the 8 bytes at position p as a big-endian number.
func (b *Buffer) Load8(p Pos) uint64 { return binary.BigEndian.Uint64(b.At(p)) }

// Load4 returns the 4 bytes at position p as a big-endian number.
func (b *Buffer) Load4(p Pos) uint32 { return binary.BigEndian.Uint32(b.At(p)) }

// Load2 returns the 2 bytes at position p as a big-endian number.
func (b *Buffer) Load2(p Pos) uint16 { return binary.BigEndian.Uint16(b.At(p)) }

// Load1 returns the byte at position p.
func (b *Buffer) Load1(p Pos) byte { return b.At(p)[0] }

// Extend appends n contiguous bytes, contents undefined, to the open run, and returns them with
// their position.
func (b *Buffer) Extend(n int) (Pos, []byte) {
	i := b.used
	if n >= len(b.tail)-i {
		return b.extendToEnd(n)
	}
	b.used = i + n
	return b.tailPos + Pos(i), b.tail[i : i+n : i+n]
}

// AppendShort appends the high lead bytes of head, at most 8, then v, whose length must Fit, at
// Tail.
func (b *Buffer) AppendShort(head uint64, lead int, v string) { b.appendLongWithHead(head, lead, v) }

// AppendTexts returns the number of texts that it has appended: here 0. Built without the tag
// nounsafe, it appends the texts that it can append faster than AppendWithHead, each after its
// length, and stores their positions in at.
func AppendTexts[T string | []byte](b *Buffer, v []T, at []Pos) int { return 0 }

// Put8 stores v, big-endian, in the 8 bytes at position p, which must be InTail.
func (b *Buffer) Put8(p Pos, v uint64) { binary.BigEndian.PutUint64(b.tail[p-b.tailPos:], v) }

// Put4 stores v, big-endian, in the 4 bytes at position p, which must be InTail.
func (b *Buffer) Put4(p Pos, v uint32) { binary.BigEndian.PutUint32(b.tail[p-b.tailPos:], v) }

// Put2 stores v, big-endian, in the 2 bytes at position p, which must be InTail.
func (b *Buffer) Put2(p Pos, v uint16) { binary.BigEndian.PutUint16(b.tail[p-b.tailPos:], v) }

// Put1 stores v in the byte at position p, which must be InTail.
func (b *Buffer) Put1(p Pos, v byte) { b.tail[p-b.tailPos] = v }

// String returns b as a string. Built without the tag nounsafe it aliases b; here it is a copy.
func String(b []byte) string { return string(b) }

// StringBytes returns the bytes of s. Built without the tag nounsafe they alias s; here they are
// a copy.
func StringBytes(s string) []byte { return []byte(s) }

// Text returns the string whose length, a big-endian uint32, is at position p, and whose bytes
// come after that. Built without the tag nounsafe it aliases the memory; here it is a copy.
func (b *Buffer) Text(p Pos) string {
	mem := b.At(p)
	return string(mem[4 : 4+uint64(binary.BigEndian.Uint32(mem))])
}

// FlatText is a faster Text for the memory at FirstPos, if that is foreign or a chunk. It returns
// false if p is not in that memory, or if the text reaches to the end of the memory. Callers need
// not call Lend. Any p is allowed.
func (b *Buffer) FlatText(p Pos) (text string, ok bool) {
	if off, size := uint64(p-segSize)+textLength, uint64(len(b.flat)); off < size {
		if n := uint64(binary.BigEndian.Uint32(b.flat[off-textLength:])); off+n < size {
			return string(b.flat[off : off+n]), true
		}
	}
	return
}

// TextOf returns v as a string. It copies v if that is a []byte.
func TextOf[T string | []byte](v T) string { return string(v) }

// fresh returns n bytes of new memory. Built without the tag nounsafe its contents are undefined;
// here they are zero.
func fresh(n int) []byte { return make([]byte, n) }
