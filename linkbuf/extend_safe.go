//go:build nounsafe

package linkbuf

import "encoding/binary"

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
	mem := b.InTail(p)
	if len(mem) < 1 {
		return false
	}
	mem[0] = v
	return true
}

// Store4 is Store1 for a big-endian number of 4 bytes.
func (b *Buffer) Store4(p Pos, v uint32) bool {
	mem := b.InTail(p)
	if len(mem) < 4 {
		return false
	}
	binary.BigEndian.PutUint32(mem, v)
	return true
}

// Store8 is Store1 for a big-endian number of 8 bytes.
func (b *Buffer) Store8(p Pos, v uint64) bool {
	mem := b.InTail(p)
	if len(mem) < 8 {
		return false
	}
	binary.BigEndian.PutUint64(mem, v)
	return true
}
