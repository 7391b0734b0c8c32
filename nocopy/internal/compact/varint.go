package compact

import (
	"encoding/binary"
	"math/bits"
)

// Number returns the varint at b[i] and the index after it. The index is Ended if b ends too
// early, and another negative number if the varint takes more than 10 bytes or 64 bits.
func Number(b []byte, i int) (v uint64, next int) {
	if i+8 <= len(b) {
		v = binary.LittleEndian.Uint64(b[i:])
		if ends := ^v & (1 << 7 * everyByte); ends != 0 {
			last := ends & -ends // the lowest bit: it marks the byte that ends the varint
			v &= (last<<1 - 1) & (0x7f * everyByte)
			v = v&0x007f007f007f007f | v&0x7f007f007f007f00>>1
			v = v&0x00003fff00003fff | v&0x3fff00003fff0000>>2
			v = v&0x000000000fffffff | v&0x0fffffff00000000>>4
			return v, i + bits.TrailingZeros64(last)/8 + 1
		}
		v = 0
	}
	for shift := 0; shift < 70; shift += 7 {
		if i >= len(b) {
			return 0, Ended
		}
		c := b[i]
		i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if shift == 63 && c > 1 {
				return 0, tooWide
			}
			return v, i
		}
	}
	return 0, tooLong
}

// AppendNumber appends a varint.
func AppendNumber(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }

// everyByte has 1 in each byte.
const everyByte = 0x0101010101010101

// Negative indices.
const (
	Ended   = -1 // more bytes are needed
	tooLong = -2
	tooWide = -3
)

// putVarint stores a varint at w[n] and returns the index after it. w must have room for 10 bytes.
func putVarint(w []byte, n int, v uint64) int {
	if v < 0x80 {
		w[n] = byte(v)
		return n + 1
	}
	if v < 1<<56 {
		size := (bits.Len64(v) + 6) / 7
		v = v&0x000000000fffffff | v&0x00fffffff0000000<<4
		v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
		v = v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
		v |= (1<<(8*(size-1)) - 1) & (1 << 7 * everyByte)
		binary.LittleEndian.PutUint64(w[n:], v)
		return n + size
	}
	for v >= 0x80 {
		w[n] = byte(v) | 0x80
		n++
		v >>= 7
	}
	w[n] = byte(v)
	return n + 1
}

func zig(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func unzig(v uint64) uint64 { return v>>1 ^ -(v & 1) }
