package memory

import (
	"io"
	"iter"
	"net"
	"sync"
)

const (
	// GatherBelow is the size below which pieces are copied together before writev writes them.
	// One more entry costs the kernel about as much as copying this many bytes.
	GatherBelow = 1 << 10

	// gatherMost bounds the bytes that are copied together for one writev.
	gatherMost = 256 << 10

	// streamMost bounds the bytes that are copied together for a Writer without writev, such as a
	// TLS connection, which would otherwise make a record of each piece.
	streamMost = 64 << 10

	// MaxPieces is how many pieces one writev takes.
	MaxPieces = 1024
)

// Stats says how a message was written: how much was copied together, and how much was written
// from its place.
type Stats struct {
	Bytes     int // written in total
	Pieces    int // pieces of memory that were passed to the writer
	RefPieces int // pieces that were not copied before
	RefBytes  int // bytes in those pieces
}

// Gatherer writes pieces of memory. It copies small ones together, so that there are fewer writes.
type Gatherer struct {
	w        io.Writer
	vectored bool        // w has writev
	vec      [][]byte    // pieces for the next writev
	out      net.Buffers // pieces that the current writev has not written yet
	copied   []byte
	from     int // copied[from:] is not in vec yet
	stats    Stats
	err      error // of the first write that failed; nothing is written afterwards
}

var gatherers = sync.Pool{New: func() any { return new(Gatherer) }}

// GathererFor returns a Gatherer for w, which writes head first and does not keep it. Call Free in
// the end.
func GathererFor(w io.Writer, head []byte) *Gatherer {
	g := gatherers.Get().(*Gatherer)
	g.w, g.stats, g.err = w, Stats{}, nil
	switch w.(type) {
	case *net.TCPConn, *net.UnixConn:
		g.vectored = true
	default:
		g.vectored = false
	}
	g.copied = append(g.copied, head...)
	return g
}

// Add writes mem, or keeps it or a copy of it for the next write, unless a write has failed.
// copied says that mem is a copy already.
func (g *Gatherer) Add(mem []byte, copied bool) {
	if !g.vectored {
		if n := len(g.copied); n > 0 && len(mem) < streamMost-n {
			g.copied = append(g.copied, mem...)
			return
		}
		g.stream(mem, copied)
		return
	}
	if g.err != nil {
		return
	}
	small := len(mem) < GatherBelow
	if small && len(g.copied)+len(mem) > gatherMost || len(g.vec) >= MaxPieces-1 {
		g.flush()
	}
	if small {
		g.copied = append(g.copied, mem...)
		return
	}
	g.close()
	g.vec = append(g.vec, mem)
	g.stats.note(mem, copied)
}

// note counts a piece that is written from its place.
func (s *Stats) note(mem []byte, copied bool) {
	if !copied {
		s.RefPieces++
		s.RefBytes += len(mem)
	}
}

// stream is Add for a Writer without writev. It copies mem to the bytes that are written next, or
// writes it at once if it is large.
func (g *Gatherer) stream(mem []byte, copied bool) {
	for g.err == nil {
		if len(g.copied) == 0 && len(mem) >= streamMost {
			g.stats.note(mem, copied)
			g.write(mem)
			return
		}
		n := min(len(mem), streamMost-len(g.copied))
		g.copied = append(g.copied, mem[:n]...)
		if mem = mem[n:]; len(mem) == 0 {
			return
		}
		g.flush()
	}
}

// close adds the bytes that were copied last to vec.
func (g *Gatherer) close() {
	if n := len(g.copied); n > g.from {
		g.vec = append(g.vec, g.copied[g.from:n:n])
		g.from = n
	}
}

// flush writes all pieces that were added and not yet written.
func (g *Gatherer) flush() {
	switch g.close(); {
	case g.err != nil:
	case len(g.vec) == 1:
		g.write(g.vec[0])
	case len(g.vec) > 1: // never for a stream
		g.out = g.vec
		n, err := g.out.WriteTo(g.w)
		g.stats.Pieces += len(g.vec)
		g.stats.Bytes += int(n)
		g.err = err
	}
	clear(g.vec)
	g.vec, g.copied, g.from = g.vec[:0], g.copied[:0], 0
}

// End writes what was not yet written, and returns how everything was written.
func (g *Gatherer) End() (Stats, error) {
	g.flush()
	return g.stats, g.err
}

// write writes mem at once.
func (g *Gatherer) write(mem []byte) {
	n, err := WriteAll(g.w, mem)
	g.stats.Pieces++
	g.stats.Bytes += n
	g.err = err
}

// Free gives g back for reuse. It removes all references to the caller's memory, even after a
// Writer's panic.
func (g *Gatherer) Free() {
	clear(g.vec)
	g.w, g.out, g.vec, g.copied, g.from = nil, nil, g.vec[:0], g.copied[:0], 0
	if cap(g.copied) <= 2*gatherMost {
		gatherers.Put(g)
	}
}

// WritePieces writes head and then pieces of memory: by writev if w is a TCP or Unix connection,
// with pieces below 1 KiB copied together and at most 1024 pieces at a time. For other Writers,
// such as TLS connections, it copies pieces together to 64 KiB at a time, and writes a piece of 64
// KiB or more without copying. It does not keep head. Stats.Bytes is the number of bytes written,
// even after an error.
func WritePieces(w io.Writer, head []byte, pieces iter.Seq[[]byte]) (Stats, error) {
	g := GathererFor(w, head)
	defer g.Free()
	for mem := range pieces {
		g.Add(mem, false)
	}
	return g.End()
}

// WriteAlone writes a message that is in one piece.
func WriteAlone(w io.Writer, mem []byte, copied bool) (Stats, error) {
	n, err := WriteAll(w, mem)
	s := Stats{Bytes: n, Pieces: 1}
	s.note(mem[:n], copied)
	return s, err
}

// WriteAll writes mem, and returns an error if not all of it was written.
func WriteAll(w io.Writer, mem []byte) (int, error) {
	n, err := w.Write(mem)
	switch {
	case uint(n) > uint(len(mem)):
		return 0, errCount
	case err == nil && n < len(mem):
		err = io.ErrShortWrite
	}
	return n, err
}
