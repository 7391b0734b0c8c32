package nocopyotel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	apache "github.com/nocopythrift/nocopythrift/interop/internal/apache/greet"
	"github.com/nocopythrift/nocopythrift/interop/otel/internal/greet"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/otel/nocopyotel"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// telemetry collects spans and metrics.
type telemetry struct {
	nocopyotel.Options
	spans  *tracetest.InMemoryExporter
	reader *metric.ManualReader
}

func newTelemetry() *telemetry {
	t := &telemetry{spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	t.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(t.spans))
	t.MeterProvider = metric.NewMeterProvider(metric.WithReader(t.reader))
	return t
}

// await waits until f is true, for a minute at most.
func await(f func() bool) {
	for end := time.Now().Add(time.Minute); !f() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

// take returns n ended spans by name and kind.
func (tel *telemetry) take(t *testing.T, n int) map[string]tracetest.SpanStub {
	t.Helper()
	await(func() bool { return len(tel.spans.GetSpans()) >= n })
	spans := map[string]tracetest.SpanStub{}
	for _, s := range tel.spans.GetSpans() {
		spans[s.Name+" "+s.SpanKind.String()] = s
	}
	if len(spans) != n {
		t.Fatalf("%d spans, want %d: %v", len(spans), n, spans)
	}
	tel.spans.Reset()
	return spans
}

func attr(s tracetest.SpanStub, key string) string {
	for _, kv := range s.Attributes {
		if string(kv.Key) == key {
			return kv.Value.Emit()
		}
	}
	return "none"
}

// greeter is the tests' handler. It notes the contexts that its methods get.
type greeter struct {
	relay func(ctx context.Context, args greet.GreeterRelayArgs) (string, error)
	mu    sync.Mutex
	ctx   context.Context
	told  chan context.Context
}

func (g *greeter) Hello(ctx context.Context, args greet.GreeterHelloArgs, result greet.GreeterHelloResult) error {
	g.mu.Lock()
	g.ctx = ctx
	g.mu.Unlock()
	switch name := args.GetName(); {
	case strings.HasSuffix(name, "?"):
		e := greet.NewUnknown()
		e.SetName(name)
		return e
	case name == "bug":
		return errors.New("a bug")
	case name == "panic":
		panic("a secret")
	case name == "goexit":
		runtime.Goexit()
	case name == "wait":
		<-ctx.Done()
		return ctx.Err()
	default:
		result.SetSuccess("hello " + name)
	}
	return nil
}

func (g *greeter) Relay(ctx context.Context, args greet.GreeterRelayArgs, result greet.GreeterRelayResult) error {
	text, err := g.relay(ctx, args)
	result.SetSuccess(text)
	return err
}

func (g *greeter) Tell(ctx context.Context, args greet.GreeterTellArgs) error {
	if g.told != nil {
		g.told <- ctx
	}
	return nil
}

func (g *greeter) Count(_ context.Context, args greet.GreeterCountArgs, result greet.GreeterCountResult) error {
	result.SetSuccess(fmt.Sprint(args.GetName(), args.GetN()))
	return nil
}

func (g *greeter) last() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ctx
}

// serve runs a server until the test has ended and returns its address.
func serve(t testing.TB, srv *rpc.Server) string {
	t.Helper()
	srv.Logger = slog.New(slog.DiscardHandler)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l)
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
	return l.Addr().String()
}

func dial(t testing.TB, addr string, opts ...rpc.Option) *rpc.Client {
	t.Helper()
	cl, err := rpc.Dial(t.Context(), "tcp", addr, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	return cl
}

func hello(ctx context.Context, c greet.GreeterClient, name string) (string, error) {
	res, err := c.Hello(ctx, func(args greet.GreeterHelloArgs) { args.SetName(name) })
	if err != nil {
		return "", err
	}
	defer res.Release()
	return strings.Clone(res.GetSuccess()), nil
}

// TestOutcomes: spans and metrics of both sides have the outcomes of calls, framed or not.
func TestOutcomes(t *testing.T) {
	for _, framed := range []bool{true, false} {
		for _, c := range []struct {
			name                   string
			status, clientStatus   string
			serverCode, clientCode codes.Code
		}{
			{"ada", "OK", "OK", codes.Unset, codes.Unset},
			{"who?", "Unknown", "Unknown", codes.Unset, codes.Error},
			{"bug", "INTERNAL_ERROR", "INTERNAL_ERROR", codes.Error, codes.Error},
			{"panic", "INTERNAL_ERROR", "INTERNAL_ERROR", codes.Error, codes.Error},
			{"goexit", "INTERNAL_ERROR", "INTERNAL_ERROR", codes.Error, codes.Error},
			{"wait", "INTERNAL_ERROR", "DEADLINE_EXCEEDED", codes.Error, codes.Error},
		} {
			t.Run(fmt.Sprint(c.name, framed), func(t *testing.T) {
				t.Parallel()
				tel := newTelemetry()
				g := new(greeter)
				addr := serve(t, &rpc.Server{Processor: greet.NewGreeterProcessor(g), Recycle: framed, Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options)}})
				client := tel.Options
				client.Address = addr
				opts := []rpc.Option{rpc.Interceptors(nocopyotel.Client(client))}
				if !framed {
					opts = append(opts, rpc.Unframed)
				}
				cl := greet.NewGreeterClient(dial(t, addr, opts...))
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if c.name == "wait" {
					ctx, cancel = context.WithTimeout(ctx, 4*time.Second) // the call arrives in time
				}
				defer cancel()
				_, err := hello(ctx, cl, c.name)
				if (err == nil) != (c.status == "OK") {
					t.Fatal(err)
				}
				spans := tel.take(t, 2)
				server, client2 := spans["Greeter/hello server"], spans["Greeter/hello client"]
				for _, side := range []struct {
					span   tracetest.SpanStub
					status string
					code   codes.Code
				}{{server, c.status, c.serverCode}, {client2, c.clientStatus, c.clientCode}} {
					s := side.span
					if c.name == "wait" && attr(s, "rpc.response.status_code") == "INTERNAL_ERROR" {
						side.status = "INTERNAL_ERROR" // the server reached its deadline first, and has answered
					}
					errType := "none"
					if side.code == codes.Error {
						errType = side.status
					}
					if attr(s, "rpc.system.name") != "apache_thrift" || attr(s, "rpc.method") != "Greeter/hello" ||
						attr(s, "rpc.response.status_code") != side.status || s.Status.Code != side.code || attr(s, "error.type") != errType {
						t.Errorf("%v: %v, %v", s.SpanKind, s.Attributes, s.Status)
					}
					if (len(s.Events) == 1) != (side.status != "OK") {
						t.Errorf("%v: events %v", s.SpanKind, s.Events)
					}
					if strings.Contains(fmt.Sprint(s), "a secret") {
						t.Errorf("%v: it has the panic's text: %v", s.SpanKind, s)
					}
				}
				if server.Parent.SpanID() != client2.SpanContext.SpanID() || !server.Parent.IsRemote() || server.SpanContext.TraceID() != client2.SpanContext.TraceID() {
					t.Error("the server's span is no child of the client's")
				}
				if attr(server, "network.peer.address") != "127.0.0.1" || attr(client2, "server.address") != "127.0.0.1" || attr(client2, "server.port") == "none" {
					t.Errorf("addresses: %v, %v", server.Attributes, client2.Attributes)
				}
				var data metricdata.ResourceMetrics
				if err := tel.reader.Collect(ctx, &data); err != nil && c.name != "wait" {
					t.Fatal(err)
				}
				if c.name == "wait" {
					return
				}
				found := 0
				for _, m := range data.ScopeMetrics[0].Metrics {
					h := m.Data.(metricdata.Histogram[float64])
					status := map[string]string{"rpc.server.call.duration": c.status, "rpc.client.call.duration": c.clientStatus}[m.Name]
					got, _ := h.DataPoints[0].Attributes.Value("rpc.response.status_code")
					if got.AsString() != status || h.DataPoints[0].Count != 1 || m.Unit != "s" {
						t.Errorf("%s: %v", m.Name, h.DataPoints)
					}
					found++
				}
				if found != 2 {
					t.Errorf("%d metrics", found)
				}
			})
		}
	}
}

// TestCarelessInterceptor: if an interceptor panics or ends its goroutine, the call ends with an
// internal error, and the server's span does not report OK.
func TestCarelessInterceptor(t *testing.T) {
	for name, careless := range map[string]rpc.Interceptor{
		"panics": func(context.Context, *rpc.Call, rpc.Handler) error { panic("careless") },
		"ends":   func(context.Context, *rpc.Call, rpc.Handler) error { runtime.Goexit(); return nil },
		"ends after a call": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			next(ctx, c)
			runtime.Goexit()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			tel := newTelemetry()
			addr := serve(t, &rpc.Server{Processor: greet.NewGreeterProcessor(new(greeter)), Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options), careless}})
			if _, err := hello(t.Context(), greet.NewGreeterClient(dial(t, addr)), "ada"); err == nil {
				t.Fatal("no error")
			}
			if s := tel.take(t, 1)["Greeter/hello server"]; attr(s, "rpc.response.status_code") != "INTERNAL_ERROR" || s.Status.Code != codes.Error {
				t.Errorf("%v, %v", s.Attributes, s.Status)
			}
		})
	}
}

// TestBaggageAndDeadline: both come with the call, two-way or oneway; a oneway call has no
// deadline.
func TestBaggageAndDeadline(t *testing.T) {
	tel := newTelemetry()
	g := &greeter{told: make(chan context.Context, 1)}
	addr := serve(t, &rpc.Server{Processor: greet.NewGreeterProcessor(g), Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options)}})
	cl := greet.NewGreeterClient(dial(t, addr, rpc.Interceptors(nocopyotel.Client(tel.Options))))
	member, err := baggage.NewMember("tenant", "seven")
	if err != nil {
		t.Fatal(err)
	}
	bag, _ := baggage.New(member)
	ctx, cancel := context.WithTimeout(baggage.ContextWithBaggage(t.Context(), bag), time.Minute)
	defer cancel()
	if _, err := hello(ctx, cl, "ada"); err != nil {
		t.Fatal(err)
	}
	want, _ := ctx.Deadline()
	got, ok := g.last().Deadline()
	if !ok || got.Sub(want).Abs() > 30*time.Second {
		t.Errorf("deadline %v, %t; want about %v", got, ok, want)
	}
	if b := baggage.FromContext(g.last()); b.Member("tenant").Value() != "seven" {
		t.Errorf("baggage %v", b)
	}
	if err := cl.Tell(ctx, func(args greet.GreeterTellArgs) { args.SetName("ada") }); err != nil {
		t.Fatal(err)
	}
	told := <-g.told
	if _, ok := told.Deadline(); ok || baggage.FromContext(told).Len() != 1 {
		t.Errorf("a oneway call has a deadline (%t) and baggage %v", ok, baggage.FromContext(told))
	}
	if spans := tel.take(t, 4); spans["Greeter/tell server"].Parent.SpanID() != spans["Greeter/tell client"].SpanContext.SpanID() {
		t.Error("the oneway call's spans are not related")
	}
	if _, err := hello(t.Context(), cl, "ada"); err != nil {
		t.Fatal(err)
	}
	if _, ok := g.last().Deadline(); ok {
		t.Error("a deadline out of nothing")
	}
}

// TestProxy: a proxy passes the context on, or takes part in the trace, even without an IDL. All
// its calls have one name then.
func TestProxy(t *testing.T) {
	for _, c := range []struct {
		traced, raw, listed bool
		spans               int
	}{{false, false, false, 2}, {true, false, false, 4}, {false, true, false, 2}, {true, true, false, 4}, {true, true, true, 2}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			tel := newTelemetry()
			opts := tel.Options
			if c.listed {
				opts.Methods = []string{"hello"}
			}
			backend := serve(t, &rpc.Server{Processor: greet.NewGreeterProcessor(new(greeter)), Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options)}})
			var out []rpc.Option
			proxy := &rpc.Server{Lazy: true}
			if c.traced {
				proxy.Interceptors = []rpc.Interceptor{nocopyotel.Server(opts)}
				out = append(out, rpc.Interceptors(nocopyotel.Client(opts)))
			}
			forward := rpc.Forward(dial(t, backend, out...))
			proxy.Processor = greet.NewGreeterProcessor(greet.UnimplementedGreeterHandler{}).WithHandler(forward)
			if c.raw {
				proxy.Processor = rpc.NewProcessor("none", nil).WithFallback(forward)
			}
			cl := greet.NewGreeterClient(dial(t, serve(t, proxy), rpc.Interceptors(nocopyotel.Client(tel.Options))))
			for _, name := range []string{"ada", "who?"} {
				tel.spans.Reset()
				if _, err := hello(t.Context(), cl, name); (err == nil) != (name == "ada") {
					t.Fatal(err)
				}
				n := 2
				if c.traced {
					n = 4
				}
				var all tracetest.SpanStubs
				await(func() bool { all = tel.spans.GetSpans(); return len(all) == n })
				byID := map[trace.SpanID]tracetest.SpanStub{}
				roots := 0
				for _, s := range all {
					byID[s.SpanContext.SpanID()] = s
				}
				for _, s := range all {
					if s.SpanContext.TraceID() != all[0].SpanContext.TraceID() {
						t.Error("several traces")
					}
					if _, ok := byID[s.Parent.SpanID()]; !ok {
						roots++
					}
				}
				if roots != 1 || len(all) != n {
					t.Errorf("%d spans, %d roots", len(all), roots)
				}
				for _, s := range all { // the spans of the proxy
					raw := attr(s, "rpc.method_original") != "none"
					if raw && (attr(s, "rpc.method") != "_OTHER" || s.Name != "apache_thrift" || attr(s, "rpc.method_original") != "hello") {
						t.Errorf("%s: %v", s.Name, s.Attributes)
					}
					if !raw && !strings.HasSuffix(s.Name, "hello") {
						t.Errorf("%s: %v", s.Name, s.Attributes)
					}
					if name == "who?" && !c.raw && attr(s, "rpc.response.status_code") != "Unknown" {
						t.Errorf("%v: %v", s.SpanKind, s.Attributes)
					}
				}
			}
		})
	}
}

// TestApachePeers: Apache's Go server skips the field. Calls of Apache's client have no field, and
// begin traces.
func TestApachePeers(t *testing.T) {
	tel := newTelemetry()
	for _, framed := range []bool{true, false} {
		ours := serve(t, &rpc.Server{Processor: greet.NewGreeterProcessor(new(greeter)), Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options)}})
		var factory thrift.TTransportFactory = thrift.NewTBufferedTransportFactory(4096)
		opts := []rpc.Option{rpc.Interceptors(nocopyotel.Client(tel.Options))}
		if framed {
			factory = thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil)
		} else {
			opts = append(opts, rpc.Unframed)
		}
		socket := thrift.NewTSocketConf(ours, nil)
		transport, err := factory.GetTransport(socket)
		if err == nil {
			err = transport.Open()
		}
		if err != nil {
			t.Fatal(err)
		}
		theirs := apache.NewGreeterClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(nil))
		if text, err := theirs.Hello(t.Context(), "ada"); err != nil || text != "hello ada" {
			t.Fatal(text, err)
		}
		transport.Close()
		if s := tel.take(t, 1)["Greeter/hello server"]; s.Parent.IsValid() {
			t.Error("a parent out of nothing")
		}

		listener, err := thrift.NewTServerSocket("127.0.0.1:0")
		if err == nil {
			err = listener.Listen()
		}
		if err != nil {
			t.Fatal(err)
		}
		srv := thrift.NewTSimpleServer4(apache.NewGreeterProcessor(apacheGreeter{}), listener, factory, thrift.NewTBinaryProtocolFactoryConf(nil))
		go srv.AcceptLoop()
		cl := dial(t, listener.Addr().String(), opts...)
		c := greet.NewGreeterClient(cl)
		for range 3 {
			if text, err := hello(t.Context(), c, "ada"); err != nil || text != "hello ada" {
				t.Fatal(text, err)
			}
			if err := c.Tell(t.Context(), func(args greet.GreeterTellArgs) { args.SetName("ada") }); err != nil {
				t.Fatal(err)
			}
		}
		cl.Close() // Stop waits for clients
		srv.Stop()
		tel.spans.Reset()
	}
}

// apacheGreeter is the service on Apache's library.
type apacheGreeter struct{}

func (apacheGreeter) Hello(_ context.Context, name string) (string, error) {
	return "hello " + name, nil
}
func (apacheGreeter) Relay(context.Context, string, int32, bool) (string, error) {
	return "", errors.New("not here")
}
func (apacheGreeter) Tell(context.Context, string) error                   { return nil }
func (apacheGreeter) Count(context.Context, string, int64) (string, error) { return "", nil }

// TestOwnField: for clients and servers, an argument with the id 8888 belongs to the caller, and
// is not a context.
func TestOwnField(t *testing.T) {
	tel := newTelemetry()
	addr := serve(t, &rpc.Server{Processor: greet.NewGreeterProcessor(new(greeter)), Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options)}})
	cl := greet.NewGreeterClient(dial(t, addr, rpc.Interceptors(nocopyotel.Client(tel.Options))))
	res, err := cl.Count(t.Context(), func(args greet.GreeterCountArgs) { args.SetName("ada"); args.SetN(7) })
	if err != nil || res.GetSuccess() != "ada7" {
		t.Fatal(res, err)
	}
	res.Release()
	if s := tel.take(t, 2)["Greeter/count server"]; s.Parent.IsValid() {
		t.Error("the server's span has a parent")
	}
}

// points returns the number of attribute sets of a histogram.
func (tel *telemetry) points(t *testing.T, name string) int {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := tel.reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name == name {
				return len(m.Data.(metricdata.Histogram[float64]).DataPoints)
			}
		}
	}
	return 0
}
