package engine

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

const (
	// 8888: {"k": "vw"}
	contextField = "\x0d\x22\xb8\x0b\x0b\x00\x00\x00\x01\x00\x00\x00\x01k\x00\x00\x00\x02vw"
	// 8888: i32 9
	otherContext = "\x08\x22\xb8\x00\x00\x00\x09"
)

// openBytes returns what AddOpen adds, and Len of the Batch.
func openBytes(t *testing.T, s Struct, cuts []Cut) string {
	t.Helper()
	var b chain.Batch
	var out bytes.Buffer
	s.AddOpen(&b, cuts)
	n := b.Len()
	if n == 0 {
		return ""
	}
	if _, err := b.Write(&out); err != nil || out.Len() != n {
		t.Fatalf("%d bytes of %d: %v", out.Len(), n, err)
	}
	return out.String()
}

// compacted returns wire as it is when it was compacted: of fields that d knows only the last of
// each.
func compacted(t *testing.T, d *schema.Struct, wire string) string {
	t.Helper()
	s, err := cutEvery(1).parse(d, []byte(wire))
	if err != nil {
		t.Fatal(err)
	}
	s.m.Compact()
	return string(s.m.Bytes())
}

// TestFindFields: a field is found, cut out and removed wherever it is among others and however
// often, known to the IDL or not, in whichever pieces the message came, edited or not, lazy or
// not.
func TestFindFields(t *testing.T) {
	type field struct{ name, data string }
	number := field{"n", "\x08\x00\x04\x00\x00\x00\x2a"}
	text := field{"t", "\x0b\x00\x07\x00\x00\x00\x03\x0d\x22\xb8"}
	list := field{"l", "\x0f\x00\x11\x0c\x00\x00\x00\x01\x08\x00\x01\x00\x00\x00\x05\x00"}
	none := field{"e", "\x0f\x00\x11\x0c\x00\x00\x00\x00"} // the list again, empty
	// One level deeper it is another field
	self := field{"s", "\x0c\x00\x17" + contextField + "\x00"}
	strange := field{"u", "\x0c\x00\x66" + otherContext + "\x00"}
	context, other := field{"c", contextField}, field{"o", otherContext}
	for _, fields := range [][]field{
		{}, {context}, {number, text}, {list, none, context}, {none, context, list}, {context, list, none, other}, {number, text, list, self, strange, context}, {context, number, list, self},
		{text, context, list, other, self}, {context, other, context}, {other, strange, context}, {self, list, context, context, text, context},
	} {
		name, data, without, first, before := "", "", "", "", ""
		var cuts []Cut
		for _, f := range fields {
			if name += f.name; f.name == "c" || f.name == "o" {
				if first == "" {
					first = f.data[3:]
				}
				if n := len(cuts); before == "c" || before == "o" {
					cuts[n-1].To += len(f.data)
				} else {
					cuts = append(cuts, Cut{len(data), len(data) + len(f.data)})
				}
			} else {
				without += f.data
			}
			data += f.data
			before = f.name
		}
		data, without = data+"\x00", without+"\x00"
		t.Run(name, func(t *testing.T) {
			for _, d := range []*schema.Struct{allDesc, emptyDesc} {
				for _, w := range ways(len(data)) {
					s, err := w.parse(d, []byte(data))
					if err != nil {
						t.Fatal(err)
					}
					v, got := s.FindFields(8888)
					if one, ok := s.FindField(8888); ok != (len(got) > 0) || one.Type != v.Type || !bytes.Equal(one.Raw(), v.Raw()) {
						t.Errorf("the first is %x, and alone %x, %t", v.Raw(), one.Raw(), ok)
					}
					if string(v.Raw()) != first || !slices.Equal(got, cuts) {
						t.Fatalf("%s: %x at %v, want %x at %v", w.name, v.Raw(), got, first, cuts)
					}
					if got := openBytes(t, s, cuts) + "\x00"; got != without {
						t.Fatalf("%s: without the field\n%x, want\n%x", w.name, got, without)
					}
					if string(s.m.Bytes()) != data {
						t.Fatalf("%s: looking for a field has changed the message", w.name)
					}
					removed := s.RemoveFields(8888)
					if strings.Contains(name, "e") && string(s.m.Bytes()) == compacted(t, d, without) {
						continue // compacting has left out the list that came first
					}
					if removed != (cuts != nil) || string(s.m.Bytes()) != without {
						t.Fatalf("%s: removed (%t): %x, want %x", w.name, removed, s.m.Bytes(), without)
					}
					if s.RemoveFields(8888) {
						t.Fatalf("%s: removed twice", w.name)
					}
					s.AppendUnknown(d, 8888, WireValue{wire.Map, []byte(contextField[3:])})
					if want := without[:len(without)-1] + contextField + "\x00"; string(s.m.Bytes()) != want {
						t.Fatalf("%s: added: %x, want %x", w.name, s.m.Bytes(), want)
					}
					if v, _ := s.FindFields(8888); string(v.Raw()) != contextField[3:] {
						t.Fatalf("%s: added: found %x", w.name, v.Raw())
					}
					s.Release()
				}
			}
		})
	}
}

// TestFindFieldsSteps: indexed values cost one step each, however large they are.
func TestFindFieldsSteps(t *testing.T) {
	var data []byte
	data = append(data, "\x0f\x00\x11\x0c\x00\x03\x00\x00"...) // points, 196,608 of them
	data = append(data, strings.Repeat("\x08\x00\x01\x00\x00\x00\x05\x00", 3<<16)...)
	data = append(data, contextField+"\x00"...)
	s := mustParse(t, allDesc, data)
	defer s.Release()
	w := rootWalk{m: s.m, pieces: []rootPiece{{s.m.ix.StartOf(s.m.root), data}}}
	w.pass(wire.FieldHeader)
	if n, want := w.size(allDesc.Find(uint32(wire.List)<<16|17), wire.List), len(data)-len(contextField)-4; n != want {
		t.Errorf("an indexed list of %d bytes is passed as one of %d", want, n)
	}
	if allocs := testing.AllocsPerRun(100, func() { s.FindFields(1) }); allocs > 0 {
		t.Errorf("%v allocations to find nothing", allocs)
	}
}
