//go:build nounsafe

package chain

// fresh returns n bytes of new memory. Built without the tag nounsafe its contents are undefined;
// here they are zero.
func fresh(n int) []byte { return make([]byte, n) }
