package inspect

import (
	"bufio"
	"fmt"
	"io"
	"unicode/utf8"
)

// window is the number of bytes that are read ahead, and from which a stream's form is detected.
const window = 64 << 10

// input reads a stream, value by value. It keeps the first bytes of the row that is being read.
type input struct {
	r   *bufio.Reader
	off int64  // of the next byte in the stream
	end int64  // where the frame ends, or -1 outside frames
	row int64  // where the row begins
	raw []byte // the row's bytes, as far as they are shown
}

func (in *input) reset(r io.Reader) {
	if in.r == nil {
		in.r = bufio.NewReaderSize(r, window)
	} else {
		in.r.Reset(r)
	}
	in.end = -1
}

// begin begins a row.
func (in *input) begin() { in.row, in.raw = in.off, in.raw[:0] }

// more reports whether there are more bytes in the frame or, outside frames, in the stream. The
// error is the stream's, or nil at its end.
func (in *input) more() (bool, error) {
	if in.end >= 0 {
		return in.off < in.end, nil
	}
	_, err := in.r.Peek(1)
	if err == io.EOF {
		return false, nil
	}
	return err == nil, err
}

// left returns how many of the next n bytes are in the frame.
func (in *input) left(n int64) int64 {
	if in.end >= 0 {
		return min(n, in.end-in.off)
	}
	return n
}

// readError is an error of the Reader other than io.EOF.
type readError struct{ err error }

func (e *readError) Error() string { return "reading: " + e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// short returns the error for missing bytes from err, the Reader's error. At the end of the stream
// it is io.ErrUnexpectedEOF.
func (in *input) short(err error) error {
	switch {
	case in.end >= 0 && in.off == in.end:
		return fmt.Errorf("the frame ends: %w", io.ErrUnexpectedEOF)
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return &readError{err}
}

// keep keeps b, the row's next bytes, if all bytes before them were kept.
func (in *input) keep(b []byte) {
	if int64(len(in.raw)) == in.off-in.row {
		in.raw = append(in.raw, b...)
	}
}

// next returns the next n bytes, at most 16. They are valid until the next call. If there are
// fewer, it consumes them and returns an error.
func (in *input) next(n int) ([]byte, error) {
	have := int(in.left(int64(n)))
	b, err := in.r.Peek(have)
	in.keep(b)
	in.pass(len(b))
	if len(b) < n {
		return b, in.short(err)
	}
	return b, nil
}

func (in *input) pass(n int) {
	in.r.Discard(n)
	in.off += int64(n)
}

// text consumes the n bytes of a string or binary. It returns the first of them, at most shown
// bytes, and whether all bytes are UTF-8.
func (in *input) text(n int64, shown int) (prefix []byte, valid bool, err error) {
	first := len(in.raw)
	var check utf8Check
	for n > 0 {
		have := in.left(n)
		if have == 0 {
			err = in.short(io.EOF)
			break
		}
		if _, err = in.r.Peek(1); err != nil {
			err = in.short(err)
			break
		}
		b, _ := in.r.Peek(int(min(have, int64(in.r.Buffered()))))
		check.add(b)
		room := len(b)
		if shown >= 0 {
			room = min(room, shown-(len(in.raw)-first))
		}
		in.keep(b[:room])
		in.pass(len(b))
		n -= int64(len(b))
	}
	return in.raw[first:], check.valid(), err
}

// utf8Check checks whether bytes that come in pieces are UTF-8.
type utf8Check struct {
	cut []byte // the beginning of an incomplete character
	bad bool
}

func (c *utf8Check) add(b []byte) {
	for len(c.cut) > 0 && len(b) > 0 && !c.bad {
		c.cut = append(c.cut, b[0])
		b = b[1:]
		if utf8.FullRune(c.cut) {
			c.bad = !utf8.Valid(c.cut)
			c.cut = c.cut[:0]
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				c.cut = append(c.cut, last...)
				b = b[:len(b)-n]
			}
			break
		}
	}
	c.bad = c.bad || !utf8.Valid(b)
}

func (c *utf8Check) valid() bool { return !c.bad && len(c.cut) == 0 }
