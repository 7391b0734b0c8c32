package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// forward returns a handler that forwards all calls to the server of c.
func forward(c rpc.Caller) rpc.Handler {
	return func(ctx context.Context, call *rpc.Call) (err error) {
		call.Result, err = c.Call(ctx, call.Method, call.Args)
		return err
	}
}

// TestFallback: calls of unknown methods come to the fallback with their names and bytes, calls of
// known ones do not. The fallback's answers are sent.
func TestFallback(t *testing.T) {
	type seen struct {
		wire, text string
		args       []byte
		oneway     bool
	}
	calls := make(chan seen, 10)
	fallback := func(ctx context.Context, c *rpc.Call) error {
		calls <- seen{c.Method.WireName(), c.Method.String(), bytes.Clone(c.Args.Message().Bytes()), c.Method.Oneway()}
		switch c.Method.Name {
		case "refuse":
			return &rpc.ApplicationException{Type: rpc.UnknownMethod, Message: "not here"}
		case "failing":
			return errors.New("failed")
		case "panic":
			panic("panicked")
		case "answer":
			r, err := thriftimpl.Parse(c.Method.Result, sumResult(7))
			c.Result = nocopy.Struct(r)
			return err
		}
		return nil
	}
	known := echo.NewEchoProcessor(&handler{})
	for _, interceptors := range [][]rpc.Interceptor{nil, {func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }}} {
		addr := serve(t, &rpc.Server{Processor: known.WithFallback(fallback), Interceptors: interceptors}, nil)
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(time.Minute))
		send(t, nc, frame(strict(call, "add", 1, addArgs(2, 3))))
		expect(t, nc, frame(strict(reply, "add", 1, sumResult(5))))
		raw := []byte("\x0b\x00\x09\x00\x00\x00\x02hi\x0f\x00\x0a\x0c\x00\x00\x00\x01\x00\x00")
		send(t, nc, frame(strict(call, "answer", -5, raw)))
		expect(t, nc, frame(strict(reply, "answer", -5, sumResult(7))))
		send(t, nc, frame(nonStrict(call, "nothing", 6, raw)))
		expect(t, nc, frame(nonStrict(reply, "nothing", 6, []byte{0})))
		send(t, nc, frame(strict(oneway, "tell", 7, raw)))
		send(t, nc, frame(strict(call, "svc:refuse", 8, []byte{0})))
		// Generated code writes the message first
		expect(t, nc, frame(strict(exception, "refuse", 8, []byte("\x08\x00\x02\x00\x00\x00\x01\x0b\x00\x01\x00\x00\x00\x08not here\x00"))))
		for _, want := range []seen{
			{"answer", "answer", raw, false}, {"nothing", "nothing", raw, false}, {"tell", "tell", raw, true}, {"svc:refuse", "svc:refuse", []byte{0}, false},
		} {
			if got := <-calls; got.wire != want.wire || got.text != want.text || !bytes.Equal(got.args, want.args) || got.oneway != want.oneway {
				t.Errorf("%+v, not %+v", got, want)
			}
		}
		c := dial(t, addr)
		for name, want := range map[string]rpc.ExceptionType{"refuse": rpc.UnknownMethod, "failing": rpc.InternalError, "panic": rpc.InternalError} {
			m := rpc.RawMethod(name, false)
			var e *rpc.ApplicationException
			if _, err := c.Call(t.Context(), m, c.NewArgs(m)); !errors.As(err, &e) || e.Type != want {
				t.Errorf("%s: %v", name, err)
			}
			<-calls
		}
	}
}

// TestFallbackOfServices: each service's fallback gets the unknown calls of that service; the
// fallback of all services gets the others.
func TestFallbackOfServices(t *testing.T) {
	t.Parallel()
	var got string
	named := func(by string) rpc.Handler {
		return func(ctx context.Context, c *rpc.Call) error { got = by + " " + c.Method.WireName(); return nil }
	}
	none := func() *rpc.Processor { return rpc.NewProcessor("", nil) }
	some := rpc.Multiplexed(map[string]*rpc.Processor{"a": none().WithFallback(named("a")), "": none().WithFallback(named("bare")), "b": none()})
	for _, test := range []struct {
		p          *rpc.Processor
		name, want string
	}{
		{some, "a:x", "a x"}, {some, "x", "bare x"}, {some, "b:x", ""}, {some, "c:x", ""}, {some, "a:b:x", ""},
		{some.WithFallback(named("all")), "c:x", "all c:x"}, {some.WithFallback(named("all")), "a:x", "a x"},
		{rpc.NewProcessor("", none().WithFallback(named("base"))), "x", "base x"},
		{rpc.Multiplexed(map[string]*rpc.Processor{"o": some}), "o:a:x", "a x"},
	} {
		c := dial(t, serve(t, &rpc.Server{Processor: test.p}, nil))
		got = ""
		m := rpc.RawMethod(test.name, false)
		_, err := c.Call(t.Context(), m, c.NewArgs(m))
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

// TestFallbackHostile: messages with faults are refused before the fallback is called, by limits
// that count for all; a backend's answers with faults are errors.
func TestFallbackHostile(t *testing.T) {
	deep := bytes.Repeat([]byte{12, 0, 1}, 100)
	deep = append(deep, make([]byte, 101)...)
	addr := serve(t, &rpc.Server{
		Processor: rpc.NewProcessor("", nil).WithFallback(func(ctx context.Context, c *rpc.Call) error {
			t.Errorf("%s was called", c.Method)
			return nil
		}), MaxFrame: 1 << 10,
	}, nil)
	for name, args := range map[string][]byte{
		"no type": {77, 0, 1, 0}, "truncated": {8, 0, 1, 0, 0}, "a length": {11, 0, 1, 0x7f, 0xff, 0xff, 0xff, 0}, "negative": {15, 0, 1, 8, 0xff, 0xff, 0xff, 0xff, 0},
		"deep": deep, "empty": {}, "large": make([]byte, 2<<10),
	} {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		nc.SetDeadline(time.Now().Add(time.Minute))
		send(t, nc, frame(strict(call, "unknown", 3, args)))
		want := strict(exception, "unknown", 3, nil)
		got := make([]byte, 4+len(want))
		if _, err := nc.Read(got); err != nil || !bytes.Equal(got[4:], want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		nc.Close()
	}
	for name, answer := range map[string]func(seqid int) []byte{
		"no type":  func(id int) []byte { return strict(reply, "unknown", id, []byte{77, 0, 1, 0}) },
		"trailing": func(id int) []byte { return strict(reply, "unknown", id, []byte{0, 0}) },
		"name":     func(id int) []byte { return strict(reply, "other", id, []byte{0}) },
		"a call":   func(id int) []byte { return strict(call, "unknown", id, []byte{0}) },
		"seqid":    func(id int) []byte { return strict(reply, "unknown", id+1000, []byte{0}) },
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			defer nc.Close()
			if id, err := readCall(nc); err == nil {
				nc.Write(frame(answer(id)))
				readCall(nc)
			}
		}()
		proxy := serve(t, &rpc.Server{Processor: rpc.NewProcessor("", nil).WithFallback(forward(dial(t, l.Addr().String())))}, nil)
		c, m := dial(t, proxy), rpc.RawMethod("unknown", false)
		var e *rpc.ApplicationException
		if _, err := c.Call(t.Context(), m, c.NewArgs(m)); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFallbackKeepsNothing: a MultiplexedCaller, through which names of strangers are forwarded,
// keeps none of them.
func TestFallbackKeepsNothing(t *testing.T) {
	addr := serve(t, &rpc.Server{Processor: rpc.NewProcessor("", nil).WithFallback(func(ctx context.Context, c *rpc.Call) error { return nil })}, nil)
	c := rpc.MultiplexedCaller(dial(t, addr), "svc")
	for range 10 {
		m := rpc.RawMethod("x", false)
		if _, err := c.Call(t.Context(), m, c.NewArgs(m)); err != nil {
			t.Fatal(err)
		}
	}
	if n := rpcinside.Methods(c); n != 0 {
		t.Errorf("%d methods are kept", n)
	}
}

// part is the part of arguments that the test of WithFallbackArgs knows: a struct with a name in
// field 1.
type part nocopy.Struct

const (
	partItem     thriftimpl.Field = 2<<48 | 3<<32 | 12<<16 | 1
	partItemName thriftimpl.Field = 2<<48 | 3<<32 | 11<<16 | 1
)

var partItemDesc, partDesc = thriftimpl.NewDesc("Item"), thriftimpl.NewDesc("Args")

func init() {
	partItemDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "name", Type: thriftimpl.TypeString})
	partDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "item", Type: thriftimpl.StructOf(partItemDesc)})
}

func (part) ThriftDesc() *thriftimpl.Desc      { return partDesc }
func (p part) ThriftStruct() thriftimpl.Struct { return thriftimpl.Struct(p) }
func (p part) item() thriftimpl.Struct         { return thriftimpl.Struct(p).Child(partItem, partDesc) }

// TestFallbackArgs: a fallback reads and changes what it knows of the arguments; all else of them
// arrives as it was sent.
func TestFallbackArgs(t *testing.T) {
	t.Parallel()
	for how, opts := range forwardOptions {
		for _, lazy := range []bool{false, true} {
			for _, recycle := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/lazy %t/recycle %t", how, lazy, recycle), func(t *testing.T) {
					var notFound atomic.Int32
					forward := rpc.Forward(dial(t, serve(t, &rpc.Server{}, &handler{}), opts...))
					p := rpc.NewProcessor("Any", nil).WithFallbackArgs(partDesc, func(ctx context.Context, c *rpc.Call) error {
						args, ok := rpc.ArgsOf[part](c)
						if !ok {
							t.Error("the arguments are not what they are")
						}
						switch item := args.item(); {
						case c.Method.Name != "put":
							if nocopy.Struct(item).Valid() {
								t.Errorf("%s has an item", c.Method.Name)
							}
							notFound.Add(1)
						default:
							item.SetText(partItemName, "via proxy: "+item.Text(partItemName))
						}
						return forward(ctx, c)
					})
					addr := serve(t, &rpc.Server{Processor: p, Lazy: lazy, Recycle: recycle}, nil)
					c := echo.NewEchoClient(dial(t, addr, opts...))
					for _, size := range []int{0, 10, 10_000, 300_000} {
						data := bytes.Repeat([]byte("d"), size)
						res, err := c.Put(bg, func(args echo.EchoPutArgs) {
							item := args.NewItem()
							item.SetData(data)
							item.SetNumbers([]int64{1, 2, 3})
							item.SetName("name")
							args.SetMode("link")
						})
						if err != nil {
							t.Fatal(err)
						}
						item := res.GetSuccess()
						if item.GetName() != "via proxy: name" || !bytes.Equal(item.GetData(), data) || item.GetNumbers().Len() != 3 {
							t.Errorf("got %.100v", res)
						}
					}
					// Field 1 is of another type there, and unknown therefore.
					sum, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(2); args.SetB(3) })
					if err != nil || sum.GetSuccess() != 5 || notFound.Load() != 1 {
						t.Errorf("add: %v, %v", sum, err)
					}
				})
			}
		}
	}
}

// TestFallbackPanics: a program that gives nil has a clear text.
func TestFallbackPanics(t *testing.T) {
	p := rpc.NewProcessor("Any", nil)
	handler := func(ctx context.Context, c *rpc.Call) error { return nil }
	for want, f := range map[string]func(){
		"nocopy: rpc.Processor.WithFallback with a nil Handler":     func() { p.WithFallback(nil) },
		"nocopy: rpc.Processor.WithFallbackArgs with a nil Handler": func() { p.WithFallbackArgs(partDesc, nil) },
		"nocopy: rpc.Processor.WithFallbackArgs with a nil Desc":    func() { p.WithFallbackArgs(nil, handler) },
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("it panics with %v", got)
				}
			}()
			f()
		})
	}
}

// TestCallPeek: a handler finds values in the arguments, wherever they are and however they came,
// and they stay as they were when the arguments are changed.
func TestCallPeek(t *testing.T) {
	t.Parallel()
	for _, recycle := range []bool{false, true} {
		for _, framed := range []bool{true, false} {
			for _, size := range []int{0, 100, 5_000, 1 << 20} {
				t.Run(fmt.Sprintf("recycle %t/framed %t/%d bytes", recycle, framed, size), func(t *testing.T) {
					data := bytes.Repeat([]byte("d"), size)
					p := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(func(ctx context.Context, c *rpc.Call) error {
						name, err := c.Peek(1, 1)
						if err != nil || name.Text() != "first" {
							t.Errorf("first: %v", err)
						}
						args, _ := rpc.ArgsOf[echo.EchoPutArgs](c)
						args.GetItem().SetName("other")
						if name.Text() != "first" {
							t.Errorf("it became %q", name.Text())
						}
						if now, err := c.Peek(1, 1); err != nil || now.Text() != "other" {
							t.Errorf("changed: %v", err)
						}
						if got, err := c.Peek(1, 2); err != nil || !bytes.Equal(got.Bytes(), data) {
							t.Errorf("data: %v", err)
						}
						if mode, err := c.Peek(2); err != nil || mode.Text() != "last" {
							t.Errorf("last: %v", err)
						}
						if _, err := c.Peek(1, 7); !errors.Is(err, nocopy.ErrNotFound) {
							t.Errorf("no such field: %v", err)
						}
						return nil
					}, "put")
					opts := []rpc.Option{rpc.MaxFrame(4 << 20)}
					if !framed {
						opts = append(opts, rpc.Unframed)
					}
					c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: p, Recycle: recycle, Lazy: true}, nil), opts...))
					for range 3 {
						var none *rpc.ApplicationException
						_, err := c.Put(bg, func(args echo.EchoPutArgs) {
							args.NewItem().SetName("first")
							args.GetItem().SetData(data)
							args.SetMode("last")
						})
						if !errors.As(err, &none) || none.Type != rpc.MissingResult {
							t.Fatal(err)
						}
					}
				})
			}
		}
	}
	if _, err := new(rpc.Call).Peek(1); err == nil {
		t.Error("a value in arguments that are not there")
	}
}
