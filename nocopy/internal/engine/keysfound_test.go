package engine

import (
	"math/rand/v2"
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

// TestDeletedElements: elements are found, and those that were changed or deleted are not, while
// lists lose their first and last elements and structs in them change. Lists in a list have tables
// of their own.
func TestDeletedElements(t *testing.T) {
	d := schema.NewStruct("D")
	d.Define(schema.FieldDesc{ID: 1, Name: "rows", Type: schema.ListOf(schema.ListOf(schema.StructOf(pointDesc)))})
	point, x := New(pointDesc), fieldNamed(pointDesc, "x")
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		rows := NestedList[StructList[Struct]](New(d).NewChild(d.Field(0), d, 0))
		var old Struct
		change := func(row StructList[Struct]) {
			if n := row.Len(); n > 0 {
				row.At(max(r.IntN(n), r.IntN(n))).SetInt32(x, r.Int32N(50))
			}
		}
		for step := range 500 {
			if rows.Len() == 0 || rows.Len() < 40 && r.IntN(2) == 0 {
				row := rows.AppendNew(0)
				for range r.IntN(40) {
					point.SetInt32(x, r.Int32N(50))
					row.Append(point)
				}
			}
			row := rows.At(r.IntN(rows.Len()))
			switch r.IntN(8) {
			case 0:
				Struct(rows).DeleteRange(0, min(r.IntN(3), rows.Len()-1))
			case 1:
				Struct(rows).DeleteRange(max(1, rows.Len()-r.IntN(3)), rows.Len())
			case 2, 3:
				if row.Len() > 0 {
					old = row.At(0)
				}
				Struct(row).DeleteRange(0, min(r.IntN(3), row.Len()))
			case 4:
				Struct(row).DeleteRange(max(0, row.Len()-r.IntN(3)), row.Len())
			case 5:
				point.SetInt32(x, r.Int32N(50))
				row.Append(point)
			case 6:
				if old != (Struct{}) { // which was deleted
					unlessGone(func() { old.SetInt32(x, 99) })
				}
			default:
				change(row)
			}
			if r.IntN(2) == 0 {
				row = rows.At(r.IntN(rows.Len()))
			}
			want, n := false, r.Int32N(50)
			for _, p := range row.All() {
				want = want || p.Int32(x) == n
			}
			if point.SetInt32(x, n); row.Contains(point) != want {
				t.Fatalf("seed %d, step %d: %d is found: %v", seed, step, n, !want)
			}
			other := New(d).NewChild(d.Field(0), d, 0)
			NestedList[StructList[Struct]](other).Append(row)
			if r.IntN(2) == 0 {
				change(NestedList[StructList[Struct]](other).At(0))
			}
			text, want := ContainerTextOf(Struct(NestedList[StructList[Struct]](other).At(0)), ""), false
			for _, row := range rows.All() {
				want = want || ContainerTextOf(Struct(row), "") == text
			}
			if rows.Contains(NestedList[StructList[Struct]](other).At(0)) != want {
				t.Fatalf("seed %d, step %d: %s is found: %v", seed, step, text, !want)
			}
		}
	}
}

// TestNewElements: a list or map is found in a list by what is in it now, after an element or key
// was added to it, the list has been asked for it, and the element or key was changed.
func TestNewElements(t *testing.T) {
	x := fieldNamed(pointDesc, "x")
	for what, typ := range map[string]*schema.Type{
		"list": schema.ListOf(schema.StructOf(pointDesc)),
		"map":  schema.MapOf(schema.StructOf(pointDesc), schema.TypeI8),
	} {
		d := schema.NewStruct("D")
		d.Define(schema.FieldDesc{ID: 1, Name: "rows", Type: schema.ListOf(typ)})
		rows := NestedList[Struct](New(d).NewChild(d.Field(0), d, 0))
		for range 20 {
			rows.AppendNew(0)
		}
		add := func() Struct {
			if what == "list" {
				return StructList[Struct](rows.At(0)).AppendNew()
			}
			key, _ := AppendNewPair[Struct, int8, AsView[Struct], AsInt8](rows.At(0))
			return key
		}
		point := value(schema.StructOf(pointDesc), 1000).view
		look := func() { // both get a table
			if what == "list" {
				StructList[Struct](rows.At(0)).Contains(point)
			} else {
				GetPair[Struct, int8, AsView[Struct], AsInt8](rows.At(0), point)
			}
			Struct(rows).ContainsValue(rows.At(1))
		}
		for i := range 20 {
			add().SetInt32(x, int32(i))
		}
		look()
		add()
		last := add()
		Struct(rows).ContainsValue(rows.At(1))
		last.SetInt32(x, 100)
		if !Struct(rows).ContainsValue(rows.At(0)) {
			t.Errorf("a %s is not found", what)
		}
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
