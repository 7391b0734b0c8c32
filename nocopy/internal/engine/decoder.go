package engine

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Decoder reads messages of one type from a stream, one after another.
type Decoder struct {
	src    aheadReader
	desc   *schema.Struct
	flags  flag
	limits Limits
	framed bool
	in     chain.Receiver
	scan   Scanner
	offset int64
	start  [64]byte // of a stream of bare structs
	err    error
}

// NewDecoder returns a Decoder of structs that d describes: of frames, or of bare structs.
func NewDecoder(d *schema.Struct, r io.Reader, framed bool, opts []Option) *Decoder {
	if r == nil {
		panic("nocopy: Decoder of a nil Reader")
	}
	in := &Decoder{src: aheadReader{r: r}, desc: d, framed: framed}
	in.flags, in.limits = configOf(opts)
	in.flags |= Own
	in.in.Reset(in.flags&(Recycle|Compact) != 0) // no message has compact bytes
	return in
}

// Next returns the root of the next message, or an error: see Decoder.Next of package nocopy.
func (d *Decoder) Next() (Struct, error) {
	if d == nil || d.src.r == nil {
		panic("nocopy: Decoder that was not made by NewDecoder")
	}
	if d.err != nil {
		return Struct{}, d.err
	}
	if d.flags&Compact != 0 {
		s, size, err := d.nextCompact()
		if err == nil {
			d.offset += size
			return s, nil
		}
		return Struct{}, d.end(err)
	}
	c, size, err := d.receive()
	if err == nil {
		var s Struct
		if s, err = parseOwn(d.desc, c, d.flags, d.limits); err == nil {
			d.offset += size
			return s, nil
		}
		if bad, ok := err.(*wire.Error); ok && d.offset == 0 && size == 1 { // maybe a frame's first byte
			formats.AddTo(bad, d.startFormat())
		}
	}
	return Struct{}, d.end(err)
}

// end notes that the stream ends with err, and returns that.
func (d *Decoder) end(err error) error {
	d.err = err
	d.in.Free()
	d.scan = Scanner{}
	return err
}

// Offset returns the position of the next message in the stream, in bytes.
func (d *Decoder) Offset() int64 { return d.offset }

// receive returns the bytes of the next message, and how many it is of the stream.
func (d *Decoder) receive() (chain.Chunk, int64, error) {
	if !d.framed {
		return d.receiveBare()
	}
	const length = 4
	if err := d.fill(length); err != nil {
		return chain.Chunk{}, 0, err
	}
	n := int32(binary.BigEndian.Uint32(d.in.Bytes()))
	switch {
	case n < 0:
		return chain.Chunk{}, 0, d.explained(&wire.Error{Path: d.desc.Name(), Err: wire.ErrNegative})
	case int64(n) > int64(d.limits.MaxBytes):
		return chain.Chunk{}, 0, d.explained(tooLong(d.desc, int64(n), d.limits.MaxBytes))
	}
	if err := d.fill(length + int(n)); err != nil {
		return chain.Chunk{}, 0, err
	}
	d.in.Skip(length)
	return d.in.Take(int(n)), length + int64(n), nil
}

// explained returns err. If the bytes that have arrived are of another known format, err names it.
// The length of a frame may have been read as structs: its first byte is 0, which is an empty one.
func (d *Decoder) explained(err *wire.Error) error {
	if !d.framed && d.offset < readAhead {
		d.noteStart()
		if what := d.startFormat(); what != "" {
			formats.AddTo(err, what)
			return err
		}
	}
	b := d.in.Bytes()
	if d.framed && d.offset == 0 && d.desc.Find(wire.HeaderAt(b, 0)) != nil {
		formats.AddTo(err, formats.StructWithoutFrame)
		return err
	}
	formats.Explain(err, b, len(b), d.desc)
	return err
}

// startFormat names the format of a stream that should be bare structs, by its first bytes: calls
// or frames. It returns "" if it is not known.
func (d *Decoder) startFormat() string {
	switch b := d.start[:]; {
	case formats.IsCall(b):
		return formats.Of(b, len(b), d.desc)
	case formats.BeginsFrame(b, d.desc):
		return formats.InFrame(b[4:])
	}
	return ""
}

// noteStart keeps the first bytes of the stream as long as the next struct may begin in them.
func (d *Decoder) noteStart() {
	if d.offset < int64(len(d.start)) {
		copy(d.start[d.offset:], d.in.Bytes())
	}
}

// keepWhole is the most bytes of a bare struct that are kept in one piece; they are moved when the
// block is full that they began in. More are cut between values where blocks end, but not with
// Lazy, which is for one piece.
const keepWhole = 8 << 10

// receiveBare returns the bytes of the next struct, which ends with its STOP, and how many they
// are.
func (d *Decoder) receiveBare() (chain.Chunk, int64, error) {
	if err := d.fill(1); err != nil {
		return chain.Chunk{}, 0, err
	}
	d.scan.Reset(d.limits.MaxDepth)
	cut := 0 // bytes of the struct that were cut off
	for {
		end, need, err := d.scan.Scan(d.in.Bytes())
		if err != nil {
			var bad *wire.Error
			if errors.As(err, &bad) {
				bad.Path = d.desc.Name()
				if cut == 0 {
					err = d.explained(bad)
				}
			}
			return chain.Chunk{}, 0, err
		}
		if n := int64(max(need, end)) + int64(cut); n > int64(d.limits.MaxBytes) {
			return chain.Chunk{}, 0, tooLong(d.desc, n, d.limits.MaxBytes)
		}
		if end > 0 {
			d.noteStart()
			return d.in.Take(end), int64(cut + end), nil
		}
		if n := d.scan.Passed(); d.flags&Lazy == 0 && cut+n > keepWhole && !d.in.Fits(need) {
			d.in.Cut(n)
			d.scan.Drop()
			need, cut = need-n, cut+n
		}
		if err := d.fill(need); err != nil {
			return chain.Chunk{}, 0, err
		}
	}
}

// fill reads until the next n bytes have arrived.
func (d *Decoder) fill(n int) error {
	for len(d.in.Bytes()) < n {
		d.src.most = n - len(d.in.Bytes()) + readAhead
		if err := d.in.Fill(&d.src, n); err != nil {
			if err == io.EOF && d.in.Arrived() > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// readAhead is how many bytes are read at most that may belong to the next messages.
const readAhead = 64 << 10

// aheadReader reads at most so many bytes at once.
type aheadReader struct {
	r    io.Reader
	most int
}

// Read reads at most a.most bytes into b, and returns -1 for a count that r can't have read.
func (a *aheadReader) Read(b []byte) (int, error) {
	if len(b) > a.most {
		b = b[:a.most]
	}
	n, err := a.r.Read(b)
	if uint(n) > uint(len(b)) {
		return -1, err
	}
	return n, err
}
