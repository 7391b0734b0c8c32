package linkbuf

import (
	"encoding/binary"
	"io"
	"net"
)

// Batch is several messages on their way out together: one write, or one writev, for all of them. It refers to
// what was added until it is written. The zero Batch is ready for use, by one goroutine.
type Batch struct {
	pieces [][]byte
	vec    [][]byte
	out    net.Buffers
	gather []byte
	size   int
}

// Add adds a message, which must be sealed, stay as it is and not be freed until the Batch is written. With frame its
// length comes first, as a big-endian int32.
func (t *Batch) Add(b *Buffer, frame bool) {
	lead := Pos(0)
	switch {
	case frame && b.framed:
		lead = frameHeader
	case frame:
		t.add(binary.BigEndian.AppendUint32(nil, uint32(b.size)))
	}
	for _, p := range b.pieces {
		p.from -= lead
		lead = 0
		t.add(b.mem(p))
	}
}

// AddBytes adds bytes, which must stay as they are until the Batch is written.
func (t *Batch) AddBytes(mem []byte) { t.add(mem) }

func (t *Batch) add(mem []byte) {
	t.pieces = append(t.pieces, mem)
	t.size += len(mem)
}

// Len returns the bytes that were added and not written yet.
func (t *Batch) Len() int { return t.size }

// gatherStream is gatherBelow for a writer that knows no writev, such as a TLS connection.
const gatherStream = 16 << 10

// WriteTo writes what was added, in one go: pieces below 1 KiB are copied together, the others go by
// reference, at most 1024 at a time. Afterwards the Batch is empty, also after an error.
func (t *Batch) WriteTo(w io.Writer) (int64, error) {
	defer t.reset()
	if len(t.pieces) == 1 {
		n, err := writeAll(w, t.pieces[0])
		return int64(n), err
	}
	below, vectored := gatherBelow, false
	switch w.(type) {
	case *net.TCPConn, *net.UnixConn:
		vectored = true
	default:
		below = gatherStream
	}
	t.arrange(below)
	var total int64
	for rest := t.vec; len(rest) > 0; {
		t.out = rest[:min(len(rest), maxPieces)]
		rest = rest[len(t.out):]
		n, err := t.write(w, vectored)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// arrange makes vec of the pieces: runs of small ones become one.
func (t *Batch) arrange(below int) {
	small := 0
	for _, mem := range t.pieces {
		if len(mem) < below {
			small += len(mem)
		}
	}
	if cap(t.gather) < small { // vec refers to gather, which must not move
		t.gather = make([]byte, 0, small+small/2)
	}
	from := 0
	for _, mem := range t.pieces {
		if len(mem) < below {
			t.gather = append(t.gather, mem...)
			continue
		}
		from = t.flushGathered(from)
		t.vec = append(t.vec, mem)
	}
	t.flushGathered(from)
}

func (t *Batch) flushGathered(from int) int {
	if n := len(t.gather); n > from {
		t.vec = append(t.vec, t.gather[from:n:n])
		return n
	}
	return from
}

func (t *Batch) write(w io.Writer, vectored bool) (int64, error) {
	if vectored && len(t.out) > 1 {
		return t.out.WriteTo(w)
	}
	var total int64
	for _, mem := range t.out {
		n, err := writeAll(w, mem)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (t *Batch) reset() {
	clear(t.pieces)
	clear(t.vec)
	t.pieces, t.vec, t.gather, t.out, t.size = t.pieces[:0], t.vec[:0], t.gather[:0], nil, 0
	if cap(t.gather) > SlabSize {
		t.gather = nil
	}
	if cap(t.pieces) > maxPieces {
		t.pieces, t.vec = nil, nil
	}
}
