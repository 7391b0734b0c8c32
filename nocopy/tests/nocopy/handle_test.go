package nocopy_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// panicsWith runs f, which must panic with a text that begins with begins.
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

// TestRoomBefore: every function that makes room before a message refuses negative and too large
// sizes.
func TestRoomBefore(t *testing.T) {
	for _, n := range []int{-1, -8, -30, -66_000, 1 << 30} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newStruct(allDesc, nocopy.Recycle)
			s.Release()
			panicsWith(t, "nocopy: room for", func() { thriftimpl.NewWithRoom(allDesc, n, false) })
			panicsWith(t, "nocopy: room for", func() { thriftimpl.NewHeld(allDesc, n, nocopy.Limits{}, false) })
			s = newStruct(allDesc)
			panicsWith(t, "nocopy: room for", func() { thriftimpl.CopyHeld(allDesc, s, n, nocopy.Limits{}, true) })
			panicsWith(t, "nocopy: room for", func() { thriftimpl.Prepend(nocopy.Struct(s).Message(), n) })
		})
	}
}

// TestFormatOfAnyType: Format and Clone accept only the descriptor of the handle's type.
func TestFormatOfAnyType(t *testing.T) {
	s := newStruct(allDesc)
	other := newStructDesc("Other")
	other.Define()
	if got := nocopy.Struct(s).Format(allDesc); got != render.Text(s, allDesc) {
		t.Errorf("the text is %s", got)
	}
	if got := nocopy.Struct(s).Clone(allDesc); render.Text(thriftimpl.Struct(got), allDesc) != render.Text(s, allDesc) {
		t.Error("the copy is another")
	}
	panicsWith(t, "nocopy: descriptor of Other", func() { nocopy.Struct(s).Format(other) })
	panicsWith(t, "nocopy: descriptor of Other", func() { nocopy.Struct(s).Clone(other) })
	panicsWith(t, "nocopy: nil", func() { nocopy.Struct(s).Format(nil) })
	if got := (nocopy.Struct{}).Format(nil); got != zeroHandleText {
		t.Errorf("of the zero handle: %q", got)
	}
}

// TestScannerDepth: a depth above the maximum means the maximum.
func TestScannerDepth(t *testing.T) {
	var s thriftimpl.Scanner
	for _, depth := range []int{1 << 30, math.MaxInt} {
		s.Reset(depth)
		if end, _, err := s.Scan([]byte{12, 0, 1, 0, 0}); end != 5 || err != nil {
			t.Errorf("depth %d: %d, %v", depth, end, err)
		}
	}
}

// TestNilStreams: reading from nil and writing to nil panic, and the text names the Reader or
// Writer.
func TestNilStreams(t *testing.T) {
	s := newStruct(allDesc)
	panicsWith(t, "nocopy: Read of a nil", func() { nocopy.Read[nocopy.Struct](allDesc, nil, 3) })
	panicsWith(t, "nocopy: WriteTo of a nil", func() { s.Message().WriteTo(nil) })
	panicsWith(t, "nocopy: WriteFrame of a nil", func() { s.Message().WriteFrame(nil) })
}
