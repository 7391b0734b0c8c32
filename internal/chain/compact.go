package chain

import "sync/atomic"

// Compact copies the message into one new block and returns its position and bytes there. The
// block has room for more or, with exact, is no larger than necessary. The message is not sealed.
// All earlier positions and nodes become invalid. The earlier memory is left to the garbage
// collector and does not go back to a pool, so that slices of it stay valid. Memory of an Owner is
// returned when the message's memory is given up.
func (b *Buffer) Compact(exact bool) (Pos, []byte) {
	b.Seal()
	if exact && !b.recycle && len(b.tail) <= SlabSize {
		shareRest(b.tail[b.used:])
	}
	owned := b.held[:0]
	for _, blk := range b.held {
		if blk.owner != nil {
			owned = append(owned, blk)
		} else {
			blk.abandon()
		}
	}
	clear(b.held[len(owned):])
	clear(b.slabs)
	b.held, b.slabs = owned, b.slabs[:0]
	headroom := b.headroom
	start := 1 + int(headroom)
	reserved := start + b.size
	if !exact {
		reserved = max(reserved+afterLarge, SlabSize)
	}
	if exact && (!b.recycle || reserved < 1<<minClass) { // pools have only larger blocks
		b.setTail(Draft{mem: fresh(reserved)})
	} else {
		b.takeTail(reserved)
	}
	mem := b.appendPieces(b.tail[:start], b.pieces)[start:]
	b.dropSegments()
	b.reset()
	b.headroom, b.reserved = headroom, uint32(reserved)
	b.shared, b.tailPos, b.state = 0, 0, inUse
	b.used = start + len(mem)
	b.ownTail()
	from := b.tailPos + Pos(start)
	b.spans = append(b.spans, span{from: from, to: from + Pos(len(mem))})
	b.root = run{1, 1}
	b.mark()
	return from, mem
}

// InOneBlock reports whether the message is one span, at the beginning of the first block, and no
// complete value was changed. Compact then leaves the positions as they are.
func (b *Buffer) InOneBlock() bool {
	return len(b.segs) == 2 && b.tailPos == segSize && len(b.nodes) == 1 && b.root.first == b.root.last &&
		b.span(b.root.first).from == segSize+1+b.headroom
}

// Crowded reports whether there are so many segments or spans that calling Waste is worth its
// time. Waste counts how many of them are in use.
func (b *Buffer) Crowded() bool {
	return uint32(len(b.segs)) > b.mostSegs || uint32(len(b.spans)) > b.mostSpans
}

const (
	// fewSegs and fewSpans are never too many: half a mebibyte in blocks.
	fewSegs  = 6
	fewSpans = 4 << 10
	// manySegs is the number of segments from which on positions may run out: the rest is only
	// slightly more than a message of MaxSize takes. From there on small texts are copied, not
	// referred to, so that each further segment holds 1 MiB.
	manySegs = maxSegments - MaxSize>>segBits - moreSegs
	moreSegs = 8
	// lastSegs is the number of segments from which on no change begins that may need segments.
	// The rest is for changes that have begun; each of their parts needs one.
	lastSegs    = maxSegments - reserveSegs
	reserveSegs = 32
)

// mark makes Crowded false until there are twice as many segments or spans, or, if positions are
// running out, a few more. When only the last segments are left, Crowded stays true.
func (b *Buffer) mark() {
	most := max(2*len(b.segs), fewSegs)
	if most > manySegs {
		most = min(max(manySegs, len(b.segs)+moreSegs), lastSegs)
	}
	b.mostSegs = uint32(most)
	b.mostSpans = uint32(max(2*len(b.spans), fewSpans))
}

// Short reports whether positions are running out.
func (b *Buffer) Short() bool { return len(b.segs) > manySegs }

// Waste reports whether Compact is worth its time: whether three quarters of the memory that the
// Buffer keeps, or half of the positions that the message does not need, belong to bytes that are
// no longer in the message. If not, the Buffer is no longer Crowded until it has grown much.
// Compact therefore copies at most a few times as many bytes as were added since, and a message
// that fits finds positions.
func (b *Buffer) Waste() bool {
	b.mark()
	if len(b.nodes) == 1 {
		return false
	}
	const spanBytes, nodeBytes, wasted = 12, 24, 4
	used := int(b.reserved) + b.referred() + spanBytes*len(b.spans) + nodeBytes*len(b.nodes)
	size := b.Size()
	dead := len(b.segs) - size>>segBits // segments that compacting would free
	return used/wasted > size+fewSpans*spanBytes || dead >= max(manySegs-size>>segBits/2, 2*reserveSegs)
}

// referred returns the number of bytes of foreign memory that have positions, in the message or
// not.
func (b *Buffer) referred() int {
	n := 0
	for i, mem := range b.segs {
		if s := &b.meta[i]; s.block == nil && atomic.LoadUint32(&s.writable) == 0 {
			n += min(len(mem), segSize)
		}
	}
	return n
}

// RoomToChange reports whether a change that adds n bytes may begin: there are positions for the
// bytes, and for everything else that the change may need.
func (b *Buffer) RoomToChange(n int) bool { return b.RoomAfter(reserveSegs, n) }

// RoomOnceCompacted returns for how many bytes there would be RoomToChange if the Buffer were
// compacted; it may be negative. It is called when there is no room.
func (b *Buffer) RoomOnceCompacted() int {
	const most = (maxSegments - 2*reserveSegs) << segBits
	return most - 1 - b.Size()
}

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
	return int(b.reserved) + b.referred() + 32*cap(b.segs) + 12*cap(b.spans) + 24*cap(b.nodes) + 8*cap(b.pieces)
}
