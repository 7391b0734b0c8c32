package nocopykitex_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/genericclient"
	"github.com/cloudwego/kitex/pkg/generic"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
)

// TestGeneric calls our server with Kitex's generic calls.
func TestGeneric(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		if c.name == "gRPC" || c.name == "gRPC recycle" {
			return // generic calls of methods without streams use the other transports
		}
		opts := append([]client.Option{client.WithHostPorts(c.serve(t, newHandler(t))), patient}, carrierNamed(strings.TrimSuffix(c.name, " recycle")).client...)
		text, err := os.ReadFile("../internal/shop/shop.thrift")
		if err != nil {
			t.Fatal(err)
		}
		types, _, _ := strings.Cut(string(text), "\nservice ")
		// Kitex does not support methods without arguments there
		idl, err := generic.NewThriftContentProvider(types+`
		service Shop {
			Order echo(1: Order order, 2: string note) throws (1: NotFound missing, 2: Busy busy)
			list<i64> numbers(1: list<i64> values)
		}`, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer idl.Close()
		g, err := generic.JSONThriftGeneric(idl)
		if err != nil {
			t.Fatal(err)
		}
		cl, err := genericclient.NewClient("shop", g, opts...)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background() // calls take the first argument and return the result
		long := strings.Repeat("long ", 5000)
		out, err := cl.GenericCall(ctx, "echo", `{"id":3,"first":{"name":"`+long+`","price":2}}`)
		if text, _ := out.(string); err != nil || !strings.Contains(text, long) || !strings.Contains(text, `"id":3`) {
			t.Errorf("JSON: %.100v, %v", out, err)
		}
		if out, err := cl.GenericCall(ctx, "numbers", `[1,2,3]`); err != nil || out != `[1,2,3]` {
			t.Errorf("JSON: %v, %v", out, err)
		}
		if out, err := cl.GenericCall(ctx, "echo", `{"id":-1}`); err == nil || !strings.Contains(err.Error(), "what") {
			t.Errorf("exception as JSON: %v, %v", out, err)
		}

		bin, err := genericclient.NewClient("shop", generic.BinaryThriftGenericV2("Shop"), opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 9000, 100_000} {
			args := shop.NewShopEchoArgs()
			fillPicture(args.NewOrder(), 6, n)
			out, err := bin.GenericCall(ctx, "echo", args.Message().Bytes())
			if err != nil {
				t.Error(err)
				continue
			}
			r, err := shop.ParseShopEchoResult(out.([]byte))
			if err != nil || len(r.GetSuccess().GetFirst().GetPicture()) != n {
				t.Errorf("binary of %d bytes: %v", n, err)
			}
		}
	})
}
