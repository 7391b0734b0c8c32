package testtypes

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// The types of messages as programs have them, and of messages that carry an index.
var (
	Request  = schema.NewStruct("Request")
	Caller   = schema.NewStruct("Caller")
	Business = schema.NewStruct("Business")
	Item     = schema.NewStruct("Item")
	Case     = schema.NewStruct("Case") // structs Business in a field, a list and a union
	CaseArms = schema.NewUnion("Arms")
	Fruit    = schema.NewStruct("Fruit")
	Orchard  = schema.NewStruct("Orchard")
)

func init() {
	Caller.Define(
		schema.FieldDesc{ID: 1, Name: "service", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "host", Type: schema.TypeString},
		schema.FieldDesc{ID: 3, Name: "pid", Type: schema.TypeI32},
	)
	Item.Define(
		schema.FieldDesc{ID: 1, Name: "sku", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "count", Type: schema.TypeI32},
		schema.FieldDesc{ID: 3, Name: "labels", Type: schema.MapOf(schema.TypeString, schema.TypeString)},
		schema.FieldDesc{ID: 4, Name: "prices", Type: schema.ListOf(schema.TypeI64)},
	)
	Business.Define(
		schema.FieldDesc{ID: 1, Name: "id", Type: schema.TypeI64},
		schema.FieldDesc{ID: 2, Name: "items", Type: schema.ListOf(schema.StructOf(Item))},
		schema.FieldDesc{ID: 3, Name: "totals", Type: schema.MapOf(schema.TypeString, schema.TypeI64)},
		schema.FieldDesc{ID: 4, Name: "times", Type: schema.ListOf(schema.TypeI64)},
		schema.FieldDesc{ID: 5, Name: "tags", Type: schema.ListOf(schema.TypeString)},
		schema.FieldDesc{ID: 6, Name: "byNumber", Type: schema.MapOf(schema.TypeI32, schema.StructOf(Caller))},
		schema.FieldDesc{ID: 7, Name: "matrix", Type: schema.ListOf(schema.ListOf(schema.TypeI32))},
		schema.FieldDesc{ID: 8, Name: "unique", Type: schema.SetOf(schema.TypeString)},
	)
	Request.Define(
		schema.FieldDesc{ID: 1, Name: "id", Type: schema.TypeI64, Req: schema.Required},
		schema.FieldDesc{ID: 2, Name: "user", Type: schema.TypeString},
		schema.FieldDesc{ID: 3, Name: "method", Type: schema.TypeString},
		schema.FieldDesc{ID: 4, Name: "token", Type: schema.TypeString},
		schema.FieldDesc{ID: 5, Name: "caller", Type: schema.StructOf(Caller)},
		schema.FieldDesc{ID: 6, Name: "flag", Type: schema.TypeBool},
		schema.FieldDesc{ID: 7, Name: "small", Type: schema.TypeI16},
		schema.FieldDesc{ID: 8, Name: "score", Type: schema.TypeDouble},
		schema.FieldDesc{ID: 9, Name: "color", Type: Color},
	)
	business := schema.StructOf(Business)
	CaseArms.Define(schema.FieldDesc{ID: 1, Name: "a", Type: business, Req: schema.Optional}, schema.FieldDesc{ID: 2, Name: "b", Type: schema.TypeI32, Req: schema.Optional})
	Case.Define(
		schema.FieldDesc{ID: 1, Name: "one", Type: business},
		schema.FieldDesc{ID: 2, Name: "list", Type: schema.ListOf(business)},
		schema.FieldDesc{ID: 3, Name: "arms", Type: schema.StructOf(CaseArms)},
	)
	Fruit.Define(schema.FieldDesc{ID: 1, Name: "name", Type: schema.TypeString}, schema.FieldDesc{ID: 2, Name: "n", Type: schema.TypeI32})
	leaf := schema.StructOf(Fruit)
	Orchard.Define(
		schema.FieldDesc{ID: 1, Name: "leaves", Type: schema.SetOf(leaf)},
		schema.FieldDesc{ID: 2, Name: "list", Type: schema.ListOf(leaf)},
		schema.FieldDesc{ID: 3, Name: "trees", Type: schema.ListOf(schema.StructOf(Orchard))},
		schema.FieldDesc{ID: 4, Name: "tree", Type: schema.StructOf(Orchard)},
		schema.FieldDesc{ID: 5, Name: "id", Type: schema.TypeI32},
	)
}

// WideOf returns a struct of n optional fields: numbers, texts, bools and lists in turn.
func WideOf(n int) *schema.Struct {
	d := schema.NewStruct(fmt.Sprint("Wide", n))
	list := schema.ListOf(schema.TypeI32)
	fields := make([]schema.FieldDesc, n)
	for i := range fields {
		t := []*schema.Type{schema.TypeI32, schema.TypeString, schema.TypeBool, list}[i%4]
		fields[i] = schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: t, Req: schema.Optional}
	}
	d.DefineWide(fields...)
	return d
}
