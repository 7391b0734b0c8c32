package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// chained is the service at the end of a chain of proxies.
type chained struct {
	handler
	headers  chan map[string]string
	deadline chan time.Duration // the rest of a call's time; 0: it has no deadline
}

func (c *chained) Add(ctx context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	c.headers <- namesFolded(rpc.Headers(ctx))
	left := time.Duration(0)
	if d, ok := ctx.Deadline(); ok {
		left = time.Until(d)
	}
	c.deadline <- left
	rpc.SetReplyHeader(ctx, "served-by", "the last")
	return c.handler.Add(ctx, args, result)
}

// TestWireChain: a call goes through proxies that speak every wire, one after the other. It comes
// out as it went in: results, exceptions, errors, oneway calls, headers both ways, deadlines,
// fields that proxies' interceptors add, and the refusal of calls that are too large for one of
// them.
func TestWireChain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		srv  func() *rpc.Server
		p    func(forward rpc.Handler) *rpc.Processor
	}{
		{"known", func() *rpc.Server { return &rpc.Server{} }, func(forward rpc.Handler) *rpc.Processor {
			return echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(forward)
		}},
		{"lazy, recycled", func() *rpc.Server { return &rpc.Server{Lazy: true, Recycle: true, Unordered: true} }, func(forward rpc.Handler) *rpc.Processor {
			return echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(forward)
		}},
		{"unknown", func() *rpc.Server { return &rpc.Server{} }, func(forward rpc.Handler) *rpc.Processor {
			return rpc.NewProcessor("", nil).WithFallback(forward)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := &chained{handler{notified: make(chan string, 10)}, make(chan map[string]string, 10), make(chan time.Duration, 10)}
			addr := serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h), Deadlines: true}, nil)
			for n, dialNext := range []func(addr string) rpc.Caller{ // the backend's first
				func(addr string) rpc.Caller { return dial(t, addr, rpc.Unframed) },
				func(addr string) rpc.Caller { return dialHTTP(t, "http://"+addr, rpc.Compact) },
				func(addr string) rpc.Caller { return dialHTTP(t, "http://"+addr) },
				func(addr string) rpc.Caller { return dial(t, addr, rpc.THeader(rpc.Zlib)) },
				func(addr string) rpc.Caller { return dial(t, addr, rpc.THeader(), rpc.Compact) },
				func(addr string) rpc.Caller { return dial(t, addr, rpc.Compact) },
				func(addr string) rpc.Caller { return dial(t, addr, rpc.Compact, rpc.Unframed) },
			} {
				srv := c.srv()
				srv.Processor = c.p(rpc.Forward(dialNext(addr)))
				srv.Interceptors = []rpc.Interceptor{func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
					return next(rpc.SetHeader(ctx, fmt.Sprint("proxy-", n), "passed"), call)
				}}
				if n == 3 {
					srv.MaxFrame = 2 << 20
				}
				addr = serve(t, srv, nil)
			}
			checkChain(t, h, echo.NewEchoClient(dial(t, addr, rpc.Deadlines)))
		})
	}
}

func checkChain(t *testing.T, h *chained, c echo.EchoClient) {
	var reply rpc.ReplyHeaders
	ctx, cancel := context.WithTimeout(bg, time.Hour)
	defer cancel()
	ctx = rpc.ReceiveHeaders(rpc.SetHeader(rpc.SetHeader(ctx, "token", "secret"), "traceparent", "00-1"), &reply)
	sum, err := c.Add(ctx, func(args echo.EchoAddArgs) { args.SetA(40); args.SetB(2) })
	if err != nil || sum.GetSuccess() != 42 || reply.Get("Served-By") != "the last" {
		t.Fatalf("add: %v; the reply's header is %q", err, reply.Get("served-by"))
	}
	headers := <-h.headers
	for n := range 7 {
		if headers[fmt.Sprint("proxy-", n)] != "passed" {
			t.Errorf("the interceptor of proxy %d has set no header", n)
		}
	}
	if left := <-h.deadline; headers["token"] != "secret" || headers["traceparent"] != "00-1" || left <= 0 || left > time.Hour {
		t.Errorf("the headers are %q, and %v are left", headers, left)
	}
	for _, n := range []int{0, 1, 100, 5000, 70_000, 1 << 20} {
		payload := bytes.Repeat([]byte("\x00\xff7"), n/3+1)[:n]
		res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
		if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
			t.Errorf("echo of %d bytes: %v", n, err)
		}
	}
	put := func(mode string) error {
		_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("key"); args.SetMode(mode) })
		return err
	}
	var missing echo.NotFound
	var conflict echo.Conflict
	var e *rpc.ApplicationException
	if err := put("missing, returned"); !errors.As(err, &missing) || missing.GetKey() != "key" || missing.GetCode() != 404 {
		t.Errorf("a declared exception: %v", err)
	}
	if err := put("conflict, after a result"); !errors.As(err, &conflict) || conflict.GetWhat() != "twice" {
		t.Errorf("another one: %v", err)
	}
	if err := put("application exception"); !errors.As(err, &e) || e.Type != rpc.InvalidTransform || e.Message != "as it is" {
		t.Errorf("an exception of Thrift's: %v", err)
	}
	if err := put("undeclared"); !errors.As(err, &e) || e.Type != rpc.InternalError || !strings.Contains(e.Message, "the disk is full") {
		t.Errorf("an error: %v", err)
	}
	if err := put("nothing"); !errors.As(err, &e) || e.Type != rpc.MissingResult {
		t.Errorf("no result: %v", err)
	}
	if err := c.Notify(ctx, func(args echo.EchoNotifyArgs) { args.SetText("hello") }); err != nil {
		t.Errorf("a oneway call: %v", err)
	}
	select {
	case got := <-h.notified:
		if got != "hello" {
			t.Errorf("the oneway call arrives as %q", got)
		}
	case <-time.After(time.Minute):
		t.Error("the oneway call does not arrive")
	}
	if _, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 3<<20)) }); err == nil || !strings.Contains(err.Error(), "MaxFrame = 2097152") {
		t.Errorf("what is too large for a proxy: %v", err)
	}
	unharmed(t, c)
	<-h.headers
}
