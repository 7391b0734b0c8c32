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

// AppendShort is AppendBehind for a v whose length Fits. It is appended at Tail.
func (b *Buffer) AppendShort(head uint64, lead int, v string) { b.appendBehindLong(head, lead, v) }

// AppendTexts appends texts like AppendBehind, each behind its length, and stores their positions. It returns how many it has
// done: here none, as there is no faster way than AppendBehind.
func AppendTexts[T string | []byte](b *Buffer, v []T, at []Pos) int { return 0 }

// InTail returns the n bytes of a value at position p if they are in the block at the tail, which most of what is being built
// is, and values may be stored there; else nil.
func (b *Buffer) InTail(p Pos, n int) []byte {
	off := uint64(p - b.tailPos)
	if off+uint64(n) > uint64(b.used) || b.tailShared != 0 {
		return nil
	}
	return b.tail[off:][:n:n]
}

// Put8 stores v, big-endian, at position p if that is InTail, and reports whether it did.
func (b *Buffer) Put8(p Pos, v uint64) bool {
	mem := b.InTail(p, 8)
	if mem == nil {
		return false
	}
	binary.BigEndian.PutUint64(mem, v)
	return true
}

// Put4 is Put8 for 4 bytes.
func (b *Buffer) Put4(p Pos, v uint32) bool {
	mem := b.InTail(p, 4)
	if mem == nil {
		return false
	}
	binary.BigEndian.PutUint32(mem, v)
	return true
}

// Put1 is Put8 for a byte.
func (b *Buffer) Put1(p Pos, v byte) bool {
	mem := b.InTail(p, 1)
	if mem == nil {
		return false
	}
	mem[0] = v
	return true
}
