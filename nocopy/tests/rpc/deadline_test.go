package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// pairsOf returns the wire bytes of a map that says it has n pairs.
func pairsOf(n int, keyType, valueType byte, texts ...string) []byte {
	b := append([]byte{keyType, valueType}, be32(n)...)
	for _, s := range texts {
		b = append(append(b, be32(len(s))...), s...)
	}
	return b
}

// headerField is a field 8888.
func headerField(typ byte, wire []byte) []byte {
	return append([]byte{typ, rpc.HeaderField >> 8, rpc.HeaderField & 0xff}, wire...)
}

// timed notes how much time the handlers of Add had.
type timed struct {
	handler
	time atomic.Int64 // −1: no deadline
}

func (l *timed) Add(ctx context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	l.time.Store(-1)
	if d, ok := ctx.Deadline(); ok {
		l.time.Store(int64(max(time.Until(d), 0)))
	}
	result.SetSuccess(args.GetA() + args.GetB())
	return nil
}

// TestDeadlines: the time that is left reaches the handler if both sides have Deadlines, and
// nothing changes if one of them has not; a oneway call has none.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ client, server, ctx bool }{{true, true, true}, {true, true, false}, {true, false, true}, {false, true, true}} {
		l := &timed{handler: handler{notified: make(chan string, 1)}}
		var fields atomic.Int32
		count := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			if _, ok := c.Field(rpc.HeaderField); ok {
				fields.Add(1)
			}
			if _, ok := ctx.Deadline(); ok && c.Method.Oneway() {
				t.Error("a oneway call has a deadline")
			}
			return next(ctx, c)
		}
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(l), Deadlines: c.server, Interceptors: []rpc.Interceptor{count}}
		var opts []rpc.Option
		if c.client {
			opts = append(opts, rpc.Deadlines)
		}
		client := echo.NewEchoClient(dial(t, serve(t, srv, nil), opts...))
		ctx := bg
		if c.ctx {
			limited, cancel := context.WithTimeout(bg, time.Hour)
			defer cancel()
			ctx = limited
		}
		if _, err := client.Add(ctx, nil); err != nil {
			t.Fatal(err)
		}
		got := time.Duration(l.time.Load())
		if want := c.client && c.server && c.ctx; want && (got < 50*time.Minute || got > time.Hour) || !want && got != -1 {
			t.Errorf("%+v: %v left", c, got)
		}
		if n := fields.Load(); (n == 1) != (c.client && c.ctx) {
			t.Errorf("%+v: %d calls with headers", c, n)
		}
		client.Notify(ctx, nil)
		<-l.notified
	}
}

// TestDeadlinePasses: a handler's context ends when the caller's does, also of a caller that is
// still there; tries have the time that is left for each, and what a proxy forwards its own.
func TestDeadlinePasses(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 10)
	p := echo.NewEchoProcessor(&handler{}).WithHandler(func(ctx context.Context, c *rpc.Call) error {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	}, "add")
	back := dial(t, serve(t, &rpc.Server{Processor: p, Deadlines: true}, nil), rpc.Deadlines)
	proxy := echo.NewEchoProcessor(&handler{}).WithHandler(rpc.Forward(back), "add")
	const perTry = 300 * time.Millisecond
	times := make(chan string, 10)
	note := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name == "add" {
			times <- rpc.Header(ctx, rpc.TimeoutKey)
		}
		return next(ctx, c)
	}
	tries := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name != "add" {
			return next(ctx, c)
		}
		for range 2 {
			short, cancel := context.WithTimeout(ctx, perTry)
			next(short, c)
			cancel()
		}
		return context.DeadlineExceeded
	}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: proxy, Deadlines: true, Interceptors: []rpc.Interceptor{note}}, nil), rpc.Deadlines, rpc.Interceptors(tries)))
	for _, warm := range []echo.EchoClient{c, echo.NewEchoClient(back)} { // connecting takes time
		if _, err := warm.Ping(bg, nil); err != nil {
			t.Fatal(err)
		}
	}
	settles(t, "both tries arrive", func() bool { // on a busy machine one may end before
		c.Add(bg, nil)
		return len(times) >= 2
	})
	settles(t, "a handler's context ends", func() bool { return len(ended) > 0 })
	if err := <-ended; err != context.DeadlineExceeded && err != context.Canceled {
		t.Error(err)
	}
	for range 2 { // of 300 ms, in microseconds, or nanoseconds on a busy machine: up to eight digits
		s := <-times
		if left, err := time.ParseDuration(s + "s"); err != nil || left <= 0 || left > perTry || len(s) > 9 {
			t.Errorf("%q was left", s)
		}
	}
}

// TestHostileHeaders: a call with anything in field 8888 is answered. It has a deadline only if
// the field is a map of strings within the limits, with a timeout.
func TestHostileHeaders(t *testing.T) {
	t.Parallel()
	timeout := func(s string) []byte { return headerField(13, pairsOf(1, 11, 11, rpc.TimeoutKey, s)) }
	good := timeout("1H")
	many := func(n int) []byte {
		texts := []string{rpc.TimeoutKey, "1H"}
		for i := range n - 1 {
			texts = append(texts, fmt.Sprint(i), "")
		}
		return headerField(13, pairsOf(n, 11, 11, texts...))
	}
	twice := func(a, b string) []byte {
		return headerField(13, pairsOf(2, 11, 11, rpc.TimeoutKey, a, rpc.TimeoutKey, b))
	}
	for _, srv := range []*rpc.Server{{}, {Recycle: true}, {Lazy: true}} {
		l := new(timed)
		srv.Deadlines, srv.Processor = true, echo.NewEchoProcessor(l)
		nc := dialRaw(t, serve(t, srv, nil))
		for i, c := range []struct {
			name  string
			field []byte
			want  bool
		}{
			{"good", good, true}, {"none", nil, false}, {"now", timeout("0n"), true},
			{"negative", timeout("-1S"), false}, {"signed", timeout("+1S"), false}, {"no unit", timeout("100"), false}, {"no digits", timeout("S"), false},
			{"empty", timeout(""), false}, {"nine digits", timeout("100000000n"), false}, {"huge", timeout("99999999H"), false},
			{"the largest", timeout("2562047H"), true}, {"junk", timeout("\x00\xff"), false}, {"long junk", timeout(strings.Repeat("9", 8000)), false},
			{"a key twice, the last counts", twice("x", "1H"), true}, {"a key twice, the last is wrong", twice("1H", "x"), false},
			{"twice, the first counts", append(good[:len(good):len(good)], timeout("x")...), true},
			{"twice, the first is of another type", append(headerField(8, be32(1)), good...), false},
			{"a thousand times", bytes.Repeat(good, 1000), true},
			{"a number", headerField(10, make([]byte, 8)), false},
			{"a string", headerField(11, append(be32(2), "1H"...)), false},
			{"a map of numbers", headerField(13, append([]byte{8, 8, 0, 0, 0, 1}, make([]byte, 8)...)), false},
			{"an empty map without types", headerField(13, make([]byte, 6)), false},
			{"100 pairs", many(100), true}, {"101 pairs", many(101), false}, {"100,000 pairs", many(100_000), false},
			{"more than 8 KiB", headerField(13, pairsOf(2, 11, 11, rpc.TimeoutKey, "1H", "k", strings.Repeat("v", 8<<10))), false},
			{"in a struct", headerField(12, append(good[:len(good):len(good)], 0)), false},
		} {
			b := bytes.Join([][]byte{{10, 0, 1}, make([]byte, 8), c.field, {0}}, nil)
			send(t, nc, frame(strict(call, "add", i, b)))
			expect(t, nc, frame(strict(reply, "add", i, []byte{10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})))
			if got := l.time.Load() >= 0; got != c.want {
				t.Errorf("%s: a deadline: %t", c.name, got)
			}
		}
	}
}

// TestDeclaredHeaders: a field 8888 that the IDL declares is the program's own, on both sides.
func TestDeclaredHeaders(t *testing.T) {
	t.Parallel()
	args := thriftimpl.NewDesc("tagged_args")
	args.Define(thriftimpl.FieldDesc{ID: rpc.HeaderField, Name: "tags", Type: thriftimpl.MapOf(thriftimpl.TypeString, thriftimpl.TypeString)})
	m := &rpc.Method{Service: "Tags", Name: "tagged", Args: args, Result: echo.BasePingResultDesc}
	own := headerField(13, pairsOf(1, 11, 11, rpc.TimeoutKey, "1n"))
	handle := func(ctx context.Context, c *rpc.Call) error {
		if _, ok := ctx.Deadline(); ok {
			t.Error("there is a deadline")
		}
		if v, _ := c.Field(rpc.HeaderField); !bytes.Equal(v.Raw(), own[3:]) || rpc.Header(ctx, rpc.TimeoutKey) != "" {
			t.Errorf("%q, %q", v.Raw(), rpc.Header(ctx, rpc.TimeoutKey))
		}
		return nil
	}
	conn := dial(t, serve(t, &rpc.Server{Processor: rpc.NewProcessor("Tags", nil, m.HandledBy(handle)), Deadlines: true}, nil), rpc.Deadlines)
	filled, err := thriftimpl.Parse(args, append(own, 0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(bg, time.Hour)
	defer cancel()
	if _, err := conn.Call(ctx, m, nocopy.Struct(filled)); err != nil {
		t.Error(err)
	}
}

// TestTimeouts: ReceiveDeadline receives the time that SendDeadline sends, not a shorter one. A
// text that is no timeout gives no deadline.
func TestTimeouts(t *testing.T) {
	const none, soon = -1, 0
	for s, want := range map[string]time.Duration{
		"1H": time.Hour, "200M": 200 * time.Minute, "3000S": 3000 * time.Second, "4000000m": 4000 * time.Second, "00003600S": time.Hour,
		"0n": soon, "5u": soon, "6n": soon, "99999999H": none, "2562047H": 2562047 * time.Hour, "2562048H": none,
		"": none, "S": none, "1": none, "1s": none, "-1S": none, "+1S": none, "1 S": none, "1.5S": none, "0x1S": none, "100000000S": none,
		"１S": none, "1SS": none, strings.Repeat("1", 1000) + "S": none,
	} {
		ctx, cancel := rpc.ReceiveDeadline(rpc.SetHeader(bg, rpc.TimeoutKey, s))
		deadline, ok := ctx.Deadline()
		left := time.Until(deadline)
		if ok != (want >= 0) || ok && (left > want+time.Second || left < want-time.Minute) {
			t.Errorf("%q: %v are left, %t", s, left, ok)
		}
		cancel()
	}
	for _, d := range []time.Duration{-1, time.Second, time.Hour, 99999999 * time.Nanosecond, 1000 * time.Hour, 2562047 * time.Hour} {
		ctx, cancel := context.WithTimeout(bg, d)
		before, _ := ctx.Deadline()
		sent := rpc.Header(rpc.SendDeadline(ctx), rpc.TimeoutKey)
		received, cancel2 := rpc.ReceiveDeadline(rpc.SetHeader(bg, rpc.TimeoutKey, sent))
		after, ok := received.Deadline()
		if more := after.Sub(before); !ok || d > 0 && (more < 0 || more > time.Minute) || d < 0 && sent != "0n" {
			t.Errorf("%v: %q, which is %v later", d, sent, more)
		}
		cancel()
		cancel2()
	}
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	want, _ := ctx.Deadline()
	later, cancel2 := rpc.ReceiveDeadline(rpc.SetHeader(ctx, rpc.TimeoutKey, "1H"))
	defer cancel2()
	if got, _ := later.Deadline(); got != want {
		t.Error("the deadline has become later")
	}
	if rpc.Header(rpc.SendDeadline(rpc.SetHeader(bg, rpc.TimeoutKey, "1H")), rpc.TimeoutKey) != "" {
		t.Error("a stale timeout is sent")
	}
}
