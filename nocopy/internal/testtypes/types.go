// Package testtypes has the struct types of the tests of the engine, of package nocopy, and of the
// packages between them. The descriptors are like those of generated code. It also has parts of
// the bytes of such structs, and checks of panics. Only tests import it.
package testtypes

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// The types of most tests.
var (
	Point   = schema.NewStruct("Point")
	Shape   = schema.NewUnion("Shape")
	All     = schema.NewStruct("All")     // fields of every kind, and of its own type
	Strict  = schema.NewStruct("Strict")  // required fields, also in nested structs
	Default = schema.NewStruct("Default") // fields with IDL defaults: DefaultFields
	Empty   = schema.NewStruct("Empty")
	Wide    = schema.NewStruct("Wide") // 250 fields: the most index for the fewest bytes
	Tree    = schema.NewStruct("Tree") // recursion only through a list

	Color = schema.NewEnum("Color", []schema.EnumValue{{Name: "RED", Value: 1}, {Name: "GREEN", Value: 2}}, nil).Type()

	DefaultFields []schema.FieldDesc
)

func init() {
	point, shape, all := schema.StructOf(Point), schema.StructOf(Shape), schema.StructOf(All)
	opt := func(id int16, name string, t *schema.Type) schema.FieldDesc {
		return schema.FieldDesc{ID: id, Name: name, Type: t, Req: schema.Optional}
	}
	Point.Define(
		schema.FieldDesc{ID: 1, Name: "x", Type: schema.TypeI32},
		schema.FieldDesc{ID: 2, Name: "y", Type: schema.TypeI32},
	)
	Shape.Define(
		opt(1, "radius", schema.TypeDouble),
		opt(2, "corner", point),
		opt(3, "label", schema.TypeString),
		opt(4, "outline", schema.ListOf(point)),
		opt(5, "weights", schema.MapOf(schema.TypeString, schema.TypeI32)),
	)
	All.Define(
		opt(1, "flag", schema.TypeBool), opt(2, "tiny", schema.TypeI8), opt(3, "small", schema.TypeI16), opt(4, "medium", schema.TypeI32),
		opt(5, "large", schema.TypeI64), opt(6, "real", schema.TypeDouble), opt(7, "text", schema.TypeString), opt(8, "blob", schema.TypeBinary),
		opt(9, "key", schema.TypeUUID), opt(10, "color", Color), opt(11, "point", point), opt(12, "shape", shape),
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
		opt(36, "wide", schema.ListOf(schema.StructOf(Wide))), opt(37, "cube", schema.ListOf(schema.ListOf(schema.ListOf(schema.TypeI8)))),
		opt(38, "colors", schema.ListOf(Color)), opt(39, "forest", schema.ListOf(schema.ListOf(schema.StructOf(Tree)))),
		opt(-32768, "bottom", schema.TypeI32), opt(-1, "negative", schema.TypeI32), opt(0, "zero", schema.TypeI32), opt(32767, "top", schema.TypeI32),
	)
	Strict.Define(
		schema.FieldDesc{ID: 1, Name: "id", Type: schema.TypeI32, Req: schema.Required},
		schema.FieldDesc{ID: 2, Name: "name", Type: schema.TypeString, Req: schema.Required},
		schema.FieldDesc{ID: 3, Name: "inner", Type: schema.StructOf(Strict), Req: schema.Optional},
		schema.FieldDesc{ID: 4, Name: "list", Type: schema.ListOf(schema.StructOf(Strict)), Req: schema.Optional},
		schema.FieldDesc{ID: 5, Name: "map", Type: schema.MapOf(schema.TypeString, schema.StructOf(Strict)), Req: schema.Optional},
		schema.FieldDesc{ID: 6, Name: "nested", Type: schema.ListOf(schema.ListOf(schema.StructOf(Strict))), Req: schema.Optional},
	)
	const pointWire = "\x08\x00\x01\x00\x00\x00\x03\x08\x00\x02\x00\x00\x00\x04\x00"
	for i, req := range []schema.Requiredness{schema.DefaultReq, schema.Required, schema.Optional} {
		id := func(n int) int16 { return int16(10*i + n) }
		name := func(s string) string { return fmt.Sprintf("%s%d", s, i) }
		DefaultFields = append(DefaultFields,
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
	Default.Define(DefaultFields...)
	Empty.Define()
	Tree.Define(
		opt(1, "name", schema.TypeString),
		opt(2, "children", schema.ListOf(schema.StructOf(Tree))),
		opt(3, "only", schema.StructOf(Tree)),
	)
	var wide []schema.FieldDesc
	for i := range 250 {
		wide = append(wide, opt(int16(i+1), fmt.Sprint("f", i+1), schema.TypeI64))
	}
	Wide.Define(wide...) // like generated code from before wide structs
}

// FieldNamed returns the constant that generated code has for the field with this name.
func FieldNamed(d *schema.Struct, name string) schema.Ref {
	for i := range d.Fields() {
		if d.Fields()[i].Name == name {
			return d.Field(i)
		}
	}
	panic(d.Name() + " has no field " + name)
}
