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
