//go:build nounsafe

package wire

import "encoding/binary"

// Load64 reads the 8 bytes at b[i:], little-endian.
func Load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
