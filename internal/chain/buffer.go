package chain

import (
	"encoding/binary"
	"sync/atomic"
)

// Buffer is one message's bytes as a chain: blocks that are filled at the tail, foreign memory that is
// referred to, and nodes that stand in the place of bytes elsewhere in the chain.
//
// A Buffer must be Reset before its first use. It is for one goroutine, except that any number of them
// may read (At, Len, AppendTo, WriteTo, and Share from it) while none writes.
type Buffer struct {
	segs [][]byte  // the segment table: position → bytes
	meta []segment // what else is known of each segment
	flat []byte    // the memory that has the first positions, if it need not be lent: foreign, or a chunk. See FlatText

	tail    []byte // the block that is being filled
	used    int    // how much of it
	tailPos Pos    // position of tail[0]
	tailMem *Block // its block, nil for memory that is left to the garbage collector in any case
	// tailShared is 1 once a part of the block at the tail is shared; like segment.writable.
	tailShared uint32
	slow       uint32 // 1 if values are to be stored the longer way: what tailShared is of a new tail
	shared     uint32 // 1 once any memory of this Buffer's own is shared
	frozen     uint32 // 1 once Freeze has made a difference
	held       []*Block
	slabs      []*Block // its own ones if it does not recycle: they are used again if nothing of them was lent
	recycle    bool
	state      state
	// lent is 1 once something has been handed out that may alias the Buffer's own memory. Without any of that, it may
	// be 1 from the beginning: then those who read need not store it.
	lent                uint32
	headroom            int // bytes free in front of the root run
	reserved            int // bytes in blocks of this message so far: sets the size of the next one
	mostSegs, mostSpans int // more than that is crowded
	crowded             bool

	spans []span
	nodes []node
	parts map[NodeID][]Part // of nodes that have some
	root  run
	open  uint32 // the span at the tail that grows with Extend, 0 = none
	owner NodeID // whose run it belongs to, 0 = the root

	order order // of nodes
	// spanOrder is made when spans turn out not to be in the order of their positions.
	spanOrder order
	inOrder   int     // spans before this one are in the order of their positions
	placed    bool    // order is up to date
	pieces    []piece // the message in wire order, once sealed
	size      int
	sealed    bool
	framed    bool // its length stands in front of it, in the headroom
}

// StoreSlowly makes InTail false of all positions from now on, so that no value is stored without asking Writable.
func (b *Buffer) StoreSlowly() {
	b.slow = 1
	atomic.StoreUint32(&b.tailShared, 1) // see Share
}

// addTail gives the block at the tail its positions.
func (b *Buffer) addTail() {
	if b.tailPos == 0 { // what was lent before was not the Buffer's own
		b.lent = 0
	}
	b.tailPos = b.addSegments(b.tail, b.tailMem, true)
	b.tailShared = b.slow
}

// behindLarge is room for what follows a large value: often no more than a STOP, for which a block of its own would
// be as large again. It is less than keepTail, so that no later message holds on to a large block by its rest.
const behindLarge = 256

// newTail starts a block with room for at least n bytes; what is left of the old one is given up.
func (b *Buffer) newTail(n int) {
	size := min(max(b.reserved, SlabSize), MaxSlabSize)
	if n > size/4 {
		size = n + behindLarge
		if size < MaxSlabSize {
			size = max(size, min(b.reserved+n, MaxSlabSize))
		}
	}
	b.reserved += size
	b.takeTail(size)
	b.used = 0
	b.ownTail()
}

// takeTail makes new memory of the given size the block at the tail, which has no positions yet and is not among the Buffer's blocks.
func (b *Buffer) takeTail(size int) []byte {
	switch {
	case b.recycle:
		b.tailMem = newBlock(size)
		b.tail = b.tailMem.mem
	case !debugging:
		b.tailMem = newSlab(size)
		b.tail = b.tailMem.mem[:size:size] // no more than that, see behindLarge
	default:
		b.tailMem = nil
		b.tail = fresh(size)
	}
	return b.tail
}

// ownTail puts the block at the tail among the Buffer's blocks and gives it its positions.
func (b *Buffer) ownTail() {
	switch {
	case b.tailMem == nil:
	case b.recycle:
		b.held = append(b.held, b.tailMem)
	default:
		b.slabs = append(b.slabs, b.tailMem)
	}
	b.addTail()
}

// tailEnd is the position at which the next byte goes.
func (b *Buffer) tailEnd() Pos { return b.tailPos + Pos(b.used) }

// Reserve sees to it that the next n bytes, at most MaxSlabSize, are appended to one block.
func (b *Buffer) Reserve(n int) {
	if n > len(b.tail)-b.used {
		b.Sync()
		b.newTail(n)
		b.openSpan()
	}
}

// AppendByte appends one byte to the open run and returns its position.
func (b *Buffer) AppendByte(v byte) Pos {
	if b.used+1 < len(b.tail) {
		return b.AppendFitting(v)
	}
	return b.appendByteToEnd(v)
}

// AppendFitting is AppendByte when a byte Fits.
func (b *Buffer) AppendFitting(v byte) Pos {
	i := b.used
	b.tail[i] = v
	b.used = i + 1
	return b.tailPos + Pos(i)
}

func (b *Buffer) appendByteToEnd(v byte) Pos {
	p, mem := b.extendToEnd(1)
	mem[0] = v
	return p
}

// InTail says whether the n bytes of a value at position p are in the block at the tail, which most of what is being built
// is, and may be stored into.
func (b *Buffer) InTail(p Pos, n int) bool {
	return uint64(p-b.tailPos)+uint64(n) <= uint64(b.used) && b.tailShared == 0
}

// MakeFit sees to it that n bytes Fit, which must not be more than may ever.
func (b *Buffer) MakeFit(n int) { b.Reserve(n + maxLead + 1) }

// extendToEnd is Extend when n bytes fill the block at the tail, or are too many for it.
func (b *Buffer) extendToEnd(n int) (Pos, []byte) {
	if i := b.used; n == len(b.tail)-i {
		b.used += n
		return b.tailPos + Pos(i), b.tail[i:]
	}
	b.Sync()
	b.newTail(n)
	b.openSpan()
	b.used = n
	return b.tailPos, b.tail[:n:n]
}

const (
	// MaxShort is the most bytes that ever Fit.
	MaxShort = 256
	// maxLead is the most bytes that AppendBehind appends in front of others.
	maxLead = 8
	// textLength is the size of the length in front of a text.
	textLength = 4
)

// Fits says whether AppendShort can append n bytes now.
func (b *Buffer) Fits(n int) bool { return n <= MaxShort && n+maxLead < len(b.tail)-b.used }

// AppendBehind appends the high lead bytes of head, at most 8, and v behind them. It returns the position of the first of
// them.
func (b *Buffer) AppendBehind(head uint64, lead int, v string) Pos {
	if !b.Fits(len(v)) {
		return b.appendBehindLong(head, lead, v)
	}
	p := b.tailEnd()
	b.AppendShort(head, lead, v)
	return p
}

// appendBehindLong is AppendBehind for a v of any length.
func (b *Buffer) appendBehindLong(head uint64, lead int, v string) Pos {
	p, mem := b.Extend(lead + len(v))
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], head)
	copy(mem, bytes[:lead])
	copy(mem[lead:], v)
	return p
}

// Grow makes the last bytes of the open run, those from position from on, n bytes longer, moving them to
// a larger block if need be. It returns their position and all of them, contiguous; the new ones are undefined.
func (b *Buffer) Grow(from Pos, n int) (Pos, []byte) {
	start := int(from - b.tailPos)
	if b.used+n <= len(b.tail) {
		b.used += n
		return from, b.tail[start:b.used]
	}
	old := b.tail[start:b.used]
	b.used = start
	b.Sync()
	n += len(old)
	b.newTail(n + max(0, min(n, MaxSize-n))) // twice that would overflow 32 bits
	b.openSpan()
	b.used = n
	copy(b.tail, old)
	return b.tailPos, b.tail[:b.used]
}

// Tail returns the position at which the next Extend appends, if it needs no new block.
func (b *Buffer) Tail() Pos { return b.tailEnd() }
