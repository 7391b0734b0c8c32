package nocopykitex_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/cloudwego/kitex/client"

	apache "github.com/nocopythrift/nocopythrift/kitex/internal/apache/shop"
	plain "github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop"
	plainservice "github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// plainHandler is a handler of Kitex's own code.
type plainHandler struct {
	plain.Shop
	noted chan int64
}

func (h plainHandler) Ping(context.Context) error { return nil }

func (h plainHandler) Echo(_ context.Context, order *plain.Order, note string) (*plain.Order, error) {
	switch order.Id {
	case throwMissing:
		return nil, &plain.NotFound{What: note}
	case failPlainly:
		return nil, errors.New("plainly failed")
	}
	return order, nil
}

func (h plainHandler) Numbers(_ context.Context, v []int64) ([]int64, error) { return v, nil }

func (h plainHandler) Colour(_ context.Context, c plain.Colour) (plain.Colour, error) { return c, nil }

func (h plainHandler) Note(_ context.Context, order *plain.Order) error {
	h.noted <- order.Id
	return nil
}

// checkOurs calls a foreign server with our client. The server sends oneway calls to noted, which
// is nil if it gets none.
func checkOurs(t *testing.T, cl shopservice.Client, noted chan int64) {
	t.Helper()
	ctx := context.Background()
	for i, n := range []int{1, 2000, 9000, 300_000} {
		for _, fill := range []func(shop.Order, int64, int){fillOrder, fillPicture} {
			want := shop.NewOrder()
			fill(want, int64(i), n)
			res, err := cl.Echo(ctx, func(args shop.ShopEchoArgs) { args.SetOrder(want) })
			if err != nil {
				t.Errorf("%d bytes: %v", n, err)
			} else if !sameOrder(res.GetSuccess(), want) {
				t.Errorf("%d bytes have changed", n)
			}
		}
	}
	if _, err := callID(cl, throwMissing, "that"); !errors.As(err, new(shop.NotFound)) {
		t.Errorf("exception: %v", err)
	}
	if _, err := callID(cl, failPlainly, ""); err == nil || !strings.Contains(err.Error(), "plainly failed") {
		t.Errorf("error: %v", err)
	}
	r, err := cl.Numbers(ctx, func(a shop.ShopNumbersArgs) { a.SetValues([]int64{7, -8}) })
	if err != nil || r.GetSuccess().At(1) != -8 {
		t.Errorf("numbers: %v, %v", r, err)
	}
	c, err := cl.Colour(ctx, func(a shop.ShopColourArgs) { a.SetC(shop.Colour_BLUE) })
	if err != nil || c.GetSuccess() != shop.Colour_BLUE {
		t.Errorf("colour: %v, %v", c, err)
	}
	if _, err := cl.Ping(ctx, nil); err != nil {
		t.Error(err)
	}
	if noted == nil {
		return
	}
	if err := cl.Note(ctx, func(a shop.ShopNoteArgs) { a.NewOrder().SetID(8) }); err != nil {
		t.Errorf("oneway: %v", err)
	}
	select {
	case id := <-noted:
		if id != 8 {
			t.Errorf("oneway call with %d", id)
		}
	case <-time.After(time.Minute):
		t.Error("the oneway call has not arrived")
	}
}

// sameOrder compares the values that tests set. Other libraries also send unset fields.
func sameOrder(a, b shop.Order) bool {
	x, y := a.GetItems(), b.GetItems()
	if a.GetID() != b.GetID() || x.Len() != y.Len() || !bytes.Equal(a.GetFirst().GetPicture(), b.GetFirst().GetPicture()) {
		return false
	}
	for i := range x.Len() {
		if x.At(i).GetName() != y.At(i).GetName() || x.At(i).GetPrice() != y.At(i).GetPrice() {
			return false
		}
	}
	return true
}

func plainOrder(n int) *plain.Order {
	o := &plain.Order{Id: 3, Labels: map[string]string{"k": "v"}, First: &plain.Item{Name: "first", Picture: make([]byte, n)}}
	for range n / 50 {
		o.Items = append(o.Items, &plain.Item{Name: strings.Repeat("n", 30), Tags: []string{"a", "b"}})
	}
	return o
}

// TestPlainServer calls a server of Kitex's own code.
func TestPlainServer(t *testing.T) {
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) {
			h := plainHandler{noted: make(chan int64, 1)}
			l := listen(t)
			addr := run(t, plainservice.NewServer(&h, serverOptions(l, c.server)...), l)
			noted := h.noted
			if c.name == "gRPC" {
				noted = nil // Kitex's own servers get no oneway calls over this transport
			}
			checkOurs(t, c.dial(t, addr), noted)
		})
	}
}

// TestPlainClient calls our server with Kitex's own code.
func TestPlainClient(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		h := newHandler(t)
		addr := c.serve(t, h)
		opts := append([]client.Option{client.WithHostPorts(addr), patient}, carrierNamed(strings.TrimSuffix(c.name, " recycle")).client...)
		cl, err := plainservice.NewClient("shop", opts...)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		for _, n := range []int{1, 2000, 9000, 300_000} {
			want := plainOrder(n)
			got, err := cl.Echo(ctx, want, "")
			if err != nil {
				t.Fatal(err)
			}
			if got.Id != want.Id || len(got.Items) != len(want.Items) || len(got.First.Picture) != n || got.Labels["k"] != "v" {
				t.Errorf("order of %d bytes has changed", n)
			}
		}
		var missing *plain.NotFound
		if _, err = cl.Echo(ctx, &plain.Order{Id: throwMissing}, "it"); !errors.As(err, &missing) || missing.What != "it" {
			t.Errorf("exception: %v", err)
		}
		if _, err = cl.Echo(ctx, &plain.Order{Id: failPlainly}, ""); err == nil || !strings.Contains(err.Error(), "plainly failed") {
			t.Errorf("error: %v", err)
		}
		if v, err := cl.Numbers(ctx, []int64{1, 2}); err != nil || len(v) != 2 {
			t.Error(v, err)
		}
		if c, err := cl.Colour(ctx, plain.Colour_RED); err != nil || c != plain.Colour_RED {
			t.Error(c, err)
		}
		if err := cl.Note(ctx, &plain.Order{Id: 5}); err != nil || <-h.noted != 5 {
			t.Error(err)
		}
	})
}

func carrierNamed(name string) carrier {
	for _, c := range carriers {
		if c.name == name {
			return c
		}
	}
	return carrier{}
}

// apacheHandler is a handler of Apache's code.
type apacheHandler struct {
	apache.Shop
	noted chan int64
}

func (h apacheHandler) Ping(context.Context) error { return nil }

func (h apacheHandler) Echo(_ context.Context, order *apache.Order, note string) (*apache.Order, error) {
	switch order.ID {
	case throwMissing:
		return nil, &apache.NotFound{What: note}
	case failPlainly:
		return nil, errors.New("plainly failed")
	}
	return order, nil
}

func (h apacheHandler) Numbers(_ context.Context, v []int64) ([]int64, error) { return v, nil }

func (h apacheHandler) Colour(_ context.Context, c apache.Colour) (apache.Colour, error) {
	return c, nil
}

func (h apacheHandler) Note(_ context.Context, order *apache.Order) error {
	h.noted <- order.ID
	return nil
}

var apacheTransports = map[string]thrift.TTransportFactory{
	"framed":   thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil),
	"unframed": thrift.NewTBufferedTransportFactory(4 << 10),
}

// TestApacheServer calls a server of Apache's library.
func TestApacheServer(t *testing.T) {
	for name, transports := range apacheTransports {
		t.Run(name, func(t *testing.T) {
			socket, err := thrift.NewTServerSocket("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if err := socket.Listen(); err != nil {
				t.Fatal(err)
			}
			h := apacheHandler{noted: make(chan int64, 1)}
			s := thrift.NewTSimpleServer4(apache.NewShopProcessor(h), socket, transports, thrift.NewTBinaryProtocolFactoryConf(nil))
			go s.Serve()
			defer s.Stop()
			// Apache's code also sends unset fields, so that its replies may have more fields than
			// the requests. The orders of this test set all fields that are compared.
			cl := carrierNamed(name).dial(t, socket.Addr().String())
			for _, n := range []int{1, 2000, 9000, 300_000} {
				res, err := cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { fillOrder(a.NewOrder(), 4, n) })
				if err != nil || res.GetSuccess().GetItems().Len() != n/100+1 || res.GetSuccess().GetID() != 4 {
					t.Errorf("%d bytes: %v", n, err)
				}
			}
			if _, err := callID(cl, throwMissing, "that"); !errors.As(err, new(shop.NotFound)) {
				t.Errorf("exception: %v", err)
			}
			if _, err := callID(cl, failPlainly, ""); err == nil || !strings.Contains(err.Error(), "plainly failed") {
				t.Errorf("error: %v", err)
			}
			if err := cl.Note(context.Background(), func(a shop.ShopNoteArgs) { a.NewOrder().SetID(8) }); err != nil || <-h.noted != 8 {
				t.Errorf("oneway: %v", err)
			}
		})
	}
}

// TestApacheClient calls our server with Apache's library.
func TestApacheClient(t *testing.T) {
	h := newHandler(t)
	addr := carriers[0].serve(t, h)
	for name, transports := range apacheTransports {
		t.Run(name, func(t *testing.T) {
			trans, err := transports.GetTransport(thrift.NewTSocketConf(addr, nil))
			if err == nil {
				err = trans.Open()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer trans.Close()
			cl := apache.NewShopClientFactory(trans, thrift.NewTBinaryProtocolFactoryConf(nil))
			ctx := context.Background()
			for _, n := range []int{1, 2000, 9000, 300_000} {
				want := &apache.Order{ID: 3, First: &apache.Item{Name: strings.Repeat("x", n), Colour: apache.Colour_RED}}
				got, err := cl.Echo(ctx, want, "")
				if err != nil || got.First.Name != want.First.Name {
					t.Errorf("%d bytes: %v", n, err)
				}
			}
			var missing *apache.NotFound
			if _, err := cl.Echo(ctx, &apache.Order{ID: throwMissing}, "it"); !errors.As(err, &missing) || missing.What != "it" {
				t.Errorf("exception: %v", err)
			}
			var application thrift.TApplicationException
			if _, err := cl.Echo(ctx, &apache.Order{ID: failApplication}, ""); !errors.As(err, &application) || application.TypeId() != thrift.INVALID_MESSAGE_TYPE_EXCEPTION+6 {
				t.Errorf("application exception: %v", err)
			}
			if v, err := cl.Count(ctx, 4); err != nil || v != 8 {
				t.Error(v, err)
			}
			if err := cl.Note(ctx, &apache.Order{ID: 5}); err != nil || <-h.noted != 5 {
				t.Error(err)
			}
		})
	}
}

// TestOwnServer serves one handler on Kitex and on package rpc, and calls the latter through
// Kitex.
func TestOwnServer(t *testing.T) {
	h := newHandler(t)
	l := listen(t)
	srv := &rpc.Server{Processor: shop.NewShopProcessor(h)}
	go srv.Serve(l)
	defer srv.Close()
	for _, name := range []string{"framed", "unframed", "gonet framed", "gonet unframed"} {
		t.Run(name, func(t *testing.T) { checkOurs(t, carrierNamed(name).dial(t, l.Addr().String()), h.noted) })
	}
}

// TestOwnClient calls a server on Kitex through package rpc.
func TestOwnClient(t *testing.T) {
	h := newHandler(t)
	for _, c := range []carrier{carriers[0], carrierNamed("gonet framed")} {
		addr := c.serve(t, h)
		for name, opts := range map[string][]rpc.Option{"framed": nil, "unframed": {rpc.Unframed}} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				conn, err := rpc.Dial(context.Background(), "tcp", addr, opts...)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				cl := shop.NewShopClient(conn)
				for _, n := range []int{1, 2000, 9000, 300_000} {
					res, err := cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { fillOrder(a.NewOrder(), 4, n) })
					if err != nil || res.GetSuccess().GetItems().Len() != n/100+1 {
						t.Errorf("%d bytes: %v", n, err)
					}
				}
				_, err = cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { a.NewOrder().SetID(throwMissing) })
				if !errors.As(err, new(shop.NotFound)) {
					t.Errorf("exception: %v", err)
				}
				_, err = cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { a.NewOrder().SetID(failApplication) })
				if e, ok := errors.AsType[*rpc.ApplicationException](err); !ok || e.Type != rpc.InvalidTransform {
					t.Errorf("application exception: %v", err)
				}
			})
		}
	}
}
