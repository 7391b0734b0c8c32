//go:build !nounsafe

package nocopy

import (
	"encoding/binary"
	"unsafe"
)

// load64 reads the 8 bytes at b[i:], little-endian, which the caller has found to be there.
func load64(b []byte, i int) uint64 {
	// SAFETY: every caller compares i+8 with len(b) first; i is never negative. The compiler can't see that and would compare again.
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))[:])
}
