// Tests of single guards: each fails if a certain check, or line, of the engine or the parser is
// taken out. internal/rehearse/mutants lists these and others.

package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// TestFieldTwiceByIndex: of a field that comes twice, a message's own index may tell where a value
// ends that is not well formed. Parse refuses the message, or finds the field's last value, as it
// does without an index.
func TestFieldTwiceByIndex(t *testing.T) {
	texts, d := schema.ListOf(schema.TypeString), schema.NewStruct("Two")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "first", Type: texts, Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "second", Type: texts, Req: schema.Optional},
	)
	made := engine.New(d)
	defer made.Release()
	for i, text := range []string{"first", "second"} {
		l := nocopy.StringList(made.NewChild(d.Field(i), d, 300))
		for k := range 300 {
			l.Set(k, text)
		}
	}
	with := withIndex(t, d, made.Message().Bytes())
	const firstEnds = 3 + 5 + 300*(4+5)
	x, ok := wireindex.Find(with)
	if !ok || x.N != 2 || x.Offset(1) != firstEnds+3 {
		t.Fatalf("an index %t of %d values", ok, x.N)
	}
	with[firstEnds+2] = 1 // the second value is of the first field, also in the index
	header, stride := wireindex.EntryField(x.Entry(0))
	wireindex.PutNumber(x.Entry(1)[wireindex.EntryFieldAt:], header<<wireindex.StrideBits|uint32(stride))
	for name, spoil := range map[string]func(b []byte){
		"well formed":       func([]byte) {},
		"a negative length": func(b []byte) { b[3+5] = 0xff },
		"too long":          func(b []byte) { b[3+5+1] = 1 },
	} {
		b := bytes.Clone(with)
		spoil(b)
		plain, want := engine.Parse(d, b)
		s, err := engine.Parse(d, b, engine.ByIndex)
		if fmt.Sprint(err) != fmt.Sprint(want) || (want == nil) != (name == "well formed") {
			t.Errorf("%s: %v, not %v", name, err, want)
		}
		if err != nil {
			continue
		}
		if l := nocopy.StringList(s.Child(d.Field(0), d)); l.Len() != 300 || l.At(299) != "second" {
			t.Errorf("%s: %d elements, the last is %q", name, l.Len(), l.At(299))
		}
		s.Release()
		plain.Release()
	}
}

// TestClearOpen: Clear removes everything from a struct that is being built, also what completing
// it adds. What is set afterwards is in the struct, and what was built around it stays.
func TestClearOpen(t *testing.T) {
	outer := schema.NewStruct("Outer")
	outer.Define(
		schema.FieldDesc{ID: 1, Name: "before", Type: schema.TypeI32},
		schema.FieldDesc{ID: 2, Name: "inner", Type: schema.StructOf(defaultDesc)},
		schema.FieldDesc{ID: 3, Name: "after", Type: schema.TypeI32},
	)
	text := fieldNamed(defaultDesc, "text0")
	fill := func(s engine.Struct) {
		s.SetText(text, "some text")
		s.NewChild(fieldNamed(defaultDesc, "child0"), defaultDesc, 0).SetInt32(fieldNamed(pointDesc, "x"), 1)
		s.AppendUnknown(defaultDesc, 99, engine.ValueOfWire(wire.I8, []byte{7}))
	}
	const added = "\x0b\x00\x02\x00\x00\x00\x03new" // text0
	for _, again := range []bool{false, true} {
		// The root
		s, want := engine.New(defaultDesc), "\x00"
		fill(s)
		if s.Clear(defaultDesc); again {
			s.SetText(text, "new")
			want = added + "\x00"
		}
		if got := string(s.Message().Bytes()); got != want {
			t.Errorf("a root, set again %t: %q, not %q", again, got, want)
		}
		s.Release()

		// A struct in another one
		s = engine.New(outer)
		s.SetInt32(outer.Field(0), 5)
		inner := s.NewChild(outer.Field(1), outer, 0)
		fill(inner)
		if inner.Clear(defaultDesc); again {
			inner.SetText(text, "new")
		}
		s.SetInt32(outer.Field(2), 6)
		b := s.Message().Bytes()
		got, err := engine.Peek(b, 2)
		if err != nil || string(got.Raw()) != want {
			t.Errorf("a struct in another, set again %t: %q (%v), not %q", again, got.Raw(), err, want)
		}
		if s.Int32(outer.Field(0)) != 5 || s.Int32(outer.Field(2)) != 6 {
			t.Errorf("beside it: %x", b)
		}
		s.Release()
	}
	// A union
	s := engine.New(shapeDesc)
	s.SetText(fieldNamed(shapeDesc, "label"), "a label")
	s.Arm(fieldNamed(shapeDesc, "label"), shapeDesc)
	s.AppendUnknown(shapeDesc, 99, engine.ValueOfWire(wire.I8, []byte{7}))
	s.Clear(shapeDesc)
	if b := s.Message().Bytes(); len(b) != 1 || s.Which() != 0 {
		t.Errorf("a union: %x, with field %d", b, s.Which())
	}
	s.Release()
}

// TestReparseLacking: Reparse takes structs that lack required fields, as the parts of messages
// may that a program has built.
func TestReparseLacking(t *testing.T) {
	inner := "\x08\x00\x01\x00\x00\x00\x05\x00" // has no name
	for _, b := range []string{"\x00", inner, "\x0c\x00\x03" + inner + "\x00", "\x0f\x00\x04\x0c\x00\x00\x00\x02" + inner + "\x00\x00"} {
		if s, err := engine.Parse(strictDesc, []byte(b)); !errors.Is(err, nocopy.ErrMissingRequired) {
			s.Release()
			t.Errorf("Parse of %x: %v", b, err)
		}
		s := engine.Reparse(strictDesc, []byte(b), 64)
		if !s.Valid() {
			t.Fatalf("Reparse of %x: nothing", b)
		}
		if got := string(s.Message().Bytes()); got != b {
			t.Errorf("Reparse of %x: %x", b, got)
		}
		s.Release()
	}
	deep := nest(4, "\x0c\x00\x03", "\x00", "\x00")
	if s := engine.Reparse(strictDesc, bytes.Clone(deep), 4); s != (engine.Struct{}) {
		t.Error("Reparse of 5 structs, of which 4 may be nested")
	}
	if s := engine.Reparse(strictDesc, deep, 5); !s.Valid() {
		t.Error("Reparse of 5 structs: nothing")
	}
}

// TestLazyLimitSlowly: with Lazy, the limit of the index holds for values that are left for later
// in a struct with an unknown field, a field out of order or one that comes twice, too: the slow
// parser reads it.
func TestLazyLimitSlowly(t *testing.T) {
	_, root := twoListsOf(57)
	const unknown, n = "\x03\x00\x63\x07", 130_000 // more than 97,000
	large, none := emptyElements(1, n), emptyElements(2, 0)
	for name, b := range map[string][]byte{
		"in order":         join(large, none),
		"after an unknown": join([]byte(unknown), large),
		"out of order":     join(none, large),
		"twice":            join(none, none, large),
		"another is first": join(emptyElements(2, 90_000), []byte(unknown), emptyElements(1, 90_000)),
	} {
		b = append(b, 0)
		_, plain := engine.Parse(root, b)
		_, lazy := engine.Parse(root, b, engine.Lazy)
		if !errors.Is(plain, nocopy.ErrLimit) || fmt.Sprint(lazy) != fmt.Sprint(plain) {
			t.Errorf("%s: with Lazy %v, without %v", name, lazy, plain)
		}
	}
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestReferredSize: setters copy a binary shorter than 4,096 bytes, and refer to one of 4,096, by
// itself and as an element, key or value.
func TestReferredSize(t *testing.T) {
	if !aliasing {
		return // the safe twins copy all
	}
	blob, blobs := fieldNamed(allDesc, "blob"), fieldNamed(allDesc, "blobs")
	byText := schema.NewStruct("ByText")
	byText.Define(
		schema.FieldDesc{ID: 1, Name: "map", Type: schema.MapOf(schema.TypeI32, schema.TypeBinary)},
		schema.FieldDesc{ID: 2, Name: "set", Type: schema.SetOf(schema.TypeBinary)},
	)
	filled := func(n int) []byte { return bytes.Repeat([]byte{'a'}, n) }
	ways := map[string]func(v []byte) engine.Struct{
		"a field": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			s.SetBytes(blob, v)
			return s
		},
		"a field that was set": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			s.SetBytes(blob, []byte("before"))
			s.SetBytes(blob, v)
			return s
		},
		"a field of a received message": func(v []byte) engine.Struct {
			made := engine.New(allDesc)
			made.SetBytes(blob, []byte("before"))
			s := mustParse(t, allDesc, bytes.Clone(made.Message().Bytes()))
			made.Release()
			s.SetBytes(blob, v)
			return s
		},
		"elements at once": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			s.SetByteSlices(blobs, allDesc, [][]byte{[]byte("before"), v})
			return s
		},
		"an element": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			nocopy.BytesList(s.NewChild(blobs, allDesc, 2)).Set(0, v)
			return s
		},
		"an appended element": func(v []byte) engine.Struct {
			s := engine.New(allDesc)
			nocopy.BytesList(s.NewChild(blobs, allDesc, 0)).Append(v)
			return s
		},
		"elements of a set at once": func(v []byte) engine.Struct {
			s := engine.New(byText)
			s.SetByteSlices(byText.Field(1), byText, [][]byte{[]byte("before"), v})
			return s
		},
		"a value in a map": func(v []byte) engine.Struct {
			s := engine.New(byText)
			nocopy.Map[int32, []byte, engine.AsInt32, engine.AsBytes](s.NewChild(byText.Field(0), byText, 0)).Put(1, v)
			return s
		},
	}
	for name, set := range ways {
		for n, refers := range map[int]bool{4095: false, 4096: true, 4097: true} {
			v := filled(n)
			s := set(v)
			v[n-1] = 'b' // which nobody may do
			if got := bytes.Contains(s.Message().AppendTo(nil), v); got != refers {
				t.Errorf("%s, %d bytes: referred to %t", name, n, got)
			}
			s.Release()
		}
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
					s, err := w.parse(allDesc, b, engine.Limits{MaxDepth: depth})
					if more == 1 {
						checkError(t, fmt.Sprintf("%d %s, %s", depth+1, name, w.name), err, allDesc, len(b), nocopy.ErrLimit)
						continue
					}
					if err != nil {
						t.Errorf("%d %s, %s: %v", depth, name, w.name, err)
					}
					s.Release()
				}
			}
		}
	}
}

// TestIndexFrom4KiB: a message of 4,096 bytes gets an index of its own, and is read by it; one of
// 4,095 bytes gets none. Of a message that was edited, the size counts when it is compacted.
func TestIndexFrom4KiB(t *testing.T) {
	text, words := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "words")
	const least = 4096
	sized := func(n int) []byte { // in one text
		return join([]byte{byte(wire.String), 0, 7}, wire.AppendBE32(nil, uint32(n-8)), bytes.Repeat([]byte{'t'}, n-8), []byte{0})
	}
	ways := map[string]func(n int) engine.Struct{
		"received": func(n int) engine.Struct { return mustParse(t, allDesc, sized(n), engine.WithIndex) },
		"built": func(n int) engine.Struct {
			s := engine.New(allDesc, engine.WithIndex)
			s.SetText(text, string(bytes.Repeat([]byte{'t'}, n-8)))
			return s
		},
		"edited": func(n int) engine.Struct {
			s := engine.New(allDesc, engine.WithIndex)
			l := nocopy.StringList(s.NewChild(words, allDesc, 3))
			for i := range 3 {
				l.Set(i, "a word")
			}
			s.SetText(text, string(bytes.Repeat([]byte{'t'}, n)))
			l.Delete(1, 2)
			s.SetText(text, string(bytes.Repeat([]byte{'t'}, n-8-8-2*10)))
			return s
		},
	}
	for name, way := range ways {
		for n, has := range map[int]bool{least - 1: false, least: true, least + 1: true} {
			s := way(n)
			b := bytes.Clone(s.Message().Bytes())
			s.Release()
			x, is := wireindex.Find(b)
			if is != has || is && x.At+1 != n || !is && len(b) != n {
				t.Errorf("%s, %d bytes: an index %t, at %d of %d", name, n, is, x.At, len(b))
			}
			read, err := engine.Parse(allDesc, b, engine.RequireIndex)
			if (err == nil) != has {
				t.Errorf("%s, %d bytes: with RequireIndex %v", name, n, err)
			}
			read.Release()
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
				_, err := w.parse(c.desc, b, one)
				checkError(t, fmt.Sprintf("%x, %s", b, w.name), err, c.desc, len(b), nocopy.ErrLimit)
				s, err := w.parse(c.desc, b, engine.Limits{MaxDepth: 2})
				if err != nil {
					t.Errorf("%x, %s, limit 2: %v", b, w.name, err)
				}
				s.Release()
			}
		}
	}
}

// TestMaxBytesExactly: a message of as many bytes as the limit is accepted, and one of a byte more
// is refused, however it arrives.
func TestMaxBytesExactly(t *testing.T) {
	// 100 bytes
	b := join([]byte("\x0b\x00\x07\x00\x00\x00\x5c"), bytes.Repeat([]byte{'t'}, 92), []byte{0})
	ways := map[string]func(l engine.Limits) (engine.Struct, error){
		"Parse": func(l engine.Limits) (engine.Struct, error) { return engine.Parse(allDesc, b, l) },
		"ParseInto": func(l engine.Limits) (engine.Struct, error) {
			return engine.ParseInto(allDesc, new(engine.Message), b, []engine.Option{l})
		},
		"blocks": func(l engine.Limits) (engine.Struct, error) {
			return engine.ParseBlocks(allDesc, [][]byte{b[:40], b[40:]}, l)
		},
		"Read": func(l engine.Limits) (engine.Struct, error) {
			return engine.Read(allDesc, bytes.NewReader(b), len(b), l)
		},
		"a chunk": func(l engine.Limits) (engine.Struct, error) {
			c := memory.NewChunk(len(b), false)
			copy(c.Mem, b)
			return engine.ParseChunk(allDesc, c, l, 0)
		},
	}
	for name, parse := range ways {
		for most, fits := range map[int]bool{len(b) - 1: false, len(b): true, len(b) + 1: true} {
			s, err := parse(engine.Limits{MaxBytes: most})
			if (err == nil) != fits || err != nil && !errors.Is(err, nocopy.ErrLimit) {
				t.Errorf("%s, at most %d bytes: %v", name, most, err)
			}
			if err == nil && !bytes.Equal(s.Message().AppendTo(nil), b) {
				t.Errorf("%s: another message", name)
			}
			s.Release()
		}
	}
}

// TestReadOfNegative: a message of a negative number of bytes is an error, and nothing is read.
func TestReadOfNegative(t *testing.T) {
	for _, n := range []int{-1, math.MinInt32} {
		_, err := engine.Read(allDesc, iotest.ErrReader(errors.New("read")), n)
		if !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("Read of %d bytes: %v", n, err)
		}
	}
}

// TestReleaseOfRetained: a message that a call owns stays as it is after Release while it is
// retained.
func TestReleaseOfRetained(t *testing.T) {
	text := fieldNamed(allDesc, "text")
	for name, release := range map[string]func(s engine.Struct){"End": engine.Struct.End, "Release": engine.Struct.Release} {
		s := engine.New(allDesc)
		s.SetText(text, "some text")
		s.Offer()
		if !s.Claim(allDesc) || !s.Retain() {
			t.Fatal("it can't be claimed and retained")
		}
		release(s)
		if got := s.Text(text); got != "some text" || s.Retain() {
			t.Errorf("%s: while it is retained it has %q, or can be retained again", name, got)
		}
		s.Drop()
		if s.Is(allDesc) {
			t.Errorf("%s: it is still there", name)
		}
	}
}

// TestEmptyBlocks: blocks without bytes change nothing, wherever they come. Others are not copied.
func TestEmptyBlocks(t *testing.T) {
	b := []byte("\x0b\x00\x07\x00\x00\x00\x03abc\x0f\x00\x0d\x0a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07\x0c\x00\x0b\x08\x00\x01\x00\x00\x00\x05\x00\x00")
	for cut := range len(b) + 1 {
		for name, blocks := range map[string][][]byte{
			"first":   {nil, b[:cut], b[cut:]},
			"between": {b[:cut], nil, {}, b[cut:]},
			"last":    {b[:cut], b[cut:], nil, nil},
		} {
			s, err := engine.ParseBlocks(allDesc, blocks)
			if err != nil {
				t.Fatalf("%s, cut at %d: %v", name, cut, err)
			}
			if got := s.Message().AppendTo(nil); !bytes.Equal(got, b) || s.Text(fieldNamed(allDesc, "text")) != "abc" {
				t.Fatalf("%s, cut at %d: %x", name, cut, got)
			}
			s.Release()
		}
	}
	const cut = 10 // after the first field
	for name, blocks := range map[string][][]byte{
		"first": {nil, b},
		"last":  {b, {}},
		"all":   {{}, b[:cut], nil, {}, b[cut:], nil},
	} {
		s, err := engine.ParseBlocks(allDesc, blocks)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		blocks = slices.DeleteFunc(blocks, func(b []byte) bool { return len(b) == 0 })
		pieces := s.Message().AppendPieces(nil)
		if !slices.EqualFunc(pieces, blocks, func(p, b []byte) bool { return &p[0] == &b[0] && len(p) == len(b) }) {
			t.Errorf("%s: %d pieces for %d blocks, or copies", name, len(pieces), len(blocks))
		}
		s.Release()
	}
	if _, err := engine.ParseBlocks(allDesc, [][]byte{nil, {}}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("empty blocks alone: %v", err)
	}
}
