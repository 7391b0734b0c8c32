//go:build nounsafe

package nocopy

import "encoding/binary"

func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
