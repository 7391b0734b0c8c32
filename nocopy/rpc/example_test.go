package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// store is a handler: it implements what the IDL's service has.
type store struct {
	kv.KeyValueHandler // its methods that are not here are not called
	values             sync.Map
}

// Create declares an exception by filling it in.
func (s *store) Create(_ context.Context, args kv.KeyValueCreateArgs, result kv.KeyValueCreateResult) error {
	if _, exists := s.values.LoadOrStore(string(args.GetKey()), args.GetValue()); exists {
		result.NewExists().SetKey(args.GetKey())
	}
	return nil
}

// Retrieve does the same. Values read from args may be kept, since the server does not recycle.
func (s *store) Retrieve(_ context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	v, ok := s.values.Load(string(args.GetKey()))
	if !ok {
		result.NewMissing().SetKey(args.GetKey())
		return nil
	}
	result.SetSuccess(v.([]byte))
	return nil
}

// A server and a client.
func Example() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store))}
	go srv.Serve(l)
	defer srv.Shutdown(ctx)

	cl, err := rpc.Dial(ctx, "tcp", l.Addr().String()) // for any number of goroutines
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cl.Close()
	c := kv.NewKeyValueClient(cl)
	_, err = c.Create(ctx, func(args kv.KeyValueCreateArgs) {
		args.SetKey([]byte("key"))
		args.SetValue([]byte("value"))
	})
	fmt.Println(err)

	res, err := c.Retrieve(ctx, func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("key")) })
	fmt.Printf("%s %v\n", res.GetSuccess(), err)
	res.Release()

	_, err = c.Retrieve(ctx, func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("another")) })
	var missing kv.NotFound
	if errors.As(err, &missing) {
		fmt.Printf("not found: %s\n", missing.GetKey())
	}
	// Output:
	// <nil>
	// value <nil>
	// not found: another
}
