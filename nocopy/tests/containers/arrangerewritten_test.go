package containers_test

import (
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestRewriteCompactedList: a text is set after the message was compacted. The index of a list
// that was arranged before stays as it is.
func TestRewriteCompactedList(t *testing.T) {
	s, l := pointList(t, "received", 1, 2, 3)
	defer s.Release()
	text := fieldNamed(allDesc, "text")
	s.SetText(text, "some text")
	l.Swap(0, 2)
	s.Message().Compact()
	s.Message().Len()
	for _, v := range []string{"a longer text than before", "b", ""} {
		s.SetText(text, v)
		if got := xsOf(t, l); !slices.Equal(got, []int32{3, 2, 1}) || s.Text(text) != v {
			t.Fatalf("after %q it has %q and %d", v, s.Text(text), got)
		}
		if err := engine.CheckIndex((*engine.Message)(s.Message())); err != nil {
			t.Fatalf("after %q: %v", v, err)
		}
		s.Message().Len()
	}
}
