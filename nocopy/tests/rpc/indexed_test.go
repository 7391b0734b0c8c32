package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// indexID is the field that an index is.
const indexID = -32000

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
		"socket": nil, "unframed": {rpc.Unframed}, "compact": {rpc.Compact}, "THeader": {rpc.THeader()}, "copied": {rpc.SharedMemory(rpc.CopyFromPeer)}, "trusted": {rpc.SharedMemory(rpc.TrustPeer)},
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

// TestIndexedArgs: interceptors and Forward read, change and pass on arguments with an index like
// any others. Changed arguments are sent without an index.
func TestIndexedArgs(t *testing.T) {
	t.Parallel()
	made := echo.NewEchoPutArgs(nocopy.WithIndex)
	item := made.NewItem()
	item.SetName("item")
	item.SetNumbers(make([]int64, 9000))
	made.SetMode("link")
	wire := made.Message().AppendTo(nil)
	if _, err := nocopy.Peek(wire, indexID); err != nil {
		t.Fatal(err)
	}
	var at seen
	_, addr := listenUnix(t)
	l, err := net.Listen("unix", addr+"backend")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, &rpc.Server{Interceptors: []rpc.Interceptor{at.intercept}}, &handler{}, l)
	var put *rpc.Method
	note := func(_ context.Context, c *rpc.Call, _ rpc.Handler) error {
		put = c.Method
		return errors.New("not made")
	}
	echo.NewEchoClient(dial(t, addr+"backend", rpc.Interceptors(note))).Put(context.Background(), nil)
	edits := map[string]func(c *rpc.Call){
		"nothing": func(c *rpc.Call) {},
		"set":     func(c *rpc.Call) { c.SetField(contextID, nocopy.WireMap, mapOf("k", "v")) },
		"set twice": func(c *rpc.Call) {
			c.SetField(contextID, nocopy.WireMap, mapOf("k", "v"))
			c.SetField(contextID, nocopy.WireBool, []byte{1})
		},
		"remove": func(c *rpc.Call) { c.RemoveField(contextID) },
		"peek": func(c *rpc.Call) {
			if v, err := c.Peek(1, 1); err != nil || v.Text() != "item" {
				t.Errorf("Peek: %q, %v", v.Raw(), err)
			}
			if v, ok := c.Field(2); !ok || v.Text() != "link" {
				t.Errorf("Field: %q, %t", v.Raw(), ok)
			}
		},
	}
	for name, edit := range edits {
		intercept := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			edit(c)
			return next(ctx, c)
		}
		for _, shared := range []rpc.SharedMemory{0, rpc.CopyFromPeer, rpc.TrustPeer} {
			l, proxy := listenUnix(t)
			forward := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(dial(t, addr+"backend", shared)))
			serveOn(t, &rpc.Server{Processor: forward, Interceptors: []rpc.Interceptor{intercept}, SharedMemory: shared, Lazy: shared == 0}, nil, l)
			for way, c := range map[string]*rpc.Client{
				"by a client": dial(t, addr+"backend", shared, rpc.Interceptors(intercept)), "by a proxy": dial(t, proxy, shared),
			} {
				for how, opts := range map[string][]nocopy.Option{"plain": nil, "lazy": {nocopy.Lazy}, "by index": {nocopy.RequireIndex}, "recycled": {nocopy.RequireIndex, nocopy.Recycle}} {
					args, err := echo.ParseEchoPutArgs(wire, opts...)
					if err != nil {
						t.Fatal(err)
					}
					res, err := c.Call(context.Background(), put, nocopy.Struct(args))
					if err != nil {
						t.Fatalf("%s %s, %s: %v", name, way, how, err)
					}
					res.Release()
					sent, _ := at.take()
					_, err = nocopy.Peek(sent[0], indexID)
					switch changed := name != "nothing" && name != "peek"; {
					case changed && err == nil:
						t.Errorf("%s %s, %s: goes out with an index", name, way, how)
					case !changed && way == "by a proxy" && !bytes.Equal(sent[0], wire):
						t.Errorf("%s %s, %s: goes out otherwise than it came", name, way, how)
					}
					got, err := echo.ParseEchoPutArgs(sent[0], nocopy.ByIndex)
					if err != nil || got.GetItem().GetName() != "item" || got.GetItem().GetNumbers().Len() != 9000 || got.Message().Index() != nil {
						t.Errorf("%s %s, %s: the arguments that were sent are %.100v; %v", name, way, how, got, err)
					}
					args.Release()
				}
			}
		}
	}
}

// TestOptionPairs: messages made with any option and any pair of options can be arguments, and
// values in arguments, under all options of client and server.
func TestOptionPairs(t *testing.T) {
	t.Parallel()
	options := []nocopy.Option{nocopy.Lazy, nocopy.Own, nocopy.Recycle, nocopy.ValidUTF8, nocopy.WithIndex, nocopy.ByIndex, nocopy.RequireIndex, nocopy.Limits{MaxDepth: 100}}
	pairs := [][]nocopy.Option{nil}
	for i, a := range options {
		pairs = append(pairs, []nocopy.Option{a})
		for _, b := range options[:i] {
			pairs = append(pairs, []nocopy.Option{a, b})
		}
	}
	fill := func(item echo.Item) echo.Item {
		labels := echo.NewItem()
		labels.NewLabels(1).Put("key", "value")
		item.SetName("item")
		item.SetNumbers(make([]int64, 900))
		item.SetLabels(labels.GetLabels())
		return item
	}
	want := fill(echo.NewItem(nocopy.WithIndex))
	wire := want.Message().AppendTo(nil)
	var put *rpc.Method
	note := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		put = c.Method
		return next(ctx, c)
	}
	for _, srv := range []*rpc.Server{{}, {Lazy: true}, {Recycle: true}, {Lazy: true, Recycle: true}} {
		for _, of := range [][]rpc.Option{nil, {rpc.Lazy}, {rpc.Recycle}, {rpc.Lazy, rpc.Recycle}} {
			l, addr := listenUnix(t)
			serveOn(t, &rpc.Server{Lazy: srv.Lazy, Recycle: srv.Recycle}, &handler{}, l)
			client := dial(t, addr, append(of, rpc.Interceptors(note))...)
			for _, opts := range pairs {
				parsed, err := echo.ParseItem(bytes.Clone(wire), opts...)
				if err != nil {
					t.Fatal(err)
				}
				for how, item := range map[string]echo.Item{"New": fill(echo.NewItem(opts...)), "Parse": parsed} {
					res, err := echo.NewEchoClient(client).Put(context.Background(), func(args echo.EchoPutArgs) {
						args.SetItem(item)
						args.SetMode("link")
					})
					if err != nil || !res.GetSuccess().Equal(want) {
						t.Fatalf("%s%v as a value, client %d options: %v, %v", how, opts, len(of), res, err)
					}
					res.Release()
					args := echo.NewEchoPutArgs(opts...)
					args.SetItem(item)
					args.SetMode("link")
					back, err := client.Call(context.Background(), put, nocopy.Struct(args))
					if err != nil || !echo.EchoPutResult(back).GetSuccess().Equal(want) {
						t.Fatalf("%s%v in arguments, client %d options: %v", how, opts, len(of), err)
					}
					back.Release()
					item.Release()
				}
			}
		}
	}
}
