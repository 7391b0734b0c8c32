package engine

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// How deep messages may be: structs inside structs, and anything inside of a field that is
// skipped.

// nest returns n levels of head around core, with tail after each.
func nest(n int, head, core, tail string) []byte {
	b := bytes.Repeat([]byte(head), n)
	b = append(b, core...)
	return append(b, bytes.Repeat([]byte(tail), n)...)
}

// manyWays are the ways of parsing that take different paths through the parser.
var manyWays = []way{
	inOnePiece, with(inOnePiece, Lazy, "lazy"), cutAt(9), cutAt(30), with(cutAt(30), Lazy, "lazy"), fromReader,
	with(inOnePiece, ValidUTF8, "utf8"),
}

// TestWrongAtTheEnd: what turns out not to be of its type only at its end is gone through once
// more, as something unknown. Where such things are in one another, that must not come to twice as
// much for every level.
func TestWrongAtTheEnd(t *testing.T) {
	const (
		levels = 20 // each is three containers where it is unknown, of which 64 may be in one another
		head   = "\x0f\x00\x01\x0f\x00\x00\x00\x02\x0c\x00\x00\x00\x01"
		wrong  = "\x08\x00\x00\x00\x01\x00\x00\x00\x00" // a number in the place of structs
	)
	d := schema.NewStruct("Deep")
	d.Define(schema.FieldDesc{ID: 1, Name: "lists", Type: schema.ListOf(schema.ListOf(schema.StructOf(d)))})
	wire := nest(levels, head, "\x00", wrong+"\x00")
	for _, w := range manyWays {
		t.Run(w.name, func(t *testing.T) {
			s, err := w.parse(d, wire)
			if err != nil {
				t.Errorf("%s: %v", w.name, err)
				return
			}
			if err := s.m.Index(); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
			if words := s.m.words; int(words) > 4*len(wire) {
				t.Errorf("%s: an index of %d words for %d bytes", w.name, words, len(wire))
			}
			if !bytes.Equal(s.m.Bytes(), wire) {
				t.Errorf("%s: goes out as %x", w.name, s.m.Bytes())
			}
			s.Release()
		})
	}
}
