//go:build !nounsafe

package linkbuf

import (
	"strings"
	"unsafe"
)

// newSlab returns n bytes of memory whose contents are undefined: whoever takes them fills them.
func newSlab(n int) []byte {
	var b strings.Builder
	b.Grow(n) // does not clear, which would cost as much as filling
	b.WriteByte(0)
	// SAFETY: the Builder has made room for n bytes at least, nobody else has it, and it is not written to any more. Its
	// string is not kept.
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
