//go:build !nounsafe

package byteorder

import (
	"encoding/binary"
	"math/bits"
)

// Portable swapping for little-endian machines. Each iteration loads four words of eight bytes,
// then stores them. The remaining elements are swapped one by one. src must be as long as dst.

// stride is the number of bytes per iteration.
const stride = 32

func swap16Portable(dst, src []byte) {
	for len(dst) >= stride && len(src) >= stride {
		d, s := (*[stride]byte)(dst), (*[stride]byte)(src)
		w, x := binary.LittleEndian.Uint64(s[0:]), binary.LittleEndian.Uint64(s[8:])
		y, z := binary.LittleEndian.Uint64(s[16:]), binary.LittleEndian.Uint64(s[24:])
		binary.LittleEndian.PutUint64(d[0:], swapPairs(w))
		binary.LittleEndian.PutUint64(d[8:], swapPairs(x))
		binary.LittleEndian.PutUint64(d[16:], swapPairs(y))
		binary.LittleEndian.PutUint64(d[24:], swapPairs(z))
		dst, src = dst[stride:], src[stride:]
	}
	swap16Singly(dst, src)
}

func swap16Singly(dst, src []byte) {
	for len(dst) >= 2 && len(src) >= 2 {
		binary.LittleEndian.PutUint16(dst, binary.BigEndian.Uint16(src))
		dst, src = dst[2:], src[2:]
	}
}

// swapPairs swaps the bytes of each pair.
func swapPairs(x uint64) uint64 {
	const even = 0x00ff00ff00ff00ff
	return x>>8&even | x&even<<8
}

func swap32Portable(dst, src []byte) {
	for len(dst) >= stride && len(src) >= stride {
		d, s := (*[stride]byte)(dst), (*[stride]byte)(src)
		w, x := binary.BigEndian.Uint64(s[0:]), binary.BigEndian.Uint64(s[8:])
		y, z := binary.BigEndian.Uint64(s[16:]), binary.BigEndian.Uint64(s[24:])
		binary.LittleEndian.PutUint64(d[0:], bits.RotateLeft64(w, 32))
		binary.LittleEndian.PutUint64(d[8:], bits.RotateLeft64(x, 32))
		binary.LittleEndian.PutUint64(d[16:], bits.RotateLeft64(y, 32))
		binary.LittleEndian.PutUint64(d[24:], bits.RotateLeft64(z, 32))
		dst, src = dst[stride:], src[stride:]
	}
	swap32Singly(dst, src)
}

func swap32Singly(dst, src []byte) {
	for len(dst) >= 4 && len(src) >= 4 {
		binary.LittleEndian.PutUint32(dst, binary.BigEndian.Uint32(src))
		dst, src = dst[4:], src[4:]
	}
}

func swap64Portable(dst, src []byte) {
	for len(dst) >= stride && len(src) >= stride {
		d, s := (*[stride]byte)(dst), (*[stride]byte)(src)
		w, x := binary.BigEndian.Uint64(s[0:]), binary.BigEndian.Uint64(s[8:])
		y, z := binary.BigEndian.Uint64(s[16:]), binary.BigEndian.Uint64(s[24:])
		binary.LittleEndian.PutUint64(d[0:], w)
		binary.LittleEndian.PutUint64(d[8:], x)
		binary.LittleEndian.PutUint64(d[16:], y)
		binary.LittleEndian.PutUint64(d[24:], z)
		dst, src = dst[stride:], src[stride:]
	}
	swap64Singly(dst, src)
}

func swap64Singly(dst, src []byte) {
	for len(dst) >= 8 && len(src) >= 8 {
		binary.LittleEndian.PutUint64(dst, binary.BigEndian.Uint64(src))
		dst, src = dst[8:], src[8:]
	}
}
