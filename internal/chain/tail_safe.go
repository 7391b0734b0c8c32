//go:build nounsafe

package chain

import "encoding/binary"

// Extend appends n contiguous bytes, contents undefined, to the open run, and returns them with
// their position.
func (b *Buffer) Extend(n int) (Pos, []byte) {
	i := b.used
	if n >= len(b.tail)-i {
		return b.extendToEnd(n)
	}
	b.used = i + n
	return b.tailPos + Pos(i), b.tail[i : i+n : i+n]
}

// AppendShort appends the high lead bytes of head, at most 8, then v, whose length must Fit, at
// Tail.
func (b *Buffer) AppendShort(head uint64, lead int, v string) { b.appendLongWithHead(head, lead, v) }

// AppendTexts returns the number of texts that it has appended: here 0. Built without the tag
// nounsafe, it appends the texts that it can append faster than AppendWithHead, each after its
// length, and stores their positions in at.
func AppendTexts[T string | []byte](b *Buffer, v []T, at []Pos) int { return 0 }

// Put8 stores v, big-endian, in the 8 bytes at position p, which must be InTail.
func (b *Buffer) Put8(p Pos, v uint64) { binary.BigEndian.PutUint64(b.tail[p-b.tailPos:], v) }

// Put4 stores v, big-endian, in the 4 bytes at position p, which must be InTail.
func (b *Buffer) Put4(p Pos, v uint32) { binary.BigEndian.PutUint32(b.tail[p-b.tailPos:], v) }

// Put2 stores v, big-endian, in the 2 bytes at position p, which must be InTail.
func (b *Buffer) Put2(p Pos, v uint16) { binary.BigEndian.PutUint16(b.tail[p-b.tailPos:], v) }

// Put1 stores v in the byte at position p, which must be InTail.
func (b *Buffer) Put1(p Pos, v byte) { b.tail[p-b.tailPos] = v }
