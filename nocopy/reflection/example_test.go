package reflection_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

func anOrder() order.Order {
	o := order.NewOrder()
	o.SetID(7)
	o.SetCustomer("Ada")
	line := o.NewLines(1).At(0)
	line.SetArticle("kettle")
	line.SetCount(2)
	o.NewLabels().Put("ship", "now")
	return o
}

func ExampleMessage_Range() {
	for field, value := range reflection.Of(anOrder()).Range() {
		fmt.Println(field.Name(), "=", value)
	}
	// Output:
	// id = 7
	// customer = Ada
	// lines = [{article: "kettle", count: 2, price: 0}]
	// labels = {"ship": "now"}
}

func ExampleMessage_Lookup() {
	m := reflection.Of(anOrder())
	for _, path := range []string{"lines[0].article", `labels["ship"]`, "lines[1].count"} {
		v, err := m.Lookup(path)
		fmt.Println(v, err)
	}
	// Output:
	// kettle <nil>
	// now <nil>
	// <nil> path "lines[1].count", offset 5: not found: element 1 of 1
}

func ExampleMessage_Set() {
	o := anOrder()
	m := reflection.Of(o)
	fmt.Println(m.Set("customer", "Grace"), m.SetByID(1, 8))
	fmt.Println(o.GetCustomer(), o.GetID())
	fmt.Println(m.Set("customer", 5))
	// Output:
	// <nil> <nil>
	// Grace 8
	// Order.customer: int instead of string
}

func ExampleValue_List() {
	o := anOrder()
	lines, err := reflection.Of(o).Get("lines")
	if err != nil {
		fmt.Println(err)
		return
	}
	line := lines.List().AppendNew().Message()
	fmt.Println(line.Set("article", "tea"), line.Set("count", 10))
	for i, line := range lines.List().All() {
		fmt.Println(i, line)
	}
	// Output:
	// <nil> <nil>
	// 0 {article: "kettle", count: 2, price: 0}
	// 1 {article: "tea", count: 10, price: 0}
}
