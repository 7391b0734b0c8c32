package compact_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee/apachetest"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// everyShape returns two structs: one with a field of every shape, all optional, so that random
// bytes often fit, and one without fields.
func everyShape() (every, nothing *thriftimpl.Desc) {
	loose := &referee.Struct{Name: "Loose", Fields: slices.Clone(referee.Everything()[0].Fields)}
	for i := range loose.Fields {
		loose.Fields[i].Req = referee.Optional
	}
	nothing = thriftimpl.NewDesc("Nothing")
	impl.Define(nothing, nil)
	return apachetest.NewSchema().Desc(loose), nothing
}

// FuzzCompact passes any bytes to Apache's library and to Parse with Compact. Both must accept or
// refuse them, and accepted bytes must become the same Thrift Binary, and the same compact bytes
// again. One exception: numbers with too many bits are refused only here; Apache's library
// truncates them.
func FuzzCompact(f *testing.F) {
	g := apachetest.NewGen(7)
	for _, s := range referee.Everything() {
		for range 6 {
			if b := writtenBy(f, g.Record(s, 1+g.Intn(3)), compactOn); len(b) < 4000 {
				f.Add(b)
			}
		}
	}
	for _, c := range hostile {
		f.Add([]byte(c.bytes))
	}
	every, nothing := everyShape()
	f.Fuzz(func(t *testing.T, b []byte) {
		want, n, refused := toBinary(b)
		h, err := thriftimpl.Parse(nothing, b, nocopy.Compact)
		var bad *nocopy.Error
		switch {
		case errors.Is(err, nocopy.ErrLimit) || refused == errTooDeep:
			return
		case errors.Is(err, nocopy.ErrTrailing):
			if refused != nil || n != asError(t, err).Offset {
				t.Fatalf("%x: %v; Apache's library: %d bytes, %v", b, err, n, refused)
			}
			return
		case (err == nil) != (refused == nil):
			t.Fatalf("%x: %v; Apache's library: %v", b, err, refused)
		case err != nil:
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(b) {
				t.Fatalf("%x: %v", b, err)
			}
			return
		}
		defer h.Release()
		if got := h.Message().Bytes(); !bytes.Equal(got, want) || len(got) > 8*len(b)+8 {
			t.Fatalf("%x becomes\n%x, not\n%x", b, got, want)
		}
		again, _, err := toCompact(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := (*nocopy.Message)(h.Message()).AppendCompact(nil); !bytes.Equal(got, again) || 2*len(got) > 3*len(want) {
			t.Fatalf("%x goes out as\n%x, not\n%x", want, got, again)
		}
		sameWhenKnown(t, every, b, want, again)
		sameFromStream(t, b)
	})
}

func asError(t *testing.T, err error) *nocopy.Error {
	var bad *nocopy.Error
	if !errors.As(err, &bad) {
		t.Fatalf("%v is no *Error", err)
	}
	return bad
}

// sameWhenKnown parses b as a struct with known fields. The result must be that of the same bytes
// in Thrift Binary: the same values, or an error with the same reason in the same field.
func sameWhenKnown(t *testing.T, d *thriftimpl.Desc, b, binary, again []byte) {
	t.Helper()
	h, err := thriftimpl.Parse(d, b, nocopy.Compact)
	i, want := thriftimpl.Parse(d, binary)
	if (err == nil) != (want == nil) {
		t.Fatalf("%x: %v; in Thrift Binary: %v", b, err, want)
	}
	if err != nil {
		if e, w := asError(t, err), asError(t, want); e.Path != w.Path || e.Offset > len(b) {
			t.Fatalf("%x: %v; in Thrift Binary: %v", b, err, want)
		}
		return
	}
	defer h.Release()
	defer i.Release()
	if !impl.Equal(h, thriftimpl.StructOf(d), i, thriftimpl.StructOf(d), 0) {
		t.Fatalf("%x: %s\nin Thrift Binary: %s", b, render.Text(h, d), render.Text(i, d))
	}
	if got := (*nocopy.Message)(h.Message()).AppendCompact(nil); !bytes.Equal(got, again) {
		t.Fatalf("%x goes out as\n%x, not\n%x", b, got, again)
	}
}

// sameFromStream reads b, which is valid, twice from a stream of single bytes.
func sameFromStream(t *testing.T, b []byte) {
	t.Helper()
	for _, framed := range []bool{false, true} {
		stream := slices.Concat(b, b)
		if framed {
			stream = frames([][]byte{b, b})
		}
		dec := decoder(framed, &oneByOne{b: stream}, nocopy.Compact)
		for range 2 {
			h, err := dec.Next()
			if err != nil {
				t.Fatalf("%x, framed %v: %v", b, framed, err)
			}
			thriftimpl.Struct(h).Release()
		}
		if _, err := dec.Next(); err != io.EOF {
			t.Fatalf("%x, framed %v: %v", b, framed, err)
		}
	}
}

// FuzzCompactOfBinary passes any Thrift Binary to Parse. AppendCompact must then write the same
// bytes as Apache's library.
func FuzzCompactOfBinary(f *testing.F) {
	g := apachetest.NewGen(8)
	for _, s := range referee.Everything() {
		for range 6 {
			rec := g.Record(s, 1+g.Intn(3))
			g.Noise(rec)
			if b := referee.Write(rec, nil); len(b) < 4000 {
				f.Add(b)
			}
		}
	}
	every, nothing := everyShape()
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.Contains(b, []byte("\x0b\x83\x00")) {
			return // it may have a wire index, which AppendCompact omits
		}
		for _, d := range []*thriftimpl.Desc{every, nothing} {
			for _, opt := range []nocopy.Option{nocopy.Own, nocopy.Lazy, nocopy.ByIndex} {
				h, err := thriftimpl.Parse(d, bytes.Clone(b), opt)
				if err != nil || h.Message().Index() != nil {
					continue
				}
				want, _, err := toCompact(b)
				if err != nil {
					t.Fatalf("%x: %v", b, err)
				}
				if got := (*nocopy.Message)(h.Message()).AppendCompact(nil); !bytes.Equal(got, want) {
					t.Fatalf("%x goes out as\n%x, not\n%x", b, got, want)
				}
				h.Release()
				if h, err = thriftimpl.Parse(d, want, nocopy.Compact); err != nil && !errors.Is(err, nocopy.ErrLimit) {
					t.Fatalf("%x, of %x: %v", want, b, err)
				}
				h.Release()
			}
		}
	})
}
