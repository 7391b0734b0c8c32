package parse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// countFields returns the offsets of the lengths and counts in a well-formed struct. It is an
// independent walk, written from the protocol's description. The counts of empty containers of
// types that don't exist are left out.
func countFields(wire []byte) []int {
	w := countWalk{b: wire}
	w.value(nocopy.WireStruct)
	return w.at
}

type countWalk struct {
	b  []byte
	i  int
	at []int
}

func (w *countWalk) count(types ...nocopy.WireType) int {
	at := w.i
	w.i += 4
	for _, t := range types {
		if wire.MinSize[t] == 0 {
			return 0
		}
	}
	w.at = append(w.at, at)
	return int(wire.BE32(w.b[w.i-4:]))
}

func (w *countWalk) wireType() nocopy.WireType {
	w.i++
	return nocopy.WireType(w.b[w.i-1])
}

func (w *countWalk) value(t nocopy.WireType) {
	switch t {
	case nocopy.WireStruct:
		for t := w.wireType(); t != nocopy.WireStop; t = w.wireType() {
			w.i += 2
			w.value(t)
		}
	case nocopy.WireString:
		n := w.count()
		w.i += n
	case nocopy.WireList, nocopy.WireSet:
		elem := w.wireType()
		for range w.count(elem) {
			w.value(elem)
		}
	case nocopy.WireMap:
		key, value := w.wireType(), w.wireType()
		for range w.count(key, value) {
			w.value(key)
			w.value(value)
		}
	default:
		w.i += map[nocopy.WireType]int{nocopy.WireBool: 1, nocopy.WireI8: 1, nocopy.WireI16: 2, nocopy.WireI32: 4, nocopy.WireI64: 8, nocopy.WireDouble: 8, nocopy.WireUUID: 16}[t]
	}
}

// TestWrongCounts replaces every length and count of every valid message by wrong numbers.
func TestWrongCounts(t *testing.T) {
	n := 0
	for _, c := range validCases(t) {
		for _, at := range countFields(c.wire) {
			n++
			for _, count := range []uint32{math.MaxUint32, 1 << 31, math.MaxInt32, math.MaxInt32 / 2, 100 << 20, uint32(len(c.wire) - at - 3)} {
				bad := bytes.Clone(c.wire)
				wire.PutBE32(bad[at:], count)
				for _, w := range []way{inOnePiece, with(inOnePiece, engine.Lazy, "lazy"), fromReader, cutAt(at), cutAt(at + 2), cutEvery(1), cutEvery(3)} {
					where := fmt.Sprintf("%s: %s: count %d at %d, %s", c.where, c.name, int32(count), at, w.Name)
					reason := io.ErrUnexpectedEOF
					if int32(count) < 0 {
						reason = nocopy.ErrNegative
					}
					_, err := w.Parse(c.desc, bad, c.opts...)
					if e := checkError(t, where, err, c.desc, len(bad), reason); reason == nocopy.ErrNegative && e.Offset != at {
						t.Errorf("%s: %v: the offset is not the count's", where, e)
					}
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d counts in all of testdata/wire", n)
	}
}

// TestOffByOne: with a count that is one too many or too few the rest of the bytes means something
// else. The result is an error, or a message that is sent as it was received.
func TestOffByOne(t *testing.T) {
	for _, c := range validCases(t) {
		for _, at := range countFields(c.wire) {
			for _, d := range []uint32{1, math.MaxUint32} {
				bad := bytes.Clone(c.wire)
				wire.PutBE32(bad[at:], wire.BE32(bad[at:])+d)
				checkSame(t, c.desc, bad)
			}
		}
	}
}

// TestFlippedBytes does the same with every byte changed in several ways.
func TestFlippedBytes(t *testing.T) {
	for _, c := range validCases(t) {
		for i := range c.wire {
			for _, x := range []byte{0x01, 0x03, 0x80, 0xff, c.wire[i]} {
				bad := bytes.Clone(c.wire)
				bad[i] ^= x
				checkSame(t, c.desc, bad)
			}
		}
	}
}

// checkSame parses bytes that may be anything, in several ways that must agree.
func checkSame(t testing.TB, d *schema.Struct, wire []byte) {
	t.Helper()
	s, err := engine.Parse(d, wire)
	text := ""
	if err == nil {
		if text = render.Text(s, d); !bytes.Equal(s.Message().Bytes(), wire) {
			t.Fatalf("%x: goes out as %x", wire, s.Message().Bytes())
		}
		s.Release()
	} else {
		checkError(t, fmt.Sprintf("%x", wire), err, d, len(wire), errors.Unwrap(err))
	}
	for _, w := range []way{cutEvery(1), cutEvery(6), cutAt(len(wire) / 2)} {
		s, other := w.Parse(d, wire)
		if fmt.Sprint(err) != fmt.Sprint(other) {
			t.Fatalf("%x: %v in one piece, %v %s", wire, err, other, w.Name)
		}
		if other == nil {
			if got := render.Text(s, d); got != text || !bytes.Equal(s.Message().Bytes(), wire) {
				t.Fatalf("%x: %s: %s\n%x, not\n%s", wire, w.Name, got, s.Message().Bytes(), text)
			}
			s.Release()
		}
	}
	for _, w := range []way{with(inOnePiece, engine.Lazy, "lazy"), with(cutEvery(1), engine.Lazy, "lazy"), with(cutEvery(6), engine.Lazy, "lazy")} {
		s, other := w.Parse(d, wire)
		if other == nil {
			lazily := ""
			if err == nil {
				lazily = render.Text(s, d)
			}
			if other = s.Message().Index(); other == nil {
				if got := render.Text(s, d); err == nil && (got != text || lazily != text) {
					t.Fatalf("%x: %s: %s and %s, not %s", wire, w.Name, lazily, got, text)
				}
			}
			if other == nil && engine.Duplicates(s.Message()) > 0 && errors.Is(err, nocopy.ErrMissingRequired) {
				other = err // Index does not look into what a later occurrence of the field takes the place of
			}
			s.Release()
		}
		if (err == nil) != (other == nil) {
			t.Fatalf("%x: %v in one piece, %v %s", wire, err, other, w.Name)
		}
	}
}
