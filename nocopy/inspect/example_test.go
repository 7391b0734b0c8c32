package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A message without an IDL: ids and types.
func ExampleDump() {
	o := order.NewOrder()
	o.SetID(4711)
	o.SetCustomer("Ada")
	if err := inspect.Dump(os.Stdout, bytes.NewReader(o.Message().Bytes()), inspect.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # structs
	//          0                                       struct
	//          0  0a 00 01 00 00 00 00 00 00 12 67       1: i64 4711
	//         11  0b 00 02 00 00 00 03 41 64 61          2: string "Ada"
	//         21  00                                     STOP
}

// With the IDL fields have names.
func ExampleLoadIDL() {
	idl, err := inspect.LoadIDL("../../examples/quickstart/order.thrift")
	if err != nil {
		fmt.Println(err)
		return
	}
	o := order.NewOrder()
	o.SetID(4711)
	line := o.NewLines(1).At(0)
	line.SetArticle("engine")
	line.SetCount(2)
	inspect.Dump(os.Stdout, bytes.NewReader(o.Message().Bytes()), inspect.Options{IDL: idl, Type: "Order"})
	// Output:
	// # structs
	//          0                                       Order
	//          0  0a 00 01 00 00 00 00 00 00 12 67       1 id: i64 4711
	//         11  0f 00 03 0c 00 00 00 01                3 lines: list<Line> of 1
	//         19                                           [0]: Line
	//         19  08 00 02 00 00 00 02                       2 count: i32 2
	//         26  04 00 03 00 00 00 00 00 00 00 00           3 price: double 0
	//         37  0b 00 01 00 00 00 06 65 6e 67 69 6e        1 article: string "engine"
	//         49  65
	//         50  00                                         STOP
	//         51  00                                     STOP
}

// Malformed bytes are dumped up to the fault.
func ExampleDump_malformed() {
	err := inspect.Dump(os.Stdout, strings.NewReader("\x08\x00\x01\x00\x00\x00\x2a\x0b\x00\x02\x00\x00\x00\x09abc"), inspect.Options{})
	var fault *nocopy.Error
	fmt.Println(errors.As(err, &fault), fault.Offset, fault.Path)
	// Output:
	// # structs
	//          0                                       struct
	//          0  08 00 01 00 00 00 2a                   1: i32 42
	//          7  0b 00 02 00 00 00 09 61 62 63          2: string "abc"… 9 bytes
	//         17                                         FAULT at offset 17, 2: unexpected EOF
	// true 17 2
}

// Each row as a JSON object.
func ExampleDump_json() {
	inspect.Dump(os.Stdout, strings.NewReader("\x08\x00\x01\x00\x00\x00\x2a\x00"), inspect.Options{JSON: true})
	// Output:
	// {"offset":0,"size":0,"kind":"input","depth":0,"form":"struct"}
	// {"offset":0,"size":0,"kind":"struct","depth":0,"type":"struct"}
	// {"offset":0,"size":7,"hex":"0800010000002a","kind":"field","depth":1,"path":"1","id":1,"type":"i32","value":42}
	// {"offset":7,"size":1,"hex":"00","kind":"stop","depth":1}
}

// store is a handler that accepts every value and keeps none.
type store struct {
	kv.UnimplementedKeyValueHandler
}

func (*store) Update(context.Context, kv.KeyValueUpdateArgs, kv.KeyValueUpdateResult) error {
	return nil
}

// A Tap on the connections of a server.
func ExampleTap() {
	idl, err := inspect.LoadIDL("../../examples/kv/kvstore.thrift")
	if err != nil {
		fmt.Println(err)
		return
	}
	var seen bytes.Buffer // for example os.Stderr
	tap, err := inspect.NewTap(&seen, inspect.Options{IDL: idl})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store))}
	go srv.Serve(tap.Listener(l))
	defer srv.Close()

	ctx := context.Background()
	cl, err := rpc.Dial(ctx, "tcp", l.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	kv.NewKeyValueClient(cl).Update(ctx, func(args kv.KeyValueUpdateArgs) { args.SetKey([]byte("key")) })
	cl.Close()

	tap.Wait(ctx)
	for line := range strings.Lines(seen.String()) {
		if !strings.HasPrefix(line, "#") { // lines with the time and the addresses
			fmt.Print(line)
		}
	}
	// Output:
	//          0  00 00 00 1d                          frame of 29 bytes
	//          4  80 01 00 01 00 00 00 06 75 70 64 61    message: call "update", sequence id 1
	//         16  74 65 00 00 00 01
	//         22  0b 00 01 00 00 00 03 6b 65 79            1 key: binary 0x6b6579
	//         32  00                                       STOP
	//          0  00 00 00 13                          frame of 19 bytes
	//          4  80 01 00 02 00 00 00 06 75 70 64 61    message: reply "update", sequence id 1
	//         16  74 65 00 00 00 01
	//         22  00                                       STOP
}
