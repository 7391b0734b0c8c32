//go:build !nounsafe

package linkbuf

import "unsafe"

// String returns b as a string that aliases it.
func String(b []byte) string {
	// SAFETY: the bytes of a message that strings are taken from are not stored into afterwards: setting a
	// string again links new bytes, and slabs are never used twice. Recycled blocks are the caller's own choice.
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// StringBytes returns s as bytes that alias it. Nobody may store into them.
func StringBytes(s string) []byte {
	// SAFETY: such bytes are registered as memory that is not writable.
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
