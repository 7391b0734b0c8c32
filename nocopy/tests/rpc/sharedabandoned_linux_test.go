//go:build !nounsafe

package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestSharedAbandoned: if an interceptor does not wait for its handler, the handler's memory stays
// until the handler returns, and no longer. Then the client has its room again, and when the
// connection has ended nothing is mapped.
func TestSharedAbandoned(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	for _, mode := range sharedModes {
		before := maps(t)
		ended := make(chan struct{}, 100) // a handler that was not waited for
		hurry := errors.New("not waited for")
		impatient := func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
			if !echo.EchoEchoArgs(call.Args).IsSetDelayMs() {
				return next(ctx, call)
			}
			c := *call
			entered := make(chan struct{})
			go func() {
				close(entered)
				next(context.WithoutCancel(ctx), &c)
				ended <- struct{}{}
			}()
			<-entered
			time.Sleep(2 * time.Millisecond)
			return hurry
		}
		slow := func(ctx context.Context, call *rpc.Call) error {
			args, result := echo.EchoEchoArgs(call.Args), echo.EchoEchoResult(call.Result)
			payload := bytes.Clone(args.GetPayload())
			if args.IsSetDelayMs() {
				time.Sleep(20 * time.Millisecond)
			}
			if !bytes.Equal(args.GetPayload(), payload) {
				t.Error("the arguments have changed")
			}
			result.SetSuccess(payload)
			return nil
		}
		srv := &rpc.Server{SharedMemory: mode, MaxShared: 1 << 20, Interceptors: []rpc.Interceptor{impatient},
			Processor: echo.NewEchoProcessor(&handler{}).WithHandler(slow, "echo")}
		path := serveUnix(t, srv, nil)
		cl := dial(t, path, mode, rpc.PoolSize(1), rpc.MaxShared(1<<20))
		c := echo.NewEchoClient(cl)
		for i := range 30 { // more than there is room for
			res, err := c.Echo(bg, func(args echo.EchoEchoArgs) {
				args.SetPayload(numbered(100_000, i))
				if args.UnsetDelayMs(); i%3 > 0 {
					args.SetDelayMs(1)
				}
			})
			if i%3 > 0 {
				if err == nil {
					t.Errorf("call %d: no error", i)
				}
			} else if err != nil || !bytes.Equal(res.GetSuccess(), numbered(100_000, i)) {
				t.Errorf("call %d: %v", i, err)
			}
			if err == nil {
				res.Release()
			}
		}
		for range 20 { // calls that ended with an error
			<-ended
		}
		cl.Close()
		mapped(t, before)
	}
}

// TestSharedForwarded: results that Forward has received, but that no reply was made from, are
// released when the call ends: the backend has its room again, and when the connection has ended
// nothing is mapped.
func TestSharedForwarded(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	wrong := errors.New("the result is not good enough")
	for name, how := range map[string]func(ctx context.Context, call *rpc.Call, next rpc.Handler) error{
		"good": func(ctx context.Context, call *rpc.Call, next rpc.Handler) error { return next(ctx, call) },
		"an error": func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
			if err := next(ctx, call); err != nil {
				t.Error(err)
			}
			return wrong
		},
		"twice": func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
			if err := next(ctx, call); err != nil {
				t.Error(err)
			}
			return next(ctx, call)
		},
		"a copy": func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
			other := *call
			if err := next(ctx, &other); err != nil {
				t.Error(err)
			}
			defer other.Result.Release() // it may be the handler's
			return next(ctx, call)
		},
		"the first": func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
			other := *call
			if err := errors.Join(next(ctx, call), next(ctx, &other)); err != nil {
				t.Error(err)
			}
			first := call.Result
			call.Result = other.Result
			other.Result = first
			defer first.Release()
			return nil
		},
		"another": func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
			if err := next(ctx, call); err != nil {
				t.Error(err)
			}
			own := echo.NewEchoEchoResult()
			own.SetSuccess([]byte("another"))
			call.Result = nocopy.Struct(own)
			return nil
		},
		"released": func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
			if err := next(ctx, call); err != nil {
				t.Error(err)
			}
			call.Result.Release()
			return wrong
		},
	} {
		for _, inHandler := range []bool{false, true} {
			if inHandler && name == "the first" { // a value that was put into a copy is the handler's
				continue
			}
			t.Run(fmt.Sprint(name, inHandler), func(t *testing.T) {
				before := maps(t)
				backend := serveUnix(t, &rpc.Server{SharedMemory: rpc.TrustPeer}, &handler{})
				far := dial(t, backend, rpc.TrustPeer, rpc.PoolSize(1))
				forward := rpc.Forward(far)
				srv := &rpc.Server{}
				if inHandler {
					inner := forward
					forward = func(ctx context.Context, call *rpc.Call) error { return how(ctx, call, inner) }
				} else {
					srv.Interceptors = []rpc.Interceptor{how}
				}
				srv.Processor = echo.NewEchoProcessor(&handler{}).WithHandler(forward, "echo")
				near := dial(t, serveUnix(t, srv, nil))
				for i := range 5 {
					res, err := echo.NewEchoClient(near).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(numbered(100_000, i)) })
					if err == nil {
						if b := res.GetSuccess(); string(b) != "another" && !bytes.Equal(b, numbered(100_000, i)) {
							t.Errorf("call %d: %d bytes", i, len(b))
						}
						res.Release()
					} else if name != "an error" && name != "released" {
						t.Errorf("call %d: %v", i, err)
					}
				}
				far.Close()
				mapped(t, before)
			})
		}
	}
}
