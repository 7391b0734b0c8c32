package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// wideOf returns a struct of n optional fields: numbers, texts, bools and lists in turn.
func wideOf(n int) *schema.Struct {
	d := schema.NewStruct(fmt.Sprint("Wide", n))
	fields := make([]schema.FieldDesc, n)
	for i := range fields {
		t := []*schema.Type{schema.TypeI32, schema.TypeString, schema.TypeBool, listOfNumbers}[i%4]
		fields[i] = schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: t, Req: schema.Optional}
	}
	d.DefineWide(fields...)
	return d
}

var listOfNumbers = schema.ListOf(schema.TypeI32)

// setNth sets field i of s to something that tells i and x.
func setNth(s engine.Struct, d *schema.Struct, i, x int) {
	switch f := d.Field(i); i % 4 {
	case 0:
		s.SetInt32(f, int32(x))
	case 1:
		s.SetText(f, fmt.Sprint("text", x))
	case 2:
		s.SetBool(f, true)
	case 3:
		s.NewChild(f, d, x%3+1)
	}
}

// TestWideSetWhileOpen: an element that is being built, and owes fields for which its table has no
// room, is replaced. Its table is freed once: later elements have tables of their own.
func TestWideSetWhileOpen(t *testing.T) {
	elem := schema.NewStruct("Owing")
	var fields []schema.FieldDesc
	for i := range 100 {
		f := schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: schema.TypeI32, Req: schema.Optional}
		if i >= 90 {
			f.Type, f.Req = schema.TypeString, schema.Required
		}
		fields = append(fields, f)
	}
	elem.DefineWide(fields...)
	d := schema.NewStruct("OwingList")
	d.Define(schema.FieldDesc{ID: 1, Name: "owing", Type: schema.ListOf(schema.StructOf(elem)), Req: schema.Optional})
	for n := range 20 {
		s := engine.New(d)
		s.Message().Compact() // then the parser takes tables that are free, too
		list := nocopy.StructList[engine.Struct](s.NewChild(d.Field(0), d, 0))
		first := list.AppendNew()
		for i := range n {
			first.SetInt32(elem.Field(i), 1)
		}
		list.Set(0, engine.New(elem)) // of another message, so that nothing here was completed before
		for range 6 {
			list.Append(engine.New(elem))
		}
		for i := range list.Len() {
			list.At(i).SetInt32(elem.Field(50), int32(i))
		}
		for i, x := range list.All() {
			if got := engine.Wide(x).Int32(elem.Field(50)); int(got) != i {
				t.Errorf("%d fields: element %d has the number of element %d", n, i, got)
			}
		}
	}
}

// TestWideAllocations: neither getters nor setters of a message that is used again do.
func TestWideAllocations(t *testing.T) {
	if raceEnabled || debugging {
		t.Skip("this build allocates")
	}
	d := wideOf(200)
	wire := func() []byte {
		s := engine.New(d)
		defer s.Release()
		for i := 0; i < 200; i += 20 {
			setNth(s, d, i, i)
		}
		return slices.Clone(s.Message().Bytes())
	}()
	if n := allocsPerRun(func() {
		s, err := engine.Parse(d, wire)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			engine.Wide(s).Int32(d.Field(i &^ 3))
		}
		s.SetInt32(d.Field(4), 1)
		s.Release()
	}); n > .01 {
		t.Errorf("%.2f allocations", n)
	}
}

// TestWideGeneratedBefore: code that was generated before there were wide structs defines those of
// many fields as others.
func TestWideGeneratedBefore(t *testing.T) {
	d, now := schema.NewStruct("Old"), wideOf(200)
	fields := make([]schema.FieldDesc, 200)
	for i := range fields {
		fields[i] = now.Fields()[i].FieldDesc
	}
	d.Define(fields...)
	s := engine.New(now)
	setNth(s, now, 0, 5)
	setNth(s, now, 197, 7)
	old, err := engine.Parse(d, s.Message().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if old.Int32(d.Field(0)) != 5 || old.Text(d.Field(197)) != "text7" || old.Has(d.Field(1)) {
		t.Error(old.Format(d))
	}
	old.SetText(d.Field(1), "x")
	if again, err := engine.Parse(now, old.Message().Bytes()); err != nil || engine.Wide(again).Text(now.Field(1)) != "x" {
		t.Error(again.Format(now), err)
	}
}
