package engine_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Tests of how deep messages may be: structs in structs, and values in a field that is
// skipped.

// nest returns n levels of head around core, with tail after each.
func nest(n int, head, core, tail string) []byte {
	b := bytes.Repeat([]byte(head), n)
	b = append(b, core...)
	return append(b, bytes.Repeat([]byte(tail), n)...)
}

// manyWays are the ways of parsing that take different paths through the parser.
var manyWays = []way{
	inOnePiece, with(inOnePiece, engine.Lazy, "lazy"), cutAt(9), cutAt(30), with(cutAt(30), engine.Lazy, "lazy"), fromReader,
	with(inOnePiece, engine.ValidUTF8, "utf8"),
}

func TestDepthOfStructs(t *testing.T) {
	const (
		list  = "\x0c\x00\x00\x00\x01"
		child = "\x0f\x00\x02" + list
	)
	for _, c := range []struct {
		name, head, tail string
		desc             *schema.Struct
	}{
		{"in structs", "\x0c\x00\x03", "\x00", treeDesc},
		{"in lists", child, "\x00", treeDesc},
		{"in maps", "\x0d\x00\x21\x0b\x0c\x00\x00\x00\x01\x00\x00\x00\x01k", "\x00", allDesc},
		{"in lists of lists", "\x0f\x00\x06\x0f\x00\x00\x00\x01" + list, "\x08\x00\x01\x00\x00\x00\x01\x0b\x00\x02\x00\x00\x00\x00\x00", strictDesc},
	} {
		t.Run(c.name, func(t *testing.T) {
			core := "\x00"
			if c.desc == strictDesc {
				core = c.tail
			}
			for _, w := range manyWays {
				for _, levels := range []int{2, 60, 64} { // the root counts
					wire := nest(levels-1, c.head, core, c.tail)
					s, err := w.parse(c.desc, wire)
					if err == nil {
						err = s.Message().Index()
					}
					if err != nil {
						t.Errorf("%d structs %s, %s: %v", levels, c.name, w.name, err)
						continue
					}
					if !bytes.Equal(s.Message().Bytes(), wire) {
						t.Errorf("%d structs %s, %s: goes out as %x", levels, c.name, w.name, s.Message().Bytes())
					}
					s.Release()
				}
				for _, levels := range []int{65, 66, 1000, 100_000} {
					_, err := w.parse(c.desc, nest(levels-1, c.head, core, c.tail))
					checkError(t, fmt.Sprintf("%d structs %s, %s", levels, c.name, w.name), err, c.desc, levels*(len(c.head)+len(c.tail)), nocopy.ErrLimit)
				}
				if _, err := w.parse(c.desc, nest(3, c.head, core, c.tail), engine.Limits{MaxDepth: 4}); err != nil {
					t.Errorf("limit 4, 4 structs %s, %s: %v", c.name, w.name, err)
				}
				_, err := w.parse(c.desc, nest(4, c.head, core, c.tail), engine.Limits{MaxDepth: 4})
				checkError(t, fmt.Sprintf("limit 4, 5 structs %s, %s", c.name, w.name), err, c.desc, 1<<20, nocopy.ErrLimit)
			}
		})
	}
}

// TestDepthOfSkipped: in a value that is skipped every container counts as a level, as in other
// implementations. All of them accept 63 levels and refuse 66.
func TestDepthOfSkipped(t *testing.T) {
	for _, c := range []struct{ name, field, head, core, tail string }{
		{"structs", "\x0c\x00\x64", "\x0c\x00\x01", "\x00", "\x00"},
		{"lists", "\x0f\x00\x64", "\x0f\x00\x00\x00\x01", "\x08\x00\x00\x00\x00", ""},
		{"sets", "\x0e\x00\x64", "\x0e\x00\x00\x00\x01", "\x08\x00\x00\x00\x00", ""},
		{"maps", "\x0d\x00\x64", "\x03\x0d\x00\x00\x00\x01\x07", "\x08\x08\x00\x00\x00\x00", ""},
		{"maps in keys", "\x0d\x00\x64", "\x0d\x03\x00\x00\x00\x01", "\x08\x08\x00\x00\x00\x00", "\x07"},
		{"lists, in a field of another type", "\x0f\x00\x0d", "\x0f\x00\x00\x00\x01", "\x08\x00\x00\x00\x00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			message := func(levels int) []byte {
				return []byte(c.field + string(nest(levels-1, c.head, c.core, c.tail)) + "\x00")
			}
			many := testmode.Of(100_000, 1_000_000)
			deep := map[int][]byte{66: message(66), 1000: message(1000), many: message(many)}
			for _, w := range manyWays {
				s, err := w.parse(allDesc, message(63))
				if err != nil {
					t.Errorf("63 %s, %s: %v", c.name, w.name, err)
				} else if got := render.Text(s, allDesc); got != "{}" {
					t.Errorf("63 %s, %s: %s", c.name, w.name, got)
				}
				for levels, wire := range deep {
					_, err = w.parse(allDesc, wire)
					checkError(t, fmt.Sprintf("%d %s, %s", levels, c.name, w.name), err, allDesc, levels*8, nocopy.ErrLimit)
				}
			}
			if _, err := engine.Peek(message(63), int(c.field[2])); err != nil {
				t.Errorf("Peek at 63 %s: %v", c.name, err)
			}
			for _, id := range []int{int(c.field[2]), 9999} {
				if _, err := engine.Peek(deep[many], id); err == nil {
					t.Errorf("Peek of %d at %d %s: no error", id, many, c.name)
				}
			}
		})
	}
}

// Tests of how deep messages may be: structs in structs, and values in a field that is
// skipped.

// TestWrongAtTheEnd: a value that turns out at its end not to be of its type is read once more, as
// an unknown one. If such values are nested, the time must not double with every level.
func TestWrongAtTheEnd(t *testing.T) {
	const (
		levels = 20 // each is three containers where it is unknown, and 64 containers may be nested
		head   = "\x0f\x00\x01\x0f\x00\x00\x00\x02\x0c\x00\x00\x00\x01"
		wrong  = "\x08\x00\x00\x00\x01\x00\x00\x00\x00" // a number instead of structs
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
			if err := s.Message().Index(); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
			if words := engine.IndexWords(s.Message()); words > 4*len(wire) {
				t.Errorf("%s: an index of %d words for %d bytes", w.name, words, len(wire))
			}
			if !bytes.Equal(s.Message().Bytes(), wire) {
				t.Errorf("%s: goes out as %x", w.name, s.Message().Bytes())
			}
			s.Release()
		})
	}
}
