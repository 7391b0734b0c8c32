package parse_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// FuzzParse parses any bytes as each of the types, in every way. The ways must agree, and none may
// panic. A message that is accepted is sent as it was received, in one piece or cut; with and
// without Lazy it has the same values; and it can be changed.
func FuzzParse(f *testing.F) {
	types := []*schema.Struct{allDesc, strictDesc, shapeDesc, treeDesc, defaultDesc, businessDesc, emptyDesc}
	for _, c := range wireCases(f, "*.txt") {
		for i, d := range types {
			if d == c.desc {
				f.Add(c.wire, uint8(i), uint16(len(c.wire)/2))
			}
		}
	}
	f.Add(handles.Wire(), uint8(0), uint16(100))
	f.Fuzz(func(t *testing.T, wire []byte, kind uint8, cut uint16) {
		d := types[int(kind)%len(types)]
		checkSame(t, d, wire)
		n := int(cut)
		for _, w := range []way{cutAt(n), cutEvery(n%97 + 1), piecesOf(n%61+1, n%2 == 1)} {
			s, err := engine.Parse(d, wire)
			other, otherErr := w.Parse(d, wire)
			if fmt.Sprint(err) != fmt.Sprint(otherErr) {
				t.Fatalf("%v in one piece, %v %s", err, otherErr, w.Name)
			}
			if err == nil {
				checkChanges(t, d, s, other)
			}
		}
		peekAll(t, wire, int(int16(cut)))
	})
}

// checkChanges makes the same changes to two equal messages.
func checkChanges(t *testing.T, d *schema.Struct, s, other engine.Struct) {
	before := bytes.Clone(s.Message().Bytes())
	changeAll(t, s, d)
	changeAll(t, other, d)
	got := bytes.Clone(s.Message().Bytes())
	if !bytes.Equal(got, other.Message().Bytes()) {
		t.Fatalf("%x: changed\n%x in one piece,\n%x cut", before, got, other.Message().Bytes())
	}
	again, err := engine.Parse(d, got, engine.Limits{MaxIndex: 1 << 30})
	if err != nil {
		t.Fatalf("%x: changed to %x: %v", before, got, err)
	}
	if a, b := render.Text(s, d), render.Text(again, d); a != b {
		t.Fatalf("%x: changed, reads as\n%s, its bytes\n%s", before, a, b)
	}
	s.Release()
	other.Release()
	again.Release()
}

// peekAll peeks at bytes that may be anything.
func peekAll(t *testing.T, wire []byte, id int) {
	for _, path := range [][]int{nil, {id}, {1}, {13, 0}, {18, 1, 0}, {23, 23}, {24, id}, {24, 0, 4}} {
		v, err := engine.Peek(wire, path...)
		if err != nil {
			checkPeekError(t, err, len(wire))
			continue
		}
		if len(v.Raw()) > len(wire) {
			t.Fatalf("a value of %d bytes in %d", len(v.Raw()), len(wire))
		}
	}
}

func checkPeekError(t *testing.T, err error, n int) {
	if e, ok := err.(*nocopy.Error); !ok || e.Offset < 0 || e.Offset > n {
		t.Fatalf("Peek at %d bytes: %v", n, err)
	}
}
