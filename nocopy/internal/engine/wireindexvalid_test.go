package engine

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Messages that are read by their index, and used in more ways than by getters: each way gives the
// same values as a valid message, and takes invalid ones for absent.

// fillLeaves fills a field of an Orchard with n leaves.
func fillLeaves(s Struct, field string, n int) StructList[Struct] {
	l := StructList[Struct](s.NewChild(fieldNamed(orchardDesc, field), orchardDesc, n))
	for i := range n {
		l.At(i).SetText(fieldNamed(fruitDesc, "name"), "leaf "+strconv.Itoa(i))
	}
	return l
}

// spoilElement returns the wire bytes, with an index, of an Orchard with n leaves in a field.
// Element i is not valid.
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
	wire[at-s.m.ix.StartOf(s.m.root)] = 1 // no wire type
	return wire
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

// TestInnerBytesValid: the bytes of values that are read by the index of a valid message are the
// bytes that it came with.
func TestInnerBytesValid(t *testing.T) {
	inner := New(orchardDesc, WithIndex)
	fillLeaves(inner, "leaves", 900)
	set := bytes.Clone(StructList[Struct](inner.Child(fieldNamed(orchardDesc, "leaves"), orchardDesc)).Wire())
	plain := inner.AppendStruct(nil, orchardDesc)
	wire := append(append([]byte{byte(wire.Struct), 0, 4}, inner.m.Bytes()...), 0)
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

// TestSendableByIndex: a message that package rpc is about to send is checked, for all contents of
// its index. An absent struct can't be sent.
func TestSendableByIndex(t *testing.T) {
	data := spoilElement(t, "list", 1000, 700)
	s, err := Parse(orchardDesc, data, RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if err := s.Sendable(); !errors.Is(err, wire.ErrType) {
		t.Errorf("a message that is not valid: %v", err)
	}
	gone := StructList[Struct](s.Child(fieldNamed(orchardDesc, "list"), orchardDesc)).At(700)
	if gone.Valid() {
		t.Error("element 700 is there")
	}
	if _, err := CopyForCall(fruitDesc, gone, 8, Limits{}, 0); err == nil {
		t.Error("an absent struct was copied")
	}
	other := New(orchardDesc)
	defer other.Release()
	x := fillLeaves(other, "list", 3).At(1)
	other.m.Finish()
	other.Unset(fieldNamed(orchardDesc, "list"))
	other.m.Compact()
	if _, err := CopyForCall(fruitDesc, x, 8, Limits{}, 0); err == nil {
		t.Error("a struct that is gone was copied")
	}
}

// TestSetAbsentByIndex: a setter of a struct that is absent because it is invalid panics with the
// error in the message, not as if the struct had been removed.
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
