package chain

import "sync/atomic"

// Pos is the address of a byte inside one Buffer: a segment number in the high bits and an offset below
// one mebibyte in the low 20. Position 0 lies in a page of zeroes that belongs to no message.
// Positions of one Buffer grow in the order in which its memory was added and never reach 1<<31.
type Pos = uint32

const (
	segBits = 20
	segSize = 1 << segBits
	segMask = segSize - 1

	// FirstPos is the first position that is not in the page of zeroes.
	FirstPos = Pos(segSize)

	// maxSegments keeps the top bit of a position free for those who store positions.
	maxSegments = 1 << (31 - segBits)

	// MaxSize is the most bytes that one Buffer may hold: 1 GiB. The position space is twice that, so
	// that a message of the full size can still be edited.
	MaxSize = 1 << 30
)

// zeroes is what position 0 reads: enough for every fixed-size value and for the length of an empty one.
var zeroes = make([]byte, 64)

// segment is what is known of one entry of the segment table besides its bytes.
type segment struct {
	block *Block // the recycled block it lies in, nil for memory that the garbage collector owns
	// writable is 1 if values may be stored in place. It is cleared, never set, once the segment is in
	// use, and that may happen while other goroutines read: hence atomic from then on.
	writable uint32
}

// panicBeyond says that a value reaches behind its memory: the bytes were changed after they had been checked.
const panicBeyond = "nocopy: text reaches behind its memory: the message's bytes were changed by somebody else"

// At returns the memory from position p to the end of its block, without copying.
// The bytes behind the value that the caller knows to be at p mean nothing.
func (b *Buffer) At(p Pos) []byte { return b.segs[p>>segBits][p&segMask:] }

// Writable says whether values at p may be overwritten in place: the memory belongs to this Buffer alone.
func (b *Buffer) Writable(p Pos) bool { return atomic.LoadUint32(&b.meta[p>>segBits].writable) != 0 }

// Room says whether n more bytes of memory can be given positions. Referring to many small pieces of
// foreign memory uses positions up faster than bytes; at half, callers should copy instead.
func (b *Buffer) Room(n int) bool { return len(b.segs)+int(uint(n)>>segBits)+1 <= maxSegments }

// addSegments gives mem positions and returns that of its first byte. The position just behind the last
// byte belongs to the same memory too.
func (b *Buffer) addSegments(mem []byte, block *Block, writable bool) Pos {
	if !b.Room(len(mem)) {
		panic("nocopy: message larger than its address space of 2 GiB")
	}
	first := Pos(len(b.segs)) << segBits
	m := segment{block, asUint32(writable)}
	for off := 0; off <= len(mem); off += segSize {
		b.segs = append(b.segs, mem[off:])
		b.meta = append(b.meta, m)
	}
	b.crowded = b.crowded || len(b.segs) > b.mostSegs
	return first
}

func asUint32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// AddForeign gives memory of somebody else a position, without copying. With own, the Buffer may store
// into it from now on; without, it never will. The memory must stay as it is until Reset.
func (b *Buffer) AddForeign(mem []byte, own bool) Pos {
	if len(mem) >= segSize || len(b.segs) >= maxSegments {
		return b.addSegments(mem, nil, own)
	}
	b.segs = append(b.segs, mem)
	b.meta = append(b.meta, segment{writable: asUint32(own)})
	b.crowded = b.crowded || len(b.segs) > b.mostSegs
	return Pos(len(b.segs)-1) << segBits
}

// adopted is the most bytes of a message that are copied when something in it is to be stored.
const adopted = 2 << 10

// Adopt puts a copy, which may be stored into, in the place of the foreign memory that p lies in, and reports whether it
// did: it does if that is so little that a node would cost as much.
func (b *Buffer) Adopt(p Pos) bool {
	i := p >> segBits
	mem := b.segs[i]
	// What follows a whole segment may be the end of the same memory, which is also read through that one.
	if len(mem) > adopted || b.meta[i].block != nil || len(b.segs[i-1]) >= segSize {
		return false
	}
	sealed := b.sealed
	_, own := b.Place(len(mem))
	copy(own, mem)
	b.segs[i], b.meta[i], b.flat = own, segment{b.tailMem, 1}, nil
	b.sealed = sealed // the chain is as it was
	return true
}

// ReplaceForeign puts other memory in the place of what AddForeign put at p, and reports whether it
// could: both must fit into one segment.
func (b *Buffer) ReplaceForeign(p Pos, mem []byte) bool {
	i := p >> segBits
	if p&segMask != 0 || len(mem) >= segSize || len(b.segs[i]) >= segSize || b.meta[i].block != nil {
		return false
	}
	b.segs[i], b.flat = mem, nil
	return true
}

// Share refers to n bytes at position p of another Buffer without copying: neither Buffer stores into
// the memory from then on. It returns the bytes' position here. Concurrent calls for one src are allowed.
func (b *Buffer) Share(src *Buffer, p Pos, n int) Pos {
	src.freeze(p>>segBits, (p+Pos(n))>>segBits, &src.shared)
	if atomic.LoadUint32(&src.frozen) != 0 { // then freeze may have found nothing to do
		atomic.StoreUint32(&src.shared, 1)
	}
	block := src.meta[p>>segBits].block
	if block != nil {
		block.retain()
		b.held = append(b.held, block)
	}
	return b.addSegments(src.At(p)[:n:n], block, false)
}

// Freeze makes what is stored from now on go elsewhere than where the message's bytes are:
// whoever holds on to those sees no change. The memory must not go back before that, see Free.
// Concurrent calls and reads are allowed.
func (b *Buffer) Freeze() { b.freeze(0, Pos(len(b.meta)-1), &b.frozen) }

// freeze is Freeze of some segments, the last one included. It sets the flag to 1.
func (b *Buffer) freeze(first, last Pos, flag *uint32) {
	for i := first; i <= last; i++ {
		if s := &b.meta[i]; atomic.LoadUint32(&s.writable) != 0 {
			atomic.StoreUint32(flag, 1)          // first: see Share
			atomic.StoreUint32(&b.tailShared, 1) // perhaps it is another block's: then stores take the longer way
			atomic.StoreUint32(&s.writable, 0)
		}
	}
}

// Alias gives n bytes at p, which have a position already, another one behind all that were given so far.
func (b *Buffer) Alias(p Pos, n int) Pos {
	s := &b.meta[p>>segBits]
	return b.addSegments(b.At(p)[:n:n], s.block, b.Writable(p))
}

// largeStitch is the size from which on stitched bytes get a block of their own.
const largeStitch = 4 << 10

// Stitch hands out n contiguous bytes like Place, at a position after all that were given so far.
func (b *Buffer) Stitch(n int) (Pos, []byte) {
	if n >= largeStitch {
		b.sealed = false
		return b.ownBlock(n)
	}
	p, mem := b.Place(n)
	return b.Alias(p, n), mem
}

// ownBlock returns n bytes in a block of their own, which is not the one at the tail, with their position.
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
	return b.addSegments(mem, block, true), mem
}

// TakeBack takes back the positions from p to end, where memory ends that nobody refers to from p on, if none were given since. (Those
// of p's own segment stay.)
func (b *Buffer) TakeBack(p, end Pos) {
	n := int(p>>segBits) + 1
	if int(end>>segBits) != len(b.segs)-1 {
		return
	}
	clear(b.segs[n:])
	clear(b.meta[n:])
	b.segs, b.meta = b.segs[:n], b.meta[:n]
}
