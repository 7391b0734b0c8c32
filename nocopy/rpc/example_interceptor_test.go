package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/echo"
)

// An interceptor of a server: it refuses some calls, and notes how the others end.
func ExampleInterceptor() {
	guard := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name == "version" {
			return errors.New("nobody may know")
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
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(new(handler)), Interceptors: []rpc.Interceptor{guard}}
	go srv.Serve(l)
	defer srv.Shutdown(ctx)

	cl, err := rpc.Dial(ctx, "tcp", l.Addr().String()) // rpc.Interceptors for a client
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cl.Close()
	c := echo.NewEchoClient(cl)
	sum, err := c.Add(ctx, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) })
	fmt.Println(sum.GetSuccess(), err)
	_, err = c.Version(ctx, nil)
	var refused *rpc.ApplicationException
	if errors.As(err, &refused) {
		fmt.Println(refused.Message)
	}
	// Output:
	// Echo.add tcp <nil>
	// 3 <nil>
	// nobody may know
}
