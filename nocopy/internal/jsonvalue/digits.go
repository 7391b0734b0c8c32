package jsonvalue

import (
	"encoding/binary"
	"math/bits"
)

// appendInt appends v in decimal digits, eight at a time.
func appendInt(dst []byte, v int64) []byte {
	u := uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		u = -u
	}
	const eight, sixteen = 1e8, 1e16
	switch {
	case u < 10:
		return append(dst, '0'+byte(u))
	case u < eight:
		return appendUpToEight(dst, u)
	case u < sixteen:
		dst = appendUpToEight(dst, u/eight)
	default:
		dst = appendUpToEight(dst, u/sixteen)
		u %= sixteen
		dst = binary.LittleEndian.AppendUint64(dst, digitsOfEight(u/eight))
	}
	return binary.LittleEndian.AppendUint64(dst, digitsOfEight(u%eight))
}

// appendUpToEight appends the digits of v, which is not 0 and below 10⁸.
func appendUpToEight(dst []byte, v uint64) []byte {
	digits := digitsOfEight(v)
	zeros := bits.TrailingZeros64(digits^eachByte*'0') / 8
	n := len(dst) + 8 - zeros
	return binary.LittleEndian.AppendUint64(dst, digits>>(8*zeros))[:n]
}

// digitsOfEight returns the eight decimal digits of v, which is below 10⁸, the first in the lowest
// byte. It splits v into halves of 32 bits, then into pairs of digits in 16 bits, then into digits
// in 8. The products divide such small numbers by 100 and by 10.
func digitsOfEight(v uint64) uint64 {
	x := v/10000 | v%10000<<32
	y := x * 10486 >> 20 & 0x0000007f_0000007f
	x = y | (x-100*y)<<16
	y = x * 103 >> 10 & 0x000f_000f_000f_000f
	x = y | (x-10*y)<<8
	return x | eachByte*'0'
}
