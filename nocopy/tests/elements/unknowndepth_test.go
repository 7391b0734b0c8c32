package elements_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/support"
)

// TestUnknownDepth: an unknown field of an element may be as deep as in ParseX, however the stream
// is cut.
func TestUnknownDepth(t *testing.T) {
	pairs := "\x0d\x00\x55\x0b\x0c" + support.Be(1) + support.Be(0) + "\x00"
	for _, c := range []struct {
		name, in string
		depth    int
	}{
		{"map of structs in an element", sender + itemsOf + support.Be(1) + one[:7] + pairs + "\x00" + sum + "\x00", 2},
	} {
		s, want := engine.Parse(batchDesc, []byte(c.in), nocopy.Limits{MaxDepth: c.depth})
		s.Release()
		for _, cut := range []int{1, 1 << 20} {
			d := nocopy.NewElementDecoder[batch, item](&pieces{[]byte(c.in), cut}, "items", nocopy.Limits{MaxDepth: c.depth})
			rest, err := d.Rest()
			engine.Struct(rest).Release()
			if (err == nil) != (want == nil) {
				t.Errorf("%s, %d bytes at once: %v, Parse %v", c.name, cut, err, want)
			}
		}
	}
}
