package containers_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// wireOf calls Wire of a list, set or map of any type.
type wireOf interface{ Wire() []byte }

// containersIn returns the method Wire of each container in a message of allDesc, by its field's
// name. For handles whose type has no name here it returns the function that all of these methods
// call.
func containersIn(s engine.Struct) map[string]func() []byte {
	all := map[string]func() []byte{}
	for i := range allDesc.NumFields() {
		f := allDesc.FieldDesc(i)
		if w := f.Type.Wire(); w == nocopy.WireList || w == nocopy.WireSet || w == nocopy.WireMap {
			all[f.Name] = s.Child(fieldNamed(allDesc, f.Name), allDesc).ContainerWire
		}
	}
	child := func(name string) engine.Struct { return s.Child(fieldNamed(allDesc, name), allDesc) }
	for name, l := range map[string]wireOf{
		"numbers": nocopy.Int64List(child("numbers")), "words": nocopy.StringList(child("words")), "flags": nocopy.BoolList(child("flags")),
		"unique": nocopy.Int32List(child("unique")), "blobs": nocopy.BytesList(child("blobs")), "keys": nocopy.UUIDList(child("keys")),
		"points": nocopy.StructList[engine.Struct](child("points")), "matrix": nocopy.NestedList[nocopy.Int32List](child("matrix")),
		"colors": nocopy.EnumList[int32](child("colors")),
	} {
		all[name] = l.Wire
	}
	return all
}

// rawFields returns the values of a struct's fields by name, found in its wire bytes.
func rawFields(t *testing.T, wire []byte) map[string][]byte {
	t.Helper()
	raw := map[string][]byte{}
	for i := range allDesc.NumFields() {
		f := allDesc.FieldDesc(i)
		if v, err := engine.Peek(wire, int(f.ID)); err == nil {
			raw[f.Name] = v.Raw()
		}
	}
	return raw
}

// TestContainerWire: Wire returns what Peek finds in the message's bytes, however they are cut,
// and whether or not the message was edited.
func TestContainerWire(t *testing.T) {
	wire := handles.Wire()
	ways := append([]way{cloned}, manyWays...)
	for cut := 1; cut < len(wire); cut += 7 {
		ways = append(ways, cutAt(cut))
	}
	for _, w := range ways {
		s, err := w.Parse(allDesc, wire)
		if err != nil {
			t.Fatal(w.Name, err)
		}
		checkContainerWire(t, w.Name, s)
		nocopy.Int64List(s.Child(fieldNamed(allDesc, "numbers"), allDesc)).Append(7)
		nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)).Set(0, strings.Repeat("w", 5000))
		s.Child(fieldNamed(allDesc, "points"), allDesc).Element(0).Struct().SetInt32(fieldNamed(pointDesc, "x"), 77)
		checkContainerWire(t, w.Name+", edited", s)
		s.Release()
	}
}

func checkContainerWire(t *testing.T, name string, s engine.Struct) {
	t.Helper()
	want := rawFields(t, s.Message().AppendTo(nil))
	for field, wire := range containersIn(s) {
		if got := wire(); !bytes.Equal(got, want[field]) {
			t.Errorf("%s: %s: %x, want %x", name, field, got, want[field])
		}
	}
}

// TestContainerWireAbsent: absent ones, and those of the zero handle, have no bytes; a stale
// handle panics.
func TestContainerWireAbsent(t *testing.T) {
	s := engine.New(allDesc)
	for field, wire := range containersIn(s) {
		if b := wire(); b != nil {
			t.Errorf("%s: %x", field, b)
		}
	}
	if b := (nocopy.StringMap{}).Wire(); b != nil {
		t.Errorf("%x", b)
	}
	l := nocopy.Int64List(s.NewChild(fieldNamed(allDesc, "numbers"), allDesc, 2))
	if got, want := l.Wire(), "\x0a\x00\x00\x00\x02"+strings.Repeat("\x00", 16); string(got) != want {
		t.Errorf("while it is built: %x", got)
	}
	s.Release()
	defer func() {
		if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "nocopy: ") {
			t.Errorf("panic %q", text)
		}
	}()
	l.Wire()
}

// TestContainerWireAliases: the bytes are the message's own, and appending to them does not
// overwrite the bytes that follow.
func TestContainerWireAliases(t *testing.T) {
	wire := handles.Wire()
	before := bytes.Clone(wire)
	s, err := engine.ParseBlocks(allDesc, [][]byte{wire})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	raw := rawFields(t, wire)
	for field, get := range containersIn(s) {
		b := get()
		if len(b) > 0 && &b[0] != &raw[field][0] {
			t.Errorf("%s is a copy", field)
		}
		_ = append(b, 0xff)
		if n := testing.AllocsPerRun(100, func() { get() }); n != 0 {
			t.Errorf("%s: %v allocations", field, n)
		}
	}
	if !bytes.Equal(wire, before) {
		t.Error("appending to what Wire returned changed the message")
	}
}
