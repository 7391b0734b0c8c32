package rpc_test

import (
	"context"
	"fmt"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A client speaks the compact protocol with a server that accepts only that, in frames.
func ExampleProtocol() {
	srv := &rpc.Server{Wires: rpc.WireFramedCompact}
	c, _, end := serveKV(srv, rpc.Protocol(rpc.Compact))
	defer end()
	_, err := c.Create(context.Background(), func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("key")) })
	fmt.Println(err)
	// Output: <nil>
}

// A client speaks THeader, in compressed frames, and sends a header.
func ExampleTHeader() {
	p := kv.NewKeyValueProcessor(new(store)).WithHandler(func(ctx context.Context, c *rpc.Call) error {
		fmt.Println("tenant:", rpc.Header(ctx, "tenant"))
		return nil
	}, "create")
	c, _, end := serveKV(&rpc.Server{Processor: p}, rpc.THeader(rpc.Zlib))
	defer end()
	ctx := rpc.SetHeader(context.Background(), "tenant", "blue")
	_, err := c.Create(ctx, func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("key")) })
	fmt.Println(err)
	// Output:
	// tenant: blue
	// <nil>
}
