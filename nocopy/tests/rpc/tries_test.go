package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
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

// tryOpts holds settings of clients with an interceptor.
var tryOpts = map[string][]rpc.Option{
	"framed": nil, "unframed": {rpc.Unframed}, "recycling": {rpc.Recycle}, "compact": {rpc.Compact}, "THeader": {rpc.THeader()},
}

// intercepting calls f with clients that have the interceptor, and checks that no call is left.
func intercepting(t *testing.T, f rpc.Interceptor, g func(t *testing.T, c echo.EchoClient, cl *rpc.Client)) {
	t.Helper()
	for name, opts := range tryOpts {
		t.Run(name, func(t *testing.T) {
			h := &handler{notified: make(chan string, 100)}
			addr := serve(t, &rpc.Server{Recycle: name == "recycling"}, h)
			cl := dial(t, addr, append(opts, rpc.Interceptors(f), rpc.PoolSize(2), rpc.MaxInFlight(3))...)
			g(t, echo.NewEchoClient(cl), cl)
			unused(t, cl)
		})
	}
}

// unused checks that no call is in flight, also of those that were given up a moment ago.
func unused(t *testing.T, cl *rpc.Client) {
	t.Helper()
	for giveUp := until(time.Minute); !giveUp(); time.Sleep(5 * time.Millisecond) {
		inFlight, using := clientInUse(cl)
		if inFlight == 0 && using == 0 {
			return
		}
	}
	inFlight, using := clientInUse(cl)
	t.Errorf("left over: %d calls in flight, %d connections' places", inFlight, using)
}

// kept is a message that an interceptor has seen.
type kept struct {
	of *thriftimpl.Desc
	s  nocopy.Struct
}

func (k kept) released() bool { return !thriftimpl.Struct(k.s).Is(k.of) }

func echoes(t *testing.T, c echo.EchoClient, payload string) {
	t.Helper()
	res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload([]byte(payload)) })
	if err != nil || string(res.GetSuccess()) != payload {
		t.Errorf("%.20q: %.20q, %v", payload, res.GetSuccess(), err)
		return
	}
	res.Release()
}

// TestTries: each try sends the same arguments, which can be read until the interceptor has
// returned, and so can the result of the last try. Messages that are dropped are released.
func TestTries(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	for _, size := range []int{5, 3000, 5000, 300_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			payload := strings.Repeat("x", size)
			for tries := range 5 {
				var dropped []kept
				again := func(ctx context.Context, c *rpc.Call, next rpc.Handler) (err error) {
					if c.Method.Name != "echo" {
						return next(ctx, c)
					}
					for i := range tries {
						if err = next(ctx, c); err != nil || string(echo.EchoEchoResult(c.Result).GetSuccess()) != payload {
							t.Errorf("try %d: %v", i, err)
						}
						if string(echo.EchoEchoArgs(c.Args).GetPayload()) != payload {
							t.Errorf("after try %d the arguments are others", i)
						}
						dropped = append(dropped, kept{c.Method.Result, c.Result})
					}
					dropped = append(dropped, kept{c.Method.Args, c.Args})
					return err
				}
				intercepting(t, again, func(t *testing.T, c echo.EchoClient, cl *rpc.Client) {
					for range 4 {
						dropped = nil
						res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload([]byte(payload)) })
						if tries == 0 {
							var ae *rpc.ApplicationException
							if !errors.As(err, &ae) || ae.Type != rpc.MissingResult || res.Valid() {
								t.Errorf("next was not called: %v, %v", res, err)
							}
							continue
						}
						if err != nil || string(res.GetSuccess()) != payload {
							t.Error(err)
							continue
						}
						if last := len(dropped) - 2; dropped[last].s != nocopy.Struct(res) {
							t.Error("the result is not the last try's")
						} else {
							dropped = append(dropped[:last], dropped[last+1:]...)
						}
						for i, k := range dropped {
							if !k.released() {
								t.Errorf("message %d of %d was not released", i, len(dropped))
							}
						}
						res.Release()
					}
				})
			}
		})
	}
}

// TestEditBetweenTries: each try sends what the arguments are by then.
func TestEditBetweenTries(t *testing.T) {
	t.Parallel()
	edit := func(ctx context.Context, c *rpc.Call, next rpc.Handler) (err error) {
		args := echo.EchoEchoArgs(c.Args)
		for i, text := range []string{"short", strings.Repeat("long", 3000), "", strings.Repeat("x", 200), "the last one"} {
			args.SetPayload([]byte(text))
			args.SetDelayMs(int32(i % 2))
			if err = next(ctx, c); err != nil || string(echo.EchoEchoResult(c.Result).GetSuccess()) != text {
				t.Errorf("%.10q: %v, %v", text, c.Result, err)
			}
		}
		return err
	}
	intercepting(t, edit, func(t *testing.T, c echo.EchoClient, cl *rpc.Client) {
		for range 3 {
			res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(bytes.Repeat([]byte("first"), 2000)) })
			if err != nil || string(res.GetSuccess()) != "the last one" {
				t.Errorf("%q, %v", res.GetSuccess(), err)
			}
		}
	})
}

// TestEditWhileWritten: changes of arguments after a try was given up while it was being written
// are not sent with that try.
func TestEditWhileWritten(t *testing.T) {
	t.Parallel()
	const size = 12 << 20 // more than the kernel takes
	text := bytes.Repeat([]byte("text"), size/4)
	goOn, received := make(chan struct{}), make(chan []byte, 2)
	addr := fakeServer(t, func(nc net.Conn) {
		<-goOn
		for id := 1; id <= 2; id++ {
			b, err := readFrame(nc)
			if err != nil {
				return
			}
			received <- b
			nc.Write(frame(strict(reply, "put", id, []byte{12, 0, 0, 0, 0})))
		}
		io.Copy(io.Discard, nc)
	})
	retry := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if err := next(short, c); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a server that reads nothing: %v", err)
		}
		args := echo.EchoPutArgs(c.Args)
		args.GetItem().GetNumbers().Set(999, 2)
		args.SetMode("second")
		close(goOn)
		return next(ctx, c)
	}
	cl := dial(t, addr, rpc.PoolSize(1), rpc.Interceptors(retry))
	_, err := echo.NewEchoClient(cl).Put(bg, func(args echo.EchoPutArgs) {
		item := args.NewItem()
		copy(item.NewData(size), text)
		item.NewNumbers(1000).Set(999, 1)
		args.SetMode("first")
	})
	if err != nil {
		t.Error(err)
	}
	for i, mode := range []string{"first", "second"} {
		t.Run(mode, func(t *testing.T) {
			b := <-received
			args, err := echo.ParseEchoPutArgs(b[len(strict(call, "put", 1, nil)):])
			if err != nil || args.GetMode() != mode || args.GetItem().GetNumbers().At(999) != int64(i+1) || !bytes.Equal(args.GetItem().GetData(), text) {
				t.Errorf("try %d was sent as %q, %d, %v", i, args.GetMode(), args.GetItem().GetNumbers().At(999), err)
			}
		})
	}
	unused(t, cl)
}

// readFrame reads a frame and returns its contents.
func readFrame(nc net.Conn) ([]byte, error) {
	size := make([]byte, 4)
	if _, err := io.ReadFull(nc, size); err != nil {
		return nil, err
	}
	b := make([]byte, int(size[0])<<24|int(size[1])<<16|int(size[2])<<8|int(size[3]))
	_, err := io.ReadFull(nc, b)
	return b, err
}

// TestTriesAfterError: errors of tries have no effect on later tries, and the last try counts.
func TestTriesAfterError(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	for _, modes := range [][]string{
		{"undeclared", "fill"}, {"missing, filled", "fill"}, {"missing, returned", "link"}, {"nothing", "fill"},
		{"fill", "missing, filled"}, {"fill", "undeclared"}, {"conflict, after a result", "missing, filled"}, {"panic", "missing, filled", "panic"},
	} {
		want := modes[len(modes)-1]
		retry := func(ctx context.Context, c *rpc.Call, next rpc.Handler) (err error) {
			if c.Method.Name != "put" {
				return next(ctx, c)
			}
			for _, mode := range modes {
				echo.EchoPutArgs(c.Args).SetMode(mode)
				err = next(ctx, c)
				if declared := c.Exception(); (declared != nil) != strings.HasPrefix(mode, "missing") && !strings.HasPrefix(mode, "conflict") {
					t.Errorf("%s: Exception is %v", mode, declared)
				}
				if (err == nil) != (mode == "fill" || mode == "link") {
					t.Errorf("%s: %v", mode, err)
				}
			}
			return err
		}
		intercepting(t, retry, func(t *testing.T, c echo.EchoClient, cl *rpc.Client) {
			res, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("key"); args.SetMode("") })
			var missing echo.NotFound
			var ae *rpc.ApplicationException
			switch {
			case want == "fill" || want == "link":
				if err != nil || res.GetSuccess().GetName() != "key" {
					t.Errorf("%v, %v", res, err)
				}
			case res.Valid():
				t.Errorf("a result with the error %v", err)
			case want == "missing, filled":
				if !errors.As(err, &missing) || missing.GetKey() != "key" {
					t.Error(err)
				}
			default:
				if !errors.As(err, &ae) || ae.Type != rpc.InternalError {
					t.Error(err)
				}
			}
		})
	}
}

// TestInterceptorsResult: interceptors may leave results of their own.
func TestInterceptorsResult(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	mine := func(n int64) nocopy.Struct {
		r := echo.NewEchoAddResult()
		r.SetSuccess(n)
		return nocopy.Struct(r)
	}
	item := func() nocopy.Struct {
		r := echo.NewEchoPutResult()
		r.NewSuccess().SetName("x")
		return nocopy.Struct(r)
	}
	for _, c := range []struct {
		name   string
		f      func(ctx context.Context, c *rpc.Call, next rpc.Handler) error
		result int64
		want   string // in the error
	}{
		{"its own, without next", func(_ context.Context, c *rpc.Call, _ rpc.Handler) error { c.Result = mine(7); return nil }, 7, ""},
		{"its own, after next", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			c.Result = mine(8)
			return nil
		}, 8, ""},
		{"none", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			c.Result = thriftimpl.Absent()
			return nil
		}, 0, "missing result"},
		{"a zero handle", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			c.Result = nocopy.Struct{}
			return nil
		}, 0, "missing result"},
		{"another method's", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			c.Result = item()
			return nil
		}, 0, "of the method's type"},
		{"a part of a message", func(_ context.Context, c *rpc.Call, _ rpc.Handler) error {
			c.Result = nocopy.Struct(echo.EchoPutResult(item()).GetSuccess())
			return nil
		}, 0, "of the method's type"},
		{"a released one", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			c.Result.Release()
			return nil
		}, 0, "released"},
		{"an empty one", func(_ context.Context, c *rpc.Call, _ rpc.Handler) error {
			c.Result = nocopy.Struct(echo.NewEchoAddResult())
			return nil
		}, 0, "missing result"},
		{"one that it released before the next try", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			c.Result.Release()
			return next(ctx, c)
		}, 3, ""},
		{"with an error", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			return errors.New("no more")
		}, 0, "no more"},
		{"released arguments", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { c.Args.Release(); return next(ctx, c) }, 0, "released"},
		{"arguments released afterwards", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			defer c.Args.Release()
			return next(ctx, c)
		}, 3, ""},
		{"its own arguments", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			args := echo.NewEchoAddArgs()
			args.SetA(10)
			c.Args = nocopy.Struct(args)
			next(ctx, c)
			args.SetB(20)
			return next(ctx, c)
		}, 30, ""},
		{"no arguments", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			c.Args = nocopy.Struct{}
			return next(ctx, c)
		}, 0, "arguments"},
		{"another method's arguments", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			c.Args = nocopy.Struct(echo.NewEchoEchoArgs())
			return next(ctx, c)
		}, 0, "arguments"},
		{"no Method", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { c.Method = nil; return next(ctx, c) }, 0, "Method"},
		{"a Call of its own", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			return next(ctx, &rpc.Call{Method: c.Method, Args: c.Args})
		}, 0, "or a copy of it"},
		{"no Call", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, nil) }, 0, "or a copy of it"},
		{"a copy's", func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			other := *c
			err := next(ctx, &other)
			c.Result = other.Result
			return err
		}, 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := false
			f := func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
				if on {
					return c.f(ctx, call, next)
				}
				return next(ctx, call)
			}
			intercepting(t, f, func(t *testing.T, cl echo.EchoClient, _ *rpc.Client) {
				for range 3 {
					on = true
					sum, err := cl.Add(bg, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) })
					switch {
					case c.want == "" && (err != nil || sum.GetSuccess() != c.result):
						t.Errorf("%v, %v", sum, err)
					case c.want == "":
						sum.Release()
					case err == nil || !strings.Contains(err.Error(), c.want) || sum.Valid():
						t.Errorf("%v, %v", sum, err)
					}
					on = false
					unharmed(t, cl)
				}
			})
		})
	}
	// A method that returns nothing may be answered with nothing, and a oneway one as well.
	quiet := func(context.Context, *rpc.Call, rpc.Handler) error { return nil }
	intercepting(t, quiet, func(t *testing.T, cl echo.EchoClient, _ *rpc.Client) {
		res, err := cl.Ping(bg, nil)
		if err != nil || !res.Valid() {
			t.Errorf("%v, %v", res, err)
		}
		res.Release()
		if err := cl.Notify(bg, nil); err != nil {
			t.Error(err)
		}
	})
	// An exception in Result is the call's error also if the interceptor returns nil; an interceptor
	// that hides it must put another Result there.
	swallow := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if next(ctx, c); c.Exception() == nil {
			t.Error("the exception is not in the Result")
		}
		return nil
	}
	intercepting(t, swallow, func(t *testing.T, cl echo.EchoClient, _ *rpc.Client) {
		var missing echo.NotFound
		res, err := cl.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("key"); args.SetMode("missing, filled") })
		if !errors.As(err, &missing) || missing.GetKey() != "key" || res.Valid() {
			t.Errorf("%v, %v", res, err)
		}
	})
}

// TestInnerInterceptorOfClient: an interceptor that the one around it does not wait for may go on
// reading its Call.
func TestInnerInterceptorOfClient(t *testing.T) {
	release, finished, returned := make(chan struct{}), make(chan string), make(chan struct{})
	var left []kept
	outer := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name != "put" {
			return next(ctx, c)
		}
		loser, inside := *c, make(chan struct{})
		go func() {
			//lint:ignore SA1029 nothing else has this context
			next(context.WithValue(ctx, "inside", inside), &loser)
			close(returned)
		}()
		<-inside
		left = []kept{{c.Method.Args, loser.Args}, {c.Method.Result, loser.Result}}
		return next(ctx, c)
	}
	inner := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		if inside, ok := ctx.Value("inside").(chan struct{}); ok {
			close(inside)
			<-release
			finished <- fmt.Sprint(echo.EchoPutArgs(c.Args).GetItem().GetName(),
				echo.EchoPutResult(c.Result).GetSuccess().GetName(), err)
			if next(ctx, c) == nil {
				t.Error("next can be called when the call has returned")
			}
		}
		return err
	}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, &handler{}), rpc.Interceptors(outer, inner), rpc.Recycle))
	if res, err := putNamed(c, "name", "fill"); err != nil || res.GetSuccess().GetName() != "name" {
		t.Fatalf("%v, %v", res, err)
	}
	for i := range 10 {
		echoes(t, c, fmt.Sprint("another ", i))
	}
	close(release)
	if got := <-finished; got != "namename<nil>" {
		t.Errorf("it reads %s", got)
	}
	<-returned
	for i, k := range left {
		settles(t, fmt.Sprintf("message %d is released", i), k.released)
	}
}

// TestInterceptorPanics: the caller gets the panic, and nothing is left over.
func TestInterceptorPanics(t *testing.T) {
	var how string
	var seen []kept
	f := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		seen = append(seen[:0], kept{c.Method.Args, c.Args})
		switch how {
		case "":
			return next(ctx, c)
		case "before":
			panic("out of cheese")
		case "Goexit":
			runtime.Goexit()
		}
		next(ctx, c)
		seen = append(seen, kept{c.Method.Result, c.Result})
		switch how {
		case "Goexit, after":
			runtime.Goexit()
		case "nil context":
			next(nil, c) //nolint:staticcheck // that is the point
		}
		panic("out of cheese")
	}
	intercepting(t, f, func(t *testing.T, c echo.EchoClient, cl *rpc.Client) {
		for _, how = range []string{"before", "after", "nil context", "Goexit", "Goexit, after"} {
			for range 5 { // more than may be in flight
				done := make(chan any)
				go func() {
					ended := false
					defer func() {
						v := recover()
						if ended {
							v = "returned"
						}
						done <- v
					}()
					echoes(t, c, "hello")
					ended = true
				}()
				v := <-done
				if exits := strings.HasPrefix(how, "Goexit"); exits && v != nil || how == "after" && v != "out of cheese" || v == "returned" {
					t.Errorf("%s: the caller sees %v", how, v)
				}
				for _, k := range seen {
					if !k.released() {
						t.Errorf("%s: a message was not released", how)
					}
				}
			}
		}
		how = ""
		unharmed(t, c)
	})
}

// TestNestedInterceptors: each interceptor sees the results and errors of the inner ones.
func TestNestedInterceptors(t *testing.T) {
	var log []string
	var mu sync.Mutex
	note := func(s string) {
		mu.Lock()
		log = append(log, s)
		mu.Unlock()
	}
	retry := func(ctx context.Context, c *rpc.Call, next rpc.Handler) (err error) {
		for range 2 {
			err = next(ctx, c)
			note(fmt.Sprint("outer ", echo.EchoAddResult(c.Result).GetSuccess()))
		}
		return err
	}
	inner := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Result.Valid() {
			note("kept")
		}
		echo.EchoAddArgs(c.Args).SetA(echo.EchoAddArgs(c.Args).GetA() + 1)
		return next(ctx, c)
	}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, &handler{}), rpc.Interceptors(retry, inner)))
	sum, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(10) })
	if got := strings.Join(log, ", "); err != nil || sum.GetSuccess() != 12 || got != "outer 11, kept, outer 12" {
		t.Errorf("%v, %v, %s", sum, err, got)
	}
}
