package engine

import (
	"io"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
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
	base   int64           // offset in the struct of the Bytes of in
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
	c.base = 0
	if err := c.in.FillTo(c.src, 1, c.ahead); err != nil {
		return err
	}
	if c.r == nil {
		c.r = compact.TakeReader(compact.PieceSize)
	}
	l := compactLimits(c.limits)
	l.Bytes = chain.MaxSize // of a value; the stream has no limit
	c.r.Reset(c.desc.Type(), l)
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
func (c *CompactStream) Offset() int64 { return c.base }

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
	b := c.in.Bytes()
	n, status := c.r.Convert(b, 0, false)
	if status == compact.Failed {
		return c.fault(b)
	}
	c.made = c.r.Take()
	c.base += int64(n)
	c.in.Skip(n)
	switch {
	case len(c.made) > 0:
		return nil
	case status == compact.Done: // all has been read
		return io.EOF
	}
	have := len(b) - n
	if have > c.limits.MaxBytes {
		err := TooLong(c.desc, int64(have), c.limits.MaxBytes)
		err.Offset = c.offset(0)
		return err
	}
	err := c.in.FillTo(c.src, have+1, c.ahead)
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	b = c.in.Bytes()
	c.r.Convert(b, 0, true)
	return c.fault(b)
}

// fault returns the error that r has found in b.
func (c *CompactStream) fault(b []byte) error {
	err := c.r.Error(c.desc.Name(), c.limits.MaxDepth)
	err.Offset = c.offset(err.Offset)
	switch {
	case err.Err == compact.ErrDepth:
		err.Err = parse.DepthError(c.limits.MaxDepth)
	case c.base == 0:
		formats.ExplainCompact(err, b, c.desc)
	}
	return err
}

// offset returns the offset in the struct of byte i of the Bytes of in. On 32 bits the last one
// that an int can say stands for those after it.
func (c *CompactStream) offset(i int) int { return int(min(c.base+int64(i), math.MaxInt)) }
