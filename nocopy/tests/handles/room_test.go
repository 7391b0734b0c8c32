package handles_test

import (
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestRoomBefore: every function that makes room before a message refuses negative and too large
// sizes.
func TestRoomBefore(t *testing.T) {
	for _, n := range []int{-1, -8, -30, -66_000, 1 << 30} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newStruct(allDesc, nocopy.Recycle)
			s.Release()
			panicsWith(t, "nocopy: room for", func() { impl.NewIn(allDesc, memory.Chunk{}, n, nil) })
			panicsWith(t, "nocopy: room for", func() { thriftimpl.NewForCall(allDesc, n, nocopy.Limits{}, false) })
			s = newStruct(allDesc)
			panicsWith(t, "nocopy: room for", func() { impl.CopyForCall(allDesc, s, n, nocopy.Limits{}, true) })
			panicsWith(t, "nocopy: room for", func() { impl.Prepend(nocopy.Struct(s).Message(), n) })
		})
	}
}

// TestFormatOfAnyType: Format and Clone accept only the descriptor of the handle's type.
func TestFormatOfAnyType(t *testing.T) {
	s := newStruct(allDesc)
	other := newStructDesc("Other")
	other.Define()
	if got := nocopy.Struct(s).StringAs(allDesc); got != render.Text(s, allDesc) {
		t.Errorf("the text is %s", got)
	}
	if got := nocopy.Struct(s).Clone(allDesc); render.Text(thriftimpl.Struct(got), allDesc) != render.Text(s, allDesc) {
		t.Error("the copy is another")
	}
	panicsWith(t, "nocopy: descriptor of Other", func() { nocopy.Struct(s).StringAs(other) })
	panicsWith(t, "nocopy: descriptor of Other", func() { nocopy.Struct(s).Clone(other) })
	panicsWith(t, "nocopy: nil", func() { nocopy.Struct(s).StringAs(nil) })
	if got := (nocopy.Struct{}).StringAs(nil); got != zeroHandleText {
		t.Errorf("of the zero handle: %q", got)
	}
}
