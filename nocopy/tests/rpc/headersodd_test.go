package rpc_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestHeadersOfOddReplies: a reply has the handler's headers also if its result is an
// interceptor's, or comes from a back end through a proxy that knows
// no IDL; and each of those has its content.
func TestHeadersOfOddReplies(t *testing.T) {
	t.Parallel()
	s := newSpeaking()
	s.own = [][2]string{{"served-by", "one"}}
	s.got, s.err = make(chan map[string]string, 10_000), make(chan error, 10_000)
	mine := echo.NewEchoPutResult()
	data := mine.NewSuccess().NewData(oddSize)
	for i := range data {
		data[i] = 9
	}
	replace := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		c.Result = nocopy.Struct(mine)
		return err
	}
	back := serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(s), Recycle: true}, nil)
	for _, wire := range headerWires {
		t.Run(wire.name, func(t *testing.T) {
			putSpeaking(t, dialOn(t, wire.name, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(s), Interceptors: []rpc.Interceptor{replace}}, nil), wire.opts...), 9)
			p := rpc.NewProcessor("Nothing", nil).WithFallback(rpc.Forward(dialOn(t, wire.name, back, wire.opts...)))
			for _, front := range headerWires {
				putSpeaking(t, dialOn(t, front.name, serve(t, &rpc.Server{Processor: p}, nil), front.opts...), 7)
			}
		})
	}
}

const oddSize = 200_000

// putSpeaking calls Put of a server that is speaking, and looks at the headers and the content of
// the reply.
func putSpeaking(t *testing.T, c rpc.Caller, content byte) {
	t.Helper()
	for range 3 { // the third is built in shared memory, if there is any
		var reply rpc.ReplyHeaders
		ctx := rpc.ReceiveHeaders(rpc.SetHeader(bg, "token", "secret"), &reply)
		res, err := echo.NewEchoClient(c).Put(ctx, func(args echo.EchoPutArgs) {
			args.SetMode("link")
			args.NewItem().SetData(bytes.Repeat([]byte{7}, oddSize))
		})
		if err != nil {
			t.Fatal(err)
		}
		if data := res.GetSuccess().GetData(); len(data) != oddSize || strings.Trim(string(data), string(content)) != "" {
			t.Errorf("%d bytes, of %x", len(data), data[:min(len(data), 3)])
		}
		if reply.Get("served-by") != "one" || reply.Get("re-token") != "secret" {
			t.Errorf("the headers are %v", namesFolded(reply.All()))
		}
		res.Release()
	}
}

// TestHeadersOfManyInFrame: a frame has many calls. Looking for the headers of one takes time for
// the bytes of that call, not for the bytes of all later calls.
func TestHeadersOfManyInFrame(t *testing.T) {
	t.Parallel()
	const depth, size = 20, 2 << 20 // deeper than is looked without parsing
	deep := append(bytes.Repeat([]byte{12, 0, 9}, depth), make([]byte, depth)...)
	text := append([]byte{11, 0, 8, 0, 0, 1, 0}, bytes.Repeat([]byte{rpc.HeaderField & 0xff}, 256)...)
	one := strict(call, "ping", 1, join(text, deep, []byte{0}))
	last := strict(call, "ping", 1, join(text, deep, headerField(13, pairsOf(1, 11, 11, "k", "v")), []byte{0}))
	n := size / len(one)
	found := make(chan struct{}, n+1)
	addr := serve(t, &rpc.Server{Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if rpc.Header(ctx, "k") == "v" {
			found <- struct{}{}
		}
		return next(ctx, c)
	}}}, &handler{})
	nc := dialRaw(t, addr)
	go nc.Write(frame(append(bytes.Repeat(one, n), last...)))
	expect(t, nc, bytes.Repeat(frame(strict(reply, "ping", 1, []byte{0})), n+1))
	if len(found) != 1 {
		t.Errorf("%d of the calls have headers", len(found))
	}
}

// TestHeadersInOneField: headers take the place of a field with their id that an interceptor has
// set.
func TestHeadersInOneField(t *testing.T) {
	var sent []byte
	serve := through(&rpc.Server{Processor: echo.NewEchoProcessor(&handler{})})
	c := echo.NewEchoClient(rpc.NewCaller(func(ctx context.Context, m *rpc.Method, call []byte) ([]byte, error) {
		sent = bytes.Clone(call)
		return serve(ctx, m, call)
	}, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if !c.SetField(rpc.HeaderField, nocopy.WireMap, mapOf("by", "hand")) {
			t.Error("the field can't be set")
		}
		return next(ctx, c)
	})))
	if _, err := c.Ping(rpc.SetHeader(bg, "by", "context"), nil); err != nil {
		t.Fatal(err)
	}
	field := []byte{byte(nocopy.WireMap), rpc.HeaderField >> 8, rpc.HeaderField & 0xff}
	if n := bytes.Count(sent, field); n != 1 || !bytes.Contains(sent, []byte("context")) {
		t.Errorf("the field comes %d times: %q", n, sent)
	}
}
