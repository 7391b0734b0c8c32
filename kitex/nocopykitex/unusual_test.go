package nocopykitex_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/cloudwego/gopkg/bufiox"
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop/feed"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// TestLargeRequests: a client's middleware can read a request of more bytes than Parse accepts by
// default.
func TestLargeRequests(t *testing.T) {
	c := carrierNamed("framed")
	seen := 0
	cl := c.dial(t, "127.0.0.1:1", client.WithMiddleware(func(endpoint.Endpoint) endpoint.Endpoint {
		return func(_ context.Context, req, resp any) error {
			if !req.(*nocopykitex.Args).Struct().Valid() {
				t.Error("no request")
			}
			seen++
			return nil
		}
	}))
	bytes := make([]byte, 101<<20)
	cl.Check(context.Background(), func(a shop.ShopCheckArgs) { a.SetData(bytes) })
	if seen != 1 {
		t.Errorf("%d requests", seen)
	}
}

// TestEncodeConcurrently changes a request in a middleware and encodes it in several goroutines.
func TestEncodeConcurrently(t *testing.T) {
	c := carrierNamed("framed")
	cl := c.dial(t, c.serve(t, newHandler(t)), client.WithMiddleware(around(func(args *nocopykitex.Args) {
		order := shop.ShopEchoArgs(args.Struct()).GetOrder()
		order.SetID(66)
		order.GetItems().AppendNew().SetName("another")
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				var b []byte
				w := bufiox.NewBytesWriter(&b)
				if err := errors.Join(args.Write(context.Background(), "echo", w), w.Flush()); err != nil {
					t.Error(err)
				}
				if a, err := shop.ParseShopEchoArgs(b); err != nil || a.GetOrder().GetID() != 66 {
					t.Errorf("%v: %v", err, a)
				}
			})
		}
		wg.Wait()
	}, nil)))
	r, err := cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { fillOrder(a.NewOrder(), 1, 100) })
	if err != nil || r.GetSuccess().GetID() != 66 {
		t.Error(r, err)
	}
}

// TestLocalCaller calls a server in the same process, which encodes nothing.
func TestLocalCaller(t *testing.T) {
	for _, opts := range [][]server.Option{nil, {nocopykitex.ServerRecycle()}} {
		s := shopservice.NewServer(newHandler(t), serverOptions(listen(t), opts)...)
		local, err := server.NewLocalCaller("test", s)
		if err != nil {
			t.Fatal(err)
		}
		info, err := local.ResolveMethod(context.Background(), "echo")
		if err != nil {
			t.Fatal(err)
		}
		args, result := info.NewArgs().(*nocopykitex.Args), info.NewResult().(*nocopykitex.Result)
		fillPicture(shop.ShopEchoArgs(args.Struct()).NewOrder(), 9, large)
		if err := local.Call(context.Background(), "echo", args, result); err != nil {
			t.Error(err)
		}
		if o := shop.ShopEchoResult(result.Struct()).GetSuccess(); o.GetID() != 9 || len(o.GetFirst().GetPicture()) != large {
			t.Errorf("%.100v", o)
		}
	}
}

// TestRegister adds two generated services to one ordinary Kitex server, and calls them, also over
// gRPC.
func TestRegister(t *testing.T) {
	l := listen(t)
	s := server.NewServer(serverOptions(l, nil)...)
	if err := errors.Join(shopservice.RegisterService(s, newHandler(t)), feed.RegisterService(s, feedHandler{})); err != nil {
		t.Fatal(err)
	}
	addr := run(t, s, l)
	for _, name := range []string{"framed", "TTHeader", "gRPC"} {
		c := carrierNamed(name)
		if err := echo(c.dial(t, addr), fillOrder, 9000, 3); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := callID(c.dial(t, addr), throwMissing, "")
		if _, declared := errors.AsType[shop.NotFound](err); !declared {
			t.Errorf("%s: %v", name, err)
		}
		cl, err := feed.NewClient("feed", append([]client.Option{client.WithHostPorts(addr), patient}, c.client...)...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := cl.Last(context.Background(), func(a shop.FeedLastArgs) { a.NewOrder().SetID(4) })
		if err != nil || r.GetSuccess().GetID() != 4 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClose closes a client.
func TestClose(t *testing.T) {
	c := carrierNamed("framed")
	addr := c.serve(t, newHandler(t))
	cl := c.dial(t, addr)
	if err := echo(cl, fillOrder, 1, 1); err != nil {
		t.Error(err)
	}
	if err := cl.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	// Kitex panics, or returns an error
	defer func() { recover() }()
	if err := echo(cl, fillOrder, 1, 1); err == nil {
		t.Error("a closed client calls")
	}
}

// TestShareFrom encodes requests that refer to a received order, which changes have cut into
// pieces. Pieces shorter than shareFrom are copied together at once, others when they are written.
func TestShareFrom(t *testing.T) {
	for _, test := range []struct {
		every  int // every how many of the 80 items of about 130 bytes are changed
		pieces int // number of pieces of the encoded request
	}{
		{every: 1, pieces: 1},  // all pieces are short
		{every: 20, pieces: 9}, // four long pieces, and copies around them
	} {
		order := shop.NewOrder()
		fillOrder(order, 3, 7900)
		received, err := shop.ParseOrder(order.Message().Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < received.GetItems().Len(); i += test.every {
			received.GetItems().At(i).SetName("changed")
		}
		pieces := 0
		cl := carrierNamed("framed").dial(t, "127.0.0.1:1", client.WithMiddleware(func(endpoint.Endpoint) endpoint.Endpoint {
			return func(_ context.Context, req, _ any) error {
				pieces = nocopykitex.Pieces(req.(*nocopykitex.Args))
				return nil
			}
		}))
		cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { a.SetOrder(received) })
		if pieces != test.pieces {
			t.Errorf("every %d: %d pieces, want %d", test.every, pieces, test.pieces)
		}
	}
}
