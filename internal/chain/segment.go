package chain

import "sync/atomic"

// Pos is the address of a byte in one Buffer: the high bits are a segment number, the low 20 bits
// an offset below 1 MiB. Position 0 lies in a page of zeroes that belongs to no message. Memory
// that is added later has higher positions. Positions are below 1<<31.
type Pos = uint32

const (
	segBits = 20
	segSize = 1 << segBits
	segMask = segSize - 1

	// FirstPos is the first position after the page of zeroes.
	FirstPos = Pos(segSize)

	// maxSegments keeps the top bit of positions free. Callers that store positions use it as a
	// flag.
	maxSegments = 1 << (31 - segBits)

	// MaxSize is the largest size of a message: 1 GiB. There are positions for twice as many
	// bytes, so that a message of this size can still be edited.
	MaxSize = 1 << 30
)

// zeroes is the memory at position 0: enough for every number and for the length of an empty text
// or list.
var zeroes = make([]byte, 64)

// segment describes the memory of one entry of the segment table.
type segment struct {
	block *Block // the recycled block that contains it; nil if the garbage collector owns the memory
	// writable is 1 if values may be stored in place. While the segment is in use, it can only
	// become 0. That may happen while other goroutines read, so it is accessed atomically.
	writable uint32
	foreign  bool // the caller's memory: it may change once no Buffer refers to it
}

// panicBeyond is the text of the panic for a value that reaches beyond its memory, because the
// bytes were changed after they were checked.
const panicBeyond = "nocopy: text reaches beyond its memory: the message's bytes were changed by somebody else"

// At returns the memory from position p to the end of its block, without copying. The bytes after
// the value that the caller knows to be at p are undefined.
func (b *Buffer) At(p Pos) []byte { return b.segs[p>>segBits][p&segMask:] }

// Writable reports whether values at p may be overwritten in place: the memory belongs to this
// Buffer alone.
func (b *Buffer) Writable(p Pos) bool { return atomic.LoadUint32(&b.meta[p>>segBits].writable) != 0 }

// Room reports whether n more bytes of contiguous memory can be given positions. Each piece of
// foreign memory takes a whole segment, even a small one. Callers should copy small pieces when
// segments become few.
func (b *Buffer) Room(n int) bool { return b.RoomAfter(0, n) }

// RoomAfter is Room after this many more segments have been taken.
func (b *Buffer) RoomAfter(segments, n int) bool {
	return len(b.segs)+segments+Segments(n) <= maxSegments
}

// Segments returns the number of segments that n bytes of contiguous memory take.
func Segments(n int) int { return int(uint(n)>>segBits) + 1 }

// addSegments gives positions to mem and returns the first one. The position just after the last
// byte belongs to mem, too.
func (b *Buffer) addSegments(mem []byte, m segment) Pos {
	b.checkRoom(len(mem))
	first := Pos(len(b.segs)) << segBits
	for off := 0; off <= len(mem); off += segSize {
		if len(b.segs) == cap(b.segs) {
			b.growSegments()
		}
		b.segs = append(b.segs, mem[off:])
		b.meta = append(b.meta, m)
	}
	return first
}

// growSegments makes room for more segments. It moves the first ones out of few and clears their
// places there, which would otherwise keep their memory alive.
func (b *Buffer) growSegments() {
	n := max(2*len(b.segs), 8)
	b.segs = append(make([][]byte, 0, n), b.segs...)
	b.meta = append(make([]segment, 0, n), b.meta...)
	b.few.segs, b.few.meta = [2][]byte{}, [2]segment{}
}

// checkRoom panics unless there are positions for n more bytes of contiguous memory.
func (b *Buffer) checkRoom(n int) {
	if !b.Room(n) {
		b.EndChange() // the message is unchanged, and the caller may use it further
		panic("nocopy: message larger than its address space of 2 GiB")
	}
}

func asUint32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// AddForeign gives the caller's memory a position, without copying it. With own, the Buffer may
// store into it from now on. Without own, nobody may, until Reset or Free.
func (b *Buffer) AddForeign(mem []byte, own bool) Pos {
	return b.addSegments(mem, segment{writable: asUint32(own), foreign: !own})
}

// Exchangeable reports whether n bytes of the caller's memory can get the positions of those that
// the node's content ends with. There must not be so many spans that the Buffer is Crowded.
func (b *Buffer) Exchangeable(id NodeID, n int) bool {
	s := b.span(b.node(id).content.last)
	return uint32(len(b.spans)) <= b.mostSpans && s.from&segMask == 0 && s.from != 0 && b.Foreign(s.from) && Segments(n) <= Segments(int(s.to-s.from))
}

// Exchange gives mem the positions of the memory that the node's content ends with, which is in no
// run any more afterwards, and returns the first one. Exchangeable must have returned true.
func (b *Buffer) Exchange(id NodeID, mem []byte) Pos {
	s := b.span(b.node(id).content.last)
	first := s.from >> segBits
	for i := range Pos(Segments(int(s.to - s.from))) {
		b.segs[first+i] = mem[min(int(i)<<segBits, len(mem)):]
	}
	return s.from
}

// Foreign reports whether the memory at p is a caller's: it was passed to AddForeign or Refer of
// this Buffer, or of one from which it was shared.
func (b *Buffer) Foreign(p Pos) bool { return b.meta[p>>segBits].foreign }

// adopted is the size up to which Adopt copies memory.
const adopted = 2 << 10

// Adopt replaces the foreign memory that contains p by a writable copy, if the memory is so small
// that a node would cost as much. It reports whether it did.
func (b *Buffer) Adopt(p Pos) bool {
	i := p >> segBits
	mem := b.segs[i]
	// If the segment before is a whole one, this may be the end of the same memory, which is also
	// read through that segment.
	if len(mem) > adopted || b.meta[i].block != nil || len(b.segs[i-1]) >= segSize {
		return false
	}
	sealed := b.sealed
	_, own := b.Place(len(mem))
	copy(own, mem)
	b.segs[i], b.meta[i], b.flat = own, segment{block: b.tailMem, writable: 1}, nil
	b.sealed = sealed // the chain is as it was
	return true
}

// Share gives the n bytes at position p of src a position in b, too, and returns it. It does not
// copy them. From then on neither Buffer stores into that memory. Concurrent calls for one src are
// allowed. Memory that is readOnly is copied if b does not recycle.
func (b *Buffer) Share(src *Buffer, p Pos, n int) Pos {
	src.freeze(p>>segBits, (p+Pos(n))>>segBits)
	from := &src.meta[p>>segBits]
	if from.block != nil && from.block.readOnly && !b.recycle {
		at, mem := b.ownBlock(n) // b would never release it
		copy(mem, src.At(p))
		return at
	}
	if from.block != nil {
		from.block.retain()
		b.held = append(b.held, from.block)
	}
	return b.addSegments(src.At(p)[:n:n], segment{block: from.block, foreign: from.foreign})
}

// Freeze makes all later stores go to new memory. Slices of the message's bytes therefore keep
// their contents until Free. Concurrent calls and reads are allowed.
func (b *Buffer) Freeze() { b.freeze(0, Pos(len(b.meta)-1)) }

// freeze makes the segments first to last unwritable.
func (b *Buffer) freeze(first, last Pos) {
	for i := first; i <= last; i++ {
		if s := &b.meta[i]; atomic.LoadUint32(&s.writable) != 0 {
			atomic.StoreUint32(&b.shared, 1)
			// The segment may be the tail's. If not, stores to the tail only take longer
			atomic.StoreUint32(&b.tailShared, 1)
			atomic.StoreUint32(&s.writable, 0)
		}
	}
}

// largeStitch is the size from which on Stitch takes a block of its own.
const largeStitch = 4 << 10

// Stitch returns n contiguous bytes that are in no run yet, like Place, but at a position higher
// than all existing ones.
func (b *Buffer) Stitch(n int) (Pos, []byte) {
	if n >= largeStitch {
		b.sealed = false
		return b.ownBlock(n)
	}
	_, mem := b.Place(n)
	return b.addSegments(mem, segment{block: b.tailMem, writable: 1}), mem
}

// ownBlock returns n bytes in memory that is not the tail, with their position.
func (b *Buffer) ownBlock(n int) (Pos, []byte) {
	var d Draft
	if b.recycle || n >= SlabSize {
		d = b.draft(n)
	} else {
		d.mem = fresh(n)
	}
	b.own(d.block)
	mem := d.mem[:n:n]
	return b.addSegments(mem, segment{block: d.block, writable: 1}), mem
}

// TakeBack removes the segments after that of p, up to that of end, so that other memory can get
// their positions. It does nothing unless end is in the last segment. No position in the removed
// segments may be used afterwards.
func (b *Buffer) TakeBack(p, end Pos) {
	n := int(p>>segBits) + 1
	if int(end>>segBits) != len(b.segs)-1 {
		return
	}
	clear(b.segs[n:])
	clear(b.meta[n:])
	b.segs, b.meta = b.segs[:n], b.meta[:n]
}
