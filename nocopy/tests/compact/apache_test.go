package compact_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee/apachetest"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// way is one way in which bytes in the compact protocol become a message.
type way struct {
	name  string
	lazy  bool
	parse func(d *thriftimpl.Desc, b []byte, opts ...nocopy.Option) (thriftimpl.Struct, error)
}

var with = func(opts []nocopy.Option, more ...nocopy.Option) []nocopy.Option {
	return append(append([]nocopy.Option{nocopy.Compact}, more...), opts...)
}

// cutEvery returns blocks of n bytes.
func cutEvery(b []byte, n int) (blocks [][]byte) {
	for len(b) > n {
		blocks, b = append(blocks, b[:n]), b[n:]
	}
	return append(blocks, b)
}

func ways() []way {
	parse := func(more ...nocopy.Option) func(*thriftimpl.Desc, []byte, ...nocopy.Option) (thriftimpl.Struct, error) {
		return func(d *thriftimpl.Desc, b []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
			return thriftimpl.Parse(d, b, with(opts, more...)...)
		}
	}
	return []way{
		{"Parse", false, parse()},
		{"Parse, own", false, parse(nocopy.Own)},
		{"Parse, lazy", true, parse(nocopy.Lazy)},
		{"Parse, recycle", false, parse(nocopy.Recycle)},
		{"Parse, by index", false, parse(nocopy.ByIndex)},
		{"blocks of 1", false, func(d *thriftimpl.Desc, b []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
			return nocopy.ParseBlocks[thriftimpl.Struct](d, cutEvery(b, 1), with(opts)...)
		}},
		{"Read", false, func(d *thriftimpl.Desc, b []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
			return nocopy.Read[thriftimpl.Struct](d, iotest.OneByteReader(bytes.NewReader(b)), len(b), with(opts)...)
		}},
		{"kept", false, func(d *thriftimpl.Desc, b []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
			return engine.ParseInto(d, new(engine.Message), b, with(opts))
		}},
	}
}

// writtenBy returns the bytes of a record as Apache's library writes them.
func writtenBy(t testing.TB, rec *referee.Record, on func(*thrift.TMemoryBuffer) thrift.TProtocol) []byte {
	t.Helper()
	mem := thrift.NewTMemoryBuffer()
	if err := referee.WriteTo(on(mem), rec); err != nil {
		t.Fatal(err)
	}
	return mem.Bytes()
}

// TestCompactAsApache: in all ways, the compact bytes of Apache's library become its Thrift
// Binary. Messages are written in the compact protocol with the same bytes as by Apache's library.
func TestCompactAsApache(t *testing.T) {
	for seed := range uint64(testmode.Of(40, 400)) {
		g := apachetest.NewGen(seed)
		structs := referee.Everything()
		if seed > 4 {
			structs = g.Structs(2 + int(seed%6))
		}
		sc := apachetest.NewSchema()
		for _, s := range structs {
			d := sc.Desc(s)
			for range 4 {
				rec := g.Record(s, 1+g.Intn(3))
				compact, want := writtenBy(t, rec, compactOn), writtenBy(t, rec, binaryOn)
				for _, w := range ways() {
					h, err := w.parse(d, compact)
					if err != nil {
						t.Fatalf("%s, %s: %v\n%x", w.name, s.Name, err, compact)
					}
					if got := h.Message().Bytes(); !bytes.Equal(got, want) {
						t.Fatalf("%s, %s: %x becomes\n%x, not\n%x", w.name, s.Name, compact, got, want)
					}
					checkCompact(t, w.name, nocopy.Struct(h).Message(), compact)
					h.Release()
				}
			}
		}
	}
}

// checkCompact checks the message's compact bytes.
func checkCompact(t *testing.T, name string, m *nocopy.Message, want []byte) {
	t.Helper()
	if got := m.AppendCompact([]byte("x")); !bytes.Equal(got[1:], want) || got[0] != 'x' {
		t.Fatalf("%s: AppendCompact gives\n%x, not\n%x", name, got[1:], want)
	}
	var out bytes.Buffer
	if n, err := m.WriteCompact(&out); err != nil || n != int64(len(want)) || !bytes.Equal(out.Bytes(), want) {
		t.Fatalf("%s: WriteCompact writes %x, %d, %v, not\n%x", name, out.Bytes(), n, err, want)
	}
}

// TestCompactUnknown: unknown fields are kept and sent unchanged.
func TestCompactUnknown(t *testing.T) {
	d := thriftimpl.NewDesc("Nothing")
	impl.Define(d, nil)
	for seed := range uint64(testmode.Of(30, 300)) {
		g := apachetest.NewGen(seed)
		for _, s := range referee.Everything() {
			compact := writtenBy(t, g.Record(s, 2), compactOn)
			want, _, err := toBinary(compact)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range ways() {
				h, err := w.parse(d, compact)
				if err != nil {
					t.Fatalf("%s: %v", w.name, err)
				}
				if got := h.Message().Bytes(); !bytes.Equal(got, want) {
					t.Fatalf("%s: %x becomes\n%x, not\n%x", w.name, compact, got, want)
				}
				checkCompact(t, w.name, nocopy.Struct(h).Message(), compact)
				h.Release()
			}
		}
	}
}

// TestCompactTruncated: in all ways, a truncated message ends too early.
func TestCompactTruncated(t *testing.T) {
	g := apachetest.NewGen(3)
	sc := apachetest.NewSchema()
	for _, s := range referee.Everything() {
		d := sc.Desc(s)
		compact := writtenBy(t, g.Record(s, 2), compactOn)
		for n := range min(len(compact), 1500) {
			for _, w := range ways() {
				h, err := w.parse(d, compact[:n])
				var bad *nocopy.Error
				if !errors.As(err, &bad) || !errors.Is(err, io.ErrUnexpectedEOF) || bad.Offset > n {
					t.Fatalf("%s, %d of %d bytes: %v", w.name, n, len(compact), err)
				}
				if h.Valid() {
					t.Fatalf("%s: a message with the error %v", w.name, err)
				}
			}
		}
	}
}
