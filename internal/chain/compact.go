package chain

import "github.com/nocopythrift/nocopythrift/internal/memory"

// Compact copies the message into one new block and returns its position and bytes there. The
// block has room for more or, with exact, is no larger than necessary. The message is not sealed.
// All earlier positions and nodes become invalid. The earlier memory is left to the garbage
// collector and does not go back to a pool, so that slices of it stay valid. Memory of an Owner is
// returned when the message's memory is given up.
func (b *Buffer) Compact(exact bool) (Pos, []byte) {
	b.Seal()
	headroom := b.headroom
	start := 1 + int(headroom)
	mem := b.appendPieces(b.Renew(start, b.size, exact), b.pieces)[start:]
	b.Move(start + len(mem))
	b.reset()
	b.headroom = headroom
	from := b.Tail() - Pos(len(mem))
	b.spans = append(b.spans, span{from: from, to: from + Pos(len(mem))})
	b.root = run{1, 1}
	b.mark()
	return from, mem
}

// InOneBlock reports whether the message is one span, at the beginning of the first block, and no
// complete value was changed. Compact then leaves the positions as they are.
func (b *Buffer) InOneBlock() bool {
	return b.Space.InOneBlock() && len(b.nodes) == 1 && b.root.first == b.root.last &&
		b.span(b.root.first).from == FirstPos+1+b.headroom
}

// fewSpans is never too many spans.
const fewSpans = 4 << 10

// Crowded reports whether there are so many segments or spans that calling Waste is worth its
// time. Waste counts how many of them are in use.
func (b *Buffer) Crowded() bool { return b.Space.Crowded() || uint32(len(b.spans)) > b.mostSpans }

// mark makes Crowded false until there are twice as many segments or spans, or, if positions are
// running out, a few more.
func (b *Buffer) mark() {
	b.Mark()
	b.mostSpans = uint32(max(2*len(b.spans), fewSpans))
}

// Waste reports whether Compact is worth its time. It is if removed bytes have three quarters of
// the memory that the Buffer keeps, or half of the positions that the message does not need. If
// not, the Buffer is no longer Crowded until it has grown much.
// Compact therefore copies at most a few times as many bytes as were added since, and a message
// that fits finds positions.
func (b *Buffer) Waste() bool {
	b.mark()
	if len(b.nodes) == 1 {
		return false
	}
	const spanBytes, nodeBytes, wasted = 12, 24, 4
	used := b.Taken() + spanBytes*len(b.spans) + nodeBytes*len(b.nodes)
	size := b.Size()
	return used/wasted > size+fewSpans*spanBytes || b.Scattered(size)
}

// RoomOnceCompacted returns for how many bytes there would be RoomToChange if the Buffer were
// compacted; it may be negative. It is called when there is no room.
func (b *Buffer) RoomOnceCompacted() int { return memory.RoomOnceCompacted(b.Size()) }

// Size returns the size of the message, which need not be sealed.
func (b *Buffer) Size() int {
	b.Sync()
	b.sortNodes()
	b.pieces = b.walk(b.pieces[:0], b.root.first, part{})
	b.sealed = false
	return total(b.pieces)
}

// Footprint returns about how many bytes the Buffer's own memory and its tables take.
func (b *Buffer) Footprint() int {
	return b.Space.Footprint() + 12*cap(b.spans) + 24*cap(b.nodes) + 8*cap(b.pieces)
}
