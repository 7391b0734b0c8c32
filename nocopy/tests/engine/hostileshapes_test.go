// The messages of TestHostileSteps. Each line here and in hostileKeys adds a message.

package engine_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// keyed has maps with keys and sets with elements of every kind, and fields of its own type and of
// a union.
var keyed = schema.NewStruct("Keyed")

// arms is a union of many arms.
var arms = schema.NewUnion("Arms")

// hostileKeys are the types of keys and elements, by the names of Keyed's fields: map…, set… and
// list…. Every third comes often.
var hostileKeys = []struct {
	name string
	typ  *schema.Type
}{
	{"Bool", schema.TypeBool}, {"I8", schema.TypeI8}, {"I16", schema.TypeI16},
	{"I32", schema.TypeI32}, {"I64", schema.TypeI64}, {"Double", schema.TypeDouble},
	{"String", schema.TypeString}, {"Binary", schema.TypeBinary}, {"UUID", schema.TypeUUID},
	{"Point", schema.StructOf(pointDesc)}, {"Enum", colorType}, {"List", schema.ListOf(schema.TypeI32)},
	{"Map", schema.MapOf(schema.StructOf(pointDesc), schema.TypeI8)}, {"Set", schema.SetOf(schema.TypeString)}, {"Tree", schema.StructOf(treeDesc)},
	{"Points", schema.SetOf(schema.StructOf(pointDesc))},
}

func init() {
	fields := []schema.FieldDesc{
		{ID: 1, Name: "children", Type: schema.ListOf(schema.StructOf(keyed)), Req: schema.Optional},
		{ID: 2, Name: "arms", Type: schema.ListOf(schema.StructOf(arms)), Req: schema.Optional},
		{ID: 3, Name: "structs", Type: schema.MapOf(schema.TypeI64, schema.StructOf(keyed)), Req: schema.Optional},
		{ID: 4, Name: "lists", Type: schema.MapOf(schema.TypeI64, schema.ListOf(schema.TypeString)), Req: schema.Optional},
		{ID: 6, Name: "wides", Type: schema.ListOf(schema.StructOf(wideOf(2300))), Req: schema.Optional},
		{ID: 5, Name: "trees", Type: schema.ListOf(schema.StructOf(treeDesc)), Req: schema.Optional},
	}
	for i, k := range hostileKeys {
		id := int16(10 * (i + 1))
		fields = append(fields,
			schema.FieldDesc{ID: id, Name: "map" + k.name, Type: schema.MapOf(k.typ, schema.TypeString), Req: schema.Optional},
			schema.FieldDesc{ID: id + 1, Name: "set" + k.name, Type: schema.SetOf(k.typ), Req: schema.Optional},
			schema.FieldDesc{ID: id + 2, Name: "list" + k.name, Type: schema.ListOf(k.typ), Req: schema.Optional},
			schema.FieldDesc{ID: id + 3, Name: "sets" + k.name, Type: schema.ListOf(schema.SetOf(k.typ)), Req: schema.Optional},
			schema.FieldDesc{ID: id + 4, Name: "maps" + k.name, Type: schema.ListOf(schema.MapOf(k.typ, schema.TypeString)), Req: schema.Optional},
		)
	}
	keyed.Define(fields...)
	var many []schema.FieldDesc
	for i := range int16(57) {
		many = append(many, schema.FieldDesc{ID: i + 1, Name: fmt.Sprint("arm", i+1), Type: []*schema.Type{schema.TypeI32, schema.TypeString, schema.StructOf(pointDesc)}[i%3], Req: schema.Optional})
	}
	arms.Define(many...)
}
