package containers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

var (
	endDesc   = newStructDesc("End")
	bareDesc  = newStructDesc("Bare") // without a template
	spotDesc  = newStructDesc("Point")
	broadDesc = newStructDesc("Wide") // with a template longer than MaxShort
	owingDesc = newStructDesc("Strict")
)

func init() {
	bareDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "name", Type: typeString},
		thriftimpl.FieldDesc{ID: 2, Name: "points", Type: listTypeOf(structTypeOf(spotDesc))},
	)
	spotDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "x", Type: typeI64},
		thriftimpl.FieldDesc{ID: 2, Name: "y", Type: typeI32},
		thriftimpl.FieldDesc{ID: 3, Name: "on", Type: typeBool},
		thriftimpl.FieldDesc{ID: 4, Name: "name", Type: typeString, Req: thriftimpl.Optional},
	)
	var wide []thriftimpl.FieldDesc
	for i := range memory.MaxShort / (fieldHeader + 8) * 2 {
		wide = append(wide, thriftimpl.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("n", i), Type: typeI64})
	}
	broadDesc.DefineWide(wide...)
	owingDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "name", Type: typeString, Req: thriftimpl.Required},
		thriftimpl.FieldDesc{ID: 2, Name: "n", Type: typeI32},
	)
	endDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "pad", Type: typeBinary},
		thriftimpl.FieldDesc{ID: 2, Name: "bare", Type: listTypeOf(structTypeOf(bareDesc))},
		thriftimpl.FieldDesc{ID: 3, Name: "points", Type: listTypeOf(structTypeOf(spotDesc))},
		thriftimpl.FieldDesc{ID: 4, Name: "wide", Type: listTypeOf(structTypeOf(broadDesc))},
		thriftimpl.FieldDesc{ID: 5, Name: "strict", Type: listTypeOf(structTypeOf(owingDesc))},
		thriftimpl.FieldDesc{ID: 6, Name: "pairs", Type: mapTypeOf(typeString, typeString)},
		thriftimpl.FieldDesc{ID: 7, Name: "words", Type: listTypeOf(typeString)},
		thriftimpl.FieldDesc{ID: 8, Name: "numbers", Type: listTypeOf(typeI32)},
	)
}

// fillEnd sets all fields of an End except the pad.
func fillEnd(s thriftimpl.Struct) {
	field := endDesc.Field
	bare := nocopy.StructList[thriftimpl.Struct](s.NewChild(field(1), endDesc, 4))
	for i := range bare.Len() {
		e := bare.At(i)
		if i != 1 { // element 1 stays empty
			e.SetText(bareDesc.Field(0), strings.Repeat("n", i))
		}
		if i < 3 {
			continue
		}
		points := nocopy.StructList[thriftimpl.Struct](e.NewChild(bareDesc.Field(1), bareDesc, i))
		for k := range points.Len() {
			points.At(k).SetInt64(spotDesc.Field(0), int64(k))
		}
	}
	points := nocopy.StructList[thriftimpl.Struct](s.NewChild(field(2), endDesc, 3))
	for i := range points.Len() {
		p := points.At(i)
		p.SetText(spotDesc.Field(3), "point")
		p.SetInt8(spotDesc.Field(2), 1)
		p.SetInt32(spotDesc.Field(1), int32(i))
		p.SetInt64(spotDesc.Field(0), 7)
	}
	wide := nocopy.StructList[thriftimpl.Struct](s.NewChild(field(3), endDesc, 2))
	for i := range wide.Len() {
		wide.At(i).SetInt64(broadDesc.Field(i), 1)
	}
	strict := nocopy.StructList[thriftimpl.Struct](s.NewChild(field(4), endDesc, 3))
	for i := range strict.Len() {
		strict.At(i).SetInt32(owingDesc.Field(1), 1) // Finish adds the name
	}
	pairs := nocopy.StringMap(s.NewChild(field(5), endDesc, 1))
	for i := range 6 {
		pairs.Put(strings.Repeat("k", i), strings.Repeat("v", 3*i))
	}
	s.SetTexts(field(6), endDesc, []string{"", "a", "four", "sixteen letters.", "and a longer one that is copied otherwise", "seven.."})
	s.SetInt32s(field(7), endDesc, []int32{1, 2, 3})
}

// TestBlockEnd builds the same message after pads of all lengths that end at the end of a block,
// or shortly before it.
func TestBlockEnd(t *testing.T) {
	const head = fieldHeader + textHeader
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		small := newStruct(endDesc, opts...)
		small.NewBytes(endDesc.Field(0), 0)
		fillEnd(small)
		want := string(small.Message().Bytes()[head:])
		for left := range 1500 {
			s := newStruct(endDesc, opts...)
			n := memory.SlabSize - left
			s.NewBytes(endDesc.Field(0), n)
			fillEnd(s)
			b := s.Message().AppendTo(nil)
			if diff := cmp.Diff(want, string(b[head+n:])); diff != "" {
				t.Fatalf("%d bytes before it (-want +got):\n%s", n, diff)
			}
			if got, err := parseStruct(endDesc, b); err != nil {
				t.Fatalf("%d bytes before it: %v", n, err)
			} else {
				got.Release()
			}
			s.Release()
		}
		small.Release()
	}
}

// TestNextElement: moving from one element to the next has special code. It ends at the end of the
// list, and is not used if something else was done in between.
func TestNextElement(t *testing.T) {
	name, x := spotDesc.Field(3), spotDesc.Field(0)
	points := endDesc.Field(2)
	of := func(do func(root thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct])) string {
		root := newStruct(endDesc)
		defer root.Release()
		do(root, nocopy.StructList[thriftimpl.Struct](root.NewChild(points, endDesc, 3)))
		parsed, err := parseStruct(endDesc, root.Message().AppendTo(nil))
		if err != nil {
			t.Fatal(err)
		}
		defer parsed.Release()
		return render.Text(parsed, endDesc)
	}
	set := func(e thriftimpl.Struct, n int64) { e.SetInt64(x, n) }
	point := func(n int) string { return fmt.Sprintf("{x: %d, y: 0, on: false}", n) }
	for _, c := range []struct {
		what string
		want []string
		do   func(root thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct])
	}{
		{"one after the other", []string{point(1), point(2), point(3)}, func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
			for i := range 3 {
				set(l.At(i), int64(i+1))
			}
		}},
		{"one asked for twice", []string{point(5), point(6), point(7)}, func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
			for i := range 3 {
				set(l.At(i), 1)
				set(l.At(i), int64(i+5))
			}
		}},
		{"one left out", []string{point(1), point(0), point(3)}, func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
			set(l.At(0), 1)
			set(l.At(2), 3)
		}},
		{"back to one before", []string{`{x: 4, y: 0, on: false, name: "later"}`, point(2), point(3)}, func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
			set(l.At(0), 1)
			set(l.At(1), 2)
			l.At(0).SetText(name, "later")
			set(l.At(0), 4)
			set(l.At(2), 3)
		}},
		{"a field removed", []string{`{x: 1, y: 0}`, point(2), point(0)}, func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
			set(l.At(0), 1)
			l.At(0).Unset(spotDesc.Field(2))
			set(l.At(1), 2)
		}},
		{"one appended", []string{point(1), point(2), point(3), point(4), point(5)}, func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
			set(l.At(0), 1)
			set(l.At(1), 2)
			set(l.AppendNew(), 4)
			set(l.At(2), 3)
			set(l.AppendNew(), 5)
		}},
		{"another message in between", []string{point(1), point(2), point(3)}, func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
			for i := range 3 {
				other := newStruct(endDesc)
				set(nocopy.StructList[thriftimpl.Struct](other.NewChild(points, endDesc, 2)).At(0), 9)
				set(l.At(i), int64(i+1))
				other.Release()
			}
		}},
		{"a copy of one", []string{point(1), point(1), point(3)}, func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
			set(l.At(0), 1)
			l.Set(1, l.At(0))
			set(l.At(2), 3)
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			if diff := cmp.Diff("{points: ["+strings.Join(c.want, ", ")+"]}", of(c.do)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.what, diff)
			}
		})
	}
	of(func(_ thriftimpl.Struct, l nocopy.StructList[thriftimpl.Struct]) {
		for i := range 3 {
			l.At(i)
		}
		defer func() {
			var index nocopy.IndexError
			if err, _ := recover().(error); !errors.As(err, &index) || index != (nocopy.IndexError{Index: 3, Len: 3}) {
				t.Errorf("the element after the last one: %v", err)
			}
		}()
		l.At(3)
	})
}
