package nocopykitex_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// proxy changes one nested field of orders and forwards them to another server.
type proxy struct {
	handler
	to shopservice.Client
}

func (p *proxy) Echo(ctx context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
	args.GetOrder().GetFirst().SetPrice(4711)
	var opts []callopt.Option
	if args.GetOrder().GetID() == stall {
		opts = append(opts, callopt.WithRPCTimeout(givesUp))
	}
	r, err := p.to.Echo(ctx, func(a shop.ShopEchoArgs) {
		a.SetOrder(args.GetOrder())
		a.SetNote(args.GetNote()) // a string that aliases the arguments
	}, opts...)
	if err != nil {
		return err
	}
	defer r.Release()
	result.SetSuccess(r.GetSuccess())
	return nil
}

// TestProxy sends orders through a proxy.
func TestProxy(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		back := newHandler(t)
		backend := c.dial(t, c.serve(t, back), client.WithFailureRetry(retry.NewFailurePolicy()))
		cl := c.dial(t, c.serve(t, &proxy{to: backend}))
		for _, n := range []int{10, 5000, 20_000, 70_000} {
			for i := range 2 {
				note := strings.Repeat("n", (i+1)*n)
				r, err := cl.Echo(context.Background(), func(a shop.ShopEchoArgs) {
					fillPicture(a.NewOrder(), 3, n)
					a.SetNote(note)
				})
				if err != nil {
					t.Fatal(err)
				}
				o := r.GetSuccess()
				if o.GetID() != int64(len(note)) || o.GetFirst().GetPrice() != 4711 || len(o.GetFirst().GetPicture()) != n || o.GetFirst().GetPicture()[n-1] != byte((n-1)*7) {
					t.Errorf("%d bytes came back as another order", n)
				}
				r.Release()
			}
		}
	})
}

// TestProxyBuffers: a proxy gives back the buffers of answered calls, and keeps those of calls
// that it gave up, since they may still be in use for sending.
func TestProxyBuffers(t *testing.T) {
	nocopykitex.Forget()
	c := carrierNamed("framed")
	back := newHandler(t)
	backend := c.dial(t, c.serve(t, back, nocopykitex.ServerRecycle()), nocopykitex.ClientRecycle())
	finished := make(finishes, 1000) // its Finish runs after that of the tracer given later
	addr := c.serve(t, &proxy{to: backend}, server.WithTracer(finished), nocopykitex.ServerRecycle())
	cl := c.dial(t, addr, nocopykitex.ClientRecycle())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 20 {
				r, err := cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { fillPicture(a.NewOrder(), int64(i), 50<<10) })
				if err != nil {
					t.Error(err)
					return
				}
				r.Release()
			}
		})
	}
	wg.Wait()
	waitForBuffers(t)
	for range 80 {
		<-finished
	}
	if _, err := cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { fillPicture(a.NewOrder(), stall, 50<<10) }); err == nil {
		t.Error("no timeout")
	}
	<-finished
	back.release <- struct{}{}
	if n := nocopykitex.Held(); n == 0 {
		t.Error("the arguments of a call that was given up were given back")
	}
	nocopykitex.Forget()
}

// finishes is a tracer that reports the ends of calls.
type finishes chan bool

func (finishes) Start(ctx context.Context) context.Context { return ctx }
func (f finishes) Finish(context.Context)                  { f <- true }
