// The struct types that most tests of this package use, and how tests name their fields.

package engine

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// The descriptors that this package's tests run on, as generated code would make them. allDesc has
// a field of every kind, also of its own type, and ids at the edges of their range.

var (
	pointDesc   = schema.NewStruct("Point")
	shapeDesc   = schema.NewUnion("Shape")
	allDesc     = schema.NewStruct("All")
	strictDesc  = schema.NewStruct("Strict")  // required fields, also in nested structs
	defaultDesc = schema.NewStruct("Default") // fields with IDL defaults
	emptyDesc   = schema.NewStruct("Empty")
	wideDesc    = schema.NewStruct("Wide") // 250 fields: they cost most index for least bytes
	treeDesc    = schema.NewStruct("Tree") // recursion through a list only

	descs = map[string]*schema.Struct{}
)

var colorType = schema.NewEnum("Color", []schema.EnumValue{{Name: "RED", Value: 1}, {Name: "GREEN", Value: 2}}, nil).Type()

func init() {
	point, shape, all := schema.StructOf(pointDesc), schema.StructOf(shapeDesc), schema.StructOf(allDesc)
	color := colorType
	opt := func(id int16, name string, t *schema.Type) schema.FieldDesc {
		return schema.FieldDesc{ID: id, Name: name, Type: t, Req: schema.Optional}
	}
	pointDesc.Define(
		schema.FieldDesc{ID: 1, Name: "x", Type: schema.TypeI32},
		schema.FieldDesc{ID: 2, Name: "y", Type: schema.TypeI32},
	)
	shapeDesc.Define(
		opt(1, "radius", schema.TypeDouble),
		opt(2, "corner", point),
		opt(3, "label", schema.TypeString),
		opt(4, "outline", schema.ListOf(point)),
		opt(5, "weights", schema.MapOf(schema.TypeString, schema.TypeI32)),
	)
	allDesc.Define(
		opt(1, "flag", schema.TypeBool), opt(2, "tiny", schema.TypeI8), opt(3, "small", schema.TypeI16), opt(4, "medium", schema.TypeI32),
		opt(5, "large", schema.TypeI64), opt(6, "real", schema.TypeDouble), opt(7, "text", schema.TypeString), opt(8, "blob", schema.TypeBinary),
		opt(9, "key", schema.TypeUUID), opt(10, "color", color), opt(11, "point", point), opt(12, "shape", shape),
		opt(13, "numbers", schema.ListOf(schema.TypeI64)), opt(14, "words", schema.ListOf(schema.TypeString)), opt(15, "unique", schema.SetOf(schema.TypeI32)),
		opt(16, "counts", schema.MapOf(schema.TypeString, schema.TypeI64)), opt(17, "points", schema.ListOf(point)),
		opt(18, "matrix", schema.ListOf(schema.ListOf(schema.TypeI32))), opt(19, "table", schema.ListOf(schema.ListOf(schema.TypeString))),
		opt(20, "groups", schema.MapOf(schema.TypeString, schema.ListOf(point))), opt(21, "byNumber", schema.MapOf(schema.TypeI32, point)),
		opt(22, "byPoint", schema.MapOf(point, schema.TypeString)), opt(23, "self", all), opt(24, "children", schema.ListOf(all)),
		opt(25, "flags", schema.ListOf(schema.TypeBool)), opt(26, "blobs", schema.ListOf(schema.TypeBinary)), opt(27, "keys", schema.ListOf(schema.TypeUUID)),
		opt(28, "nested", schema.MapOf(schema.TypeI64, schema.MapOf(schema.TypeString, schema.TypeI32))), opt(29, "tags", schema.SetOf(schema.TypeString)),
		opt(30, "shapes", schema.ListOf(shape)), opt(31, "maps", schema.ListOf(schema.MapOf(schema.TypeI8, schema.TypeDouble))),
		opt(32, "byRow", schema.MapOf(schema.ListOf(schema.TypeI32), schema.TypeBool)), opt(33, "named", schema.MapOf(schema.TypeString, all)),
		opt(34, "pairs", schema.MapOf(schema.TypeBool, schema.TypeBool)), opt(35, "grown", schema.SetOf(point)),
		opt(36, "wide", schema.ListOf(schema.StructOf(wideDesc))), opt(37, "cube", schema.ListOf(schema.ListOf(schema.ListOf(schema.TypeI8)))),
		opt(38, "colors", schema.ListOf(color)), opt(39, "forest", schema.ListOf(schema.ListOf(schema.StructOf(treeDesc)))),
		opt(-32768, "bottom", schema.TypeI32), opt(-1, "negative", schema.TypeI32), opt(0, "zero", schema.TypeI32), opt(32767, "top", schema.TypeI32),
	)
	strictDesc.Define(
		schema.FieldDesc{ID: 1, Name: "id", Type: schema.TypeI32, Req: schema.Required},
		schema.FieldDesc{ID: 2, Name: "name", Type: schema.TypeString, Req: schema.Required},
		schema.FieldDesc{ID: 3, Name: "inner", Type: schema.StructOf(strictDesc), Req: schema.Optional},
		schema.FieldDesc{ID: 4, Name: "list", Type: schema.ListOf(schema.StructOf(strictDesc)), Req: schema.Optional},
		schema.FieldDesc{ID: 5, Name: "map", Type: schema.MapOf(schema.TypeString, schema.StructOf(strictDesc)), Req: schema.Optional},
		schema.FieldDesc{ID: 6, Name: "nested", Type: schema.ListOf(schema.ListOf(schema.StructOf(strictDesc))), Req: schema.Optional},
	)
	const pointWire = "\x08\x00\x01\x00\x00\x00\x03\x08\x00\x02\x00\x00\x00\x04\x00"
	for i, req := range []schema.Requiredness{schema.DefaultReq, schema.Required, schema.Optional} {
		id := func(n int) int16 { return int16(10*i + n) }
		name := func(s string) string { return fmt.Sprintf("%s%d", s, i) }
		defaultFields = append(defaultFields,
			schema.FieldDesc{ID: id(1), Name: name("number"), Type: schema.TypeI64, Req: req, Default: "\x00\x00\x00\x00\x00\x00\x00\x07"},
			schema.FieldDesc{ID: id(2), Name: name("text"), Type: schema.TypeString, Req: req, Default: "\x00\x00\x00\x02hi"},
			schema.FieldDesc{ID: id(3), Name: name("list"), Type: schema.ListOf(schema.TypeI32), Req: req, Default: "\x08\x00\x00\x00\x01\x00\x00\x00\x05"},
			schema.FieldDesc{ID: id(4), Name: name("point"), Type: point, Req: req, Default: pointWire},
			schema.FieldDesc{ID: id(5), Name: name("plain"), Type: schema.TypeI32, Req: req, Default: ""},
			schema.FieldDesc{ID: id(6), Name: name("empty"), Type: schema.TypeString, Req: req, Default: ""},
			schema.FieldDesc{ID: id(7), Name: name("map"), Type: schema.MapOf(schema.TypeString, schema.TypeI32), Req: req, Default: ""},
			schema.FieldDesc{ID: id(8), Name: name("child"), Type: point, Req: req, Default: ""},
		)
	}
	defaultDesc.Define(defaultFields...)
	emptyDesc.Define()
	treeDesc.Define(
		opt(1, "name", schema.TypeString),
		opt(2, "children", schema.ListOf(schema.StructOf(treeDesc))),
		opt(3, "only", schema.StructOf(treeDesc)),
	)
	var wide []schema.FieldDesc
	for i := range 250 {
		wide = append(wide, opt(int16(i+1), fmt.Sprint("f", i+1), schema.TypeI64))
	}
	wideDesc.Define(wide...) // as code does that was generated before there were wide structs
	for _, d := range []*schema.Struct{pointDesc, shapeDesc, allDesc, strictDesc, defaultDesc, emptyDesc, wideDesc, treeDesc} {
		descs[d.Name()] = d
	}
}

var defaultFields []schema.FieldDesc

// fieldNamed returns the constant of the field with this name, as generated code has it.
func fieldNamed(d *schema.Struct, name string) schema.Ref {
	for i := range d.Fields() {
		if d.Fields()[i].Name == name {
			return d.Field(i)
		}
	}
	panic(d.Name() + " has no field " + name)
}
