package rpc_test

import (
	"context"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/echo"
)

// TestIndexedMessages: messages that have an index of their own, made or parsed, are values of
// calls as others are, over all transports; the index is not sent with them.
func TestIndexedMessages(t *testing.T) {
	made := echo.NewItem(nocopy.WithIndex)
	made.SetName("item")
	made.SetNumbers(make([]int64, 900))
	made.NewLabels(1).Put("key", "value")
	wire := made.Message().AppendTo(nil)
	parsed := func(opts ...nocopy.Option) echo.Item {
		v, err := echo.ParseItem(wire, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	items := map[string]echo.Item{
		"made": made, "parsed": parsed(), "lazy": parsed(nocopy.Lazy), "by index": parsed(nocopy.RequireIndex),
		"by index, recycled": parsed(nocopy.RequireIndex, nocopy.Recycle),
	}
	for name, opts := range map[string][]rpc.Option{
		"socket": nil, "unframed": {rpc.Unframed}, "copied": {rpc.SharedMemory(rpc.CopyFromPeer)}, "trusted": {rpc.SharedMemory(rpc.TrustPeer)},
	} {
		l, addr := listenUnix(t)
		serveOn(t, &rpc.Server{SharedMemory: rpc.TrustPeer}, &handler{}, l)
		c := echo.NewEchoClient(dial(t, addr, opts...))
		for kind, item := range items {
			for range 3 {
				res, err := c.Put(context.Background(), func(args echo.EchoPutArgs) {
					args.SetItem(item)
					args.SetMode("link")
				})
				if err != nil {
					t.Fatalf("%s, %s: %v", name, kind, err)
				}
				got := res.GetSuccess()
				if !got.Equal(made) || got.GetNumbers().Len() != 900 {
					t.Errorf("%s, %s: comes back as %v", name, kind, got)
				}
				for id := range got.Unknown() {
					t.Errorf("%s, %s: comes back with the unknown field %d", name, kind, id)
				}
				res.Release()
			}
		}
	}
	for _, item := range items {
		item.Release()
	}
}
