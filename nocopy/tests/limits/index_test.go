// A struct of optional fields, for tests of memory.

package limits_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// optionals returns n optional fields of type t.
func optionals(n int, t *schema.Type) []schema.FieldDesc {
	fields := make([]schema.FieldDesc, n)
	for i := range fields {
		fields[i] = schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: t, Req: schema.Optional}
	}
	return fields
}

// twoListsOf returns a struct with two lists, and the struct of their elements, which has the
// given number of optional fields.
func twoListsOf(fields int) (elem, root *schema.Struct) {
	elem, root = schema.NewStruct("Elem"), schema.NewStruct("Root")
	define(elem, optionals(fields, schema.TypeI32))
	root.Define(schema.FieldDesc{ID: 1, Name: "first", Type: schema.ListOf(elem.Type())}, schema.FieldDesc{ID: 2, Name: "second", Type: schema.ListOf(elem.Type())})
	return elem, root
}

// emptyElements returns field id, a list of n structs without fields.
func emptyElements(id byte, n int) []byte {
	return append(append([]byte{byte(nocopy.WireList), 0, id, byte(nocopy.WireStruct)}, wire.AppendBE32(nil, uint32(n))...), make([]byte, n)...)
}

// TestManyEmptyStructs: unless Limits.MaxIndex is raised, a list of more than 97,000 empty structs
// of 57 fields is refused, and a list of more than 4,194,000 of 15 fields. The error names
// MaxIndex. For structs of 58 fields and more there is no such bound.
func TestManyEmptyStructs(t *testing.T) {
	ways := []way{inOnePiece, with(inOnePiece, engine.Lazy, "lazy"), with(inOnePiece, engine.ByIndex, "by index"), cutEvery(50_000), with(owned, engine.Recycle, "recycled")}
	for _, c := range []struct{ fields, most int }{{57, 97_000}, {58, 0}, {15, 4_194_000}} {
		if c.fields == 15 && !testmode.Long {
			continue // it takes 285 MB
		}
		_, root := twoListsOf(c.fields)
		n := max(c.most, 1_000_000)
		if c.most > 0 {
			each, list := 4*(entry.StructWords+c.fields), 4*(index.First+root.Words()+entry.ListWords)
			wire := len(emptyElements(1, 0)) + 1
			if n = (indexFloor + entry.PerByte*wire - list) / (each - entry.PerByte); n/1000 != c.most/1000 {
				t.Errorf("%d fields: %d structs fit the limit, not %d and a few", c.fields, n, c.most)
			}
		}
		for _, w := range ways {
			s, err := w.Parse(root, append(emptyElements(1, n), 0))
			if err != nil {
				t.Fatalf("%d fields, %s: %v", c.fields, w.Name, err)
			}
			if got := nocopy.StructList[engine.Struct](s.Child(root.Field(0), root)).Len(); got != n {
				t.Errorf("%d fields, %s: %d elements, not %d", c.fields, w.Name, got, n)
			}
			s.Release()
			if c.most == 0 {
				continue
			}
			wire := append(emptyElements(1, n+1), 0)
			_, err = w.Parse(root, wire)
			if !errors.Is(err, nocopy.ErrLimit) || !strings.Contains(err.Error(), "Limits.MaxIndex") {
				t.Errorf("%d fields, %s: one more: %v", c.fields, w.Name, err)
			}
			if s, err = w.Parse(root, wire, engine.Limits{MaxIndex: 1 << 30}); err != nil {
				t.Errorf("%d fields, %s: with a higher limit: %v", c.fields, w.Name, err)
				continue
			}
			s.Release()
		}
	}
}

// TestManyEmptyStructsByIndex: a message that is read by its own index takes at most twice the
// limit, whatever is read in it. Index finds the other errors.
func TestManyEmptyStructsByIndex(t *testing.T) {
	const n = 500_000
	_, root := twoListsOf(57)
	s, err := engine.Parse(root, append(emptyElements(1, n), 0), engine.WithIndex, engine.Limits{MaxIndex: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	wire := bytes.Clone(s.Message().Bytes())
	s.Release()
	if s, err = engine.Parse(root, wire, engine.RequireIndex); err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	valid := 0
	for _, x := range nocopy.StructList[engine.Struct](s.Child(root.Field(0), root)).All() {
		if x.Valid() {
			valid++
		}
	}
	if valid == n {
		t.Error("all elements are there")
	}
	if words, most := 4*engine.IndexWords(s.Message()), 2*(entry.PerByte*len(wire)+indexFloor); words > most {
		t.Errorf("an index of %d bytes, more than %d", words, most)
	}
	if err := s.Message().Index(); !errors.Is(err, nocopy.ErrLimit) || !strings.Contains(err.Error(), "Limits.MaxIndex") {
		t.Errorf("Index: %v", err)
	}
}

// TestLazySum: the limit of the index holds for everything that Lazy leaves for later, not only
// for the elements that it counts, and also if the IDL does not have one of the fields.
func TestLazySum(t *testing.T) {
	small, _ := twoListsOf(12)
	elem, _ := twoListsOf(57)
	root := schema.NewStruct("Root")
	root.Define(schema.FieldDesc{ID: 1, Name: "small", Type: schema.ListOf(small.Type())}, schema.FieldDesc{ID: 2, Name: "large", Type: schema.ListOf(elem.Type())})
	for n, fits := range map[int]bool{100_000: true, 130_000: false} {
		first, second := emptyElements(1, 3*n), emptyElements(2, n)
		// As first, but with a field in the last element
		other := append(bytes.Clone(first[:len(first)-1]), byte(nocopy.WireI8), 0, 99, 1, 0)
		for _, wire := range [][]byte{slices.Concat(first, second, []byte{0}), slices.Concat(second, first, []byte{0}),
			slices.Concat(other, second, []byte{0}), slices.Concat(second, other, []byte{0})} {
			s, err := engine.Parse(root, wire, engine.Lazy)
			if (err == nil) != fits {
				t.Fatal(err)
			}
			if err != nil {
				continue
			}
			for i := range root.Fields() {
				s.Child(root.Field(i), root)
			}
			if words, most := 4*engine.IndexWords(s.Message()), 64*len(wire)+indexFloor; words > most {
				t.Errorf("an index of %d bytes, more than %d", words, most)
			}
			s.Release()
		}
	}
}

// TestLazyTight: a message whose index is just within the limit is accepted with Lazy, too, though
// more is counted for the parts that are left for later: then everything is indexed at once. A
// field that comes twice is noted once.
func TestLazyTight(t *testing.T) {
	elem, root := twoListsOf(57)
	one := append(wire.AppendBE32([]byte{byte(nocopy.WireList), 0, 1, byte(nocopy.WireStruct)}, 100),
		bytes.Repeat([]byte{byte(nocopy.WireI32), 0, 4, 0, 0, 0, 7, byte(nocopy.WireI32), 0, 4, 0, 0, 0, 8, 0}, 100)...)
	wire := slices.Concat(one, one, []byte{0})
	wire[len(one)+2] = 2
	s, err := engine.Parse(root, wire)
	if err != nil {
		t.Fatal(err)
	}
	limit := engine.Limits{MaxIndex: 4 * engine.IndexWords(s.Message())}
	s.Release()
	for _, opts := range [][]engine.Option{{limit}, {limit, engine.Lazy}} {
		s, err := engine.Parse(root, wire, opts...)
		if err != nil {
			t.Fatalf("%d options: %v", len(opts), err)
		}
		for i := range root.Fields() {
			l := nocopy.StructList[engine.Struct](s.Child(root.Field(i), root))
			if got := l.At(99).Int32(elem.Field(3)); got != 8 {
				t.Errorf("%d options: an element's field is %d, not 8", len(opts), got)
			}
		}
		if got := engine.Duplicates(s.Message()); got != 200 {
			t.Errorf("%d options: %d fields are noted as double, not 200", len(opts), got)
		}
		if words := 4 * engine.IndexWords(s.Message()); words > limit.MaxIndex {
			t.Errorf("%d options: an index of %d bytes, more than %d", len(opts), words, limit.MaxIndex)
		}
		s.Release()
	}
}

// TestIndexOfNested: a message takes at most 64 bytes of index for each of its bytes, also if
// structs with few of their fields set are nested, as elements, keys and values. This only holds
// if the empty ones have less than 15 fields.
func TestIndexOfNested(t *testing.T) {
	for _, width := range []int{12, 14, 15, entry.MaxDirect, entry.MaxDirect + 1, 862} {
		small := schema.NewStruct("Small") // as large as an entry may be that one byte takes
		define(small, optionals(min(width, entry.PerByte/4-entry.StructWords), schema.TypeI8))
		outer, deep, root := schema.NewStruct("Outer"), schema.NewStruct("Deep"), schema.NewStruct("Root")
		define(outer, optionals(width, small.Type()))
		define(deep, optionals(width, outer.Type()))
		root.Define(schema.FieldDesc{ID: 1, Name: "list", Type: schema.ListOf(outer.Type())},
			schema.FieldDesc{ID: 2, Name: "map", Type: schema.MapOf(outer.Type(), outer.Type())},
			schema.FieldDesc{ID: 3, Name: "deep", Type: schema.MapOf(deep.Type(), small.Type())})
		one := min(width, 60) // the other fields are not set
		inField := func(i int, v []byte) []byte {
			return append(append([]byte{byte(nocopy.WireStruct), 0, byte(i)}, v...), 0)
		}
		pairs := func(id, n int, pair func(i int) []byte) []byte {
			b := wire.AppendBE32([]byte{byte(nocopy.WireMap), 0, byte(id), byte(nocopy.WireStruct), byte(nocopy.WireStruct)}, uint32(n))
			for i := range n {
				b = append(b, pair(i)...)
			}
			return b
		}
		for name, wire := range map[string][]byte{
			"list": append(wire.AppendBE32([]byte{byte(nocopy.WireList), 0, 1, byte(nocopy.WireStruct)}, 5000), bytes.Repeat(inField(1, []byte{0}), 5000)...),
			"map": pairs(2, one, func(i int) []byte {
				return append(inField(i+1, []byte{0}), inField(1, []byte{0})...)
			}),
			"deep": pairs(3, one*one, func(i int) []byte { return append(inField(i/one+1, inField(i%one+1, []byte{0})), 0) }),
		} {
			s, err := engine.Parse(root, append(bytes.Clone(wire), 0))
			if err != nil {
				t.Fatalf("%s, %d fields: %v", name, width, err)
			}
			if words, most := 4*(engine.IndexWords(s.Message())-index.First-root.Words()), 64*len(wire); words > most {
				t.Errorf("%s, %d fields: %d bytes have an index of %d bytes, more than %d", name, width, len(wire), words, most)
			}
			s.Release()
		}
	}
}

// TestLazyLimitSlowly: with Lazy, the limit of the index holds for values that are left for later
// in a struct with an unknown field, a field out of order or one that comes twice, too: the slow
// parser reads it.
func TestLazyLimitSlowly(t *testing.T) {
	_, root := twoListsOf(57)
	const unknown, n = "\x03\x00\x63\x07", 130_000 // more than 97,000
	large, none := emptyElements(1, n), emptyElements(2, 0)
	for name, b := range map[string][]byte{
		"in order":         join(large, none),
		"after an unknown": join([]byte(unknown), large),
		"out of order":     join(none, large),
		"twice":            join(none, none, large),
		"another is first": join(emptyElements(2, 90_000), []byte(unknown), emptyElements(1, 90_000)),
	} {
		b = append(b, 0)
		_, plain := engine.Parse(root, b)
		_, lazy := engine.Parse(root, b, engine.Lazy)
		if !errors.Is(plain, nocopy.ErrLimit) || fmt.Sprint(lazy) != fmt.Sprint(plain) {
			t.Errorf("%s: with Lazy %v, without %v", name, lazy, plain)
		}
	}
}
