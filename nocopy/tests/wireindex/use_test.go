package wireindex_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// Tests of messages that are read by their index and used in other ways than by getters. Each way
// returns the values of a valid message, and treats invalid values as absent.

// TestDeepByIndex: an index can be used with every depth that Parse accepts: structs as deep as
// the limit, with and without a list of them.
func TestDeepByIndex(t *testing.T) {
	trees, tree, id := fieldNamed(orchardDesc, "trees"), fieldNamed(orchardDesc, "tree"), fieldNamed(orchardDesc, "id")
	for _, inLists := range []bool{false, true} {
		for _, depth := range []int{30, 61, 62, 63, 200} {
			limits := engine.Limits{MaxDepth: max(64, depth+2)}
			s := engine.New(orchardDesc, engine.WithIndex, limits)
			l := nocopy.StructList[engine.Struct](s.NewChild(trees, orchardDesc, 1000))
			for i := range 1000 {
				x := l.At(i)
				x.SetInt32(id, int32(i))
				for range depth * (i % 50 / 49) {
					if inLists {
						x = nocopy.StructList[engine.Struct](x.NewChild(trees, orchardDesc, 1)).At(0)
					} else {
						x = x.NewChild(tree, orchardDesc, 0)
					}
				}
			}
			wire := bytes.Clone(s.Message().Bytes())
			s.Release()
			for _, opt := range []engine.Option{engine.ByIndex, engine.RequireIndex} {
				s, err := engine.Parse(orchardDesc, wire, opt, limits)
				if err != nil {
					t.Fatalf("depth %d, in lists %t: %v", depth, inLists, err)
				}
				l := nocopy.StructList[engine.Struct](s.Child(trees, orchardDesc))
				for i := 3; i < 1000; i += 13 {
					if x := l.At(i); x.Int32(id) != int32(i) {
						t.Errorf("depth %d, in lists %t: element %d is %.99s", depth, inLists, i, render.Text(x, orchardDesc))
					}
				}
				if err := s.Message().Index(); err != nil {
					t.Errorf("depth %d, in lists %t: Index: %v", depth, inLists, err)
				}
				s.Release()
			}
		}
	}
}

// TestInnerBytes: if an index is wrong, and getters have used it to pass over a part of a struct
// or list, that struct or list has no bytes, or those of an empty struct.
func TestInnerBytes(t *testing.T) {
	leaves, tree := fieldNamed(orchardDesc, "leaves"), fieldNamed(orchardDesc, "tree")
	for _, inner := range []string{"", "\x0b\x83\x00\x00\x00\x00\x01x"} { // an index, or not
		data := []byte{byte(nocopy.WireStruct), 0, 4}
		from := len(data)
		data = append(data, byte(nocopy.WireSet), 0, 1)
		at := len(data)
		data = append(wire.AppendBE32(append(data, byte(nocopy.WireStruct)), 4000), strings.Repeat("\xee", 5000)...)
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
		for _, opt := range []engine.Option{engine.ByIndex, engine.RequireIndex} {
			s, err := engine.Parse(orchardDesc, data, opt)
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
			if b := nocopy.StructList[engine.Struct](x.Child(leaves, orchardDesc)).Wire(); b != nil {
				t.Errorf("%v: %d bytes of a set that is not valid", opt, len(b))
			}
			if err := s.Message().Index(); !errors.Is(err, nocopy.ErrType) {
				t.Errorf("%v: Index: %v", opt, err)
			}
			s.Release()
		}
	}
}

// TestWireLenWithIndex: WireLen is the number of bytes that AppendStruct appends. It appends
// neither the index that finishing adds nor one in an inner struct.
func TestWireLenWithIndex(t *testing.T) {
	plain := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, plain)
	for name, opts := range map[string][]engine.Option{"plain": nil, "lazy": {engine.Lazy}, "by index": {engine.ByIndex}, "added": {engine.WithIndex}} {
		for _, wire := range [][]byte{plain, with} {
			s, err := engine.Parse(businessDesc, wire, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if n, b := s.WireLen(businessDesc), s.AppendStruct(nil, businessDesc); n != len(b) {
				t.Errorf("%s: WireLen is %d, of %d bytes", name, n, len(b))
			}
			s.Release()
		}
		s, err := engine.Parse(caseDesc, caseOf(with), opts...)
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
