package support

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// message is what a message has in package nocopy and in its engine.
type message interface {
	io.WriterTo
	Len() int
	Bytes() []byte
	AppendTo(b []byte) []byte
}

// CheckOutput compares every form of output with the wire bytes wanted.
func CheckOutput(t testing.TB, name string, m message, want []byte) {
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

// CheckError checks that err is an *Error for the reason, at a place in the first n bytes of a
// message.
func CheckError(t testing.TB, where string, err error, d *schema.Struct, n int, reason error) *nocopy.Error {
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

func MustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	s, err := engine.Parse(d, wire, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Together runs f in several goroutines.
func Together(t *testing.T, f func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for i := range cap(errs) {
		wg.Go(func() {
			if err := f(i); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}
