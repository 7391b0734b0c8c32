package released_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"

	headmarket "github.com/nocopythrift/nocopythrift/kitex/internal/market"
	headmarketservice "github.com/nocopythrift/nocopythrift/kitex/internal/market/market"
	ownmarket "github.com/nocopythrift/nocopythrift/kitex/internal/released/v1.0.0-rc.1/market"
	ownmarketservice "github.com/nocopythrift/nocopythrift/kitex/internal/released/v1.0.0-rc.1/market/market"
	own "github.com/nocopythrift/nocopythrift/kitex/internal/released/v1.0.0-rc.1/shop"
	ownservice "github.com/nocopythrift/nocopythrift/kitex/internal/released/v1.0.0-rc.1/shop/shop"
	head "github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	headservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
)

func TestMain(m *testing.M) {
	klog.SetLevel(klog.LevelFatal)
	os.Exit(m.Run())
}

type handler struct{ own.UnimplementedShopHandler }

func (handler) Echo(_ context.Context, args own.ShopEchoArgs, result own.ShopEchoResult) error {
	if args.GetNote() == "throw" {
		result.NewMissing().SetWhat("own")
		return nil
	}
	result.SetSuccess(args.GetOrder())
	return nil
}

func (handler) Ping(context.Context, own.HealthPingArgs, own.HealthPingResult) error { return nil }

type headHandler struct{ head.UnimplementedShopHandler }

func (headHandler) Echo(_ context.Context, args head.ShopEchoArgs, result head.ShopEchoResult) error {
	if args.GetNote() == "throw" {
		result.NewMissing().SetWhat("head")
		return nil
	}
	result.SetSuccess(args.GetOrder())
	return nil
}

// run runs a server until the test ends, and returns its address.
func run(t *testing.T, newServer func(opts ...server.Option) server.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	exit, ended := make(chan error, 1), make(chan error, 1)
	s := newServer(server.WithListener(l), server.WithExitWaitTime(time.Millisecond),
		server.WithExitSignal(func() <-chan error { return exit }))
	go func() { ended <- s.Run() }()
	t.Cleanup(func() {
		exit <- nil
		<-ended // an error if clients are still connected
	})
	return l.Addr().String()
}

func options(addr string) []client.Option {
	return []client.Option{
		client.WithHostPorts(addr), client.WithTransportProtocol(transport.Framed),
		client.WithRPCTimeout(time.Minute), client.WithConnectTimeout(time.Minute),
	}
}

// TestOwnServer: a client of the head calls a server of this version, through Kitex.
func TestOwnServer(t *testing.T) {
	addr := run(t, func(opts ...server.Option) server.Server { return ownservice.NewServer(handler{}, opts...) })
	c, err := headservice.NewClient("shop", options(addr)...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	r, err := c.Echo(t.Context(), func(args head.ShopEchoArgs) {
		args.NewOrder().NewItems(1).At(0).SetName("pen")
	})
	if err != nil || r.GetSuccess().GetItems().At(0).GetName() != "pen" {
		t.Errorf("%v, %v", r, err)
	}
	var missing head.NotFound
	if _, err := c.Echo(t.Context(), func(args head.ShopEchoArgs) { args.SetNote("throw") }); !errors.As(err, &missing) || missing.GetWhat() != "own" {
		t.Errorf("an exception: %v", err)
	}
}

// TestOwnClient: a client of this version calls a server of the head.
func TestOwnClient(t *testing.T) {
	addr := run(t, func(opts ...server.Option) server.Server { return headservice.NewServer(headHandler{}, opts...) })
	c, err := ownservice.NewClient("shop", options(addr)...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Echo(t.Context(), func(args own.ShopEchoArgs) { args.NewOrder().SetID(7) })
	if err != nil || r.GetSuccess().GetID() != 7 {
		t.Errorf("%v, %v", r, err)
	}
	var missing own.NotFound
	if _, err := c.Echo(t.Context(), func(args own.ShopEchoArgs) { args.SetNote("throw") }); !errors.As(err, &missing) || missing.GetWhat() != "head" {
		t.Errorf("an exception: %v", err)
	}
}

// TestCodec: the methods that Kitex's codecs call.
func TestCodec(t *testing.T) {
	a := own.NewOrder()
	a.SetID(5)
	buf := make([]byte, a.BLength())
	n := a.FastWriteNocopy(buf, nil)
	var b head.Order
	if m, err := b.FastRead(buf[:n]); err != nil || m != n || b.GetID() != 5 {
		t.Errorf("%v, %d, %v", b, m, err)
	}
	if v, err := own.ParseOrderFields(buf[:n]); err != nil || v.ID != 5 {
		t.Errorf("%v, %v", v, err)
	}
}

type marketHandler struct {
	ownmarket.UnimplementedMarketHandler
}

func (marketHandler) Open(_ context.Context, args ownmarket.MarketOpenArgs, result ownmarket.MarketOpenResult) error {
	if !args.IsSetOrder() {
		e := head.NewNotFound() // of the other package, declared alike
		e.SetWhat("an order")
		return e
	}
	result.SetSuccess(args.GetStall())
	result.GetSuccess().NewOrders(0).Append(args.GetOrder())
	return nil
}

func (marketHandler) Paint(_ context.Context, args ownmarket.MarketPaintArgs, result ownmarket.MarketPaintResult) error {
	result.SetSuccess(args.GetColour())
	return nil
}

func (marketHandler) Ping(context.Context, own.HealthPingArgs, own.HealthPingResult) error {
	return nil
}

// TestMarket: a service that extends one of another package, and uses its types: a client of the
// head calls a server of this version, and gets structs of this version's code as arguments.
func TestMarket(t *testing.T) {
	addr := run(t, func(opts ...server.Option) server.Server { return ownmarketservice.NewServer(marketHandler{}, opts...) })
	c, err := headmarketservice.NewClient("market", options(addr)...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ping(t.Context(), nil); err != nil {
		t.Errorf("inherited from another package: %v", err)
	}
	item, order := own.NewItem(), own.NewOrder()
	item.SetName("pen")
	order.SetID(7)
	r, err := c.Open(t.Context(), func(args headmarket.MarketOpenArgs) {
		args.NewStall().SetBest(head.Item(item))
		args.GetStall().NewStock().Put(head.Item(item), 3)
		args.SetOrder(head.Order(order))
	})
	n, ok := r.GetSuccess().GetStock().Get(head.Item(item))
	if err != nil || r.GetSuccess().GetBest().GetName() != "pen" || n != 3 || !ok || r.GetSuccess().GetOrders().At(0).GetID() != 7 {
		t.Errorf("%v, %v", r, err)
	}
	stall := ownmarket.Stall(r.GetSuccess()).Clone()
	if !messages.Equal(stall, r.GetSuccess()) {
		t.Errorf("%v\n%v", stall, r)
	}
	var missing head.NotFound
	if _, err := c.Open(t.Context(), nil); !errors.As(err, &missing) || missing.GetWhat() != "an order" {
		t.Errorf("an exception of the other package: %v", err)
	}
	p, err := c.Paint(t.Context(), func(args headmarket.MarketPaintArgs) { args.SetColour(head.Colour_BLUE) })
	if err != nil || p.GetSuccess() != head.Colour_BLUE {
		t.Errorf("%v, %v", p, err)
	}
}
