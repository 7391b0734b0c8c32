// The ways in which bytes become a message, for several tests.

package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// way is one way in which bytes become a message. All of them must have the same result.
type way struct {
	name  string
	parse func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error)
}

// cutEvery returns the way that gets its bytes in blocks of n.
func cutEvery(n int) way {
	return way{fmt.Sprintf("blocks of %d", n), func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		var blocks [][]byte
		for len(wire) > n {
			blocks, wire = append(blocks, wire[:n]), wire[n:]
		}
		return engine.ParseBlocks(d, append(blocks, wire), opts...)
	}}
}

// cutAt returns the way that gets its bytes in two blocks.
func cutAt(n int) way {
	return way{fmt.Sprintf("cut at %d", n), func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		n := min(n, len(wire))
		return engine.ParseBlocks(d, [][]byte{wire[:n], wire[n:]}, opts...)
	}}
}

func with(w way, o engine.Option, name string) way {
	return way{w.name + ", " + name, func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		return w.parse(d, wire, append([]engine.Option{o}, opts...)...)
	}}
}

var (
	inOnePiece = way{"in one piece", engine.Parse}
	owned      = way{"own", func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		return engine.Parse(d, bytes.Clone(wire), append([]engine.Option{engine.Own}, opts...)...)
	}}
	fromReader = way{"from a reader of single bytes", func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		return engine.Read(d, iotest.OneByteReader(bytes.NewReader(wire)), len(wire), opts...)
	}}
	recycled = with(fromReader, engine.Recycle, "recycled")
)

// ways returns all ways for a message of n bytes: cut at every offset among them.
func ways(n int) []way {
	list := []way{
		inOnePiece, owned, fromReader, recycled, with(inOnePiece, engine.Lazy, "lazy"), with(fromReader, engine.Lazy, "lazy"),
		cutEvery(1), cutEvery(2), cutEvery(3), cutEvery(7), with(cutEvery(1), engine.Lazy, "lazy"), with(cutEvery(5), engine.Recycle, "recycled"),
	}
	for i := range n + 1 {
		list = append(list, cutAt(i), with(cutAt(i), engine.Lazy, "lazy"))
	}
	return list
}

// checkOutput compares every form of output with the wire bytes wanted.
func checkOutput(t testing.TB, name string, m *engine.Message, want []byte) {
	t.Helper()
	var w bytes.Buffer
	n, err := m.WriteTo(&w)
	if err != nil || n != int64(len(want)) {
		t.Fatalf("%s: WriteTo = %d, %v, want %d bytes", name, n, err, len(want))
	}
	if m.Len() != len(want) {
		t.Fatalf("%s: Len = %d, want %d", name, m.Len(), len(want))
	}
	for form, got := range map[string][]byte{"Bytes": m.Bytes(), "AppendTo": m.AppendTo([]byte("x"))[1:], "WriteTo": w.Bytes()} {
		if !bytes.Equal(want, got) {
			t.Fatalf("%s: %s (-want +got):\n%s", name, form, cmp.Diff(want, got))
		}
	}
}

// checkError checks that err is an *Error for the reason, at a place in the first n bytes of a
// message.
func checkError(t testing.TB, where string, err error, d *schema.Struct, n int, reason error) *nocopy.Error {
	t.Helper()
	var e *nocopy.Error
	switch {
	case err == nil:
		t.Fatalf("%s: no error", where)
	case !errors.As(err, &e):
		t.Fatalf("%s: %v is no *Error", where, err)
	case !errors.Is(err, reason):
		t.Fatalf("%s: %v, want %v", where, err, reason)
	case e.Offset < 0 || e.Offset > n:
		t.Fatalf("%s: %v: offset outside of %d bytes", where, err, n)
	case !strings.HasPrefix(e.Path, d.Name()):
		t.Fatalf("%s: %v: path does not begin with %s", where, err, d.Name())
	}
	return e
}

// TestValidWire: a message has the expected value and is sent with the bytes that were received,
// whichever way it was parsed.
func TestValidWire(t *testing.T) {
	for _, c := range validCases(t) {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range ways(len(c.wire)) {
				s, err := w.parse(c.desc, c.wire, c.opts...)
				if err != nil {
					t.Fatalf("%s: %s: %v", c.where, w.name, err)
				}
				if got := render.Text(s, c.desc); got != c.value {
					t.Fatalf("%s: %s: the value is\n%s\nnot\n%s", c.where, w.name, got, c.value)
				}
				if err := s.Message().Index(); err != nil {
					t.Fatalf("%s: %s: Index: %v", c.where, w.name, err)
				}
				if got := render.Text(s, c.desc); got != c.value {
					t.Fatalf("%s: %s: after Index the value is\n%s\nnot\n%s", c.where, w.name, got, c.value)
				}
				checkOutput(t, w.name, s.Message(), c.wire)
				s.Release()
			}
		})
	}
}

// validCases returns the cases of the files that have a value.
func validCases(t testing.TB) []wireCase {
	var valid []wireCase
	for _, c := range wireCases(t, "*.txt") {
		switch {
		case (c.value == "") == (c.err == ""):
			t.Fatalf("%s: %s: neither value nor error, or both", c.where, c.name)
		case c.value != "":
			valid = append(valid, c)
		}
	}
	return valid
}

// TestEditedWire: after the same changes a message is the same, whichever way it was parsed, and
// the received bytes stay as they were.
func TestEditedWire(t *testing.T) {
	for _, c := range validCases(t) {
		t.Run(c.name, func(t *testing.T) {
			before := bytes.Clone(c.wire)
			var want []byte
			var text string
			for _, w := range ways(len(c.wire)) {
				s, err := w.parse(c.desc, c.wire, c.opts...)
				if err != nil {
					t.Fatalf("%s: %v", w.name, err)
				}
				changer{t: t, m: s.Message()}.structure(s, c.desc)
				if want == nil { // what the others must come to
					want = bytes.Clone(s.Message().Bytes())
					again, err := engine.Parse(c.desc, want)
					if err != nil {
						t.Fatalf("%s: what was edited does not parse: %v\n%x", w.name, err, want)
					}
					text = render.Text(again, c.desc)
					again.Release()
				}
				checkOutput(t, w.name, s.Message(), want)
				if diff := cmp.Diff(text, render.Text(s, c.desc)); diff != "" {
					t.Fatalf("%s: edited message reads differently than its bytes (-bytes +message):\n%s", w.name, diff)
				}
				if !bytes.Equal(c.wire, before) {
					t.Fatalf("%s: the caller's bytes were changed", w.name)
				}
				s.Release()
			}
		})
	}
}

// TestTruncatedWire: the error of a message that ends too early, at any byte and in any way of
// parsing, is io.ErrUnexpectedEOF with a place.
func TestTruncatedWire(t *testing.T) {
	for _, c := range validCases(t) {
		t.Run(c.name, func(t *testing.T) {
			for n := range c.wire {
				short := c.wire[:n:n]
				for _, w := range []way{inOnePiece, with(inOnePiece, engine.Lazy, "lazy"),
					fromReader, cutEvery(1), cutEvery(7), cutAt(n / 2), with(cutAt(n/2), engine.Lazy, "lazy"), with(cutEvery(3), engine.Lazy, "lazy")} {
					_, err := w.parse(c.desc, short, c.opts...)
					checkError(t, fmt.Sprintf("%s: first %d bytes, %s", c.where, n, w.name), err, c.desc, n, io.ErrUnexpectedEOF)
				}
				if _, err := engine.Read(c.desc, bytes.NewReader(short), len(c.wire)); err != io.ErrUnexpectedEOF {
					t.Fatalf("Read of %d of %d bytes: %v", n, len(c.wire), err)
				}
			}
		})
	}
}

// TestInvalidWire: the error is the same whichever way the bytes came.
func TestInvalidWire(t *testing.T) {
	for _, c := range wireCases(t, "invalid.txt") {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range ways(len(c.wire)) {
				if strings.Contains(w.name, "lazy") {
					continue // see TestInvalidLazily
				}
				_, err := w.parse(c.desc, c.wire, c.opts...)
				if err == nil {
					t.Fatalf("%s: %s: no error", c.where, w.name)
				}
				if got := err.Error(); got != c.err {
					t.Fatalf("%s: %s: the error is\n%s\nnot\n%s", c.where, w.name, got, c.err)
				}
			}
		})
	}
}

// TestInvalidLazily: Index finds the errors that parsing with Lazy does not find.
func TestInvalidLazily(t *testing.T) {
	for _, c := range wireCases(t, "invalid.txt") {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range ways(len(c.wire)) {
				if !strings.Contains(w.name, "lazy") {
					continue
				}
				s, err := w.parse(c.desc, c.wire, c.opts...)
				if err == nil {
					err = s.Message().Index()
				}
				if err == nil {
					t.Fatalf("%s: %s: no error from Parse nor Index", c.where, w.name)
				}
				strict := mustFail(t, c)
				checkError(t, c.where+" "+w.name, err, c.desc, len(c.wire), errors.Unwrap(strict.Err))
			}
		})
	}
}

// mustFail returns the error of an invalid case.
func mustFail(t *testing.T, c wireCase) *nocopy.Error {
	t.Helper()
	_, err := engine.Parse(c.desc, c.wire, c.opts...)
	var e *nocopy.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v is no *Error", c.where, err)
	}
	if errors.Unwrap(e.Err) == nil { // a bare sentinel
		return &nocopy.Error{Offset: e.Offset, Path: e.Path, Err: fmt.Errorf("%w", e.Err)}
	}
	return e
}
