package rpc_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestDialer: a client calls the function that it was given, and uses the returned connection. The
// function's error is the call's. If it returns neither, that is an error, too.
func TestDialer(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{}, &handler{})
	var dials atomic.Int32
	c := echo.NewEchoClient(dial(t, "elsewhere:1", rpc.Dialer(func(ctx context.Context, network, asked string) (net.Conn, error) {
		if dials.Add(1); asked != "elsewhere:1" {
			t.Errorf("asked for %s", asked)
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	})))
	r, err := c.Add(t.Context(), func(args echo.EchoAddArgs) { args.SetA(2); args.SetB(3) })
	if err != nil || r.GetSuccess() != 5 {
		t.Errorf("%v, %v", r, err)
	}
	if dials.Load() == 0 {
		t.Error("the function was not called")
	}
	away := errors.New("away")
	if _, err := rpc.Dial(t.Context(), "tcp", addr, rpc.Dialer(func(context.Context, string, string) (net.Conn, error) { return nil, away })); !errors.Is(err, away) {
		t.Errorf("the dialling's error is %v", err)
	}
	if _, err := rpc.Dial(t.Context(), "tcp", addr, rpc.Dialer(func(context.Context, string, string) (net.Conn, error) { return nil, nil })); err == nil {
		t.Error("no error without a connection")
	}
	defer func() {
		if p, _ := recover().(string); !strings.HasPrefix(p, "nocopy: ") {
			t.Errorf("Dialer(nil) panics with %q", p)
		}
	}()
	rpc.Dialer(nil)
}
