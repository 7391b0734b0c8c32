package nocopy_test

import (
	"bytes"
	"fmt"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// An ElementDecoder gives the lines of an order one by one while they arrive, however many they
// are. The other fields come as a message.
func ExampleElementDecoder() {
	conn := bytes.NewReader(anOrder())
	d := nocopy.NewElementDecoder[order.Order, order.Line](conn, "lines")
	for line, err := range d.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(line) // it ends with the next one
	}
	o, err := d.Rest()
	fmt.Println(o, d.Len(), err)
	o.Release()
	// Output:
	// {article: "engine", count: 0, price: 0}
	// {article: "cards", count: 100, price: 0}
	// {id: 4711, customer: "Ada", lines: []} 2 <nil>
}

// Head gives the fields that come before the list. Elements that are not needed need not be read.
func ExampleElementDecoder_Head() {
	conn := bytes.NewReader(append(anOrder(), anOrder()...))
	d := nocopy.NewElementDecoder[order.Order, order.Line](conn, "lines")
	for {
		head, err := d.Head() // io.EOF at the end
		if err != nil {
			fmt.Println(err)
			return
		}
		line, err := d.Next()
		fmt.Println(head.GetCustomer(), d.Len(), line.GetArticle(), err)
		head.Release()
	}
	// Output:
	// Ada 2 engine <nil>
	// Ada 2 engine <nil>
	// EOF
}

// WriteElements writes an order whose lines need not be in memory together. Here one message has
// each of them in turn.
func ExampleWriteElements() {
	o := order.NewOrder()
	o.SetID(4711)
	var conn bytes.Buffer
	n, err := nocopy.WriteElements(&conn, o, "lines", 1000, func(yield func(order.Line, error) bool) {
		var m nocopy.Message
		for i := range int32(1000) {
			line := nocopy.NewInto[order.Line](&m)
			line.SetArticle("engine")
			line.SetCount(i)
			if !yield(line, nil) {
				return
			}
		}
	})
	fmt.Println(n, err)
	all, err := order.ParseOrder(conn.Bytes())
	fmt.Println(all.GetLines().Len(), all.GetLines().At(999), err)
	// Output:
	// 32020 <nil>
	// 1000 {article: "engine", count: 999, price: 0} <nil>
}

// Split a message by a function of its elements. WriteElements copies their bytes, which for small
// elements is faster than Append.
func ExampleWriteElements_split() {
	o, err := order.ParseOrder(anOrder())
	if err != nil {
		panic(err)
	}
	defer o.Release()
	var parts [2][]order.Line
	for _, line := range o.GetLines().All() {
		k := len(line.GetArticle()) % 2
		parts[k] = append(parts[k], line)
	}
	for _, part := range parts {
		var shard bytes.Buffer
		lines := func(yield func(order.Line, error) bool) {
			for i := 0; i < len(part) && yield(part[i], nil); i++ {
			}
		}
		if _, err := nocopy.WriteElements(&shard, order.Order{}, "lines", len(part), lines); err != nil {
			panic(err)
		}
		s, err := order.ParseOrder(shard.Bytes())
		fmt.Println(s.GetLines(), err)
	}
	// Output:
	// [{article: "engine", count: 0, price: 0}] <nil>
	// [{article: "cards", count: 100, price: 0}] <nil>
}
