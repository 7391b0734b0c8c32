// Command plain uses messages and no JSON: TestNotLinked looks at what is linked into it.
package main

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
)

func main() {
	o := order.NewOrder()
	o.SetCustomer("plain")
	in, err := order.ParseOrder(o.Message().Bytes())
	fmt.Println(in, o, err)
}
