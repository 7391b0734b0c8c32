package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// These tests show that settings hold over HTTP as they do on other connections.

// TestHTTPHealth: health checks are answered, and say when the server stops.
func TestHTTPHealth(t *testing.T) {
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			srv := &rpc.Server{Health: new(rpc.Health)}
			c := dialHTTP(t, start(t, srv, &handler{}))
			if err := rpc.CheckHealth(bg, c); err != nil {
				t.Error(err)
			}
			srv.Health.Set(rpc.StatusDead)
			var e *rpc.UnhealthyError
			if err := rpc.CheckHealth(bg, c); !errors.As(err, &e) || e.Status != rpc.StatusDead {
				t.Error(err)
			}
		})
	}
}

// TestHTTPUnix: HTTP is served on unix sockets, also where memory may be shared.
func TestHTTPUnix(t *testing.T) {
	for _, srv := range []*rpc.Server{{}, {SharedMemory: rpc.CopyFromPeer}} {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		serveOn(t, srv, &handler{}, l)
		unharmed(t, echo.NewEchoClient(dialHTTP(t, "http://unix", rpc.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}))))
	}
}

// TestHTTPLimits: both sides hold what they receive to Limits.
func TestHTTPLimits(t *testing.T) {
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			small := nocopy.Limits{MaxBytes: 1000}
			big := func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 2000)) }
			c := echo.NewEchoClient(dialHTTP(t, start(t, &rpc.Server{Limits: small}, &handler{})))
			var e *rpc.ApplicationException
			if _, err := c.Echo(bg, big); !errors.As(err, &e) || e.Type != rpc.ProtocolError {
				t.Error(err)
			}
			var status *rpc.HTTPError
			_, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 100_000)) })
			if !errors.As(err, &status) || status.Status != 413 {
				t.Error(err)
			}
			unharmed(t, c)
			c = echo.NewEchoClient(dialHTTP(t, start(t, &rpc.Server{}, &handler{}), rpc.Limits(small)))
			if _, err := c.Echo(bg, big); !errors.Is(err, nocopy.ErrLimit) {
				t.Error(err)
			}
			unharmed(t, c)
			add := strict(call, "add", 7, addArgs(40, 2))
			resp, err := http.Post(start(t, &rpc.Server{MaxFrame: len(add)}, &handler{}), "application/x-thrift", bytes.NewReader(add))
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != http.StatusOK {
				t.Errorf("a body of MaxFrame bytes: %s", resp.Status)
			}
		})
	}
}

// TestHTTPMaxInFlight: further calls of a client wait.
func TestHTTPMaxInFlight(t *testing.T) {
	t.Parallel()
	h := waitingHandler()
	c := echo.NewEchoClient(dialHTTP(t, "http://"+serve(t, &rpc.Server{}, h), rpc.MaxInFlight(1)))
	result := make(chan error, 1)
	go func() {
		_, err := c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") })
		result <- err
	}()
	<-h.waiting
	ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
	defer cancel()
	if _, err := c.Ping(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	close(h.release)
	if err := <-result; err != nil {
		t.Error(err)
	}
	unharmed(t, c)
}

// TestHTTPConnContext: calls have the context of their connection, and the client's address.
func TestHTTPConnContext(t *testing.T) {
	type key struct{}
	for _, h2 := range []bool{false, true} {
		var mu sync.Mutex
		conns, seen := 0, map[string]int{}
		srv := &rpc.Server{
			ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
				mu.Lock()
				defer mu.Unlock()
				conns++
				return context.WithValue(ctx, key{}, nc.RemoteAddr().String())
			},
			Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				mu.Lock()
				seen[fmt.Sprint(c.Method.Name, ctx.Value(key{}) == c.Peer.String())]++
				mu.Unlock()
				return next(ctx, c)
			}},
		}
		h := &handler{notified: make(chan string, 1)}
		var opts []rpc.Option
		if h2 {
			opts = append(opts, http2(t))
		}
		c := echo.NewEchoClient(dialHTTP(t, "http://"+serve(t, srv, h), opts...))
		for range 3 {
			unharmed(t, c)
		}
		if err := c.Notify(bg, nil); err != nil {
			t.Fatal(err)
		}
		<-h.notified
		mu.Lock()
		if conns != 1 || seen["addtrue"] != 3 || seen["notifytrue"] != 1 {
			t.Errorf("HTTP/2 %v: %d connections, %v", h2, conns, seen)
		}
		mu.Unlock()
	}
}

// TestHTTPHideErrors: texts that are hidden stay so, and multiplexed names are understood.
func TestHTTPHideErrors(t *testing.T) {
	p := rpc.Multiplexed(map[string]*rpc.Processor{"Echo": echo.NewEchoProcessor(&handler{})})
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			u := start(t, &rpc.Server{Processor: p, HideErrors: true, Lazy: true}, nil)
			c := echo.NewEchoClient(rpc.MultiplexedCaller(dialHTTP(t, u), "Echo"))
			unharmed(t, c)
			var e *rpc.ApplicationException
			_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode("undeclared") })
			if !errors.As(err, &e) || strings.Contains(e.Message, "disk") || withoutID(e.Message) != concealed {
				t.Error(err)
			}
			if _, err := echo.NewEchoClient(dialHTTP(t, u)).Ping(bg, nil); !errors.As(err, &e) || e.Type != rpc.UnknownMethod {
				t.Error(err)
			}
		})
	}
}

// TestHTTPAtOnce: many calls at the same time get their own replies.
func TestHTTPAtOnce(t *testing.T) {
	t.Parallel()
	for way, start := range httpWays {
		for _, h2 := range []bool{false, true} {
			t.Run(fmt.Sprint(way, ", HTTP/2: ", h2), func(t *testing.T) {
				t.Parallel()
				var opts []rpc.Option
				if h2 {
					opts = append(opts, http2(t))
				}
				c := echo.NewEchoClient(dialHTTP(t, start(t, &rpc.Server{Recycle: true, Concurrency: 5}, &handler{}), append(opts, rpc.MaxInFlight(20))...))
				var wg sync.WaitGroup
				for i := range 20 {
					wg.Go(func() {
						for j := range 10 {
							payload := bytes.Repeat([]byte{byte(i), byte(j)}, 10+i*500)
							res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
							if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
								t.Errorf("call %d of %d: %v", j, i, err)
							}
							res.Release()
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
