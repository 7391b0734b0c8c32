package nocopy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// farOf returns a struct, or union, of n optional numbers, and a struct with containers of it.
func farOf(n int, union bool) (elem, root *XDesc) {
	elem = newStructDesc("Elem")
	if union {
		elem = newUnionDesc("Elem")
	}
	fields := make([]XFieldDesc, n)
	for i := range fields {
		fields[i] = XFieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: typeI32, Req: XOptional}
	}
	X{}.Define(elem, fields)
	root = newStructDesc("Root")
	root.Define(XFieldDesc{ID: 1, Name: "list", Type: listTypeOf(elem.self)},
		XFieldDesc{ID: 2, Name: "lists", Type: listTypeOf(listTypeOf(elem.self))},
		XFieldDesc{ID: 3, Name: "maps", Type: listTypeOf(mapTypeOf(typeI8, elem.self))},
		XFieldDesc{ID: 4, Name: "after", Type: typeI32})
	return elem, root
}

// numberIn returns field i of s, and whether it is set.
func numberIn(s XStruct, d *XDesc, i int) (v int, set bool) {
	f := d.constant(i)
	switch {
	case d.far:
		v, set = int(XFar(s).Int32(f.word())), XFar(s).Has(f.word())
	case d.wide:
		v, set = int(XWide(s).Int32(f)), XWide(s).Has(f)
	default:
		v, set = int(s.Int32(f)), s.Has(f)
	}
	if set != s.HasField(f) {
		panic("HasField differs")
	}
	return v, set
}

// TestSparse: what this library builds is not refused for its index by default, however many empty
// structs there are, and however many fields they might have; and an index stays within its limit.
// Everything can be done to what was parsed so.
func TestSparse(t *testing.T) {
	widths := []int{14, 15, 31, 57, 58}
	if !testmode.Long {
		widths = []int{15, 31, 57}
	}
	n := testmode.Of(150_000, 400_000)
	if raceEnabled {
		widths, n = []int{57}, 100_000
	}
	ways := []way{inOnePiece, owned, cutEvery(50_000), with(inOnePiece, Lazy, "lazy"), with(inOnePiece, Recycle, "recycled"),
		with(inOnePiece, ByIndex, "by index")}
	for _, width := range widths {
		for _, union := range []bool{false, true} {
			elem, root := farOf(width, union)
			s := newStruct(root)
			s.NewChild(root.constant(0), root, n).Message()
			lists := NestedList[StructList[XStruct]](s.NewChild(root.constant(1), root, n/100))
			for i := range n / 100 {
				lists.NewAt(i, 50)
			}
			maps := NestedList[StructMap[int8, XStruct, XAsInt8]](s.NewChild(root.constant(2), root, n/1000))
			for i := range n / 1000 {
				m := maps.NewAt(i, 256)
				for k := range 256 {
					m.PutNew(int8(k))
				}
			}
			s.SetInt32(root.constant(3), 4)
			wire := s.m.Bytes()
			s.Release()
			for _, w := range ways {
				t.Run(fmt.Sprintf("%d/%t/%s", width, union, w.name), func(t *testing.T) {
					s, err := w.parse(root, wire)
					if err != nil {
						t.Fatal(err)
					}
					defer func() { s.Release() }()
					if err := s.m.Index(); err != nil {
						t.Fatal(err)
					}
					if words, most := 4*int(s.m.words), 64*len(wire)+indexFloor; words > most {
						t.Errorf("an index of %d bytes, more than %d", words, most)
					}
					if got := s.Int32(root.constant(3)); got != 4 {
						t.Errorf("the number after them is %d", got)
					}
					changeSparse(t, s, elem, root)
					clone := s.Clone(root)
					if got := clone.m.Bytes(); !bytes.Equal(got, s.m.Bytes()) {
						t.Error("a clone differs")
					}
					if words, most := 4*int(clone.m.words), 64*len(wire)+indexFloor; words > most {
						t.Errorf("the index of a clone has %d bytes, more than %d", words, most)
					}
					clone.Release()
				})
			}
		}
	}
}

// changeSparse sets fields of some elements, and replaces some, and compares what getters and
// another parse say of them.
func changeSparse(t *testing.T, s XStruct, elem, root *XDesc) {
	list := StructList[XStruct](s.Child(root.constant(0), root))
	inner := NestedList[StructList[XStruct]](s.Child(root.constant(1), root)).At(7)
	values := NestedList[StructMap[int8, XStruct, XAsInt8]](s.Child(root.constant(2), root)).At(3)
	set := func(x XStruct, f, v int) {
		if elem.union {
			x.Arm(elem.constant(f), elem)
		}
		x.SetInt32(elem.constant(f), int32(v))
	}
	r := rand.New(rand.NewPCG(1, uint64(len(elem.fields))))
	model := map[string]map[int]int{}
	change := func(name string, x XStruct, f, v int) {
		set(x, f, v)
		if model[name] == nil || elem.union {
			model[name] = map[int]int{}
		}
		model[name][f] = v
		if got, ok := numberIn(x, elem, f); got != v || !ok {
			t.Fatalf("%s: field %d is %d, %t after it was set to %d", name, f, got, ok, v)
		}
	}
	held := list.At(20)
	for k := range 300 {
		i, f := r.IntN(40), r.IntN(len(elem.fields))
		switch r.IntN(6) {
		case 0:
			change(fmt.Sprint("inner ", i), inner.At(i), f, k)
		case 1:
			x, ok := values.Get(int8(i))
			if !ok {
				t.Fatalf("no key %d", i)
			}
			change(fmt.Sprint("value ", i), x, f, k)
		case 2:
			from := newStruct(elem)
			set(from, f, k)
			list.Set(i, from)
			from.Release()
			model[fmt.Sprint("list ", i)] = map[int]int{f: k}
		case 3:
			list.At(i).Unset(elem.constant(f))
			if elem.union {
				list.At(i).UnsetArm(elem.constant(f))
			}
			delete(model[fmt.Sprint("list ", i)], f)
		case 4:
			change("list 20", held, f, k)
		default:
			change(fmt.Sprint("list ", i), list.At(i), f, k)
		}
		if k%100 == 50 {
			s.m.Compact()
		}
	}
	words := s.m.words
	for k := range 300 { // which takes no more and more words
		from := newStruct(elem)
		set(from, 0, k)
		list.Set(41, from)
		from.Release()
		change("list 42", list.At(42), k%len(elem.fields), k)
	}
	model["list 41"] = map[int]int{0: 299}
	if grown := s.m.words - words; grown > 500 && !elem.union {
		t.Errorf("setting two elements again and again took %d words", grown)
	}
	check := func(who string, s XStruct) {
		list := StructList[XStruct](s.Child(root.constant(0), root))
		inner := NestedList[StructList[XStruct]](s.Child(root.constant(1), root)).At(7)
		values := NestedList[StructMap[int8, XStruct, XAsInt8]](s.Child(root.constant(2), root)).At(3)
		for i := range 45 { // some of which were left alone
			value, _ := values.Get(int8(i))
			for name, x := range map[string]XStruct{"list": list.At(i), "inner": inner.At(i), "value": value} {
				want := model[fmt.Sprint(name, " ", i)]
				if !x.Valid() {
					t.Fatalf("%s: %s %d is absent", who, name, i)
				}
				for f := range elem.fields {
					v, ok := want[f]
					if got, set := numberIn(x, elem, f); got != v || set != ok {
						t.Fatalf("%s: field %d of %s %d is %d, %t, not %d, %t", who, f, name, i, got, set, v, ok)
					}
				}
			}
		}
	}
	check("after changes", s)
	if err := wrongIndex(s.m); err != nil {
		t.Fatal(err)
	}
	again, err := parseStruct(root, s.m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	check("parsed again", again)
	again.Release()
}

// TestSparseFields: nor is a message refused in which each element has nothing but a field that is
// an empty struct of many fields. Such structs can be changed as any.
func TestSparseFields(t *testing.T) {
	n := testmode.Of(150_000, 400_000)
	if raceEnabled {
		n = 20_000 // the detector takes several times the memory
	}
	for _, union := range []bool{false, true} {
		elem, _ := farOf(57, union)
		fields := make([]XFieldDesc, 57)
		for i := range fields {
			fields[i] = XFieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: elem.self, Req: XOptional}
		}
		outer, root := newStructDesc("Outer"), newStructDesc("Root")
		X{}.Define(outer, fields)
		root.Define(XFieldDesc{ID: 1, Name: "list", Type: listTypeOf(outer.self)})
		s := newStruct(root)
		list := StructList[XStruct](s.NewChild(root.constant(0), root, n))
		for i := range n {
			list.At(i).NewChild(outer.constant(i%57), outer, 0)
		}
		wire := s.m.Bytes()
		s.Release()
		for _, w := range []way{inOnePiece, cutEvery(10_007), with(inOnePiece, Lazy, "lazy"), with(inOnePiece, ByIndex, "by index")} {
			t.Run(fmt.Sprint(union, " ", w.name), func(t *testing.T) {
				s, err := w.parse(root, wire)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Release()
				if err := s.m.Index(); err != nil {
					t.Fatal(err)
				}
				if words, most := 4*int(s.m.words), 64*len(wire)+indexFloor; words > most {
					t.Errorf("an index of %d bytes, more than %d", words, most)
				}
				list := StructList[XStruct](s.Child(root.constant(0), root))
				inner := func(i int) XStruct { return list.At(i).Child(outer.constant(i%57), outer) }
				for i := range 114 {
					x := inner(i)
					if !x.Valid() || x.HasField(elem.constant(i/2)) {
						t.Fatalf("element %d is not an empty struct", i)
					}
					if union {
						x.Arm(elem.constant(i/2), elem)
					}
					x.SetInt32(elem.constant(i/2), int32(i))
					list.At(i+200).SetChild(outer.constant(0), outer, x)
					if i == 60 {
						s.m.Compact()
					}
				}
				for i := range 114 {
					for who, x := range map[string]XStruct{"set": inner(i), "copied": list.At(i+200).Child(outer.constant(0), outer)} {
						if got, set := numberIn(x, elem, i/2); got != i || !set {
							t.Errorf("what was %s as %d is %d, %t", who, i, got, set)
						}
					}
				}
				if err := wrongIndex(s.m); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
