//go:build nounsafe

package memory

// String returns b as a string. Built without the tag nounsafe it aliases b; here it is a copy.
func String(b []byte) string { return string(b) }

// StringBytes returns the bytes of s. Built without the tag nounsafe they alias s; here they are
// a copy.
func StringBytes(s string) []byte { return []byte(s) }

// TextOf returns v as a string. It copies v if that is a []byte.
func TextOf[T string | []byte](v T) string { return string(v) }

// fresh returns n bytes of new memory. Built without the tag nounsafe its contents are undefined;
// here they are zero.
func fresh(n int) []byte { return make([]byte, n) }
