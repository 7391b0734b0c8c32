package engine

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// Messages that are read by their index, and used in more ways than by getters: each way gives
// what a valid message has, and takes what is not valid for absent.

var (
	fruitDesc   = schema.NewStruct("Fruit")
	orchardDesc = schema.NewStruct("Orchard")
)

func init() {
	fruitDesc.Define(schema.FieldDesc{ID: 1, Name: "name", Type: schema.TypeString}, schema.FieldDesc{ID: 2, Name: "n", Type: schema.TypeI32})
	leaf := schema.StructOf(fruitDesc)
	orchardDesc.Define(
		schema.FieldDesc{ID: 1, Name: "leaves", Type: schema.SetOf(leaf)},
		schema.FieldDesc{ID: 2, Name: "list", Type: schema.ListOf(leaf)},
		schema.FieldDesc{ID: 3, Name: "trees", Type: schema.ListOf(schema.StructOf(orchardDesc))},
		schema.FieldDesc{ID: 4, Name: "tree", Type: schema.StructOf(orchardDesc)},
		schema.FieldDesc{ID: 5, Name: "id", Type: schema.TypeI32},
	)
}

// fillLeaves fills a field of an Orchard with n leaves.
func fillLeaves(s Struct, field string, n int) StructList[Struct] {
	l := StructList[Struct](s.NewChild(fieldNamed(orchardDesc, field), orchardDesc, n))
	for i := range n {
		l.At(i).SetText(fieldNamed(fruitDesc, "name"), "leaf "+itoa(i))
	}
	return l
}

// spoilElement returns the wire bytes, with an index, of an Orchard with n leaves in a field, of
// which element i is not valid.
func spoilElement(t testing.TB, field string, n, i int) []byte {
	made := New(orchardDesc)
	defer made.Release()
	fillLeaves(made, field, n)
	wire := withIndex(t, orchardDesc, made.m.Bytes())
	s, err := Parse(orchardDesc, wire) // in one piece
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	l := StructList[Struct](s.Child(fieldNamed(orchardDesc, field), orchardDesc))
	at, _ := s.m.extent(l.At(i).entry(), schema.StructOf(fruitDesc))
	wire[at-s.m.idx[s.m.root]] = 1 // no wire type
	return wire
}

// TestDeepByIndex: an index is of use whatever Parse accepts: structs as deep as the limit, with
// a list of them or without.
func TestDeepByIndex(t *testing.T) {
	trees, tree, id := fieldNamed(orchardDesc, "trees"), fieldNamed(orchardDesc, "tree"), fieldNamed(orchardDesc, "id")
	for _, inLists := range []bool{false, true} {
		for _, depth := range []int{30, 61, 62, 63, 200} {
			limits := Limits{MaxDepth: max(64, depth+2)}
			s := New(orchardDesc, WithIndex, limits)
			l := StructList[Struct](s.NewChild(trees, orchardDesc, 1000))
			for i := range 1000 {
				x := l.At(i)
				x.SetInt32(id, int32(i))
				for range depth * (i % 50 / 49) {
					if inLists {
						x = StructList[Struct](x.NewChild(trees, orchardDesc, 1)).At(0)
					} else {
						x = x.NewChild(tree, orchardDesc, 0)
					}
				}
			}
			wire := bytes.Clone(s.m.Bytes())
			s.Release()
			for _, opt := range []Option{ByIndex, RequireIndex} {
				s, err := Parse(orchardDesc, wire, opt, limits)
				if err != nil {
					t.Fatalf("depth %d, in lists %t: %v", depth, inLists, err)
				}
				l := StructList[Struct](s.Child(trees, orchardDesc))
				for i := 3; i < 1000; i += 13 {
					if x := l.At(i); x.Int32(id) != int32(i) {
						t.Errorf("depth %d, in lists %t: element %d is %.99s", depth, inLists, i, x.Format(orchardDesc))
					}
				}
				if err := s.m.Index(); err != nil {
					t.Errorf("depth %d, in lists %t: Index: %v", depth, inLists, err)
				}
				s.Release()
			}
		}
	}
}

// TestContainsByIndex: Contains does not find an element that is not valid, and finds others.
func TestContainsByIndex(t *testing.T) {
	wire := spoilElement(t, "leaves", 1000, 700)
	other := New(orchardDesc)
	defer other.Release()
	want := fillLeaves(other, "list", 1000)
	other.m.Finish()
	for _, opt := range []Option{ByIndex, RequireIndex} {
		s, err := Parse(orchardDesc, wire, opt)
		if err != nil {
			t.Fatal(err)
		}
		set := StructList[Struct](s.Child(fieldNamed(orchardDesc, "leaves"), orchardDesc))
		for _, i := range []int{0, 3, 700} {
			if found := set.Contains(want.At(i)); found != (i != 700) {
				t.Errorf("%v: contains element %d: %t", opt, i, found)
			}
		}
		s.Release()
	}
}

// TestInnerBytes: the bytes of structs and lists of which getters have passed over a part by an
// index that lies are none, or those of an empty struct.
func TestInnerBytes(t *testing.T) {
	leaves, tree := fieldNamed(orchardDesc, "leaves"), fieldNamed(orchardDesc, "tree")
	for _, inner := range []string{"", "\x0b\x83\x00\x00\x00\x00\x01x"} { // an index, or not
		data := []byte{byte(WireStruct), 0, 4}
		from := len(data)
		data = append(data, byte(WireSet), 0, 1)
		at := len(data)
		data = append(wire.AppendBE32(append(data, byte(WireStruct)), 4000), strings.Repeat("\xee", 5000)...)
		end := len(data)
		data = append(data, inner+"\x00"...)
		to := len(data)
		f, g := orchardDesc.FieldOf(tree), orchardDesc.FieldOf(leaves)
		e := wireindex.AppendNumber(wireindex.AppendNumber(nil, uint32(from)), uint32(to))
		e = wireindex.AppendNumber(wireindex.AppendNumber(wireindex.AppendNumber(e, f.Header()<<wireindex.StrideBits), f.Type.Hash()), 0)
		e = wireindex.AppendNumber(wireindex.AppendNumber(e, uint32(at)), uint32(end))
		e = wireindex.AppendNumber(wireindex.AppendNumber(wireindex.AppendNumber(e, g.Header()<<wireindex.StrideBits|4), g.Type.Hash()), 2*wireindex.EntryBytes)
		for i := range 4000 / 16 {
			e = wireindex.AppendNumber(e, uint32(at+wire.ListHeader+16*(i+1)))
		}
		data = withEntries(append(data, 0), 2, e)
		for _, opt := range []Option{ByIndex, RequireIndex} {
			s, err := Parse(orchardDesc, data, opt)
			if err != nil {
				t.Fatal(err)
			}
			x := s.Child(tree, orchardDesc)
			if !x.Valid() || x.Child(leaves, orchardDesc).ListLen() != 4000 {
				t.Error("the struct is not read by the index")
			}
			if b := x.AppendStruct([]byte("x"), orchardDesc); string(b) != "x"+string(schema.AppendZero(nil, orchardDesc.Type())) {
				t.Errorf("%v: %d bytes of a struct that is not valid", opt, len(b))
			}
			if b := StructList[Struct](x.Child(leaves, orchardDesc)).Wire(); b != nil {
				t.Errorf("%v: %d bytes of a set that is not valid", opt, len(b))
			}
			if err := s.m.Index(); !errors.Is(err, ErrType) {
				t.Errorf("%v: Index: %v", opt, err)
			}
			s.Release()
		}
	}
}

// TestInnerBytesValid: of a valid message the bytes of what is read by its index are those that
// it came with.
func TestInnerBytesValid(t *testing.T) {
	inner := New(orchardDesc, WithIndex)
	fillLeaves(inner, "leaves", 900)
	set := bytes.Clone(StructList[Struct](inner.Child(fieldNamed(orchardDesc, "leaves"), orchardDesc)).Wire())
	plain := inner.AppendStruct(nil, orchardDesc)
	wire := append(append([]byte{byte(WireStruct), 0, 4}, inner.m.Bytes()...), 0)
	inner.Release()
	with := withIndex(t, orchardDesc, wire)
	s, err := Parse(orchardDesc, with, RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	x := s.Child(fieldNamed(orchardDesc, "tree"), orchardDesc)
	if b := x.AppendStruct(nil, orchardDesc); !bytes.Equal(b, plain) {
		t.Errorf("%d bytes of a struct, not %d", len(b), len(plain))
	}
	if b := StructList[Struct](x.Child(fieldNamed(orchardDesc, "leaves"), orchardDesc)).Wire(); !bytes.Equal(b, set) {
		t.Errorf("%d bytes of a set, not %d", len(b), len(set))
	}
	if s.m.pending&byIndex == 0 {
		t.Error("all was indexed")
	}
}

// TestWireLenWithIndex: WireLen is the number of bytes that AppendStruct appends, which does not
// append the index that finishing adds, nor one in an inner struct.
func TestWireLenWithIndex(t *testing.T) {
	plain := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, plain)
	for name, opts := range map[string][]Option{"plain": nil, "lazy": {Lazy}, "by index": {ByIndex}, "added": {WithIndex}} {
		for _, wire := range [][]byte{plain, with} {
			s, err := Parse(businessDesc, wire, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if n, b := s.WireLen(businessDesc), s.AppendStruct(nil, businessDesc); n != len(b) {
				t.Errorf("%s: WireLen is %d, of %d bytes", name, n, len(b))
			}
			s.Release()
		}
		s, err := Parse(caseDesc, caseOf(with), opts...)
		if err != nil {
			t.Fatal(err)
		}
		for place, in := range inCase {
			if n, b := in(s).WireLen(businessDesc), in(s).AppendStruct(nil, businessDesc); n != len(b) {
				t.Errorf("%s, %s: WireLen is %d, of %d bytes", name, place, n, len(b))
			}
		}
		s.Release()
	}
}

// TestSendableByIndex: what package rpc is about to send is checked, whatever its index says; a
// struct that is absent can't be sent.
func TestSendableByIndex(t *testing.T) {
	wire := spoilElement(t, "list", 1000, 700)
	s, err := Parse(orchardDesc, wire, RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if err := s.Sendable(); !errors.Is(err, ErrType) {
		t.Errorf("a message that is not valid: %v", err)
	}
	gone := StructList[Struct](s.Child(fieldNamed(orchardDesc, "list"), orchardDesc)).At(700)
	if gone.Valid() {
		t.Error("element 700 is there")
	}
	if _, err := CopyHeld(fruitDesc, gone, 8, Limits{}, false); err == nil {
		t.Error("an absent struct was copied")
	}
	other := New(orchardDesc)
	defer other.Release()
	x := fillLeaves(other, "list", 3).At(1)
	other.m.Finish()
	other.Unset(fieldNamed(orchardDesc, "list"))
	other.m.Compact()
	if _, err := CopyHeld(fruitDesc, x, 8, Limits{}, false); err == nil {
		t.Error("a struct that is gone was copied")
	}
}

// TestSetAbsentByIndex: a setter of a struct that is absent since it is not valid panics with what
// is wrong with the message, not as if the struct had been removed.
func TestSetAbsentByIndex(t *testing.T) {
	s, err := Parse(orchardDesc, spoilElement(t, "list", 1000, 700), RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "nocopy: message can't be changed or copied from: ") {
			t.Errorf("%q", text)
		}
	}()
	StructList[Struct](s.Child(fieldNamed(orchardDesc, "list"), orchardDesc)).At(700).SetInt32(fieldNamed(fruitDesc, "n"), 1)
}
