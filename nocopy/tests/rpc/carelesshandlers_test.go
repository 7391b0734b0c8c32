package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// custom is the Echo service with some methods replaced by a test.
type custom struct {
	handler
	put    func(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error
	notify func(ctx context.Context, args echo.EchoNotifyArgs) error
	fail   func(ctx context.Context, args echo.EchoFailArgs, result echo.EchoFailResult) error
	added  chan struct{} // receives when add was called, if not nil
}

func (c *custom) Add(ctx context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	if c.added != nil {
		c.added <- struct{}{}
	}
	return c.handler.Add(ctx, args, result)
}

func (c *custom) Put(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
	if c.put == nil {
		return c.handler.Put(ctx, args, result)
	}
	return c.put(ctx, args, result)
}

func (c *custom) Notify(ctx context.Context, args echo.EchoNotifyArgs) error {
	if c.notify == nil {
		return c.handler.Notify(ctx, args)
	}
	return c.notify(ctx, args)
}

func (c *custom) Fail(ctx context.Context, args echo.EchoFailArgs, result echo.EchoFailResult) error {
	if c.fail == nil {
		return c.handler.Fail(ctx, args, result)
	}
	return c.fail(ctx, args, result)
}

type putHandler = func(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error

// Errors whose methods panic.
type (
	nilError    struct{ text string }
	unwrapPanic struct{}
	asPanic     struct{}
	errorPanic  struct{}
	selfPanic   struct{} // with a value that panics when it is printed
	exitError   struct{}
)

func (e *nilError) Error() string { return e.text }
func (unwrapPanic) Error() string { return "unwrap" }
func (unwrapPanic) Unwrap() error { panic("in Unwrap: secret") }
func (asPanic) Error() string     { return "as" }
func (asPanic) As(any) bool       { panic("in As: secret") }
func (errorPanic) Error() string  { panic("in Error: secret") }
func (e selfPanic) Error() string { panic(e) }
func (exitError) Error() string   { runtime.Goexit(); return "" }

func conflict(text string) (e echo.Conflict) {
	e = echo.NewConflict()
	e.SetWhat(text)
	return e
}

// careless holds handlers with mistakes. For each the client gets an internal error.
var careless = map[string]putHandler{
	"a released exception": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		e := conflict("what")
		defer e.Release()
		return e
	},
	"a released exception, wrapped": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		e := conflict("what")
		defer e.Release()
		return fmt.Errorf("secret: %w", e)
	},
	"a released exception, joined": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		e := conflict("what")
		e.Release()
		return errors.Join(errors.New("secret"), e)
	},
	"a zero exception": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		var e echo.Conflict
		return e
	},
	"a zero exception, wrapped": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		return fmt.Errorf("secret: %w", echo.NotFound{})
	},
	"an absent exception": func(_ context.Context, _ echo.EchoPutArgs, result echo.EchoPutResult) error {
		return result.GetMissing()
	},
	"a typed nil": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		var e *nilError
		return e
	},
	"a nil ApplicationException": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		var e *rpc.ApplicationException
		return e
	},
	"Unwrap panics": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { return unwrapPanic{} },
	"As panics":     func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { return asPanic{} },
	"Error panics":  func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { return errorPanic{} },
	"Error panics with itself": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		return selfPanic{}
	},
	"Error ends its goroutine": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		return exitError{}
	},
	"it panics with an error that panics with itself": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		panic(selfPanic{})
	},
	"it panics with an error that ends its goroutine": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		panic(exitError{})
	},
	"it panics": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { panic("secret") },
	"it panics with an error that panics": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		panic(errorPanic{})
	},
	"it panics with nil": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { panic(nil) },
	"it ends its goroutine": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		runtime.Goexit()
		return nil
	},
	"it ends its goroutine and panics on the way out": func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
		defer panic("secret")
		runtime.Goexit()
		return nil
	},
	"args released": func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		result.NewSuccess()
		args.Release()
		return nil
	},
	"args released twice": func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		args.Release()
		args.Release()
		return nil
	},
	"args' message released": func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		result.NewSuccess()
		m := args.Message()
		m.Release()
		m.Release()
		return nil
	},
	"args released and used": func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		item := args.GetItem()
		args.Release()
		result.SetSuccess(item)
		return nil
	},
	"args released and an error": func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		args.Release()
		return errorPanic{}
	},
	"the result released": func(_ context.Context, _ echo.EchoPutArgs, result echo.EchoPutResult) error {
		result.NewSuccess()
		result.Release()
		return nil
	},
	"the result released twice": func(_ context.Context, _ echo.EchoPutArgs, result echo.EchoPutResult) error {
		m := result.Message()
		result.Release()
		result.Release()
		m.Release()
		return nil
	},
	"the result's message released": func(_ context.Context, _ echo.EchoPutArgs, result echo.EchoPutResult) error {
		result.Message().Release()
		return nil
	},
	"the result released in another goroutine": func(_ context.Context, _ echo.EchoPutArgs, result echo.EchoPutResult) error {
		done := make(chan struct{})
		go func() { defer close(done); result.Release() }()
		<-done
		return nil
	},
}

// TestCareless: for any mistake that a handler makes or returns, its client gets an error, the log
// has a line, and other calls are not affected.
func TestCareless(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	through := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }
	for _, v := range []struct {
		name   string
		server *rpc.Server
		client []rpc.Option
	}{
		{"framed", &rpc.Server{}, nil},
		{"unframed, recycling", &rpc.Server{Recycle: true}, []rpc.Option{rpc.Unframed}},
		{"compact, unframed", &rpc.Server{}, []rpc.Option{rpc.Compact, rpc.Unframed}},
		{"THeader", &rpc.Server{Recycle: true}, []rpc.Option{rpc.THeader()}},
		{"intercepted", &rpc.Server{Interceptors: []rpc.Interceptor{through, through}}, []rpc.Option{rpc.Compact}},
		{"intercepted, recycling, one at a time", &rpc.Server{Interceptors: []rpc.Interceptor{through}, Recycle: true, Concurrency: 1}, nil},
	} {
		t.Run(v.name, func(t *testing.T) {
			h, q := &custom{}, new(quiet)
			srv := v.server
			srv.Processor, srv.Logger = echo.NewEchoProcessor(h), q.logger()
			addr := serve(t, srv, &h.handler)
			c := echo.NewEchoClient(dial(t, addr, append(v.client, rpc.PoolSize(1))...))
			other := echo.NewEchoClient(dial(t, addr))
			for name, f := range careless {
				h.put = f
				_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("name"); args.SetMode("") })
				id := concealedID(t, name, err)
				if !strings.Contains(q.String(), "id="+id) {
					t.Errorf("%s: the log does not have id %s", name, id)
				}
				h.put = nil
				for range 3 {
					res, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName(name); args.SetMode("fill") })
					if err != nil || res.GetSuccess().GetName() != name {
						t.Errorf("the connection after %s: %v, %v", name, res, err)
					}
				}
				unharmed(t, other)
			}
		})
	}
}

// concealedID checks that an error has the fixed text and an id, and returns the id.
func concealedID(t *testing.T, what string, err error) string {
	t.Helper()
	var ae *rpc.ApplicationException
	if !errors.As(err, &ae) || ae.Type != rpc.InternalError || withoutID(ae.Message) != concealed {
		t.Errorf("%s: the client gets %v", what, err)
		return "none"
	}
	return strings.TrimPrefix(ae.Message, concealed)
}

// TestCarelessOneway: as TestCareless, for oneway calls, which show in the log only.
func TestCarelessOneway(t *testing.T) {
	for name, f := range map[string]func(context.Context, echo.EchoNotifyArgs) error{
		"panic":                    func(context.Context, echo.EchoNotifyArgs) error { panic("oh") },
		"exit":                     func(context.Context, echo.EchoNotifyArgs) error { runtime.Goexit(); return nil },
		"error panics":             func(context.Context, echo.EchoNotifyArgs) error { return errorPanic{} },
		"error panics with itself": func(context.Context, echo.EchoNotifyArgs) error { return selfPanic{} },
		"error ends its goroutine": func(context.Context, echo.EchoNotifyArgs) error { return exitError{} },
		"panics with what does":    func(context.Context, echo.EchoNotifyArgs) error { panic(selfPanic{}) },
		"panics with what exits":   func(context.Context, echo.EchoNotifyArgs) error { panic(exitError{}) },
		"release":                  func(_ context.Context, args echo.EchoNotifyArgs) error { args.Release(); return nil },
		"message release":          func(_ context.Context, args echo.EchoNotifyArgs) error { args.Message().Release(); return nil },
		"zero exception":           func(context.Context, echo.EchoNotifyArgs) error { return echo.Conflict{} },
		"exit and panic": func(context.Context, echo.EchoNotifyArgs) error {
			defer panic("oh")
			runtime.Goexit()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := new(quiet)
			addr := serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(&custom{notify: f}), Logger: q.logger()}, nil)
			c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1)))
			for range 3 {
				if err := c.Notify(bg, nil); err != nil {
					t.Error(err)
				}
				unharmed(t, c)
			}
			logs(t, q, "level=ERROR")
		})
	}
}

// TestExceptionsReturned: the client gets a copy of a returned exception. The handler's exception
// does not change, whether one call returns it or many at a time, whether it is large or small,
// finished or not.
func TestExceptionsReturned(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5, 5000, 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			sentinel := conflict(strings.Repeat("x", size))
			var mu sync.Mutex
			var made []echo.Conflict
			h := &custom{put: func(_ context.Context, args echo.EchoPutArgs, _ echo.EchoPutResult) error {
				switch args.GetMode() {
				case "sentinel":
					return sentinel
				case "wrapped sentinel":
					return fmt.Errorf("wrapped: %w", sentinel)
				}
				e := conflict(strings.Repeat(args.GetMode(), size))
				mu.Lock()
				made = append(made, e)
				mu.Unlock()
				return e
			}}
			srv := &rpc.Server{Processor: echo.NewEchoProcessor(h)}
			c := echo.NewEchoClient(dial(t, serve(t, srv, nil)))
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					for j := range 20 {
						mode := []string{"sentinel", "wrapped sentinel", string(rune('a' + i))}[j%3]
						want := strings.Repeat("x", size)
						if j%3 == 2 {
							want = strings.Repeat(mode, size)
						}
						_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode(mode) })
						var e echo.Conflict
						if !errors.As(err, &e) || e.GetWhat() != want {
							t.Errorf("%s: %.100v", mode, err)
						}
					}
				})
			}
			wg.Wait()
			srv.Shutdown(bg)
			if sentinel.GetWhat() != strings.Repeat("x", size) {
				t.Error("the sentinel has changed")
			}
			for _, e := range made {
				if e.GetWhat() == "" {
					t.Error("an exception was released")
				}
				e.Release()
			}
		})
	}
}

// TestTooLate: handles that a handler keeps panic after it has returned, and affect no other call.
func TestTooLate(t *testing.T) {
	var results []echo.EchoPutResult
	var args []echo.EchoPutArgs
	var messages []*nocopy.Message
	h := &custom{put: func(_ context.Context, a echo.EchoPutArgs, r echo.EchoPutResult) error {
		if a.GetMode() == "keep" {
			results, args = append(results, r), append(args, a)
		}
		if a.GetMode() == "keep message" {
			messages = append(messages, r.Message(), a.Message())
		}
		r.NewSuccess().SetName(a.GetItem().GetName())
		return nil
	}}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h), Recycle: true}, nil), rpc.PoolSize(1)))
	put := func(mode, name string) {
		t.Helper()
		res, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName(name); args.SetMode(mode) })
		if err != nil || res.GetSuccess().GetName() != name {
			t.Fatalf("%s: %v, %v", mode, res, err)
		}
	}
	for i := range 10 {
		put("keep", "kept")
		put("keep message", "kept")
		put("", fmt.Sprint("another ", i))
	}
	// The messages of this call may be some of theirs.
	h.fail = func(_ context.Context, _ echo.EchoFailArgs, result echo.EchoFailResult) error {
		for i := range results {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("a result can be written to when its call has ended")
					}
				}()
				results[i].SetSuccess(echo.Item{})
			}()
			results[i].Release()
			args[i].Release()
		}
		for _, m := range messages {
			m.Release()
		}
		result.NewMissing().SetKey("of this call")
		return nil
	}
	var missing echo.NotFound
	if _, err := c.Fail(bg, nil); !errors.As(err, &missing) || missing.GetKey() != "of this call" {
		t.Errorf("a call that is under way meanwhile: %v", err)
	}
	for i := range 10 {
		put("", fmt.Sprint("afterwards ", i))
	}
}

// brokenLogger is a slog.Handler that panics at every line.
type brokenLogger struct{}

func (brokenLogger) Enabled(context.Context, slog.Level) bool  { return true }
func (brokenLogger) Handle(context.Context, slog.Record) error { panic("the disk is full") }
func (l brokenLogger) WithAttrs([]slog.Attr) slog.Handler      { return l }
func (l brokenLogger) WithGroup(string) slog.Handler           { return l }

// TestBrokenLogger: a logger that panics does not take a server down.
func TestBrokenLogger(t *testing.T) {
	h := &custom{put: func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { panic("oh") }}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h), Logger: slog.New(brokenLogger{})}, nil)))
	_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode("") })
	concealedID(t, "a panic", err)
	unharmed(t, c)
}

// TestBrokenLoggerOfClient: nor does it take a client down, which logs in other goroutines.
func TestBrokenLoggerOfClient(t *testing.T) {
	addr := fakeServer(t, func(nc net.Conn) {
		readCall(nc)
		send(t, nc, frame(strict(reply, "add", 9, sumResult(1)), []byte("garbage")))
		send(t, nc, frame([]byte("garbage")))
	})
	c := dial(t, addr, rpc.Logger(slog.New(brokenLogger{})))
	if _, err := echo.NewEchoClient(c).Add(bg, nil); err == nil {
		t.Error("the call succeeds")
	}
	c.Close()
}

// TestHideErrors: with HideErrors clients get no texts of errors, except the texts of declared
// exceptions and ApplicationExceptions.
func TestHideErrors(t *testing.T) {
	q := new(quiet)
	h := &handler{}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{HideErrors: true, Logger: q.logger()}, h)))
	put := func(mode string) error {
		_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("key"); args.SetMode(mode) })
		return err
	}
	id := concealedID(t, "an error", put("undeclared"))
	if log := q.String(); !strings.Contains(log, "id="+id) || !strings.Contains(log, "the disk is full") {
		t.Errorf("the log: %s", log)
	}
	concealedID(t, "a panic", put("panic"))
	var ae *rpc.ApplicationException
	if err := put("application exception"); !errors.As(err, &ae) || ae.Message != "as it is" {
		t.Error(err)
	}
	var missing echo.NotFound
	if err := put("missing, returned"); !errors.As(err, &missing) || missing.GetKey() != "key" {
		t.Error(err)
	}
}

// TestReplyWaits: a handler can't change its result while that waits for the replies before it.
func TestReplyWaits(t *testing.T) {
	returned := make(chan echo.EchoPutResult, 1)
	parked := make(chan struct{})
	h := &custom{added: make(chan struct{}, 1)}
	h.fail = func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error {
		close(parked)
		<-h.added // the call after put was begun: put's reply waits for its reply
		defer func() {
			if recover() == nil {
				t.Error("a result can be written to that waits to be sent")
			}
		}()
		(<-returned).GetSuccess().SetName("changed")
		return nil
	}
	h.put = func(_ context.Context, _ echo.EchoPutArgs, result echo.EchoPutResult) error {
		result.NewSuccess().SetName("as it was")
		returned <- result
		return nil
	}
	nc := dialRaw(t, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h)}, nil))
	send(t, nc, frame(strict(call, "fail", 1, []byte{0})))
	<-parked
	send(t, nc, frame(strict(call, "put", 2, []byte("\x0b\x00\x02\x00\x00\x00\x00\x00"))))
	send(t, nc, frame(strict(call, "add", 3, addArgs(1, 2))))
	expect(t, nc, frame(strict(reply, "fail", 1, []byte{0})))
	typ, _, _, body := readMessage(t, nc, true)
	if result, err := echo.ParseEchoPutResult(body); typ != reply || err != nil || result.GetSuccess().GetName() != "as it was" {
		t.Errorf("type %d, %v, %v", typ, result, err)
	}
	expect(t, nc, frame(strict(reply, "add", 3, sumResult(3))))
}
