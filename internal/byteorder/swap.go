//go:build !nounsafe

package byteorder

import "encoding/binary"

// vectorSize is the smallest number of bytes for swapVector. For fewer, the call would cost more
// than it saves.
const vectorSize = 32

// order says which byte of the source each byte of the result comes from, within each 16 bytes.
type order [vectorSize]byte

// orders has the orders of elements of 1, 2, 4 and 8 bytes, at half their size. It has a length by
// which an index is bounded without a comparison.
var orders = [8]order{0: orderOf(1), 1: orderOf(2), 2: orderOf(4), 4: orderOf(8)}

func orderOf(size byte) (o order) {
	for i := range o {
		o[i] = byte(i)%16 ^ (size - 1)
	}
	return o
}

// swapSingly copies elements of the given size from src to all of dst, which must be as long, from
// network byte order to the machine's or back, one by one.
func swapSingly(dst, src []byte, size uintptr) {
	switch size {
	case 1:
		copy(dst, src)
	case 2:
		for ; len(dst) >= 2 && len(src) >= 2; dst, src = dst[2:], src[2:] {
			binary.NativeEndian.PutUint16(dst, binary.BigEndian.Uint16(src))
		}
	case 4:
		for ; len(dst) >= 4 && len(src) >= 4; dst, src = dst[4:], src[4:] {
			binary.NativeEndian.PutUint32(dst, binary.BigEndian.Uint32(src))
		}
	default:
		for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[8:] {
			binary.NativeEndian.PutUint64(dst, binary.BigEndian.Uint64(src))
		}
	}
}
