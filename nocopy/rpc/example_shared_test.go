package rpc_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Large messages between processes of one host go through memory that both map, on Linux.
// Elsewhere the unix socket carries them.
func ExampleSharedMemory() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store)), SharedMemory: rpc.CopyFromPeer}
	go srv.Serve(l)
	defer srv.Shutdown(ctx)

	cl, err := rpc.Dial(ctx, "unix", path, rpc.SharedMemory(rpc.CopyFromPeer))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cl.Close()
	c := kv.NewKeyValueClient(cl)
	_, err = c.Create(ctx, func(args kv.KeyValueCreateArgs) {
		args.SetKey([]byte("key"))
		args.SetValue(make([]byte, 1<<20))
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Retrieve(ctx, func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("key")) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(res.GetSuccess()), "bytes")
	res.Release()
	// Output: 1048576 bytes
}
