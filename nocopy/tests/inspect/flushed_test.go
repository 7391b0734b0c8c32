package inspect_test

import (
	"errors"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

// TestFlushed: bytes are dumped before the next ones arrive.
func TestFlushed(t *testing.T) {
	r, w := io.Pipe()
	out, shown := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- inspect.Dump(shown, r, inspect.Options{}) }()
	go io.WriteString(w, sale[:25])
	const want = "# structs\n         0                                       struct\n         0  0a 00 01 00 00 00 00 00 00 12 67       1: i64 4711\n"
	b := make([]byte, len(want))
	if _, err := io.ReadFull(out, b); err != nil || string(b) != want {
		t.Errorf("%v: %s", err, b)
	}
	go io.Copy(io.Discard, out)
	w.Close()
	if err := <-done; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
