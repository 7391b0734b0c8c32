package chain

import "sync/atomic"

// Pos is the address of a byte inside one Buffer: a segment number in the high bits and an offset
// below one mebibyte in the low 20. Position 0 lies in a page of zeroes that belongs to no
// message. Memory that is added later has higher positions. They never reach 1<<31.
type Pos = uint32

const (
	segBits = 20
	segSize = 1 << segBits
	segMask = segSize - 1

	// FirstPos is the first position that is not in the page of zeroes.
	FirstPos = Pos(segSize)

	// maxSegments keeps the top bit of positions free: callers that store positions use it as a
	// flag.
	maxSegments = 1 << (31 - segBits)

	// MaxSize is the most bytes that one message may have: 1 GiB. There are positions for twice
	// as many, so that a message of this size can still be edited.
	MaxSize = 1 << 30
)

// zeroes is the memory at position 0: enough for every number and for the length of an empty text
// or list.
var zeroes = make([]byte, 64)

// segment describes the memory of one entry of the segment table.
type segment struct {
	block *Block // the recycled block that it lies in; nil if the garbage collector owns the memory
	// writable is 1 if values may be stored in place. Once the segment is in use it may only
	// become 0, even while other goroutines read: hence it is atomic.
	writable uint32
	foreign  bool // the caller's, who may change it once no Buffer refers to it any more
}

// panicBeyond is the panic's text when a value reaches beyond its memory: the bytes were changed
// after they were checked.
const panicBeyond = "nocopy: text reaches beyond its memory: the message's bytes were changed by somebody else"

// At returns the memory from position p to the end of its block, without copying. What comes
// after the value that the caller knows to be at p is undefined.
func (b *Buffer) At(p Pos) []byte { return b.segs[p>>segBits][p&segMask:] }

// Writable reports whether values at p may be overwritten in place, as the memory belongs to this
// Buffer alone.
func (b *Buffer) Writable(p Pos) bool { return atomic.LoadUint32(&b.meta[p>>segBits].writable) != 0 }

// Room reports whether n more bytes of contiguous memory can be given positions. Each piece of
// foreign memory takes a whole segment, however small it is: callers should copy small pieces
// when segments become few.
func (b *Buffer) Room(n int) bool { return b.RoomAfter(0, n) }

// RoomAfter reports whether n more bytes of contiguous memory can be given positions after the
// given number of segments has been taken.
func (b *Buffer) RoomAfter(segments, n int) bool {
	return len(b.segs)+segments+Segments(n) <= maxSegments
}

// Segments returns how many segments n bytes of contiguous memory take.
func Segments(n int) int { return int(uint(n)>>segBits) + 1 }

// addSegments gives mem positions and returns that of its first byte. The position just after the
// last byte belongs to the same memory, too.
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
	b.crowded = b.crowded || uint32(len(b.segs)) > b.mostSegs
	return first
}

// growSegments makes room for more segments. The few that came first are no longer in few, which
// must not keep their memory alive.
func (b *Buffer) growSegments() {
	n := max(2*len(b.segs), 8)
	b.segs = append(make([][]byte, 0, n), b.segs...)
	b.meta = append(make([]segment, 0, n), b.meta...)
	b.few.segs, b.few.meta = [2][]byte{}, [2]segment{}
}

// checkRoom panics unless there are positions for n more bytes of contiguous memory.
func (b *Buffer) checkRoom(n int) {
	if !b.Room(n) {
		b.EndChange() // the caller goes on with a message that has not changed
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
// store into it from now on; without, it never does, and nobody else may until Reset or Free.
func (b *Buffer) AddForeign(mem []byte, own bool) Pos {
	if len(mem) >= segSize || len(b.segs) >= maxSegments {
		return b.addSegments(mem, segment{writable: asUint32(own), foreign: !own})
	}
	if len(b.segs) == cap(b.segs) {
		b.growSegments()
	}
	b.segs = append(b.segs, mem)
	b.meta = append(b.meta, segment{writable: asUint32(own), foreign: !own})
	b.crowded = b.crowded || uint32(len(b.segs)) > b.mostSegs
	return Pos(len(b.segs)-1) << segBits
}

// Foreign reports whether the memory at p is the caller's: AddForeign or Refer was given it, of
// this Buffer or of one that it was shared with.
func (b *Buffer) Foreign(p Pos) bool { return b.meta[p>>segBits].foreign }

// adopted is the size up to which a message is copied when a value in it is to be changed.
const adopted = 2 << 10

// Adopt puts a copy, which may be stored into, in the place of the foreign memory that p lies in,
// if that is so little that a node would cost as much. It reports whether it has.
func (b *Buffer) Adopt(p Pos) bool {
	i := p >> segBits
	mem := b.segs[i]
	// After a whole segment there may be the end of the same memory, which is also read through
	// that segment.
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

// ReplaceForeign puts mem in the place of the memory that AddForeign has put at p, and reports
// whether it could: both must fit into one segment.
func (b *Buffer) ReplaceForeign(p Pos, mem []byte) bool {
	i := p >> segBits
	if p&segMask != 0 || len(mem) >= segSize || len(b.segs[i]) >= segSize || b.meta[i].block != nil {
		return false
	}
	b.segs[i], b.flat = mem, nil
	return true
}

// Share gives the n bytes at position p of src a position in b, too, without copying them, and
// returns it. Neither Buffer stores into that memory from then on. Concurrent calls for one src
// are allowed. Memory of HoldReadOnly is copied if b does not recycle.
func (b *Buffer) Share(src *Buffer, p Pos, n int) Pos {
	src.freeze(p>>segBits, (p+Pos(n))>>segBits, &src.shared)
	// Then freeze may have had nothing to do, and not set shared
	if atomic.LoadUint32(&src.frozen) != 0 {
		atomic.StoreUint32(&src.shared, 1)
	}
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

// Freeze makes everything that is stored from now on go elsewhere than where the message's bytes
// are, so that slices of them that were handed out stay as they are until Free. Concurrent calls
// and reads are allowed.
func (b *Buffer) Freeze() { b.freeze(0, Pos(len(b.meta)-1), &b.frozen) }

// freeze makes the segments first to last unwritable. If one was writable before, it sets flag to
// 1.
func (b *Buffer) freeze(first, last Pos, flag *uint32) {
	for i := first; i <= last; i++ {
		if s := &b.meta[i]; atomic.LoadUint32(&s.writable) != 0 {
			atomic.StoreUint32(flag, 1) // first: see Share
			// The segment may be the tail's; if not, stores there only take longer
			atomic.StoreUint32(&b.tailShared, 1)
			atomic.StoreUint32(&s.writable, 0)
		}
	}
}

// Alias gives the n bytes at p another position, higher than all that were given so far.
func (b *Buffer) Alias(p Pos, n int) Pos {
	s := &b.meta[p>>segBits]
	return b.addSegments(b.At(p)[:n:n], segment{s.block, asUint32(b.Writable(p)), s.foreign})
}

// largeStitch is the size from which on Stitch takes a block of its own.
const largeStitch = 4 << 10

// Stitch returns n contiguous bytes that are in no run yet, see Place, at a position that is
// higher than all that were given so far.
func (b *Buffer) Stitch(n int) (Pos, []byte) {
	if n >= largeStitch {
		b.sealed = false
		return b.ownBlock(n)
	}
	p, mem := b.Place(n)
	return b.Alias(p, n), mem
}

// ownBlock returns n bytes in a new block that is not the tail, with their position.
func (b *Buffer) ownBlock(n int) (Pos, []byte) {
	var mem []byte
	var block *Block
	switch {
	case b.recycle:
		block = newBlock(n)
		mem = block.mem[:n:n]
		b.held = append(b.held, block)
	case !debugging && n >= SlabSize:
		block = newSlab(n)
		mem = block.mem[:n:n]
		b.slabs = append(b.slabs, block)
	default:
		mem = fresh(n)
	}
	return b.addSegments(mem, segment{block: block, writable: 1}), mem
}

// TakeBack removes the segments after that of p, up to that of end, so that other memory gets
// their positions. It does nothing unless end is in the last segment. Nobody may refer to
// positions in them.
func (b *Buffer) TakeBack(p, end Pos) {
	n := int(p>>segBits) + 1
	if int(end>>segBits) != len(b.segs)-1 {
		return
	}
	clear(b.segs[n:])
	clear(b.meta[n:])
	b.segs, b.meta = b.segs[:n], b.meta[:n]
}
