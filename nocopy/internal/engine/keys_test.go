package engine

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestManyViews: structs that are added to a set, or put into a map as keys, are found by a table
// however many they are; only those from before there was one are looked at one by one.
func TestManyViews(t *testing.T) {
	const n = 30_000
	root, key := New(allDesc), New(pointDesc)
	defer root.Release()
	defer key.Release()
	set := StructList[Struct](root.NewChild(fieldNamed(allDesc, "grown"), allDesc, 0))
	for i := range 2 * n {
		key.SetInt32(fieldNamed(pointDesc, "x"), int32(i/2))
		set.Add(key)
	}
	byPoint := Map[Struct, string, AsView[Struct], AsString](root.NewChild(fieldNamed(allDesc, "byPoint"), allDesc, 0))
	for i := range n {
		key.SetInt32(fieldNamed(pointDesc, "x"), int32(i))
		byPoint.Put(key, "v")
		if _, is := byPoint.Get(key); !is {
			t.Fatalf("%d is not found", i)
		}
	}
	if set.Len() != n || byPoint.Len() != n {
		t.Errorf("%d elements and %d pairs, not %d", set.Len(), byPoint.Len(), n)
	}
	for what, e := range map[string]uint32{"set": Struct(set).entry(), "map": Struct(byPoint).entry()} {
		t.Run(what, func(t *testing.T) {
			if _, linked := root.m.keys.Stats(e); linked < n-1 {
				t.Errorf("%s: %d of %d", what, linked, n)
			}
		})
	}
}

// TestUnreachedElements: a change while some elements have not been reached yet in building asks
// which elements it belongs to.
func TestUnreachedElements(t *testing.T) {
	row := schema.ListOf(schema.ListOf(schema.StructOf(pointDesc)))
	d := schema.NewStruct("D")
	d.Define(schema.FieldDesc{ID: 1, Name: "number", Type: schema.TypeI32}, schema.FieldDesc{ID: 2, Name: "cube", Type: schema.ListOf(row)})
	s := New(d)
	cube := NestedList[NestedList[StructList[Struct]]](s.NewChild(fieldNamed(d, "cube"), d, 20))
	for i := range 20 {
		cube.NewAt(i, 0)
	}
	if Struct(cube).ContainsValue(value(row, 1).view) {
		t.Error("it has what was never put there")
	}
	cube.NewAt(0, 3)
	s.SetInt32(fieldNamed(d, "number"), 1)
	if want := "cube: [[[], [], []], []"; !strings.Contains(TextOf(s, d), want) {
		t.Error(TextOf(s, d))
	}
}
