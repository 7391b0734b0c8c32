package nocopy

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// StructView is the constraint that handles of generated structs, unions and exceptions satisfy. A
// generic function learns the type of its parameter from ThriftDesc.
type StructView interface {
	View
	// ThriftDesc returns the descriptor of the type.
	ThriftDesc() *XDesc
}

// Decoder reads messages of type S from a stream, one after another. Each message is independent:
// it must be released on its own, may outlive the Decoder, and is not changed by it.
//
// Consecutive small messages share one block of memory of up to 64 KiB and are not copied. The
// block stays in memory while one of them is in use. Without Recycle it also stays while a string
// or binary that was read from one of them is in use. A program that keeps a few of many small
// messages should therefore keep copies: the result of ParseX on the bytes of AppendTo(nil).
//
// A Decoder reads ahead, up to 64 KiB beyond the message that it returns. Its memory grows with
// the bytes that arrive, not with the lengths that they claim. Only one goroutine at a time may
// use a Decoder.
type Decoder[S StructView] struct {
	src    aheadReader
	desc   *XDesc
	flags  flag
	limits Limits
	framed bool
	in     chain.Receiver
	scan   XScanner
	offset int64
	start  [64]byte // of a stream of bare structs
	err    error
}

// NewDecoder returns a Decoder of bare structs. Each ends with its STOP. The options are those of
// ParseX and apply to each message; Own is implied. In bare structs MaxDepth bounds all nesting,
// not only that in unknown fields. With Compact, structs are in the compact protocol, and MaxDepth
// has its usual meaning.
func NewDecoder[S StructView](r io.Reader, opts ...Option) *Decoder[S] {
	return newDecoder[S](r, false, opts)
}

// NewFrameDecoder returns a Decoder of frames: each struct follows its length in 4 bytes, as
// Message.WriteFrame writes it. Otherwise it is like NewDecoder.
func NewFrameDecoder[S StructView](r io.Reader, opts ...Option) *Decoder[S] {
	return newDecoder[S](r, true, opts)
}

func newDecoder[S StructView](r io.Reader, framed bool, opts []Option) *Decoder[S] {
	if r == nil {
		panic("nocopy: Decoder of a nil Reader")
	}
	var s S
	d := &Decoder[S]{src: aheadReader{r: r}, desc: s.ThriftDesc(), framed: framed}
	d.flags, d.limits = configOf(opts)
	d.flags |= Own
	d.in.Reset(d.flags&(Recycle|Compact) != 0) // no message has compact bytes
	return d
}

// Next returns the next message. At the end of the stream the error is io.EOF, or
// io.ErrUnexpectedEOF if the stream ends inside a message. Other errors of the Reader are returned
// unchanged, after the messages that arrived before or together with them. A malformed message
// gives an *Error. Its Offset counts from the beginning of that message, which is at
// Decoder.Offset in the stream. After an error, Next returns the same error again.
func (d *Decoder[S]) Next() (S, error) {
	if d == nil || d.src.r == nil {
		panic("nocopy: Decoder that was not made by NewDecoder")
	}
	if d.err != nil {
		return S(XStruct{}), d.err
	}
	if d.flags&Compact != 0 {
		s, size, err := d.nextCompact()
		if err == nil {
			d.offset += size
			return S(s), nil
		}
		return S(XStruct{}), d.end(err)
	}
	c, size, err := d.receive()
	if err == nil {
		var s XStruct
		if s, err = parseOwn(d.desc, c, d.flags, d.limits); err == nil {
			d.offset += size
			return S(s), nil
		}
		if bad, ok := err.(*Error); ok && d.offset == 0 && size == 1 { // maybe a frame's first byte
			bad.addFormat(d.startFormat())
		}
	}
	return S(XStruct{}), d.end(err)
}

// end notes that the stream ends with err, and returns that.
func (d *Decoder[S]) end(err error) error {
	d.err = err
	d.in.Free()
	d.scan = XScanner{}
	return err
}

// All iterates over the remaining messages. If the stream does not end with io.EOF, the last pair
// is an absent S and the error.
func (d *Decoder[S]) All() iter.Seq2[S, error] {
	return func(yield func(S, error) bool) {
		for {
			s, err := d.Next()
			if err == io.EOF || !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Offset returns the position of the next message in the stream, in bytes. After an error it is
// the position of the message with the error. A frame begins with its length.
func (d *Decoder[S]) Offset() int64 { return d.offset }

// receive returns the bytes of the next message, and how many it is of the stream.
func (d *Decoder[S]) receive() (chain.Chunk, int64, error) {
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
		return chain.Chunk{}, 0, d.explained(&Error{Path: d.desc.Name(), Err: ErrNegative})
	case int64(n) > int64(d.limits.MaxBytes):
		return chain.Chunk{}, 0, d.explained(tooLong(d.desc, int64(n), d.limits.MaxBytes))
	}
	if err := d.fill(length + int(n)); err != nil {
		return chain.Chunk{}, 0, err
	}
	d.in.Skip(length)
	return d.in.Take(int(n)), length + int64(n), nil
}

// explained returns err, which says of what other format the bytes are that have arrived, if they
// are of one that is known. The length of a frame may have been read as structs: its first byte is
// 0, which is an empty one.
func (d *Decoder[S]) explained(err *Error) error {
	if !d.framed && d.offset < readAhead {
		d.noteStart()
		if what := d.startFormat(); what != "" {
			err.addFormat(what)
			return err
		}
	}
	b := d.in.Bytes()
	if d.framed && d.offset == 0 && d.desc.Find(wire.HeaderAt(b, 0)) != nil {
		err.addFormat(structWithoutFrame)
		return err
	}
	err.explain(b, len(b), d.desc)
	return err
}

// startFormat tells of what format a stream of bare structs is, by its first bytes: of calls or
// frames. It returns "" if that is not known.
func (d *Decoder[S]) startFormat() string {
	switch b := d.start[:]; {
	case isCall(b):
		return otherFormat(b, len(b), d.desc)
	case beginsFrame(b, d.desc):
		return inFrame(b[4:])
	}
	return ""
}

// noteStart keeps the first bytes of the stream as long as the next struct may begin in them.
func (d *Decoder[S]) noteStart() {
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
func (d *Decoder[S]) receiveBare() (chain.Chunk, int64, error) {
	if err := d.fill(1); err != nil {
		return chain.Chunk{}, 0, err
	}
	d.scan.Reset(d.limits.MaxDepth)
	cut := 0 // bytes of the struct that were cut off
	for {
		end, need, err := d.scan.Scan(d.in.Bytes())
		if err != nil {
			var bad *Error
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
func (d *Decoder[S]) fill(n int) error {
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
