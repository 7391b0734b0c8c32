package engine

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// Tests of single lies in a message's own index. One comparison finds each lie;
// internal/rehearse/mutants lists these comparisons.

// twoLists is a struct with two lists of Fruits, and a message with 1,000 elements in each and an
// index.
func twoLists(t *testing.T) (d *schema.Struct, b []byte) {
	fruits := schema.ListOf(schema.StructOf(fruitDesc))
	d = schema.NewStruct("Two")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "first", Type: fruits, Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "second", Type: fruits, Req: schema.Optional},
	)
	s := New(d)
	defer s.Release()
	for k, name := range []string{"first ", "second "} {
		l := StructList[Struct](s.NewChild(d.Field(k), d, 1000))
		for i := range 1000 {
			l.At(i).SetText(fieldNamed(fruitDesc, "name"), name+strconv.Itoa(i))
		}
	}
	return d, withIndex(t, d, s.m.Bytes())
}

// anchorOf returns the bytes of anchor i of the list of entry k in the index of the message b.
func anchorOf(t *testing.T, b []byte, k, i int) []byte {
	x, ok := wireindex.Find(b)
	if !ok || x.N <= k {
		t.Fatalf("an index %t of %d values", ok, x.N)
	}
	if _, ok := x.Anchor(x.Entry(k), i); !ok {
		t.Fatalf("list %d has no anchor %d", k, i)
	}
	return x.Bytes[int(wireindex.Number(x.Entry(k)[wireindex.EntryAnchorsAt:]))+i*wireindex.AnchorBytes:][:wireindex.AnchorBytes]
}

// TestAnchorsBeforeTheList: elements are not found among those of another list, which comes
// before.
func TestAnchorsBeforeTheList(t *testing.T) {
	d, b := twoLists(t)
	for i := range 2 {
		copy(anchorOf(t, b, 1, i), anchorOf(t, b, 0, i))
	}
	checkHostileIndex(t, d, b)
	s, err := Parse(d, b, RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	x, _ := wireindex.Find(b)
	_, stride := wireindex.EntryField(x.Entry(1))
	name := fieldNamed(fruitDesc, "name")
	l := StructList[Struct](s.Child(d.Field(1), d))
	if got := l.At(1 << stride).Text(name); got != "" || s.m.landing.err == nil {
		t.Errorf("an element of the second list is %q, with the error %v", got, s.m.landing.err)
	}
	if got := l.At(999).Text(name); got != "second 999" {
		t.Errorf("the last element of the second list is %q", got)
	}
}

// TestPageEndsEarly: an anchor that is an element too late is noticed as soon as the elements
// before it are read.
func TestPageEndsEarly(t *testing.T) {
	d, b := twoLists(t)
	x, _ := wireindex.Find(b)
	_, stride := wireindex.EntryField(x.Entry(0))
	a := anchorOf(t, b, 0, 0)
	wireindex.PutNumber(a, wireindex.Number(a)+3+4+uint32(len("first ")+len(strconv.Itoa(1<<stride)))+1)
	s, err := Parse(d, b, RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	l := StructList[Struct](s.Child(d.Field(0), d))
	if got := l.At(0).Text(fieldNamed(fruitDesc, "name")); got != "first 0" || s.m.landing.err == nil {
		t.Errorf("the first element is %q, with the error %v", got, s.m.landing.err)
	}
	checkHostileIndex(t, d, b)
}

// TestEntryOfNoBytes: an entry that says that a value has no bytes does not make its bytes fields.
func TestEntryOfNoBytes(t *testing.T) {
	texts, d := schema.ListOf(schema.TypeString), schema.NewStruct("Swallowed")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "texts", Type: texts, Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "text", Type: schema.TypeString, Req: schema.Optional},
		schema.FieldDesc{ID: 3, Name: "number", Type: schema.TypeI32, Req: schema.Optional},
	)
	// As a field, the empty list is a text of 0x0b00 bytes: those after the first two of field 2
	const at, swallowed = 3, 0x0b00
	text := make([]byte, 5000)
	number := []byte("\x08\x00\x03\x00\x00\x00\x07")
	padding := wire.AppendBE32([]byte("\x0b\x00\x09"), uint32(len(text)-(swallowed-5)-len(number)-7))
	copy(text[swallowed-5:], append(number, padding...))
	b := append([]byte("\x0f\x00\x01\x0b\x00\x00\x00\x00\x0b\x00\x02"), wire.AppendBE32(nil, uint32(len(text)))...)
	b = append(append(b, text...), 0)
	if _, err := Parse(d, b); err != nil {
		t.Fatal(err)
	}
	s, err := Parse(d, bytes.Clone(b[at:])) // what a reader would see that believes the entry
	if err != nil || s.Int32(d.Field(2)) != 7 || s.HasField(d.Field(1)) {
		t.Fatalf("the value's bytes as fields: %v", err)
	}
	s.Release()
	for _, end := range []uint32{at, at - 3} {
		f := &d.Fields()[0]
		e := wireindex.AppendNumber(wireindex.AppendNumber(nil, at), end)
		e = wireindex.AppendNumber(wireindex.AppendNumber(e, f.Header()<<wireindex.StrideBits), f.Type.Hash())
		with := withEntries(b, 1, wireindex.AppendNumber(e, 0))
		checkHostileIndex(t, d, with)
		s, err := Parse(d, bytes.Clone(with), ByIndex)
		if err != nil {
			t.Fatal(err)
		}
		if s.HasField(d.Field(2)) || len(s.Text(d.Field(1))) != len(text) {
			t.Errorf("with an end at %d the number is set, or the text is of %d bytes", end, len(s.Text(d.Field(1))))
		}
		s.Release()
	}
}

// TestLaterByIndex: values that elements have in common, whose anchors say that they are the same
// bytes, are not read more often than in proportion to the message's bytes either, if they are
// read after all elements were found.
func TestLaterByIndex(t *testing.T) {
	const padding = 16 << 10
	more := fieldNamed(branchDesc, "more")
	b := overlapping(7, 13, padding, true)
	s, err := Parse(branchDesc, b, RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	children := fieldNamed(branchDesc, "children")
	var found []Struct
	var find func(s Struct)
	find = func(s Struct) {
		if s.HasField(more) {
			found = append(found, s)
		}
		l := StructList[Struct](s.Child(children, branchDesc))
		for i := 1; i < l.Len(); i += 3 {
			if x := l.At(i); x.Valid() {
				find(x)
			}
		}
	}
	find(s)
	read := 0
	for _, x := range found {
		if x.Child(more, branchDesc).HasField(fieldNamed(branchDesc, "weight")) {
			read++
		}
	}
	if most := mostRead * len(b) / padding; len(found) < 4*most || read > most || read == 0 {
		t.Errorf("of %d structs %d were read, at most %d", len(found), read, most)
	}
}

// TestEntryWithoutOuter: an index does not fit that has an entry for a value in a struct without
// one, if that struct is indexed at once.
func TestEntryWithoutOuter(t *testing.T) {
	texts, inner, d := schema.ListOf(schema.TypeString), schema.NewStruct("Inner"), schema.NewStruct("Outer")
	fields := []schema.FieldDesc{{ID: 1, Name: "texts", Type: texts, Req: schema.Optional}}
	for i := range 100 { // too many for Lazy
		fields = append(fields, schema.FieldDesc{ID: int16(i + 2), Name: "f" + strconv.Itoa(i), Type: schema.TypeI8, Req: schema.Optional})
	}
	inner.Define(fields...)
	d.Define(
		schema.FieldDesc{ID: 1, Name: "inner", Type: schema.StructOf(inner), Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "text", Type: schema.TypeString, Req: schema.Optional},
	)
	b := []byte("\x0c\x00\x01" + "\x02\x7f\x00\x01" + "\x0f\x00\x01") // an unknown field, then texts
	at := len(b)
	b = append(b, "\x0b\x00\x00\x00\x01\x00\x00\x00\x01a"...)
	end := len(b)
	b = append(append(b, "\x00\x0b\x00\x02\x00\x00\x20\x00"...), make([]byte, 8<<10+1)...)
	f := &inner.Fields()[0]
	entry := wireindex.AppendNumber(wireindex.AppendNumber(nil, uint32(at)), uint32(end))
	entry = wireindex.AppendNumber(wireindex.AppendNumber(entry, f.Header()<<wireindex.StrideBits), texts.Hash())
	b = withEntries(b, 1, wireindex.AppendNumber(entry, 0))
	checkHostileIndex(t, d, b)
	if _, err := Parse(d, b); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(d, b, RequireIndex); err == nil {
		t.Error("the index is taken to fit")
	}
}
