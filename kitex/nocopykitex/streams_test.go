package nocopykitex_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/transport"

	plain "github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop"
	plainfeed "github.com/nocopythrift/nocopythrift/kitex/internal/plain/shop/feed"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop/feed"
)

// feedHandler handles streams. It is a value, not a pointer, which handlers may be.
type feedHandler struct{}

func (feedHandler) Last(_ context.Context, args shop.FeedLastArgs, result shop.FeedLastResult) error {
	result.SetSuccess(args.GetOrder())
	return nil
}

// Talk sends each order back.
func (feedHandler) Talk(ctx context.Context, stream feed.Feed_talkServer) error {
	for {
		o, err := stream.Recv(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(ctx, o); err != nil {
			return err
		}
	}
}

// Watch sends as many orders as the request's id.
func (feedHandler) Watch(ctx context.Context, req *shop.Order, stream feed.Feed_watchServer) error {
	for i := range req.GetID() {
		o := req.Clone()
		o.SetID(i)
		if err := stream.Send(ctx, &o); err != nil {
			return err
		}
	}
	return nil
}

// Upload returns the sum of the ids.
func (feedHandler) Upload(ctx context.Context, stream feed.Feed_uploadServer) error {
	sum := int64(0)
	for {
		o, err := stream.Recv(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		sum += o.GetID()
	}
	o := shop.NewOrder()
	o.SetID(sum)
	return stream.SendAndClose(ctx, &o)
}

var streamTransports = map[string]transport.Protocol{
	"ttstream": transport.TTHeaderStreaming, "gRPC": transport.GRPCStreaming,
}

func TestStreams(t *testing.T) {
	for name, p := range streamTransports {
		t.Run(name, func(t *testing.T) {
			l := listen(t)
			addr := run(t, feed.NewServer(feedHandler{}, serverOptions(l, nil)...), l)
			cl, err := feed.NewClient("feed", client.WithHostPorts(addr), patient, client.WithTransportProtocol(p))
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			for _, n := range []int{1, 5000, 100_000, 1 << 20} {
				want := shop.NewOrder()
				fillOrder(want, 3, n)
				if err := talk(ctx, cl, want); err != nil {
					t.Errorf("talk with %d bytes: %v", n, err)
				}
				if err := watch(ctx, cl, want); err != nil {
					t.Errorf("watch with %d bytes: %v", n, err)
				}
				st, err := cl.Upload(ctx)
				if err != nil {
					t.Fatal(err)
				}
				for range 4 {
					if err := st.Send(ctx, &want); err != nil {
						t.Fatal(err)
					}
				}
				if o, err := st.CloseAndRecv(ctx); err != nil || o.GetID() != 12 {
					t.Errorf("upload with %d bytes: %v, %v", n, o, err)
				}
			}
			res, err := cl.Last(ctx, func(a shop.FeedLastArgs) { a.NewOrder().SetID(4) })
			if err != nil || res.GetSuccess().GetID() != 4 {
				t.Errorf("a method that does not stream: %v, %v", res, err)
			}
		})
	}
}

func talk(ctx context.Context, cl feed.Client, want shop.Order) error {
	st, err := cl.Talk(ctx)
	if err != nil {
		return err
	}
	for range 3 {
		if err := st.Send(ctx, &want); err != nil {
			return err
		}
		got, err := st.Recv(ctx)
		if err != nil {
			return err
		}
		if string(got.AppendTo(nil)) != string(want.AppendTo(nil)) {
			return errors.New("another order came back")
		}
		got.Release()
	}
	if err := st.CloseSend(ctx); err != nil {
		return err
	}
	if _, err := st.Recv(ctx); err != io.EOF {
		return fmt.Errorf("after the end: %w", err)
	}
	return nil
}

func watch(ctx context.Context, cl feed.Client, want shop.Order) error {
	st, err := cl.Watch(ctx, &want)
	if err != nil {
		return err
	}
	for i := range want.GetID() {
		got, err := st.Recv(ctx)
		if err != nil {
			return err
		}
		if got.GetID() != i || got.GetItems().Len() != want.GetItems().Len() {
			return errors.New("another order came")
		}
	}
	if _, err := st.Recv(ctx); err != io.EOF {
		return fmt.Errorf("after the end: %w", err)
	}
	return nil
}

// plainFeed is a handler of Kitex's own code.
type plainFeed struct{ plain.Feed }

func (plainFeed) Talk(ctx context.Context, stream plain.Feed_talkServer) error {
	for {
		o, err := stream.Recv(ctx)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = stream.Send(ctx, o)
		}
		if err != nil {
			return err
		}
	}
}

// TestPlainStreams uses Kitex's own code on one side.
func TestPlainStreams(t *testing.T) {
	for name, p := range streamTransports {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			l := listen(t)
			addr := run(t, plainfeed.NewServer(&plainFeed{}, serverOptions(l, nil)...), l)
			cl, err := feed.NewClient("feed", client.WithHostPorts(addr), patient, client.WithTransportProtocol(p))
			if err != nil {
				t.Fatal(err)
			}
			st, err := cl.Talk(ctx)
			if err != nil {
				t.Fatal(err)
			}
			want := shop.NewOrder()
			fillOrder(want, 9, 10_000)
			if err := st.Send(ctx, &want); err != nil {
				t.Fatal(err)
			}
			if got, err := st.Recv(ctx); err != nil || !sameOrder(*got, want) {
				t.Errorf("from a plain server: %v", err)
			}
			st.CloseSend(ctx)

			l = listen(t)
			addr = run(t, feed.NewServer(feedHandler{}, serverOptions(l, nil)...), l)
			other, err := plainfeed.NewClient("feed", client.WithHostPorts(addr), patient, client.WithTransportProtocol(p))
			if err != nil {
				t.Fatal(err)
			}
			stream, err := other.Watch(ctx, &plain.Order{Id: 3, First: &plain.Item{Name: strings.Repeat("w", 9000)}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(3) {
				if got, err := stream.Recv(ctx); err != nil || got.Id != i || len(got.First.Name) != 9000 {
					t.Errorf("to a plain client: %v, %v", got, err)
				}
			}
			if _, err := stream.Recv(ctx); err != io.EOF {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}
