package moving

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/utils/kitexutil"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop/feed"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

type newHandler struct{ discount int64 }

func (newHandler) Ping(ctx context.Context, args shop.HealthPingArgs, result shop.HealthPingResult) error {
	return nil
}

func (h *newHandler) Echo(ctx context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
	items := args.GetOrder().GetItems()
	if items.Len() == 0 {
		result.NewMissing().SetWhat("items")
		return nil
	}
	for _, item := range items.All() {
		item.SetPrice(item.GetPrice() - h.discount)
	}
	result.SetSuccess(args.GetOrder())
	return nil
}

func (h *newHandler) Count(ctx context.Context, args shop.ShopCountArgs, result shop.ShopCountResult) error {
	result.SetSuccess(int64(args.GetN()) * 2)
	return nil
}

func (h *newHandler) Text(ctx context.Context, args shop.ShopTextArgs, result shop.ShopTextResult) error {
	result.SetSuccess(strings.ToUpper(args.GetS()))
	return nil
}

func (h *newHandler) Numbers(ctx context.Context, args shop.ShopNumbersArgs, result shop.ShopNumbersResult) error {
	sum := int64(0)
	for _, v := range args.GetValues().All() {
		sum += v
	}
	result.SetSuccess([]int64{int64(args.GetValues().Len()), sum})
	return nil
}

func (h *newHandler) Colour(ctx context.Context, args shop.ShopColourArgs, result shop.ShopColourResult) error {
	result.SetSuccess(args.GetC())
	if args.GetC() == shop.Colour_RED {
		result.SetSuccess(shop.Colour_BLUE)
	}
	return nil
}

func (h *newHandler) Check(ctx context.Context, args shop.ShopCheckArgs, result shop.ShopCheckResult) error {
	if len(args.GetData()) == 0 {
		missing := shop.NewNotFound()
		missing.SetWhat("data")
		return missing // or result.NewMissing().SetWhat("data")
	}
	return nil
}

func (h *newHandler) Note(ctx context.Context, args shop.ShopNoteArgs) error {
	logged <- args.GetOrder().GetID()
	return nil
}

func newServer(l net.Listener) server.Server {
	return shopservice.NewServer(&newHandler{discount: 1}, server.WithListener(l))
}

func newClient(addr string) (shopservice.Client, error) {
	return shopservice.NewClient("shop", client.WithHostPorts(addr), client.WithMiddleware(newMiddleware))
}

func newMiddleware(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, req, resp any) error {
		if order, ok := kitexutil.GetRealReqFromKitexArgs(req).(*shop.Order); ok {
			logged <- order.GetID()
		}
		return next(ctx, req, resp)
	}
}

func newCall(ctx context.Context, cl shopservice.Client) (int64, error) {
	res, err := cl.Echo(ctx, func(args shop.ShopEchoArgs) {
		order := args.NewOrder()
		order.SetID(7)
		item := order.NewItems(1).At(0)
		item.SetName("kettle")
		item.SetPrice(20)
	})
	if err != nil {
		return 0, err
	}
	defer res.Release()
	return res.GetSuccess().GetItems().At(0).GetPrice(), nil
}

func newException(ctx context.Context, cl shopservice.Client) string {
	_, err := cl.Echo(ctx, func(args shop.ShopEchoArgs) { args.NewOrder().SetID(8) })
	if missing, ok := errors.AsType[shop.NotFound](err); ok {
		return missing.GetWhat()
	}
	return ""
}

func recycling(l net.Listener) server.Server {
	return shopservice.NewServer(&newHandler{discount: 1}, server.WithListener(l), nocopykitex.ServerRecycle())
}

func recyclingClient(addr string) (shopservice.Client, error) {
	return shopservice.NewClient("shop", client.WithHostPorts(addr), nocopykitex.ClientRecycle())
}

type proxy struct {
	*newHandler
	next shopservice.Client
}

func (p *proxy) Echo(ctx context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
	args.GetOrder().GetItems().At(0).SetPrice(100)
	res, err := p.next.Echo(ctx, func(out shop.ShopEchoArgs) { out.SetOrder(args.GetOrder()) })
	if err != nil {
		return err
	}
	defer res.Release()
	result.SetSuccess(res.GetSuccess())
	return nil
}

type newFeed struct{ feed.Handler }

func (newFeed) Talk(ctx context.Context, stream feed.Feed_talkServer) error {
	for {
		order, err := stream.Recv(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		order.SetID(order.GetID() + 1)
		if err := stream.Send(ctx, order); err != nil {
			return err
		}
		order.Release()
	}
}

func newTalk(ctx context.Context, cl feed.Client) (int64, error) {
	stream, err := cl.Talk(ctx)
	if err != nil {
		return 0, err
	}
	order := shop.NewOrder()
	order.SetID(1)
	if err := stream.Send(ctx, &order); err != nil {
		return 0, err
	}
	answer, err := stream.Recv(ctx)
	if err != nil {
		return 0, err
	}
	return answer.GetID(), stream.CloseSend(ctx)
}

// logged receives what this package's functions log.
var logged = make(chan int64, 100)
