//go:build nounsafe

package linkbuf

// String returns b as a string. Built without the tag nounsafe it aliases b; here it is a copy.
func String(b []byte) string { return string(b) }

// StringBytes returns the bytes of s. Built without the tag nounsafe they alias s; here they are a copy.
func StringBytes(s string) []byte { return []byte(s) }
