package rpc_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// eventually waits until f holds.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not so", what)
		}
	}
}

func waitingHandler() *handler {
	return &handler{notified: make(chan string, 10), waiting: make(chan struct{}, 10), release: make(chan struct{})}
}

// TestHTTPShutdown: calls under way are answered, idle connections end, and nothing else is
// handled afterwards.
func TestHTTPShutdown(t *testing.T) {
	for _, way := range []string{"own port", "router", "own port, HTTP/2"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h, srv := waitingHandler(), &rpc.Server{}
			start, h2 := strings.CutSuffix(way, ", HTTP/2")
			u := httpWays[start](t, srv, h)
			var opts []rpc.Option
			if h2 {
				opts = append(opts, http2(t))
			}
			c := echo.NewEchoClient(dialHTTP(t, u, opts...))
			idle := echo.NewEchoClient(dialHTTP(t, u, opts...))
			unharmed(t, idle)
			result := make(chan error, 1)
			go func() {
				_, err := c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") })
				result <- err
			}()
			<-h.waiting
			ended := make(chan error, 1)
			go func() { ended <- srv.Shutdown(bg) }()
			eventually(t, "new calls are refused", func() bool {
				_, err := idle.Ping(bg, nil)
				return err != nil
			})
			select {
			case err := <-ended:
				t.Errorf("Shutdown does not wait: %v", err)
			default:
			}
			close(h.release)
			if err := <-result; err != nil {
				t.Errorf("the call under way: %v", err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHTTPShutdownGivesUp: when its context ends, Shutdown ends the contexts of calls.
func TestHTTPShutdownGivesUp(t *testing.T) {
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h, srv := waitingHandler(), &rpc.Server{}
			c := echo.NewEchoClient(dialHTTP(t, start(t, srv, h)))
			go c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("until cancelled") })
			<-h.waiting
			ctx, cancel := context.WithCancel(bg)
			cancel()
			if err := srv.Shutdown(ctx); err != context.Canceled {
				t.Error(err)
			}
			<-h.waiting
		})
	}
}

// TestHTTPGone: the context of a call ends when its client has gone away; a oneway call's does
// not.
func TestHTTPGone(t *testing.T) {
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h := &custom{handler: *waitingHandler()}
			over := make(chan error)
			h.notify = func(ctx context.Context, _ echo.EchoNotifyArgs) error {
				h.waiting <- struct{}{}
				<-h.release
				over <- ctx.Err()
				return nil
			}
			h.fail = func(ctx context.Context, args echo.EchoFailArgs, _ echo.EchoFailResult) error {
				h.waiting <- struct{}{}
				<-ctx.Done()
				over <- ctx.Err()
				return nil
			}
			srv := &rpc.Server{Processor: echo.NewEchoProcessor(h)}
			host, path := hostOf(t, start(t, srv, nil))
			nc := dialRaw(t, host)
			send(t, nc, rawRequest("POST", path, strict(oneway, "notify", 7, []byte{0})))
			<-h.waiting
			r := bufio.NewReader(nc)
			if resp, text := response(t, r, "POST"); resp.StatusCode != 200 || text != "" {
				t.Errorf("oneway: %s %q", resp.Status, text)
			}
			send(t, nc, rawRequest("POST", path, strict(call, "fail", 8, []byte{0})))
			<-h.waiting
			nc.Close()
			if err := <-over; err != context.Canceled {
				t.Errorf("the call's context: %v", err)
			}
			close(h.release)
			if err := <-over; err != nil {
				t.Errorf("the oneway call's context: %v", err)
			}
		})
	}
}

// TestHTTPGoneSlot: a connection whose client is gone gives up its place among MaxConns, also
// while a handler runs that does not notice.
func TestHTTPGoneSlot(t *testing.T) {
	h := waitingHandler()
	srv := &rpc.Server{MaxConns: 1}
	host := serve(t, srv, h)
	gone := dialRaw(t, host)
	send(t, gone, rawRequest("POST", "/", strict(call, "fail", 7, []byte("\x0b\x00\x01\x00\x00\x00\x04wait\x00"))))
	<-h.waiting
	gone.Close()
	nc := dialRaw(t, host)
	send(t, nc, rawRequest("POST", "/", strict(call, "add", 7, addArgs(40, 2))))
	if resp, text := response(t, bufio.NewReader(nc), "POST"); resp.StatusCode != 200 || text != string(strict(reply, "add", 7, sumResult(42))) {
		t.Errorf("%s: %q", resp.Status, text)
	}
	nc.Close()
	close(h.release)
	eventually(t, "no connection is left", func() bool {
		conns, slots := serverInUse(srv)
		return conns == 0 && slots <= 1
	})
}

// TestHTTPOneway: a oneway call delays no other one on its connection, and holds its place until
// its handler returns.
func TestHTTPOneway(t *testing.T) {
	t.Parallel()
	h := &custom{handler: *waitingHandler()}
	h.notify = func(context.Context, echo.EchoNotifyArgs) error {
		h.waiting <- struct{}{}
		<-h.release
		return nil
	}
	c := echo.NewEchoClient(dialHTTP(t, "http://"+serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h), Concurrency: 2}, nil), rpc.PoolSize(1)))
	if err := c.Notify(bg, nil); err != nil {
		t.Fatal(err)
	}
	<-h.waiting
	unharmed(t, c)
	if err := c.Notify(bg, nil); err != nil {
		t.Fatal(err)
	}
	<-h.waiting
	ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	if _, err := c.Ping(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third call at the same time: %v", err)
	}
	close(h.release)
	unharmed(t, c)
}

// TestHTTPMaxConns: connections with HTTP count as others do.
func TestHTTPMaxConns(t *testing.T) {
	t.Parallel()
	srv := &rpc.Server{MaxConns: 1}
	host := serve(t, srv, &handler{})
	c := dialHTTP(t, "http://"+host)
	unharmed(t, echo.NewEchoClient(c))
	other := dialRaw(t, host)
	send(t, other, frame(strict(call, "add", 7, addArgs(40, 2))))
	other.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := other.Read(make([]byte, 1)); err == nil {
		t.Error("there are two connections")
	}
	c.(io.Closer).Close()
	other.SetReadDeadline(time.Now().Add(time.Minute))
	expect(t, other, frame(strict(reply, "add", 7, sumResult(42))))
	other.Close()
	eventually(t, "no connection is left", func() bool {
		conns, slots := serverInUse(srv)
		return conns == 0 && slots <= 1 // the one that is about to accept has one at times
	})
}

// TestHTTPCalls: MaxConns bounds the calls of a router.
func TestHTTPRouterSlots(t *testing.T) {
	t.Parallel()
	h := waitingHandler()
	u := httpWays["router"](t, &rpc.Server{MaxConns: 1}, h)
	c := echo.NewEchoClient(dialHTTP(t, u))
	result := make(chan error, 1)
	go func() {
		_, err := c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") })
		result <- err
	}()
	<-h.waiting
	ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	if _, err := c.Ping(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two calls at the same time: %v", err)
	}
	close(h.release)
	if err := <-result; err != nil {
		t.Error(err)
	}
	unharmed(t, c)
}

// TestHTTPIdle: connections end that are idle for too long, or old.
func TestHTTPIdle(t *testing.T) {
	t.Parallel()
	for name, srv := range map[string]*rpc.Server{
		"idle": {IdleTimeout: time.Second}, "old": {MaxConnAge: time.Second},
	} {
		for _, h2 := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", HTTP/2: ", h2), func(t *testing.T) {
				t.Parallel()
				var conns atomic.Int64
				srv := &rpc.Server{IdleTimeout: srv.IdleTimeout, MaxConnAge: srv.MaxConnAge, Stats: &rpc.Stats{Conns: func(d int) { conns.Add(int64(d)) }}}
				host := serve(t, srv, &handler{})
				var opts []rpc.Option
				if h2 {
					opts = append(opts, http2(t))
				}
				c := echo.NewEchoClient(dialHTTP(t, "http://"+host, opts...))
				settles(t, "a call is answered", func() bool { // in time, before the connection ends
					_, err := c.Ping(bg, nil)
					return err == nil
				})
				eventually(t, "the connection ends", func() bool { return conns.Load() == 0 })
			})
		}
	}
}

// TestHTTPConnAge: a client that always calls is told to use another connection.
func TestHTTPConnAge(t *testing.T) {
	t.Parallel()
	host := serve(t, &rpc.Server{MaxConnAge: 50 * time.Millisecond}, &handler{})
	nc := dialRaw(t, host)
	r := bufio.NewReader(nc)
	eventually(t, "the connection ends", func() bool {
		if _, err := nc.Write(rawRequest("POST", "/", strict(call, "add", 7, addArgs(40, 2)))); err != nil {
			return true
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return true // it was closed just now
		}
		io.Copy(io.Discard, resp.Body)
		return resp.Close
	})
}

// TestHTTPWires: a server may refuse HTTP, or all else.
func TestHTTPWires(t *testing.T) {
	host := serve(t, &rpc.Server{Wires: rpc.WireFramed}, &handler{})
	_, err := echo.NewEchoClient(dialHTTP(t, "http://"+host)).Ping(bg, nil)
	var status *rpc.HTTPError
	if !errors.As(err, &status) || status.Status != 400 || !strings.Contains(status.Text, "Thrift's RPC") {
		t.Error(err)
	}
	unharmed(t, echo.NewEchoClient(dial(t, host)))
	host = serve(t, &rpc.Server{Wires: rpc.WireHTTP}, &handler{})
	unharmed(t, echo.NewEchoClient(dialHTTP(t, "http://"+host)))
	var e *rpc.ApplicationException
	_, err = echo.NewEchoClient(dial(t, host)).Ping(bg, nil)
	if !errors.As(err, &e) || e.Type != rpc.UnsupportedClientType || !strings.Contains(e.Message, "accepts HTTP") {
		t.Error(err)
	}
}

// TestHTTPStats: bodies are counted, connections, and calls.
func TestHTTPStats(t *testing.T) {
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			var mu sync.Mutex
			counts := map[string]int{}
			count := func(name string) func(int) {
				return func(n int) {
					mu.Lock()
					counts[name] += n
					mu.Unlock()
				}
			}
			stats := func(side string) *rpc.Stats {
				return &rpc.Stats{
					InFlight: count(side + " in flight"), Received: count(side + " received"), Conns: count(side + " connections"),
					Sent:    func(s linkbuf.Stats) { count(side + " sent")(s.Bytes); count(side + " by reference")(s.RefBytes) },
					Queued:  func(time.Duration) { count(side + " queued")(1) },
					Refused: func(rpc.ExceptionType) { count(side + " refused")(1) },
				}
			}
			srv := &rpc.Server{Stats: stats("server")}
			c := dialHTTP(t, start(t, srv, &handler{}), stats("client"))
			payload := strings.Repeat("x", 1_000_000)
			for range 3 {
				res, err := echo.NewEchoClient(c).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload([]byte(payload)) })
				if err != nil {
					t.Fatal(err)
				}
				res.Release()
			}
			c.(io.Closer).Close()
			const request, response = 4 + 4 + 4 + 4 + 3 + 4 + 1_000_000 + 1 + 7, 4 + 4 + 4 + 4 + 3 + 4 + 1_000_000 + 1
			want := map[string]int{
				"client in flight": 0, "client received": 3 * response, "client sent": 3 * request, "client connections": 0, "client by reference": 0, "client queued": 3,
				"server in flight": 0, "server received": 3 * request, "server sent": 3 * response, "server by reference": 2_700_000, "server queued": 3,
			}
			if way == "own port" {
				want["server connections"] = 0
			}
			defer func() {
				if t.Failed() {
					t.Log(counts)
				}
			}()
			eventually(t, "the counts", func() bool {
				mu.Lock()
				defer mu.Unlock()
				for name, n := range want {
					if counts[name] != n && name != "server by reference" || counts[name] < n {
						return false
					}
				}
				return len(counts) == len(want)
			})
		})
	}
}

// TestHTTPExits: a handler that panics or exits harms no other call.
func TestHTTPExits(t *testing.T) {
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			h := &custom{put: func(_ context.Context, _ echo.EchoPutArgs, result echo.EchoPutResult) error {
				result.NewSuccess()
				runtime.Goexit()
				return nil
			}}
			u := start(t, &rpc.Server{Processor: echo.NewEchoProcessor(h)}, nil)
			c := echo.NewEchoClient(dialHTTP(t, u))
			var e *rpc.ApplicationException
			if _, err := c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode("x") }); !errors.As(err, &e) || e.Type != rpc.InternalError {
				t.Error(err)
			}
			unharmed(t, c)
		})
	}
}

// TestHTTPCareless: for any mistake of a handler, its client gets an internal error, and other
// calls get their results.
func TestHTTPCareless(t *testing.T) {
	through := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }
	for way, start := range httpWays {
		for _, interceptors := range [][]rpc.Interceptor{nil, {through, through}} {
			t.Run(fmt.Sprint(way, ", intercepted: ", interceptors != nil), func(t *testing.T) {
				// Not parallel: some of these handlers use messages that they have released, and that
				// another server's call may be using.
				h, q := &custom{}, new(quiet)
				srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Interceptors: interceptors, Recycle: interceptors == nil, Logger: q.logger()}
				c := echo.NewEchoClient(dialHTTP(t, start(t, srv, nil)))
				for name, f := range careless {
					h.put = f
					_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("name"); args.SetMode("") })
					if id := concealedID(t, name, err); !strings.Contains(q.String(), "id="+id) {
						t.Errorf("%s: the log does not have id %s", name, id)
					}
					h.put = nil
					res, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName(name); args.SetMode("fill") })
					if err != nil || res.GetSuccess().GetName() != name {
						t.Errorf("after %s: %v, %v", name, res, err)
					}
				}
				for _, f := range []func(context.Context, echo.EchoNotifyArgs) error{
					func(context.Context, echo.EchoNotifyArgs) error { panic("oh") },
					func(context.Context, echo.EchoNotifyArgs) error { runtime.Goexit(); return nil },
				} {
					q.reset()
					h.notify = f
					if err := c.Notify(bg, nil); err != nil {
						t.Error(err)
					}
					unharmed(t, c)
					logs(t, q, "level=ERROR")
				}
			})
		}
	}
}

// TestHTTPSASL: a server that demands a login has no way round it.
func TestHTTPSASL(t *testing.T) {
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			srv := &rpc.Server{SASL: func(context.Context, string) rpc.SASLServer { return nil }}
			c := echo.NewEchoClient(dialHTTP(t, start(t, srv, &handler{})))
			if _, err := c.Ping(bg, nil); err == nil {
				t.Error("a call is answered")
			}
		})
	}
}

// TestHTTPTLS: over TLS there is HTTP/1.1, and HTTP/2 if the server's Config has its name.
func TestHTTPTLS(t *testing.T) {
	cert, pool := certificate(t)
	for protos, want := range map[string]string{"": "HTTP/1.1", "h2": "HTTP/2.0"} {
		config := &tls.Config{Certificates: []tls.Certificate{cert}}
		if protos != "" {
			config.NextProtos = []string{protos, "http/1.1"}
		}
		host := serve(t, &rpc.Server{TLS: config}, &handler{})
		c := dialHTTP(t, "https://"+host, rpc.TLS(&tls.Config{RootCAs: pool}))
		unharmed(t, echo.NewEchoClient(c))
		unharmed(t, echo.NewEchoClient(dial(t, host, rpc.TLS(&tls.Config{RootCAs: pool}))))
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
		resp, err := (&http.Client{Transport: transport}).Get("https://" + host)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Proto != want {
			t.Errorf("%q: %s", protos, resp.Proto)
		}
		transport.CloseIdleConnections()
	}
}

// TestHTTPUnix: HTTP is served on any kind of socket, also one of the program, which panics.
func TestHTTPForeignConns(t *testing.T) {
	t.Parallel()
	for _, goexit := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		r := &rude{goexit: goexit}
		serveOn(t, &rpc.Server{}, &handler{}, rudeHTTP{l, r})
		for range 30 {
			c := dialHTTP(t, "http://"+l.Addr().String())
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			if _, err := echo.NewEchoClient(c).Ping(ctx, nil); errors.Is(err, context.DeadlineExceeded) {
				t.Error("a call hangs")
			}
			cancel()
			c.(io.Closer).Close()
		}
		r.off.Store(true)
		unharmed(t, echo.NewEchoClient(dialHTTP(t, "http://"+l.Addr().String())))
	}
}

type rudeHTTP struct {
	net.Listener
	*rude
}

func (l rudeHTTP) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &rudeHTTPConn{nc, l.rude}, nil
}

type rudeHTTPConn struct {
	net.Conn
	*rude
}

func (c *rudeHTTPConn) Read(b []byte) (int, error)        { c.act(); return c.Conn.Read(b) }
func (c *rudeHTTPConn) Write(b []byte) (int, error)       { c.act(); return c.Conn.Write(b) }
func (c *rudeHTTPConn) SetReadDeadline(t time.Time) error { c.act(); return c.Conn.SetReadDeadline(t) }
