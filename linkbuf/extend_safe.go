//go:build nounsafe

package linkbuf

import (
	"encoding/binary"
	"sync/atomic"
)

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

// Store1 puts a byte at p, where there is a value of that size, if it is in the block at the tail, which most of what is
// being built is, and values may be stored there. It reports whether it did.
func (b *Buffer) Store1(p Pos, v byte) bool {
	mem := b.stored(p, 1)
	if mem == nil {
		return false
	}
	mem[0] = v
	return true
}

// Store4 is Store1 for a big-endian number of 4 bytes.
func (b *Buffer) Store4(p Pos, v uint32) bool {
	mem := b.stored(p, 4)
	if mem == nil {
		return false
	}
	binary.BigEndian.PutUint32(mem, v)
	return true
}

// Store8 is Store1 for a big-endian number of 8 bytes.
func (b *Buffer) Store8(p Pos, v uint64) bool {
	mem := b.stored(p, 8)
	if mem == nil {
		return false
	}
	binary.BigEndian.PutUint64(mem, v)
	return true
}

// stored returns the n bytes at p, nil if values may not be stored there.
func (b *Buffer) stored(p Pos, n int) []byte {
	off := uint64(p - b.tailPos)
	if off+uint64(n) > uint64(b.used) || atomic.LoadUint32(&b.tailShared) != 0 {
		return nil
	}
	return b.tail[off:][:n]
}
