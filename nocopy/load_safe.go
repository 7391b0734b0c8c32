//go:build nounsafe

package nocopy

func load64(b []byte, i int) uint64 { return be64(b[i:]) }
