package wireindex_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
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
