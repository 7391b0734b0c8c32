package nocopy

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// panicsWith runs f, which must panic with a text that begins so.
func panicsWith(t *testing.T, begins string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, begins) {
			t.Errorf("the panic is %q", got)
		}
	}()
	f()
}

// TestRoomBefore: no room that can't be is made before a message, whoever asks.
func TestRoomBefore(t *testing.T) {
	for _, n := range []int{-1, -8, -30, -66_000, 1 << 30} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newStruct(allDesc, Recycle)
			s.Release()
			panicsWith(t, "nocopy: room for", func() { X{}.NewWithRoom(allDesc, n, false) })
			panicsWith(t, "nocopy: room for", func() { X{}.NewHeld(allDesc, n, Limits{}, false) })
			s = newStruct(allDesc)
			panicsWith(t, "nocopy: room for", func() { X{}.CopyHeld(allDesc, s, n, Limits{}, true) })
			panicsWith(t, "nocopy: room for", func() { X{}.Prepend(s.m, n) })
		})
	}
}

// TestFormatOfAnyType: a handle's text and copy are had with the descriptor of its type only.
func TestFormatOfAnyType(t *testing.T) {
	s := newStruct(allDesc)
	other := newStructDesc("Other")
	other.Define()
	if got := Struct(s).Format(allDesc); got != s.Format(allDesc) {
		t.Errorf("the text is %s", got)
	}
	if got := Struct(s).Clone(allDesc); XStruct(got).Format(allDesc) != s.Format(allDesc) {
		t.Error("the copy is another")
	}
	panicsWith(t, "nocopy: descriptor of Other", func() { Struct(s).Format(other) })
	panicsWith(t, "nocopy: descriptor of Other", func() { Struct(s).Clone(other) })
	panicsWith(t, "nocopy: nil", func() { Struct(s).Format(nil) })
	if got := (Struct{}).Format(nil); got != zeroHandleText {
		t.Errorf("of the zero handle: %q", got)
	}
}

// TestValueOfAnotherType: what reads a Value whose type was changed gets zeros.
func TestValueOfAnotherType(t *testing.T) {
	for wire := range WireType(20) {
		for _, b := range [][]byte{nil, {1}, {1, 2, 3}} {
			v := Value{wire, b}
			v.Bool()
			if v.Int16() != 0 && len(b) < 2 || v.Int32() != 0 || v.Int64() != 0 || v.Float64() != 0 || v.UUID() != (UUID{}) ||
				v.Text() != "" || v.Len() != 0 {
				t.Errorf("%v of %d bytes is not zero", wire, len(b))
			}
			v.Int8()
		}
	}
}

// TestScannerDepth: a depth beyond all is as much as may be.
func TestScannerDepth(t *testing.T) {
	var s XScanner
	for _, depth := range []int{1 << 30, math.MaxInt} {
		s.Reset(depth)
		if end, _, err := s.Scan([]byte{12, 0, 1, 0, 0}); end != 5 || err != nil {
			t.Errorf("depth %d: %d, %v", depth, end, err)
		}
	}
}

// TestNilStreams: reading from nil and writing to nil are panics that name it.
func TestNilStreams(t *testing.T) {
	s := newStruct(allDesc)
	panicsWith(t, "nocopy: Read of a nil", func() { Read[Struct](allDesc, nil, 3) })
	panicsWith(t, "nocopy: WriteTo of a nil", func() { s.m.WriteTo(nil) })
	panicsWith(t, "nocopy: WriteFrame of a nil", func() { s.m.WriteFrame(nil) })
}
