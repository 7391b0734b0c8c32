package chain

import "sync/atomic"

// state tells which kind of message a Buffer is ready for.
type state uint8

// A freed Buffer keeps the tables and memory that the next message is likely to need. Only the
// method in the last column takes them over; other methods reset the Buffer first.
//
//	state         segments                    spans and pieces           next message
//	ready         zeroes                      none                       Reset
//	readyToBuild  zeroes, tail block          none                       Begin
//	readyToRefer  zeroes, nil,                one, of segment 1,         Refer
//	              perhaps the tail block      which Refer makes longer
const (
	inUse     state = iota // never used, or holds a message that did not begin with Refer
	referring              // holds a message that began with Refer
	ready                  // for any message
	// for a message that is built in the block at the tail, if no byte of that is in use
	readyToBuild
	readyToRefer // for a message that is received in foreign memory
)

// Reset empties the Buffer for a new message. With recycle, its blocks come from pools and go back
// there at the next Reset or Free. Without recycle, a block is used again only if no part of it
// was lent or shared; otherwise it is left to the garbage collector.
func (b *Buffer) Reset(recycle bool) {
	if b.state != ready || recycle != b.recycle {
		b.start(recycle)
	}
	b.state = inUse
}

// Begin is Reset and OpenRoot: it empties the Buffer, and opens the run of a new message at the
// tail, after headroom free bytes.
func (b *Buffer) Begin(recycle bool, headroom int) {
	if b.state != readyToBuild || recycle != b.recycle || headroom > keepTail-2 {
		b.Reset(recycle)
		b.OpenRoot(headroom)
		return
	}
	b.used = 1 + headroom
	at := b.Tail()
	b.spans = append(b.spans, span{from: at, to: at})
	b.root, b.open, b.headroom = run{1, 1}, 1, uint32(headroom)
	b.state = inUse
}

// BeginIn is Begin for a Buffer that recycles. The message begins in the memory of c, which is
// from HoldOwned. Bytes that do not fit there go into blocks of the Buffer's own.
func (b *Buffer) BeginIn(c Chunk, headroom int) {
	b.Reset(true)
	if b.tailMem != nil { // kept for the next message; no other block is held
		b.tailMem.release()
	}
	clear(b.held)
	b.held = b.held[:0]
	b.tail, b.tailMem, b.used = c.Mem, c.block, 0
	b.reserved += uint32(len(c.Mem))
	b.ownTail()
	b.OpenRoot(headroom)
}

// OwnPiece returns the owner of the memory passed to BeginIn, and where the message is in it: n
// bytes, beginning at byte at. The owner is nil if any part of the message is elsewhere. The
// Buffer must be sealed.
func (b *Buffer) OwnPiece() (owner Owner, at, n int) {
	if len(b.pieces) != 1 || len(b.meta) < 2 {
		return nil, 0, 0
	}
	p, block := b.pieces[0], b.meta[1].block
	if block == nil || block.owner == nil || int(p.to) > segSize+len(block.mem) {
		return nil, 0, 0
	}
	return block.owner, int(p.from) - segSize, int(p.to - p.from)
}

// Refer empties the Buffer and makes mem, the caller's memory, the whole message, without copying
// it. It returns the position of the first byte, and seals the message. With own, the Buffer may
// store into mem.
func (b *Buffer) Refer(mem []byte, recycle, own bool) Pos {
	if b.state != readyToRefer || recycle != b.recycle || len(mem) >= segSize {
		return b.referAnew(mem, recycle, own)
	}
	b.state = referring
	b.segs[1], b.meta[1].writable, b.meta[1].foreign, b.flat = mem, asUint32(own), !own, mem
	end := segSize + Pos(len(mem))
	b.spans[1].to, b.pieces[0].to, b.size = end, end, len(mem)
	return segSize
}

// referAnew is Refer for a Buffer that is not readyToRefer: it cannot reuse the tables of an
// earlier call.
func (b *Buffer) referAnew(mem []byte, recycle, own bool) Pos {
	b.Reset(recycle)
	p := b.AddForeign(mem, own)
	b.flat, b.lent = mem, 1
	b.SetRoot(p, p+Pos(len(mem)))
	b.state = referring
	return p
}

// start empties a Buffer in any state, and makes its tables if it has none.
func (b *Buffer) start(recycle bool) {
	if len(b.segs) == 0 {
		f := &b.few
		b.segs, b.meta, b.spans, b.nodes, b.pieces = f.segs[:0], f.meta[:0], f.spans[:0], noNodes[:], f.pieces[:0]
		b.addSegments(zeroes, segment{})
		b.spans = append(b.spans, span{})
		b.edits = &noEdits
	}
	b.drop(recycle)
	b.recycle = recycle
}

// Free empties the Buffer and gives its blocks back, except what its state keeps for the next
// message. The block at the tail is used again from its beginning if no part of it was lent or
// shared.
func (b *Buffer) Free() {
	if debugging {
		checkShared()
	}
	// The usual case of a message that was only read
	if b.sealed && b.tailPos == 0 && len(b.segs) == 2 && len(b.nodes) == 1 && len(b.spans) == 2 && len(b.held) == 0 {
		b.segs[1] = nil
		b.flat = nil
		b.state = readyToRefer
		if b.shared|b.slow != 0 {
			b.tailShared, b.shared, b.slow = 0, 0, 0
		}
		return
	}
	oneSegment := len(b.segs) == 2 && len(b.nodes) == 1
	if !b.recycle && b.lent == 0 && len(b.tail) <= keepRewound && b.shared == 0 {
		b.used = 0
	}
	switch {
	case oneSegment && b.tailPos == segSize && b.tailReusable():
		b.reset()
		b.state = readyToBuild
	case b.state == referring && len(b.segs) == 3 && b.tailPos == 2*segSize && b.tailReusable():
		b.segs[1], b.meta[1].block, b.flat = nil, nil, nil
		b.used, b.shared = 0, 0
		b.reset()
		b.SetRoot(segSize, segSize)
		b.state = readyToRefer
	case len(b.segs) > 0:
		b.drop(b.recycle)
		b.state = ready
	}
}

// Retire gives back the block that Free has kept for the next message. Call it when there will be
// none.
func (b *Buffer) Retire() {
	for _, blk := range append(b.held, b.slabs...) { // one of them is empty
		blk.release()
	}
	b.held, b.slabs, b.tail, b.tailMem = nil, nil, nil, nil
}

// reset removes the spans, nodes and pieces, and all other facts about the message. It leaves the
// memory as it is.
func (b *Buffer) reset() {
	b.spans, b.nodes, b.pieces = b.spans[:1], b.nodes[:1], b.pieces[:0]
	if e := b.edits; e.order.n|e.spanOrder.n != 0 || e.parts != nil {
		e.reset()
	}
	b.root, b.open, b.owner = run{}, 0, 0
	b.size, b.reserved, b.headroom, b.lent = 0, 0, 0, 0
	b.sealed, b.framed, b.changing = false, false, false
}

// drop removes the message and gives up all memory, except one block, or the rest of one, that can
// be the tail of the next message. recycle tells whether that message recycles.
func (b *Buffer) drop(recycle bool) {
	b.dropHeld(recycle)
	if len(b.slabs) > 0 {
		b.dropSlabs()
	}
	switch {
	case b.tailMem != nil:
		b.tail, b.used, b.recycle = b.tailMem.mem, 0, recycle
		b.own(b.tailMem)
	case recycle || len(b.tail)-b.used < keepTail:
		b.tail, b.used = nil, 0
	default:
		b.tail, b.used = b.tail[b.used:], 0
	}
	b.tailPos = 0 // the next message gives it a position when it is first written to
	b.tailShared, b.shared, b.slow = 0, 0, 0
	b.dropSegments()
	b.reset()
	b.mostSegs, b.mostSpans = fewSegs, fewSpans
}

// dropHeld gives back the recycled blocks, except the one at the tail if nobody else holds it.
func (b *Buffer) dropHeld(recycle bool) {
	for i, blk := range b.held {
		b.held[i] = nil
		// Strings that were read from this message alias the block and stay valid: leave it to the
		// garbage collector
		if !b.recycle {
			blk.abandon()
			continue
		}
		if !debugging && recycle && blk == b.tailMem && blk.refs.Load() == 1 && len(blk.mem) <= MaxSlabSize && blk.owner == nil {
			continue // keep it: it is still in the processor's caches
		}
		if blk == b.tailMem {
			b.tail, b.tailMem, b.used = nil, nil, 0
		}
		blk.release()
	}
	b.held = b.held[:0]
}

// dropSlabs gives up the blocks of a Buffer that does not recycle. If no part of them was lent or
// shared, they go to their pools, except the one at the tail, which stays. Otherwise they are left
// to the garbage collector.
func (b *Buffer) dropSlabs() {
	clean := b.lent == 0 && b.shared == 0
	stays := clean && len(b.tail) <= keepRewound
	for i, blk := range b.slabs {
		b.slabs[i] = nil
		switch {
		case blk != b.tailMem && !clean:
		case blk != b.tailMem:
			blk.release()
		case !clean: // its rest may be the next message's tail
			b.tailMem = nil
		case !stays:
			b.tail, b.tailMem, b.used = nil, nil, 0
			blk.release()
		}
	}
	b.slabs = b.slabs[:0]
}

// dropSegments forgets all memory except the page of zeroes.
func (b *Buffer) dropSegments() {
	b.flat = nil
	switch len(b.segs) {
	case 0, 1:
		return
	case 2: // the usual case, in which a call of clear would cost most
		b.segs[1], b.meta[1].block = nil, nil
	default:
		clear(b.segs[1:])
		clear(b.meta[1:])
	}
	b.segs, b.meta = b.segs[:1], b.meta[:1]
}

const (
	// keepRewound is the largest slab that is used again from its beginning. It allows for slabs
	// of MaxSlabSize, and for a value of that size with a few bytes around it.
	keepRewound = MaxSlabSize + SlabSize

	// keepTail is the smallest rest of a slab in which the next message may begin.
	keepTail = 512
)

// tailReusable reports whether the next message, if it recycles or not like this one, may use the
// block at the tail from its beginning.
func (b *Buffer) tailReusable() bool {
	if b.shared|b.slow != 0 || len(b.tail) < keepTail {
		return false
	}
	if !b.recycle {
		return b.used == 0 // Free has set used to 0 in that case
	}
	return !debugging && len(b.held) == 1 && b.held[0] == b.tailMem && b.tailMem.refs.Load() == 1 && len(b.tail) <= MaxSlabSize && b.tailMem.owner == nil
}

// Lend notes that aliases of the Buffer's memory escape: the memory must keep its contents after
// Free, for as long as anybody refers to it. Several reading goroutines may call it at once.
func (b *Buffer) Lend() {
	if atomic.LoadUint32(&b.lent) == 0 {
		atomic.StoreUint32(&b.lent, 1)
	}
}

// Shrink gives up the tables, which may have grown larger than the next messages need. The Buffer
// must be free.
func (b *Buffer) Shrink() {
	b.segs, b.meta = nil, nil
	b.spans, b.nodes, b.pieces, b.edits = nil, nil, nil, &noEdits
	b.state = inUse
}
