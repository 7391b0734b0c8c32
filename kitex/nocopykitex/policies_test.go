package nocopykitex_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/circuitbreak"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/fallback"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/utils"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// flaky fails the first attempts of each call on the client, and counts all attempts.
type flaky struct {
	failures int64
	attempts atomic.Int64
}

func (f *flaky) middleware(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, req, resp any) error {
		err := next(ctx, req, resp)
		if n := f.attempts.Add(1); err == nil && n <= f.failures {
			return kerrors.ErrRPCTimeout.WithCause(errors.New("failed on purpose"))
		}
		return err
	}
}

func TestRetry(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		addr := c.serve(t, newHandler(t))
		policy := retry.NewFailurePolicy()
		for _, n := range []int{1, 5 << 10, 100 << 10} {
			f := &flaky{failures: 2}
			cl := c.dial(t, addr, client.WithMiddleware(f.middleware), client.WithFailureRetry(policy))
			if err := echo(cl, fillPicture, n, 1); err != nil || f.attempts.Load() != 3 {
				t.Errorf("%d bytes: %v after %d attempts", n, err, f.attempts.Load())
			}
		}
		// A declared exception is a reply, with and without attempts before it
		for _, failures := range []int64{0, 1} {
			f := &flaky{failures: failures}
			cl := c.dial(t, addr, client.WithMiddleware(f.middleware), client.WithFailureRetry(policy))
			if _, err := callID(cl, throwMissing, "it"); !errors.As(err, new(shop.NotFound)) {
				t.Errorf("exception after %d failures: %v", failures, err)
			}
			cl = c.dial(t, addr, client.WithFailureRetry(policy))
			if _, err := cl.Check(context.Background(), nil); !errors.As(err, new(shop.NotFound)) {
				t.Errorf("exception of a method without a result: %v", err)
			}
			if _, err := cl.Ping(context.Background(), nil); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestBackupRequest(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		addr := c.serve(t, newHandler(t))
		// The first attempt waits until the second has begun, so that both encode the same
		// request. Kitex does not always make a second attempt.
		var calls sync.Map
		var pairs atomic.Int64
		race := func(next endpoint.Endpoint) endpoint.Endpoint {
			return func(ctx context.Context, req, resp any) error {
				both, second := calls.LoadOrStore(req, make(chan bool))
				if second {
					close(both.(chan bool))
					pairs.Add(1)
				} else {
					select {
					case <-both.(chan bool):
					case <-time.After(50 * time.Millisecond):
					}
				}
				return next(ctx, req, resp)
			}
		}
		cl := c.dial(t, addr, client.WithMiddleware(race), client.WithBackupRequest(retry.NewBackupPolicy(1)))
		for i, n := range []int{1, 5 << 10, 100 << 10} {
			for _, fill := range []func(shop.Order, int64, int){fillOrder, fillPicture} {
				if err := echo(cl, fill, n, i); err != nil {
					t.Errorf("%d bytes: %v", n, err)
				}
			}
		}
		if _, err := callID(cl, throwMissing, "it"); !errors.As(err, new(shop.NotFound)) {
			t.Errorf("exception: %v", err)
		}
		if pairs.Load() == 0 {
			t.Error("no request was sent twice")
		}
	})
}

func TestTimeout(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		h := newHandler(t)
		cl := c.dial(t, c.serve(t, h))
		for range 3 {
			_, err := cl.Echo(context.Background(), func(args shop.ShopEchoArgs) {
				fillPicture(args.NewOrder(), stall, 50<<10)
			}, callopt.WithRPCTimeout(20*time.Millisecond))
			// Kitex does not recognize a timeout of package net while it reads a message's header
			if !kerrors.IsTimeoutError(err) && !strings.Contains(fmt.Sprint(err), "i/o timeout") {
				t.Fatalf("want a timeout, got %v", err)
			}
			if err := echo(cl, fillOrder, 20<<10, 1); err != nil {
				t.Errorf("after a timeout: %v", err)
			}
		}
	})
}

// TestRequestStays checks requests after their calls have ended, and after many other calls.
func TestRequestStays(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		addr := c.serve(t, newHandler(t))
		cl := c.dial(t, addr)
		sink := make(chan func() string, 1)
		keeping := c.dial(t, addr, client.WithMiddleware(func(next endpoint.Endpoint) endpoint.Endpoint {
			return func(ctx context.Context, req, resp any) error {
				args := req.(*nocopykitex.Args)
				sink <- func() string { return string(shop.ShopEchoArgs(args.Struct()).GetOrder().AppendTo(nil)) }
				return next(ctx, req, resp)
			}
		}))
		for _, n := range []int{10, 3 << 10, 40 << 10, 300 << 10} {
			want := shop.NewOrder()
			fillOrder(want, 5, n)
			res, err := keeping.Echo(context.Background(), func(args shop.ShopEchoArgs) { args.SetOrder(want) })
			if err != nil {
				t.Fatal(err)
			}
			wire := string(want.AppendTo(nil))
			want.Release()
			res.Release()
			for i := range 20 {
				if err := echo(cl, fillOrder, n, i); err != nil {
					t.Fatal(err)
				}
			}
			if (<-sink)() != wire {
				t.Errorf("a request of %d bytes has changed after its call", n)
			}
		}
	})
}

func TestCircuitBreaker(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		cb := circuitbreak.NewCBSuite(func(ri rpcinfo.RPCInfo) string { return "one" })
		cb.UpdateServiceCBConfig("one", circuitbreak.CBConfig{Enable: true, ErrRate: 0.5, MinSample: 4})
		fb := fallback.NewFallbackPolicy(func(ctx context.Context, args utils.KitexArgs, result utils.KitexResult, err error) error {
			if !errors.Is(err, kerrors.ErrCircuitBreak) {
				return err
			}
			order := shop.NewOrder()
			order.SetID(-args.GetFirstArgument().(*shop.Order).GetID())
			result.SetSuccess(&order)
			return nil
		})
		h := newHandler(t)
		cl := c.dial(t, c.serve(t, h), client.WithCircuitBreaker(cb), client.WithFallback(fb))
		// Kitex's server of multiplexed connections has a data race between Add and Wait of its
		// WaitGroup, when it ends during calls.
		var id int64 = stall
		timeout := time.Millisecond
		if c.mux {
			id, timeout = failPlainly, time.Minute
		}
		if err := echo(cl, fillOrder, 1, 1); err != nil { // wait until Kitex's server has started
			t.Fatal(err)
		}
		open := false
		for range 50 {
			r, err := cl.Echo(context.Background(), func(args shop.ShopEchoArgs) { args.NewOrder().SetID(id) },
				callopt.WithRPCTimeout(timeout))
			if err == nil {
				if open = true; r.GetSuccess().GetID() != -id {
					t.Errorf("the fallback's result: %v", r)
				}
				break
			}
		}
		if !open {
			t.Error("the circuit breaker has not opened")
		}
	})
}

func TestConcurrent(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		cl := c.dial(t, c.serve(t, newHandler(t)))
		// The first call is made alone, because Kitex's pool of multiplexed connections has a race
		if err := echo(cl, fillOrder, 1, 1); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		errs := make(chan error, 100)
		for g := range 8 {
			wg.Go(func() {
				for i := range 20 {
					n := []int{1, 700, 5000, 9000, 70_000}[(g+i)%5]
					fill := fillOrder
					if (g+i)%3 == 0 {
						fill = fillPicture
					}
					if err := echo(cl, fill, n, g*1000+i); err != nil {
						errs <- fmt.Errorf("%d bytes: %w", n, err)
						return
					}
				}
			})
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			t.Error(err)
		}
	})
}
