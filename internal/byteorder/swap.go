//go:build !nounsafe

package byteorder

// vectorSize is the smallest number of bytes for swapVector. For fewer, the call would cost more
// than it saves.
const vectorSize = 32

// order tells which byte of the source each byte of the result comes from, within each 16 bytes.
type order [vectorSize]byte

// The orders of elements of 2, 4 and 8 bytes.
var (
	order16 = orderOf(2)
	order32 = orderOf(4)
	order64 = orderOf(8)
)

func orderOf(size byte) (o order) {
	for i := range o {
		o[i] = byte(i)%16 ^ (size - 1)
	}
	return o
}

// swap16 copies elements of 2 bytes from src to all of dst, from network byte order to the
// machine's or back.
func swap16(dst, src []byte) {
	src = src[:len(dst)]
	switch {
	case bigEndian:
		copy(dst, src)
	case len(dst) < vectorSize:
		swap16Singly(dst, src)
	case vectorised:
		swapVector(&dst[0], &src[0], len(dst), &order16)
	default:
		swap16Portable(dst, src)
	}
}

// swap32 is swap16 of elements of 4 bytes.
func swap32(dst, src []byte) {
	src = src[:len(dst)]
	switch {
	case bigEndian:
		copy(dst, src)
	case len(dst) < vectorSize:
		swap32Singly(dst, src)
	case vectorised:
		swapVector(&dst[0], &src[0], len(dst), &order32)
	default:
		swap32Portable(dst, src)
	}
}

// swap64 is swap16 of elements of 8 bytes.
func swap64(dst, src []byte) {
	src = src[:len(dst)]
	switch {
	case bigEndian:
		copy(dst, src)
	case len(dst) < vectorSize:
		swap64Singly(dst, src)
	case vectorised:
		swapVector(&dst[0], &src[0], len(dst), &order64)
	default:
		swap64Portable(dst, src)
	}
}
