package rpc_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

type connKey struct{}

// TestConnContext: all calls of a connection have the context that ConnContext made for it, and no
// other connection's. It ends with the connection; contexts of oneway calls do not.
func TestConnContext(t *testing.T) {
	for _, intercepted := range []bool{false, true} {
		var conns atomic.Int32
		ended := make(chan int32, 2)
		seen := make(chan context.Context, 1)
		h := &custom{
			fail:   func(ctx context.Context, _ echo.EchoFailArgs, _ echo.EchoFailResult) error { seen <- ctx; return nil },
			notify: func(ctx context.Context, _ echo.EchoNotifyArgs) error { seen <- ctx; return nil },
		}
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), HalfCloseTimeout: time.Millisecond,
			ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
				n := conns.Add(1)
				context.AfterFunc(ctx, func() { ended <- n })
				if nc.RemoteAddr() == nil {
					t.Error("a connection without an address")
				}
				return context.WithValue(ctx, connKey{}, n)
			}}
		if intercepted {
			srv.Interceptors = []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }}
		}
		addr := serve(t, srv, nil)
		for n := int32(1); n <= 2; n++ {
			nc := dialRaw(t, addr)
			var ctx context.Context
			for range 2 {
				send(t, nc, frame(strict(call, "fail", 1, []byte{0})))
				expect(t, nc, frame(strict(reply, "fail", 1, []byte{0})))
				if ctx = <-seen; ctx.Value(connKey{}) != n {
					t.Errorf("connection %d: a call has the value %v", n, ctx.Value(connKey{}))
				}
			}
			send(t, nc, frame(strict(oneway, "notify", 1, []byte{0})))
			of := <-seen
			if of.Value(connKey{}) != n {
				t.Errorf("connection %d: a oneway call has the value %v", n, of.Value(connKey{}))
			}
			child, cancel := context.WithCancel(of)
			defer cancel()
			nc.Close()
			if <-ended != n {
				t.Error("another connection's context has ended")
			}
			<-ctx.Done()
			if err := child.Err(); err != nil || of.Err() != nil || context.Cause(of) != nil {
				t.Errorf("the context of a oneway call ends with its connection: %v", err)
			}
			if n == 2 {
				srv.Close()
				<-child.Done()
			}
		}
	}
}

// TestConnContextCloses: a handler can close its connection; other connections go on.
func TestConnContextCloses(t *testing.T) {
	h := &custom{fail: func(ctx context.Context, _ echo.EchoFailArgs, _ echo.EchoFailResult) error {
		return ctx.Value(connKey{}).(net.Conn).Close()
	}}
	addr := serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h),
		ConnContext: func(ctx context.Context, nc net.Conn) context.Context { return context.WithValue(ctx, connKey{}, nc) }}, nil)
	other := echo.NewEchoClient(dial(t, addr))
	nc := dialRaw(t, addr)
	send(t, nc, frame(strict(call, "fail", 1, []byte{0})))
	if b, err := io.ReadAll(nc); len(b) > 0 {
		t.Errorf("%q, %v from a connection that was closed", b, err)
	}
	unharmed(t, other)
}

// TestConnContextTLS: it is called after the handshake.
func TestConnContextTLS(t *testing.T) {
	cert, pool := certificate(t)
	complete := make(chan bool, 1)
	addr := serve(t, &rpc.Server{TLS: &tls.Config{Certificates: []tls.Certificate{cert}},
		ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
			complete <- nc.(*tls.Conn).ConnectionState().HandshakeComplete
			return ctx
		}}, &handler{})
	unharmed(t, echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1), rpc.TLS(&tls.Config{RootCAs: pool}))))
	if !<-complete {
		t.Error("it is called before the handshake")
	}
}

// TestConnContextCareless: for any mistake in ConnContext, the connection is closed and gives up
// its place, and the server goes on.
func TestConnContextCareless(t *testing.T) {
	for name, f := range map[string]func(ctx context.Context, nc net.Conn) context.Context{
		"panic": func(context.Context, net.Conn) context.Context { panic("no context") },
		"nil":   func(context.Context, net.Conn) context.Context { return nil },
		"exit":  func(context.Context, net.Conn) context.Context { runtime.Goexit(); return nil },
		"close": func(ctx context.Context, nc net.Conn) context.Context { nc.Close(); return ctx },
	} {
		t.Run(name, func(t *testing.T) {
			q, calm := new(quiet), atomic.Bool{}
			addr := serve(t, &rpc.Server{Logger: q.logger(), MaxConns: 1,
				ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
					if calm.Load() {
						return ctx
					}
					return f(ctx, nc)
				}}, &handler{})
			for range 3 {
				if b, _ := io.ReadAll(dialRaw(t, addr)); len(b) > 0 {
					t.Errorf("the server has sent %q", b)
				}
			}
			if name == "panic" || name == "nil" {
				logs(t, q, map[string]string{"panic": "no context", "nil": "nil Context"}[name])
			}
			calm.Store(true)
			unharmed(t, echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1))))
		})
	}
}
