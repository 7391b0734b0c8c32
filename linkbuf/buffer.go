package linkbuf

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// Buffer holds the bytes of one message as a chain of pieces of memory. The zero Buffer is an
// empty message that does not recycle. A copy of a used Buffer is the same message.
type Buffer struct{ c *content }

// content is the message of a Buffer, shared by all copies of the Buffer.
type content struct {
	pieces  []piece
	size    int  // of the message, in bytes
	recycle bool // blocks are from the pools

	tail    []byte // the block that is filled
	used    int    // how much of it is in use
	tailMem *block // the memory that tail is in
	open    bool   // the last piece is tail[start:used] and grows when something is appended
	start   int
	next    int // size of the next block

	held  []*block // the memory of the pieces and of the tail, once for each hold
	spare []*block // not in use, for the next message

	busy atomic.Int32 // how many Readers and Writers are using the memory now
}

// piece is a part of the message that is contiguous in memory, never empty.
type piece struct {
	mem []byte
	end int    // offset in the message at which it ends
	in  *block // the memory that mem is in; nil if it is the caller's
}

const (
	firstBlock = 1 << 10  // size of a Buffer's first block
	blockSize  = 32 << 10 // blocks double until they are as large
	largeBlock = 1 << 20  // within a large message, blocks double until they are as large as this
	leastRest  = 512      // bytes of a block that are worth filling by the next message
	copyBelow  = 256      // smaller pieces are copied, not referred to
	readFirst  = 64 << 10 // how much memory ReadN allocates before the first byte has arrived
	readMore   = 4        // then it allocates this many times as much as has arrived
	minRecycle = 4 << 10  // the smallest block of the pools
	tooLarge   = "linkbuf: message larger than MaxSize"
)

// content returns the content of b. It makes one if b has none.
func (b *Buffer) content() *content {
	if b.c == nil {
		b.c = new(content)
	}
	return b.c
}

// Reset empties the Buffer as Free does. With recycle, the next messages take their blocks from
// pools. The blocks return there when the last Buffer that holds them is freed. Slices that alias
// them must not be used afterwards: they would show, or change, another message. Without recycle,
// the garbage collector frees the blocks.
func (b *Buffer) Reset(recycle bool) {
	c := b.content()
	c.empty()
	if c.recycle != recycle {
		c.recycle = recycle
		c.dropTail()
	}
}

// Free empties the Buffer and gives up its memory. The Buffer is then ready for the next message,
// and recycles or not as before. It must not be freed while it is being written.
func (b *Buffer) Free() {
	if b.c != nil {
		b.c.empty()
	}
}

// empty removes all bytes and gives up all memory, except the rest of a block that does not
// recycle.
func (c *content) empty() {
	if c.busy.Load() > 0 {
		panic("linkbuf: Buffer freed while it is written or read into")
	}
	clear(c.pieces)
	c.pieces = c.pieces[:0]
	if cap(c.pieces) > mostKept {
		c.pieces = nil
	}
	c.letGo()
	c.size, c.open = 0, false
	c.next = min(c.next, blockSize)
	if rest := c.tail[c.used:]; !c.recycle && len(rest) >= leastRest && len(c.tail) <= blockSize {
		c.tail, c.used = rest, 0
		c.tailMem = c.hold(memory.Chunk{}, false)
		return
	}
	c.dropTail()
}

// dropTail makes the next append get a new block.
func (c *content) dropTail() { c.tail, c.used, c.tailMem, c.open = nil, 0, nil, false }

// room returns n bytes of the Buffer's own memory, contents undefined. They are in tailMem, and
// not yet in any piece.
func (c *content) room(n int) []byte {
	if n > len(c.tail)-c.used {
		c.newTail(n)
	}
	c.used += n
	return c.tail[c.used-n : c.used : c.used]
}

// newTail gets a block of at least n bytes to be filled next.
func (c *content) newTail(n int) {
	least := firstBlock
	if c.recycle {
		least = minRecycle
	}
	size := max(n, c.next, least)
	c.next = min(2*size, largeBlock)
	if c.size < largeBlock {
		c.next = min(c.next, blockSize)
	}
	chunk := memory.NewChunk(size, c.recycle)
	c.tail, c.used, c.open = chunk.Mem, 0, false
	c.tailMem = c.hold(chunk, c.recycle)
}

// mustFit panics if the message cannot become n bytes longer.
func (c *content) mustFit(n int) {
	if n < 0 {
		panic(fmt.Sprintf("linkbuf: negative count %d", n))
	}
	if n > MaxSize-c.size {
		panic(tooLarge)
	}
}

// extend appends n bytes, contents undefined, and returns them.
func (c *content) extend(n int) []byte {
	c.mustFit(n)
	if n == 0 {
		return nil
	}
	mem := c.room(n)
	if !c.open {
		c.start = c.used - n
		c.add(mem, c.tailMem)
		c.open = true
		return mem
	}
	c.size += n
	last := &c.pieces[len(c.pieces)-1]
	last.mem, last.end = c.tail[c.start:c.used:c.used], c.size
	return mem
}

// add appends a piece. The Buffer holds its memory, in; if in is nil, the memory is the caller's.
func (c *content) add(mem []byte, in *block) {
	c.size += len(mem)
	c.pieces = append(c.pieces, piece{mem[:len(mem):len(mem)], c.size, in})
	c.open = false
}

// Write appends a copy of p. It returns len(p) and no error. Like all methods that append, it
// panics if the message would be larger than [MaxSize].
func (b *Buffer) Write(p []byte) (int, error) { return copy(b.content().extend(len(p)), p), nil }

// WriteString appends a copy of s. It returns len(s) and no error.
func (b *Buffer) WriteString(s string) (int, error) {
	return copy(b.content().extend(len(s)), s), nil
}

// WriteByte appends v. It returns no error.
func (b *Buffer) WriteByte(v byte) error {
	b.content().extend(1)[0] = v
	return nil
}

// Extend appends n contiguous zero bytes and returns them. They must be filled before the Buffer
// is used again. They alias the message.
func (b *Buffer) Extend(n int) []byte {
	mem := b.content().extend(n)
	clear(mem)
	return mem
}

// Refer appends p without copying it, unless it is shorter than 256 bytes. The Buffer never stores
// into p. p must not change until the Buffer, and all Buffers that share from it, are freed.
func (b *Buffer) Refer(p []byte) {
	c := b.content()
	c.mustFit(len(p))
	if len(p) < copyBelow {
		copy(c.extend(len(p)), p)
		return
	}
	c.add(p, nil)
}

// Share appends the bytes [from, to) of src without copying, except pieces shorter than 256 bytes.
// Both Buffers then hold the memory. Changes of one do not show in the other. src may be b.
func (b *Buffer) Share(src *Buffer, from, to int) {
	if src == nil {
		panic("linkbuf: share from a nil Buffer")
	}
	c := b.content()
	src.mustHave(from, to)
	c.mustFit(to - from)
	for from < to {
		p := src.c.pieces[src.c.find(from)]
		mem := p.mem[len(p.mem)-(p.end-from):]
		mem = mem[:min(len(mem), to-from)]
		from += len(mem)
		if len(mem) < copyBelow {
			copy(c.extend(len(mem)), mem)
			continue
		}
		if p.in != nil {
			c.holdAgain(p.in)
		}
		c.add(mem, p.in)
	}
}

// ReadN reads n bytes from r and appends them. Memory grows to at most 5 times the bytes that have
// arrived, even for a large n. If n is negative, or too large for the message, the error is
// [ErrFrameSize]. If fewer bytes come, it is io.ErrUnexpectedEOF. After an error, or if r panics,
// nothing is appended.
func (b *Buffer) ReadN(r io.Reader, n int) error {
	c := b.content()
	if n < 0 || n > MaxSize-c.size {
		return fmt.Errorf("%w: %d", ErrFrameSize, n)
	}
	if n > 0 && r == nil {
		panic("linkbuf: nil Reader")
	}
	c.busy.Add(1)
	size, got := c.size, 0
	defer func() {
		c.busy.Add(-1)
		if got < n { // an error, or r has panicked
			b.Replace(size, c.size, nil)
		}
	}()
	for got < n {
		step := min(n-got, max(readMore*got, readFirst))
		if _, err := memory.ReadFull(r, c.extend(step)); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		got += step
	}
	return nil
}
