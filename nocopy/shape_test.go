package nocopy

import "fmt"

// The descriptors that this package's tests run on, as generated code would make them. allDesc has a field
// of every kind, ids at the edges of their range, and itself inside of itself.

var (
	pointDesc   = NewDesc("Point")
	shapeDesc   = NewUnionDesc("Shape")
	allDesc     = NewDesc("All")
	strictDesc  = NewDesc("Strict")  // required fields, also inside of others
	defaultDesc = NewDesc("Default") // fields with IDL defaults
	emptyDesc   = NewDesc("Empty")
	wideDesc    = NewDesc("Wide") // 250 fields: what costs most index for least bytes
	treeDesc    = NewDesc("Tree") // recursion through a list only

	descs = map[string]*Desc{}
)

func colorName(v int32) string {
	switch v {
	case 1:
		return "RED"
	case 2:
		return "GREEN"
	}
	return ""
}

func init() {
	point, shape, all := StructOf(pointDesc), StructOf(shapeDesc), StructOf(allDesc)
	color := EnumOf(colorName)
	opt := func(id int16, name string, t *Type) FieldDesc {
		return FieldDesc{ID: id, Name: name, Type: t, Req: Optional}
	}
	pointDesc.Define(
		FieldDesc{ID: 1, Name: "x", Type: TypeI32},
		FieldDesc{ID: 2, Name: "y", Type: TypeI32},
	)
	shapeDesc.Define(
		opt(1, "radius", TypeDouble),
		opt(2, "corner", point),
		opt(3, "label", TypeString),
		opt(4, "outline", ListOf(point)),
		opt(5, "weights", MapOf(TypeString, TypeI32)),
	)
	allDesc.Define(
		opt(1, "flag", TypeBool), opt(2, "tiny", TypeI8), opt(3, "small", TypeI16), opt(4, "medium", TypeI32),
		opt(5, "large", TypeI64), opt(6, "real", TypeDouble), opt(7, "text", TypeString), opt(8, "blob", TypeBinary),
		opt(9, "key", TypeUUID), opt(10, "color", color), opt(11, "point", point), opt(12, "shape", shape),
		opt(13, "numbers", ListOf(TypeI64)), opt(14, "words", ListOf(TypeString)), opt(15, "unique", SetOf(TypeI32)),
		opt(16, "counts", MapOf(TypeString, TypeI64)), opt(17, "points", ListOf(point)),
		opt(18, "matrix", ListOf(ListOf(TypeI32))), opt(19, "table", ListOf(ListOf(TypeString))),
		opt(20, "groups", MapOf(TypeString, ListOf(point))), opt(21, "byNumber", MapOf(TypeI32, point)),
		opt(22, "byPoint", MapOf(point, TypeString)), opt(23, "self", all), opt(24, "children", ListOf(all)),
		opt(25, "flags", ListOf(TypeBool)), opt(26, "blobs", ListOf(TypeBinary)), opt(27, "keys", ListOf(TypeUUID)),
		opt(28, "nested", MapOf(TypeI64, MapOf(TypeString, TypeI32))), opt(29, "tags", SetOf(TypeString)),
		opt(30, "shapes", ListOf(shape)), opt(31, "maps", ListOf(MapOf(TypeI8, TypeDouble))),
		opt(32, "byRow", MapOf(ListOf(TypeI32), TypeBool)), opt(33, "named", MapOf(TypeString, all)),
		opt(34, "pairs", MapOf(TypeBool, TypeBool)), opt(35, "grown", SetOf(point)),
		opt(36, "wide", ListOf(StructOf(wideDesc))), opt(37, "cube", ListOf(ListOf(ListOf(TypeI8)))),
		opt(38, "colors", ListOf(color)), opt(39, "forest", ListOf(ListOf(StructOf(treeDesc)))),
		opt(-32768, "bottom", TypeI32), opt(-1, "negative", TypeI32), opt(0, "zero", TypeI32), opt(32767, "top", TypeI32),
	)
	strictDesc.Define(
		FieldDesc{ID: 1, Name: "id", Type: TypeI32, Req: Required},
		FieldDesc{ID: 2, Name: "name", Type: TypeString, Req: Required},
		FieldDesc{ID: 3, Name: "inner", Type: StructOf(strictDesc), Req: Optional},
		FieldDesc{ID: 4, Name: "list", Type: ListOf(StructOf(strictDesc)), Req: Optional},
		FieldDesc{ID: 5, Name: "map", Type: MapOf(TypeString, StructOf(strictDesc)), Req: Optional},
		FieldDesc{ID: 6, Name: "nested", Type: ListOf(ListOf(StructOf(strictDesc))), Req: Optional},
	)
	const pointWire = "\x08\x00\x01\x00\x00\x00\x03\x08\x00\x02\x00\x00\x00\x04\x00"
	for i, req := range []Requiredness{DefaultReq, Required, Optional} {
		id := func(n int) int16 { return int16(10*i + n) }
		name := func(s string) string { return fmt.Sprintf("%s%d", s, i) }
		defaultFields = append(defaultFields,
			FieldDesc{id(1), name("number"), TypeI64, req, "\x00\x00\x00\x00\x00\x00\x00\x07"},
			FieldDesc{id(2), name("text"), TypeString, req, "\x00\x00\x00\x02hi"},
			FieldDesc{id(3), name("list"), ListOf(TypeI32), req, "\x08\x00\x00\x00\x01\x00\x00\x00\x05"},
			FieldDesc{id(4), name("point"), point, req, pointWire},
			FieldDesc{id(5), name("plain"), TypeI32, req, ""},
			FieldDesc{id(6), name("empty"), TypeString, req, ""},
			FieldDesc{id(7), name("map"), MapOf(TypeString, TypeI32), req, ""},
			FieldDesc{id(8), name("child"), point, req, ""},
		)
	}
	defaultDesc.Define(defaultFields...)
	emptyDesc.Define()
	treeDesc.Define(
		opt(1, "name", TypeString),
		opt(2, "children", ListOf(StructOf(treeDesc))),
		opt(3, "only", StructOf(treeDesc)),
	)
	var wide []FieldDesc
	for i := range 250 {
		wide = append(wide, opt(int16(i+1), fmt.Sprint("f", i+1), TypeI64))
	}
	wideDesc.Define(wide...)
	for _, d := range []*Desc{pointDesc, shapeDesc, allDesc, strictDesc, defaultDesc, emptyDesc, wideDesc, treeDesc} {
		descs[d.name] = d
	}
}

var defaultFields []FieldDesc

// named returns the constant of the field with this name, as generated code has it.
func (d *Desc) named(name string) Field {
	for i := range d.fields {
		if d.fields[i].Name == name {
			return d.constant(i)
		}
	}
	panic(d.name + " has no field " + name)
}
