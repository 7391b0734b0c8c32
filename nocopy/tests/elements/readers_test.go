package elements_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// tooMany is a Reader that says once that it has returned one byte more than it was asked for.
type tooMany struct {
	b   []byte
	bad bool
}

func (r *tooMany) Read(b []byte) (int, error) {
	n := copy(b, r.b)
	if r.b = r.b[n:]; n == len(b) && len(r.b) == 1 && !r.bad {
		r.bad = true
		return n + 1, nil
	}
	return n, nil
}

// TestFrameReaderCount: a Reader that returns more than it was asked for is refused, also at the
// end of a frame. (frameReader asks for less than its buffer has, and so memory.read, which checks
// the count against the buffer, takes bytes that nobody has written for a part of the struct.)
func TestFrameReaderCount(t *testing.T) {
	s := newBatch(1)
	defer s.Release()
	s.SetText(batchDesc.Field(0), "a sender")
	in := forms[1].send(s)
	in[3]-- // the frame ends one byte before its STOP: Read is asked for less than there is
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		d := forms[1].decoder(&tooMany{b: bytes.Clone(in)}, "items", opts...)
		rest, err := d.Rest()
		if err == nil {
			t.Errorf("%v: a byte that was never read is the end of %s", opts, nocopy.Struct(rest).StringAs(batchDesc))
		}
		engine.Struct(rest).Release()
	}
}

// withLast is a Reader that returns an error together with its last bytes, and io.EOF after that.
type withLast struct {
	b   []byte
	err error
}

func (r *withLast) Read(b []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.b)
	if r.b = r.b[n:]; len(r.b) > 0 {
		return n, nil
	}
	return n, r.err
}

// TestErrorWithLastBytes: a Reader's error that comes with the last bytes of a struct is returned
// after it, also with frames, where the next frame's length is read past the noted error.
func TestErrorWithLastBytes(t *testing.T) {
	whole, broken := newBatch(5), errors.New("broken")
	defer whole.Release()
	for _, f := range forms {
		d := f.decoder(&withLast{f.send(whole), broken}, "items")
		if _, _, err := readAll(d); err != nil {
			t.Fatal(f.name, err)
		}
		if _, err := d.Head(); err != broken {
			t.Errorf("%s: after the struct: %v, not %v", f.name, err, broken)
		}
	}
}

// panicsOnce is a Reader that panics once, after so many bytes.
type panicsOnce struct {
	b  []byte
	at int
}

func (r *panicsOnce) Read(b []byte) (int, error) {
	if r.at == 0 {
		r.at = -1
		panic("the Reader panics")
	}
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	if r.at > 0 {
		b = b[:min(len(b), r.at)]
	}
	n := copy(b, r.b)
	r.b = r.b[n:]
	r.at -= min(n, max(0, r.at))
	return n, nil
}

// TestReaderPanics: if a Reader panics and the program goes on, so does the decoder, or it returns
// an error. It does not say that there is no list.
func TestReaderPanics(t *testing.T) {
	whole := newBatch(5)
	defer whole.Release()
	for _, f := range forms {
		in := f.send(whole)
		for at := range in {
			d := f.decoder(&panicsOnce{in, at}, "inner.items")
			n := 0
			next := func() (err error, panicked bool) {
				defer func() { panicked = recover() != nil }()
				for {
					if _, err := d.Next(); err != nil {
						return err, false
					}
					n++
				}
			}
			err, panicked := next()
			if panicked {
				err, _ = next()
			}
			if err == io.EOF && n != 5 {
				t.Errorf("%s, panic after %d bytes: %d elements of 5, then io.EOF", f.name, at, n)
				break
			}
			func() {
				defer func() { recover() }()
				rest, _ := d.Rest()
				engine.Struct(rest).Release()
			}()
		}
	}
}
