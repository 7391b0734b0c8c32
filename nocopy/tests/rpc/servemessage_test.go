package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/agent"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestServeMessage tests the answers to single messages, byte for byte, and the errors of those
// that get no answer.
func TestServeMessage(t *testing.T) {
	t.Parallel()
	h := &handler{notified: make(chan string, 1)}
	q := new(quiet)
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), MaxFrame: 100_000, Logger: q.logger()}
	notify := []byte{11, 0, 1, 0, 0, 0, 4, 'f', 'a', 'i', 'l', 0}
	add := strict(call, "add", 7, addArgs(40, 2))
	for _, c := range []struct {
		what     string
		in, want []byte
		err      any // an error, or a pointer for errors.As
		text     string
	}{
		{what: "Binary", in: add, want: strict(reply, "add", 7, sumResult(42))},
		{what: "the old header", in: nonStrict(call, "add", 7, addArgs(40, 2)), want: nonStrict(reply, "add", 7, sumResult(42))},
		{what: "Compact", in: compactly(call, "add", -7&0x7fffffff, compactAdd(40, 2)), want: compactly(reply, "add", -7&0x7fffffff, compactSum(42))},
		{what: "no result", in: strict(call, "ping", 0, []byte{0}), want: strict(reply, "ping", 0, []byte{0})},
		{what: "an exception", in: strict(call, "fail", 1, []byte{0}), want: strict(reply, "fail", 1, []byte{0})},
		{what: "an unknown method", in: strict(call, "S:nope", 7, []byte{0}), want: strict(exception, "nope", 7, failure("S:nope", 1))},
		{what: "an unknown method in Compact", in: compactly(call, "nope", 7, []byte{0}), want: compactly(exception, "nope", 7, []byte("%\x02\b\x02\x04nope\x00"))},
		{what: "malformed arguments", in: strict(call, "add", 7, []byte{99}), text: "add_args"},
		{what: "malformed arguments in Compact", in: compactly(call, "add", 7, []byte{0x1f, 0}), text: "add_args"},
		{what: "truncated arguments", in: add[:len(add)-3], text: "add_args"},
		{what: "more bytes", in: append(bytes.Clone(add), 0), text: "bytes after the end"},
		{what: "two in Compact", in: bytes.Repeat(compactly(call, "add", 7, compactAdd(1, 2)), 2), text: "bytes after the end"},
		{what: "oneway", in: strict(oneway, "notify", 7, []byte{0})},
		{what: "oneway in Compact", in: compactly(oneway, "notify", 7, []byte{0})},
		{what: "oneway, called as others", in: strict(call, "notify", 7, []byte{0})},
		{what: "oneway, fails", in: strict(oneway, "notify", 7, notify)},
		{what: "oneway and unknown", in: strict(oneway, "nope", 7, []byte{0}), err: new(*rpc.ApplicationException)},
		{what: "oneway and malformed", in: strict(oneway, "notify", 7, []byte{99}), err: new(*nocopy.Error)},
		{what: "oneway and malformed in Compact", in: compactly(oneway, "notify", 7, []byte{0x1f}), err: new(*nocopy.Error)},
		{what: "oneway, called as others and malformed", in: strict(call, "notify", 7, []byte{99}), err: new(*nocopy.Error)},
		{what: "malformed and called as oneway", in: strict(oneway, "add", 7, []byte{99}), err: new(*nocopy.Error)},
		{what: "a reply", in: strict(reply, "add", 7, sumResult(42)), err: new(*rpc.ApplicationException)},
		{what: "an exception as a call", in: strict(exception, "nope", 7, failure("nope", 1)), err: new(*rpc.ApplicationException)},
		{what: "nothing", in: nil, err: io.ErrUnexpectedEOF},
		{what: "a part of a header", in: add[:6], err: io.ErrUnexpectedEOF},
		{what: "a frame", in: frame(add), err: rpc.ErrVersion},
		{what: "a THeader", in: headed(0, 1, binaryHead, add)[4:], err: rpc.ErrVersion},
		{what: "HTTP", in: []byte("GET / HTTP/1.1\r\n\r\n"), err: rpc.ErrHTTP},
		{what: "another protocol", in: []byte{0x80, 9, 0, 0, 0, 0, 0, 0, 0, 0}, err: rpc.ErrVersion},
		{what: "too large", in: strict(call, "echo", 7, bigArgs(100_000)), err: nocopy.ErrLimit},
		{what: "too large in Binary", in: compactly(call, "put", 7, join([]byte{0x1c, 0x39, 0xf6}, compactNumber(50_000), make([]byte, 50_000), []byte("\x00\x18\x00\x00"))), text: "rpc.Server.MaxFrame"},
	} {
		got, err := srv.ServeMessage(bg, bytes.Clone(c.in))
		switch {
		case c.err == nil && err != nil, c.err != nil && got != nil, c.text == "" && !bytes.Equal(got, c.want), !bytes.Contains(got, []byte(c.text)):
			t.Errorf("%s: %q, %v", c.what, got, err)
		case c.err != nil:
			is, ok := c.err.(error)
			if ok && !errors.Is(err, is) || !ok && !errors.As(err, c.err) {
				t.Errorf("%s: the error is %v", c.what, err)
			}
		}
		if strings.Contains(c.what, "oneway") && c.err == nil {
			<-h.notified // it has returned
		}
	}
	srv.Shutdown(bg)
	if got, err := srv.ServeMessage(bg, add); got != nil || err != rpc.ErrServerClosed {
		t.Errorf("after Shutdown: %q, %v", got, err)
	}
	exactly := &rpc.Server{Processor: srv.Processor, MaxFrame: len(add)}
	if got, err := exactly.ServeMessage(bg, add); err != nil || !bytes.Equal(got, strict(reply, "add", 7, sumResult(42))) {
		t.Errorf("a call of MaxFrame bytes: %q, %v", got, err)
	}
	login := &rpc.Server{Processor: srv.Processor, SASL: func(context.Context, string) rpc.SASLServer { return nil }}
	if got, err := login.ServeMessage(bg, add); got != nil || err == nil || !strings.Contains(err.Error(), "SASL") {
		t.Errorf("with SASL: %q, %v", got, err)
	}
}

// TestServeMessageCalls: a Server and a Caller that exchange single messages do what they do over
// a connection: interceptors, headers, deadlines, limits, health, and careless handlers.
func TestServeMessageCalls(t *testing.T) {
	t.Parallel()
	for _, protocol := range []rpc.Protocol{rpc.Binary, rpc.Compact} {
		for _, recycle := range []bool{false, true} {
			w, seen := new(work), make(chan string, 10)
			srv := &rpc.Server{
				Processor: echo.NewEchoProcessor(&handler{}), Deadlines: true, Recycle: recycle, Health: new(rpc.Health), HideErrors: true, Stats: w.stats(),
				Logger: new(quiet).logger(), Limits: nocopy.Limits{MaxBytes: 10_000},
				Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
					_, deadline := ctx.Deadline()
					seen <- fmt.Sprint(c.Method, " ", rpc.Header(ctx, "who"), " ", deadline, " ", c.Peer == nil, " ", ctx.Value(whoKey{}))
					rpc.SetReplyHeader(ctx, "by", "me")
					return next(ctx, c)
				}},
			}
			carry := func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
				return srv.ServeMessage(context.WithValue(context.Background(), whoKey{}, "sender"), bytes.Clone(call))
			}
			caller := rpc.NewCaller(carry, protocol, rpc.Deadlines)
			c := echo.NewEchoClient(caller)
			ctx, cancel := context.WithTimeout(rpc.SetHeader(bg, "who", "ann"), time.Hour)
			var headers rpc.ReplyHeaders
			sum, err := c.Add(rpc.ReceiveHeaders(ctx, &headers), func(args echo.EchoAddArgs) { args.SetA(40); args.SetB(2) })
			if err != nil || sum.GetSuccess() != 42 || headers.Get("by") != "me" {
				t.Errorf("%v, %v, %q", sum, err, headers.Get("by"))
			}
			if s := <-seen; s != "Echo.add ann true true sender" {
				t.Error(s)
			}
			put := func(mode string) error {
				_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode(mode); args.NewItem().SetName("x") })
				<-seen
				return err
			}
			var missing echo.NotFound
			if err := put("missing, returned"); !errors.As(err, &missing) || missing.GetCode() != 404 {
				t.Error(err)
			}
			for _, mode := range []string{"panic", "undeclared", "nothing"} {
				var e *rpc.ApplicationException
				if err := put(mode); !errors.As(err, &e) || strings.Contains(e.Message, "cheese") || strings.Contains(e.Message, "disk") {
					t.Error(err)
				}
			}
			large := make([]byte, 20_000)
			if _, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(large) }); err == nil {
				t.Error("a large call is handled")
			}
			if err := rpc.CheckHealth(bg, caller); err != nil {
				t.Error(err)
			}
			cancel()
			if n := w.sent.Load(); n == 0 {
				t.Error("nothing is counted")
			}
		}
	}
}

// TestServeMessageKept: strings of the arguments stay, and the bytes are not copied.
func TestServeMessageKept(t *testing.T) {
	var kept string
	h := &custom{notify: func(_ context.Context, args echo.EchoNotifyArgs) error { kept = args.GetText(); return nil }}
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(h)}
	in := strict(oneway, "notify", 7, join([]byte{11, 0, 1}, be32(4), []byte("abcd"), []byte{0}))
	if _, err := srv.ServeMessage(bg, in); err != nil || kept != "abcd" {
		t.Errorf("%q, %v", kept, err)
	}
	in[bytes.IndexByte(in, 'a')] = 'z'
	if (kept == "zbcd") != testmode.Unsafe {
		t.Errorf("%q: it was copied", kept)
	}
}

// TestServeMessageClose: Close ends the contexts of handlers, and Shutdown waits for them.
func TestServeMessageClose(t *testing.T) {
	t.Parallel()
	h := waitingHandler()
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(h)}
	in := strict(call, "fail", 1, join([]byte{11, 0, 1}, be32(len("until cancelled")), []byte("until cancelled"), []byte{0}))
	done := make(chan error, 2)
	go func() {
		_, err := srv.ServeMessage(bg, in)
		done <- err
	}()
	<-h.waiting
	ctx, cancel := context.WithCancel(bg)
	go func() { done <- srv.Shutdown(ctx) }()
	settles(t, "new calls are refused", func() bool {
		_, err := srv.ServeMessage(bg, strict(call, "ping", 1, []byte{0}))
		return err == rpc.ErrServerClosed
	})
	if len(done) > 0 {
		t.Error("Shutdown has not waited")
	}
	cancel()
	<-h.waiting
	first, second := <-done, <-done
	if first != nil && second != nil || !errors.Is(errors.Join(first, second), context.Canceled) {
		t.Errorf("%v, %v", first, second)
	}
}

// TestServeMessageGoexit: a handler that ends its goroutine ends that which has called
// ServeMessage, and nothing else.
func TestServeMessageGoexit(t *testing.T) {
	t.Parallel()
	h := &custom{fail: func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error { runtime.Goexit(); return nil }}
	for _, interceptors := range [][]rpc.Interceptor{nil, {func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }}} {
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Interceptors: interceptors, Logger: new(quiet).logger()}
		returned := false
		var wg sync.WaitGroup
		wg.Go(func() {
			srv.ServeMessage(bg, strict(call, "fail", 1, []byte{0}))
			returned = true
		})
		wg.Wait()
		if got, err := srv.ServeMessage(bg, strict(call, "ping", 1, []byte{0})); returned || err != nil || len(got) == 0 {
			t.Errorf("%v, %q, %v", returned, got, err)
		}
		if err := srv.Shutdown(bg); err != nil {
			t.Error(err)
		}
	}
}

// TestServeMessagePanics: wrong uses panic.
func TestServeMessagePanics(t *testing.T) {
	for what, f := range map[string]func(){
		"a nil Context": func() {
			var none context.Context
			(&rpc.Server{Processor: echo.NewEchoProcessor(&handler{})}).ServeMessage(none, nil)
		},
		"without a Processor": func() { new(rpc.Server).ServeMessage(bg, nil) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "nocopy: ") || !strings.Contains(s, what) {
					t.Errorf("%s: %q", what, s)
				}
			}()
			f()
		}()
	}
}

// FuzzServeMessage: any bytes give a reply or an error.
func FuzzServeMessage(f *testing.F) {
	for _, b := range [][]byte{
		nil, strict(call, "add", 7, addArgs(40, 2)), nonStrict(call, "add", 7, addArgs(40, 2)), compactly(call, "add", 7, compactAdd(1, 2)),
		strict(oneway, "notify", 7, []byte{0}), strict(reply, "add", 7, sumResult(1)), compactly(call, "nope", 7, []byte{0}),
	} {
		f.Add(b)
	}
	quick := &custom{
		notify: func(context.Context, echo.EchoNotifyArgs) error { return nil },
		fail:   func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error { return nil },
	}
	var servers []*rpc.Server
	for _, recycle := range []bool{false, true} {
		servers = append(servers, &rpc.Server{Processor: echo.NewEchoProcessor(quickEcho{quick}), Logger: new(quiet).logger(), Recycle: recycle, MaxFrame: 100_000})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var replies [2][]byte
		var errs [2]error
		for i, srv := range servers {
			if replies[i], errs[i] = srv.ServeMessage(bg, bytes.Clone(b)); replies[i] != nil && errs[i] != nil {
				t.Errorf("a reply and an error: %q, %v", replies[i], errs[i])
			}
		}
		if !bytes.Equal(replies[0], replies[1]) || (errs[0] == nil) != (errs[1] == nil) {
			t.Errorf("with Recycle %q, %v, else %q, %v", replies[1], errs[1], replies[0], errs[0])
		}
	})
}

// quickEcho does not wait in Echo, either.
type quickEcho struct{ *custom }

func (quickEcho) Echo(_ context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	result.SetSuccess(args.GetPayload())
	return nil
}

// TestJaegerAgent: a server takes the packets that a client of Jaeger sends to its agent by UDP:
// oneway calls in the compact protocol, as Apache's library writes them. Packets that are none of
// that change nothing.
func TestJaegerAgent(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	srv := &rpc.Server{MaxFrame: 65_000, Logger: new(quiet).logger(), Processor: agent.NewAgentProcessor(batches(func(b agent.Batch) {
		for _, s := range b.GetSpans().All() {
			for _, tag := range s.GetTags().All() {
				got <- fmt.Sprint(b.GetProcess().GetServiceName(), " ", s.GetOperationName(), " ", s.GetDuration(), " ", tag.GetKey(), "=", tag.GetVStr(), " ", tag.GetVLong(), " ", tag.GetVBool())
			}
		}
	}))}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		b := make([]byte, 65_507)
		for {
			n, _, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			srv.ServeMessage(bg, slices.Clone(b[:n]))
		}
	}()
	nc, err := net.Dial("udp", udp.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, typ := range []thrift.TMessageType{thrift.ONEWAY, thrift.CALL} {
		nc.Write([]byte("not a message"))
		nc.Write(compactly(oneway, "emitZipkinBatch", 1, []byte{0}))
		nc.Write(compactly(oneway, "emitBatch", 1, []byte{0x1c, 0}))
		nc.Write(emitBatch(t, typ))
		for _, want := range []string{"shop GET /cart 1500 http.method=GET 0 false", "shop GET /cart 1500 status= 404 false", "shop GET /cart 1500 sampled= 0 true"} {
			select {
			case s := <-got:
				if s != want {
					t.Errorf("%s instead of %s", s, want)
				}
			case <-time.After(time.Minute):
				t.Fatal("no span")
			}
		}
	}
	udp.Close()
	<-served
}

// batches is the agent's handler.
type batches func(agent.Batch)

func (f batches) EmitBatch(_ context.Context, args agent.AgentEmitBatchArgs) error {
	f(args.GetBatch())
	return nil
}

// emitBatch is a packet with a span that has three tags, as Apache's library writes it.
func emitBatch(t *testing.T, typ thrift.TMessageType) []byte {
	mem := thrift.NewTMemoryBuffer()
	p := thrift.NewTCompactProtocolConf(mem, nil)
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	field := func(typ thrift.TType, id int16) { must(p.WriteFieldBegin(bg, "", typ, id)) }
	text := func(id int16, s string) { field(thrift.STRING, id); must(p.WriteString(bg, s)) }
	i64 := func(id int16, v int64) { field(thrift.I64, id); must(p.WriteI64(bg, v)) }
	i32 := func(id int16, v int32) { field(thrift.I32, id); must(p.WriteI32(bg, v)) }
	begin := func() { must(p.WriteStructBegin(bg, "")) }
	end := func() { must(p.WriteFieldStop(bg), p.WriteStructEnd(bg)) }
	tag := func(key string, kind int32, value func()) {
		begin()
		text(1, key)
		i32(2, kind)
		value()
		end()
	}
	must(p.WriteMessageBegin(bg, "emitBatch", typ, 1))
	begin()
	field(thrift.STRUCT, 1)
	begin()
	field(thrift.STRUCT, 1)
	begin()
	text(1, "shop")
	end()
	field(thrift.LIST, 2)
	must(p.WriteListBegin(bg, thrift.STRUCT, 1))
	begin()
	for id := range int16(4) {
		i64(id+1, -1<<62+int64(id))
	}
	text(5, "GET /cart")
	i32(7, 1)
	i64(8, 1_700_000_000_000_000)
	i64(9, 1500)
	field(thrift.LIST, 10)
	must(p.WriteListBegin(bg, thrift.STRUCT, 3))
	tag("http.method", 0, func() { text(3, "GET") })
	tag("status", 3, func() { i64(6, 404) })
	tag("sampled", 2, func() { field(thrift.BOOL, 5); must(p.WriteBool(bg, true)) })
	end()
	end()
	end()
	must(p.WriteMessageEnd(bg), p.Flush(bg))
	return mem.Bytes()
}
