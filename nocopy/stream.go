package nocopy

import (
	"encoding/binary"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// stream is a stream of structs that a Decoder reads.
type stream struct {
	src    io.Reader
	desc   *schema.Struct
	flags  engine.Flags
	limits Limits
	framed bool
	in     memory.Receiver
	scan   parse.Scanner
	offset int64
	start  [64]byte // of a stream of bare structs
	err    error
}

// newStream returns a stream of structs that d describes: of frames, or of bare structs.
func newStream(d *schema.Struct, r io.Reader, framed bool, opts []Option) stream {
	if r == nil {
		panic("nocopy: Decoder of a nil Reader")
	}
	in := stream{src: r, desc: d, framed: framed}
	in.flags, in.limits = engine.ConfigOf(opts)
	in.flags |= Own
	in.in.Reset(in.flags&(Recycle|Compact) != 0) // no message has compact bytes
	return in
}

// next returns the root of the next message, as Decoder.Next does.
func (d *stream) next() (engine.Struct, error) {
	if d.err != nil {
		return engine.Struct{}, d.err
	}
	s, size, err := d.parse()
	if err != nil {
		d.err = err
		d.in.Free()
		d.scan = parse.Scanner{}
		return engine.Struct{}, err
	}
	d.offset += int64(size)
	return s, nil
}

// parse receives and parses the next message. It returns its root, and how many bytes it was of
// the stream.
func (d *stream) parse() (engine.Struct, int, error) {
	if d.flags&Compact != 0 && !d.framed {
		return engine.ReceiveCompact(d.desc, &d.in, d.src, readAhead, d.flags, d.limits)
	}
	c, size, err := d.receive()
	if err != nil {
		return engine.Struct{}, 0, err
	}
	s, err := engine.ParseOwn(d.desc, c, d.flags, d.limits)
	if bad, ok := err.(*Error); ok && d.offset == 0 && size == 1 { // maybe a frame's first byte
		formats.AddTo(bad, d.startFormat())
	}
	return s, size, err
}

// receive returns the bytes of the next message, and how many it is of the stream.
func (d *stream) receive() (memory.Chunk, int, error) {
	if !d.framed {
		return d.receiveBare()
	}
	const length = 4
	if err := d.in.FillTo(d.src, length, readAhead); err != nil {
		return memory.Chunk{}, 0, err
	}
	n := int32(binary.BigEndian.Uint32(d.in.Bytes()))
	switch {
	case n < 0:
		return memory.Chunk{}, 0, d.explained(&Error{Path: d.desc.Name(), Err: ErrNegative})
	case int64(n) > int64(d.limits.MaxBytes):
		return memory.Chunk{}, 0, d.explained(engine.TooLong(d.desc, int64(n), d.limits.MaxBytes))
	}
	if err := d.in.FillTo(d.src, length+int(n), readAhead); err != nil {
		return memory.Chunk{}, 0, err
	}
	d.in.Skip(length)
	return d.in.Take(int(n)), length + int(n), nil
}

// explained returns err. If the bytes that have arrived are of another known format, err names it.
// The length of a frame may have been read as structs: its first byte is 0, which is an empty one.
func (d *stream) explained(err *Error) error {
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
func (d *stream) startFormat() string {
	switch b := d.start[:]; {
	case firstbytes.IsCall(b):
		return formats.Of(b, len(b), d.desc)
	case formats.BeginsFrame(b, d.desc):
		return firstbytes.InFrame(b[4:])
	}
	return ""
}

// noteStart keeps the first bytes of the stream as long as the next struct may begin in them.
func (d *stream) noteStart() {
	if d.offset < int64(len(d.start)) {
		copy(d.start[d.offset:], d.in.Bytes())
	}
}

// receiveBare returns the bytes of the next struct, which ends with its STOP, and how many they
// are. Lazy requires one piece.
func (d *stream) receiveBare() (memory.Chunk, int, error) {
	if err := d.in.FillTo(d.src, 1, readAhead); err != nil {
		return memory.Chunk{}, 0, err
	}
	d.scan.Reset(d.limits.MaxDepth)
	end, bad, err := d.scan.Receive(&d.in, 0, d.flags&Lazy == 0, func(n int, size int64) error {
		if size > int64(d.limits.MaxBytes) {
			return engine.TooLong(d.desc, size, d.limits.MaxBytes)
		}
		return d.in.FillTo(d.src, n, readAhead)
	})
	cut := d.in.Arrived() - len(d.in.Bytes())
	switch {
	case err != nil:
		return memory.Chunk{}, 0, err
	case bad != nil:
		if bad.Path = d.desc.Name(); cut == 0 {
			return memory.Chunk{}, 0, d.explained(bad)
		}
		return memory.Chunk{}, 0, bad
	}
	d.noteStart()
	return d.in.Take(end), cut + end, nil
}

// readAhead is how many bytes are read at most that may belong to the next messages.
const readAhead = 64 << 10
