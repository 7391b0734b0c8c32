package messages_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
)

// newOrder returns an order of two lines.
func newOrder() order.Order {
	o := order.NewOrder()
	o.SetID(7)
	o.SetCustomer("Ada")
	lines := o.NewLines(2)
	lines.At(0).SetArticle("pencil")
	lines.At(0).SetPrice(1.5)
	lines.At(1).SetArticle("paper")
	lines.At(1).SetPrice(4)
	o.SetLabelsMap(map[string]string{"colour": "red", "size": "A4"})
	return o
}

// Messages are compared by meaning, not by the order of their bytes.
func ExampleEqual() {
	a, b := newOrder(), newOrder()
	labels := b.NewLabels() // in another order
	labels.Put("size", "A4")
	labels.Put("colour", "red")
	fmt.Println(messages.Equal(a, b), messages.Equal(a.GetLabels(), b.GetLabels()))
	b.GetLines().Swap(0, 1)
	fmt.Println(messages.Equal(a, b))
	// Output:
	// true true
	// false
}

// An empty string differs from an unset one, unless EquateDefaults is given.
func ExampleEqual_options() {
	a, b := newOrder(), newOrder()
	a.SetCustomer("")
	b.UnsetCustomer()
	fmt.Println(messages.Equal(a, b), messages.Equal(a, b, messages.EquateDefaults))
	// Output: false true
}

// Merge adds the fields that are set in the second message to the first.
func ExampleMerge() {
	o, more := newOrder(), order.NewOrder()
	more.SetID(8)
	more.NewLines(1).At(0).SetArticle("ink")
	more.SetLabelsMap(map[string]string{"colour": "blue"})
	messages.Merge(o, more)
	fmt.Println(o.GetID(), o.GetCustomer(), o.GetLines().Len(), o.GetLabels())
	// Output: 8 Ada 3 {"colour": "blue", "size": "A4"}
}

// A struct is copied into an element of a list of another message.
func ExampleCopyInto() {
	from, to := newOrder(), order.NewOrder()
	messages.CopyInto(to.NewLines(0).AppendNew(), from.GetLines().At(1))
	from.Release() // the copy does not depend on it
	fmt.Println(to.GetLines())
	// Output: [{article: "paper", count: 0, price: 4}]
}

// A view for readers who may see only some fields.
func ExampleMask_Keep() {
	mask := messages.MustMask(order.OrderDesc, "id", "lines[*].article", `labels["size"]`)
	o := newOrder()
	mask.Keep(o)
	fmt.Println(o)
	// Output: {id: 7, lines: [{article: "pencil"}, {article: "paper"}], labels: {"size": "A4"}}
}

// Confidential fields are removed before a message leaves the company.
func ExampleMask_Drop() {
	o := newOrder()
	messages.MustMask(order.OrderDesc, "customer", "lines[0]", "labels").Drop(o)
	fmt.Println(o)
	// Output: {id: 7, lines: [{article: "paper", count: 0, price: 4}]}
}

// An update request names the fields that it changes. Named fields that it does not set are
// removed.
func ExampleMask_Copy() {
	o, request := newOrder(), order.NewOrder()
	request.NewLabels().Put("colour", "blue")
	mask, err := messages.NewMask(order.OrderDesc, `customer,labels["colour"]`)
	if err == nil {
		err = mask.Copy(o, request)
	}
	fmt.Println(o.IsSetCustomer(), o.GetLabels(), err)
	// Output: false {"colour": "blue", "size": "A4"} <nil>
}

// Set gives all selected places the same value.
func ExampleMask_Set() {
	o := newOrder()
	err := messages.MustMask(order.OrderDesc, "lines[*].price").Set(o, 0.0)
	fmt.Println(o.GetLines().At(1).GetPrice(), err)
	fmt.Println(messages.MustMask(order.OrderDesc, "lines[*].price").Set(o, "free"))
	// Output:
	// 0 <nil>
	// mask: lines[*].price: a string can't be set where the type is double
}

// Errors in a mask say where the mistake is.
func ExampleNewMask() {
	_, err := messages.NewMask(order.OrderDesc, "id", "lines[*].prise")
	fmt.Println(err)
	_, err = messages.NewMask(order.OrderDesc, "lines.price")
	fmt.Println(err)
	mask, _ := messages.NewMask(order.OrderDesc, "labels[\"a\"]", "lines[*].count", "lines[2]")
	fmt.Println(mask)
	// Output:
	// mask "lines[*].prise", offset 9: Line has no field "prise"
	// mask "lines.price", offset 6: field "price" of a list<Line>: [*], or an index or key, must come before it
	// lines[*].count,lines[2],labels["a"]
}
