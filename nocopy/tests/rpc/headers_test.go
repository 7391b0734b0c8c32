package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	gomaps "maps"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// speaking is the Echo service that answers with headers: those that it has received, with
// re- before their names, and own.
type speaking struct {
	handler
	own [][2]string
	got chan map[string]string
	err chan error // of SetReplyHeader
}

func newSpeaking() *speaking {
	return &speaking{got: make(chan map[string]string, 100), err: make(chan error, 1000)}
}

func (s *speaking) answer(ctx context.Context) {
	got := namesFolded(rpc.Headers(ctx))
	for key, value := range got {
		if value != rpc.Header(ctx, key) {
			s.err <- fmt.Errorf("%s: %q and %q", key, value, rpc.Header(ctx, key))
		}
		if !strings.HasPrefix(key, "re-") {
			s.err <- rpc.SetReplyHeader(ctx, "re-"+key, value)
		}
	}
	for _, own := range s.own {
		s.err <- rpc.SetReplyHeader(ctx, own[0], own[1])
	}
	s.got <- got
}

func (s *speaking) Add(ctx context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	s.answer(ctx)
	return s.handler.Add(ctx, args, result)
}

func (s *speaking) Put(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
	s.answer(ctx)
	return s.handler.Put(ctx, args, result)
}

func (s *speaking) Notify(ctx context.Context, _ echo.EchoNotifyArgs) error {
	s.answer(ctx)
	return nil
}

// headerWires are the ways in which clients reach a server in the tests of headers.
var headerWires = []struct {
	name  string
	place bool // the wire has one for headers: nobody asks for the reply's
	opts  []rpc.Option
}{
	{"framed", false, nil},
	{"unframed", false, []rpc.Option{rpc.Unframed}},
	{"framed compact", false, []rpc.Option{rpc.Protocol(rpc.Compact)}},
	{"unframed compact", false, []rpc.Option{rpc.Protocol(rpc.Compact), rpc.Unframed}},
	{"THeader", true, []rpc.Option{rpc.THeader()}},
	{"THeader, compact, zlib", true, []rpc.Option{rpc.THeader(rpc.Zlib), rpc.Compact}},
	{overHTTP, true, nil},
	{"with interceptors", false, []rpc.Option{rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) })}},
}

// namesFolded returns headers with their names in small letters, since HTTP changes their case,
// without those that HTTP's clients send besides.
func namesFolded(headers iter.Seq2[string, string]) map[string]string {
	m := map[string]string{}
	for key, value := range headers {
		key = strings.ToLower(key)
		if !strings.HasPrefix(key, "accept") && key != "user-agent" {
			m[key] = value
		}
	}
	return m
}

const overHTTP = "HTTP"

// dialOn returns a client that reaches a server on one of headerWires.
func dialOn(t *testing.T, wire, addr string, opts ...rpc.Option) rpc.Caller {
	t.Helper()
	if wire != overHTTP {
		return dial(t, addr, opts...)
	}
	c, err := rpc.DialHTTP("http://"+addr, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.(io.Closer).Close() })
	return c
}

// TestHeaders: exactly the headers that a client sets arrive at the handler, and those that the
// handler sets arrive at the client, with results, exceptions and errors; in any case, on every
// wire.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, wire := range headerWires {
		for _, srv := range []*rpc.Server{{}, {Recycle: true, Lazy: true}, {Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			return next(rpc.SetHeader(ctx, "from-interceptor", rpc.Header(ctx, "token")), c)
		}}}} {
			t.Run(fmt.Sprint(wire.name, len(srv.Interceptors), srv.Lazy), func(t *testing.T) {
				s := newSpeaking()
				s.own = [][2]string{{"Served-By", "one"}, {"dropped", "x"}, {"DROPPED", ""}}
				srv.Processor = echo.NewEchoProcessor(s)
				c := echo.NewEchoClient(dialOn(t, wire.name, serve(t, srv, nil), wire.opts...))
				ctx := rpc.SetHeader(bg, "Token", "first")
				ctx = rpc.SetHeader(ctx, "token", "sé cret")
				ctx = rpc.SetHeader(ctx, "X-Gone", "1")
				ctx = rpc.SetHeader(ctx, "x-gone", "")
				var reply rpc.ReplyHeaders
				for _, call := range []struct {
					name string
					call func(ctx context.Context) error
				}{
					{"result", func(ctx context.Context) error { _, err := c.Add(ctx, nil); return err }},
					{"large result", func(ctx context.Context) error {
						_, err := c.Put(ctx, func(args echo.EchoPutArgs) {
							args.SetMode("link")
							args.NewItem().SetData(make([]byte, 100_000))
						})
						return err
					}},
					{"exception", func(ctx context.Context) error {
						_, err := c.Put(ctx, func(args echo.EchoPutArgs) { args.SetMode("missing, returned") })
						if _, ok := errors.AsType[echo.NotFound](err); !ok {
							return fmt.Errorf("no exception: %w", err)
						}
						return nil
					}},
					{"error", func(ctx context.Context) error {
						_, err := c.Put(ctx, func(args echo.EchoPutArgs) { args.SetMode("undeclared") })
						if e, ok := errors.AsType[*rpc.ApplicationException](err); !ok || e.Type != rpc.InternalError {
							return fmt.Errorf("no error: %w", err)
						}
						return nil
					}},
				} {
					if err := call.call(rpc.ReceiveHeaders(ctx, &reply)); err != nil {
						t.Fatalf("%s: %v", call.name, err)
					}
					got := <-s.got
					if got["token"] != "sé cret" || rpc.Header(ctx, "TOKEN") != "sé cret" || got["X-Gone"]+got["x-gone"] != "" {
						t.Errorf("%s: the handler has got %q", call.name, got)
					}
					if len(srv.Interceptors) > 0 && got["from-interceptor"] != "sé cret" {
						t.Errorf("%s: the handler has not got what the interceptor sets", call.name)
					}
					back := namesFolded(reply.All())
					if reply.Get("RE-TOKEN") != "sé cret" || reply.Get("served-by") != "one" || back["served-by"] != "one" || reply.Get("dropped") != "" {
						t.Errorf("%s: the client has got %q", call.name, back)
					}
					for len(s.err) > 0 {
						if err := <-s.err; err != nil {
							t.Error(err)
						}
					}
				}
				// Without anything to send or to receive
				if _, err := c.Add(bg, nil); err != nil {
					t.Error(err)
				}
				if got := <-s.got; len(got) != 0 && len(srv.Interceptors) == 0 {
					t.Errorf("%q without a header", got)
				}
				if err := <-s.err; errors.Is(err, rpc.ErrNoReplyHeaders) == wire.place {
					t.Error(err)
				}
				for len(s.err) > 0 {
					<-s.err
				}
				if err := c.Notify(rpc.ReceiveHeaders(ctx, &reply), nil); err != nil {
					t.Error(err)
				}
				if got := <-s.got; got["token"] != "sé cret" || len(slices.Collect(gomaps.Keys(namesFolded(reply.All())))) != 0 {
					t.Errorf("a oneway call: %q, and its reply %q", got, namesFolded(reply.All()))
				}
				if err := <-s.err; !errors.Is(err, rpc.ErrNoReplyHeaders) {
					t.Error(err)
				}
			})
		}
	}
}

// TestWrongHeaders: headers that HTTP can't carry, and too many headers, fail the call with a
// clear error and reach no server; nothing panics. Replies likewise.
func TestWrongHeaders(t *testing.T) {
	t.Parallel()
	s := newSpeaking()
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(s)}, nil)))
	many := func(n, size int) context.Context {
		ctx := bg
		for i := range n {
			ctx = rpc.SetHeader(ctx, fmt.Sprint("k", i), strings.Repeat("v", size))
		}
		return ctx
	}
	one := func(key, value string) context.Context { return rpc.SetHeader(bg, key, value) }
	for _, wrong := range []struct {
		ctx  context.Context
		want string
	}{
		{one("", "v"), "a header without a name"},
		{one("a b", "v"), `header "a b": its name has ' ', which HTTP does not allow`},
		{one("ä", "v"), "which HTTP does not allow"},
		{one("a:b", "v"), "its name has ':'"},
		{one("a\r\nb", "v"), `its name has '\r'`},
		{one("a", "v\r\nb: c"), `header a: its value has '\r', which HTTP does not allow`},
		{one("a", "v\x00"), `its value has '\x00'`},
		{one("a", " v"), "begins or ends with a space"},
		{one("a", "v\t"), "begins or ends with a space"},
		{one("Content-Length", "5"), "header Content-Length: HTTP has a meaning of its own for this name"},
		{one("transfer-encoding", "chunked"), "HTTP has a meaning"},
		{one("Host", "h"), "HTTP has a meaning"},
		{many(rpc.MaxHeaders+1, 1), "101 headers of 395 bytes, more than 100 or 8192"},
		{many(2, rpc.MaxHeaderBytes/2), "2 headers of 8196 bytes"},
		{many(1, 1<<20), "more than"},
		{rpc.SetHeader(one("a b", "v"), "a b", ""), "its name has"},
		{rpc.ReceiveHeaders(many(rpc.MaxHeaders, 1), new(rpc.ReplyHeaders)), "101 headers"},
	} {
		if _, err := c.Add(wrong.ctx, nil); err == nil || !strings.HasPrefix(err.Error(), "rpc: Echo.add: ") || !strings.Contains(err.Error(), wrong.want) || errors.Is(err, rpc.ErrNotSent) {
			t.Errorf("the error is %v, want %s", err, wrong.want)
		}
	}
	if len(s.got) > 0 {
		t.Error("a call was sent")
	}
	if _, err := c.Add(many(rpc.MaxHeaders, 78), nil); err != nil {
		t.Error(err)
	}
	if got := <-s.got; len(got) != rpc.MaxHeaders {
		t.Errorf("%d headers", len(got))
	}
	for len(s.err) > 0 {
		<-s.err
	}
	s.own = [][2]string{{"a b", "v"}, {"a", "v\n"}, {"large", strings.Repeat("v", rpc.MaxHeaderBytes)}, {"ok", "1"}}
	var reply rpc.ReplyHeaders
	if _, err := c.Add(rpc.ReceiveHeaders(bg, &reply), nil); err != nil {
		t.Error(err)
	}
	for i := range 5 { // the first answers the header that asks
		if err := <-s.err; (err == nil) != (i == 0 || i == 4) || err != nil && errors.Is(err, rpc.ErrNoReplyHeaders) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if reply.Get("ok") != "1" || reply.Get("a") != "" {
		t.Errorf("%q", namesFolded(reply.All()))
	}
}

// TestHeadersAreForOneHop: a handler's calls do not send the headers of its request. Calls of
// Forward do, except removed headers. Both can add others.
func TestHeadersAreForOneHop(t *testing.T) {
	t.Parallel()
	for _, wire := range headerWires {
		t.Run(wire.name, func(t *testing.T) {
			s := newSpeaking()
			s.own = [][2]string{{"served-by", "back end"}}
			seen := make(chan string, 10)
			see := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				seen <- fmt.Sprint(rpc.Header(ctx, "token"), ",", rpc.Header(ctx, "added"))
				return next(ctx, c)
			}
			back := dialOn(t, wire.name, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(s)}, nil), append(wire.opts, rpc.Interceptors(see))...)
			forward := rpc.Forward(back)
			p := echo.NewEchoProcessor(&handler{}).WithHandler(func(ctx context.Context, c *rpc.Call) error {
				var err error
				switch rpc.Header(ctx, "how") {
				case "own call":
					if _, err = echo.NewEchoClient(back).Add(rpc.SetHeader(ctx, "added", "1"), nil); err == nil {
						result, _ := rpc.ResultOf[echo.EchoAddResult](c)
						result.SetSuccess(0)
					}
				case "forward":
					err = forward(ctx, c)
				case "forward and change":
					if err = forward(rpc.SetHeader(rpc.SetHeader(ctx, "added", "1"), "TOKEN", ""), c); err == nil {
						err = rpc.SetReplyHeader(ctx, "via", "proxy")
					}
				}
				return err
			}, "add").WithHandler(forward, "put").WithFallback(forward)
			c := echo.NewEchoClient(dialOn(t, wire.name, serve(t, &rpc.Server{Processor: p, Lazy: true}, nil), wire.opts...))
			for _, call := range []struct{ how, seen, got, back string }{
				{"own call", ",1", "map[added:1]", "map[]"},
				{"forward", "secret,", "map[how:forward thrift-reply-headers:1 token:secret]", "map[re-how:forward re-thrift-reply-headers:1 re-token:secret served-by:back end]"},
				{"forward and change", ",1", "map[added:1 how:forward and change thrift-reply-headers:1]", "map[re-added:1 re-how:forward and change re-thrift-reply-headers:1 served-by:back end via:proxy]"},
			} {
				var reply rpc.ReplyHeaders
				ctx := rpc.SetHeader(rpc.SetHeader(bg, "token", "secret"), "how", call.how)
				if _, err := c.Add(rpc.ReceiveHeaders(ctx, &reply), nil); err != nil {
					t.Fatal(err)
				}
				if got := <-seen; got != call.seen {
					t.Errorf("%s: an interceptor of the client has seen %s", call.how, got)
				}
				if wire.place {
					asked := strings.NewReplacer(" re-thrift-reply-headers:1", "", " thrift-reply-headers:1", "")
					call.got, call.back = asked.Replace(call.got), asked.Replace(call.back)
				}
				if got := fmt.Sprint(<-s.got); got != call.got {
					t.Errorf("%s: the back end has got %s", call.how, got)
				}
				if got := fmt.Sprint(namesFolded(reply.All())); got != call.back {
					t.Errorf("%s: the client has got %s", call.how, got)
				}
			}
			// With nothing of its own, a proxy forwards the field as it is
			var reply rpc.ReplyHeaders
			res, err := c.Put(rpc.ReceiveHeaders(rpc.SetHeader(bg, "token", "secret"), &reply), func(args echo.EchoPutArgs) {
				args.SetMode("link")
				args.NewItem().SetData(make([]byte, 300_000))
			})
			if err != nil || len(res.GetSuccess().GetData()) != 300_000 || (<-s.got)["token"] != "secret" || reply.Get("served-by") != "back end" {
				t.Error(err, namesFolded(reply.All()))
			}
		})
	}
}

// TestHeadersOfTries: each try sends the headers of its own context. The client gets the headers
// of the reply to the last try. A call without a reply has none.
func TestHeadersOfTries(t *testing.T) {
	t.Parallel()
	s := newSpeaking()
	var inner rpc.ReplyHeaders
	twice := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		ctx = rpc.ReceiveHeaders(ctx, &inner)
		next(rpc.SetHeader(ctx, "try", "1"), c)
		return next(rpc.SetHeader(ctx, "try", "2"), c)
	}
	conn := dial(t, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(s)}, nil), rpc.Interceptors(twice))
	c := echo.NewEchoClient(conn)
	var reply rpc.ReplyHeaders
	ctx := rpc.ReceiveHeaders(bg, &reply)
	if _, err := c.Add(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if a, b := <-s.got, <-s.got; a["try"] != "1" || b["try"] != "2" || reply.Get("re-try") != "2" || inner.Get("re-try") != "2" {
		t.Errorf("%q, %q, %q", a, b, namesFolded(reply.All()))
	}
	conn.Close()
	if _, err := c.Add(ctx, nil); err == nil || reply.Get("re-try") != "" {
		t.Errorf("%v, %q", err, reply.Get("re-try"))
	}
}

// TestLateReplyHeader: when the reply is made, it gets no further headers.
func TestLateReplyHeader(t *testing.T) {
	t.Parallel()
	kept := make(chan context.Context, 1)
	p := echo.NewEchoProcessor(&handler{}).WithHandler(func(ctx context.Context, c *rpc.Call) error {
		kept <- ctx
		return nil
	}, "add")
	var reply rpc.ReplyHeaders
	echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: p}, nil))).Add(rpc.ReceiveHeaders(rpc.SetHeader(bg, "a", "b"), &reply), nil)
	ctx := <-kept
	if err := rpc.SetReplyHeader(ctx, "late", "1"); !errors.Is(err, rpc.ErrNoReplyHeaders) || rpc.Header(ctx, "a") != "b" {
		t.Error(err, rpc.Header(ctx, "a"))
	}
}

// TestNoHeadersCostNothing: a call without headers allocates as much with a context that could
// have some, and its arguments have no field more.
func TestNoHeadersCostNothing(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("this build allocates")
	}
	if !testmode.InOwnProcess(t) {
		return
	}
	fields := func(ctx context.Context, c *rpc.Call) error {
		if _, ok := c.Field(rpc.HeaderField); ok {
			t.Error("there is a field")
		}
		return nil
	}
	p := echo.NewEchoProcessor(&handler{}).WithHandler(fields, "ping")
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: p}, nil)))
	type key struct{}
	ctx := context.WithValue(bg, key{}, 1)
	call := func() {
		if sum, err := c.Add(ctx, func(args echo.EchoAddArgs) { args.SetA(1) }); err != nil {
			t.Fatal(err)
		} else {
			sum.Release()
		}
	}
	for range 100 {
		call()
	}
	if n := testing.AllocsPerRun(2000, call); n >= 1 {
		t.Errorf("%v allocations a call", n)
	}
	if _, err := c.Ping(ctx, nil); err != nil {
		t.Error(err)
	}
}

// TestHeadersOfInvoke: other carriers' calls have the headers in the arguments, or those that
// they say.
func TestHeadersOfInvoke(t *testing.T) {
	s := newSpeaking()
	s.own = [][2]string{{"served-by", "one"}}
	var add *rpc.Method
	for name, m := range echo.NewEchoProcessor(s).Methods() {
		if name == "add" {
			add = m
		}
	}
	args := func(texts ...string) []byte {
		return append(headerField(13, pairsOf(len(texts)/2, 11, 11, texts...)), 0)
	}
	invoke := func(ctx context.Context, wire []byte) []byte {
		var got []byte
		if err := add.Invoke(ctx, wire, nocopy.Limits{}, func(result []byte) error { got = slices.Clone(result); return nil }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	result := invoke(bg, args("token", "secret", "thrift-reply-headers", "1"))
	if got := <-s.got; got["token"] != "secret" || !strings.Contains(string(result), "served-by") {
		t.Errorf("%q, %q", got, result)
	}
	ctx, closeReply := rpc.WithRequestHeaders(bg, gomaps.All(map[string]string{"Token": "of the carrier"}))
	result = invoke(ctx, args("token", "secret"))
	back := gomaps.Collect(closeReply())
	if got := <-s.got; fmt.Sprint(got) != "map[token:of the carrier]" || strings.Contains(string(result), "served-by") || fmt.Sprint(back) != "map[re-token:of the carrier served-by:one]" {
		t.Errorf("%q, %q, %q", got, result, back)
	}
	// And a Caller that the program defines
	sent, err := rpc.SentHeaders(rpc.SetHeader(ctx, "a", "b"))
	if err != nil || fmt.Sprint(gomaps.Collect(sent)) != "map[a:b]" {
		t.Error(gomaps.Collect(sent), err)
	}
	if _, err := rpc.SentHeaders(rpc.SetHeader(ctx, "a b", "c")); err == nil {
		t.Error("no error")
	}
	var reply rpc.ReplyHeaders
	rpc.DeliverReplyHeaders(rpc.ReceiveHeaders(bg, &reply), gomaps.All(map[string]string{"x": "y"}))
	if reply.Get("X") != "y" {
		t.Error(reply.Get("X"))
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add(append([]byte{10, 0, 1}, make([]byte, 8)...), pairsOf(1, 11, 11, rpc.TimeoutKey, "1H"), []byte(nil))
	f.Add([]byte{15, 0, 9, 12, 0, 0, 0, 1, 11, 0, 1, 0, 0, 0, 1, 'x', 0}, pairsOf(1000, 11, 11), []byte{2, 0, 1, 1})
	for _, m := range echo.NewEchoProcessor(&handler{}).WithHandler(func(ctx context.Context, c *rpc.Call) error {
		// The field is found on another way here
		want := map[string]string{}
		if v, _ := c.Field(rpc.HeaderField); v.Type == nocopy.WireMap {
			want = pairsIn(v.Raw())
		}
		got := gomaps.Collect(rpc.Headers(ctx))
		for key, value := range want {
			if rpc.Header(ctx, key) != value && !slices.ContainsFunc(slices.Collect(gomaps.Keys(want)), func(k string) bool { return k != key && strings.EqualFold(k, key) }) {
				return fmt.Errorf("%q: %q, want %q", key, rpc.Header(ctx, key), value)
			}
		}
		if len(got) > len(want) {
			return fmt.Errorf("%q, want %q", got, want)
		}
		return nil
	}).Methods() {
		if m.Name != "add" {
			continue
		}
		f.Fuzz(func(t *testing.T, before, wire, after []byte) {
			args := slices.Concat(before, headerField(13, wire), after, []byte{0})
			err := m.Invoke(bg, args, nocopy.Limits{}, func([]byte) error { return nil })
			if e, ok := errors.AsType[*rpc.ApplicationException](err); err != nil && (!ok || e.Type != rpc.ProtocolError) {
				t.Error(err)
			}
		})
	}
}

// pairsIn returns the pairs of a valid map of texts, none if they are too many or too large.
func pairsIn(wire []byte) map[string]string {
	m, size := map[string]string{}, 0
	n := int(be(wire[2:]))
	if n > 0 && (wire[0] != 11 || wire[1] != 11) || n > rpc.MaxHeaders {
		return nil
	}
	text := func(from []byte) (string, []byte) {
		n := be(from)
		size += int(n)
		return string(from[4:][:n]), from[4+n:]
	}
	for rest := wire[6:]; n > 0; n-- {
		var key, value string
		key, rest = text(rest)
		value, rest = text(rest)
		m[key] = value
	}
	if size > rpc.MaxHeaderBytes {
		return nil
	}
	return m
}

func be(b []byte) uint32 { return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]) }
