package nocopykitex_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/pkg/utils"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// echoHandler is a handler with another Echo.
type echoHandler struct {
	*handler
	echo func(context.Context, shop.ShopEchoArgs, shop.ShopEchoResult) error
}

func (h *echoHandler) Echo(ctx context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
	return h.echo(ctx, args, result)
}

func echoes(_ context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
	result.SetSuccess(args.GetOrder())
	return nil
}

// large is the size of a call that stays a slice of netpoll's buffers.
const large = 100 << 10

// textOf calls echo with a large order, and returns the result or the error as text.
func textOf(cl shopservice.Client) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	res, err := cl.Echo(context.Background(), func(args shop.ShopEchoArgs) { fillPicture(args.NewOrder(), 5, large) })
	if err != nil {
		return err.Error()
	}
	defer res.Release()
	return strings.Clone(res.String())
}

// recycling returns carriers of each kind that recycle memory.
func recycling() []carrier {
	var list []carrier
	names := []string{"framed", "gonet framed"}
	if testmode.Long {
		names = append(names, "TTHeader", "unframed", "gRPC", "mux")
	}
	for _, name := range names {
		c := carrierNamed(name)
		c.server = append([]server.Option{nocopykitex.ServerRecycle()}, c.server...)
		c.client = append([]client.Option{nocopykitex.ClientRecycle()}, c.client...)
		list = append(list, c)
	}
	return list
}

// checkMisuse makes two calls over each kind of carrier, with and without recycled memory, and
// looks for want in the results. Afterwards all buffers must have been given back.
func checkMisuse(t *testing.T, want string, h shop.ShopHandler, onServer []server.Option, onClient []client.Option) {
	t.Helper()
	nocopykitex.Forget()
	for _, c := range append(recycling(), carrierNamed("framed")) {
		addr := c.serve(t, h, onServer...)
		cl := c.dial(t, addr, onClient...)
		for range 2 {
			if text := textOf(cl); !strings.Contains(text, want) {
				t.Errorf("%s: %.200s", c.name, text)
			}
		}
		if c.mux { // the time of sending is unknown
			nocopykitex.Forget()
		}
		waitForBuffers(t)
	}
}

// TestMisuseByHandlers calls handlers that do forbidden or unusual things.
func TestMisuseByHandlers(t *testing.T) {
	for name, test := range map[string]struct {
		echo func(context.Context, shop.ShopEchoArgs, shop.ShopEchoResult) error
		want string // in the result or in the error
	}{
		"panics with a result": {func(_ context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
			result.SetSuccess(args.GetOrder())
			panic("too late")
		}, "too late"},
		"fails with a result": {func(_ context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
			result.SetSuccess(args.GetOrder())
			return errors.New("after all")
		}, "after all"},
		"returns a part of its arguments twice": {func(_ context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
			result.NewSuccess().SetFirst(args.GetOrder().GetFirst())
			result.GetSuccess().NewItems(1).Set(0, args.GetOrder().GetFirst())
			return nil
		}, "{success: {id: 0, items: [{price: 0, picture: 0x00070e"},
		"releases all, twice": {func(_ context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
			result.SetSuccess(args.GetOrder())
			m := args.Message()
			args.Release()
			m.Release()
			result.Release()
			result.Release()
			return nil
		}, "released its arguments"},
		"returns an absent exception": {func(context.Context, shop.ShopEchoArgs, shop.ShopEchoResult) error {
			return shop.NotFound{}
		}, "absent struct"},
		"returns the result's own exception": {func(_ context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
			e := result.NewMissing()
			e.SetWhat("own one")
			return e
		}, "own one"},
		"releases its result's value": {func(_ context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
			o := shop.NewOrder()
			fillPicture(o, 8, large)
			result.SetSuccess(o)
			o.Release()
			return nil
		}, "{success: {id: 8"},
		"returns nothing": {func(context.Context, shop.ShopEchoArgs, shop.ShopEchoResult) error { return nil }, "missing result"},
		"changes its arguments after it has linked them": {func(_ context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
			result.SetSuccess(args.GetOrder())
			args.GetOrder().SetID(99)
			args.UnsetOrder()
			return nil
		}, "{success: {id: 5"},
	} {
		t.Run(name, func(t *testing.T) {
			checkMisuse(t, test.want, &echoHandler{newHandler(t), test.echo}, nil, nil)
		})
	}
}

// around returns a middleware that calls before and after. Both may be nil.
func around(before func(*nocopykitex.Args), after func(*nocopykitex.Args, *nocopykitex.Result)) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, req, resp any) error {
			if before != nil {
				before(req.(*nocopykitex.Args))
			}
			err := next(ctx, req, resp)
			if err == nil && after != nil {
				after(req.(*nocopykitex.Args), resp.(*nocopykitex.Result))
			}
			return err
		}
	}
}

// twice is a middleware that makes each call twice.
func twice(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, req, resp any) error {
		next(ctx, req, resp)
		return next(ctx, req, resp)
	}
}

// TestServersMiddlewares runs middlewares of servers that read, replace, change and release
// arguments and results.
func TestServersMiddlewares(t *testing.T) {
	for name, test := range map[string]struct {
		middleware endpoint.Middleware
		want       string
	}{
		"replaces the result": {around(nil, func(args *nocopykitex.Args, result *nocopykitex.Result) {
			before := result.GetResult().(*shop.Order)
			result.SetSuccess(args.GetFirstArgument())
			before.GetID() // args are still valid
		}), "{success: {id: 5"},
		"removes the result": {around(nil, func(args *nocopykitex.Args, result *nocopykitex.Result) {
			result.SetSuccess(nil)
		}), "missing result"},
		"answers itself": {func(endpoint.Endpoint) endpoint.Endpoint {
			return func(_ context.Context, req, resp any) error {
				resp.(utils.KitexResult).SetSuccess(req.(utils.KitexArgs).GetFirstArgument())
				return nil
			}
		}, "{success: {id: 5"},
		"calls the handler twice": {twice, "{success: {id: 5"},
		"reads everything after the handler": {around(nil, func(args *nocopykitex.Args, result *nocopykitex.Result) {
			a, r := shop.ShopEchoArgs(args.Struct()), shop.ShopEchoResult(result.Struct())
			if !a.GetOrder().Equal(r.GetSuccess()) {
				panic("not the same")
			}
		}), "{success: {id: 5"},
		"changes everything after the handler": {around(nil, func(args *nocopykitex.Args, result *nocopykitex.Result) {
			shop.ShopEchoArgs(args.Struct()).GetOrder().SetID(77)
			r := shop.ShopEchoResult(result.Struct())
			r.GetSuccess().SetID(78)
			r.GetSuccess().NewItems(1).At(0).SetName(strings.Repeat("n", 9000))
		}), "{success: {id: 78, items: [{name: \"nnn"},
		"releases everything after the handler": {around(nil, func(args *nocopykitex.Args, result *nocopykitex.Result) {
			shop.ShopEchoArgs(args.Struct()).Release()
			shop.ShopEchoResult(result.Struct()).Release()
			shop.ShopEchoResult(result.Struct()).Release()
		}), "{success: {id: 5"},
		"releases the arguments before the handler": {around(func(args *nocopykitex.Args) {
			shop.ShopEchoArgs(args.Struct()).Release()
		}, nil), "released its arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := []server.Option{server.WithMiddleware(test.middleware)}
			checkMisuse(t, test.want, &echoHandler{newHandler(t), echoes}, opts, nil)
		})
	}
}

// TestClientsMiddlewares runs middlewares of clients that change and release arguments and
// results, and attempts whose replies nobody gets.
func TestClientsMiddlewares(t *testing.T) {
	for name, test := range map[string]struct {
		middleware endpoint.Middleware
		want       string
	}{
		"changes everything": {around(func(args *nocopykitex.Args) {
			shop.ShopEchoArgs(args.Struct()).GetOrder().SetID(55)
		}, func(_ *nocopykitex.Args, result *nocopykitex.Result) {
			shop.ShopEchoResult(result.Struct()).GetSuccess().NewItems(1).At(0).SetName("changed")
		}), "{success: {id: 55, items: [{name: \"changed"},
		"returns a part of the result": {around(nil, func(_ *nocopykitex.Args, result *nocopykitex.Result) {
			o := shop.NewOrder(nocopy.Recycle)
			o.SetFirst(shop.ShopEchoResult(result.Struct()).GetSuccess().GetFirst())
			result.SetSuccess(o)
			o.Release()
		}), "{success: {id: 0, first: {price: 0, picture: 0x00070e"},
		"calls twice": {twice, "{success: {id: 5"},
		"fails after replies": {func(next endpoint.Endpoint) endpoint.Endpoint {
			return func(ctx context.Context, req, resp any) error {
				next(ctx, req, resp)
				return kerrors.ErrRPCTimeout.WithCause(errors.New("failed on purpose"))
			}
		}, "failed on purpose"},
		"panics after a reply": {around(nil, func(*nocopykitex.Args, *nocopykitex.Result) {
			panic("on purpose")
		}), "on purpose"},
		"releases the arguments": {around(func(args *nocopykitex.Args) {
			shop.ShopEchoArgs(args.Struct()).Release()
		}, nil), "{success: {id: 5"},
		"releases the result": {around(nil, func(_ *nocopykitex.Args, result *nocopykitex.Result) {
			shop.ShopEchoResult(result.Struct()).Release()
			shop.NewOrder() // may take the same memory
		}), "used after Release"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := []client.Option{client.WithMiddleware(test.middleware), client.WithFailureRetry(retry.NewFailurePolicy())}
			checkMisuse(t, test.want, &echoHandler{newHandler(t), echoes}, nil, opts)
		})
	}
}

// TestProxyFailures: a proxy gives back all buffers of calls whose back end fails, and of calls
// that fail in the proxy.
func TestProxyFailures(t *testing.T) {
	for _, c := range recycling()[:2] {
		t.Run(c.name, func(t *testing.T) {
			nocopykitex.Forget()
			back := newHandler(t)
			to := c.dial(t, c.serve(t, back))
			addr := c.serve(t, &echoHandler{newHandler(t), func(ctx context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
				return forward(ctx, t, to, args, result)
			}})
			cl := c.dial(t, addr)
			call := func(id int64, note string) {
				r, err := cl.Echo(context.Background(), func(a shop.ShopEchoArgs) {
					fillPicture(a.NewOrder(), id, large)
					a.SetNote(note)
				})
				if good := id > 0 && !strings.HasPrefix(note, "panic"); good != (err == nil) {
					t.Errorf("order %d, %s: %v", id, note, err)
				} else if good {
					r.Release()
				}
				if note == "oneway" {
					<-back.noted
				}
				waitForBuffers(t)
			}
			call(1, "")
			for _, id := range []int64{throwMissing, throwBusy, failPlainly, panics, failApplication, releasesArgs} {
				call(id, "")
			}
			for _, note := range []string{"oneway", "panic late", "panic early"} {
				call(1, note)
			}
		})
	}
}

// forward is a proxy's handler that fails in the way that the note says.
func forward(ctx context.Context, t *testing.T, to shopservice.Client, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
	var kept shop.ShopEchoArgs
	r, err := to.Echo(ctx, func(a shop.ShopEchoArgs) {
		kept = a
		a.SetOrder(args.GetOrder())
		if args.GetNote() == "panic early" {
			panic("early")
		}
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("arguments can be changed after they were given to Kitex")
			}
		}()
		kept.SetNote("too late")
	}()
	if err != nil {
		return err
	}
	defer r.Release()
	result.SetSuccess(r.GetSuccess())
	switch args.GetNote() {
	case "oneway":
		return to.Note(ctx, func(a shop.ShopNoteArgs) { a.SetOrder(args.GetOrder()) })
	case "panic late":
		panic("late")
	}
	return nil
}
