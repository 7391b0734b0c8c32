package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// An interceptor of a server: it refuses some calls, and notes how the others end.
func ExampleInterceptor() {
	guard := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name == "delete" {
			return errors.New("nobody may delete")
		}
		err := next(ctx, c)
		fmt.Println(c.Method, c.Peer.Network(), err)
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store)), Interceptors: []rpc.Interceptor{guard}}
	go srv.Serve(l)
	defer srv.Shutdown(ctx)

	cl, err := rpc.Dial(ctx, "tcp", l.Addr().String()) // rpc.Interceptors for a client
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cl.Close()
	c := kv.NewKeyValueClient(cl)
	_, err = c.Create(ctx, func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("key")) })
	fmt.Println(err)
	_, err = c.Delete(ctx, func(args kv.KeyValueDeleteArgs) { args.SetKey([]byte("key")) })
	var refused *rpc.ApplicationException
	if errors.As(err, &refused) {
		fmt.Println(refused.Message)
	}
	// Output:
	// KeyValue.create tcp <nil>
	// <nil>
	// nobody may delete
}
