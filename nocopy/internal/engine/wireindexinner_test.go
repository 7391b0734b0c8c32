package engine

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// caseOf returns the wire bytes of a Case. Each Business in it is message.
func caseOf(message []byte) []byte {
	wire := append([]byte{12, 0, 1}, message...)
	wire = append(wire, 15, 0, 2, 12, 0, 0, 0, 2)
	wire = append(append(wire, message...), message...)
	wire = append(append(wire, 12, 0, 3, 12, 0, 1), message...)
	return append(wire, 0, 0)
}

// inCase are the structs in a Case.
var inCase = map[string]func(s Struct) Struct{
	"field": func(s Struct) Struct { return s.Child(fieldNamed(caseDesc, "one"), caseDesc) },
	"element": func(s Struct) Struct {
		return StructList[Struct](s.Child(fieldNamed(caseDesc, "list"), caseDesc)).At(1)
	},
	"arm": func(s Struct) Struct {
		return s.Child(fieldNamed(caseDesc, "arms"), caseDesc).Child(fieldNamed(armsDesc, "a"), armsDesc)
	},
}

// TestInnerIndex: a struct that was a message with an index is sent on in its message as it came.
// A copy of it, which may be a message again, has no index, after any edits of the struct, and
// wherever it was linked to.
func TestInnerIndex(t *testing.T) {
	message := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, message)
	wire := caseOf(with)
	sku := fieldNamed(itemDesc, "sku")
	edit := func(s Struct) { // its length stays the same
		items := StructList[Struct](s.Child(fieldNamed(businessDesc, "items"), businessDesc))
		items.At(100).SetText(sku, "tem 100")
		items.At(200).SetText(sku, "items 200")
	}
	edited, err := Parse(businessDesc, message)
	if err != nil {
		t.Fatal(err)
	}
	edit(edited)
	want := bytes.Clone(edited.m.Bytes())
	for how, opts := range map[string][]Option{"plain": nil, "own": {Own}, "lazy": {Lazy}, "by index": {ByIndex}, "recycled": {Recycle}, "added": {WithIndex}} {
		source := wire
		if how == "by index" {
			source = withIndex(t, caseDesc, wire)
		}
		for place, in := range inCase {
			s, err := Parse(caseDesc, bytes.Clone(source), opts...)
			if err != nil {
				t.Fatal(err)
			}
			if out := s.m.Bytes(); how != "added" && !bytes.Equal(out, source) {
				t.Errorf("%s: goes out otherwise than it came", how)
			}
			for id := range in(s).Unknown(businessDesc) {
				t.Errorf("%s, %s: field %d is unknown", how, place, id)
			}
			edit(in(s))
			other := New(caseDesc)
			other.SetChild(fieldNamed(caseDesc, "one"), caseDesc, in(s))
			another := New(caseDesc)
			another.SetChild(fieldNamed(caseDesc, "list"), caseDesc, s.Child(fieldNamed(caseDesc, "list"), caseDesc))
			another.SetChild(fieldNamed(caseDesc, "arms"), caseDesc, s.Child(fieldNamed(caseDesc, "arms"), caseDesc))
			another.SetChild(fieldNamed(caseDesc, "one"), caseDesc, in(s))
			for copied, b := range map[string][]byte{
				"appended": in(s).AppendStruct(nil, businessDesc),
				"cloned":   in(s).Clone(businessDesc).m.Bytes(),
				"a key":    in(s).wireAs(schema.StructOf(businessDesc)),
				"a value":  Value{typ: schema.StructOf(businessDesc), s: in(s)}.AppendWire(nil),
				"linked":   inCase["field"](other).AppendStruct(nil, businessDesc),
				"again":    in(another).AppendStruct(nil, businessDesc),
			} {
				if !bytes.Equal(b, want) {
					t.Errorf("%s, %s, %s: %d bytes, not the %d without an index", how, place, copied, len(b), len(want))
				}
			}
			s.Release()
			other.Release()
			another.Release()
		}
	}
	edited.Release()
}
