// The ways in which bytes become a message, for several tests.

package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// way is one way in which bytes become a message. All of them must come to the same.
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

// checkError wants an *Error for the reason at a place in the first n bytes of a message.
func checkError(t testing.TB, where string, err error, d *schema.Struct, n int, reason error) *engine.Error {
	t.Helper()
	var e *engine.Error
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
