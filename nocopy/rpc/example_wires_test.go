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
