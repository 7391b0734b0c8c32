package rpc_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestUnimplemented: methods that a handler does not have are answered as unknown methods are, and
// the connection stays usable. Interceptors see them, and therefore Stats.Refused is not called.
func TestUnimplemented(t *testing.T) {
	seen := 0
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(struct{ echo.UnimplementedEchoHandler }{})}
	srv.Stats = &rpc.Stats{Refused: func(e rpc.ExceptionType) { t.Errorf("refused with %v", e) }}
	srv.Interceptors = []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		seen++
		return next(ctx, c)
	}}
	client := echo.NewEchoClient(rpctest.Serve(t, srv))
	defer func() {
		if seen != 2 {
			t.Errorf("interceptors have seen %d calls, not 2", seen)
		}
	}()
	for range 2 {
		_, err := client.Echo(context.Background(), nil)
		var answer *rpc.ApplicationException
		if !errors.As(err, &answer) || answer.Type != rpc.UnknownMethod || answer.Message != "echo" {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestNilHandler(t *testing.T) {
	defer func() {
		if got := recover(); got != "nocopy: NewEchoProcessor: the handler is nil" {
			t.Errorf("the panic is %v", got)
		}
	}()
	echo.NewEchoProcessor(nil)
}
