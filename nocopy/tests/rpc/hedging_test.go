package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestHedging: tries at the same time need a Call each. The first that succeeds counts, the
// others end with the call.
func TestHedging(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 100)
	var results []nocopy.Struct
	hedge := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		type outcome struct {
			call *rpc.Call
			err  error
		}
		first := make(chan outcome, 3)
		copies := [3]rpc.Call{*c, *c, *c}
		for i := range copies {
			go func() {
				err := next(ctx, &copies[i])
				first <- outcome{&copies[i], err}
				ended <- err
			}()
		}
		o := <-first
		results = []nocopy.Struct{o.call.Result}
		c.Result = o.call.Result
		return o.err
	}
	intercepting(t, hedge, func(t *testing.T, c echo.EchoClient, cl *rpc.Client) {
		for _, size := range []int{10, 5000, 200_000} {
			for i := range 30 {
				text := strings.Repeat(fmt.Sprint(i%10), size)
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) {
					args.SetPayload([]byte(text))
					args.SetDelayMs(int32(i % 3))
				})
				if err != nil || string(res.GetSuccess()) != text || nocopy.Struct(res) != results[0] {
					t.Fatalf("%d bytes: %v", size, err)
				}
				res.Release()
				for range 3 {
					if err := <-ended; err != nil && !strings.Contains(err.Error(), "the call has returned") {
						t.Error(err)
					}
				}
			}
		}
	})
}

// TestHedgingWithoutServer: a try that gets no reply ends when the call returns, in any state.
func TestHedgingWithoutServer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	addr := fakeServer(t, func(nc net.Conn) { <-release })
	defer close(release)
	for _, size := range []int{10, 8 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { // waits for a reply; is being written
			var late sync.WaitGroup
			abandon := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				for range 5 { // two find no place, one is queued
					other := *c
					late.Go(func() {
						if err := next(context.WithoutCancel(ctx), &other); err == nil || !strings.Contains(err.Error(), "the call has returned") {
							t.Errorf("a late try: %v", err)
						}
					})
				}
				time.Sleep(20 * time.Millisecond)
				return errors.New("enough")
			}
			cl := dial(t, addr, rpc.PoolSize(2), rpc.MaxInFlight(3), rpc.Interceptors(abandon))
			for range 2 {
				if _, err := echo.NewEchoClient(cl).Echo(bg, func(args echo.EchoEchoArgs) { args.NewPayload(size) }); err == nil || err.Error() != "enough" {
					t.Error(err)
				}
			}
			late.Wait()
			unused(t, cl)
		})
	}
}

// TestConcurrentNext: of two tries with one Call at a time the second is refused, and the first
// goes on.
func TestConcurrentNext(t *testing.T) {
	twice := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		errs := make(chan error, 4)
		for range 4 {
			go func() { errs <- next(ctx, c) }()
		}
		succeeded := 0
		for range 4 {
			if err := <-errs; err == nil {
				succeeded++
			} else if !strings.Contains(err.Error(), "a copy of it each") {
				t.Error(err)
			}
		}
		if succeeded == 0 {
			t.Error("none goes on")
		}
		return nil
	}
	intercepting(t, twice, func(t *testing.T, c echo.EchoClient, cl *rpc.Client) {
		for range 50 {
			echoes(t, c, "hello")
		}
	})
}

// TestNextUnderWay: next fails at once if another next is under way for the same Call.
func TestNextUnderWay(t *testing.T) {
	inside, release := make(chan struct{}, 2), make(chan struct{})
	serve := through(&rpc.Server{Processor: echo.NewEchoProcessor(&handler{})})
	c := echo.NewEchoClient(rpc.NewCaller(func(ctx context.Context, m *rpc.Method, call []byte) ([]byte, error) {
		inside <- struct{}{}
		<-release
		return serve(ctx, m, call)
	}, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		first := make(chan error)
		go func() { first <- next(ctx, c) }()
		<-inside
		second := make(chan error)
		go func() { second <- next(ctx, c) }()
		select {
		case err := <-second:
			if err == nil || !strings.Contains(err.Error(), "a copy of it each") {
				t.Error(err)
			}
			close(release)
		case <-inside:
			t.Error("it is sent again")
			close(release)
			<-second
		}
		return <-first
	})))
	echoes(t, c, "hello")
}

// TestLateResult: a result that comes after the call has returned is in no Call: nobody would
// release it.
func TestLateResult(t *testing.T) {
	inside, release, late := make(chan struct{}), make(chan struct{}), make(chan error)
	serve := through(&rpc.Server{Processor: echo.NewEchoProcessor(&handler{})})
	var copied rpc.Call
	c := echo.NewEchoClient(rpc.NewCaller(func(ctx context.Context, m *rpc.Method, call []byte) ([]byte, error) {
		close(inside)
		<-release
		return serve(context.WithoutCancel(ctx), m, call)
	}, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		copied = *c
		go func() { late <- next(ctx, &copied) }()
		<-inside
		return io.ErrNoProgress
	})))
	if _, err := c.Ping(bg, nil); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	close(release)
	<-late
	if copied.Result != thriftimpl.Absent() {
		t.Error("the late try's Call has a result")
	}
}

// TestLateNext: next fails after the call has returned, and does not touch memory that the program
// uses again.
func TestLateNext(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var late sync.WaitGroup
	f := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		i, other := calls.Add(1), *c
		if i%2 == 0 {
			late.Go(func() {
				for range 20 {
					time.Sleep(100 * time.Microsecond)
					switch err := next(context.WithoutCancel(ctx), &other); {
					case err == nil: // the call has not returned yet
					case !strings.Contains(err.Error(), "the call has returned"):
						t.Error(err)
					}
				}
				if err := next(ctx, c); err == nil {
					t.Error("the call has returned, and next sends it")
				}
			})
		}
		return next(ctx, c)
	}
	intercepting(t, f, func(t *testing.T, c echo.EchoClient, cl *rpc.Client) {
		for i := range 200 {
			echoes(t, c, strings.Repeat(fmt.Sprint(i%10), i*20))
		}
		late.Wait()
	})
}
