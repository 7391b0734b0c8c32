package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// forwarders are the Processors that forward all calls to a backend: with the IDL and without it,
// and with another IDL for some methods only.
var forwarders = map[string]func(backend rpc.Caller) *rpc.Processor{
	"typed": func(b rpc.Caller) *rpc.Processor {
		return echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(b))
	},
	"typed, lazy": func(b rpc.Caller) *rpc.Processor {
		return echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(b)).WithLazy()
	},
	"fallback": func(b rpc.Caller) *rpc.Processor {
		return rpc.NewProcessor("Any", nil).WithFallback(rpc.Forward(b))
	},
	"some typed": func(b rpc.Caller) *rpc.Processor {
		return echo.NewBaseProcessor(echo.UnimplementedBaseHandler{}).WithHandler(rpc.Forward(b), "ping").WithHandler(rpc.Forward(b)).WithFallback(rpc.Forward(b))
	},
}

// forwardOptions are the ways in which a proxy is connected to its backend.
var forwardOptions = map[string][]rpc.Option{
	"framed":              nil,
	"framed, lazy":        {rpc.Lazy},
	"lazy methods":        {rpc.LazyMethods("echo"), rpc.LazyMethods("put")},
	"unframed, lazy":      {rpc.Unframed, rpc.Lazy},
	"recycling":           {rpc.Recycle},
	"compact, lazy":       {rpc.Compact, rpc.Lazy},
	"compact, unframed":   {rpc.Compact, rpc.Unframed},
	"THeader, lazy":       {rpc.THeader(), rpc.Lazy},
	"recycling, unframed": {rpc.Recycle, rpc.Unframed},
	"intercepted": {rpc.Lazy, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		return next(ctx, c)
	})},
}

// clientOf returns a client of a server with this Processor.
func clientOf(t *testing.T, p *rpc.Processor, recycle bool, opts ...rpc.Option) echo.EchoClient {
	return echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: p, Recycle: recycle}, nil), opts...))
}

// TestForward: through each kind of proxy, calls have the same results as without one.
func TestForward(t *testing.T) {
	t.Parallel()
	pair := 0
	for name, of := range forwarders {
		for how, opts := range forwardOptions {
			pair++
			by, largeBy := pair%2, pair%4 // in the short form half of the clients call, one with most
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				recycle := strings.Contains(how, "recycling")
				h := &handler{notified: make(chan string, 10)}
				p := of(dial(t, serve(t, &rpc.Server{Recycle: recycle}, h), opts...))
				for k, unframed := range [][]rpc.Option{nil, {rpc.Unframed}, {rpc.Compact}, {rpc.THeader()}} {
					if k%2 != by && !testmode.Long {
						continue
					}
					c := clientOf(t, p, recycle, unframed...)
					var wg sync.WaitGroup
					for i := range testmode.Of(2, 4) {
						wg.Go(func() {
							for _, size := range []int{0, 10, 3000, 5000, 100_000, 2 << 20} {
								if size > 1<<20 && (i > 0 || k != largeBy) && !testmode.Long {
									continue
								}
								echoes(t, c, strings.Repeat(string(rune('a'+i)), size))
							}
						})
					}
					wg.Wait()
					checkOutcomes(t, c, h)
				}
			})
		}
	}
}

// checkOutcomes makes calls that end in all ways that there are.
func checkOutcomes(t *testing.T, c echo.EchoClient, h *handler) {
	t.Helper()
	put := func(mode string) (echo.EchoPutResult, error) {
		return c.Put(bg, func(args echo.EchoPutArgs) {
			args.SetMode(mode)
			args.NewItem().SetName("key")
			args.GetItem().SetData(bytes.Repeat([]byte("data"), 3000))
		})
	}
	for _, mode := range []string{"link", "fill"} {
		if res, err := put(mode); err != nil || res.GetSuccess().GetName() != "key" || len(res.GetSuccess().GetData()) != 12_000 {
			t.Errorf("%s: %v", mode, err)
		}
	}
	for _, mode := range []string{"missing, filled", "missing, returned"} {
		var missing echo.NotFound
		if _, err := put(mode); !errors.As(err, &missing) || missing.GetKey() != "key" {
			t.Errorf("%s: %v", mode, err)
		}
	}
	var conflict echo.Conflict
	if _, err := put("conflict, after a result"); !errors.As(err, &conflict) || conflict.GetWhat() != "twice" {
		t.Error(err)
	}
	for mode, want := range map[string]rpc.ExceptionType{"undeclared": rpc.InternalError, "nothing": rpc.MissingResult, "application exception": rpc.InvalidTransform} {
		var e *rpc.ApplicationException
		if _, err := put(mode); !errors.As(err, &e) || e.Type != want {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if _, err := c.Ping(bg, nil); err != nil {
		t.Error(err)
	}
	if err := c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("passed on") }); err != nil || <-h.notified != "passed on" {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	if _, err := c.Echo(ctx, func(args echo.EchoEchoArgs) { args.SetDelayMs(3000) }); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	unharmed(t, c)
}

// TestForwardUnknown: a proxy forwards parts that its IDL does not have: fields of arguments and
// of results, an exception, and a result without any known field.
func TestForwardUnknown(t *testing.T) {
	t.Parallel()
	strange := "\x0b\x03\xe8\x00\x00\x00\x01x" + "\x0c\x03\xe9\x08\x00\x01\x00\x00\x00\x07\x00"
	args := append(bytes.TrimSuffix(addArgs(1, 2), []byte{0}), strange+"\x00"...)
	for name, of := range forwarders {
		t.Run(name, func(t *testing.T) {
			for _, result := range []string{"\x00", strange + "\x00", "\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03" + strange + "\x00", "\x0c\x00\x05\x00\x00"} {
				got := make(chan []byte, 1)
				backend := fakeServer(t, func(nc net.Conn) {
					b, err := readFrame(nc)
					if err != nil {
						return
					}
					at := 4 + 4 + len("add")
					got <- b[at+4:]
					nc.Write(frame(strict(reply, "add", int(binary.BigEndian.Uint32(b[at:])), []byte(result))))
					io.Copy(io.Discard, nc)
				})
				nc := dialRaw(t, serve(t, &rpc.Server{Processor: of(dial(t, backend))}, nil))
				send(t, nc, frame(strict(call, "add", 7, args)))
				expect(t, nc, frame(strict(reply, "add", 7, []byte(result))))
				if b := <-got; !bytes.Equal(b, args) {
					t.Errorf("the backend got %q, not %q", b, args)
				}
			}
		})
	}
}

// TestForwardHook: a handler around Forward changes the arguments for the backend, and its
// results.
func TestForwardHook(t *testing.T) {
	t.Parallel()
	h := &handler{notified: make(chan string, 1)}
	for how, opts := range forwardOptions {
		t.Run(how, func(t *testing.T) {
			forward := rpc.Forward(dial(t, serve(t, &rpc.Server{}, h), opts...))
			p := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(forward).WithLazy("put").WithHandler(func(ctx context.Context, c *rpc.Call) error {
				args, ok := rpc.ArgsOf[echo.EchoPutArgs](c)
				if _, other := rpc.ArgsOf[echo.EchoAddArgs](c); !ok || other {
					t.Error("the arguments are not what they are")
				}
				if _, ok := rpc.ResultOf[echo.EchoAddResult](c); ok {
					t.Error("the result is not what it is")
				}
				args.GetItem().SetName("to the backend: " + args.GetItem().GetName())
				if err := forward(ctx, c); err != nil {
					return err
				}
				res, ok := rpc.ResultOf[echo.EchoPutResult](c)
				if !ok {
					t.Error("no result")
				} else if res.IsSetMissing() {
					res.GetMissing().SetCode(7)
				} else {
					res.GetSuccess().SetName(res.GetSuccess().GetName() + ", and back")
				}
				args.GetItem().SetName("later")
				return nil
			}, "put")
			c := clientOf(t, p, true)
			for _, size := range []int{10, 100_000, 3 << 20} {
				data := strings.Repeat("d", size)
				for range testmode.Of(2, 3) {
					res, err := c.Put(bg, func(args echo.EchoPutArgs) {
						args.SetMode("link")
						args.NewItem().SetName("name")
						args.GetItem().SetData([]byte(data))
					})
					if err != nil || res.GetSuccess().GetName() != "to the backend: name, and back" || string(res.GetSuccess().GetData()) != data {
						t.Fatalf("%.100v, %v", res, err)
					}
				}
			}
			var missing echo.NotFound
			_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode("missing, filled"); args.NewItem().SetName("n") })
			if !errors.As(err, &missing) || missing.GetKey() != "to the backend: n" || missing.GetCode() != 7 {
				t.Error(err)
			}
			unharmed(t, c)
		})
	}
}

// TestForwardMultiplexed: a service's name before a method's goes through a fallback as it is;
// else each side has its own.
func TestForwardMultiplexed(t *testing.T) {
	t.Parallel()
	backend := dial(t, serve(t, &rpc.Server{Processor: rpc.Multiplexed(map[string]*rpc.Processor{"B": echo.NewEchoProcessor(&handler{})})}, nil))
	for name, p := range map[string]*rpc.Processor{
		"as it is":        rpc.NewProcessor("Any", nil).WithFallback(rpc.Forward(backend)),
		"of the service":  rpc.Multiplexed(map[string]*rpc.Processor{"B": rpc.NewProcessor("Any", nil).WithFallback(rpc.Forward(rpc.MultiplexedCaller(backend, "B")))}),
		"typed":           rpc.Multiplexed(map[string]*rpc.Processor{"B": echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(rpc.MultiplexedCaller(backend, "B")))}),
		"typed, by names": rpc.Multiplexed(map[string]*rpc.Processor{"B": echo.NewEchoProcessor(echo.UnimplementedEchoHandler{})}).WithHandler(rpc.Forward(rpc.MultiplexedCaller(backend, "B")), "B:add", "B:echo"),
	} {
		t.Run(name, func(t *testing.T) {
			c := echo.NewEchoClient(rpc.MultiplexedCaller(dial(t, serve(t, &rpc.Server{Processor: p}, nil)), "B"))
			unharmed(t, c)
			echoes(t, c, "multiplexed")
		})
	}
}

// TestForwardMadeForEachCall: a proxy that makes a Forward for each call keeps nothing of it, also
// where one service is in another.
func TestForwardMadeForEachCall(t *testing.T) {
	inner := rpc.Multiplexed(map[string]*rpc.Processor{"B": echo.NewEchoProcessor(&handler{})})
	backend := dial(t, serve(t, &rpc.Server{Processor: rpc.Multiplexed(map[string]*rpc.Processor{"A": inner})}, nil))
	outer := rpc.MultiplexedCaller(backend, "A")
	caller := rpc.MultiplexedCaller(outer, "B")
	p := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(func(ctx context.Context, c *rpc.Call) error { return rpc.Forward(caller)(ctx, c) })
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: p}, nil)))
	for range 20 {
		echoes(t, c, "one of many")
	}
	unharmed(t, c)
	// By the same Caller, but not forwarded
	if _, err := echo.NewEchoClient(caller).Ping(bg, nil); err != nil {
		t.Error(err)
	}
	var missing *rpc.ApplicationException
	if _, err := echo.NewEchoClient(caller).Put(bg, func(args echo.EchoPutArgs) { args.SetMode("nothing") }); !errors.As(err, &missing) || missing.Type != rpc.MissingResult {
		t.Errorf("a call that is not forwarded: %v", err)
	}
	for _, of := range []rpc.Caller{caller, outer} {
		if n := rpcinside.Methods(of); n == 0 || n > 6 {
			t.Errorf("%d methods kept of 6", n)
		}
	}
}

// TestForwardCancel: when a proxy's client is gone, or its deadline is over, the call to the
// backend ends.
func TestForwardCancel(t *testing.T) {
	t.Parallel()
	for name, of := range forwarders {
		t.Run(name, func(t *testing.T) {
			h := &handler{waiting: make(chan struct{}, 10)}
			backend := dial(t, serve(t, &rpc.Server{HalfCloseTimeout: time.Millisecond}, h))
			ended := make(chan error, 1)
			watched := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				err := next(ctx, c)
				ended <- err
				return err
			}
			srv := &rpc.Server{Processor: of(backend), Interceptors: []rpc.Interceptor{watched}, HalfCloseTimeout: time.Millisecond}
			nc := dialRaw(t, serve(t, srv, nil))
			how := echo.NewEchoFailArgs()
			how.SetHow("until cancelled")
			send(t, nc, frame(strict(call, "fail", 1, how.Message().Bytes())))
			<-h.waiting
			nc.Close()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			backend.Close()
			<-h.waiting
		})
	}
}

// TestForwardBackendGone: calls that can't reach the backend fail, with a text or, with
// HideErrors, without; they go on when it is back.
func TestForwardBackendGone(t *testing.T) {
	t.Parallel()
	backend := dial(t, fakeServer(t, func(nc net.Conn) { nc.Close() }))
	for _, hide := range []bool{false, true} {
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(backend)), HideErrors: hide}
		_, err := echo.NewEchoClient(dial(t, serve(t, srv, nil))).Ping(bg, nil)
		var e *rpc.ApplicationException
		if !errors.As(err, &e) || e.Type != rpc.InternalError || strings.Contains(e.Message, "Echo.ping") == hide {
			t.Error(err)
		}
	}
}

// TestForwardCopiesNothing: for a large call or result, a proxy allocates little more than the
// bytes that it receives.
func TestForwardCopiesNothing(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("this build allocates")
	}
	if !testmode.InOwnProcess(t) {
		return
	}
	size := testmode.Of(256<<10, 2<<20)
	pass := rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) })
	for i, s := range shapes {
		for k, way := range []struct{ framed, intercepted bool }{{true, false}, {false, false}, {false, true}, {true, true}} {
			if !testmode.Long && (i+k)%2 == 0 {
				continue // by turns
			}
			t.Run(fmt.Sprintf("%s/%+v", s.name, way), func(t *testing.T) {
				framed := way.framed
				value := s.make(size)
				large, _ := bulkMessage(call, 1, value, framed)
				answer, seqid := bulkMessage(reply, 0, value, framed)
				var opts []rpc.Option
				if !framed {
					opts = append(opts, rpc.Unframed)
				}
				if way.intercepted {
					opts = append(opts, pass)
				}
				buf := make([]byte, len(large))
				backend := fakeServer(t, func(nc net.Conn) {
					for {
						if _, err := io.ReadFull(nc, buf); err != nil {
							return
						}
						copy(answer[seqid:seqid+4], buf[seqid:])
						if _, err := nc.Write(answer); err != nil {
							return
						}
					}
				})
				opts = append(opts, rpc.Lazy, rpc.MaxFrame(maxFrame))
				p := rpc.NewProcessor("Any", nil).WithFallback(rpc.Forward(dial(t, backend, opts...)))
				nc := dialRaw(t, serve(t, &rpc.Server{Processor: p, MaxFrame: maxFrame}, nil))
				nc.SetDeadline(time.Now().Add(time.Minute))
				got := make([]byte, len(answer))
				once := func() {
					go nc.Write(large)
					if _, err := io.ReadFull(nc, got); err != nil {
						t.Fatal(err)
					}
				}
				once()
				least := allocated(once)
				for range 5 {
					least = min(least, allocated(once))
				}
				if most := len(value) * 5 / 2; least > most {
					t.Errorf("%d bytes allocated for %d received, %.1f times as much", least, 2*len(value), float64(least)/float64(2*len(value)))
				}
				copy(answer[seqid:seqid+4], large[seqid:])
				if !bytes.Equal(got, answer) {
					t.Error("not the backend's answer")
				}
			})
		}
	}
}

// TestForwardBadProgram: mistakes are found when the program starts.
func TestForwardBadProgram(t *testing.T) {
	for want, f := range map[string]func(){
		"nocopy: rpc.Forward to a nil Caller":                  func() { rpc.Forward(nil) },
		"nocopy: rpc.Processor.WithHandler with a nil Handler": func() { echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(nil) },
		"nocopy: rpc.Processor.WithHandler: no method nope": func() {
			echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(&rpc.Client{}), "nope")
		},
		"nocopy: rpc.Processor.WithLazy: no method add": func() { echo.NewBaseProcessor(echo.UnimplementedBaseHandler{}).WithLazy("add") },
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("%s, not %s", got, want)
				}
			}()
			f()
		})
	}
}

// TestLazyServer: with Lazy, handlers read the same values, and malformed arguments are refused.
func TestLazyServer(t *testing.T) {
	t.Parallel()
	h := &handler{notified: make(chan string, 10)}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Lazy: true}, h), rpc.Lazy))
	checkOutcomes(t, c, h)
	nc := dialRaw(t, serve(t, &rpc.Server{Lazy: true}, h))
	send(t, nc, frame(strict(call, "add", 7, addArgs(1, 2)[:5])))
	expect(t, nc, frame(strict(exception, "add", 7, failure("nocopy: add_args.a: offset 5: unexpected EOF", 7))))
	two := dialRaw(t, serve(t, &rpc.Server{Lazy: true}, h))
	send(t, two, frame(strict(call, "add", 7, addArgs(1, 2)), strict(call, "add", 8, addArgs(3, 4))))
	expect(t, two, append(frame(strict(reply, "add", 7, sumResult(3))), frame(strict(reply, "add", 8, sumResult(7)))...))
}
