//go:build nounsafe

package linkbuf

import "sync/atomic"

// Extend appends n bytes to the open run and returns them with their position: contiguous, contents
// undefined, to be filled by the caller.
func (b *Buffer) Extend(n int) (Pos, []byte) {
	i := b.used
	if n >= len(b.tail)-i {
		return b.extendToEnd(n)
	}
	b.used = i + n
	return b.tailPos + Pos(i), b.tail[i : i+n : i+n]
}

// AppendBehind appends the high lead bytes of head, at most 8, and v behind them. It returns the position of the first of
// them.
func (b *Buffer) AppendBehind(head uint64, lead int, v string) Pos {
	return b.appendBehindToEnd(head, lead, v)
}

// InTail returns the n bytes of a value at position p if they are in the block at the tail, which most of what is being built
// is, and values may be stored there; else nil.
func (b *Buffer) InTail(p Pos, n int) []byte {
	off := uint64(p - b.tailPos)
	if off+uint64(n) > uint64(b.used) || atomic.LoadUint32(&b.tailShared) != 0 {
		return nil
	}
	return b.tail[off:][:n:n]
}
