package moving

import (
	"context"
	"io"
	"net"
	"strings"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/utils/kitexutil"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop"
	"github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop/feed"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop/shop"
)

type oldHandler struct{ discount int64 }

func (oldHandler) Ping(ctx context.Context) error { return nil }

func (h *oldHandler) Echo(ctx context.Context, order *shop.Order, note string) (*shop.Order, error) {
	if len(order.Items) == 0 {
		return nil, &shop.NotFound{What: "items"}
	}
	for _, item := range order.Items {
		item.Price -= h.discount
	}
	return order, nil
}

func (h *oldHandler) Count(ctx context.Context, n int32) (int64, error) {
	return int64(n) * 2, nil
}

func (h *oldHandler) Text(ctx context.Context, s string) (string, error) {
	return strings.ToUpper(s), nil
}

func (h *oldHandler) Numbers(ctx context.Context, values []int64) ([]int64, error) {
	sum := int64(0)
	for _, v := range values {
		sum += v
	}
	return []int64{int64(len(values)), sum}, nil
}

func (h *oldHandler) Colour(ctx context.Context, c shop.Colour) (shop.Colour, error) {
	if c == shop.Colour_RED {
		return shop.Colour_BLUE, nil
	}
	return c, nil
}

func (h *oldHandler) Check(ctx context.Context, data []byte) error {
	if len(data) == 0 {
		return &shop.NotFound{What: "data"}
	}
	return nil
}

func (h *oldHandler) Note(ctx context.Context, order *shop.Order) error {
	logged <- order.Id
	return nil
}

func oldServer(l net.Listener) server.Server {
	return shopservice.NewServer(&oldHandler{discount: 1}, server.WithListener(l))
}

func oldClient(addr string) (shopservice.Client, error) {
	return shopservice.NewClient("shop", client.WithHostPorts(addr), client.WithMiddleware(oldMiddleware))
}

func oldMiddleware(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, req, resp any) error {
		if order, ok := kitexutil.GetRealReqFromKitexArgs(req).(*shop.Order); ok {
			logged <- order.Id
		}
		return next(ctx, req, resp)
	}
}

func oldCall(ctx context.Context, cl shopservice.Client) (int64, error) {
	order, err := cl.Echo(ctx, &shop.Order{Id: 7, Items: []*shop.Item{{Name: "kettle", Price: 20}}}, "")
	if err != nil {
		return 0, err
	}
	return order.Items[0].Price, nil
}

func oldException(ctx context.Context, cl shopservice.Client) string {
	_, err := cl.Echo(ctx, &shop.Order{Id: 8}, "")
	if missing, ok := err.(*shop.NotFound); ok {
		return missing.What
	}
	return ""
}

type oldFeed struct{ shop.Feed }

func (oldFeed) Talk(ctx context.Context, stream shop.Feed_talkServer) error {
	for {
		order, err := stream.Recv(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		order.Id++
		if err := stream.Send(ctx, order); err != nil {
			return err
		}
	}
}

func oldTalk(ctx context.Context, cl feed.Client) (int64, error) {
	stream, err := cl.Talk(ctx)
	if err != nil {
		return 0, err
	}
	if err := stream.Send(ctx, &shop.Order{Id: 1}); err != nil {
		return 0, err
	}
	order, err := stream.Recv(ctx)
	if err != nil {
		return 0, err
	}
	return order.Id, stream.CloseSend(ctx)
}
