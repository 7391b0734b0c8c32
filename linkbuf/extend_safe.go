//go:build nounsafe

package linkbuf

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

// ExtendBehind appends the high lead bytes of head, at most 8, and n bytes behind them, which it returns to be filled by
// the caller. The position is that of the first byte of head.
func (b *Buffer) ExtendBehind(head uint64, lead, n int) (Pos, []byte) {
	return b.extendBehindToEnd(head, lead, n)
}
