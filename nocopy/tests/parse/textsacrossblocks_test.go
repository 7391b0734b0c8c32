package parse_test

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// The loop that runs programs and the slow parser must fill an index alike, word by word, and
// refuse the same with the same error.

// TestTextAcrossBlocks: if a text ends in the next block, its beginning is not taken from words
// that an earlier message has left in the index.
func TestTextAcrossBlocks(t *testing.T) {
	d := schema.NewStruct("Texts")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "a", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "b", Type: schema.TypeString, Req: schema.Required},
		schema.FieldDesc{ID: 3, Name: "n", Type: schema.TypeI32, Req: schema.Required},
		schema.FieldDesc{ID: 4, Name: "c", Type: schema.TypeString},
	)
	wire := func(a, b, c string) []byte {
		s := engine.New(d)
		defer s.Release()
		s.SetText(fieldNamed(d, "a"), a)
		s.SetText(fieldNamed(d, "b"), b)
		s.SetText(fieldNamed(d, "c"), c)
		return s.Message().AppendTo(nil)
	}
	long := strings.Repeat("x", 100)
	for _, w := range [][2][]byte{
		{wire("", "b", "c"), wire(long, "b", "c")},
		{wire("a", "", "c"), wire("a", long, "c")},
	} {
		for cut := 20; cut < 100; cut += 10 {
			for _, b := range w {
				n := min(cut, len(b)-1)
				s, err := engine.ParseBlocks(d, [][]byte{b[:n], b[n:]})
				if err != nil {
					t.Fatalf("%x cut at %d: %v", b, n, err)
				}
				s.Release()
			}
		}
	}
}
