//go:build nounsafe

package chain

import "encoding/binary"

// LooseText stores a text after its length in loose memory, and returns its position. It returns 0
// if the text is not short, or does not fit into the block that is being filled.
func (b *Buffer) LooseText(v []byte) Pos {
	l := b.loose
	if l == nil {
		return 0
	}
	if n := textLength + len(v); n > MaxShort || n > len(l.mem)-l.used {
		return 0
	}
	p, mem := b.Loose(textLength + len(v))
	binary.BigEndian.PutUint32(mem, uint32(len(v)))
	copy(mem[textLength:], v)
	return p
}

// AppendLoose appends loose texts, given by the positions of their lengths, to the open run, and
// stores their new positions in at. Position 0 stands for an empty text. It stops at a position
// whose top bit is set, and returns the number of texts appended.
func (b *Buffer) AppendLoose(at []Pos) int {
	for i, p := range at {
		if int32(p) < 0 {
			return i
		}
		from := b.At(p)
		n := textLength + int(binary.BigEndian.Uint32(from))
		to, mem := b.Extend(n)
		copy(mem, from[:n])
		at[i] = to
	}
	return len(at)
}
