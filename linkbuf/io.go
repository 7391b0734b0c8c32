package linkbuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
)

const (
	// gatherBelow is the size up to which a piece is copied next to its neighbours before it is written:
	// an entry of its own costs the kernel about as much as copying this many bytes.
	gatherBelow = 1 << 10

	// gatherMost is the most bytes that are copied together before they are written.
	gatherMost = 256 << 10

	// maxPieces is how many pieces one writev takes.
	maxPieces = 1024
)

// Stats tells how a message went out: what was copied together and what was referred to.
type Stats struct {
	Bytes    int // in all
	Pieces   int // handed to the writer
	ByRef    int // of them, pieces of the chain themselves
	RefBytes int // bytes in those
}

// writer is the scratch of one WriteTo.
type writer struct {
	vec    [][]byte
	out    net.Buffers // what of vec is not written yet
	gather []byte
	stats  Stats
}

var writers = sync.Pool{New: func() any { return &writer{} }}

// WriteTo writes the message, by writev if w is a connection that can. The Buffer must be sealed.
func (b *Buffer) WriteTo(w io.Writer) (int64, error) {
	if len(b.pieces) == 1 { // as write does, but without Stats: a 70th of building a small message
		n, err := writeAll(w, b.mem(b.pieces[0]))
		return int64(n), err
	}
	s, err := b.write(w, nil, 0)
	return int64(s.Bytes), err
}

// WriteFrame writes the message behind its length as a big-endian int32: a frame. The Buffer must be
// sealed. Stats.Bytes counts the length too.
func (b *Buffer) WriteFrame(w io.Writer) (Stats, error) {
	if b.size > math.MaxInt32 {
		return Stats{}, errors.New("linkbuf: message too large for a frame")
	}
	if b.framed {
		return b.write(w, nil, frameHeader)
	}
	var head [frameHeader]byte
	binary.BigEndian.PutUint32(head[:], uint32(b.size))
	return b.write(w, head[:], 0)
}

// Write writes head and the message. Pieces below 1 KiB are copied together, larger ones are handed to w as
// they are, at most 1024 at a time. The Buffer must be sealed; head is not kept. Stats.Bytes says how much
// was written, also after an error.
func (b *Buffer) Write(w io.Writer, head []byte) (Stats, error) { return b.write(w, head, 0) }

// write is Write with lead bytes of the headroom in front of the first piece.
func (b *Buffer) write(w io.Writer, head []byte, lead Pos) (Stats, error) {
	if len(head) == 0 && len(b.pieces) == 1 {
		p := b.pieces[0]
		n, err := writeAll(w, b.mem(piece{p.from - lead, p.to}))
		return Stats{Bytes: n, Pieces: 1, ByRef: 1, RefBytes: n}, err
	}
	if b.size < gatherBelow {
		return b.writeTogether(w, head, lead)
	}
	sc := writers.Get().(*writer)
	defer sc.free()
	sc.stats = Stats{}
	sc.reserve(b.pieces, len(head)+int(lead))
	sc.gather = append(sc.gather, head...)
	from := 0 // where in gather the bytes begin that vec does not have yet
	for _, p := range b.pieces {
		p.from -= lead
		lead = 0
		mem := b.mem(p)
		small := len(mem) < gatherBelow
		if small && len(sc.gather)+len(mem) > cap(sc.gather) || len(sc.vec) >= maxPieces-1 {
			sc.flushGathered(from)
			if err := sc.write(w); err != nil {
				return sc.stats, err
			}
			sc.gather, from = sc.gather[:0], 0
		}
		if small {
			sc.gather = append(sc.gather, mem...)
			continue
		}
		from = sc.flushGathered(from)
		sc.vec = append(sc.vec, mem)
		sc.stats.ByRef++
		sc.stats.RefBytes += len(mem)
	}
	sc.flushGathered(from)
	err := sc.write(w)
	return sc.stats, err
}

// writeTogether is write of a message that is so small that all of it is copied together.
func (b *Buffer) writeTogether(w io.Writer, head []byte, lead Pos) (Stats, error) {
	sc := writers.Get().(*writer)
	gather := append(sc.gather, head...)
	for _, p := range b.pieces {
		p.from -= lead
		lead = 0
		gather = append(gather, b.mem(p)...)
	}
	sc.gather = gather
	if len(sc.gather) == 0 {
		sc.free()
		return Stats{}, nil
	}
	n, err := writeAll(w, sc.gather)
	sc.free()
	return Stats{Bytes: n, Pieces: 1}, err
}

// reserve makes room first for what will be copied together, n bytes and the small pieces: vec refers to gather, which must not
// move.
func (sc *writer) reserve(pieces []piece, n int) {
	n += gatherBelow
	for _, p := range pieces {
		if n >= gatherMost {
			break
		}
		if m := int(p.to - p.from); m < gatherBelow {
			n += m
		}
	}
	if cap(sc.gather) < n {
		sc.gather = make([]byte, 0, n+n/4)
	}
}

func (sc *writer) flushGathered(from int) int {
	if n := len(sc.gather); n > from {
		sc.vec = append(sc.vec, sc.gather[from:n:n])
		return n
	}
	return from
}

func (sc *writer) write(w io.Writer) error {
	if len(sc.vec) == 0 {
		return nil
	}
	sc.stats.Pieces += len(sc.vec)
	defer func() {
		clear(sc.vec)
		sc.vec = sc.vec[:0]
	}()
	if _, ok := w.(net.Conn); ok && len(sc.vec) > 1 {
		sc.out = sc.vec
		n, err := sc.out.WriteTo(w)
		sc.stats.Bytes += int(n)
		return err
	}
	for _, mem := range sc.vec {
		n, err := writeAll(w, mem)
		sc.stats.Bytes += n
		if err != nil {
			return err
		}
	}
	return nil
}

func (sc *writer) free() {
	sc.out = nil
	sc.gather = sc.gather[:0]
	if cap(sc.gather) <= 2*gatherMost {
		writers.Put(sc)
	}
}

func writeAll(w io.Writer, mem []byte) (int, error) {
	n, err := w.Write(mem)
	if err == nil && n < len(mem) {
		err = io.ErrShortWrite
	}
	return n, err
}

// ErrFrameSize is the error for a frame whose length is negative or above the limit.
var ErrFrameSize = errors.New("linkbuf: frame length out of range")

// ReadFrameSize reads the length in front of a frame and refuses one that is negative or more than limit.
// It returns io.EOF if there is nothing to read, io.ErrUnexpectedEOF if there is a part of a length.
func ReadFrameSize(r io.Reader, limit int, scratch *[4]byte) (int, error) {
	if _, err := io.ReadFull(r, scratch[:]); err != nil {
		return 0, err
	}
	n := int32(binary.BigEndian.Uint32(scratch[:]))
	if n < 0 || int64(n) > int64(limit) {
		return 0, fmt.Errorf("%w: %d (limit %d)", ErrFrameSize, n, limit)
	}
	return int(n), nil
}

// firstRead is how much memory the promise of a size is worth before any byte has come.
const firstRead = SlabSize

// ReadN reads n bytes from r into memory of the Buffer's own and calls f with each block that was
// filled. Memory grows with what has arrived, at most doubling: a size that was only promised costs 64 KiB.
// Fewer than n bytes are io.ErrUnexpectedEOF.
func (b *Buffer) ReadN(r io.Reader, n int, f func(p Pos, mem []byte)) error {
	for got := 0; got < n; {
		p, mem := b.Place(min(n-got, max(got, firstRead)))
		if _, err := io.ReadFull(r, mem); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		got += len(mem)
		f(p, mem)
	}
	return nil
}
