package rpctest_test

import (
	"context"
	"fmt"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
)

// fake implements a service for a test that needs one method of it.
type fake struct {
	kv.UnimplementedKeyValueHandler
}

func (fake) Retrieve(_ context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	result.SetSuccess(append([]byte("value of "), args.GetKey()...))
	return nil
}

// A handler, or a fake in its place, is called through a client in memory. In a test Serve stops
// both when the test ends.
func Example() {
	client, stop := rpctest.Start(&rpc.Server{Processor: kv.NewKeyValueProcessor(fake{})})
	defer stop()
	calls := rpctest.NewRecorder(client)
	c := kv.NewKeyValueClient(calls)

	r, err := c.Retrieve(context.Background(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("x")) })
	fmt.Printf("%s %v\n", r.GetSuccess(), err)
	fmt.Println(calls.Calls()[0].Method)
	// Output:
	// value of x <nil>
	// KeyValue.retrieve
}
