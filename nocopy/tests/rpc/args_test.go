package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// methods returns the methods of the Echo service, which generated code does not export.
func methods(t *testing.T) map[string]*rpc.Method {
	t.Helper()
	found := map[string]*rpc.Method{}
	note := func(_ context.Context, c *rpc.Call, _ rpc.Handler) error {
		found[c.Method.Name] = c.Method
		return errors.New("never sent")
	}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, &handler{}), rpc.Interceptors(note)))
	c.Add(bg, nil)
	c.Echo(bg, nil)
	c.Put(bg, nil)
	c.Notify(bg, nil)
	c.Ping(bg, nil)
	return found
}

// TestArgs: which arguments Call accepts, and whether they belong to the caller afterwards.
func TestArgs(t *testing.T) {
	of := methods(t)
	add, put := of["add"], of["put"]
	sum := func(args echo.EchoAddArgs) nocopy.Struct { args.SetA(40); args.SetB(2); return nocopy.Struct(args) }
	wire := sum(echo.NewEchoAddArgs()).Message().Bytes()
	pass := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }
	for name, opts := range map[string][]rpc.Option{"plain": nil, "intercepted": {rpc.Interceptors(pass)}, "unframed": {rpc.Unframed, rpc.Recycle}, "compact": {rpc.Compact}, "THeader": {rpc.THeader()}} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, serve(t, &rpc.Server{Limits: nocopy.Limits{MaxDepth: 200}}, &handler{}), append(opts, rpc.MaxInFlight(2))...)
			for _, a := range []struct {
				name  string
				m     *rpc.Method
				args  func() nocopy.Struct
				works bool
				stays bool // they still belong to the caller
			}{
				{"from NewArgs", add, func() nocopy.Struct { return sum(echo.EchoAddArgs(c.NewArgs(add))) }, true, false},
				{"finished before", add, func() nocopy.Struct {
					args := sum(echo.EchoAddArgs(c.NewArgs(add)))
					args.Message().Finish()
					return args
				}, true, false},
				{"a new message", add, func() nocopy.Struct { return sum(echo.NewEchoAddArgs()) }, true, true},
				{"a recycling message", add, func() nocopy.Struct { return sum(echo.NewEchoAddArgs(nocopy.Recycle)) }, true, true},
				{"in a Message variable", add, func() nocopy.Struct { return sum(nocopy.NewInto[echo.EchoAddArgs](new(nocopy.Message))) }, true, true},
				{"what was in a Message variable", add, func() nocopy.Struct {
					var kept nocopy.Message
					s := sum(nocopy.NewInto[echo.EchoAddArgs](&kept))
					nocopy.NewInto[echo.EchoAddArgs](&kept)
					return s
				}, false, false},
				{"a parsed message", add, func() nocopy.Struct { s, _ := echo.ParseEchoAddArgs(wire); return nocopy.Struct(s) }, true, true},
				{"one parsed lazily", add, func() nocopy.Struct { s, _ := echo.ParseEchoAddArgs(wire, nocopy.Lazy); return nocopy.Struct(s) }, true, true},
				{"an edited message", add, func() nocopy.Struct { s, _ := echo.ParseEchoAddArgs(wire); return sum(s) }, true, true},
				{"nested deeper than usual", add, func() nocopy.Struct {
					deep := append(append(bytes.Repeat([]byte{12, 0, 99}, 190), make([]byte, 190)...), wire...)
					s, err := echo.ParseEchoAddArgs(deep, nocopy.Limits{MaxDepth: 200})
					if err != nil {
						t.Fatal(err)
					}
					return nocopy.Struct(s)
				}, true, true},
				{"a zero handle", add, func() nocopy.Struct { return nocopy.Struct{} }, false, false},
				{"an absent struct", add, func() nocopy.Struct { return thriftimpl.Absent() }, false, false},
				{"an absent sub-struct", put, func() nocopy.Struct { return nocopy.Struct(echo.NewEchoPutArgs().GetItem()) }, false, false},
				{"a sub-struct", put, func() nocopy.Struct { return nocopy.Struct(echo.NewEchoPutArgs().NewItem()) }, false, false},
				{"a sub-struct of arguments", put, func() nocopy.Struct { return nocopy.Struct(echo.EchoPutArgs(c.NewArgs(put)).NewItem()) }, false, false},
				{"another method's", add, func() nocopy.Struct { return c.NewArgs(put) }, false, true},
				{"another struct", add, func() nocopy.Struct { return nocopy.Struct(echo.NewItem()) }, false, true},
				{"a result", add, func() nocopy.Struct { return nocopy.Struct(echo.NewEchoAddResult()) }, false, true},
				{"released", add, func() nocopy.Struct { s := sum(echo.NewEchoAddArgs()); s.Release(); return s }, false, false},
				{"from NewArgs, released", add, func() nocopy.Struct { s := c.NewArgs(add); s.Release(); return s }, false, false},
				{"used before", add, func() nocopy.Struct {
					args := sum(echo.EchoAddArgs(c.NewArgs(add)))
					if _, err := c.Call(bg, add, args); err != nil {
						t.Error(err)
					}
					return args
				}, false, false},
				{"used before, and the memory is others' by now", add, func() nocopy.Struct {
					args := sum(echo.EchoAddArgs(c.NewArgs(add)))
					c.Call(bg, add, args)
					c.NewArgs(add)
					echo.NewEchoAddArgs()
					return args
				}, false, false},
			} {
				for range 3 {
					args := a.args()
					res, err := c.Call(bg, a.m, args)
					switch {
					case a.works && (err != nil || echo.EchoAddResult(res).GetSuccess() != 42):
						t.Errorf("%s, %s: %v", name, a.name, err)
					case a.works:
						res.Release()
					case err == nil || !strings.Contains(err.Error(), "arguments") || res.Valid():
						t.Errorf("%s, %s: %v", name, a.name, err)
					}
					if a.stays {
						args.Message().Len()
						args.Release() // panics if that has happened
					}
				}
			}
			if _, err := c.Call(bg, nil, nocopy.Struct{}); err == nil {
				t.Error("a call of no method succeeds")
			}
			unused(t, c)
			echoes(t, echo.NewEchoClient(c), "hello")
		})
	}
}

// TestArgsTwice: arguments that are given to several calls at a time are sent unchanged or
// refused.
func TestArgsTwice(t *testing.T) {
	t.Parallel()
	of := methods(t)
	pass := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }
	for _, opts := range [][]rpc.Option{nil, {rpc.Interceptors(pass)}, {rpc.Recycle, rpc.PoolSize(1)}} {
		c := dial(t, serve(t, &rpc.Server{}, &handler{}), opts...)
		for i := range 100 {
			text := strings.Repeat(string(rune('a'+i%26)), i*100)
			args := echo.EchoEchoArgs(c.NewArgs(of["echo"]))
			args.SetPayload([]byte(text))
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					res, err := c.Call(bg, of["echo"], nocopy.Struct(args))
					if err != nil && !strings.Contains(err.Error(), "arguments") || err == nil && string(echo.EchoEchoResult(res).GetSuccess()) != text {
						t.Errorf("%v, %v", res, err)
					}
				})
			}
			wg.Wait()
		}
		// Arguments that belong to the caller can be sent by any number of calls.
		args := echo.NewEchoEchoArgs()
		args.SetPayload(bytes.Repeat([]byte("x"), 10_000))
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if res, err := c.Call(bg, of["echo"], nocopy.Struct(args)); err != nil || len(echo.EchoEchoResult(res).GetSuccess()) != 10_000 {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		args.Release()
	}
}

// proxy is a handler that forwards every call to another server.
type proxy struct {
	handler
	to *rpc.Client
	of map[string]*rpc.Method
}

func (p *proxy) Echo(ctx context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	res, err := p.to.Call(ctx, p.of["echo"], nocopy.Struct(args))
	if err == nil {
		result.SetSuccess(echo.EchoEchoResult(res).GetSuccess())
		res.Release()
	}
	return err
}

func (p *proxy) Put(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
	res, err := p.to.Call(ctx, p.of["put"], nocopy.Struct(args))
	if err == nil {
		result.SetSuccess(echo.EchoPutResult(res).GetSuccess())
	}
	return err
}

func (p *proxy) Notify(ctx context.Context, args echo.EchoNotifyArgs) error {
	_, err := p.to.Call(ctx, p.of["notify"], nocopy.Struct(args))
	return err
}

// TestForwarding: a handler may forward the arguments that it has received.
func TestForwarding(t *testing.T) {
	t.Parallel()
	of := methods(t)
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprint(recycle), func(t *testing.T) {
			h := &handler{notified: make(chan string, 10)}
			p := &proxy{to: dial(t, serve(t, &rpc.Server{Recycle: recycle}, h)), of: of}
			srv := &rpc.Server{Recycle: recycle, Processor: echo.NewEchoProcessor(p)}
			for _, opts := range tryOpts {
				c := echo.NewEchoClient(dial(t, serve(t, srv2(srv), nil), opts...))
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() {
						for _, size := range []int{0, 10, 3000, 5000, 100_000, 2 << 20} {
							if size > 1<<20 && i > 0 && !testmode.Long {
								continue // one of them is enough
							}
							echoes(t, c, strings.Repeat(string(rune('a'+i)), size))
						}
					})
				}
				wg.Wait()
				var missing echo.NotFound
				if _, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("key"); args.SetMode("missing, returned") }); !errors.As(err, &missing) || missing.GetKey() != "key" {
					t.Error(err)
				}
				if err := c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("passed on") }); err != nil || <-h.notified != "passed on" {
					t.Error(err)
				}
			}
		})
	}
}

// srv2 returns another server like s.
func srv2(s *rpc.Server) *rpc.Server { return &rpc.Server{Recycle: s.Recycle, Processor: s.Processor} }

// TestForwardingGivenUp: if a handler's context ends while it forwards its arguments, these are
// not written from the request's memory after it has returned.
func TestForwardingGivenUp(t *testing.T) {
	t.Parallel()
	of := methods(t)
	goOn := make(chan struct{})
	received := make(chan []byte, 1)
	slow := fakeServer(t, func(nc net.Conn) {
		<-goOn
		b, _ := readFrame(nc)
		received <- b
	})
	p := &proxy{to: dial(t, slow, rpc.PoolSize(1)), of: of}
	impatient := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			for callsWriting(p.to) == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		return next(ctx, c)
	}
	srv := &rpc.Server{Recycle: true, Processor: echo.NewEchoProcessor(p), Interceptors: []rpc.Interceptor{impatient}}
	c := echo.NewEchoClient(dial(t, serve(t, srv, nil)))
	payload := strings.Repeat("mine", 1<<20)
	if _, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload([]byte(payload)) }); err == nil {
		t.Error("nobody has answered")
	}
	for range 5 { // in the same memory
		c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(bytes.Repeat([]byte("OTHER"), 4<<20/5)) })
	}
	close(goOn)
	args, err := echo.ParseEchoEchoArgs((<-received)[len(strict(call, "echo", 1, nil)):])
	if err != nil || string(args.GetPayload()) != payload {
		t.Errorf("the call that was given up was sent as %.20q… (%v)", args.GetPayload(), err)
	}
}

// TestFailover: an interceptor may send a call's arguments to another server.
func TestFailover(t *testing.T) {
	t.Parallel()
	backup := dial(t, serve(t, &rpc.Server{}, &handler{}))
	f := func(ctx context.Context, c *rpc.Call, next rpc.Handler) (err error) {
		if err := next(ctx, c); err == nil {
			return nil
		}
		c.Result, err = backup.Call(ctx, c.Method, c.Args)
		return err
	}
	dead := fakeServer(t, func(nc net.Conn) { nc.Close() })
	c := echo.NewEchoClient(dial(t, dead, rpc.Interceptors(f)))
	for _, size := range []int{10, 10_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			echoes(t, c, strings.Repeat("x", size))
		})
	}
}
