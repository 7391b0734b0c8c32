package nocopykitex_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/codec/thrift"
	"github.com/cloudwego/kitex/server"

	plainservice "github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// callID calls echo with an order of this id.
func callID(cl shopservice.Client, id int64, note string) (shop.ShopEchoResult, error) {
	return cl.Echo(context.Background(), func(args shop.ShopEchoArgs) {
		args.NewOrder().SetID(id)
		args.SetNote(note)
	})
}

func TestOutcomes(t *testing.T) { eachCarrier(t, testOutcomes) }

// TestPayloadCodec uses the codec of this package instead of Kitex's, and around a codec that
// knows neither Args nor Results.
func TestPayloadCodec(t *testing.T) {
	ours := nocopykitex.NewPayloadCodec(ignorant{thrift.NewThriftCodec()})
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "gRPC" {
				return // payload codecs are not used there
			}
			c.client = append([]client.Option{client.WithPayloadCodec(ours)}, c.client...)
			c.server = append([]server.Option{server.WithPayloadCodec(nocopykitex.NewPayloadCodec(nil))}, c.server...)
			testOutcomes(t, c)
			l := listen(t)
			h := plainHandler{noted: make(chan int64, 1)}
			checkOurs(t, c.dial(t, run(t, plainservice.NewServer(&h, serverOptions(l, c.server)...), l)), h.noted)
		})
	}
}

// ignorant is a codec that is never given Args or Results.
type ignorant struct{ remote.PayloadCodec }

func (c ignorant) Marshal(ctx context.Context, m remote.Message, out remote.ByteBuffer) error {
	switch m.Data().(type) {
	case *nocopykitex.Args, *nocopykitex.Result:
		return errors.New("a codec was given what it does not know")
	}
	return c.PayloadCodec.Marshal(ctx, m, out)
}

func testOutcomes(t *testing.T, c carrier) {
	h := newHandler(t)
	cl := c.dial(t, c.serve(t, h))

	_, err := callID(cl, throwMissing, "this")
	if e, ok := errors.AsType[shop.NotFound](err); !ok || e.GetWhat() != "this" {
		t.Errorf("exception that the handler returned: %v", err)
	}
	_, err = callID(cl, throwBusy, "")
	if e, ok := errors.AsType[shop.Busy](err); !ok || e.GetSeconds() != 42 {
		t.Errorf("exception in the result: %v", err)
	}
	for id, text := range map[int64]string{
		failPlainly: "plainly failed", panics: "handler's panic", failApplication: "of another type",
		releasesArgs: "released its arguments",
	} {
		if _, err = callID(cl, id, ""); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want an error with %q, got %v", text, err)
		}
	}
	if _, err = callID(cl, failApplication, ""); c.name != "gRPC" {
		if e, ok := errors.AsType[*remote.TransError](err); !ok || e.TypeID() != remote.InvalidTransform {
			t.Errorf("type of an application exception: %v", err)
		}
	}
	_, err = callID(cl, failBusiness, "")
	// Other transports have no place for it
	if strings.Contains(c.name, "TTHeader") || c.mux || c.name == "gRPC" {
		if e, ok := kerrors.FromBizStatusError(err); !ok || e.BizStatusCode() != 404 {
			t.Errorf("business status: %v", err)
		}
	}

	// The methods of the service, and of the service that it extends
	if _, err := cl.Ping(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if r, err := cl.Count(context.Background(), func(a shop.ShopCountArgs) { a.SetN(21) }); err != nil || r.GetSuccess() != 42 {
		t.Error(r, err)
	}
	if r, err := cl.Text(context.Background(), func(a shop.ShopTextArgs) { a.SetS("text") }); err != nil || r.GetSuccess() != "TEXT" {
		t.Error(r, err)
	}
	if r, err := cl.Numbers(context.Background(), func(a shop.ShopNumbersArgs) { a.SetValues([]int64{1, 2, 3}) }); err != nil || r.GetSuccess().Len() != 3 {
		t.Error(r, err)
	}
	if r, err := cl.Colour(context.Background(), func(a shop.ShopColourArgs) { a.SetC(shop.Colour_BLUE) }); err != nil || r.GetSuccess() != shop.Colour_BLUE {
		t.Error(r, err)
	}
	if _, err := cl.Check(context.Background(), func(a shop.ShopCheckArgs) { a.SetData([]byte{1}) }); err != nil {
		t.Error(err)
	}
	if _, err := cl.Check(context.Background(), nil); !errors.As(err, new(shop.NotFound)) {
		t.Error(err)
	}
	for id := range int64(3) {
		if err := cl.Note(context.Background(), func(a shop.ShopNoteArgs) { a.NewOrder().SetID(id) }); err != nil {
			t.Error(err)
		} else if got := <-h.noted; got != id {
			t.Errorf("oneway call %d arrived as %d", id, got)
		}
	}
	// After all these calls the connections still work.
	if err := echo(cl, fillOrder, 20<<10, 7); err != nil {
		t.Error(err)
	}
}
