package chain

import "slices"

// AppendTo appends the message to dst, copying it. The Buffer must be sealed.
func (b *Buffer) AppendTo(dst []byte) []byte { return b.appendPieces(dst, b.pieces) }

func (b *Buffer) appendPieces(dst []byte, pieces []piece) []byte {
	if len(pieces) > 1 { // append makes room for a single piece itself
		dst = slices.Grow(dst, total(pieces))
	}
	for i, p := range pieces {
		b.loadNext(pieces, i)
		dst = append(dst, b.mem(p)...)
	}
	return dst
}

// Pieces calls f with each part of the message that is contiguous in memory, in wire order, until
// f returns false. The Buffer must be sealed; the bytes alias it.
func (b *Buffer) Pieces(f func(p Pos, mem []byte) bool) { Range{b, b.pieces}.Pieces(f) }

// AppendPieces appends the parts of the message that are contiguous in memory to dst, in wire
// order. The Buffer must be sealed; the bytes alias it.
func (b *Buffer) AppendPieces(dst [][]byte) [][]byte {
	for _, p := range b.pieces {
		dst = append(dst, b.mem(p))
	}
	return dst
}

// Range is the part of the wire bytes that is sent for the bytes [from, to) of a run, with all
// nodes applied.
type Range struct {
	b      *Buffer
	pieces []piece
}

// Range returns the wire bytes that are sent for the bytes [from, to), which must be in one run. A
// node that replaces all of them, or more, counts only if it is own; any other such node has
// replaced the value that the bytes are. The Range is valid until the next change.
func (b *Buffer) Range(from, to Pos, own NodeID) Range { return b.RangeAgain(from, to, own, Range{}) }

// RangeAgain is Range, but reuses the memory of old, which must not be used afterwards.
func (b *Buffer) RangeAgain(from, to Pos, own NodeID, old Range) Range {
	b.Sync()
	b.sortNodes()
	return Range{b, b.walk(old.pieces[:0], b.spanAt(from), part{from, to, own, 0})}
}

// Spent returns an empty Range with the memory of r, for RangeAgain.
func (r Range) Spent() Range { return Range{pieces: r.pieces} }

// Flat returns the bytes [from, to) and true if they are in one piece and no node changes them,
// otherwise nil and false. A node that replaces all of them, or more, counts only if it is own.
// The bytes alias the message, and are valid until the next change.
func (b *Buffer) Flat(from, to Pos, own NodeID) ([]byte, bool) {
	b.Sync()
	b.sortNodes()
	p := part{from, to, own, 0}
	c := b.order.from(from)
	for o, ok := b.order.next(&c); ok && o.at() <= to; o, ok = b.order.next(&c) {
		if !b.excludes(p, b.node(o.id())) {
			return nil, false
		}
	}
	if b.span(b.spanAt(from)).to < to {
		return nil, false
	}
	return b.mem(piece{from, to}), true
}

// Len returns the number of wire bytes of the range.
func (r Range) Len() int { return total(r.pieces) }

// Count returns the number of pieces of the range.
func (r Range) Count() int { return len(r.pieces) }

// AppendTo appends the range to dst, copying it.
func (r Range) AppendTo(dst []byte) []byte { return r.b.appendPieces(dst, r.pieces) }

// Pieces calls f with each part of the range that is contiguous in memory, in wire order, until f
// returns false. The bytes alias the message.
func (r Range) Pieces(f func(p Pos, mem []byte) bool) {
	for _, p := range r.pieces {
		if !f(p.from, r.b.mem(p)) {
			return
		}
	}
}

const (
	// nearPieces is the number of pieces up to which successive ones are mostly near each other in
	// memory.
	nearPieces = 2 << 10
	// together is how many pieces are loaded at once above nearPieces. The processor then waits for
	// many at once, not for one after another.
	together = 32
)

// loadNext must be called before piece i of many is copied. Now and then it loads the first bytes
// of the next ones into the processor's caches.
func (b *Buffer) loadNext(pieces []piece, i int) {
	if i%together == 0 && len(pieces) > nearPieces {
		b.loadPieces(pieces[i:min(i+together, len(pieces))])
	}
}

// loadPieces loads the first byte of each piece.
//
//go:noinline
func (b *Buffer) loadPieces(pieces []piece) (sum int) {
	for _, p := range pieces {
		sum += int(b.At(p.from)[0])
	}
	return sum
}
