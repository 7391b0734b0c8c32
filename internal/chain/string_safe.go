//go:build nounsafe

package chain

import "encoding/binary"

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
