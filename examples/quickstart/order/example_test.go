package order_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
)

// A message is built, sent, received and changed.
func Example() {
	o := order.NewOrder()
	o.SetID(4711)
	o.SetCustomer("Ada")
	line := o.NewLines(1).At(0)
	line.SetArticle("analytical engine")
	line.SetCount(1)
	wire := o.Message().Bytes() // or WriteTo(conn), WriteFrame(conn)

	in, err := order.ParseOrder(wire) // checks everything once; no getter can fail
	if err != nil {
		panic(err)
	}
	// Up to 2 KiB the message is copied with it; in a larger one it is linked in.
	in.SetCustomer("Ada Lovelace")
	in.GetLines().At(0).SetCount(2)
	fmt.Println(in)
	in.Release()
	// Output: {id: 4711, customer: "Ada Lovelace", lines: [{article: "analytical engine", count: 2, price: 0}]}
}
