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
// the connection stays usable.
func TestUnimplemented(t *testing.T) {
	client := echo.NewEchoClient(rpctest.Serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(struct{ echo.UnimplementedEchoHandler }{})}))
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
