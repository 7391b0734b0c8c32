package support

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
)

// SoakWires returns messages of 1 KiB, 2 KiB, 4 KiB and so on up to 8 MiB; in the short form of 1,
// 16 and 256 KiB.
func SoakWires() [][]byte {
	var wires [][]byte
	for octave := 0; octave < testmode.Of(11, 14); octave += testmode.Of(4, 1) {
		n := 1 << (10 + octave)
		s := engine.New(testtypes.All)
		s.SetText(testtypes.FieldNamed(testtypes.All, "text"), strings.Repeat("t", n/8))
		s.SetInt64s(testtypes.FieldNamed(testtypes.All, "numbers"), testtypes.All, make([]int64, n/18))
		words := nocopy.StringList(s.NewChild(testtypes.FieldNamed(testtypes.All, "words"), testtypes.All, n/128))
		for i := range n / 128 {
			words.Set(i, "some words of text")
		}
		points := nocopy.StructList[engine.Struct](s.NewChild(testtypes.FieldNamed(testtypes.All, "points"), testtypes.All, n/64))
		for i := range n / 64 {
			points.At(i).SetInt32(testtypes.FieldNamed(testtypes.Point, "x"), int32(i))
		}
		wires = append(wires, bytes.Clone(s.Message().Bytes()))
		s.Release()
	}
	return wires
}

// Define completes a descriptor, that of a wide struct if it has enough fields, as generated code
// does.
func Define(d *schema.Struct, fields []schema.FieldDesc) {
	if len(fields) > entry.MaxDirect {
		d.DefineWide(fields...)
		return
	}
	d.Define(fields...)
}

// OptionsOf returns the options that are chosen.
func OptionsOf(recycle, lazy bool) (f engine.Flags) {
	if recycle {
		f |= engine.Recycle
	}
	if lazy {
		f |= engine.Lazy
	}
	return f
}

// TouchAll indexes everything that Lazy left for later.
func TouchAll(s engine.Struct) {
	for i := range testtypes.All.Fields() {
		if f := &testtypes.All.Fields()[i]; f.Kind() >= schema.Record {
			Touch(s.Child(testtypes.All.Field(i), testtypes.All), f.Type)
		}
	}
}

func Touch(v engine.Struct, t *schema.Type) {
	switch {
	case t.Kind() == schema.Record:
		for i := range t.Struct().Fields() {
			if f := &t.Struct().Fields()[i]; f.Kind() >= schema.Record && v.HasField(t.Struct().Field(i)) {
				Touch(v.Child(t.Struct().Field(i), t.Struct()), f.Type)
			}
		}
	case t.Kind() == schema.List && t.Elem().Kind() == schema.Record:
		for _, e := range nocopy.StructList[engine.Struct](v).All() {
			Touch(e, t.Elem())
		}
	case t.Kind() == schema.List && t.Elem().Kind() > schema.Record:
		for _, e := range nocopy.NestedList[engine.Struct](v).All() {
			Touch(e, t.Elem())
		}
	}
}

// Fill sets a field for every kind of handle. The last one is still open afterwards.
func Fill(s engine.Struct) {
	f := func(name string) schema.Ref { return testtypes.FieldNamed(testtypes.All, name) }
	s.SetInt64s(f("numbers"), testtypes.All, []int64{1, 2, 3})
	s.SetTexts(f("words"), testtypes.All, []string{"a", "b"})
	s.SetInt32s(f("unique"), testtypes.All, []int32{1, 2})
	s.SetBools(f("flags"), testtypes.All, []bool{true, false})
	s.SetByteSlices(f("blobs"), testtypes.All, [][]byte{{1}, {2}})
	engine.UUIDs[nocopy.UUID]([]nocopy.UUID{{1}}).SetIn(s, f("keys"), testtypes.All)
	counts := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(f("counts"), testtypes.All, 0))
	for i := range 40 {
		counts.Put("key "+strconv.Itoa(i), int64(i))
	}
	x := testtypes.FieldNamed(testtypes.Point, "x")
	s.NewChild(f("point"), testtypes.All, 0).SetInt32(x, 1)
	points := nocopy.StructList[engine.Struct](s.NewChild(f("points"), testtypes.All, 2))
	points.At(1).SetInt32(x, 2)
	nocopy.NestedList[nocopy.Int32List](s.NewChild(f("matrix"), testtypes.All, 2)).NewAt(1, 2).Set(0, 5)
	nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.NewChild(f("byNumber"), testtypes.All, 0)).PutNew(7).SetInt32(x, 3)
	nocopy.Map[engine.Struct, string, engine.AsView[engine.Struct], engine.AsString](s.NewChild(f("byPoint"), testtypes.All, 0)).Append("v").SetInt32(x, 4)
	shape := s.NewChild(f("shape"), testtypes.All, 0).Arm(testtypes.FieldNamed(testtypes.Shape, "outline"), testtypes.Shape)
	nocopy.StructList[engine.Struct](shape.NewChild(testtypes.FieldNamed(testtypes.Shape, "outline"), testtypes.Shape, 2)).At(1).SetInt32(x, 5)
	nocopy.NestedMap[string, nocopy.StructList[engine.Struct], engine.AsString](s.NewChild(f("groups"), testtypes.All, 0)).PutNew("g", 2).At(1).SetInt32(x, 6)
}

// WithIndex returns the message with an index.
func WithIndex(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) []byte {
	t.Helper()
	s, err := engine.Parse(d, wire, append(opts, engine.WithIndex)...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	return bytes.Clone(s.Message().Bytes())
}

// LargeBusiness returns the wire bytes of a message with n items.
func LargeBusiness(t testing.TB, n int) []byte {
	s := engine.New(testtypes.Business)
	defer s.Release()
	BuildBusiness(s)
	items := nocopy.StructList[engine.Struct](s.NewChild(testtypes.FieldNamed(testtypes.Business, "items"), testtypes.Business, n))
	for i := range n {
		item := items.At(i)
		item.SetText(testtypes.FieldNamed(testtypes.Item, "sku"), "item "+strconv.Itoa(i))
		item.SetInt32(testtypes.FieldNamed(testtypes.Item, "count"), int32(i))
	}
	return bytes.Clone(s.Message().Bytes())
}

// Keys are made beforehand, since making them is not part of the measurement.
var Keys = func() (k []string) {
	for i := range 40 {
		k = append(k, "key number "+strconv.Itoa(i))
	}
	return k
}()

var (
	SomeTimes = make([]int64, 50)
	SomeTags  = []string{"red", "green", "blue"}
)

func BuildBusiness(s engine.Struct) {
	s.SetInt64(testtypes.FieldNamed(testtypes.Business, "id"), 1)
	items := nocopy.StructList[engine.Struct](s.NewChild(testtypes.FieldNamed(testtypes.Business, "items"), testtypes.Business, 10))
	for i := range 10 {
		item := items.At(i)
		item.SetText(testtypes.FieldNamed(testtypes.Item, "sku"), Keys[i])
		item.SetInt32(testtypes.FieldNamed(testtypes.Item, "count"), int32(i))
		labels := nocopy.StringMap(item.NewChild(testtypes.FieldNamed(testtypes.Item, "labels"), testtypes.Item, 3))
		for k := range 3 {
			labels.Put(Keys[k], Keys[k+i])
		}
		item.SetInt64s(testtypes.FieldNamed(testtypes.Item, "prices"), testtypes.Item, SomeTimes[:5])
	}
	totals := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(testtypes.FieldNamed(testtypes.Business, "totals"), testtypes.Business, 0))
	for i, key := range Keys { // more than are looked up one by one
		totals.Put(key, int64(i))
	}
	s.SetInt64s(testtypes.FieldNamed(testtypes.Business, "times"), testtypes.Business, SomeTimes)
	s.SetTexts(testtypes.FieldNamed(testtypes.Business, "tags"), testtypes.Business, SomeTags)
	byNumber := nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.NewChild(testtypes.FieldNamed(testtypes.Business, "byNumber"), testtypes.Business, 0))
	for i := range 5 {
		byNumber.PutNew(int32(i)).SetInt32(testtypes.FieldNamed(testtypes.Caller, "pid"), int32(i))
	}
	matrix := nocopy.NestedList[nocopy.Int32List](s.NewChild(testtypes.FieldNamed(testtypes.Business, "matrix"), testtypes.Business, 4))
	for i := range 4 {
		row := matrix.NewAt(i, 4)
		row.Set(i, 1)
	}
	unique := nocopy.StringList(s.NewChild(testtypes.FieldNamed(testtypes.Business, "unique"), testtypes.Business, 0))
	for i := range Keys {
		unique.Add(Keys[i])
	}
}

// EditScattered changes a message in many places and returns it as text.
func EditScattered(s engine.Struct) string {
	f := func(name string) schema.Ref { return testtypes.FieldNamed(testtypes.All, name) }
	s.SetText(f("text"), strings.Repeat("edited ", 700))
	s.SetInt32(f("medium"), 7)
	words := nocopy.StringList(s.Child(f("words"), testtypes.All))
	if !s.Has(f("words")) {
		words = nocopy.StringList(s.NewChild(f("words"), testtypes.All, 0))
	}
	for i := range words.Len() {
		if i%10 == 0 {
			words.Set(i, "another")
		}
	}
	words.Append("one more")
	if s.Has(f("points")) {
		points := nocopy.StructList[engine.Struct](s.Child(f("points"), testtypes.All))
		points.At(points.Len()/2).SetInt32(testtypes.Point.Field(0), 5)
		points.AppendNew().SetInt32(testtypes.Point.Field(0), 6)
	}
	s.Unset(f("counts"))
	self := s.NewChild(f("self"), testtypes.All, 0)
	self.SetText(f("text"), "inside")
	wire := s.Message().AppendTo(nil)
	again, err := engine.Parse(testtypes.All, wire)
	if err != nil {
		return err.Error()
	}
	defer again.Release()
	return render.Text(again, testtypes.All)
}

const (
	IndexFloor = 16 << 20 // bytes of an index that are never refused
	MaxCount   = chain.MaxSize
)
