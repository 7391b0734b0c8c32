package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Parsing with and without programs must agree: values that programs do not foresee are left to
// the slow parser. ValidUTF8 uses no programs; all texts here are UTF-8.

// outerDesc has structs in one another, with nothing but simple fields, and containers around
// them; leafDesc is the innermost. Of boxDesc the orders differ only in a struct inside.
var outerDesc, boxDesc, leafDesc = func() (outer, box, leaf *schema.Struct) {
	outer, box, leaf = schema.NewStruct("Outer"), schema.NewStruct("Box"), schema.NewStruct("Leaf")
	inner, shelf, label := schema.NewStruct("Inner"), schema.NewStruct("Shelf"), schema.NewStruct("Label")
	outer.Define( // before those inside: a plan is made when it is needed
		schema.FieldDesc{ID: 1, Name: "x", Type: schema.TypeI32},
		schema.FieldDesc{ID: 2, Name: "inner", Type: schema.StructOf(inner)},
		schema.FieldDesc{ID: 3, Name: "numbers", Type: schema.ListOf(schema.TypeI64)},
		schema.FieldDesc{ID: 4, Name: "again", Type: schema.StructOf(inner), Req: schema.Required},
		schema.FieldDesc{ID: 5, Name: "leaves", Type: schema.ListOf(schema.StructOf(leaf))},
		schema.FieldDesc{ID: 6, Name: "leaf", Type: schema.StructOf(leaf)},
		schema.FieldDesc{ID: 7, Name: "inners", Type: schema.ListOf(schema.StructOf(inner))},
		schema.FieldDesc{ID: 8, Name: "z", Type: schema.TypeString},
		schema.FieldDesc{ID: 9, Name: "shelves", Type: schema.ListOf(schema.StructOf(shelf))},
		schema.FieldDesc{ID: 10, Name: "labels", Type: schema.ListOf(schema.StructOf(label))},
		schema.FieldDesc{ID: 11, Name: "w", Type: schema.TypeDouble},
		schema.FieldDesc{ID: 12, Name: "v", Type: schema.TypeI64, Req: schema.Optional},
		schema.FieldDesc{ID: 13, Name: "u", Type: schema.TypeBool},
	)
	box.Define(
		schema.FieldDesc{ID: 4, Name: "leaf", Type: schema.StructOf(leaf)},
		schema.FieldDesc{ID: 1, Name: "inner", Type: schema.StructOf(inner)},
		schema.FieldDesc{ID: 2, Name: "boxes", Type: schema.ListOf(schema.StructOf(inner))},
		schema.FieldDesc{ID: 3, Name: "z", Type: schema.TypeString},
	)
	shelf.Define(
		schema.FieldDesc{ID: 1, Name: "leaves", Type: schema.ListOf(schema.StructOf(leaf))},
		schema.FieldDesc{ID: 2, Name: "note", Type: schema.TypeString},
		schema.FieldDesc{ID: 3, Name: "more", Type: schema.SetOf(schema.StructOf(leaf)), Req: schema.Required},
		schema.FieldDesc{ID: 4, Name: "c", Type: schema.TypeI8},
		schema.FieldDesc{ID: 5, Name: "labels", Type: schema.ListOf(schema.StructOf(label))},
	)
	label.Define(
		schema.FieldDesc{ID: 1, Name: "name", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "value", Type: schema.TypeString},
	)
	inner.Define(
		schema.FieldDesc{ID: 1, Name: "a", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "leaf", Type: schema.StructOf(leaf)},
		schema.FieldDesc{ID: 3, Name: "b", Type: schema.TypeBool, Req: schema.Required},
		schema.FieldDesc{ID: 4, Name: "shorts", Type: schema.ListOf(schema.TypeI16)},
	)
	leaf.Define(
		schema.FieldDesc{ID: 1, Name: "n", Type: schema.TypeI16},
		schema.FieldDesc{ID: -2, Name: "s", Type: schema.TypeString},
	)
	return outer, box, leaf
}()

// sender writes messages that are mostly in order.
type sender struct {
	*rand.Rand
	odd   float64 // how likely each field is not
	built bool    // the order is New's, not the IDL's
}

func (r sender) structure(dst []byte, d *schema.Struct) []byte {
	order := slices.Clone(program.FieldOrder(d, r.built != (r.Float64() < r.odd)))
	if r.Float64() < r.odd {
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for _, i := range order {
		f := &d.Fields()[i]
		times := 1
		if r.Float64() < r.odd {
			times = r.IntN(3)
		}
		for range times {
			dst = r.value(append(dst, byte(f.Header()>>16), byte(f.Header()>>8), byte(f.Header())), f.Type)
		}
		if r.Float64() < r.odd { // unknown, or known with another type
			dst = append(dst, byte(wire.I8), 0, byte(r.IntN(12)), 7)
		}
	}
	return append(dst, byte(wire.Stop))
}

func (r sender) value(dst []byte, t *schema.Type) []byte {
	switch {
	case t.Kind() == schema.Record:
		return r.structure(dst, t.Struct())
	case t.Kind() == schema.Text:
		n := r.IntN(12)
		return append(binary.BigEndian.AppendUint32(dst, uint32(n)), "abcdefghijkl"[:n]...)
	case t.Kind() == schema.Fixed:
		for range t.Size() {
			dst = append(dst, byte(r.IntN(2)))
		}
		return dst
	}
	n := r.IntN(4)
	elem := t.Elem()
	if r.Float64() < r.odd {
		elem = schema.TypeI32
	}
	dst = binary.BigEndian.AppendUint32(append(dst, byte(elem.Wire())), uint32(n))
	for range n {
		dst = r.value(dst, elem)
	}
	return dst
}

func TestPlanned(t *testing.T) {
	r := sender{rand.New(rand.NewPCG(testmode.Seed(t), 1)), 0, false}
	limits := []Limits{{}, {MaxDepth: 2}, {MaxDepth: 3}, {MaxIndex: 100}, {MaxIndex: 300}}
	good := 0
	for i := range testmode.Of(6_000, 20_000) {
		r.odd, r.built = []float64{0, 0.02, 0.2}[i%3], r.IntN(2) == 0
		d := []*schema.Struct{outerDesc, boxDesc}[r.IntN(2)]
		data := r.structure(nil, d)
		switch r.IntN(8) {
		case 0:
			data = data[:r.IntN(len(data))]
		case 1:
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		limit := limits[0]
		if r.IntN(4) == 0 {
			limit = limits[r.IntN(len(limits))]
		}
		want, wantErr := Parse(d, data, limit, ValidUTF8)
		if errors.Is(wantErr, wire.ErrUTF8) {
			continue
		}
		for _, w := range []way{inOnePiece, cutAt(r.IntN(len(data) + 1)), with(inOnePiece, Lazy, "lazy")} {
			got, err := w.parse(d, data, limit)
			if w.name == inOnePiece.name && fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%x %+v: %v, want %v", data, limit, err, wantErr)
			}
			if err == nil && wantErr != nil {
				err = got.m.Index() // errors that Lazy could not see; indexing later has no limits
			}
			// A skipped value counts its depth from its field on. If a field comes twice, its
			// first value is never indexed if it was left for later.
			unseen := errors.Is(wantErr, wire.ErrLimit) || errors.Is(err, wire.ErrLimit) ||
				err == nil && errors.Is(wantErr, wire.ErrMissingRequired) && len(got.m.duplicates) > 0
			if (err == nil) != (wantErr == nil) && !unseen {
				t.Fatalf("%x %+v, %s: %v, want %v", data, limit, w.name, err, wantErr)
			}
			if err != nil {
				continue
			}
			if wantErr == nil {
				if w.name == inOnePiece.name && len(got.m.duplicates) != len(want.m.duplicates) {
					t.Fatalf("%x: %d fields came twice, not %d", data, len(want.m.duplicates), len(got.m.duplicates))
				}
				if got, want := TextOf(got, d), TextOf(want, d); got != want {
					t.Fatalf("%x %+v, %s: %s, want %s", data, limit, w.name, got, want)
				}
			}
			got.Release()
		}
		if wantErr == nil {
			good++
			want.Release()
		}
	}
	if good < testmode.Of(1_500, 5_000) {
		t.Errorf("only %d messages were good", good)
	}
}

// TestTwice: fields that come twice are noted, also after a program has stopped at an unknown one.
func TestTwice(t *testing.T) {
	d := schema.NewStruct("Mixed")
	d.Define(
		schema.FieldDesc{ID: 5, Name: "x", Type: schema.TypeI8},
		schema.FieldDesc{ID: 1, Name: "a", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "b", Type: schema.TypeI32},
		schema.FieldDesc{ID: 3, Name: "c", Type: schema.TypeString},
		schema.FieldDesc{ID: 4, Name: "d", Type: schema.TypeI64},
	)
	n := New(d)
	defer n.Release()
	n.SetText(fieldNamed(d, "a"), "a")
	if made, want := n.m.AppendTo(nil), string(d.Template())+"\x0b\x00\x01\x00\x00\x00\x01a\x00"; string(made) != want {
		t.Errorf("New makes %x, not the order that programs know: %x", made, want)
	}
	const (
		x, b, c = "\x03\x00\x05\x01", "\x08\x00\x02\x00\x00\x00\x07", "\x0b\x00\x03\x00\x00\x00\x01c"
		dd      = "\x0a\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08"
		unknown = "\x03\x00\x64\x07"
	)
	for wire, twice := range map[string]int{unknown + x + b + "\x00": 0, unknown + x + b + dd + c + c + "\x00": 1} {
		t.Run(wire, func(t *testing.T) {
			s := mustParse(t, d, []byte(wire))
			if got := len(s.m.duplicates); got != twice {
				t.Errorf("%x: %d fields came twice, not %d", wire, twice, got)
			}
			s.Release()
		})
	}
	if program.Of(leafDesc).Built != 0 {
		t.Error("two programs where there is one order")
	}
}

// TestPlannedFar: values that do not fit into a step are indexed as well.
func TestPlannedFar(t *testing.T) {
	d := schema.NewStruct("Wide")
	var fields []schema.FieldDesc
	for i := range 6_000 {
		fields = append(fields, schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: schema.TypeI8})
	}
	for _, i := range []int{10, 4_000, 4_090, 4_100, 5_999} {
		fields[i].Type = schema.StructOf(leafDesc)
	}
	d.Define(fields...)
	r := sender{rand.New(rand.NewPCG(1, 1)), 0, false}
	for _, r.odd = range []float64{0, 0.001} {
		r.built = !r.built
		wire := r.structure(nil, d)
		want, err := Parse(d, wire, ValidUTF8)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(d, wire)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := TextOf(got, d), TextOf(want, d); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		got.Release()
		want.Release()
	}
}
