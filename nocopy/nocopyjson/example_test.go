package nocopyjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
)

func ExampleMarshal() {
	o := order.NewOrder()
	o.SetID(4711)
	o.SetCustomer("Ada")
	o.NewLabels(1).Put("gift", "yes")
	text, err := nocopyjson.Marshal(o)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", text)

	text, err = nocopyjson.Marshal(o, nocopyjson.Int64Strings, nocopyjson.ZeroValues)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", text)
	// Output:
	// {"id":4711,"customer":"Ada","labels":{"gift":"yes"}}
	// {"id":"4711","customer":"Ada","lines":[],"document":"","labels":{"gift":"yes"}}
}

func ExampleUnmarshal() {
	var o order.Order
	err := nocopyjson.Unmarshal([]byte(`{"id": 4711, "lines": [{"article": "analytical engine", "count": 1}]}`), &o)
	if err != nil {
		panic(err)
	}
	defer o.Release()
	fmt.Println(o.GetLines().At(0).GetArticle())
	fmt.Println(o.Message().Len(), "bytes of Thrift")
	// Output:
	// analytical engine
	// 52 bytes of Thrift
}

func ExampleUnmarshal_errors() {
	var o order.Order
	err := nocopyjson.Unmarshal([]byte(`{"id": 4711, "lines": [{"article": "engine", "count": 1.5}]}`), &o)
	fmt.Println(err)

	var bad *nocopy.Error
	if errors.As(err, &bad) && errors.Is(err, nocopyjson.ErrValue) {
		fmt.Println(bad.Path, bad.Offset)
	}
	err = nocopyjson.Unmarshal([]byte(`{"id": 4711, "payed": true}`), &o)
	fmt.Println(err)
	fmt.Println(nocopyjson.Unmarshal([]byte(`{"id": 4711, "payed": true}`), &o, nocopyjson.AllowUnknown), o)
	// Output:
	// nocopy: Order.lines[0].count: offset 54: value of another type: not a whole number
	// Order.lines[0].count 54
	// nocopy: Order: offset 13: unknown field: "payed"; nocopyjson.AllowUnknown skips unknown fields
	// <nil> {id: 4711}
}

// encoding/json writes and reads messages that are part of Go values.
func Example_encodingJSON() {
	type envelope struct {
		Sender string      `json:"sender"`
		Order  order.Order `json:"order"`
	}
	var e envelope
	if err := json.Unmarshal([]byte(`{"sender": "shop", "order": {"id": 4711}}`), &e); err != nil {
		panic(err)
	}
	e.Order.SetCustomer("Ada")
	text, err := json.Marshal(e)
	fmt.Println(string(text), err)
	// Output:
	// {"sender":"shop","order":{"id":4711,"customer":"Ada"}} <nil>
}

func ExampleRead() {
	body := strings.NewReader(`{"id": 4711}`)
	var o order.Order
	if err := nocopyjson.Read(body, &o, nocopy.Limits{MaxBytes: 1 << 20}, nocopy.Recycle); err != nil {
		panic(err)
	}
	fmt.Println(o.GetID())
	o.Release()
	// Output:
	// 4711
}

func ExampleWrite() {
	o := order.NewOrder()
	o.SetID(4711)
	if err := nocopyjson.Write(os.Stdout, o); err != nil {
		panic(err)
	}
	// Output:
	// {"id":4711}
}

func ExampleAppend() {
	o := order.NewOrder()
	o.SetID(4711)
	line, err := nocopyjson.Append([]byte("data: "), o)
	fmt.Printf("%s\n", append(line, '\n'))
	fmt.Println(err)
	// Output:
	// data: {"id":4711}
	//
	// <nil>
}

// The type may be known only by its descriptor.
func ExampleUnmarshalAs() {
	d := order.Order{}.ThriftDesc()
	s, err := nocopyjson.UnmarshalAs(d, []byte(`{"id": 4711}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(s.StringAs(d))
	// Output:
	// {id: 4711}
}

// AllowUnknown skips fields of a newer IDL. Limits bounds the text.
func ExampleUnmarshal_options() {
	text := []byte(`{"id": 4711, "currency": "EUR"}`)
	var o order.Order
	fmt.Println(nocopyjson.Unmarshal(text, &o))
	fmt.Println(nocopyjson.Unmarshal(text, &o, nocopyjson.AllowUnknown), o)
	err := nocopyjson.Unmarshal(text, &o, nocopyjson.AllowUnknown, nocopy.Limits{MaxBytes: 10})
	fmt.Println(errors.Is(err, nocopy.ErrLimit))
	// Output:
	// nocopy: Order: offset 13: unknown field: "currency"; nocopyjson.AllowUnknown skips unknown fields
	// <nil> {id: 4711}
	// true
}
