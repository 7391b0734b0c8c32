// The ways in which bytes become a message, for several tests.

package parse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// TestValidWire: a message has the expected value and is sent with the bytes that were received,
// whichever way it was parsed.
func TestValidWire(t *testing.T) {
	for _, c := range validCases(t) {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range ways(len(c.wire)) {
				s, err := w.Parse(c.desc, c.wire, c.opts...)
				if err != nil {
					t.Fatalf("%s: %s: %v", c.where, w.Name, err)
				}
				if got := render.Text(s, c.desc); got != c.value {
					t.Fatalf("%s: %s: the value is\n%s\nnot\n%s", c.where, w.Name, got, c.value)
				}
				if err := s.Message().Index(); err != nil {
					t.Fatalf("%s: %s: Index: %v", c.where, w.Name, err)
				}
				if got := render.Text(s, c.desc); got != c.value {
					t.Fatalf("%s: %s: after Index the value is\n%s\nnot\n%s", c.where, w.Name, got, c.value)
				}
				checkOutput(t, w.Name, s.Message(), c.wire)
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
				s, err := w.Parse(c.desc, c.wire, c.opts...)
				if err != nil {
					t.Fatalf("%s: %v", w.Name, err)
				}
				changeAll(t, s, c.desc)
				if want == nil { // what the others must come to
					want = bytes.Clone(s.Message().Bytes())
					again, err := engine.Parse(c.desc, want)
					if err != nil {
						t.Fatalf("%s: what was edited does not parse: %v\n%x", w.Name, err, want)
					}
					text = render.Text(again, c.desc)
					again.Release()
				}
				checkOutput(t, w.Name, s.Message(), want)
				if diff := cmp.Diff(text, render.Text(s, c.desc)); diff != "" {
					t.Fatalf("%s: edited message reads differently than its bytes (-bytes +message):\n%s", w.Name, diff)
				}
				if !bytes.Equal(c.wire, before) {
					t.Fatalf("%s: the caller's bytes were changed", w.Name)
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
					_, err := w.Parse(c.desc, short, c.opts...)
					checkError(t, fmt.Sprintf("%s: first %d bytes, %s", c.where, n, w.Name), err, c.desc, n, io.ErrUnexpectedEOF)
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
				if strings.Contains(w.Name, "lazy") {
					continue // see TestInvalidLazily
				}
				_, err := w.Parse(c.desc, c.wire, c.opts...)
				if err == nil {
					t.Fatalf("%s: %s: no error", c.where, w.Name)
				}
				if got := err.Error(); got != c.err {
					t.Fatalf("%s: %s: the error is\n%s\nnot\n%s", c.where, w.Name, got, c.err)
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
				if !strings.Contains(w.Name, "lazy") {
					continue
				}
				s, err := w.Parse(c.desc, c.wire, c.opts...)
				if err == nil {
					err = s.Message().Index()
				}
				if err == nil {
					t.Fatalf("%s: %s: no error from Parse nor Index", c.where, w.Name)
				}
				strict := mustFail(t, c)
				checkError(t, c.where+" "+w.Name, err, c.desc, len(c.wire), errors.Unwrap(strict.Err))
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
