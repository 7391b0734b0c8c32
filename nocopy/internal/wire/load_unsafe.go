//go:build !nounsafe

package wire

import "unsafe"

// Load64 reads the 8 bytes at b[i:], little-endian. The caller must have checked that b has them.
func Load64(b []byte, i int) uint64 {
	// SAFETY: every caller compares i+8 with len(b) first, and i is never negative. The compiler
	// can't see that, and would compare again.
	x := (*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
	return uint64(x[0]) | uint64(x[1])<<8 | uint64(x[2])<<16 | uint64(x[3])<<24 |
		uint64(x[4])<<32 | uint64(x[5])<<40 | uint64(x[6])<<48 | uint64(x[7])<<56
}
