package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
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

// metadataField is a field 8888.
func metadataField(typ byte, wire []byte) []byte {
	return append([]byte{typ, rpc.MetadataField >> 8, rpc.MetadataField & 0xff}, wire...)
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
			if _, ok := c.Field(rpc.MetadataField); ok {
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
			t.Errorf("%+v: %d calls with metadata", c, n)
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
	var times []time.Duration
	tries := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name != "add" {
			return next(ctx, c)
		}
		for range 2 {
			short, cancel := context.WithTimeout(ctx, perTry)
			next(short, c)
			cancel()
			left, _ := c.Metadata().Timeout()
			times = append(times, left)
		}
		return context.DeadlineExceeded
	}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: proxy, Deadlines: true}, nil), rpc.Deadlines, rpc.Interceptors(tries)))
	for _, warm := range []echo.EchoClient{c, echo.NewEchoClient(back)} { // connecting takes time
		if _, err := warm.Ping(bg, nil); err != nil {
			t.Fatal(err)
		}
	}
	c.Add(bg, nil)
	settles(t, "a handler's context ends", func() bool { return len(ended) > 0 })
	if err := <-ended; err != context.DeadlineExceeded && err != context.Canceled {
		t.Error(err)
	}
	for _, left := range times {
		if left <= 0 || left > perTry {
			t.Errorf("%v were left", left)
		}
	}
}

// TestHostileMetadata: whatever is in field 8888, the call is answered, and what is no timeout in
// a map of strings within the limits is no deadline.
func TestHostileMetadata(t *testing.T) {
	t.Parallel()
	timeout := func(s string) []byte { return metadataField(13, pairsOf(1, 11, 11, rpc.TimeoutKey, s)) }
	good := timeout("1H")
	many := func(n int) []byte {
		texts := []string{rpc.TimeoutKey, "1H"}
		for i := range n - 1 {
			texts = append(texts, fmt.Sprint(i), "")
		}
		return metadataField(13, pairsOf(n, 11, 11, texts...))
	}
	twice := func(a, b string) []byte {
		return metadataField(13, pairsOf(2, 11, 11, rpc.TimeoutKey, a, rpc.TimeoutKey, b))
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
			{"twice, the first is of another type", append(metadataField(8, be32(1)), good...), false},
			{"a thousand times", bytes.Repeat(good, 1000), true},
			{"a number", metadataField(10, make([]byte, 8)), false},
			{"a string", metadataField(11, append(be32(2), "1H"...)), false},
			{"a map of numbers", metadataField(13, append([]byte{8, 8, 0, 0, 0, 1}, make([]byte, 8)...)), false},
			{"an empty map without types", metadataField(13, make([]byte, 6)), false},
			{"100 pairs", many(100), true}, {"101 pairs", many(101), false}, {"100,000 pairs", many(100_000), false},
			{"more than 8 KiB", metadataField(13, pairsOf(2, 11, 11, rpc.TimeoutKey, "1H", "k", strings.Repeat("v", 8<<10))), false},
			{"in a struct", metadataField(12, append(good[:len(good):len(good)], 0)), false},
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

// TestDeclaredMetadata: a field 8888 that the IDL declares is the program's own, on both sides.
func TestDeclaredMetadata(t *testing.T) {
	t.Parallel()
	args := thriftimpl.NewDesc("tagged_args")
	args.Define(thriftimpl.FieldDesc{ID: rpc.MetadataField, Name: "tags", Type: thriftimpl.MapOf(thriftimpl.TypeString, thriftimpl.TypeString)})
	m := &rpc.Method{Service: "Tags", Name: "tagged", Args: args, Result: echo.BasePingResultDesc}
	own := metadataField(13, pairsOf(1, 11, 11, rpc.TimeoutKey, "1n"))
	handle := func(ctx context.Context, c *rpc.Call) error {
		if _, ok := ctx.Deadline(); ok {
			t.Error("there is a deadline")
		}
		if v, _ := c.Field(rpc.MetadataField); !bytes.Equal(v.Raw(), own[3:]) || c.Metadata().Len() != 0 || c.SetMetadata(new(rpc.Metadata)) {
			t.Errorf("%q, %v", v.Raw(), c.Metadata())
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

// TestMetadata: keys and values; what is too much is left out, the largest first, and the timeout
// stays.
func TestMetadata(t *testing.T) {
	var m rpc.Metadata
	m.Set("a", "1")
	m.Set("b", "")
	m.Set("a", "2")
	if m.Get("a") != "2" || m.Len() != 2 || fmt.Sprint(m.Keys()) != "[b a]" || m.Get("c") != "" {
		t.Error(m)
	}
	m.Remove("a")
	m.Remove("c")
	if m.Len() != 1 {
		t.Error(m)
	}
	for _, c := range []struct{ pairs, size, want int }{{0, 0, 1}, {1, 0, 2}, {99, 0, 100}, {100, 0, 100}, {1000, 10, 100}, {1, 8100, 2}, {1, 8200, 1}, {2, 5000, 2}, {1000, 1000, 9}} {
		var in rpc.Metadata
		in.SetTimeout(5 * time.Second)
		for i := range c.pairs {
			in.Set(fmt.Sprint("k", i), strings.Repeat("v", c.size))
		}
		call := rpc.Call{Method: methodOfAdd, Args: nocopy.Struct(echo.NewEchoAddArgs())}
		if !call.SetMetadata(&in) {
			t.Error("not set")
		}
		out := call.Metadata()
		if d, ok := out.Timeout(); out.Len() != c.want || !ok || d != 5*time.Second {
			t.Errorf("%v: %d pairs, %v", c, out.Len(), d)
		}
		call.SetMetadata(new(rpc.Metadata))
		if _, ok := call.Field(rpc.MetadataField); ok {
			t.Error("empty metadata are sent")
		}
	}
}

var methodOfAdd = &rpc.Method{Service: "Echo", Name: "add", Args: echo.EchoAddArgsDesc, Result: echo.EchoAddResultDesc}

func TestTimeouts(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"1H": time.Hour, "2M": 2 * time.Minute, "3S": 3 * time.Second, "4m": 4 * time.Millisecond, "5u": 5 * time.Microsecond, "6n": 6,
		"0n": 0, "00000001S": time.Second, "99999999n": 99999999, "99999999H": math.MaxInt64, "2562047H": 2562047 * time.Hour, "2562048H": math.MaxInt64,
		"": -1, "S": -1, "1": -1, "1s": -1, "-1S": -1, "+1S": -1, "1 S": -1, "1.5S": -1, "0x1S": -1, "100000000S": -1, "１S": -1, "1S\x00": -1, "1SS": -1,
		strings.Repeat("1", 1000) + "S": -1,
	} {
		var m rpc.Metadata
		m.Set(rpc.TimeoutKey, s)
		if got, ok := m.Timeout(); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %v, %t", s, got, ok)
		}
	}
	for d, want := range map[time.Duration]string{
		-1: "0n", 0: "0n", 1: "1n", 99999999: "99999999n", 100_000_000: "100000u", 100_000_001: "100001u", time.Hour: "3600000m",
		math.MaxInt64: "2562048H", 30 * time.Second: "30000000u",
	} {
		var m rpc.Metadata
		m.SetTimeout(d)
		if back, ok := m.Timeout(); m.Get(rpc.TimeoutKey) != want || !ok || back < d {
			t.Errorf("%v is %q, and that %v", d, m.Get(rpc.TimeoutKey), back)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want, _ := ctx.Deadline()
	var m rpc.Metadata
	m.SetTimeout(time.Hour)
	later, cancel2 := m.WithTimeout(ctx)
	defer cancel2()
	if got, _ := later.Deadline(); got != want {
		t.Error("the deadline has become later")
	}
}

func FuzzMetadata(f *testing.F) {
	f.Add(pairsOf(1, 11, 11, rpc.TimeoutKey, "1H"))
	f.Add(pairsOf(1000, 11, 11))
	f.Fuzz(func(t *testing.T, wire []byte) {
		args, err := echo.ParseEchoAddArgs(append(metadataField(13, wire), 0))
		if err != nil {
			return
		}
		c := rpc.Call{Method: methodOfAdd, Args: nocopy.Struct(args)}
		m := c.Metadata()
		if _, cancel := m.WithTimeout(t.Context()); true {
			cancel()
		}
		c.SetMetadata(m)
		if got := c.Metadata(); fmt.Sprint(got) != fmt.Sprint(m) {
			t.Errorf("%v, and set and read again %v", m, got)
		}
	})
}
