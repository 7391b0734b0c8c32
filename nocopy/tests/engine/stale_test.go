// Messages with something in them, for several tests.

package engine_test

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// fill sets a field for every kind of handle. The last one is still open afterwards.
func fill(s engine.Struct) {
	f := func(name string) schema.Ref { return fieldNamed(allDesc, name) }
	s.SetInt64s(f("numbers"), allDesc, []int64{1, 2, 3})
	s.SetTexts(f("words"), allDesc, []string{"a", "b"})
	s.SetInt32s(f("unique"), allDesc, []int32{1, 2})
	s.SetBools(f("flags"), allDesc, []bool{true, false})
	s.SetByteSlices(f("blobs"), allDesc, [][]byte{{1}, {2}})
	engine.UUIDs[nocopy.UUID]([]nocopy.UUID{{1}}).SetIn(s, f("keys"), allDesc)
	counts := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(f("counts"), allDesc, 0))
	for i := range 40 {
		counts.Put("key "+itoa(i), int64(i))
	}
	x := fieldNamed(pointDesc, "x")
	s.NewChild(f("point"), allDesc, 0).SetInt32(x, 1)
	points := nocopy.StructList[engine.Struct](s.NewChild(f("points"), allDesc, 2))
	points.At(1).SetInt32(x, 2)
	nocopy.NestedList[nocopy.Int32List](s.NewChild(f("matrix"), allDesc, 2)).NewAt(1, 2).Set(0, 5)
	nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.NewChild(f("byNumber"), allDesc, 0)).PutNew(7).SetInt32(x, 3)
	nocopy.Map[engine.Struct, string, engine.AsView[engine.Struct], engine.AsString](s.NewChild(f("byPoint"), allDesc, 0)).Append("v").SetInt32(x, 4)
	shape := s.NewChild(f("shape"), allDesc, 0).Arm(fieldNamed(shapeDesc, "outline"), shapeDesc)
	nocopy.StructList[engine.Struct](shape.NewChild(fieldNamed(shapeDesc, "outline"), shapeDesc, 2)).At(1).SetInt32(x, 5)
	nocopy.NestedMap[string, nocopy.StructList[engine.Struct], engine.AsString](s.NewChild(f("groups"), allDesc, 0)).PutNew("g", 2).At(1).SetInt32(x, 6)
}
