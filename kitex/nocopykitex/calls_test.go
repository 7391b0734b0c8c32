package nocopykitex_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// eachCarrier runs f for each carrier, with and without recycled memory.
func eachCarrier(t *testing.T, f func(t *testing.T, c carrier)) {
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) { f(t, c) })
		c.server = append([]server.Option{nocopykitex.ServerRecycle()}, c.server...)
		c.client = append([]client.Option{nocopykitex.ClientRecycle()}, c.client...)
		t.Run(c.name+" recycle", func(t *testing.T) { f(t, c) })
	}
}

func TestEcho(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		cl := c.dial(t, c.serve(t, newHandler(t)))
		for _, n := range sizes() {
			for kind, fill := range map[string]func(shop.Order, int64, int){"items": fillOrder, "picture": fillPicture} {
				if n >= 1<<20 && kind == "items" && !testmode.Long {
					continue
				}
				for round := range max(1, min(2, 70<<10/n)) {
					if err := echo(cl, fill, n, round); err != nil {
						t.Errorf("%s of %d bytes: %v", kind, n, err)
					}
				}
			}
		}
	})
}

// echo sends an order of n bytes and compares the order that comes back.
func echo(cl shopservice.Client, fill func(shop.Order, int64, int), n, id int) error {
	want := shop.NewOrder()
	fill(want, int64(id), n)
	res, err := cl.Echo(context.Background(), func(args shop.ShopEchoArgs) { args.SetOrder(want) })
	if err != nil {
		return err
	}
	if got, want := string(res.GetSuccess().AppendTo(nil)), string(want.AppendTo(nil)); got != want {
		return fmt.Errorf("sent %d bytes, received other %d", len(want), len(got))
	}
	res.Release()
	return nil
}
