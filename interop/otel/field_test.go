package nocopyotel_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/nocopythrift/nocopythrift/interop/otel/internal/greet"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
	"github.com/nocopythrift/nocopythrift/otel/nocopyotel"
)

func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

// wireMap returns the wire bytes of a map with texts as keys and values, whose header claims n
// pairs.
func wireMap(n int, keyType, valueType byte, texts ...string) []byte {
	b := append([]byte{keyType, valueType}, binary.BigEndian.AppendUint32(nil, uint32(n))...)
	for _, s := range texts {
		b = append(b, text(s)...)
	}
	return b
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// helloCall returns a framed call of hello with fields before and after the name.
func helloCall(before, after []byte) []byte {
	b := bytes.Join([][]byte{{0x80, 1, 0, 1}, text("hello"), {0, 0, 0, 1}, before, {11, 0, 1}, text("ada"), after, {0}}, nil)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func field(typ byte, wire []byte) []byte {
	return append([]byte{typ, rpc.HeaderField >> 8, rpc.HeaderField & 0xff}, wire...)
}

// asks is the handler of the service that these tests call.
type asks struct {
	mu        sync.Mutex
	deadlines int
}

func (a *asks) Hello(ctx context.Context, args greet.GreeterHelloArgs, result greet.GreeterHelloResult) error {
	if _, ok := ctx.Deadline(); ok {
		a.mu.Lock()
		a.deadlines++
		a.mu.Unlock()
	}
	if args.GetName() == "who?" {
		return greet.NewUnknown()
	}
	if args.GetName() == "bug" {
		return fmt.Errorf("a bug")
	}
	result.SetSuccess("hello " + args.GetName())
	return nil
}

func (a *asks) Relay(_ context.Context, args greet.GreeterRelayArgs, result greet.GreeterRelayResult) error {
	if args.GetName() == "who?" {
		return greet.NewUnknown()
	}
	result.SetSuccess("hello " + args.GetName())
	return nil
}

func (a *asks) Tell(context.Context, greet.GreeterTellArgs) error { return nil }
func (a *asks) Count(context.Context, greet.GreeterCountArgs, greet.GreeterCountResult) error {
	return nil
}

// served starts a server with spans and returns its address. The handler is h, unless srv has a
// Processor.
func served(t *testing.T, srv *rpc.Server, h *asks) (string, *tracetest.InMemoryExporter) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	spans := tracetest.NewInMemoryExporter()
	srv.Logger = slog.New(slog.DiscardHandler)
	if srv.Processor == nil {
		p := greet.NewGreeterProcessor(h)
		srv.Processor = rpc.Multiplexed(map[string]*rpc.Processor{"": p, "greeter": p})
	}
	srv.Interceptors = []rpc.Interceptor{nocopyotel.Server(nocopyotel.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l)
	}()
	t.Cleanup(func() { srv.Close(); <-done })
	return l.Addr().String(), spans
}

// TestHostileContext: calls with any contents of field 8888 are answered. Only a map of strings
// within the limits, at the arguments' own level, counts as a context.
func TestHostileContext(t *testing.T) {
	good := field(13, wireMap(1, 11, 11, "traceparent", parent))
	many := func(n int) []byte {
		texts := []string{"traceparent", parent}
		for i := range n - 1 {
			texts = append(texts, fmt.Sprint(i), "")
		}
		return field(13, wireMap(n, 11, 11, texts...))
	}
	deep := append(bytes.Repeat([]byte{12, rpc.HeaderField >> 8, rpc.HeaderField & 0xff}, 60), make([]byte, 60)...)
	for _, c := range []struct {
		name          string
		before, after []byte
		want          bool // the context counts
	}{
		{"last", nil, good, true},
		{"first", good, nil, true},
		{"twice, the first counts", nil, append(good[:len(good):len(good)], field(13, wireMap(0, 11, 11))...), true},
		{"twice, the first is empty", nil, append(field(13, wireMap(0, 11, 11)), good...), false},
		{"twice, the first is of another type", nil, append(field(8, []byte{0, 0, 0, 1}), good...), false},
		{"a thousand times", nil, bytes.Repeat(good, 1000), true},
		{"a number", nil, field(10, make([]byte, 8)), false},
		{"a string", nil, field(11, text(parent)), false},
		{"a list of strings", nil, field(15, append([]byte{11, 0, 0, 0, 2}, append(text("traceparent"), text(parent)...)...)), false},
		{"a struct", nil, field(12, append(good[:len(good):len(good)], 0)), false},
		{"deep", nil, deep, false},
		{"a map of numbers", nil, field(13, append([]byte{8, 8, 0, 0, 0, 1}, make([]byte, 8)...)), false},
		{"a map of strings to numbers", nil, field(13, bytes.Join([][]byte{{11, 8, 0, 0, 0, 1}, text("traceparent"), {0, 0, 0, 1}}, nil)), false},
		{"an empty map without types", nil, field(13, make([]byte, 6)), false},
		{"no pairs", nil, field(13, wireMap(0, 11, 11)), false},
		{"a hundred pairs", nil, many(100), true},
		{"too many pairs", nil, many(101), false},
		{"a hundred thousand pairs", nil, many(100_000), false},
		{"8 KiB", nil, field(13, wireMap(2, 11, 11, "traceparent", parent, "k", strings.Repeat("v", 8<<10-1-11-len(parent)))), true},
		{"more than 8 KiB", nil, field(13, wireMap(2, 11, 11, "traceparent", parent, "k", strings.Repeat("v", 8<<10-11-len(parent)))), false},
		{"10 MB", nil, field(13, wireMap(2, 11, 11, "traceparent", parent, "k", strings.Repeat("v", 10<<20))), false},
		{"a key twice, the last counts", nil, field(13, wireMap(2, 11, 11, "traceparent", "x", "traceparent", parent)), true},
		{"a key twice, the last is wrong", nil, field(13, wireMap(2, 11, 11, "traceparent", parent, "traceparent", "x")), false},
		{"no text", nil, field(13, wireMap(3, 11, 11, "\xff\xfe", "\x00\xff", "traceparent", parent, "baggage", "\xff=\xff")), true},
		{"a wrong parent", nil, field(13, wireMap(1, 11, 11, "traceparent", strings.Repeat("0", 55))), false},
		{"a long parent", nil, field(13, wireMap(1, 11, 11, "traceparent", strings.Repeat("0", 8000))), false},
		{"empty keys and values", nil, field(13, wireMap(2, 11, 11, "", "", "traceparent", parent)), true},
		{"wrong timeouts", nil, field(13, wireMap(2, 11, 11, "traceparent", parent, rpc.TimeoutKey, "-1S")), true},
	} {
		for _, srv := range []*rpc.Server{{}, {Recycle: true}, {Lazy: true}} {
			t.Run(fmt.Sprintf("%s, %t %t", c.name, srv.Recycle, srv.Lazy), func(t *testing.T) {
				h := new(asks)
				addr, spans := served(t, srv, h)
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(time.Minute))
				request := helloCall(c.before, c.after)
				for range 2 { // it does not harm later calls, either
					go nc.Write(request)
					reply := make([]byte, 4+4+4+5+4+3+4+9+1)
					if n, err := nc.Read(reply); err != nil || n != len(reply) || !bytes.Contains(reply, []byte("hello ada")) {
						t.Fatalf("reply %q, %v", reply[:n], err)
					}
				}
				await(func() bool { return len(spans.GetSpans()) == 2 })
				for _, s := range spans.GetSpans() {
					if s.Parent.IsValid() != c.want || c.want && s.Parent.SpanID().String() != "b7ad6b7169203331" {
						t.Errorf("the span's parent is %v", s.Parent)
					}
				}
				if h.deadlines > 0 {
					t.Error("a deadline out of nothing")
				}
			})
		}
	}
}

// TestDeclaredContext: a field 8888 that the IDL declares belongs to the program, even if it is a
// map of strings. Neither a server nor a client reads a context from it.
func TestDeclaredContext(t *testing.T) {
	args := thriftimpl.NewDesc("hello_args")
	args.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "name", Type: thriftimpl.TypeString},
		thriftimpl.FieldDesc{ID: rpc.HeaderField, Name: "tags", Type: thriftimpl.MapOf(thriftimpl.TypeString, thriftimpl.TypeString)},
	)
	client := nocopyotel.Client(nocopyotel.Options{TracerProvider: sdktrace.NewTracerProvider()})
	hello := &rpc.Method{Service: "Greeter", Name: "hello", Args: args, Result: greet.GreeterHelloResultDesc}
	handle := func(ctx context.Context, c *rpc.Call) error {
		if _, ok := ctx.Deadline(); ok {
			t.Error("there is a deadline")
		}
		return client(ctx, c, func(_ context.Context, c *rpc.Call) error {
			if v, _ := c.Field(rpc.HeaderField); v.Len() != 2 {
				t.Errorf("the map has %d pairs", v.Len())
			}
			result, _ := rpc.ResultOf[greet.GreeterHelloResult](c)
			result.SetSuccess("hello ada")
			return nil
		})
	}
	srv := &rpc.Server{Processor: rpc.NewProcessor("Greeter", nil, hello.HandledBy(handle))}
	addr, spans := served(t, srv, nil)
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(time.Minute))
	if _, err := nc.Write(helloCall(nil, field(13, wireMap(2, 11, 11, "traceparent", parent, rpc.TimeoutKey, "1S")))); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, 200)
	if n, err := nc.Read(reply); err != nil || !bytes.Contains(reply[:n], []byte("hello ada")) {
		t.Fatalf("reply %q, %v", reply[:n], err)
	}
	await(func() bool { return len(spans.GetSpans()) > 0 })
	if all := spans.GetSpans(); len(all) != 1 || all[0].Parent.IsValid() {
		t.Errorf("spans: %v", all)
	}
}

// TestJavaBytes: recorded calls of Java clients with OpenTelemetry's agent are answered: framed or
// not, two-way, oneway and multiplexed. Each call's span is a child of its client's span.
func TestJavaBytes(t *testing.T) {
	files, err := filepath.Glob("testdata/javaagent-*.bin")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		sent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		key := append(text("traceparent"), 0, 0, 0, byte(len(parent)))
		want := map[string]bool{}
		for rest := sent; ; {
			at := bytes.Index(rest, key)
			if at < 0 {
				break
			}
			rest = rest[at+len(key):]
			want[string(rest[36:52])] = true
			if rest[len(parent)] != 0 {
				t.Errorf("%s: no STOP after the field", file)
			}
		}
		for _, srv := range []*rpc.Server{{}, {Recycle: true, Lazy: true}} {
			addr, spans := served(t, srv, new(asks))
			nc, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := nc.Write(sent); err != nil {
				t.Fatal(err)
			}
			await(func() bool { return len(spans.GetSpans()) == len(want) })
			nc.Close()
			got := map[string]bool{}
			for _, s := range spans.GetSpans() {
				got[s.Parent.SpanID().String()] = true
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 {
				t.Errorf("%s: parents %v, want %v", file, got, want)
			}
		}
	}
}

// TestSkyWalking: a proxy that takes part in a trace passes on the keys that SkyWalking's agent
// has put into the map.
func TestSkyWalking(t *testing.T) {
	var got map[string]string
	note := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		got = maps.Collect(rpc.Headers(ctx))
		return next(ctx, c)
	}
	srv := &rpc.Server{Processor: greet.NewGreeterProcessor(new(asks)), Interceptors: []rpc.Interceptor{note}}
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go srv.Serve(l)
	defer srv.Close()
	options := nocopyotel.Options{TracerProvider: sdktrace.NewTracerProvider()}
	backend, err := rpc.Dial(t.Context(), "tcp", l.Addr().String(), rpc.Interceptors(nocopyotel.Client(options)))
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	proxy := &rpc.Server{Processor: greet.NewGreeterProcessor(greet.UnimplementedGreeterHandler{}).WithHandler(rpc.Forward(backend)), Interceptors: []rpc.Interceptor{nocopyotel.Server(options)}}
	pl, _ := net.Listen("tcp", "127.0.0.1:0")
	go proxy.Serve(pl)
	defer proxy.Close()
	nc, err := net.Dial("tcp", pl.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.Write(helloCall(nil, field(13, wireMap(3, 11, 11, "sw8", "1-abc", "traceparent", parent, "sw8-x", ""))))
	if _, err := nc.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if tp := got["traceparent"]; got["sw8"] != "1-abc" || len(got) != 3 || tp == parent || !strings.HasPrefix(tp, parent[:36]) {
		t.Errorf("the back end has got %v", got)
	}
}

// TestTimeoutAtServer: a handler's context has the call's deadline.
func TestTimeoutAtServer(t *testing.T) {
	for value, want := range map[string]bool{"1H": true, "1s": false, "": false, "0n": true, "99999999H": false} {
		h := new(asks)
		addr, _ := served(t, &rpc.Server{}, h)
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		nc.Write(helloCall(nil, field(13, wireMap(1, 11, 11, rpc.TimeoutKey, value))))
		if _, err := nc.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		nc.Close()
		h.mu.Lock()
		if (h.deadlines == 1) != want {
			t.Errorf("%q: a deadline: %t", value, !want)
		}
		h.mu.Unlock()
	}
}
