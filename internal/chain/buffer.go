package chain

import (
	"encoding/binary"
	"reflect"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/hashmap"
)

// Buffer holds the bytes of one message as a chain of pieces of memory: blocks that are filled at
// the tail, and foreign memory that it refers to. Nodes replace parts of the message by other
// bytes.
//
// A Buffer must be Reset before its first use. It is for one goroutine; any number of them may
// read it (At, Len, AppendTo, WriteTo, Share from it) while none changes it.
//
// Methods do not check their arguments: positions and nodes must be those of this message.
type Buffer struct {
	segs [][]byte  // the segment table: position → bytes
	meta []segment // the same segments: who owns them
	flat []byte    // the memory at FirstPos if it is foreign or a chunk, see FlatText

	tail     []byte // the block that is being filled
	used     int    // how much of it
	tailPos  Pos    // position of tail[0]
	reserved uint32 // size of the message's blocks so far; determines the size of the next one
	tailMem  *Block // the block of tail; nil if the garbage collector owns it
	// tailShared is 1 once a part of the block at the tail is shared; like segment.writable.
	tailShared uint32
	slow       uint32 // what tailShared becomes for the next block at the tail, see StoreSlowly
	shared     uint32 // 1 once any memory of this Buffer's own is shared or frozen
	held       []*Block
	slabs      []*Block // blocks of a Buffer that does not recycle, see dropSlabs

	recycle  bool
	state    state
	sealed   bool
	framed   bool // the headroom ends with the message's length
	changing bool // StartChange was called, and EndChange was not
	// lent is 1 once aliases of the Buffer's own memory may have escaped. A Buffer that owns no
	// memory may start at 1, which spares readers the store.
	lent                uint32
	mostSegs, mostSpans uint32 // above these the Buffer is Crowded
	headroom            uint32 // bytes free before the root run

	spans []span
	nodes []node
	root  run
	open  uint32 // the span at the tail that grows with Extend, 0 = none
	owner NodeID // whose run it belongs to, 0 = the root

	pieces []piece // the message in wire order, once sealed
	size   int

	*edits
	few few
}

// edits is the part of a Buffer that only edited messages need. Other Buffers share noEdits, which
// is read-only: call ownEdits before storing.
type edits struct {
	order     order // of nodes
	spanOrder order // of spans, if they are many

	parts *hashmap.Map[NodeID, []Part] // of nodes that have some; nil if none has
}

var noEdits edits

// ownEdits makes edits that are the Buffer's own.
func (b *Buffer) ownEdits() {
	if b.edits == &noEdits {
		b.edits = new(edits)
	}
}

// reset empties the edits but keeps their memory.
func (e *edits) reset() {
	if e != &noEdits {
		e.order.reset()
		e.spanOrder.reset()
		e.parts = nil
	}
}

// checkShared panics if something was stored into what all Buffers share, which must stay zero.
func checkShared() {
	for _, v := range []any{noEdits, noNodes, [64]byte(zeroes)} {
		if !reflect.ValueOf(v).IsZero() {
			panic("nocopy: internal error: stored into what all Buffers share")
		}
	}
}

// few has the first entries of a Buffer's tables. Most messages need no more.
type few struct {
	segs   [2][]byte
	meta   [2]segment
	spans  [2]span
	pieces [1]piece
}

// StoreSlowly makes InTail return false from now on. Callers then ask Writable before each store.
func (b *Buffer) StoreSlowly() {
	b.slow = 1
	atomic.StoreUint32(&b.tailShared, 1) // see Share
}

// addTail gives the block at the tail its positions.
func (b *Buffer) addTail() {
	if b.tailPos == 0 { // lent memory was not the Buffer's own before
		b.lent = 0
	}
	b.tailPos = b.addSegments(b.tail, segment{block: b.tailMem, writable: 1})
	b.tailShared = b.slow
}

// afterLarge is how much room a block for a large value has after it. Often only the byte that
// ends the message follows, which would otherwise need another large block. It is less than
// keepTail: otherwise a later message could be built in the rest of a large block and keep it
// alive.
const afterLarge = 256

// tailSize returns the size of a new block at the tail for n bytes. It panics if there are no
// positions left for it: call it before changing anything.
func (b *Buffer) tailSize(n int) int {
	reserved := int(b.reserved)
	size := min(max(reserved, SlabSize), MaxSlabSize)
	if n > size/4 {
		size = n + afterLarge
		if size < MaxSlabSize {
			size = max(size, min(reserved+n, MaxSlabSize))
		}
	}
	b.checkRoom(size)
	return size
}

// newTail makes a new block of at least n bytes the tail. The rest of the old one stays unused.
func (b *Buffer) newTail(n int) {
	size := b.tailSize(n)
	var rest []byte
	if !b.recycle && size == SlabSize {
		rest = restOfSlab()
	}
	if rest != nil {
		b.setTail(Draft{mem: rest})
	} else {
		b.takeTail(size)
	}
	b.reserved += uint32(size)
	b.used = 0
	b.ownTail()
}

// Fit makes sure that n bytes fit into the tail, to be placed or appended to a run that is about
// to be opened. If they are few and the tail has no room, it gets memory of their size, since the
// message is complete with them.
func (b *Buffer) Fit(n int) {
	size := n + 2 // with the bytes that gap leaves unused
	switch {
	case size > smallPart, b.used+size <= len(b.tail):
		return
	case b.recycle:
		b.Sync()
		b.takeTail(size)
	default:
		b.Sync()
		b.setTail(Draft{mem: partOfSlab(size)})
	}
	b.reserved += uint32(len(b.tail))
	b.used = 0
	b.ownTail()
}

// takeTail makes new memory of the given size the tail and returns it. ownTail has to be called
// next.
func (b *Buffer) takeTail(size int) []byte {
	d := b.draft(size)
	if !b.recycle {
		d.mem = d.mem[:size:size] // no more than that, see afterLarge
	}
	b.setTail(d)
	return b.tail
}

// setTail makes d the tail. ownTail has to be called next.
func (b *Buffer) setTail(d Draft) {
	b.tail, b.tailMem = d.mem, d.block
}

// ownTail adds the tail to the Buffer's blocks and gives it positions.
func (b *Buffer) ownTail() {
	b.own(b.tailMem)
	b.addTail()
}

// own adds a block to the Buffer's blocks, unless it is nil.
func (b *Buffer) own(block *Block) {
	switch {
	case block == nil:
	case b.recycle:
		b.held = append(b.held, block)
	default:
		b.slabs = append(b.slabs, block)
	}
}

// Tail returns the position at which the next Extend appends, if it needs no new block.
func (b *Buffer) Tail() Pos { return b.tailPos + Pos(b.used) }

// Reserve makes sure that the next n bytes, at most MaxSlabSize, go into one block.
func (b *Buffer) Reserve(n int) {
	if n > len(b.tail)-b.used {
		b.Sync()
		b.newTail(n)
		b.openSpan()
	}
}

// AppendByte appends one byte to the open run and returns its position.
func (b *Buffer) AppendByte(v byte) Pos {
	p, mem := b.Extend(1)
	mem[0] = v
	return p
}

// AppendFitting appends one byte to the open run, in the block at the tail, and returns its
// position. There must be room for it there, see Fits.
func (b *Buffer) AppendFitting(v byte) Pos {
	i := b.used
	b.tail[i] = v
	b.used = i + 1
	return b.tailPos + Pos(i)
}

// InTail reports whether the n bytes at position p are in the block at the tail and may be stored
// into by Put8 and the like. Most bytes of a message that is being built are.
func (b *Buffer) InTail(p Pos, n int) bool {
	return uint64(p-b.tailPos)+uint64(n) <= uint64(b.used) && b.tailShared == 0
}

// MakeFit makes room at the tail for a short append of n bytes: Fits(n) is true afterwards. n must
// be at most MaxShort.
func (b *Buffer) MakeFit(n int) { b.Reserve(n + maxLead + 1) }

// extendToEnd is Extend for n bytes that fill the block at the tail or are too many for it.
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
	// MaxShort is the largest n for which Fits can be true.
	MaxShort = 256
	// maxLead is the most bytes of head that AppendWithHead appends.
	maxLead = 8
	// textLength is the size of a text's length, which precedes the text.
	textLength = 4
)

// Fits reports whether AppendShort and AppendFitting may be called for n bytes: n is at most
// MaxShort, and the block at the tail has room for the bytes and their head.
func (b *Buffer) Fits(n int) bool { return n <= MaxShort && n+maxLead < len(b.tail)-b.used }

// AppendWithHead appends the high lead bytes of head, at most 8, then v. It returns the position
// of the first byte.
func (b *Buffer) AppendWithHead(head uint64, lead int, v string) Pos {
	if !b.Fits(len(v)) {
		return b.appendLongWithHead(head, lead, v)
	}
	p := b.Tail()
	b.AppendShort(head, lead, v)
	return p
}

// appendLongWithHead appends the high lead bytes of head, then v, of any length, and returns the
// position of the first byte.
func (b *Buffer) appendLongWithHead(head uint64, lead int, v string) Pos {
	p, mem := b.Extend(lead + len(v))
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], head)
	copy(mem, bytes[:lead])
	copy(mem[lead:], v)
	return p
}

// Grow appends n bytes, contents undefined, to the open run, contiguous with the bytes of the run
// from position from on. If they do not fit, it moves the latter to a larger block. It returns all
// bytes from from on, and their position.
func (b *Buffer) Grow(from Pos, n int) (Pos, []byte) {
	start := int(from - b.tailPos)
	if b.used+n <= len(b.tail) {
		b.used += n
		return from, b.tail[start:b.used]
	}
	old := b.tail[start:b.used]
	n += len(old)
	room := n + max(0, min(n, MaxSize-n)) // twice that would overflow 32 bits
	b.tailSize(room)
	b.used = start
	b.Sync()
	b.newTail(room)
	b.openSpan()
	b.used = n
	copy(b.tail, old)
	return b.tailPos, b.tail[:b.used]
}
