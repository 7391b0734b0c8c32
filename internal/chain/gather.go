package chain

import (
	"io"
	"iter"
	"net"
	"sync"
)

const (
	// GatherBelow is the size below which pieces are copied together before they are written by
	// writev: an entry of its own costs the kernel about as much as copying this many bytes.
	GatherBelow = 1 << 10

	// gatherMost is the most bytes that are copied together before they are written by writev.
	gatherMost = 256 << 10

	// streamMost is the most bytes that are copied together for a Writer without writev, such as
	// a TLS connection, which would make a record of each piece.
	streamMost = 64 << 10

	// maxPieces is how many pieces one writev takes.
	maxPieces = 1024
)

// Stats tells how a message was written: what was copied together, and what was written from
// where it lay.
type Stats struct {
	Bytes    int // written in all
	Pieces   int // stretches of memory that were handed to the writer
	ByRef    int // those of them that were not copied before
	RefBytes int // bytes in those
}

// gatherer writes pieces of memory. It copies small ones together, so that there are fewer writes.
type gatherer struct {
	w        io.Writer
	vectored bool        // w has writev
	vec      [][]byte    // what the next writev will write
	out      net.Buffers // what the writev under way has not written yet
	copied   []byte
	from     int // copied[from:] is not in vec yet
	stats    Stats
	err      error // of the first write that failed; nothing is written afterwards
}

var gatherers = sync.Pool{New: func() any { return new(gatherer) }}

// begin prepares for writing n bytes to w, of which small are in pieces below 1 KiB.
func (g *gatherer) begin(w io.Writer, n, small int) {
	g.w, g.stats, g.err = w, Stats{}, nil
	switch w.(type) {
	case *net.TCPConn, *net.UnixConn:
		g.vectored = true
	default:
		g.vectored = false
	}
	g.reserve(n, small)
}

// reserve makes room for what will be copied together, for n bytes of which small are in pieces
// below GatherBelow.
func (g *gatherer) reserve(n, small int) {
	n = min(n, streamMost)
	if g.vectored {
		n = min(small, gatherMost) + GatherBelow
	}
	if cap(g.copied) < n {
		g.copied = make([]byte, 0, n+n/4)
	}
}

// add writes mem, or keeps it, or a copy, for the next write.
func (g *gatherer) add(mem []byte) {
	if !g.vectored {
		if n := len(g.copied); n > 0 && len(mem) < streamMost-n {
			g.copied = append(g.copied, mem...)
			return
		}
		g.stream(mem)
		return
	}
	small := len(mem) < GatherBelow
	if small && len(g.copied)+len(mem) > cap(g.copied) || len(g.vec) >= maxPieces-1 {
		g.flush()
	}
	if small {
		g.copied = append(g.copied, mem...)
		return
	}
	g.close()
	g.vec = append(g.vec, mem)
	g.stats.ByRef++
	g.stats.RefBytes += len(mem)
}

// stream adds mem for a Writer without writev: it is copied to what is written next, or written at
// once if it is large.
func (g *gatherer) stream(mem []byte) {
	for g.err == nil {
		if len(g.copied) == 0 && len(mem) >= streamMost {
			g.stats.ByRef++
			g.stats.RefBytes += len(mem)
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

// close adds what was copied last to vec.
func (g *gatherer) close() {
	if n := len(g.copied); n > g.from {
		g.vec = append(g.vec, g.copied[g.from:n:n])
		g.from = n
	}
}

// flush writes what was added and is not written yet.
func (g *gatherer) flush() {
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

// write writes mem at once.
func (g *gatherer) write(mem []byte) {
	n, err := writeAll(g.w, mem)
	g.stats.Pieces++
	g.stats.Bytes += n
	g.err = err
}

// free gives g back. Nothing of what it was given may be left in it, also after a Writer's panic.
func (g *gatherer) free() {
	clear(g.vec)
	g.w, g.out, g.vec, g.copied, g.from = nil, nil, g.vec[:0], g.copied[:0], 0
	if cap(g.copied) <= 2*gatherMost {
		gatherers.Put(g)
	}
}

// WritePieces writes head and then pieces of memory, n bytes in all, in the way of [Buffer.Write].
// Of the n bytes, small are in pieces of less than GatherBelow.
func WritePieces(w io.Writer, head []byte, n, small int, pieces iter.Seq[[]byte]) (Stats, error) {
	g := gatherers.Get().(*gatherer)
	defer g.free()
	g.begin(w, n, small+len(head))
	g.copied = append(g.copied, head...)
	for mem := range pieces {
		if g.add(mem); g.err != nil {
			break
		}
	}
	g.flush()
	return g.stats, g.err
}

// writeAll writes mem, and returns an error if not all of it was written.
func writeAll(w io.Writer, mem []byte) (int, error) {
	n, err := w.Write(mem)
	switch {
	case uint(n) > uint(len(mem)):
		return 0, errCount
	case err == nil && n < len(mem):
		err = io.ErrShortWrite
	}
	return n, err
}
