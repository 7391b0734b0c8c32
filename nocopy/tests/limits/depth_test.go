package limits_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Tests of how deep messages may be: structs in structs, and values in a field that is
// skipped.

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
					s, err := w.Parse(c.desc, wire)
					if err == nil {
						err = s.Message().Index()
					}
					if err != nil {
						t.Errorf("%d structs %s, %s: %v", levels, c.name, w.Name, err)
						continue
					}
					if !bytes.Equal(s.Message().Bytes(), wire) {
						t.Errorf("%d structs %s, %s: goes out as %x", levels, c.name, w.Name, s.Message().Bytes())
					}
					s.Release()
				}
				for _, levels := range []int{65, 66, 1000, 100_000} {
					_, err := w.Parse(c.desc, nest(levels-1, c.head, core, c.tail))
					checkError(t, fmt.Sprintf("%d structs %s, %s", levels, c.name, w.Name), err, c.desc, levels*(len(c.head)+len(c.tail)), nocopy.ErrLimit)
				}
				if _, err := w.Parse(c.desc, nest(3, c.head, core, c.tail), engine.Limits{MaxDepth: 4}); err != nil {
					t.Errorf("limit 4, 4 structs %s, %s: %v", c.name, w.Name, err)
				}
				_, err := w.Parse(c.desc, nest(4, c.head, core, c.tail), engine.Limits{MaxDepth: 4})
				checkError(t, fmt.Sprintf("limit 4, 5 structs %s, %s", c.name, w.Name), err, c.desc, 1<<20, nocopy.ErrLimit)
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
				s, err := w.Parse(allDesc, message(63))
				if err != nil {
					t.Errorf("63 %s, %s: %v", c.name, w.Name, err)
				} else if got := render.Text(s, allDesc); got != "{}" {
					t.Errorf("63 %s, %s: %s", c.name, w.Name, got)
				}
				for levels, wire := range deep {
					_, err = w.Parse(allDesc, wire)
					checkError(t, fmt.Sprintf("%d %s, %s", levels, c.name, w.Name), err, allDesc, levels*8, nocopy.ErrLimit)
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
		t.Run(w.Name, func(t *testing.T) {
			s, err := w.Parse(d, wire)
			if err != nil {
				t.Errorf("%s: %v", w.Name, err)
				return
			}
			if err := s.Message().Index(); err != nil {
				t.Errorf("%s: %v", w.Name, err)
			}
			if words := engine.IndexWords(s.Message()); words > 4*len(wire) {
				t.Errorf("%s: an index of %d words for %d bytes", w.Name, words, len(wire))
			}
			if !bytes.Equal(s.Message().Bytes(), wire) {
				t.Errorf("%s: goes out as %x", w.Name, s.Message().Bytes())
			}
			s.Release()
		})
	}
}

// TestScannerDepth: a Scanner, and the parser in a field that it skips, take as many levels as
// they say, and not one more.
func TestScannerDepth(t *testing.T) {
	const structs, lists, maps = "\x0c\x00\x01", "\x0f\x00\x00\x00\x01", "\x03\x0d\x00\x00\x00\x01\x07"
	// In a Scanner a struct is a level, and a list or map a 256th of one.
	for depth := 1; depth <= 3; depth++ {
		most := depth*256 - 1 // lists in the root
		for name, c := range map[string]struct {
			levels             int
			head, core, tail   string
			before, afterwards string
		}{
			"structs":     {depth - 1, structs, "", "\x00", "", "\x00"},
			"lists":       {most, lists, "\x03\x00\x00\x00\x01\x07", "", "\x0f\x00\x01", "\x00"},
			"maps":        {most, maps, "\x03\x03\x00\x00\x00\x01\x07\x07", "", "\x0d\x00\x01", "\x00"},
			"empty lists": {most, lists, "\x03\x00\x00\x00\x00", "", "\x0f\x00\x01", "\x00"},
		} {
			levels := c.levels
			if c.core != "" {
				levels-- // the core is one
			}
			for more := range 2 {
				b := []byte(c.before + string(nest(levels+more, c.head, c.core, c.tail)) + c.afterwards)
				var s parse.Scanner
				s.Reset(depth)
				end, need, err := s.Scan(b)
				if more == 0 && (err != nil || end != len(b)) {
					t.Errorf("depth %d, %d %s: %d of %d, %d needed, %v", depth, c.levels, name, end, len(b), need, err)
				}
				if more == 1 && !errors.Is(err, nocopy.ErrLimit) {
					t.Errorf("depth %d, %d %s: %d of %d, %d needed, %v", depth, c.levels+1, name, end, len(b), need, err)
				}
			}
		}
	}
	// In a field that is skipped, each container is a level.
	for name, c := range map[string]struct{ field, head, core, tail string }{
		"structs":     {"\x0c\x00\x64", structs, "\x00", "\x00"},
		"lists":       {"\x0f\x00\x64", lists, "\x03\x00\x00\x00\x01\x07", ""},
		"maps":        {"\x0d\x00\x64", maps, "\x03\x03\x00\x00\x00\x01\x07\x07", ""},
		"empty lists": {"\x0f\x00\x64", lists, "\x08\x00\x00\x00\x00", ""},
		"texts":       {"\x0f\x00\x64", lists, "\x0b\x00\x00\x00\x01\x00\x00\x00\x00", ""},
	} {
		for _, depth := range []int{1, 2, 64} {
			for _, w := range manyWays {
				for more := range 2 {
					b := []byte(c.field + string(nest(depth-1+more, c.head, c.core, c.tail)) + "\x00")
					s, err := w.Parse(allDesc, b, engine.Limits{MaxDepth: depth})
					if more == 1 {
						checkError(t, fmt.Sprintf("%d %s, %s", depth+1, name, w.Name), err, allDesc, len(b), nocopy.ErrLimit)
						continue
					}
					if err != nil {
						t.Errorf("%d %s, %s: %v", depth, name, w.Name, err)
					}
					s.Release()
				}
			}
		}
	}
}

// TestDepthOfOne: with the least limit only the root is accepted: no struct in a field, a list, a
// set or a map, not even one without fields, in any way of parsing.
func TestDepthOfOne(t *testing.T) {
	one := engine.Limits{MaxDepth: 1}
	const point = "\x08\x00\x01\x00\x00\x00\x07\x00"
	for _, c := range []struct {
		desc *schema.Struct
		wire string
	}{
		{allDesc, "\x0c\x00\x0b" + point},
		{allDesc, "\x0c\x00\x0b\x00"},
		{allDesc, "\x0c\x00\x17\x00"},
		{allDesc, "\x0f\x00\x11\x0c\x00\x00\x00\x02" + point + point},
		{allDesc, "\x0f\x00\x18\x0c\x00\x00\x00\x01\x00"},
		{allDesc, "\x0e\x00\x23\x0c\x00\x00\x00\x01" + point},
		{allDesc, "\x0d\x00\x15\x08\x0c\x00\x00\x00\x01\x00\x00\x00\x05" + point},
		{allDesc, "\x0d\x00\x16\x0c\x0b\x00\x00\x00\x01" + point + "\x00\x00\x00\x00"},
		{treeDesc, "\x0f\x00\x02\x0c\x00\x00\x00\x01\x00"},
		{treeDesc, "\x0c\x00\x03\x00"},
	} {
		for _, w := range manyWays {
			for _, before := range []string{"", "\x03\x00\x63\x07"} { // an unknown field
				b := []byte(before + c.wire + "\x00")
				_, err := w.Parse(c.desc, b, one)
				checkError(t, fmt.Sprintf("%x, %s", b, w.Name), err, c.desc, len(b), nocopy.ErrLimit)
				s, err := w.Parse(c.desc, b, engine.Limits{MaxDepth: 2})
				if err != nil {
					t.Errorf("%x, %s, limit 2: %v", b, w.Name, err)
				}
				s.Release()
			}
		}
	}
}

// TestScannerLongest: a struct that arrives has at most 2 GiB - 1.
func TestScannerLongest(t *testing.T) {
	const most, head = math.MaxInt32, wire.FieldHeader + wire.TextHeader
	for n, fits := range map[uint32]bool{most - head: true, most - head + 1: false} {
		var s parse.Scanner
		_, need, err := s.Scan(append(wire.AppendBE32([]byte("\x0b\x00\x01"), n), "some"...))
		if fits && (err != nil || need != most) || !fits && !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("a text of %d bytes: %d are needed, %v", n, need, err)
		}
	}
}
