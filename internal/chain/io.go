package chain

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// WriteTo writes the message, by writev if w is a connection that supports it. The Buffer must be
// sealed.
func (b *Buffer) WriteTo(w io.Writer) (int64, error) {
	if len(b.pieces) == 1 { // as write, without Stats: saves a 70th of building a small message
		n, err := writeAll(w, b.mem(b.pieces[0]))
		return int64(n), err
	}
	s, err := b.write(w, nil, 0)
	return int64(s.Bytes), err
}

// WriteFrame writes the length of the message as a big-endian int32, then the message. The Buffer
// must be sealed. Stats.Bytes includes the length.
func (b *Buffer) WriteFrame(w io.Writer) (Stats, error) {
	if b.size > math.MaxInt32 {
		return Stats{}, ErrFrameSize
	}
	if b.framed {
		return b.write(w, nil, frameHeader)
	}
	var head [frameHeader]byte
	binary.BigEndian.PutUint32(head[:], uint32(b.size))
	return b.write(w, head[:], 0)
}

// Write writes head and the message: by writev if w is a TCP or Unix connection, with pieces below
// 1 KiB copied together and at most 1024 pieces at a time. For other Writers, such as TLS
// connections, it copies pieces together to 64 KiB at a time, and writes a piece of 64 KiB or more
// without copying. The Buffer must be sealed. Write does not keep head. Stats.Bytes is the number
// of bytes written, even after an error.
func (b *Buffer) Write(w io.Writer, head []byte) (Stats, error) { return b.write(w, head, 0) }

// write writes head, the lead bytes of headroom before the first piece, and the message. See
// Write.
func (b *Buffer) write(w io.Writer, head []byte, lead Pos) (Stats, error) {
	if len(head) == 0 && len(b.pieces) == 1 {
		p := b.pieces[0]
		return writeAlone(w, b.mem(piece{p.from - lead, p.to}), false)
	}
	g := gathererFor(w)
	defer g.free()
	g.copied = append(g.copied, head...)
	for i, p := range b.pieces {
		b.loadNext(b.pieces, i)
		p.from -= lead
		lead = 0
		g.add(b.mem(p), false)
	}
	return g.end()
}

// ErrFrameSize is the error for a frame whose length is negative or above the limit.
var ErrFrameSize = errors.New("linkbuf: frame length out of range")

// ReadN reads n bytes from r into contiguous memory of the Buffer's own, and returns the
// memory and its position. Few bytes take memory of their size. Other memory grows as a
// Receiver's does: by at most 64 KiB, or 32 times the bytes that have arrived. If there are
// fewer than n bytes, the error is io.ErrUnexpectedEOF.
func (b *Buffer) ReadN(r io.Reader, n int) (Pos, []byte, error) {
	if n <= SlabSize {
		b.Fit(n)
		p, mem := b.Place(n)
		_, err := ReadFull(r, mem)
		return p, mem, unexpected(err)
	}
	var in Receiver
	in.Reset(b.recycle)
	defer in.Free()
	if err := in.FillTo(r, n, 0); err != nil {
		return 0, nil, unexpected(err)
	}
	c := in.Take(n)
	return b.AddChunk(c), c.Mem, nil
}

// errCount is the error for a Reader or Writer that returns an impossible count of bytes.
var errCount = errors.New("linkbuf: a Reader or Writer returned an impossible count")

// ReadFull fills mem from r and returns the number of bytes read. It returns the errors of
// io.ReadFull, and two more: one for a Reader that returns impossible counts, and io.ErrNoProgress
// for a Reader that keeps returning no bytes and no error.
func ReadFull(r io.Reader, mem []byte) (int, error) {
	got := 0
	for got < len(mem) {
		n, err := read(r, mem[got:])
		if got += n; err != nil && got < len(mem) {
			if got > 0 {
				err = unexpected(err)
			}
			return got, err
		}
	}
	return got, nil
}

// read reads into mem once, at least one byte unless there is an error.
func read(r io.Reader, mem []byte) (int, error) {
	for range mostEmpty {
		switch n, err := r.Read(mem); {
		case uint(n) > uint(len(mem)):
			return 0, errCount
		case n > 0 || err != nil:
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// unexpected returns err, or io.ErrUnexpectedEOF instead of io.EOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// mostEmpty is how many reads in a row may return nothing.
const mostEmpty = 100
