// Messages that tests use, what can be done with them, and how tests expect panics.

package engine

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"

	"bytes"
	"strconv"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// What tests outside of the package use, too.
var (
	panics       = testtypes.Panics
	isStale      = testtypes.IsStale
	ignoredTwice = testtypes.IgnoredTwice
)

// fullWire is a message in which every kind of handle can be had.
func fullWire(t testing.TB) []byte {
	s := New(allDesc)
	defer s.Release()
	s.SetInt32(fieldNamed(allDesc, "medium"), 42)
	s.SetText(fieldNamed(allDesc, "text"), "some text")
	s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, []int64{1, 2, 3})
	s.SetTexts(fieldNamed(allDesc, "words"), allDesc, []string{"a", "b"})
	s.SetInt32s(fieldNamed(allDesc, "unique"), allDesc, []int32{1, 2})
	s.SetBools(fieldNamed(allDesc, "flags"), allDesc, []bool{true, false})
	s.SetByteSlices(fieldNamed(allDesc, "blobs"), allDesc, [][]byte{{1}, {2}})
	UUIDs[UUID]([]UUID{{1}}).SetIn(s, fieldNamed(allDesc, "keys"), allDesc)
	counts := Map[string, int64, AsString, AsInt64](s.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
	for i := range 40 { // more than are looked up one by one
		counts.Put("key "+strconv.Itoa(i), int64(i))
	}
	point := s.NewChild(fieldNamed(allDesc, "point"), allDesc, 0)
	point.SetInt32(fieldNamed(pointDesc, "x"), 1)
	points := StructList[Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, 2))
	points.At(1).SetInt32(fieldNamed(pointDesc, "y"), 2)
	matrix := NestedList[Int32List](s.NewChild(fieldNamed(allDesc, "matrix"), allDesc, 2))
	matrix.NewAt(1, 2).Set(0, 5)
	byNumber := StructMap[int32, Struct, AsInt32](s.NewChild(fieldNamed(allDesc, "byNumber"), allDesc, 0))
	byNumber.PutNew(7)
	groups := NestedMap[string, StructList[Struct], AsString](s.NewChild(fieldNamed(allDesc, "groups"), allDesc, 0))
	groups.PutNew("g", 1)
	s.NewChild(fieldNamed(allDesc, "shape"), allDesc, 0).Arm(fieldNamed(shapeDesc, "label"), shapeDesc).SetText(fieldNamed(shapeDesc, "label"), "l")
	return bytes.Clone(s.m.Bytes())
}

func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...Option) Struct {
	t.Helper()
	s, err := Parse(d, wire, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	describedCustomer = schema.NewStruct("Customer")
	describedOrder    = schema.NewStruct("Order")
)

func init() {
	describedCustomer.Define(schema.FieldDesc{ID: 1, Name: "name", Type: schema.TypeString}, schema.FieldDesc{ID: 2, Name: "vip", Type: schema.TypeBool})
	describedOrder.Define(
		schema.FieldDesc{ID: 1, Name: "id", Type: schema.TypeI64},
		schema.FieldDesc{ID: 2, Name: "customer", Type: schema.StructOf(describedCustomer)},
		schema.FieldDesc{ID: 3, Name: "price_list", Type: schema.ListOf(schema.TypeI32)},
		schema.FieldDesc{ID: 4, Name: "small", Type: schema.TypeI8},
		schema.FieldDesc{ID: 5, Name: "note", Type: schema.TypeString},
		schema.FieldDesc{ID: 6, Name: "names", Type: schema.MapOf(schema.TypeString, schema.TypeString)},
	)
}

// orderWire is an Order with all fields.
func orderWire() []byte {
	s := New(describedOrder)
	s.SetInt64(fieldNamed(describedOrder, "id"), 1)
	c := s.NewChild(fieldNamed(describedOrder, "customer"), describedOrder, 0)
	c.SetText(fieldNamed(describedCustomer, "name"), "Ada")
	s.SetInt32s(fieldNamed(describedOrder, "price_list"), describedOrder, []int32{1, 2, 3})
	s.SetInt8(fieldNamed(describedOrder, "small"), 4)
	s.SetText(fieldNamed(describedOrder, "note"), "a note")
	return s.Message().AppendTo(nil)
}
