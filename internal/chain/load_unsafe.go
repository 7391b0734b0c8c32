//go:build !nounsafe

package chain

import (
	"encoding/binary"
	"unsafe"
)

// Load8 returns the 8 bytes at position p as a big-endian number.
func (b *Buffer) Load8(p Pos) uint64 {
	mem := b.segs[p>>segBits]
	p &= segMask
	_ = mem[p+7]
	// SAFETY: the last byte is in mem, as just checked. Slicing would also check the first byte,
	// and compute the length of the rest.
	return binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), p))[:])
}

// Load4 returns the 4 bytes at position p as a big-endian number.
func (b *Buffer) Load4(p Pos) uint32 {
	mem := b.segs[p>>segBits]
	p &= segMask
	_ = mem[p+3]
	// SAFETY: as in Load8.
	return binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), p))[:])
}

// Load2 returns the 2 bytes at position p as a big-endian number.
func (b *Buffer) Load2(p Pos) uint16 {
	mem := b.segs[p>>segBits]
	p &= segMask
	_ = mem[p+1]
	// SAFETY: as in Load8.
	return binary.BigEndian.Uint16((*[2]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), p))[:])
}

// Load1 returns the byte at position p.
func (b *Buffer) Load1(p Pos) byte { return b.segs[p>>segBits][p&segMask] }
