package wire

import (
	"encoding/binary"
	"math/bits"
)

// LoadHeader is Load64 near the end of b: bytes after the end read as zero.
func LoadHeader(b []byte, i int) uint64 {
	if len(b)-i >= 8 {
		return Load64(b, i)
	}
	var x [8]byte
	copy(x[:], b[i:])
	return binary.LittleEndian.Uint64(x[:])
}

// LengthIn returns the length of a text field from its first 8 bytes, as Load64 returns them.
func LengthIn(x uint64) uint32 { return bits.ReverseBytes32(uint32(x >> (8 * FieldHeader))) }

// HeaderAt returns the field header at b[i:]: wire type and id, as a big-endian number of 24 bits.
func HeaderAt(b []byte, i int) uint32 {
	b = b[i : i+FieldHeader]
	return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
}

// HeaderIn returns the field header from the first 8 bytes of a field, as Load64 returns them.
func HeaderIn(x uint64) uint32 { return bits.ReverseBytes32(uint32(x)) >> 8 }

// PutHeader stores a field header.
func PutHeader(b []byte, header uint32) {
	_ = b[2]
	b[0], b[1], b[2] = byte(header>>16), byte(header>>8), byte(header)
}

// BE32 returns the big-endian number in the first 4 bytes of b.
func BE32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// BE64 returns the big-endian number in the first 8 bytes of b.
func BE64(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

// PutBE32 stores v in the first 4 bytes of b, big-endian.
func PutBE32(b []byte, v uint32) { binary.BigEndian.PutUint32(b, v) }

// AppendBE32 appends v, big-endian.
func AppendBE32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }
