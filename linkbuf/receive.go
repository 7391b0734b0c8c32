package linkbuf

import (
	"fmt"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// Receiver receives bytes from a stream and passes them to Buffers without copying. The zero
// Receiver does not recycle. Only one goroutine at a time may use a Receiver. A copy of a used
// Receiver is the same Receiver.
type Receiver struct{ c *incoming }

// incoming is the state of a Receiver, shared by all its copies.
type incoming struct {
	memory.Receiver
	recycle bool
	filling bool // during Fill
}

func (r *Receiver) incoming() *incoming {
	if r.c == nil {
		r.c = new(incoming)
		r.c.Reset(false)
	}
	if r.c.filling {
		panic("linkbuf: Receiver used by the Reader that it reads from")
	}
	return r.c
}

// Reset drops bytes that have arrived and were not taken. With recycle, memory comes from pools;
// see [Buffer.Reset].
func (r *Receiver) Reset(recycle bool) {
	c := r.incoming()
	c.Reset(recycle)
	c.recycle = recycle
}

// Free drops bytes that have arrived and were not taken, and gives up their memory. The Receiver
// may be used again.
func (r *Receiver) Free() {
	r.incoming().Free()
}

// Bytes returns the bytes that have arrived and were neither taken nor skipped, in one piece. They
// alias the Receiver's memory until the next call of another method. They must not be changed.
func (r *Receiver) Bytes() []byte {
	if r.c == nil {
		return nil
	}
	mem := r.c.Bytes()
	return mem[:len(mem):len(mem)]
}

// Fill reads from src once, at least one byte. want is the number of bytes that Bytes should have
// in the end, for example from the head of a message, or 0 if that is unknown. Memory grows with
// the bytes that have arrived: want alone reserves at most 4 KiB, or 32 times what has arrived.
func (r *Receiver) Fill(src io.Reader, want int) error {
	if src == nil {
		panic("linkbuf: nil Reader")
	}
	c := r.incoming()
	c.filling = true
	defer func() { c.filling = false }()
	return c.Receiver.Fill(src, max(0, min(want, MaxSize)))
}

// Skip skips the first n of Bytes.
func (r *Receiver) Skip(n int) {
	r.mustHave(n)
	r.incoming().Skip(n)
}

// Take moves the first n of Bytes to the end of b, which then holds their memory. It copies them
// if they are fewer than 256.
func (r *Receiver) Take(b *Buffer, n int) {
	r.mustHave(n)
	if b == nil {
		panic("linkbuf: nil Buffer")
	}
	from, to := r.incoming(), b.content()
	to.mustFit(n)
	if n < copyBelow {
		copy(to.extend(n), from.Bytes())
		from.Skip(n)
		return
	}
	chunk := from.Take(n)
	to.add(chunk.Mem, to.hold(chunk, from.recycle))
}

// mustHave panics unless n bytes have arrived.
func (r *Receiver) mustHave(n int) {
	if have := len(r.Bytes()); n < 0 || n > have {
		panic(fmt.Sprintf("linkbuf: %d of %d bytes that have arrived", n, have))
	}
}
