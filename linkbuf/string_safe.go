//go:build nounsafe

package linkbuf

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

// TextOf is String for strings and bytes alike.
func TextOf[T string | []byte](v T) string { return string(v) }

// Load8 returns the 8 bytes at position p as a big-endian number.
func (b *Buffer) Load8(p Pos) uint64 { return binary.BigEndian.Uint64(b.At(p)) }

// Load4 is Load8 for 4 bytes.
func (b *Buffer) Load4(p Pos) uint32 { return binary.BigEndian.Uint32(b.At(p)) }

// Load2 is Load8 for 2 bytes.
func (b *Buffer) Load2(p Pos) uint16 { return binary.BigEndian.Uint16(b.At(p)) }

// Load1 returns the byte at position p.
func (b *Buffer) Load1(p Pos) byte { return b.At(p)[0] }
