//go:build !nounsafe

package chain

import (
	"strings"
	"unsafe"
)

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
