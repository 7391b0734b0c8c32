// The struct types of most tests of this package, the same as in the tests beside package nocopy,
// and access to their fields by name.

package nocopy_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// The descriptors for this package's tests, as generated code would make them. allDesc has a field
// of every kind, ids at the limits of their range, and a field of its own type.

var (
	pointDesc   = newStructDesc("Point")
	shapeDesc   = newUnionDesc("Shape")
	allDesc     = newStructDesc("All")
	strictDesc  = newStructDesc("Strict")  // required fields, also nested
	defaultDesc = newStructDesc("Default") // fields with IDL defaults
	emptyDesc   = newStructDesc("Empty")
	wideDesc    = newStructDesc("Wide") // 250 fields: the most index for the fewest bytes
	treeDesc    = newStructDesc("Tree") // recursion only through a list

	descs = map[string]*thriftimpl.Desc{}
)

var colorType = thriftimpl.EnumOf(newEnum("Color", []thriftimpl.EnumValue{{Name: "RED", Value: 1}, {Name: "GREEN", Value: 2}}, nil))

func init() {
	point, shape, all := structTypeOf(pointDesc), structTypeOf(shapeDesc), structTypeOf(allDesc)
	color := colorType
	opt := func(id int16, name string, t *thriftimpl.Type) thriftimpl.FieldDesc {
		return thriftimpl.FieldDesc{ID: id, Name: name, Type: t, Req: thriftimpl.Optional}
	}
	pointDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "x", Type: typeI32},
		thriftimpl.FieldDesc{ID: 2, Name: "y", Type: typeI32},
	)
	shapeDesc.Define(
		opt(1, "radius", typeDouble),
		opt(2, "corner", point),
		opt(3, "label", typeString),
		opt(4, "outline", listTypeOf(point)),
		opt(5, "weights", mapTypeOf(typeString, typeI32)),
	)
	allDesc.Define(
		opt(1, "flag", typeBool), opt(2, "tiny", typeI8), opt(3, "small", typeI16), opt(4, "medium", typeI32),
		opt(5, "large", typeI64), opt(6, "real", typeDouble), opt(7, "text", typeString), opt(8, "blob", typeBinary),
		opt(9, "key", typeUUID), opt(10, "color", color), opt(11, "point", point), opt(12, "shape", shape),
		opt(13, "numbers", listTypeOf(typeI64)), opt(14, "words", listTypeOf(typeString)), opt(15, "unique", setTypeOf(typeI32)),
		opt(16, "counts", mapTypeOf(typeString, typeI64)), opt(17, "points", listTypeOf(point)),
		opt(18, "matrix", listTypeOf(listTypeOf(typeI32))), opt(19, "table", listTypeOf(listTypeOf(typeString))),
		opt(20, "groups", mapTypeOf(typeString, listTypeOf(point))), opt(21, "byNumber", mapTypeOf(typeI32, point)),
		opt(22, "byPoint", mapTypeOf(point, typeString)), opt(23, "self", all), opt(24, "children", listTypeOf(all)),
		opt(25, "flags", listTypeOf(typeBool)), opt(26, "blobs", listTypeOf(typeBinary)), opt(27, "keys", listTypeOf(typeUUID)),
		opt(28, "nested", mapTypeOf(typeI64, mapTypeOf(typeString, typeI32))), opt(29, "tags", setTypeOf(typeString)),
		opt(30, "shapes", listTypeOf(shape)), opt(31, "maps", listTypeOf(mapTypeOf(typeI8, typeDouble))),
		opt(32, "byRow", mapTypeOf(listTypeOf(typeI32), typeBool)), opt(33, "named", mapTypeOf(typeString, all)),
		opt(34, "pairs", mapTypeOf(typeBool, typeBool)), opt(35, "grown", setTypeOf(point)),
		opt(36, "wide", listTypeOf(structTypeOf(wideDesc))), opt(37, "cube", listTypeOf(listTypeOf(listTypeOf(typeI8)))),
		opt(38, "colors", listTypeOf(color)), opt(39, "forest", listTypeOf(listTypeOf(structTypeOf(treeDesc)))),
		opt(-32768, "bottom", typeI32), opt(-1, "negative", typeI32), opt(0, "zero", typeI32), opt(32767, "top", typeI32),
	)
	strictDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "id", Type: typeI32, Req: thriftimpl.Required},
		thriftimpl.FieldDesc{ID: 2, Name: "name", Type: typeString, Req: thriftimpl.Required},
		thriftimpl.FieldDesc{ID: 3, Name: "inner", Type: structTypeOf(strictDesc), Req: thriftimpl.Optional},
		thriftimpl.FieldDesc{ID: 4, Name: "list", Type: listTypeOf(structTypeOf(strictDesc)), Req: thriftimpl.Optional},
		thriftimpl.FieldDesc{ID: 5, Name: "map", Type: mapTypeOf(typeString, structTypeOf(strictDesc)), Req: thriftimpl.Optional},
		thriftimpl.FieldDesc{ID: 6, Name: "nested", Type: listTypeOf(listTypeOf(structTypeOf(strictDesc))), Req: thriftimpl.Optional},
	)
	const pointWire = "\x08\x00\x01\x00\x00\x00\x03\x08\x00\x02\x00\x00\x00\x04\x00"
	for i, req := range []thriftimpl.Requiredness{thriftimpl.DefaultReq, thriftimpl.Required, thriftimpl.Optional} {
		id := func(n int) int16 { return int16(10*i + n) }
		name := func(s string) string { return fmt.Sprintf("%s%d", s, i) }
		defaultFields = append(defaultFields,
			thriftimpl.FieldDesc{ID: id(1), Name: name("number"), Type: typeI64, Req: req, Default: "\x00\x00\x00\x00\x00\x00\x00\x07"},
			thriftimpl.FieldDesc{ID: id(2), Name: name("text"), Type: typeString, Req: req, Default: "\x00\x00\x00\x02hi"},
			thriftimpl.FieldDesc{ID: id(3), Name: name("list"), Type: listTypeOf(typeI32), Req: req, Default: "\x08\x00\x00\x00\x01\x00\x00\x00\x05"},
			thriftimpl.FieldDesc{ID: id(4), Name: name("point"), Type: point, Req: req, Default: pointWire},
			thriftimpl.FieldDesc{ID: id(5), Name: name("plain"), Type: typeI32, Req: req, Default: ""},
			thriftimpl.FieldDesc{ID: id(6), Name: name("empty"), Type: typeString, Req: req, Default: ""},
			thriftimpl.FieldDesc{ID: id(7), Name: name("map"), Type: mapTypeOf(typeString, typeI32), Req: req, Default: ""},
			thriftimpl.FieldDesc{ID: id(8), Name: name("child"), Type: point, Req: req, Default: ""},
		)
	}
	defaultDesc.Define(defaultFields...)
	emptyDesc.Define()
	treeDesc.Define(
		opt(1, "name", typeString),
		opt(2, "children", listTypeOf(structTypeOf(treeDesc))),
		opt(3, "only", structTypeOf(treeDesc)),
	)
	var wide []thriftimpl.FieldDesc
	for i := range 250 {
		wide = append(wide, opt(int16(i+1), fmt.Sprint("f", i+1), typeI64))
	}
	wideDesc.Define(wide...) // like generated code from before wide structs
	for _, d := range []*thriftimpl.Desc{pointDesc, shapeDesc, allDesc, strictDesc, defaultDesc, emptyDesc, wideDesc, treeDesc} {
		descs[d.Name()] = d
	}
}

var defaultFields []thriftimpl.FieldDesc

// fieldNamed returns the constant that generated code would have for the field with this name.
func fieldNamed(d *thriftimpl.Desc, name string) thriftimpl.Field {
	i := d.NumberByName(name)
	if i < 0 {
		panic(d.Name() + " has no field " + name)
	}
	return d.Field(i)
}

// namedIn returns fieldNamed of this struct.
func namedIn(d *thriftimpl.Desc) func(name string) thriftimpl.Field {
	return func(name string) thriftimpl.Field { return fieldNamed(d, name) }
}
