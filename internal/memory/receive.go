package memory

import (
	"io"
	"math"
	"math/bits"
)

// Receiver reads bytes from a stream and returns them as Chunks that alias its memory, one Chunk
// per message. It is for one goroutine.
//
// Arriving bytes are contiguous until Cut ends a piece, which stays in its place. When contiguous
// bytes have filled their block, they move to another one: at most three times, and at most a 31st
// of the expected bytes.
type Receiver struct {
	mem      []byte
	block    *Block
	from, to int  // mem[from:to] has arrived and was not taken or cut
	big      bool // mem is in a block larger than a slab, to be given up after this chunk
	rest     slabRest
	size     int // of the next block
	recycle  bool
	large    bool // the last chunk taken was large

	late error // error of the last Read that returned bytes, too; the next Fill returns it

	// Idle says that no message has begun: Fill may give up memory while it waits. Within a message
	// that would cost more than it saves.
	Idle bool

	want, most int   // what fill was called with
	shares     bool  // mem comes from slabs and goes there while nothing arrives
	slot       *slab // for putting mem there

	pieces Chunk  // the pieces that Cut has ended, until Take returns them
	last   *Chunk // the last of pieces; nil if there are none
	cut    int    // bytes in pieces
}

// slabRest is the unused end of a block, left when a large chunk came next and got a block of its
// own.
type slabRest struct {
	mem   []byte
	block *Block
	big   bool
}

// Reset empties the Receiver. It must be called before the first use. With recycle, memory comes
// from pools.
func (r *Receiver) Reset(recycle bool) {
	r.Free()
	*r = Receiver{size: firstSlab, recycle: recycle}
}

// Free gives up the memory and the bytes in it.
func (r *Receiver) Free() {
	if r.last != nil {
		r.pieces.Release()
		r.pieces, r.last, r.cut = Chunk{}, nil, 0
	}
	r.dropBlock()
	r.dropRest()
}

func (r *Receiver) dropBlock() {
	if r.block != nil {
		r.block.release()
	}
	r.mem, r.block, r.from, r.to, r.big = nil, nil, 0, 0, false
}

func (r *Receiver) dropRest() {
	if r.rest.block != nil {
		r.rest.block.release()
	}
	r.rest = slabRest{}
}

// Bytes returns the bytes that have arrived and were neither taken nor cut. They are valid until
// the next Fill or Take.
func (r *Receiver) Bytes() []byte { return r.mem[r.from:r.to] }

// Arrived returns the number of bytes that have arrived and were not taken.
func (r *Receiver) Arrived() int { return r.cut + r.to - r.from }

// Fits reports whether the current block has room for n bytes, including Bytes.
func (r *Receiver) Fits(n int) bool { return n <= len(r.mem)-r.from }

// Fill reads from src once, at least one byte. An error that comes together with bytes is returned
// by the next call, which does not read. want is the total number of contiguous bytes expected.
// Memory grows with the bytes that arrive: want makes Fill allocate at most 4 KiB, or 32 times the
// bytes of the chunk that have arrived.
func (r *Receiver) Fill(src io.Reader, want int) error { return r.fill(src, want, math.MaxInt) }

// FillTo reads from src until there are n Bytes, and at most ahead bytes more. It returns src's
// errors, but io.ErrUnexpectedEOF if src ends after some bytes that were not taken.
func (r *Receiver) FillTo(src io.Reader, n, ahead int) error {
	for len(r.Bytes()) < n {
		if err := r.fill(src, n, n-len(r.Bytes())+ahead); err != nil {
			if r.Arrived() > 0 {
				err = Unexpected(err)
			}
			return err
		}
	}
	return nil
}

// lateReader is a Reader that needs no memory while it waits.
type lateReader interface {
	// ReadLate is Read into memory that Room returns each time. It calls Vacate before it waits.
	ReadLate(interface {
		Room() []byte
		Vacate()
	}) (int, error)
}

// fill does what Fill does, and reads at most so many bytes.
func (r *Receiver) fill(src io.Reader, want, most int) error {
	if err := r.late; err != nil {
		r.late = nil
		return err
	}
	r.want, r.most = want, most
	var n int
	var err error
	if late, ok := src.(lateReader); ok {
		r.shares = !r.recycle
		n, err = late.ReadLate(r)
	} else {
		n, err = Read(src, r.Room())
	}
	if n > len(r.mem)-r.to { // Read has freed r
		return errCount
	}
	if r.to += n; n > 0 {
		r.late, err = err, nil // a Reader may not return it again
	}
	return err
}

// Room returns memory for the next bytes, which fill waits for.
func (r *Receiver) Room() []byte {
	if r.mem == nil && r.shares {
		r.slot = slabs.Get().(*slab)
		r.mem, r.slot.mem = r.slot.mem, nil
	}
	have := r.to - r.from
	if !Debugging && have == 0 && r.block != nil && r.block.refs.Load() == 1 && r.from > 0 {
		r.from, r.to = 0, 0 // nobody holds the taken bytes: reuse memory in the caches
	}
	if room := len(r.mem) - r.from; room <= have || room < r.want && r.want <= r.worth() {
		r.move(max(r.want, have+1))
	}
	into := r.mem[r.to:]
	if have == 0 && r.large && r.last == nil && len(into) > shortRead {
		into = into[:shortRead]
	}
	return into[:min(len(into), r.most)]
}

// Vacate gives memory up in which there are no bytes, until the next ones arrive, if the Receiver
// is Idle. Others can then use it.
func (r *Receiver) Vacate() {
	switch {
	case !r.Idle, r.Arrived() > 0, r.big: // the next message may be as large
		return
	case r.block != nil && r.block.refs.Load() > 1: // others hold a part of it
		return
	case r.slot != nil && len(r.mem)-r.from >= leastShared:
		r.slot.mem = r.mem[r.from:]
		slabs.Put(r.slot)
		r.slot = nil
	}
	r.dropBlock()
	r.dropRest()
}

// worth returns how much memory may be allocated for expected bytes.
func (r *Receiver) worth() int { return max(min(r.Arrived(), MaxSize/trust)*trust, Claim) }

// move moves Bytes to another block, which becomes the current one. It has room for want bytes in
// total, or for as many as may be allocated now; see stage.
func (r *Receiver) move(want int) {
	old, block, left := r.Bytes(), r.block, r.mem[r.from:]
	if n := len(old); want == n+1 { // the caller does not know how much will come
		want = max(want, 2*n)
	}
	oldBig := r.big
	size, own := r.nextSize(want)
	switch {
	case own:
		if useful := !oldBig || r.last != nil; useful && len(left) > len(r.rest.mem) && len(left) >= r.blockSize()/restPart {
			// left is free once the bytes have been copied out of it.
			block, r.rest = r.rest.block, slabRest{left, block, oldBig}
		}
		r.newBlock(size)
		r.mem = r.mem[:size:size]
	case len(r.rest.mem) >= max(want, size/restPart):
		r.mem, r.block, r.big = r.rest.mem, r.rest.block, r.rest.big
		r.rest = slabRest{}
	default:
		r.newBlock(size)
	}
	copy(r.mem, old)
	r.from, r.to = 0, len(old)
	if block != nil {
		block.release()
	}
}

// nextSize returns the size of the block for want bytes, and whether the block is for them alone.
func (r *Receiver) nextSize(want int) (size int, own bool) {
	size = r.blockSize()
	if r.last != nil && want > size/8 || want > large {
		if want < SlabSize && r.cut >= want { // for two: Go allocates whole pages
			return 2 * want, true
		}
		return stage(want, r.worth(), trust), true
	}
	for worth := r.worth(); size < want && size < worth; size *= 2 { // the first slabs are small
	}
	return size, false
}

// stage returns how much memory to allocate for want bytes if at most worth may be allocated: want
// divided by step as often as needed. When that many bytes have arrived, step times as many may be
// allocated.
func stage(want, worth, step int) int {
	for want > worth {
		want = (want + step - 1) / step
	}
	return want
}

// blockSize returns the size of the next block for bytes that need not be contiguous. It grows
// with the chunk: a slab at first, then a 16th of the bytes that were cut before. It is at most 1
// MiB, or a 64th of these bytes if that is more.
func (r *Receiver) blockSize() int {
	switch {
	case r.last == nil:
		return r.size
	case r.cut < 16*SlabSize:
		return SlabSize
	}
	return max(min(r.cut/16, MaxSlabSize), 1<<(bits.Len(uint(r.cut/64))-1))
}

func (r *Receiver) newBlock(size int) {
	if r.last == nil && r.size <= size && (r.mem != nil || !r.recycle) { // else it was vacated
		r.size = min(2*size, SlabSize)
	}
	r.big = size > SlabSize
	if !r.recycle {
		r.mem, r.block = fresh(size), nil
		return
	}
	r.block = newReceived(size)
	r.mem = r.block.mem
}

// New returns a chunk of n bytes, contents undefined, in the same kind of memory as other chunks.
func (r *Receiver) New(n int) Chunk { return NewChunk(n, r.recycle) }

// Copy returns a chunk with a copy of mem, in the same kind of memory as other chunks.
func (r *Receiver) Copy(mem []byte) Chunk {
	c := r.New(len(mem))
	CopyWarm(c.Mem, mem)
	return c
}

// Skip drops the first n of Bytes, which nobody may refer to any more if they are all bytes: the
// next ones are then read into their place.
func (r *Receiver) Skip(n int) {
	if n == r.to-r.from {
		r.to = r.from
		return
	}
	r.from += n
}

// Cut makes the first n of Bytes a piece of the chunk that Take will return. They stay in their
// place, and need not be contiguous with the next bytes.
func (r *Receiver) Cut(n int) {
	if n == 0 {
		return
	}
	r.cut += n
	r.add(r.piece(n))
}

// Hold returns Bytes as a Chunk, which holds their block, and does not take them. Take them before
// the next Fill, or release the chunk.
func (r *Receiver) Hold() Chunk {
	c := r.piece(r.to - r.from)
	r.from -= len(c.Mem)
	return c
}

func (r *Receiver) add(c Chunk) {
	if r.last == nil {
		r.pieces = c
		r.last = &r.pieces
		return
	}
	r.last.next = &c
	r.last = &c
}

// piece returns the first n of Bytes as a Chunk, which holds their block.
func (r *Receiver) piece(n int) Chunk {
	mem := r.mem[r.from : r.from+n : r.from+n]
	r.from += n
	if r.block != nil {
		r.block.retain()
	}
	return Chunk{Mem: mem, block: r.block}
}

// Take returns the pieces that were cut and the first n of Bytes, in one Chunk.
func (r *Receiver) Take(n int) Chunk {
	c := r.piece(n)
	r.large = r.cut+n >= large
	if r.last != nil || r.big {
		return r.takeLarge(c)
	}
	return c
}

// takeLarge returns the pieces that were cut, if any, followed by c, in one Chunk. If c is in a
// large block, the Receiver gives that block up.
func (r *Receiver) takeLarge(c Chunk) Chunk {
	if r.last != nil {
		r.add(c)
		c = r.pieces
		r.pieces, r.last, r.cut = Chunk{}, nil, 0
	}
	if r.rest.big {
		r.dropRest()
	}
	if have := r.to - r.from; r.big && have == 0 {
		r.dropBlock()
	} else if r.big && have <= SlabSize/2 { // the beginning of the next chunk
		old, block := r.Bytes(), r.block
		r.newBlock(SlabSize)
		r.from, r.to = 0, copy(r.mem, old)
		if block != nil {
			block.release()
		}
	}
	return c
}
