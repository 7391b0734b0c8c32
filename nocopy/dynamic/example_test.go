package dynamic_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// The fields of a struct in a file, and a message that is read, edited and forwarded.
func ExampleLoad() {
	s, err := dynamic.Load("../../examples/quickstart/order.thrift")
	if err != nil {
		fmt.Println(err) // file:line:column: message, a line for each mistake
		return
	}
	typ, err := s.Struct("Order")
	if err != nil {
		fmt.Println(err)
		return
	}
	for f := range typ.Fields() {
		fmt.Print(f.ID(), " ", f.Type(), " ", f.Name(), "\n")
	}
	received := []byte("\n\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07\x0b\x00\x02\x00\x00\x00\x03Ada\x00")
	msg, err := typ.Parse(received)
	if err != nil {
		fmt.Println(err)
		return
	}
	customer, err := msg.Get("customer")
	fmt.Println(customer, err)
	fmt.Println(msg.Set("customer", "Grace"))
	fmt.Println(msg.Set("customer", 7))
	fmt.Println(msg, len(msg.Message().Bytes()))
	// Output:
	// 1 i64 id
	// 2 string customer
	// 3 list<Line> lines
	// 4 binary document
	// 5 map<string, string> labels
	// Ada <nil>
	// <nil>
	// Order.customer: int instead of string
	// {id: 7, customer: "Grace"} 24
}

// Loading from texts instead of files, and messages from Go values and JSON.
func ExampleLoadText() {
	s, err := dynamic.LoadText(map[string]string{
		"shop.thrift":  "include 'color.thrift'\nstruct Item { 1: string name, 2: list<color.Color> colors }",
		"color.thrift": "enum Color { RED, GREEN }",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	item, err := s.Struct("Item")
	if err != nil {
		fmt.Println(err)
		return
	}
	msg, err := item.FromMap(map[string]any{"name": "hat", "colors": []any{"GREEN"}})
	fmt.Println(msg, err)
	text, err := nocopyjson.Marshal(msg)
	fmt.Println(string(text), err)
	msg, err = item.FromJSON([]byte(`{"name": "cap", "colors": ["RED"]}`))
	fmt.Println(dynamic.ToMap(msg), err)
	_, err = item.FromMap(map[string]any{"colors": []any{"RED", "BLUE"}})
	fmt.Println(err)
	_, err = dynamic.LoadText(map[string]string{"bad.thrift": "struct Item {\n  1: strin name\n}"})
	fmt.Println(err)
	// Output:
	// {name: "hat", colors: [GREEN]} <nil>
	// {"name":"hat","colors":["GREEN"]} <nil>
	// map[colors:[0] name:cap] <nil>
	// Item.colors[1]: no value of Color has this name
	// bad.thrift:2:6: unknown type strin, did you mean string?
}

// A server and a client of a service that is unknown when the program is compiled.
func ExampleService() {
	s, err := dynamic.LoadText(map[string]string{"bank.thrift": `
		exception Denied { 1: string why }
		service Bank { i64 withdraw(1: i64 amount) throws (1: Denied denied) }`})
	if err != nil {
		fmt.Println(err)
		return
	}
	bank, err := s.Service("Bank")
	if err != nil {
		fmt.Println(err)
		return
	}
	denied, _ := s.Struct("Denied")
	srv := &rpc.Server{Processor: bank.Processor(func(ctx context.Context, c *dynamic.Call) error {
		amount, err := c.Args.Get("amount")
		if err != nil {
			return err
		}
		if amount.Int() > 100 {
			e := denied.New()
			e.Set("why", "too much")
			return dynamic.Exception{Message: e}
		}
		return c.Return(100 - amount.Int())
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go srv.Serve(l)
	defer srv.Close()
	conn, err := rpc.Dial(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	client := bank.Client(conn)
	for _, amount := range []int{30, 1000} {
		args, err := client.NewArgs("withdraw")
		if err != nil {
			fmt.Println(err)
			return
		}
		args.Set("amount", amount)
		result, err := client.Call(context.Background(), "withdraw", args)
		var e dynamic.Exception
		if errors.As(err, &e) {
			why, _ := e.Get("why")
			fmt.Println("denied:", why)
			continue
		}
		left, _ := result.Get("success")
		fmt.Println(left, err)
	}
	// Output:
	// 70 <nil>
	// denied: too much
}

// A proxy for all methods of all services, without an IDL.
func ExampleForward() {
	proxy := func(backend string) (*rpc.Server, error) {
		c, err := rpc.Dial(context.Background(), "tcp", backend)
		if err != nil {
			return nil, err
		}
		return &rpc.Server{Processor: rpc.NewProcessor("", nil).WithFallback(dynamic.Forward(c))}, nil
	}
	_ = proxy
}
