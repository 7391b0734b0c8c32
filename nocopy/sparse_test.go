package nocopy

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/steps"
)

// emptyElements returns field id, a list of n structs without fields.
func emptyElements(id byte, n int) []byte {
	return append(append([]byte{byte(WireList), 0, id, byte(WireStruct)}, appendBE32(nil, uint32(n))...), make([]byte, n)...)
}

// TestSparseIndexed: what is copied from a message that is read by its index takes no more index
// than what is copied from any other. What is parsed twice has each double field once.
func TestSparseIndexed(t *testing.T) {
	const n, doubled = 200_000, 100
	elem, root := farOf(57, false)
	wire := append(emptyElements(1, n), byte(WireList), 0, 2, byte(WireList), 0, 0, 0, 2, byte(WireStruct))
	wire = appendBE32(wire, doubled)
	for range doubled {
		wire = append(wire, byte(WireI32), 0, 1, 0, 0, 0, 1, byte(WireI32), 0, 1, 0, 0, 0, 2, 0)
	}
	wire = append(append(wire, emptyElements(0, n)[3:]...), 0)
	s, err := parseStruct(root, wire, WithIndex)
	if err != nil {
		t.Fatal(err)
	}
	wire = bytes.Clone(s.m.Bytes())
	s.Release()
	if s, err = parseStruct(root, wire, RequireIndex); err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	lists := NestedList[StructList[XStruct]](s.Child(root.constant(1), root))
	if got := len(s.m.shadows.all); got != doubled {
		t.Errorf("%d double fields, not %d", got, doubled)
	}
	if got, _ := numberIn(lists.At(0).At(0), elem, 0); got != 2 {
		t.Errorf("the double field is %d", got)
	}
	clone := s.Clone(root)
	defer clone.Release()
	if words, most := 4*int(clone.m.words), 64*len(wire)+indexFloor; words > most {
		t.Errorf("the index of a clone of %d bytes has %d bytes, more than %d", len(wire), words, most)
	}
}

// TestSparsePartsByIndex: what is read by the index leaves enough of the limit for all that has
// not been read.
func TestSparsePartsByIndex(t *testing.T) {
	const n = 300_000
	types := func() (elem, root *XDesc) { // new ones, of which nothing has been parsed
		elem, root = newStructDesc("Elem"), newStructDesc("Root")
		X{}.Define(elem, optionals(57, typeI8))
		arms := newUnionDesc("Arms")
		X{}.Define(arms, optionals(57, typeI8))
		root.Define(XFieldDesc{ID: 1, Name: "first", Type: listTypeOf(elem.self)}, XFieldDesc{ID: 2, Name: "arms", Type: listTypeOf(arms.self)},
			XFieldDesc{ID: 3, Name: "last", Type: listTypeOf(elem.self)})
		return elem, root
	}
	_, root := types()
	var wire []byte
	for id := range byte(3) {
		wire = append(wire, emptyElements(id+1, n)...)
	}
	s, err := parseStruct(root, append(wire, 0), WithIndex)
	if err != nil {
		t.Fatal(err)
	}
	wire = bytes.Clone(s.m.Bytes())
	s.Release()
	for _, o := range []Option{ByIndex, RequireIndex} {
		for _, order := range [][]int{{}, {0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
			elem, root := types()
			s, err := parseStruct(root, wire, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range order {
				list := StructList[XStruct](s.Child(root.constant(k), root))
				if list.Len() != n {
					t.Fatalf("in order %d: field %d has %d elements, not %d", order, k, list.Len(), n)
				}
				for i, x := range list.All() {
					if !x.Valid() || x.HasField(elem.constant(i%57)) {
						t.Fatalf("in order %d: field %d: element %d is not an empty struct", order, k, i)
					}
				}
			}
			if err := s.m.Index(); err != nil {
				t.Errorf("in order %d: %v", order, err)
			}
			if got, most := 4*int(s.m.words), 2*(64*len(wire)+indexFloor); got > most {
				t.Errorf("in order %d: an index of %d bytes, more than %d", order, got, most)
			}
			s.Release()
		}
	}
}

// TestSparseAsOtherType: nor does what is sent as another type, of the same fields.
func TestSparseAsOtherType(t *testing.T) {
	_, from := farOf(57, false)
	_, to := farOf(57, false)
	s, err := parseStruct(from, append(emptyElements(1, 400_000), 0))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	m, err := copyHeld(to, s, 0, Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.endHeld()
	if words, most := 4*int(m.words), 64*s.m.Len()+indexFloor; words > most {
		t.Errorf("the index of a copy of %d bytes has %d bytes, more than %d", s.m.Len(), words, most)
	}
	if !bytes.Equal(m.Bytes(), s.m.Bytes()) {
		t.Error("the copy differs")
	}
}

// TestLazySum: all that Lazy leaves for later fits into the limit of the index, not only what it
// counts, and also if there is a field in it that the IDL does not have.
func TestLazySum(t *testing.T) {
	const n = 1_000_000
	small, _ := farOf(12, false)
	elem, _ := farOf(57, false)
	root := newStructDesc("Root")
	root.Define(XFieldDesc{ID: 1, Name: "small", Type: listTypeOf(small.self)},
		XFieldDesc{ID: 2, Name: "far", Type: listTypeOf(elem.self)})
	first, second := emptyElements(1, 3*n), emptyElements(2, n)
	// As first, but with a field in the last element
	other := append(bytes.Clone(first[:len(first)-1]), byte(WireI8), 0, 99, 1, 0)
	for _, wire := range [][]byte{slices.Concat(first, second, []byte{0}), slices.Concat(second, first, []byte{0}),
		slices.Concat(other, second, []byte{0}), slices.Concat(second, other, []byte{0})} {
		s, err := parseStruct(root, wire, Lazy)
		if err != nil {
			t.Fatal(err)
		}
		for i := range root.fields {
			s.Child(root.constant(i), root)
		}
		if words, most := 4*int(s.m.words), 64*len(wire)+indexFloor; words > most {
			t.Errorf("an index of %d bytes, more than %d", words, most)
		}
		s.Release()
	}
}

// TestLazyTight: what fits into the limit of the index just so is accepted with Lazy, too, though
// it would take a little more as a sparse message, and more is counted for what is left for later.
func TestLazyTight(t *testing.T) {
	elem, _ := farOf(57, false)
	root := newStructDesc("Root")
	root.Define(XFieldDesc{ID: 1, Name: "first", Type: listTypeOf(elem.self)},
		XFieldDesc{ID: 2, Name: "second", Type: listTypeOf(elem.self)})
	one := append(appendBE32([]byte{byte(WireList), 0, 1, byte(WireStruct)}, 100),
		bytes.Repeat([]byte{byte(WireI32), 0, 4, 0, 0, 0, 7, 0}, 100)...)
	wire := slices.Concat(one, one, []byte{0})
	wire[len(one)+2] = 2
	s, err := parseStruct(root, wire)
	if err != nil {
		t.Fatal(err)
	}
	limit := Limits{MaxIndex: 4 * int(s.m.words)}
	s.Release()
	for _, opts := range [][]Option{{limit}, {limit, Lazy}} {
		s, err := parseStruct(root, wire, opts...)
		if err != nil {
			t.Fatalf("%d options: %v", len(opts), err)
		}
		for i := range root.fields {
			s.Child(root.constant(i), root)
		}
		if words := 4 * int(s.m.words); words > limit.MaxIndex {
			t.Errorf("%d options: an index of %d bytes, more than %d", len(opts), words, limit.MaxIndex)
		}
		s.Release()
	}
}

// TestSparseForEver: values that are replaced again and again in a sparse message take no more and
// more words.
func TestSparseForEver(t *testing.T) {
	elem, _ := farOf(57, false)
	root := newStructDesc("Root")
	root.Define(XFieldDesc{ID: 1, Name: "list", Type: listTypeOf(elem.self)},
		XFieldDesc{ID: 2, Name: "other", Type: listTypeOf(elem.self)},
		XFieldDesc{ID: 3, Name: "one", Type: elem.self})
	two, err := parseStruct(root, append(emptyElements(1, 2), 0))
	if err != nil {
		t.Fatal(err)
	}
	one, none := newStruct(elem), newStruct(elem)
	one.SetInt32(elem.constant(0), 4)
	for name, change := range map[string]func(s XStruct, i int){
		"empty structs": func(s XStruct, _ int) { s.SetChild(root.constant(2), root, none) },
		"lists of them": func(s XStruct, i int) {
			f := root.constant(1)
			s.SetChild(f, root, two.Child(root.constant(0), root))
			list := StructList[XStruct](s.Child(f, root))
			list.Set(0, one)
			list.At(1).SetInt32(elem.constant(i%57), int32(i))
		},
	} {
		s, err := parseStruct(root, append(emptyElements(1, 100_000), 0))
		if err != nil {
			t.Fatal(err)
		}
		var before uint32
		for i := range 150_000 {
			if i == 75_000 {
				before = s.m.words
			}
			change(s, i)
		}
		if grown := s.m.words - before; grown > 20_000 {
			t.Errorf("%s: %d words more for 75,000 changes", name, grown)
		}
		if err := wrongIndex(s.m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.Release()
	}
}

// countSparseSteps is a part of TestHostileSteps: setting the elements of a sparse message takes
// as many steps whether or not fields of it come twice.
func countSparseSteps(t *testing.T) {
	const n = 500
	elem, root := farOf(57, false)
	one := newStruct(elem)
	defer one.Release()
	one.SetInt32(elem.constant(0), 4)
	setting := func(doubled int) int {
		wire := bytes.Repeat([]byte{byte(WireI32), 0, 4, 0, 0, 0, 7}, doubled)
		s, err := parseStruct(root, append(wire, append(emptyElements(1, n), 0)...), alwaysSparse)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Release()
		list := StructList[XStruct](s.Child(root.constant(0), root))
		steps.N = 0
		for i := range n {
			list.Set(i, one)
		}
		return steps.N
	}
	few, many := setting(0), setting(20*n)
	if many > 2*few {
		t.Errorf("%d elements take %d steps, with %d double fields %d", n, few, 20*n, many)
	}
	t.Logf("elements of a sparse message: %d steps each", few/n)
}

// TestIndexOfNested: no message takes more than 64 bytes of index a byte, sparse or not, however
// structs of which most fields are not set are nested: with them as elements, keys and values.
func TestIndexOfNested(t *testing.T) {
	for _, width := range []int{12, 13, 14, 15, 16, entry.MaxDirect, entry.MaxDirect + 1, entry.FlatWords - structWords, entry.FlatWords} {
		small := newStructDesc("Small") // as large as an entry may be that one byte takes
		X{}.Define(small, optionals(min(width, entry.MostNear-structWords), typeI8))
		outer, deep, root := newStructDesc("Outer"), newStructDesc("Deep"), newStructDesc("Root")
		X{}.Define(outer, optionals(width, small.self))
		X{}.Define(deep, optionals(width, outer.self))
		root.Define(XFieldDesc{ID: 1, Name: "list", Type: listTypeOf(outer.self)},
			XFieldDesc{ID: 2, Name: "map", Type: mapTypeOf(outer.self, outer.self)},
			XFieldDesc{ID: 3, Name: "deep", Type: mapTypeOf(deep.self, small.self)})
		one := min(width, 60) // of which all other fields are not set
		inField := func(i int, v []byte) []byte { return append(append([]byte{byte(WireStruct), 0, byte(i)}, v...), 0) }
		pairs := func(id, n int, pair func(i int) []byte) []byte {
			b := appendBE32([]byte{byte(WireMap), 0, byte(id), byte(WireStruct), byte(WireStruct)}, uint32(n))
			for i := range n {
				b = append(b, pair(i)...)
			}
			return b
		}
		for name, wire := range map[string][]byte{
			"list": append(appendBE32([]byte{byte(WireList), 0, 1, byte(WireStruct)}, 5000), bytes.Repeat(inField(1, []byte{0}), 5000)...),
			"map": pairs(2, one, func(i int) []byte {
				return append(inField(i+1, []byte{0}), inField(1, []byte{0})...)
			}),
			"deep": pairs(3, one*one, func(i int) []byte { return append(inField(i/one+1, inField(i%one+1, []byte{0})), 0) }),
		} {
			for _, opt := range []Option{Own, alwaysSparse} {
				s, err := parseStruct(root, append(bytes.Clone(wire), 0), opt)
				if err != nil {
					t.Fatalf("%s, %d fields: %v", name, width, err)
				}
				own := firstEntry + root.words
				if s.m.noWords != 0 {
					own += sparseWords
				}
				if words, most := 4*(int(s.m.words)-own), 64*len(wire); words > most {
					t.Errorf("%s, %d fields: %d bytes have an index of %d bytes, more than %d", name, width, len(wire), words, most)
				}
				s.Release()
			}
		}
	}
}

// optionals returns n optional fields of type t.
func optionals(n int, t *XType) []XFieldDesc {
	fields := make([]XFieldDesc, n)
	for i := range fields {
		fields[i] = XFieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: t, Req: XOptional}
	}
	return fields
}
