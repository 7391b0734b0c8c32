package linkbuf

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// Len returns the number of bytes in the message.
func (b *Buffer) Len() int {
	if b.c == nil {
		return 0
	}
	return b.c.size
}

// mustHave panics unless [from, to) is a part of the message.
func (b *Buffer) mustHave(from, to int) {
	if from < 0 || from > to || to > b.Len() {
		panicRange(from, to, b.Len())
	}
}

func panicRange(from, to, size int) {
	panic(fmt.Sprintf("linkbuf: range [%d:%d] of a message of %d bytes", from, to, size))
}

// find returns the index of the piece that contains offset, which must be below size.
func (c *content) find(offset int) int {
	return sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].end > offset })
}

// Bytes returns the message. It aliases the message if that is in one piece; otherwise it is a
// copy. It must not be changed.
func (b *Buffer) Bytes() []byte { return b.Slice(0, b.Len()) }

// Slice returns the bytes [from, to) of the message. They alias it if they are in one piece;
// otherwise they are a copy. They must not be changed.
func (b *Buffer) Slice(from, to int) []byte {
	b.mustHave(from, to)
	if from == to {
		return nil
	}
	p := b.c.pieces[b.c.find(from)]
	mem := p.mem[len(p.mem)-(p.end-from):]
	if n := to - from; n <= len(mem) {
		return mem[:n:n]
	}
	mem = make([]byte, 0, to-from)
	for len(mem) < to-from {
		at := from + len(mem)
		p := b.c.pieces[b.c.find(at)]
		next := p.mem[len(p.mem)-(p.end-at):]
		mem = append(mem, next[:min(len(next), to-at)]...)
	}
	return mem
}

// AppendTo appends a copy of the message to dst.
func (b *Buffer) AppendTo(dst []byte) []byte {
	dst = slices.Grow(dst, b.Len())
	for mem := range b.Pieces() {
		dst = append(dst, mem...)
	}
	return dst
}

// Pieces returns the parts of the message that are contiguous in memory, in order. They alias the
// message and must not be changed.
func (b *Buffer) Pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if b.c == nil {
			return
		}
		for i := 0; i < len(b.c.pieces); i++ {
			if !yield(b.c.pieces[i].mem) {
				return
			}
		}
	}
}

// WriteTo writes the message to w. If w is a TCP or Unix connection, it uses writev, and copies
// pieces shorter than 1 KiB together. For other Writers, such as TLS connections, it copies pieces
// together to 64 KiB. It returns the number of bytes written, also with an error.
func (b *Buffer) WriteTo(w io.Writer) (int64, error) {
	s, err := b.write(w, nil)
	return int64(s.Bytes), err
}

// WriteFrame writes the message's length as a big-endian int32, then the message, as WriteTo does.
// Stats includes the length.
func (b *Buffer) WriteFrame(w io.Writer) (Stats, error) {
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], uint32(b.Len()))
	return b.write(w, head[:])
}

// write writes head and the message.
func (b *Buffer) write(w io.Writer, head []byte) (Stats, error) {
	if w == nil {
		panic("linkbuf: nil Writer")
	}
	if len(head)+b.Len() == 0 {
		return Stats{}, nil
	}
	c := b.c
	if c == nil { // an empty frame; b itself may be read by others
		c = new(content)
	}
	c.busy.Add(1)
	defer c.busy.Add(-1)
	s, err := memory.WritePieces(w, head, b.Pieces())
	return Stats(s), err
}
