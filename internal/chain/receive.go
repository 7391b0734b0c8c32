package chain

import (
	"io"
	"math/bits"

	"github.com/nocopythrift/nocopythrift/internal/spare"
)

// Chunk is a piece of memory with received bytes, and those pieces that come after it. They
// belong to the one who has taken them from a Receiver, and may be stored into. Without a block,
// the garbage collector owns the memory.
type Chunk struct {
	Mem   []byte
	block *Block
	next  *Chunk
}

// NewChunk returns a chunk of n bytes, contents undefined. With recycle, its memory comes from
// pools.
func NewChunk(n int, recycle bool) Chunk {
	if !recycle {
		return Chunk{Mem: fresh(n)}
	}
	b := newReceived(n)
	return Chunk{Mem: b.mem[:n:n], block: b}
}

// Next returns the piece after c, with those after it; nil if there is none.
func (c Chunk) Next() *Chunk { return c.next }

// Len returns how many bytes all pieces have together.
func (c Chunk) Len() int {
	n := len(c.Mem)
	for p := c.next; p != nil; p = p.next {
		n += len(p.Mem)
	}
	return n
}

// Release gives back the memory of all pieces. It must not be called if a Buffer has taken the
// chunk over. Recycled memory must not be used any more then.
func (c Chunk) Release() {
	if c.block != nil {
		c.block.release()
	}
	for p := c.next; p != nil; p = p.next {
		if p.block != nil {
			p.block.release()
		}
	}
}

// From returns the rest of the chunk from its byte n on, which is in its first piece. Both the
// chunk and its rest have to be released.
func (c Chunk) From(n int) Chunk {
	if c.block != nil {
		c.block.retain()
	}
	for p := c.next; p != nil; p = p.next {
		if p.block != nil {
			p.block.retain()
		}
	}
	return Chunk{c.Mem[n:], c.block, c.next}
}

// AddChunk gives the memory of a chunk of one piece a position, without copying, and takes the
// chunk over. A Buffer that does not recycle can only take chunks that are not recycled either.
func (b *Buffer) AddChunk(c Chunk) Pos {
	b.hold(c)
	p := b.addSegments(c.Mem, segment{block: c.block, writable: c.writable()})
	if p == segSize {
		b.flat = c.Mem
	}
	return p
}

// Hold takes over a chunk of any number of pieces, which get no positions yet: AddHeld gives them.
func (b *Buffer) Hold(c Chunk) {
	b.hold(c)
	for p := c.next; p != nil; p = p.next {
		b.hold(*p)
	}
}

// AddHeld gives a position to c, a piece of a chunk that Hold has taken over, from its byte n on.
func (b *Buffer) AddHeld(c Chunk, n int) Pos {
	return b.addSegments(c.Mem[n:], segment{block: c.block, writable: c.writable()})
}

// writable returns 1 if a Buffer that takes the chunk over may store into it, else 0.
func (c Chunk) writable() uint32 { return asUint32(c.block == nil || !c.block.readOnly) }

func (b *Buffer) hold(c Chunk) {
	if c.block == nil {
		return
	}
	if !b.recycle {
		panic("nocopy: recycled memory in a message that does not recycle")
	}
	b.held = append(b.held, c.block)
}

const (
	// firstSlab is the size of a Receiver's first block. Blocks double until they have SlabSize.
	firstSlab = 4 << 10

	// trust is how many times as much memory as has arrived is allocated when that many bytes are
	// expected.
	trust = 32

	// large is the size from which on contiguous bytes that do not fit into the current block get
	// a block of their own: too much of a slab would stay unused. After a chunk of that size the
	// next one is expected to be large, too. Only shortRead bytes of it are read at first, since
	// they will have to be moved.
	large     = 24 << 10
	shortRead = 4 << 10

	// restPart: the rest of an old block is used instead of a new one if it has at least a
	// restPart'th of its size.
	restPart = 32
)

// Receiver reads bytes from a stream and hands them out as Chunks that alias its memory, one
// Chunk for all that belong together. It is for one goroutine.
//
// What arrives is contiguous until Cut ends a piece, which stays where it is. What is contiguous
// moves when it has filled its block: at most twice, and at most a 32nd of what was expected.
type Receiver struct {
	mem      []byte
	block    *Block
	from, to int  // mem[from:to] has arrived and was not taken or cut
	big      bool // mem is in a block larger than a slab, which is given up after this chunk
	rest     slabRest
	slab     int // size of the next block
	recycle  bool
	large    bool // the chunk that was taken last was large

	late error // came with the bytes that were read last; the next Fill returns it

	pieces Chunk  // the pieces that Cut has ended, until Take returns them
	last   *Chunk // the last of pieces; nil if there are none
	cut    int    // bytes in pieces
}

// slabRest is the unused end of a block: something large came next and got a block of its own.
type slabRest struct {
	mem   []byte
	block *Block
	big   bool
}

// Reset empties the Receiver. It must be called before the first use. With recycle, memory comes
// from pools.
func (r *Receiver) Reset(recycle bool) {
	r.Free()
	*r = Receiver{slab: firstSlab, recycle: recycle}
}

// Free gives up the memory, with what has arrived in it.
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

// Bytes returns what has arrived and was not taken or cut. It is valid until the next Fill or
// Take.
func (r *Receiver) Bytes() []byte { return r.mem[r.from:r.to] }

// Arrived returns how many bytes have arrived that were not taken.
func (r *Receiver) Arrived() int { return r.cut + r.to - r.from }

// Fits reports whether the block that is being filled has room for n bytes, those of Bytes
// included.
func (r *Receiver) Fits(n int) bool { return n <= len(r.mem)-r.from }

// Fill reads from src once, at least one byte. An error that comes together with bytes is returned
// by the next call, which does not read. want is how many contiguous bytes are expected in
// all. Memory grows with what has arrived: want makes Fill allocate at most 64 KiB, or 32 times
// what has arrived of the chunk.
func (r *Receiver) Fill(src io.Reader, want int) error {
	if err := r.late; err != nil {
		r.late = nil
		return err
	}
	have := r.to - r.from
	if !debugging && have == 0 && r.block != nil && r.block.refs.Load() == 1 && r.from > 0 {
		r.from, r.to = 0, 0 // nobody holds what was taken: stay where it is warm
	}
	if room := len(r.mem) - r.from; room <= have || room < want && want <= r.worth() {
		r.move(max(want, have+1))
	}
	into := r.mem[r.to:]
	if have == 0 && r.large && r.last == nil && len(into) > shortRead {
		into = into[:shortRead]
	}
	for range mostEmpty {
		n, err := src.Read(into)
		if uint(n) > uint(len(into)) || n > len(r.mem)-r.to { // the second if Read has freed r
			return errCount
		}
		r.to += n
		if n > 0 {
			r.late = err // a Reader need not return it again
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// worth returns how much memory may be allocated because of what is expected.
func (r *Receiver) worth() int { return max(min(r.Arrived(), MaxSize/trust)*trust, SlabSize) }

// move makes another block the current one, with room for what has arrived and more: for want
// bytes in all, or for as many as may be allocated now, see stage.
func (r *Receiver) move(want int) {
	old, block, left := r.Bytes(), r.block, r.mem[r.from:]
	if n := len(old); want == n+1 { // nobody knows how much will come
		want = max(want, 2*n)
	}
	oldBig := r.big
	size, own := r.nextSize(want)
	switch {
	case own:
		if useful := !oldBig || r.last != nil; useful && len(left) > len(r.rest.mem) && len(left) >= r.blockSize()/restPart {
			// What has arrived is copied from there, then it is free.
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

// nextSize returns the size of the block for want bytes, and whether it is to have nothing else
// in it.
func (r *Receiver) nextSize(want int) (size int, own bool) {
	size = r.blockSize()
	if r.last != nil && want > size/8 || want > large {
		if want < SlabSize && r.cut >= want { // for two: Go's memory is of whole pages
			return 2 * want, true
		}
		return stage(want, r.worth(), trust), true
	}
	for size < want { // the first slabs are small
		size *= 2
	}
	return size, false
}

// stage returns how much memory to allocate for want bytes when at most worth may be allocated:
// want, or a step'th of it, or a step'th of that, and so on. When that many have arrived, step
// times as many may be allocated.
func stage(want, worth, step int) int {
	for want > worth {
		want = (want + step - 1) / step
	}
	return want
}

// blockSize returns the size of the next block for bytes that need not be contiguous. It grows
// with the chunk: a slab at first, then a 16th of the bytes that were cut before, but at most 1
// MiB, or a 64th of them if that is more.
func (r *Receiver) blockSize() int {
	switch {
	case r.last == nil:
		return r.slab
	case r.cut < 16*SlabSize:
		return SlabSize
	}
	return max(min(r.cut/16, MaxSlabSize), 1<<(bits.Len(uint(r.cut/64))-1))
}

func (r *Receiver) newBlock(size int) {
	if r.last == nil && r.slab <= size {
		r.slab = min(2*size, SlabSize)
	}
	r.big = size > SlabSize
	if r.big || r.last != nil {
		spare.Keep() // what the last large message has left is for this one
	}
	if !r.recycle {
		r.mem, r.block = fresh(size), nil
		return
	}
	r.block = newReceived(size)
	r.mem = r.block.mem
}

// Copy returns a chunk with a copy of mem, in memory as that of other chunks.
func (r *Receiver) Copy(mem []byte) Chunk {
	if len(mem) > SlabSize {
		spare.Keep() // as newBlock
	}
	c := NewChunk(len(mem), r.recycle)
	copyWarm(c.Mem, mem)
	return c
}

// Skip passes over n of the bytes that have arrived.
func (r *Receiver) Skip(n int) { r.from += n }

// Discard passes over n of the bytes that have arrived, which nobody has been given. If they are
// all, the next ones take their place.
func (r *Receiver) Discard(n int) {
	if n == r.to-r.from {
		r.to = r.from
		return
	}
	r.from += n
}

// Cut makes the next n of the bytes that have arrived a piece of the chunk that Take will return.
// They stay where they are, and need not be contiguous with what comes after.
func (r *Receiver) Cut(n int) {
	if n == 0 {
		return
	}
	r.cut += n
	r.add(r.piece(n))
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

// piece returns the next n bytes as a Chunk, which holds their block.
func (r *Receiver) piece(n int) Chunk {
	mem := r.mem[r.from : r.from+n : r.from+n]
	r.from += n
	if r.block != nil {
		r.block.retain()
	}
	return Chunk{Mem: mem, block: r.block}
}

// Take returns what was cut and the next n of the bytes that have arrived, in one Chunk.
func (r *Receiver) Take(n int) Chunk {
	c := r.piece(n)
	r.large = r.cut+n >= large
	if r.last != nil || r.big {
		return r.takeLarge(c)
	}
	return c
}

// takeLarge returns what was cut, if anything was, and c, the piece after it, in one Chunk. If c
// is in a large block, the Receiver gives that up.
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
	} else if r.big && have <= SlabSize/2 { // the beginning of what comes next
		old, block := r.Bytes(), r.block
		r.newBlock(SlabSize)
		r.from, r.to = 0, copy(r.mem, old)
		if block != nil {
			block.release()
		}
	}
	return c
}
