package linkbuf

import "io"

// Chunk is a stretch of received bytes that belongs to whoever took it, alone: they may be stored into.
// Without a recycled block its memory is the garbage collector's.
type Chunk struct {
	Mem   []byte
	block *Block
}

// Release gives the chunk back, unless a Buffer has taken it over. Mem must not be used any more if it was recycled.
func (c Chunk) Release() {
	if c.block != nil {
		c.block.release()
	}
}

// From returns the rest of the chunk from n on as one of its own. Both are held from then on.
func (c Chunk) From(n int) Chunk {
	if c.block != nil {
		c.block.retain()
	}
	return Chunk{c.Mem[n:], c.block}
}

// AddChunk gives a chunk's memory a position, without copying. The Buffer takes the chunk over. A Buffer that
// does not recycle can only take chunks that are not recycled either.
func (b *Buffer) AddChunk(c Chunk) Pos {
	if c.block != nil {
		if !b.recycle {
			panic("nocopy: recycled memory in a message that does not recycle")
		}
		b.held = append(b.held, c.block)
	}
	p := b.addSegments(c.Mem, c.block, true)
	if p == segSize {
		b.flat = c.Mem
	}
	return p
}

const (
	// firstSlab is the memory that a Receiver begins with; it doubles when used up, until it is SlabSize.
	firstSlab = 4 << 10

	// trust is how many times as much memory as has arrived a promise of bytes is worth.
	trust = 32

	// largeTaken is the size of a chunk from which on the next one is expected to be large too: then only
	// shortRead bytes of it are read at first, since they will have to be moved.
	largeTaken = 24 << 10
	shortRead  = 4 << 10
)

// Receiver takes bytes in from a stream, in contiguous memory, and hands out what belongs together as Chunks that
// alias that memory. It is for one goroutine.
type Receiver struct {
	mem      []byte
	block    *Block
	from, to int // what has arrived in mem and was not taken
	rest     slabRest
	slab     int // size of the next block
	recycle  bool
	large    bool // what was taken last
}

// slabRest is the unused end of the slab that was left for a block made for one large message.
type slabRest struct {
	mem   []byte
	block *Block
}

// Reset prepares the Receiver. With recycle its memory comes from pools.
func (r *Receiver) Reset(recycle bool) {
	r.Free()
	*r = Receiver{slab: firstSlab, recycle: recycle}
}

// Free gives up the memory with what has arrived in it.
func (r *Receiver) Free() {
	for _, b := range []*Block{r.block, r.rest.block} {
		if b != nil {
			b.release()
		}
	}
	r.mem, r.block, r.from, r.to, r.rest = nil, nil, 0, 0, slabRest{}
}

// Bytes returns what has arrived and was not taken. It is valid until the next Fill.
func (r *Receiver) Bytes() []byte { return r.mem[r.from:r.to] }

// Fill reads once from src, at least one byte, with room for want bytes in all where that many are expected.
// A promise alone makes no memory grow: it is worth 64 KiB, or 32 times what has arrived.
func (r *Receiver) Fill(src io.Reader, want int) error {
	have := r.to - r.from
	if !debugging && have == 0 && r.block != nil && r.block.refs.Load() == 1 && r.from > 0 {
		r.from, r.to = 0, 0 // nobody holds what was taken: stay where it is warm
	}
	if room := len(r.mem) - r.from; room <= have || room < want && room < r.worth(have, want) {
		r.move(want)
	}
	into := r.mem[r.to:]
	if have == 0 && r.large && len(into) > shortRead {
		into = into[:shortRead]
	}
	for range 100 {
		n, err := src.Read(into)
		r.to += n
		if n > 0 {
			return nil // an error will come again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// worth is how much memory want bytes get when have bytes of them have arrived.
func (r *Receiver) worth(have, want int) int {
	return min(want, max(have*trust, SlabSize))
}

// move goes on in another block, with room for what has arrived and more.
func (r *Receiver) move(want int) {
	have := r.to - r.from
	old, block := r.Bytes(), r.block
	size := max(r.slab, r.worth(have, max(want, have+1)), have+min(have, SlabSize))
	switch {
	case size == r.slab && len(r.rest.mem) >= max(have+1, min(want, size), shortRead):
		r.mem, r.block = r.rest.mem, r.rest.block
		r.rest = slabRest{}
	case size == r.slab:
		r.slab = min(2*r.slab, SlabSize)
		r.newBlock(size)
	default:
		if left := r.mem[r.from:]; len(left) > len(r.rest.mem) && len(left) >= shortRead {
			block, r.rest = r.rest.block, slabRest{left, block} // what has arrived is copied from there, then it is free
		}
		r.newBlock(size)
	}
	copy(r.mem, old)
	r.from, r.to = 0, have
	if block != nil {
		block.release()
	}
}

func (r *Receiver) newBlock(size int) {
	if !r.recycle {
		r.mem, r.block = fresh(size), nil
		return
	}
	r.block = newBlock(size)
	r.mem = r.block.mem
}

// Skip passes over n of the bytes that have arrived.
func (r *Receiver) Skip(n int) { r.from += n }

// Take hands out the next n of the bytes that have arrived.
func (r *Receiver) Take(n int) Chunk {
	mem := r.mem[r.from : r.from+n : r.from+n]
	r.from += n
	r.large = n >= largeTaken
	if r.block != nil {
		r.block.retain()
	}
	return Chunk{mem, r.block}
}
