package rpc_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestOneConnection: with OneConnection, a client dials once, under any PoolSize. When that
// connection has ended, by the server, the client or both being idle, calls fail at once with
// ErrNotSent and the reason; Retry does not repeat them.
func TestOneConnection(t *testing.T) {
	for _, end := range []struct {
		name string
		opts []rpc.Option
		idle time.Duration // of the server
		want string
	}{
		{"closed by the server", []rpc.Option{rpc.PoolSize(5)}, 0, "closed by the server"},
		{"unframed", []rpc.Option{rpc.Unframed}, 0, "closed by the server"},
		{"idle for the server", nil, time.Second, "closed by the server"},
		{"idle for the client", []rpc.Option{rpc.IdleTimeout(time.Second)}, 0, "closed by the client, being idle or old"},
	} {
		t.Run(end.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var dialled, tries atomic.Int32
				count := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
					tries.Add(1)
					return next(ctx, c)
				}
				srv := &rpc.Server{IdleTimeout: end.idle}
				l := make(pipes)
				serveOn(t, srv, &handler{}, l)
				c := echo.NewEchoClient(dial(t, "", append(end.opts, rpc.OneConnection,
					rpc.Dialer(func(context.Context, string, string) (net.Conn, error) {
						dialled.Add(1)
						return l.dial(), nil
					}), rpc.Interceptors(rpc.Retry(rpc.RetryPolicy{Idempotent: []string{"add"}}), count),
					rpc.Logger(slog.New(slog.DiscardHandler)))...))
				calls := make(chan error, 20)
				for range cap(calls) { // at the same time: no second connection is made for them
					go func() { _, err := c.Add(bg, nil); calls <- err }()
				}
				for range cap(calls) {
					if err := <-calls; err != nil {
						t.Fatal(err)
					}
				}
				if end.idle == 0 && !strings.Contains(end.want, "the client") {
					srv.Close()
				}
				var err error
				settles(t, "calls fail", func() bool {
					time.Sleep(1200 * time.Millisecond) // a call would keep the connection from being idle
					tries.Store(0)
					_, err = c.Add(bg, nil)
					return err != nil
				})
				for range 3 {
					before := time.Now()
					tries.Store(0)
					if _, err = c.Add(bg, nil); !errors.Is(err, rpc.ErrNotSent) || !strings.Contains(err.Error(), "the client makes no other: "+end.want) {
						t.Errorf("the error is %v", err)
					}
					if tries.Load() != 1 || time.Since(before) > time.Minute {
						t.Errorf("%d tries", tries.Load())
					}
				}
				if end.want == "closed by the server" && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
					t.Error(err)
				}
				if n := dialled.Load(); n != 1 {
					t.Errorf("%d connections", n)
				}
			})
		})
	}
}

// TestOneConnectionIsClosed: closing such a client is as closing any.
func TestOneConnectionIsClosed(t *testing.T) {
	t.Parallel()
	conn := dial(t, serve(t, &rpc.Server{}, &handler{}), rpc.OneConnection)
	conn.Close()
	if _, err := echo.NewEchoClient(conn).Add(bg, nil); !errors.Is(err, rpc.ErrClientClosed) {
		t.Error(err)
	}
}
