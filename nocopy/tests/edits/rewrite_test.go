package edits_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// rewritten has the texts of smallWire: how to set each, and where Format shows it.
var rewritten = []struct {
	name string
	set  func(s thriftimpl.Struct, v string)
	was  string
}{
	{"string", func(s thriftimpl.Struct, v string) { s.SetText(fieldNamed(allDesc, "text"), v) }, `text: "some text"`},
	{"binary", func(s thriftimpl.Struct, v string) { s.SetBytes(fieldNamed(allDesc, "blob"), []byte(v)) }, `blob: 0x00`},
	{"arm of a union", func(s thriftimpl.Struct, v string) {
		s.Child(fieldNamed(allDesc, "shape"), allDesc).SetText(fieldNamed(shapeDesc, "label"), v)
	}, `label: "l"`},
	{"element", func(s thriftimpl.Struct, v string) {
		nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)).Set(1, v)
	}, `["a", "b", "c"]`},
	{"binary element", func(s thriftimpl.Struct, v string) {
		nocopy.BytesList(s.Child(fieldNamed(allDesc, "blobs"), allDesc)).Set(0, []byte(v))
	}, `[0x01, 0x02]`},
}

// smallWire returns a message with texts and all kinds of values around them.
func smallWire() []byte {
	s := newStruct(allDesc)
	defer s.Release()
	s.SetInt32(fieldNamed(allDesc, "medium"), 42)
	s.SetText(fieldNamed(allDesc, "text"), "some text")
	s.SetBytes(fieldNamed(allDesc, "blob"), []byte{0})
	s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, []int64{1, 2, 3})
	s.SetTexts(fieldNamed(allDesc, "words"), allDesc, []string{"a", "b", "c"})
	s.NewChild(fieldNamed(allDesc, "shape"), allDesc, 0).Arm(fieldNamed(shapeDesc, "label"), shapeDesc).SetText(fieldNamed(shapeDesc, "label"), "l")
	counts := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](s.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
	counts.Put("one", 1)
	counts.Put("two", 2)
	s.SetByteSlices(fieldNamed(allDesc, "blobs"), allDesc, [][]byte{{1}, {2}})
	nocopy.StructList[thriftimpl.Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, 2)).At(1).SetInt32(fieldNamed(pointDesc, "y"), 2)
	nocopy.NestedList[nocopy.Int32List](s.NewChild(fieldNamed(allDesc, "matrix"), allDesc, 2)).NewAt(1, 2).Set(0, 5)
	nocopy.NestedMap[string, nocopy.StructList[thriftimpl.Struct], thriftimpl.AsString](s.NewChild(fieldNamed(allDesc, "groups"), allDesc, 0)).PutNew("g", 1)
	return s.Message().AppendTo(nil)
}

// TestRewrite: a field of a small received message is set to a text without a node, at any place
// in the message. An element takes a node. Strings that were read before stay unchanged.
func TestRewrite(t *testing.T) {
	wire := smallWire()
	long := append(bytes.Clone(wire[:len(wire)-1]), "\x0b\x03\xe7\x00\x00\x10\x00"+strings.Repeat("z", 4<<10)+"\x00"...)
	for _, r := range rewritten {
		if s := mustParse(t, allDesc, wire); !strings.Contains(render.Text(s, allDesc), r.was) {
			t.Fatalf("no %s in %s", r.was, render.Text(s, allDesc))
		}
	}
	for _, w := range []way{inOnePiece, owned, with(inOnePiece, nocopy.Recycle, "recycled"), with(inOnePiece, nocopy.Lazy, "lazy"), cloned, fromReader} {
		t.Run(w.Name, func(t *testing.T) {
			for _, r := range rewritten {
				for _, v := range []string{"", "x", "some txet", strings.Repeat("y", 200)} {
					edit := func(wire []byte, nodes bool) string {
						s, err := w.Parse(allDesc, bytes.Clone(wire))
						if err != nil {
							t.Fatal(err)
						}
						defer s.Release()
						text := s.Text(fieldNamed(allDesc, "text"))
						r.set(s, v)
						s.SetInt32(fieldNamed(allDesc, "medium"), 43)
						if n := s.Message().Nodes(); n > 0 != nodes {
							t.Errorf("%s, %s = %q: %d nodes", w.Name, r.name, v, n)
						}
						if text != "some text" {
							t.Errorf("%s, %s = %q: what was read before is now %q", w.Name, r.name, v, text)
						}
						again := mustParse(t, allDesc, s.Message().AppendTo(nil))
						defer again.Release()
						got := render.Text(s, allDesc)
						if sent := render.Text(again, allDesc); sent != got || again.Message().Len() != s.Message().Len() {
							t.Errorf("%s, %s = %q:\n%s\ngoes out as\n%s", w.Name, r.name, v, got, sent)
						}
						return got
					}
					if got, want := edit(wire, strings.HasSuffix(r.name, "element")), edit(long, true); got != want {
						t.Errorf("%s, %s = %q:\n%s\nwith nodes\n%s", w.Name, r.name, v, got, want)
					}
				}
			}
		})
	}
}

// TestRewriteKeepsNewBytes: bytes from NewBytes are still those of the field after another field
// was set.
func TestRewriteKeepsNewBytes(t *testing.T) {
	s := mustParse(t, allDesc, smallWire())
	defer s.Release()
	b := s.NewBytes(fieldNamed(allDesc, "blob"), 3)
	s.SetText(fieldNamed(allDesc, "text"), "another")
	copy(b, "abc")
	if got := string(s.Bytes(fieldNamed(allDesc, "blob"))); got != "abc" {
		t.Errorf("%q", got)
	}
	again := mustParse(t, allDesc, s.Message().AppendTo(nil))
	defer again.Release()
	if got := string(again.Bytes(fieldNamed(allDesc, "blob"))) + again.Text(fieldNamed(allDesc, "text")); got != "abcanother" {
		t.Errorf("goes out as %q", got)
	}
}

// TestRewriteAgain: texts may be set any number of times, also to each other.
func TestRewriteAgain(t *testing.T) {
	text := fieldNamed(allDesc, "text")
	s := mustParse(t, allDesc, smallWire())
	defer s.Release()
	words := nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
	want := []string{"some text", "b"}
	for i := range 1000 {
		words.Set(1, s.Text(text)[i%2:])
		want[1] = want[0][i%2:]
		if got := words.At(1); got != want[1] {
			t.Fatalf("%d: element %q, want %q", i, got, want[1])
		}
		s.SetText(text, want[1]+itoa(i))
		want[0] = want[1] + itoa(i)
		if len(want[0]) > 40 {
			s.SetText(text, "some text")
			want[0] = "some text"
		}
		if got := s.Text(text); got != want[0] || s.Int32(fieldNamed(allDesc, "medium")) != 42 {
			t.Fatalf("%d: %q, want %q", i, got, want[0])
		}
	}
	again := mustParse(t, allDesc, s.Message().AppendTo(nil))
	defer again.Release()
	if got, want := render.Text(again, allDesc), render.Text(s, allDesc); got != want {
		t.Errorf("%s\ngoes out as\n%s", want, got)
	}
}

// TestRewriteDuplicate: all occurrences of a field that came twice are removed, even after a text
// before them was set.
func TestRewriteDuplicate(t *testing.T) {
	const medium = "\x08\x00\x04\x00\x00\x00"
	s := mustParse(t, allDesc, []byte("\x0b\x00\x07\x00\x00\x00\x01a"+medium+"\x01"+medium+"\x02\x00"))
	defer s.Release()
	s.SetText(fieldNamed(allDesc, "text"), "longer")
	s.Unset(fieldNamed(allDesc, "medium"))
	if got := string(s.Message().AppendTo(nil)); got != "\x0b\x00\x07\x00\x00\x00\x06longer\x00" {
		t.Errorf("%q", got)
	}
}

// TestNewBytesEnd: bytes from NewBytes have no room for more: an append to them would write over
// the values after them.
func TestNewBytesEnd(t *testing.T) {
	blob, large := fieldNamed(allDesc, "blob"), newStruct(allDesc)
	large.SetTexts(fieldNamed(allDesc, "words"), allDesc, make([]string, 10_000))
	for name, s := range map[string]thriftimpl.Struct{
		"new":            newStruct(allDesc),
		"small received": mustParse(t, allDesc, smallWire()),
		"large received": mustParse(t, allDesc, large.Message().AppendTo(nil)),
	} {
		defer s.Release()
		for i := range 3 { // the field is not set, or replaced
			for _, n := range []int{0, 3, 5000, 100_000} {
				if b := s.NewBytes(blob, n); len(b) != n || cap(b) != n {
					t.Errorf("%s, %d: %d bytes with room for %d, want %d", name, i, len(b), cap(b), n)
				}
				s.SetText(fieldNamed(allDesc, "text"), "after it")
			}
		}
	}
	large.Release()
}

// TestNewBytesReplaced: a text that replaces bytes from NewBytes stays when the message is
// compacted, although both were in one node.
func TestNewBytesReplaced(t *testing.T) {
	long := strings.Repeat("long ", 1000)
	for _, v := range []string{long, "short", ""} {
		s := mustParse(t, allDesc, smallWire())
		blob := fieldNamed(allDesc, "blob")
		s.SetText(blob, long)
		copy(s.NewBytes(blob, 7), "written")
		s.Message().Compact()
		s.SetText(blob, v)
		s.Message().Compact()
		if got := string(s.Bytes(blob)); got != v {
			t.Errorf("%.20q, want %.20q", got, v)
		}
		s.Release()
	}
}
