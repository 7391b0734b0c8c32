package rpc_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestLifetimes: without Recycle, strings and bytes from arguments and results may be kept;
// handles die.
func TestLifetimes(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	var mu sync.Mutex
	var kept []string
	var stale echo.EchoPutArgs
	keep := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name == "put" {
			args := echo.EchoPutArgs(c.Args)
			mu.Lock()
			kept = append(kept, args.GetItem().GetName(), string(args.GetItem().GetData()))
			stale = args
			mu.Unlock()
		}
		return next(ctx, c)
	}
	for _, opts := range [][]rpc.Option{nil, {rpc.Unframed}, {rpc.Compact}, {rpc.Compact, rpc.Unframed}, {rpc.THeader()}, {rpc.THeader(rpc.Zlib)}} {
		srv := &rpc.Server{Interceptors: []rpc.Interceptor{keep}}
		c := echo.NewEchoClient(dial(t, serve(t, srv, &handler{}), opts...))
		var results []string
		var want []string
		for i := range testmode.Of(150, 500) {
			name, data := fmt.Sprint("name ", i), strings.Repeat(fmt.Sprint(i, " "), i*10)
			want = append(want, name, data)
			res, err := c.Put(bg, func(args echo.EchoPutArgs) {
				item := args.NewItem()
				item.SetName(name)
				item.SetData([]byte(data))
				args.SetMode("fill")
			})
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, res.GetSuccess().GetName(), string(res.GetSuccess().GetData()))
			res.Release()
		}
		srv.Shutdown(bg)
		for i := range want {
			if kept[i] != want[i] || results[i] != want[i] {
				t.Fatalf("%d: the server has kept %.20q, the client %.20q, of %.20q", i, kept[i], results[i], want[i])
			}
		}
		kept = nil
	}
	defer func() {
		if recover() == nil {
			t.Error("arguments can be read when the handler has returned")
		}
	}()
	stale.GetItem()
}

// TestArgsIntoResult: a result that refers to the arguments is sent before the memory of either is
// used again.
func TestArgsIntoResult(t *testing.T) {
	t.Parallel()
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprint(recycle), func(t *testing.T) {
			c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Recycle: recycle}, &handler{}), rpc.PoolSize(2)))
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					for j := range 60 {
						data := strings.Repeat(fmt.Sprint(i, "/", j, " "), 2000)
						for _, mode := range []string{"link", "fill"} {
							res, err := c.Put(bg, func(args echo.EchoPutArgs) {
								item := args.NewItem()
								item.SetData([]byte(data))
								item.SetNumbers([]int64{int64(i), int64(j)})
								args.SetMode(mode)
							})
							if err != nil || string(res.GetSuccess().GetData()) != data {
								t.Errorf("recycle %v, %s: %v", recycle, mode, err)
								return
							}
							res.Release()
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestCallAllocates: client and server together allocate a slab for many calls, and the structs
// that interceptors may keep, and nothing else for a call.
func TestCallAllocates(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("this build allocates")
	}
	if !testmode.InOwnProcess(t) {
		return
	}
	pass := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }
	counted := newCounts()
	for _, way := range []struct {
		stats    *rpc.Stats
		inFlight int
		opts     []rpc.Option
		most     float64
	}{
		{nil, 0, nil, 1}, {nil, 0, []rpc.Option{rpc.Unframed}, 1}, {&counted.Stats, 0, []rpc.Option{&counted.Stats}, 1}, {nil, 1, nil, 1},
		{nil, 0, []rpc.Option{rpc.Compact}, 3},            // of two messages that are received
		{nil, 0, []rpc.Option{rpc.Interceptors(pass)}, 3}, // a Call and a channel
	} {
		srv := &rpc.Server{Stats: way.stats, Health: &rpc.Health{}, MaxInFlight: way.inFlight}
		c := echo.NewEchoClient(dial(t, serve(t, srv, &handler{}), way.opts...))
		call := func() {
			sum, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) })
			if err != nil || sum.GetSuccess() != 3 {
				t.Fatal(err)
			}
			sum.Release()
		}
		for range 100 {
			call()
		}
		if n := testing.AllocsPerRun(500, call); n >= way.most {
			t.Errorf("%v allocations a call", n)
		}
	}
}
