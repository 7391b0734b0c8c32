package shapes_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestFastCodec writes structs into the middle of buffers, and reads them from there.
func TestFastCodec(t *testing.T) {
	refused := shapes.NewRefused()
	refused.SetReason(strings.Repeat("because ", 1000))
	refused.NewWhere().SetX(3)
	where := thriftimpl.Struct(refused.GetWhere())
	check := func(name string, s thriftimpl.Struct, d *thriftimpl.Desc) {
		t.Helper()
		want := s.AppendStruct(nil, d)
		if n := s.WireLen(d); n != len(want) {
			t.Errorf("%s: length %d, want %d", name, n, len(want))
		}
		buf := bytes.Repeat([]byte{0xee}, len(want)+20)
		if n := thriftimpl.FastWrite(s, d, buf[10:]); n != len(want) || !bytes.Equal(buf[10:10+n], want) || buf[10+n] != 0xee {
			t.Errorf("%s: wrote %d bytes", name, n)
		}
		var read nocopy.Struct
		n, err := thriftimpl.FastRead(&read, d, buf[10:])
		clear(buf) // the message has a copy
		if err != nil || n != len(want) || !bytes.Equal(thriftimpl.Struct(read).AppendStruct(nil, d), want) {
			t.Errorf("%s: read %d bytes: %v", name, n, err)
		}
		for i := range min(len(want), 100) {
			if _, err := thriftimpl.FastRead(&read, d, want[:i]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: %d bytes of %d: %v", name, i, len(want), err)
			}
		}
	}
	check("root", thriftimpl.Struct(refused), shapes.RefusedDesc)
	check("part", where, shapes.PointDesc)
	check("absent", thriftimpl.Struct(shapes.NewRefused().GetWhere()), shapes.PointDesc)
	check("zero handle", thriftimpl.Struct{}, shapes.PointDesc)
	var p shapes.Point
	if _, err := thriftimpl.FastRead(&p, shapes.PointDesc, []byte{77, 0, 1, 2, 0}); !errors.As(err, new(*nocopy.Error)) {
		t.Errorf("bad bytes: %v", err)
	}
}

// TestDetachedStays releases messages, makes others, and checks that detached pieces are
// unchanged.
func TestDetachedStays(t *testing.T) {
	other := shapes.NewRefused()
	other.SetReason(strings.Repeat("other ", 3000))
	var all [][][]byte
	var want [][]byte
	for i := range 200 {
		s := shapes.NewRefused()
		s.SetReason(strings.Repeat("x", i*300))
		if i%3 == 0 {
			s = other.Clone()
			s.SetReason(other.GetReason() + "!")
			s.NewWhere().SetX(int32(i))
		}
		s.SetCode(int32(i))
		want = append(want, s.Message().AppendTo(nil))
		all = append(all, thriftimpl.Detach(s.Message(), 4<<10, 32<<10))
		s.Release()
	}
	for i, pieces := range all {
		if got := bytes.Join(pieces, nil); !bytes.Equal(got, want[i]) {
			t.Errorf("message %d has changed", i)
		}
	}
}
