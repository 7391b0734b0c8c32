//go:build nounsafe

package chain

import "encoding/binary"

// String returns b as a string. Built without the tag nounsafe it aliases b; here it is a copy.
func String(b []byte) string { return string(b) }

// StringBytes returns the bytes of s. Built without the tag nounsafe they alias s; here they are a copy.
func StringBytes(s string) []byte { return []byte(s) }

// Text returns the string at position p that stands behind its length, a big-endian uint32. Built without
// the tag nounsafe it aliases the memory; here it is a copy.
func (b *Buffer) Text(p Pos) string {
	mem := b.At(p)
	return string(mem[4 : 4+uint64(binary.BigEndian.Uint32(mem))])
}

// FlatText is Text where that takes least, and says whether it does: in foreign memory or a chunk which has the first positions,
// if the text does not reach to the memory's very end. Such texts need not be lent. p may be anything.
func (b *Buffer) FlatText(p Pos) (text string, ok bool) {
	if off, size := uint64(p-segSize)+textLength, uint64(len(b.flat)); off < size {
		if n := uint64(binary.BigEndian.Uint32(b.flat[off-textLength:])); off+n < size {
			return string(b.flat[off : off+n]), true
		}
	}
	return
}

// TextOf is String for strings and bytes alike.
func TextOf[T string | []byte](v T) string { return string(v) }
