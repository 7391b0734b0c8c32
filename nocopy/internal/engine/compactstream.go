package engine

import (
	"io"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// CompactStream is a Reader of structs in Thrift Binary, which it makes of structs in the compact
// protocol while these arrive. Begin begins each of them.
type CompactStream struct {
	desc   *schema.Struct
	limits Limits
	src    io.Reader
	ahead  int // how many bytes are read at most beyond those that are needed
	in     memory.Receiver
	r      *compact.Reader // nil between structs
	made   []byte          // by r, and not yet read
}

// NewCompactStream returns the stream of the structs in src, which d describes. Between structs
// and in the end it holds at most ahead bytes that come after them.
func NewCompactStream(d *schema.Struct, src io.Reader, ahead int, limits Limits) *CompactStream {
	c := &CompactStream{desc: d, src: src, ahead: ahead, limits: limits}
	c.in.Reset(true)
	return c
}

// Begin begins the next struct. The error is io.EOF if there is none.
func (c *CompactStream) Begin() error {
	if err := c.in.FillTo(c.src, 1, c.ahead); err != nil {
		return err
	}
	if c.r == nil {
		c.r = compact.TakeReader(compact.PieceSize)
	}
	// Bytes of a value; the stream has no limit
	c.r.Reset(c.desc.Type(), compact.LimitsFor(chain.MaxSize, c.limits.MaxDepth))
	return nil
}

// Free gives the memory back. The stream must not be read any more.
func (c *CompactStream) Free() {
	c.in.Free()
	if c.r != nil {
		c.r.Free()
	}
	c.r, c.made = nil, nil
}

// Offset returns how many bytes of the struct have been converted. At its end that is its size.
func (c *CompactStream) Offset() int64 { return c.r.Passed() }

// More reports whether bytes have arrived that come after the struct.
func (c *CompactStream) More() bool { return len(c.in.Bytes()) > 0 }

// Read implements io.Reader. It returns no bytes that come after the struct.
func (c *CompactStream) Read(b []byte) (int, error) {
	for len(c.made) == 0 {
		if err := c.convert(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.made)
	c.made = c.made[n:]
	return n, nil
}

// convert makes more bytes, or receives some.
func (c *CompactStream) convert() error {
	status, err := c.r.Receive(&c.in, compact.Parts, c.fill)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		_, status = c.r.Convert(c.in.Bytes(), 0, true)
	}
	if status == compact.Failed {
		return compactFault(c.r, c.desc, c.in.Bytes(), c.limits)
	}
	if c.made = c.r.Take(); err == nil && len(c.made) == 0 { // all has been read
		return io.EOF
	}
	return err
}

// fill receives bytes until there are n.
func (c *CompactStream) fill(n int) error {
	if have := n - 1; have > c.limits.MaxBytes {
		err := TooLong(c.desc, int64(have), c.limits.MaxBytes)
		err.Offset = c.r.Offset(0)
		return err
	}
	return c.in.FillTo(c.src, n, c.ahead)
}
