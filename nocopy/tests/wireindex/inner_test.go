package wireindex_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
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
var inCase = map[string]func(s engine.Struct) engine.Struct{
	"field": func(s engine.Struct) engine.Struct { return s.Child(fieldNamed(caseDesc, "one"), caseDesc) },
	"element": func(s engine.Struct) engine.Struct {
		return nocopy.StructList[engine.Struct](s.Child(fieldNamed(caseDesc, "list"), caseDesc)).At(1)
	},
	"arm": func(s engine.Struct) engine.Struct {
		return s.Child(fieldNamed(caseDesc, "arms"), caseDesc).Child(fieldNamed(armsDesc, "a"), armsDesc)
	},
}

// TestTwoIndexes: if a message has several indexes the last one counts. Every change removes all
// of them, and also fields with the same id that are not indexes.
func TestTwoIndexes(t *testing.T) {
	plain := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, plain)
	fields, index := plain[:len(plain)-1], with[len(plain)-1:len(with)-1]
	text, number := []byte{11, 0x83, 0, 0, 0, 0, 1, 'x'}, []byte{8, 0x83, 0, 0, 0, 0, 1}
	for name, parts := range map[string][][]byte{
		"twice":         {fields, index, index},
		"first":         {index, fields, index},
		"a text before": {fields, text, index},
		"a text after":  {fields, index, text},
		"a number":      {text, fields, number, index},
	} {
		data := append(slices.Concat(parts...), 0)
		for how, opts := range map[string][]engine.Option{"plain": nil, "lazy": {engine.Lazy}, "by index": {engine.ByIndex}, "required": {engine.RequireIndex}, "added": {engine.WithIndex}} {
			s, err := engine.Parse(businessDesc, data, opts...)
			if how == "required" && errors.Is(err, nocopy.ErrIndex) {
				continue
			} else if err != nil {
				t.Fatalf("%s, %s: %v", name, how, err)
			}
			s.SetInt64(fieldNamed(businessDesc, "id"), 7)
			items := nocopy.StructList[engine.Struct](s.Child(fieldNamed(businessDesc, "items"), businessDesc))
			if x := items.At(299); items.Len() != 300 || x.Int32(fieldNamed(itemDesc, "count")) != 299 {
				t.Errorf("%s, %s: %v", name, how, x)
			}
			_, cuts := s.FindFields(entry.IndexID)
			x, ok := wireindex.Find(s.Message().Bytes())
			if ok != (how == "added") || len(cuts) > 1 || len(cuts) == 1 && (!ok || cuts[0].To-cuts[0].From != len(x.Bytes)+wire.FieldHeader+wire.TextHeader) {
				t.Errorf("%s, %s: goes out with %v", name, how, cuts)
			}
			s.Release()
		}
	}
}

// TestHandleWithoutIndex: the index that finishing adds belongs to the message, not to its root: a
// handle appends the same bytes before and after.
func TestHandleWithoutIndex(t *testing.T) {
	plain := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, plain)
	for name, wire := range map[string][]byte{"plain": plain, "with one": with} {
		s, err := engine.Parse(businessDesc, wire, engine.WithIndex)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if b := s.AppendStruct([]byte("x"), businessDesc); string(b) != "x"+string(plain) {
				t.Errorf("%s: %d bytes, not %d", name, len(b)-1, len(plain))
			}
			if !bytes.Equal(s.Message().Bytes(), with) {
				t.Errorf("%s: the message has no index", name)
			}
		}
		s.Release()
	}
}
