package dynamic_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// BenchmarkParse compares parsing a message by a loaded type with parsing it by the generated
// type.
func BenchmarkParse(b *testing.B) {
	o := order.NewOrder()
	o.SetID(1)
	o.SetCustomer("Ada Lovelace")
	lines := o.NewLines(20)
	for i := range 20 {
		lines.At(i).SetArticle("article")
		lines.At(i).SetCount(int32(i))
	}
	wire := o.Message().Bytes()
	typ := mustStruct(b, mustLoad(b, "../../../examples/quickstart/order.thrift"), "Order")
	b.Run("generated", func(b *testing.B) {
		for range b.N {
			m, err := order.ParseOrder(wire, nocopy.Recycle)
			if err != nil {
				b.Fatal(err)
			}
			m.Release()
		}
	})
	b.Run("dynamic", func(b *testing.B) {
		for range b.N {
			m, err := typ.Parse(wire, nocopy.Recycle)
			if err != nil {
				b.Fatal(err)
			}
			m.Release()
		}
	})
	b.Run("dynamic, three fields", func(b *testing.B) {
		for range b.N {
			m, err := typ.Parse(wire, nocopy.Recycle)
			if err != nil {
				b.Fatal(err)
			}
			id, _ := m.GetByID(1)
			name, _ := m.Get("customer")
			count, _ := m.Lookup("lines[3].count")
			if id.Int() != 1 || name.Text() == "" || count.Int() != 3 {
				b.Fatal(id, name, count)
			}
			m.Release()
		}
	})
}
