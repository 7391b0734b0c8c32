//go:build !nounsafe

package linkbuf

import (
	"encoding/binary"
	"unsafe"
)

// Extend appends n bytes to the open run and returns them with their position: contiguous, contents
// undefined, to be filled by the caller.
func (b *Buffer) Extend(n int) (Pos, []byte) {
	i := b.used
	if uint(n) >= uint(len(b.tail)-i) {
		return b.extendToEnd(n)
	}
	b.used = i + n
	// SAFETY: i+n is less than len(b.tail), as just compared, and neither is negative: used never is, and a negative n
	// would have compared as larger.
	return b.tailPos + Pos(i), unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.tail)), i)), n)
}

// ExtendBehind appends the high lead bytes of head, at most 8, and n bytes behind them, which it returns to be filled by
// the caller. The position is that of the first byte of head.
func (b *Buffer) ExtendBehind(head uint64, lead, n int) (Pos, []byte) {
	i := b.used
	if uint(n)+8 >= uint(len(b.tail)-i) {
		return b.extendBehindToEnd(head, lead, n)
	}
	b.used = i + lead + n
	// SAFETY: i+8+n is less than len(b.tail), lead is at most 8, and none of them is negative; see Extend.
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.tail)), i)
	binary.BigEndian.PutUint64((*[8]byte)(at)[:], head)
	return b.tailPos + Pos(i), unsafe.Slice((*byte)(unsafe.Add(at, lead)), n)
}
