package model_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// onceReader returns an error only once, together with some bytes or after them. Then it has more
// bytes.
type onceReader struct {
	parts [][]byte
	late  bool // the error comes without bytes
	err   error
	said  bool
}

func (r *onceReader) Read(b []byte) (int, error) {
	if len(r.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.parts[0])
	if r.parts[0] = r.parts[0][n:]; len(r.parts[0]) > 0 {
		return n, nil
	}
	if r.late && n > 0 {
		return n, nil
	}
	r.parts = r.parts[1:]
	if r.said {
		return n, nil
	}
	r.said = true
	return n, r.err
}

// TestDecoderErrorOnce: an error that the Reader returns once, with or without bytes, is returned
// after the messages that arrived before it, and by all later calls.
func TestDecoderErrorOnce(t *testing.T) {
	decodedDesc = thriftimpl.NewDesc("Once")
	decodedDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "x", Type: thriftimpl.TypeI32})
	message := []byte{byte(nocopy.WireI32), 0, 1, 0, 0, 0, 7, 0}
	broken := errors.New("broken")
	for _, framed := range []bool{false, true} {
		all, _ := stream([][]byte{message, message, message}, framed)
		each := len(all) / 3
		for cut := range len(all) {
			for _, late := range []bool{false, true} {
				r := &onceReader{parts: [][]byte{bytes.Clone(all[:cut]), bytes.Clone(all[cut:])}, late: late, err: broken}
				d, n := newDecoder(r, framed), 0
				var err error
				for range d.All() {
					n++
				}
				if _, err = d.Next(); err != broken {
					t.Fatalf("framed %v, cut at %d, late %v: %v", framed, cut, late, err)
				}
				if n != cut/each+1 { // All yields the error, too
					t.Fatalf("framed %v, cut at %d, late %v: %d messages", framed, cut, late, n-1)
				}
				if _, err = d.Next(); err != broken {
					t.Fatalf("again: %v", err)
				}
			}
		}
	}
}
