// The ways in which bytes become a message, and comparisons for tests.

package nocopy_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// checkError checks that err is an *Error for the reason at a place in the first n bytes of a
// message.
func checkError(t testing.TB, where string, err error, d *thriftimpl.Desc, n int, reason error) *nocopy.Error {
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

// checkOutput compares every form of output with the expected wire bytes.
func checkOutput(t testing.TB, name string, m *nocopy.Message, want []byte) {
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

// cutAt returns the way that gets its bytes in two blocks, cut at n.
func cutAt(n int) way {
	return way{fmt.Sprintf("cut at %d", n), func(d *thriftimpl.Desc, wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
		n := min(n, len(wire))
		return nocopy.ParseBlocks[thriftimpl.Struct](d, [][]byte{wire[:n], wire[n:]}, opts...)
	}}
}

// cutEvery returns the way that gets its bytes in blocks of n bytes.
func cutEvery(n int) way {
	return way{fmt.Sprintf("blocks of %d", n), func(d *thriftimpl.Desc, wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
		var blocks [][]byte
		for len(wire) > n {
			blocks, wire = append(blocks, wire[:n]), wire[n:]
		}
		return nocopy.ParseBlocks[thriftimpl.Struct](d, append(blocks, wire), opts...)
	}}
}

// way is one way in which bytes become a message. All ways must give the same result.
type way struct {
	name  string
	parse func(d *thriftimpl.Desc, wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error)
}

// ways returns all ways for a message of n bytes, including cuts at every offset.
func ways(n int) []way {
	list := []way{
		inOnePiece, owned, fromReader, recycled, with(inOnePiece, nocopy.Lazy, "lazy"), with(fromReader, nocopy.Lazy, "lazy"),
		cutEvery(1), cutEvery(2), cutEvery(3), cutEvery(7), with(cutEvery(1), nocopy.Lazy, "lazy"), with(cutEvery(5), nocopy.Recycle, "recycled"),
	}
	for i := range n + 1 {
		list = append(list, cutAt(i), with(cutAt(i), nocopy.Lazy, "lazy"))
	}
	return list
}

func with(w way, o nocopy.Option, name string) way {
	return way{w.name + ", " + name, func(d *thriftimpl.Desc, wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
		return w.parse(d, wire, append([]nocopy.Option{o}, opts...)...)
	}}
}

var (
	inOnePiece = way{"in one piece", parseStruct}
	owned      = way{"own", func(d *thriftimpl.Desc, wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
		return parseStruct(d, bytes.Clone(wire), append([]nocopy.Option{nocopy.Own}, opts...)...)
	}}
	fromReader = way{"from a reader of single bytes", func(d *thriftimpl.Desc, wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
		return nocopy.Read[thriftimpl.Struct](d, iotest.OneByteReader(bytes.NewReader(wire)), len(wire), opts...)
	}}
	recycled = with(fromReader, nocopy.Recycle, "recycled")
)

// allocated returns the number of bytes that f allocates, beginning with empty pools.
func allocated(f func()) int {
	for range 2 { // items in pools survive one collection
		runtime.GC()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// be returns n as a count on the wire.
func be(n int) string { return string(appendBE32(nil, uint32(n))) }

// longText is long enough to be referred to, not copied.
var longText = strings.Repeat("long ", referSize/5+1)

// together runs f in several goroutines.
func together(t *testing.T, f func(i int) error) {
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
