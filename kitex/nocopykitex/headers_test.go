package nocopykitex_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/bytedance/gopkg/cloud/metainfo"
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// speaking answers with the headers that it has received.
type speaking struct{ *handler }

func (speaking) Text(ctx context.Context, args shop.ShopTextArgs, result shop.ShopTextResult) error {
	err := rpc.SetReplyHeader(ctx, "Served-By", rpc.Header(ctx, "TENANT")+"'s")
	result.SetSuccess(fmt.Sprintf("%v %v", maps.Collect(rpc.Headers(ctx)), err))
	return nil
}

// TestHeaders: headers are transient values of Kitex's metainfo, also to and from programs that
// use metainfo directly. Headers of a reply are its backward values. Persistent values become
// headers in the next server.
func TestHeaders(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		var backward map[string]string
		see := func(next endpoint.Endpoint) endpoint.Endpoint {
			return func(ctx context.Context, req, resp any) error {
				err := next(ctx, req, resp)
				backward = metainfo.RecvAllBackwardValues(ctx)
				return err
			}
		}
		cl := c.dial(t, c.serve(t, speaking{newHandler(t)}), client.WithMiddleware(see))
		text := func(ctx context.Context) string {
			t.Helper()
			res, err := cl.Text(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Clone(res.GetSuccess())
		}
		if _, err := cl.Text(rpc.SetHeader(context.Background(), "a b", "c"), nil); err == nil || !strings.Contains(err.Error(), `header "a b"`) {
			t.Error(err)
		}
		if got := text(context.Background()); got != "map[] "+rpc.ErrNoReplyHeaders.Error() {
			t.Errorf("without headers: %s", got)
		}
		if !strings.Contains(c.name, "TTHeader") && c.name != "mux" {
			return // no place for headers
		}
		var reply rpc.ReplyHeaders
		ctx := rpc.ReceiveHeaders(rpc.SetHeader(context.Background(), "Tenant", "blue"), &reply)
		ctx = metainfo.WithPersistentValue(metainfo.WithValue(ctx, "t", "1"), "p", "2")
		if got, want := text(ctx), "map[Tenant:blue p:2 t:1 thrift-reply-headers:1] <nil>"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if reply.Get("served-by") != "blue's" || backward["Served-By"] != "blue's" {
			t.Errorf("the reply has %v, as metainfo %v", maps.Collect(reply.All()), backward)
		}
	})
}
