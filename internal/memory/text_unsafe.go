//go:build !nounsafe

package memory

import (
	"strings"
	"unsafe"
)

// String returns b as a string that aliases it.
func String(b []byte) string {
	// SAFETY: bytes that a string was made of are not stored into again: another text gets other
	// memory, and lent slabs are not used again. Programs that recycle blocks have agreed that
	// strings end with them.
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// StringBytes returns bytes that alias s. They must not be stored into.
func StringBytes(s string) []byte {
	// SAFETY: callers only read the bytes, or pass them to AddForeign as memory that is not stored
	// into.
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// TextOf returns v, a string or bytes, as a string that aliases it.
func TextOf[T string | []byte](v T) string {
	// SAFETY: as in String. A string and a slice both begin with the pointer to their bytes.
	return unsafe.String(*(**byte)(unsafe.Pointer(&v)), len(v))
}

// zeroCheap is the size up to which clearing memory costs almost nothing.
const zeroCheap = 16 << 10

// fresh returns n bytes of new memory, contents undefined. Large memory is not cleared, since
// other bytes will fill it anyway.
func fresh(n int) []byte {
	if n <= zeroCheap {
		return make([]byte, n)
	}
	var b strings.Builder // its memory is not cleared
	b.Grow(n)
	b.WriteByte(0)
	// SAFETY: Grow has made room for n bytes from the first on, and when the Builder is gone
	// nobody else refers to them.
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
