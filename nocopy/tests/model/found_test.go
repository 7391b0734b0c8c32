package model_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Faults that the model-based test has found, in the fewest steps.

// only returns the descriptor of a struct with one field of the type, and the field.
func only(t *referee.Type, inner ...*referee.Struct) (*thriftimpl.Desc, thriftimpl.Field) {
	top := &referee.Struct{Name: "Top", Fields: []referee.Field{{ID: 1, Name: "f", Type: t, Req: referee.Optional}}}
	sc := newSchema(append([]*referee.Struct{top}, inner...))
	return sc.structs[0].desc, sc.structs[0].fields[0]
}

// TestRootAcrossBlocks: a struct whose first bytes lie across two blocks begins in the piece that
// they are copied to.
func TestRootAcrossBlocks(t *testing.T) {
	d, f := only(referee.String)
	wire := []byte{11, 0, 1, 0, 0, 0, 3, 'o', 'n', 'e', 99: 0}[:11]
	for cut := range wire {
		s, err := nocopy.ParseBlocks[handle](d, [][]byte{wire[:cut], wire[cut:]})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wire, s.Message().Bytes()); diff != "" {
			t.Errorf("cut at %d: %s", cut, diff)
		}
		for id := range s.Unknown(d) {
			t.Errorf("cut at %d: unknown field %d", cut, id)
		}
		if got := s.Clone(d).Text(f); got != "one" {
			t.Errorf("cut at %d: the clone has %q", cut, got)
		}
	}
}

// TestEmptyStructThenEdit: a struct may begin in an empty node, and another value may be set
// before its first field.
func TestEmptyStructThenEdit(t *testing.T) {
	inner := &referee.Struct{Name: "Inner", Fields: []referee.Field{{ID: 1, Name: "x", Type: referee.String, Req: referee.Optional}}}
	top := &referee.Struct{Name: "Top", Fields: []referee.Field{{ID: 1, Name: "f", Type: referee.ListOf(referee.StructOf(inner))}}}
	sc := newSchema([]*referee.Struct{top, inner})
	d, f, x := sc.structs[0].desc, sc.structs[0].fields[0], sc.structs[1].fields[0]
	s := thriftimpl.New(d)
	l := nocopy.StructList[handle](s.NewChild(f, d, 0))
	first := l.AppendNew()
	first.SetText(x, "a")
	s.Message().Finish()
	l.AppendNew()           // in a node that is still empty
	first.SetText(x, "bcd") // another one
	s.Message().Finish()
	for i, e := range l.All() {
		if got, want := e.HasField(x), i == 0; got != want {
			t.Errorf("element %d: Has = %v", i, got)
		}
		for id := range e.Unknown(sc.structs[1].desc) {
			t.Errorf("element %d has a field %d", i, id)
		}
	}
}

// TestIndexOfLazyBeingEdited: Index of a message that was parsed with Lazy and edited; a struct
// that is being built still lacks fields that Finish adds.
func TestIndexOfLazyBeingEdited(t *testing.T) {
	inner := &referee.Struct{Name: "Inner", Fields: []referee.Field{{ID: 1, Name: "x", Type: referee.String, Req: referee.Required}}}
	d, f := only(referee.StructOf(inner), inner)
	s, err := thriftimpl.Parse(d, []byte{0}, nocopy.Lazy)
	if err != nil {
		t.Fatal(err)
	}
	s.NewChild(f, d, 0)
	if err := s.Message().Index(); err != nil {
		t.Error(err)
	}
}

// TestDeletedPairComesAgain: the slot of a deleted pair is used again for any key, put in any way.
func TestDeletedPairComesAgain(t *testing.T) {
	d, f := only(referee.MapOf(referee.String, referee.I32))
	for _, n := range []int{3, 40} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { // without and with a table
			s := thriftimpl.New(d)
			m := nocopy.Map[string, int32, thriftimpl.AsString, thriftimpl.AsInt32](s.NewChild(f, d, 0))
			want := map[string]int32{}
			for i := range n {
				m.Put(fmt.Sprint(i), int32(i))
				want[fmt.Sprint(i)] = int32(i)
			}
			m.Delete("1")
			m.Put("1", -1) // the same key
			m.Delete("2")
			m.AppendNew() // ""
			m.Put("", -2)
			want["1"], want[""] = -1, -2
			delete(want, "2")
			if m.Len() != len(want) {
				t.Errorf("Len = %d, want %d", m.Len(), len(want))
			}
			got := map[string]int32{}
			for k, v := range m.All() {
				got[k] = v
				if x, ok := m.Get(k); !ok || x != v {
					t.Errorf("Get(%q) = %d, %v", k, x, ok)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPutChangedKey: a key that is a struct may be changed after it was put.
func TestPutChangedKey(t *testing.T) {
	inner := &referee.Struct{Name: "Inner", Fields: []referee.Field{{ID: 1, Name: "x", Type: referee.I32}}}
	d, f := only(referee.MapOf(referee.StructOf(inner), referee.I32), inner)
	x := thriftimpl.Field(2)<<48 | 3<<32 | entry.Wide | 8<<16 | 1 // Inner is wide, see newSchema
	s := thriftimpl.New(d)
	m := nocopy.Map[handle, int32, thriftimpl.AsView[handle], thriftimpl.AsInt32](s.NewChild(f, d, 0))
	other := thriftimpl.New(d)
	key := nocopy.Map[handle, int32, thriftimpl.AsView[handle], thriftimpl.AsInt32](other.NewChild(f, d, 0)).Append(0)
	key.SetInt32(x, 5)
	m.Put(key, 1)
	for k := range m.All() {
		k.SetInt32(x, 6)
	}
	key.SetInt32(x, 6)
	m.Put(key, 2)
	if v, ok := m.Get(key); m.Len() != 1 || !ok || v != 2 {
		t.Errorf("Len = %d, Get = %d, %v; the pair should have been replaced", m.Len(), v, ok)
	}
}

// TestStringsOutliveRecycledSource: strings from a message that does not recycle stay unchanged,
// even if it refers to memory of a recycling message, and both are released.
func TestStringsOutliveRecycledSource(t *testing.T) {
	d, f := only(referee.ListOf(referee.String))
	long := strings.Repeat("a", 3000)
	src := thriftimpl.New(d, nocopy.Recycle)
	src.SetTexts(f, d, []string{long, long, long})
	dst := thriftimpl.New(d)
	dst.SetChild(f, d, src.Child(f, d))
	got := nocopy.StringList(dst.Child(f, d)).At(1)
	src.Release()
	dst.Release()
	for range 8 { // messages that may take the block, and write into it
		other := thriftimpl.New(d, nocopy.Recycle)
		other.SetTexts(f, d, []string{strings.Repeat("b", 3000), strings.Repeat("b", 3000), strings.Repeat("b", 3000)})
		defer other.Release()
	}
	if got != long {
		t.Errorf("the string is %.20q… now", got)
	}
	runtime.KeepAlive(src)
}

// TestContainsWhileBuilding: Contains of a list that is being built finds the elements so far, and
// later the new ones.
func TestContainsWhileBuilding(t *testing.T) {
	d, f := only(referee.SetOf(referee.String))
	s := thriftimpl.New(d)
	l := nocopy.StringList(s.NewChild(f, d, 40))
	for i := range 40 {
		text := fmt.Sprint(i)
		if l.Contains(text) {
			t.Errorf("%s is there before it was set", text)
		}
		l.Set(i, text)
		if !l.Contains(text) {
			t.Errorf("%s is not there when it has been set", text)
		}
	}
}
