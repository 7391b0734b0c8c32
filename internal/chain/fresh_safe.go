//go:build nounsafe

package chain

// fresh returns n bytes of new memory.
func fresh(n int) []byte { return make([]byte, n) }
