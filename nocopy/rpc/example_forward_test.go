package rpc_test

import (
	"context"
	"fmt"
	"net"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A proxy that puts a prefix before the keys of one method and forwards all calls, also of methods
// that its IDL does not have.
func ExampleForward() {
	ctx := context.Background()
	serve := func(srv *rpc.Server) (_ *rpc.Client, end func()) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		go srv.Serve(l)
		cl, err := rpc.Dial(ctx, "tcp", l.Addr().String())
		if err != nil {
			panic(err)
		}
		return cl, func() { cl.Close(); srv.Shutdown(ctx) }
	}
	backend, end := serve(&rpc.Server{Processor: kv.NewKeyValueProcessor(new(store))})
	defer end()

	forward := rpc.Forward(backend)
	proxy := kv.NewKeyValueProcessor(kv.UnimplementedKeyValueHandler{}).WithHandler(forward).WithFallback(forward)
	proxy = proxy.WithHandler(func(ctx context.Context, c *rpc.Call) error {
		if args, ok := rpc.ArgsOf[kv.KeyValueCreateArgs](c); ok {
			args.SetKey(append([]byte("tenant/"), args.GetKey()...))
		}
		return forward(ctx, c)
	}, "create")

	cl, end := serve(&rpc.Server{Processor: proxy, Lazy: true})
	defer end()
	c := kv.NewKeyValueClient(cl)
	_, err := c.Create(ctx, func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("a")); args.SetValue([]byte("1")) })
	fmt.Println(err)
	res, err := c.Retrieve(ctx, func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("tenant/a")) })
	fmt.Printf("%s %v\n", res.GetSuccess(), err)
	// Output:
	// <nil>
	// 1 <nil>
}
