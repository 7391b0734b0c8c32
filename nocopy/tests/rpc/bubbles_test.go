package rpc_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestBubbles: a program's tests may use clients and servers in one bubble of package synctest
// after another, and outside. What is kept for other calls is never another bubble's.
func TestBubbles(t *testing.T) {
	calls := func(t *testing.T, conn rpc.Caller) {
		ctx, cancel := context.WithTimeout(bg, time.Hour)
		defer cancel()
		c := echo.NewEchoClient(conn)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				res, err := c.Add(ctx, func(args echo.EchoAddArgs) { args.SetA(1) })
				if err != nil {
					t.Error(err)
					return
				}
				res.Release()
				unharmed(t, c)
			})
		}
		wg.Wait()
	}
	newServer := func(t *testing.T) *rpc.Server {
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}), Logger: new(quiet).logger()}
		t.Cleanup(func() { srv.Close() })
		return srv
	}
	ways := map[string]func(t *testing.T){
		"HTTP": func(t *testing.T) {
			srv := newServer(t)
			calls(t, dialHTTP(t, "http://x", rpc.HTTPClient(&http.Client{
				Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					w := httptest.NewRecorder()
					srv.ServeHTTP(w, r)
					return w.Result(), nil
				})})))
		},
		"one message at a time": func(t *testing.T) {
			srv := newServer(t)
			calls(t, rpc.NewCaller(func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
				return srv.ServeMessage(ctx, call)
			}))
		},
	}
	for _, s := range spoken {
		ways[s.name] = func(t *testing.T) {
			l := make(pipes)
			serveOn(t, newServer(t), &handler{}, l)
			calls(t, dial(t, "", append(s.opts, rpc.Dialer(func(context.Context, string, string) (net.Conn, error) {
				return l.dial(), nil
			}))...))
		}
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				synctest.Test(t, way)
				t.Run("outside", way)
			}
		})
	}
}
