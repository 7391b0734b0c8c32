package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// worker is a service whose calls of add take a while.
type worker struct {
	handler
	took                   time.Duration
	running, most, handled atomic.Int64
}

func (w *worker) Add(_ context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	if n := w.running.Add(1); n > w.most.Load() {
		w.most.Store(n)
	}
	time.Sleep(w.took)
	w.running.Add(-1)
	w.handled.Add(1)
	result.SetSuccess(args.GetA() + args.GetB())
	return nil
}

// loadWay is a way in which calls come to a server in a bubble. caller returns a new client.
type loadWay struct {
	name    string
	ordered bool // replies wait for earlier ones
	alone   bool // all calls share a connection, and wait for each other
	http    bool
	server  func(srv *rpc.Server)
	caller  func(t *testing.T, srv *rpc.Server, l pipes, opts ...rpc.Option) rpc.Caller
}

// loadWays are all ways in which calls come, except shared memory.
func loadWays() (ways []loadWay) {
	overPipes := func(of ...rpc.Option) func(*testing.T, *rpc.Server, pipes, ...rpc.Option) rpc.Caller {
		return func(t *testing.T, _ *rpc.Server, l pipes, opts ...rpc.Option) rpc.Caller {
			dialer := rpc.Dialer(func(context.Context, string, string) (net.Conn, error) { return l.dial(), nil })
			return dial(t, "", append(append(of, dialer, rpc.IdleTimeout(-1), rpc.MaxConnAge(-1)), opts...)...)
		}
	}
	for _, s := range spoken {
		ways = append(ways, loadWay{name: s.name, ordered: true, caller: overPipes(s.opts...)})
	}
	ways = append(ways, loadWay{name: "one connection", alone: true, ordered: true, caller: overPipes(rpc.PoolSize(1))})
	overHTTP := func(protocols func(*http.Protocols)) func(*testing.T, *rpc.Server, pipes, ...rpc.Option) rpc.Caller {
		return func(t *testing.T, _ *rpc.Server, l pipes, opts ...rpc.Option) rpc.Caller {
			tr := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) { return l.dial(), nil }}
			protocols(tr.Protocols)
			t.Cleanup(tr.CloseIdleConnections)
			return dialHTTP(t, "http://x", append(opts, rpc.HTTPClient(&http.Client{Transport: tr}))...)
		}
	}
	return append(ways,
		loadWay{name: "unordered", server: func(srv *rpc.Server) { srv.Unordered = true }, caller: overPipes()},
		loadWay{name: "multiplexed", ordered: true, server: func(srv *rpc.Server) {
			srv.Processor = rpc.Multiplexed(map[string]*rpc.Processor{"e": srv.Processor})
			srv.Health = &rpc.Health{Method: "health:getStatus"}
		}, caller: func(t *testing.T, srv *rpc.Server, l pipes, opts ...rpc.Option) rpc.Caller {
			c := overPipes()(t, srv, l, opts...)
			return struct {
				rpc.Caller
				io.Closer
			}{rpc.MultiplexedCaller(c, "e"), c.(io.Closer)}
		}},
		loadWay{name: "HTTP/1.1", http: true, caller: overHTTP(func(p *http.Protocols) { p.SetHTTP1(true) })},
		loadWay{name: "HTTP/2", http: true, server: func(srv *rpc.Server) { srv.Concurrency = 1000 }, caller: overHTTP(func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) })},
		loadWay{name: "router", http: true, caller: func(t *testing.T, srv *rpc.Server, _ pipes, opts ...rpc.Option) rpc.Caller {
			return dialHTTP(t, "http://x", append(opts, rpc.HTTPClient(&http.Client{Transport: routed{srv}}))...)
		}},
		loadWay{name: "ServeMessage", caller: func(t *testing.T, srv *rpc.Server, _ pipes, opts ...rpc.Option) rpc.Caller {
			return rpc.NewCaller(func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
				return srv.ServeMessage(ctx, append([]byte(nil), call...))
			}, opts...)
		}},
	)
}

// inLoad calls f in a bubble for each of loadWays, with alone also for those that share a
// connection. srv is served on l.
func inLoad(t *testing.T, alone bool, settings func() (*rpc.Server, echo.EchoHandler), f func(t *testing.T, way loadWay, srv *rpc.Server, l pipes)) {
	for _, way := range loadWays() {
		if way.alone && !alone {
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := settings()
				srv.Processor = echo.NewEchoProcessor(h)
				if way.server != nil {
					way.server(srv)
				}
				l := make(pipes)
				serveOn(t, srv, nil, l)
				f(t, way, srv, l)
			})
		})
	}
}

// isShed reports whether a call was refused because of too many others, and its error says that it
// was not handled.
func isShed(err error) bool {
	var e *rpc.ApplicationException
	var status *rpc.HTTPError
	said := errors.As(err, &e) && e.Type == rpc.LoadShedding || errors.As(err, &status) && status.Status == http.StatusServiceUnavailable
	return said && errors.Is(err, rpc.ErrNotHandled) && !errors.Is(err, rpc.ErrConnLost) && strings.Contains(err.Error(), "this call was not handled")
}

// TestOverload: at ten times the load that a server can take, it handles as much as it can, calls
// that it accepts are answered within twice the time that handlers take, and the others at once,
// in whatever way they come. Health checks are answered at once.
func TestOverload(t *testing.T) {
	const (
		places, took = 10, 100 * time.Millisecond
		lasts, pause = 2 * time.Second, took / places / 10
		capacity     = int64(lasts / took * places)
		flushed      = 5 * time.Millisecond // a reply may be held back for one that follows
	)
	var w *worker
	var c *counts
	inLoad(t, true, func() (*rpc.Server, echo.EchoHandler) {
		w, c = &worker{took: took}, newCounts()
		return &rpc.Server{MaxInFlight: places, Health: new(rpc.Health), Stats: &c.Stats}, w
	}, func(t *testing.T, way loadWay, srv *rpc.Server, l pipes) {
		client := echo.NewEchoClient(way.caller(t, srv, l, rpc.MaxInFlight(5000)))
		health := way.caller(t, srv, l)
		if way.name == "multiplexed" {
			health = rpc.MultiplexedCaller(loadWays()[0].caller(t, srv, l), "health")
		}
		var good, shed atomic.Int64
		var calls sync.WaitGroup
		sent := int64(0)
		for start := time.Now(); time.Since(start) < lasts; time.Sleep(pause) {
			sent++
			calls.Go(func() {
				began := time.Now()
				res, err := client.Add(bg, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) })
				d := time.Since(began)
				switch {
				case err == nil:
					if good.Add(1); res.GetSuccess() != 3 || d > 2*took+flushed {
						t.Errorf("%d after %v", res.GetSuccess(), d)
					}
					res.Release()
				case isShed(err):
					if shed.Add(1); !way.ordered && d > 0 || d > 2*took+flushed {
						t.Errorf("refused after %v", d)
					}
				default:
					t.Error(err)
				}
			})
			if sent%500 == 0 {
				began := time.Now()
				if err := rpc.CheckHealth(bg, health); err != nil || time.Since(began) > 0 {
					t.Errorf("the health check took %v: %v", time.Since(began), err)
				}
			}
		}
		calls.Wait()
		if n := good.Load(); n < capacity*9/10 || n > capacity+2*places || n != w.handled.Load() {
			t.Errorf("%d calls have succeeded, %d were handled; the capacity is %d", n, w.handled.Load(), capacity)
		}
		if w.most.Load() > places || c.most.get() > places+1 || c.mostWaiting.get() < places || c.mostWaiting.get() > places+1 || c.waiting.get() != 0 {
			t.Errorf("at most %d handlers, %d calls in flight, %d waiting, %d at the end", w.most.Load(), c.most.get(), c.mostWaiting.get(), c.waiting.get())
		}
		refused := c.refusals()
		if n := int64(refused[rpc.LoadShedding]); n != shed.Load() || n+good.Load() != sent || len(refused) != 1 {
			t.Errorf("%d calls, %d refused, %v counted", sent, shed.Load(), refused)
		}
	})
}

// routed is a RoundTripper that calls a Handler, which may answer before it has returned.
type routed struct{ to http.Handler }

func (r routed) RoundTrip(req *http.Request) (*http.Response, error) {
	body, in := io.Pipe()
	w := &routedWriter{header: http.Header{}, body: in, begun: make(chan struct{})}
	context.AfterFunc(req.Context(), func() { body.Close() })
	go func() {
		defer in.Close()
		defer w.WriteHeader(http.StatusOK)
		r.to.ServeHTTP(w, req)
	}()
	select {
	case <-w.begun:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return &http.Response{StatusCode: w.status, Header: w.header.Clone(), Body: body, ContentLength: -1, Request: req}, nil
}

type routedWriter struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	begun  chan struct{}
	status int
}

func (w *routedWriter) Header() http.Header { return w.header }

func (w *routedWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status = status
		close(w.begun)
	})
}

func (w *routedWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// TestOverloadRetry: Retry repeats a call that was refused, of any method, and it is handled once.
func TestOverloadRetry(t *testing.T) {
	var w *worker
	inLoad(t, false, func() (*rpc.Server, echo.EchoHandler) {
		w = &worker{took: 5 * time.Millisecond}
		return &rpc.Server{MaxInFlight: 1, MaxQueued: -1}, w
	}, func(t *testing.T, way loadWay, srv *rpc.Server, l pipes) {
		retry := rpc.Retry(rpc.RetryPolicy{MinPause: 20 * time.Millisecond})
		tries := new(atomic.Int64)
		counting := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			tries.Add(1)
			return next(ctx, c)
		}
		c := echo.NewEchoClient(way.caller(t, srv, l, rpc.Interceptors(retry, counting)))
		plain := echo.NewEchoClient(way.caller(t, srv, l))
		var calls sync.WaitGroup
		calls.Go(func() { unharmed(t, plain) })
		synctest.Wait()
		if _, err := plain.Add(bg, nil); !isShed(err) || strings.Count(err.Error(), "rpc: ") != 1 {
			t.Errorf("without Retry: %v", err)
		}
		unharmed(t, c)
		calls.Wait()
		if tries.Load() != 2 || w.handled.Load() != 2 {
			t.Errorf("%d tries, %d calls were handled", tries.Load(), w.handled.Load())
		}
	})
}

// handlersCallNotHandled ends a text that a handler has from a server that refused its call.
const handlersCallNotHandled = "too many calls are under way; a call that its handler made was not handled"

// TestOverloadNotLast: the exception of a handler that has made a call to a server that refused it
// does not say that the handler's own call was not handled. Retry does not repeat it.
func TestOverloadNotLast(t *testing.T) {
	inLoad(t, false, func() (*rpc.Server, echo.EchoHandler) {
		return &rpc.Server{}, &custom{fail: func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error {
			busy := &rpc.Server{MaxInFlight: 1, MaxQueued: -1, Logger: new(quiet).logger()}
			var again *rpc.Method
			busy.Processor = echo.NewEchoProcessor(&custom{fail: func(ctx context.Context, _ echo.EchoFailArgs, _ echo.EchoFailResult) error {
				c := rpc.NewCaller(func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
					return busy.ServeMessage(ctx, call)
				})
				_, err := c.Call(ctx, again, c.NewArgs(again))
				return err
			}})
			for _, m := range busy.Processor.Methods() {
				if m.Name == "fail" {
					again = m
				}
			}
			c := rpc.NewCaller(func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
				return busy.ServeMessage(ctx, call)
			})
			_, err := echo.NewEchoClient(c).Fail(bg, nil)
			if !errors.As(err, new(*rpc.ApplicationException)) || errors.Is(err, rpc.ErrNotHandled) {
				t.Errorf("the outer call: %v", err)
			}
			return err
		}}
	}, func(t *testing.T, way loadWay, srv *rpc.Server, l pipes) {
		_, err := echo.NewEchoClient(way.caller(t, srv, l)).Fail(bg, nil)
		var e *rpc.ApplicationException
		if !errors.As(err, &e) || e.Type != rpc.LoadShedding || errors.Is(err, rpc.ErrNotHandled) || e.Message != handlersCallNotHandled {
			t.Error(err)
		}
	})
}

// TestOverloadHandlersText: no text of a handler's error says that the handler's own call was not
// handled: not of a call over HTTP, nor of an exception that a handler took from the error.
func TestOverloadHandlersText(t *testing.T) {
	const refused = "too many calls are under way; this call was not handled"
	for _, returned := range []error{
		&rpc.HTTPError{Status: 503, Text: refused},
		fmt.Errorf("back: %w: %w", rpc.ErrNotHandled, &rpc.HTTPError{Status: 503, Text: refused}),
		&rpc.ApplicationException{Type: rpc.LoadShedding, Message: refused},
		fmt.Errorf("back: %w", &rpc.ApplicationException{Type: rpc.LoadShedding, Message: refused}),
	} {
		srv := &rpc.Server{Logger: new(quiet).logger(), Processor: echo.NewEchoProcessor(&custom{
			fail: func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error { return returned },
		})}
		c := rpc.NewCaller(func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
			return srv.ServeMessage(ctx, call)
		})
		_, err := echo.NewEchoClient(c).Fail(bg, nil)
		if err == nil || !strings.HasSuffix(err.Error(), handlersCallNotHandled) || errors.Is(err, rpc.ErrNotHandled) {
			t.Errorf("%v: %v", returned, err)
		}
		if text := returned.Error(); !strings.HasSuffix(text, refused) {
			t.Errorf("the handler's error has become %q", text)
		}
	}
}
