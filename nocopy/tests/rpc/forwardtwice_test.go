package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestForwardTwice: a handler forwards what it has edited to two backends at once, whose clients
// have interceptors that edit it too, send it twice at once, and try again. Nobody sees changes of
// another, and strings that were read stay as they were, unless the server recycles.
func TestForwardTwice(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var kept, copies []string
	keep := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		kept, copies = append(kept, text), append(copies, strings.Clone(text))
	}
	edit := func(recycle bool) rpc.Interceptor {
		return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			args, ok := rpc.ArgsOf[echo.EchoPutArgs](c)
			if !ok {
				return next(ctx, c)
			}
			if label, _ := args.GetItem().GetLabels().Get("long"); !recycle {
				keep(args.GetMode())
				keep(label)
			}
			args.GetItem().SetName(args.GetItem().GetName() + ", tried")
			other := *c
			failed := make(chan error, 1)
			go func() { failed <- next(ctx, &other) }()
			if err := errors.Join(next(ctx, c), <-failed); err != nil {
				return err
			}
			args.GetItem().SetName("again")
			return next(ctx, c)
		}
	}
	h := &handler{}
	for _, recycle := range []bool{false, true} {
		for _, framed := range []bool{true, false} {
			t.Run(fmt.Sprintf("recycle %t/framed %t", recycle, framed), func(t *testing.T) {
				var opts []rpc.Option
				if !framed {
					opts = append(opts, rpc.Unframed)
				}
				var backends []rpc.Handler
				for range 2 {
					backend := dial(t, serve(t, &rpc.Server{Recycle: recycle}, h), append(opts[:len(opts):len(opts)], rpc.Interceptors(edit(recycle)))...)
					backends = append(backends, rpc.Forward(backend))
				}
				p := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(func(ctx context.Context, c *rpc.Call) error {
					args, _ := rpc.ArgsOf[echo.EchoPutArgs](c)
					args.GetItem().SetName("edited")
					other := *c
					failed := make(chan error, 1)
					go func() { failed <- backends[1](ctx, &other) }()
					if err := errors.Join(backends[0](ctx, c), <-failed); err != nil {
						return err
					}
					if name := args.GetItem().GetName(); name != "edited" {
						t.Errorf("the handler's arguments have become %q", name)
					}
					if r, _ := rpc.ResultOf[echo.EchoPutResult](&other); r.GetSuccess().GetName() != "again" {
						t.Errorf("the other backend's result is %.100v", r)
					}
					return nil
				}, "put")
				c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: p, Lazy: true, Recycle: recycle}, nil), opts...))
				for i, size := range []int{10, 5000, 300_000, 300_000, 10} {
					long := strings.Repeat(fmt.Sprint(i), size)
					res, err := c.Put(bg, func(args echo.EchoPutArgs) {
						args.SetMode("link")
						item := args.NewItem()
						item.SetData([]byte(long))
						item.NewLabels(1).Put("long", long)
					})
					item := res.GetSuccess()
					label, _ := item.GetLabels().Get("long")
					if err != nil || item.GetName() != "again" || string(item.GetData()) != long || label != long {
						t.Fatalf("%.100v, %v", res, err)
					}
				}
			})
		}
	}
	for i := range kept {
		if kept[i] != copies[i] {
			t.Fatalf("a string was %.20q and is %.20q now", copies[i], kept[i])
		}
	}
	if len(kept) < 20 {
		t.Errorf("%d strings kept", len(kept))
	}
}
