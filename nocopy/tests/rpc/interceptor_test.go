package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// putNamed makes a call of put: what an interceptor does depends on the name.
func putNamed(c echo.EchoClient, name, mode string) (echo.EchoPutResult, error) {
	return c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName(name); args.SetMode(mode) })
}

// intercepted returns a client of a server whose calls of put go through the interceptor, and the
// server's log.
func intercepted(t *testing.T, h *custom, f rpc.Interceptor, opts ...rpc.Option) (echo.EchoClient, *quiet) {
	t.Helper()
	q := new(quiet)
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Logger: q.logger(), Recycle: len(opts) > 0, Interceptors: []rpc.Interceptor{
		func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			if c.Method.Name != "put" {
				return next(ctx, c)
			}
			return f(ctx, c, next)
		},
	}}
	return echo.NewEchoClient(dial(t, serve(t, srv, nil), append(opts, rpc.PoolSize(2))...)), q
}

// resultOf returns a result with that name in it.
func resultOf(name string) echo.EchoPutResult {
	r := echo.NewEchoPutResult()
	r.NewSuccess().SetName(name)
	return r
}

// resultsDesc describes a struct that has a result as a part of something larger.
var resultsDesc = thriftimpl.NewDesc("Results")

const resultsFirst thriftimpl.Field = 2<<48 | 4<<32 | 12<<16 | 1

func init() {
	resultsDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "first", Type: thriftimpl.StructOf(echo.EchoPutResultDesc), Req: thriftimpl.Optional})
}

// TestOwnResult: an interceptor's own result is sent, also if it is a part of a larger message or
// sent by many calls at a time, and stays the interceptor's.
func TestOwnResult(t *testing.T) {
	t.Parallel()
	upstream := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, &handler{})))
	received, err := putNamed(upstream, "own", "fill")
	if err != nil {
		t.Fatal(err)
	}
	whole := thriftimpl.New(resultsDesc)
	whole.SetChild(resultsFirst, resultsDesc, thriftimpl.Struct(resultOf("own")))
	large := resultOf("own")
	large.GetSuccess().SetData(make([]byte, 1<<20))
	changed, err := putNamed(upstream, "other", "fill")
	if err != nil {
		t.Fatal(err)
	}
	changed.GetSuccess().SetName("own")
	for name, own := range map[string]nocopy.Struct{
		"built":    nocopy.Struct(resultOf("own")),
		"received": nocopy.Struct(received),
		"changed":  nocopy.Struct(changed),
		"a part":   nocopy.Struct(whole.Child(resultsFirst, resultsDesc)),
		"large":    nocopy.Struct(large),
	} {
		t.Run(name, func(t *testing.T) {
			for _, opts := range [][]rpc.Option{nil, {rpc.Unframed}, {rpc.Compact}, {rpc.THeader()}} {
				c, q := intercepted(t, &custom{}, func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
					c.Result = own
					return nil
				}, opts...)
				var wg sync.WaitGroup
				for range 8 {
					wg.Go(func() {
						for range testmode.Of(3, 20) {
							if res, err := putNamed(c, "", ""); err != nil || res.GetSuccess().GetName() != "own" {
								t.Errorf("%s: %v, %v", name, res, err)
							}
						}
					})
				}
				wg.Wait()
				if q.String() != "" {
					t.Errorf("%s: the log: %s", name, q)
				}
			}
			if !own.Valid() {
				t.Errorf("%s: it was released", name)
			}
		})
	}
}

// TestProxy: an interceptor may pass on the result of a client's call, or its declared exception,
// also if that call sent the args that the server has received.
func TestProxy(t *testing.T) {
	t.Parallel()
	cl := dial(t, serve(t, &rpc.Server{}, &handler{}), rpc.Recycle)
	for name, f := range map[string]rpc.Interceptor{
		"calls": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			args := echo.EchoPutArgs(c.Args)
			res, err := putNamed(echo.NewEchoClient(cl), args.GetItem().GetName(), args.GetMode())
			c.Result = nocopy.Struct(res)
			return err
		},
		"passes on": func(ctx context.Context, c *rpc.Call, next rpc.Handler) (err error) {
			c.Result, err = cl.Call(ctx, c.Method, c.Args)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, q := intercepted(t, &custom{}, f)
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					for j := range 20 {
						name := fmt.Sprint(i, "/", j)
						if res, err := putNamed(c, name, "fill"); err != nil || res.GetSuccess().GetName() != name {
							t.Errorf("%s: %v, %v", name, res, err)
						}
						var missing echo.NotFound
						if _, err := putNamed(c, name, "missing, returned"); !errors.As(err, &missing) || missing.GetKey() != name {
							t.Errorf("%s: %v", name, err)
						}
					}
				})
			}
			wg.Wait()
			if q.String() != "" {
				t.Errorf("the log: %s", q)
			}
		})
	}
}

// TestCarelessInterceptors: for each mistake of an interceptor the client gets an internal error,
// and the log has a line.
func TestCarelessInterceptors(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	released := func() nocopy.Struct {
		r := resultOf("released")
		r.Release()
		return nocopy.Struct(r)
	}
	clientsMethod := func() (m *rpc.Method) { // one without a handler
		cl := dial(t, serve(t, &rpc.Server{}, &handler{}), rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			m = c.Method
			return next(ctx, c)
		}))
		putNamed(echo.NewEchoClient(cl), "", "fill")
		return m
	}()
	var addMethod *rpc.Method
	set := func(f func(c *rpc.Call)) rpc.Interceptor { // instead of next
		return func(_ context.Context, c *rpc.Call, _ rpc.Handler) error { f(c); return nil }
	}
	before := func(f func(c *rpc.Call)) rpc.Interceptor {
		return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { f(c); return next(ctx, c) }
	}
	for name, f := range map[string]rpc.Interceptor{
		"an absent result":  set(func(c *rpc.Call) { c.Result = thriftimpl.Absent() }),
		"a zero result":     set(func(c *rpc.Call) { c.Result = nocopy.Struct{} }),
		"a released result": set(func(c *rpc.Call) { c.Result = released() }),
		"a result released afterwards": func(ctx context.Context, c *rpc.Call, _ rpc.Handler) error {
			r := resultOf("own")
			defer r.Release()
			c.Result = nocopy.Struct(r)
			return nil
		},
		"the server's result released":  set(func(c *rpc.Call) { c.Result.Release() }),
		"the server's message released": set(func(c *rpc.Call) { c.Result.Message().Release() }),
		"a result of bytes that are no struct": set(func(c *rpc.Call) {
			item := echo.NewItem()
			item.SetNumbers([]int64{0x7f7f7f7f7f7f7f7f, 1, 2})
			c.Result = nocopy.Struct(item.GetNumbers())
		}),
		"an absent result before next":  before(func(c *rpc.Call) { c.Result = thriftimpl.Absent() }),
		"a released result before next": before(func(c *rpc.Call) { c.Result = released() }),
		"another type before next":      before(func(c *rpc.Call) { c.Result = nocopy.Struct(echo.NewItem()) }),
		"absent args":                   before(func(c *rpc.Call) { c.Args = thriftimpl.Absent() }),
		"zero args":                     before(func(c *rpc.Call) { c.Args = nocopy.Struct{} }),
		"args of another type":          before(func(c *rpc.Call) { c.Args = nocopy.Struct(echo.NewEchoAddArgs()) }),
		"args that are a part":          before(func(c *rpc.Call) { c.Args = nocopy.Struct(echo.EchoPutArgs(c.Args).GetItem()) }),
		"args released":                 before(func(c *rpc.Call) { c.Args.Release() }),
		"args' message released":        before(func(c *rpc.Call) { c.Args.Message().Release() }),
		"no method":                     before(func(c *rpc.Call) { c.Method = nil }),
		"a method of other types":       before(func(c *rpc.Call) { c.Method = addMethod }),
		"a method without a handler":    before(func(c *rpc.Call) { c.Method = clientsMethod }),
		"an empty method":               before(func(c *rpc.Call) { c.Method = &rpc.Method{} }),
		"a panic":                       before(func(c *rpc.Call) { panic("secret") }),
		"an end":                        before(func(c *rpc.Call) { runtime.Goexit() }),
		"a panic after no method":       before(func(c *rpc.Call) { c.Method = nil; panic("secret") }),
		"a panic after next": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			panic("secret")
		},
		"an end after next": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			runtime.Goexit()
			return nil
		},
		"everything nil": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			*c = rpc.Call{}
			return nil
		},
		"everything nil before next": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			*c = rpc.Call{}
			return next(ctx, c)
		},
		"another call": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			return next(ctx, &rpc.Call{Method: c.Method, Args: c.Args, Result: c.Result})
		},
		"an error that panics": func(context.Context, *rpc.Call, rpc.Handler) error { return errorPanic{} },
	} {
		t.Run(name, func(t *testing.T) {
			h := &custom{}
			q := new(quiet)
			srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Logger: q.logger(), Interceptors: []rpc.Interceptor{
				func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
					if c.Method.Name == "add" {
						addMethod = c.Method
					}
					if c.Method.Name != "put" {
						return next(ctx, c)
					}
					if item := echo.EchoPutArgs(c.Args).GetItem().GetName(); item == "good" {
						return next(ctx, c)
					}
					return f(ctx, c, next)
				},
			}}
			addr := serve(t, srv, nil)
			c, other := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1))), echo.NewEchoClient(dial(t, addr))
			unharmed(t, c)
			for range 3 {
				_, err := putNamed(c, "bad", "fill")
				if id := concealedID(t, name, err); !strings.Contains(q.String(), "id="+id) {
					t.Errorf("the log does not have id %s: %s", id, q)
				}
				if res, err := putNamed(c, "good", "fill"); err != nil || res.GetSuccess().GetName() != "good" {
					t.Errorf("the connection afterwards: %v, %v", res, err)
				}
				unharmed(t, other)
			}
		})
	}
}

// TestOwnArgs: an interceptor's own args and a method of the same types are handled, and the args
// stay its own.
func TestOwnArgs(t *testing.T) {
	own := echo.NewEchoPutArgs()
	own.NewItem().SetName("own")
	own.SetMode("fill")
	c, _ := intercepted(t, &custom{}, func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		same := *c.Method
		c.Method, c.Args = &same, nocopy.Struct(own)
		return next(ctx, c)
	})
	for range 3 {
		if res, err := putNamed(c, "sent", ""); err != nil || res.GetSuccess().GetName() != "own" {
			t.Errorf("%v, %v", res, err)
		}
	}
	if own.GetMode() != "fill" {
		t.Error("the args were released")
	}
}

// TestRetry: next may be called again, and finds an empty result each time; args live until the
// interceptor has returned.
func TestRetry(t *testing.T) {
	attempt := 0
	h := &custom{put: func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		if result.IsSetSuccess() || result.IsSetMissing() || result.IsSetConflict() {
			t.Error("the result is not empty")
		}
		switch attempt++; attempt {
		case 1:
			result.NewSuccess().SetName("half done")
			return errors.New("not now")
		case 2:
			result.NewMissing().SetKey("still")
			return nil
		case 3:
			panic("oh")
		case 4:
			return conflict("again")
		}
		result.NewSuccess().SetName(args.GetItem().GetName())
		return nil
	}}
	var errs []string
	c, _ := intercepted(t, h, func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		for {
			err := next(ctx, c)
			if echo.EchoPutArgs(c.Args).GetItem().GetName() != "name" {
				t.Error("args after next")
			}
			c.Result.Message().Len()
			if err == nil {
				return nil
			}
			text := err.Error()
			if strings.Contains(text, concealed) {
				text = "panic"
			}
			errs = append(errs, text)
		}
	})
	res, err := putNamed(c, "name", "")
	if err != nil || res.GetSuccess().GetName() != "name" || res.IsSetMissing() || res.IsSetConflict() {
		t.Errorf("%v, %v", res, err)
	}
	if got := strings.Join(errs, "; "); !strings.HasPrefix(got, "not now; ") || !strings.Contains(got, "still") || !strings.Contains(got, "panic; ") || len(errs) != 4 {
		t.Errorf("the errors: %s", got)
	}
}

// TestHedge: several calls of next at once, each with a result of its own; with the same one all
// but one fail.
func TestHedge(t *testing.T) {
	c, _ := intercepted(t, &custom{}, func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		errs := make(chan error)
		calls := make([]rpc.Call, 4)
		for i := range calls {
			calls[i] = *c
			calls[i].Result = nocopy.Struct(echo.NewEchoPutResult())
			go func() { errs <- next(ctx, &calls[i]) }()
		}
		for range calls {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		c.Result = calls[2].Result
		return nil
	})
	if res, err := putNamed(c, "name", "fill"); err != nil || res.GetSuccess().GetName() != "name" {
		t.Errorf("%v, %v", res, err)
	}

	inside, release := make(chan struct{}), make(chan struct{})
	h := &custom{put: func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		close(inside)
		<-release
		result.NewSuccess().SetName("the first")
		return nil
	}}
	c, q := intercepted(t, h, func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		first := make(chan error)
		go func() { first <- next(ctx, c) }()
		<-inside
		copied := *c
		concealedID(t, "a second call of next", next(ctx, &copied))
		close(release)
		return <-first
	})
	if res, err := putNamed(c, "name", ""); err != nil || res.GetSuccess().GetName() != "the first" {
		t.Errorf("%v, %v", res, err)
	}
	logs(t, q, "filling the same Result")
}

// TestInnerInterceptorRunsOn: an interceptor that the one around it does not wait for may go on
// using its Call, and its mistakes affect no other call.
func TestInnerInterceptorRunsOn(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprint(recycle), func(t *testing.T) {
			inside, release := make(chan struct{}), make(chan struct{})
			finished := make(chan string)
			errGaveUp := errors.New("gave up")
			var nextNil atomic.Pointer[error]
			outer := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				if echo.EchoPutArgs(c.Args).GetMode() != "slow" {
					return next(ctx, c)
				}
				go next(ctx, c)
				<-inside
				done := make(chan error)
				go func() { done <- next(ctx, nil) }()
				err := <-done
				nextNil.Store(&err)
				return errGaveUp
			}
			inner := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				args := echo.EchoPutArgs(c.Args)
				if args.GetMode() != "slow" {
					return next(ctx, c)
				}
				err := next(ctx, c)
				inside <- struct{}{}
				<-release
				finished <- fmt.Sprint(args.GetItem().GetName(), echo.EchoPutResult(c.Result).GetSuccess().GetName(), err)
				if err = next(ctx, c); err == nil {
					t.Error("next can still be called")
				}
				panic("nobody waits for this")
			}
			q := new(quiet)
			srv := &rpc.Server{Logger: q.logger(), Recycle: recycle,
				Interceptors: []rpc.Interceptor{outer, inner}}
			srv.Processor = echo.NewEchoProcessor(&custom{put: func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
				result.NewSuccess().SetName(args.GetItem().GetName())
				return nil
			}})
			c := echo.NewEchoClient(dial(t, serve(t, srv, nil), rpc.PoolSize(1)))
			if _, err := putNamed(c, "name", "slow"); err == nil || !strings.Contains(err.Error(), "gave up") {
				t.Error(err)
			}
			if err := *nextNil.Load(); err == nil {
				t.Error("next accepts nil")
			}
			for i := range 50 { // its memory would be used for these
				name := fmt.Sprint("another ", i)
				if res, err := putNamed(c, name, ""); err != nil || res.GetSuccess().GetName() != name {
					t.Errorf("%v, %v", res, err)
				}
			}
			close(release)
			if got := <-finished; got != "namename<nil>" {
				t.Errorf("it reads %s", got)
			}
			logs(t, q, "nobody waits for this")
			unharmed(t, c)
		})
	}
}

// TestException: next's error and Exception are the same whether a handler puts a declared
// exception into the result or returns it; the outermost interceptor's error decides.
func TestException(t *testing.T) {
	for _, mode := range []string{"missing, filled", "missing, returned"} {
		for then, check := range map[string]func(t *testing.T, res echo.EchoPutResult, err error){
			"as it is": func(t *testing.T, _ echo.EchoPutResult, err error) {
				var missing echo.NotFound
				if !errors.As(err, &missing) || missing.GetKey() != "name" {
					t.Errorf("%v", err)
				}
			},
			"swallowed": func(t *testing.T, _ echo.EchoPutResult, err error) {
				var missing echo.NotFound
				if !errors.As(err, &missing) || missing.GetKey() != "name" {
					t.Errorf("%v", err)
				}
			},
			"replaced": func(t *testing.T, res echo.EchoPutResult, err error) {
				if err != nil || res.GetSuccess().GetName() != "instead" || res.IsSetMissing() {
					t.Errorf("%v, %v", res, err)
				}
			},
			"another exception": func(t *testing.T, _ echo.EchoPutResult, err error) {
				var conflict echo.Conflict
				if !errors.As(err, &conflict) || conflict.GetWhat() != "instead" {
					t.Errorf("%v", err)
				}
			},
			"another error": func(t *testing.T, _ echo.EchoPutResult, err error) {
				var ae *rpc.ApplicationException
				if !errors.As(err, &ae) || ae.Message != "instead" {
					t.Errorf("%v", err)
				}
			},
		} {
			t.Run(mode+", "+then, func(t *testing.T) {
				c, _ := intercepted(t, &custom{}, func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
					if c.Exception() != nil {
						t.Error("an exception before the call")
					}
					err := next(ctx, c)
					for _, e := range []error{err, c.Exception()} {
						var missing echo.NotFound
						if !errors.As(e, &missing) || missing.GetKey() != "name" {
							t.Errorf("the interceptor sees %v", e)
						}
					}
					switch then {
					case "swallowed":
						return nil
					case "replaced":
						c.Result = nocopy.Struct(resultOf("instead"))
						return nil
					case "another exception":
						return conflict("instead")
					case "another error":
						return errors.New("instead")
					}
					return err
				})
				res, err := putNamed(c, "name", mode)
				check(t, res, err)
			})
		}
	}
	if (&rpc.Call{}).Exception() != nil {
		t.Error("an empty call has an exception")
	}
}
