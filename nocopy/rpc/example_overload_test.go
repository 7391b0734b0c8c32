package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A server that handles one call at a time, and lets none wait, refuses a second one. The client
// learns that the call was not handled. With [rpc.Retry] it would make it again.
func ExampleServer_overload() {
	begun, finish := make(chan bool), make(chan bool)
	slow := func(context.Context, *rpc.Call) error {
		begun <- true
		<-finish
		return nil
	}
	srv := &rpc.Server{
		Processor:   rpc.NewProcessor("Work", nil).WithFallback(slow),
		MaxInFlight: 1,
		MaxQueued:   -1, // 0 would let as many wait as are handled
		Logger:      slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	caller := rpc.NewCaller(func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
		return srv.ServeMessage(ctx, append([]byte(nil), call...))
	})
	method := rpc.RawMethod("work", false)
	first := make(chan error)
	go func() {
		_, err := caller.Call(context.Background(), method, caller.NewArgs(method))
		first <- err
	}()
	<-begun
	_, err := caller.Call(context.Background(), method, caller.NewArgs(method))
	fmt.Println(err)
	fmt.Println(errors.Is(err, rpc.ErrNotHandled))
	close(finish)
	fmt.Println(<-first)
	// Output:
	// rpc: work: load shedding: too many calls are under way; this call was not handled
	// true
	// <nil>
}
