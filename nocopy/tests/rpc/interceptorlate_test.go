package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestExceptionTooLate: a handler that no interceptor waits for may return a declared exception at
// any time.
func TestExceptionTooLate(t *testing.T) {
	h := &custom{put: func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		return conflict("what")
	}}
	var late sync.WaitGroup
	c, _ := intercepted(t, h, func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		errs := make(chan error, 3)
		for range cap(errs) {
			copied := *c
			copied.Result = nocopy.Struct(echo.NewEchoPutResult())
			late.Go(func() { errs <- next(ctx, &copied) })
		}
		return <-errs
	})
	for range 200 {
		var e echo.Conflict
		if _, err := putNamed(c, "name", ""); !errors.As(err, &e) || e.GetWhat() != "what" {
			t.Fatal(err)
		}
	}
	late.Wait()
}

// TestNextTooLate: an interceptor need not wait for next; next returns an error after the
// interceptor has returned.
func TestNextTooLate(t *testing.T) {
	inside, release, finished := make(chan struct{}), make(chan struct{}), make(chan error)
	h := &custom{put: func(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		if args.GetMode() != "slow" {
			result.NewSuccess().SetName(args.GetItem().GetName())
			return nil
		}
		inside <- struct{}{}
		<-release
		result.NewSuccess().SetName(args.GetItem().GetName()) // both are still there
		if args.GetItem().GetName() == "panic" {
			panic("nobody waits for this")
		}
		return nil
	}}
	var kept *rpc.Call
	var keptNext rpc.Handler
	c, q := intercepted(t, h, func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		args := echo.EchoPutArgs(c.Args)
		if args.GetMode() != "slow" {
			return next(ctx, c)
		}
		kept, keptNext = c, next
		go func() { finished <- next(ctx, c) }()
		<-inside
		if args.GetItem().GetName() == "nil" {
			return nil
		}
		return errors.New("too slow")
	}, rpc.Recycle)
	for _, name := range []string{"", "panic", "nil"} {
		t.Run(name, func(t *testing.T) {
			_, err := putNamed(c, name, "slow")
			var ae *rpc.ApplicationException
			switch {
			case name == "nil":
				concealedID(t, name, err)
			case !errors.As(err, &ae) || ae.Message != "too slow":
				t.Errorf("%q: %v", name, err)
			}
			for i := range 20 { // in memory that would be the handler's, were it given back
				if res, err := putNamed(c, fmt.Sprint(i), ""); err != nil || res.GetSuccess().GetName() != fmt.Sprint(i) {
					t.Errorf("%v, %v", res, err)
				}
			}
			release <- struct{}{}
			if err := <-finished; (err != nil) != (name == "panic") {
				t.Errorf("%q: next returns %v", name, err)
			}
			concealedID(t, "next called too late", keptNext(bg, kept))
			kept.Result, kept.Args, kept.Method = nocopy.Struct{}, nocopy.Struct{}, nil
			if res, err := putNamed(c, "after", ""); err != nil || res.GetSuccess().GetName() != "after" {
				t.Errorf("%v, %v", res, err)
			}
		})
	}
	logs(t, q, "after its interceptor had returned")
}

// TestForwardedTooLate: a backend's result stays until the handler that has received it returns,
// though its interceptor has not waited for it and the call has ended.
func TestForwardedTooLate(t *testing.T) {
	forward := rpc.Forward(rpc.NewCaller(through(&rpc.Server{Processor: echo.NewEchoProcessor(&handler{})})))
	inside, release, finished := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	srv := &rpc.Server{
		Logger: new(quiet).logger(),
		Processor: echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(func(ctx context.Context, c *rpc.Call) error {
			err := forward(ctx, c)
			result := echo.EchoAddResult(c.Result)
			close(inside)
			<-release
			if sum := result.GetSuccess(); sum != 42 {
				t.Errorf("the sum is %d", sum)
			}
			return err
		}),
		Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			copied := *c
			go func() { finished <- next(ctx, &copied) }()
			<-inside
			return errors.New("too slow")
		}},
	}
	if reply, err := srv.ServeMessage(bg, strict(call, "add", 7, addArgs(40, 2))); err != nil || reply[3] != exception {
		t.Errorf("%q, %v", reply, err)
	}
	close(release)
	if err := <-finished; err != nil {
		t.Error(err)
	}
}

// TestResultInUse: next fails at once if another handler is filling the same Result, be it the
// server's or the interceptor's own.
func TestResultInUse(t *testing.T) {
	for name, own := range map[string]bool{"the server's": false, "the interceptor's": true} {
		inside, release := make(chan struct{}, 2), make(chan struct{})
		srv := &rpc.Server{
			Logger: new(quiet).logger(),
			Processor: echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(func(_ context.Context, c *rpc.Call) error {
				inside <- struct{}{}
				<-release
				echo.EchoAddResult(c.Result).SetSuccess(42)
				return nil
			}),
			Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				if own {
					c.Result = nocopy.Struct(echo.NewEchoAddResult())
				}
				first, second, other := make(chan error), make(chan error, 1), *c
				go func() { first <- next(ctx, c) }()
				<-inside
				other.Result = c.Result
				go func() { second <- next(ctx, &other) }()
				select {
				case err := <-second:
					if err == nil {
						t.Errorf("%s result is filled twice", name)
					}
				case <-inside:
					t.Errorf("two handlers have %s result", name)
				}
				close(release)
				return <-first
			}},
		}
		if got, err := srv.ServeMessage(bg, strict(call, "add", 7, addArgs(40, 2))); err != nil || !bytes.Equal(got, strict(reply, "add", 7, sumResult(42))) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
