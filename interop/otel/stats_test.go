package nocopyotel_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/nocopythrift/nocopythrift/interop/otel/internal/greet"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/otel/nocopyotel"
)

// TestPrometheus: the metrics of spans and of Stats are exported in the form that Prometheus
// reads.
func TestPrometheus(t *testing.T) {
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry))
	if err != nil {
		t.Fatal(err)
	}
	options := nocopyotel.Options{MeterProvider: metric.NewMeterProvider(metric.WithReader(exporter))}
	name := fmt.Sprint("thrift_test_", time.Now().UnixNano()) // each name can be used only once
	vars := nocopyotel.Expvar(name)
	addr := serve(t, &rpc.Server{
		Processor: greet.NewGreeterProcessor(new(greeter)), Recycle: true, Interceptors: []rpc.Interceptor{nocopyotel.Server(options)},
		Stats: nocopyotel.Both(nocopyotel.ServerStats(options), vars),
	})
	cl := dial(t, addr, rpc.Interceptors(nocopyotel.Client(options)), nocopyotel.ClientStats(options))
	c := greet.NewGreeterClient(cl)
	for range 5 {
		if _, err := hello(t.Context(), c, "ada"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := hello(t.Context(), c, "who?"); err == nil {
		t.Fatal("no error")
	}
	if _, err := cl.Call(t.Context(), rpc.RawMethod("none", false), cl.NewArgs(rpc.RawMethod("none", false))); err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`rpc_server_call_duration_seconds_count{`, `rpc_method="Greeter/hello"`, `rpc_response_status_code="Unknown"`, `rpc_client_call_duration_seconds_bucket{`,
		`thrift_server_connections{`, `thrift_client_connections{`, `thrift_server_active_requests{`, `thrift_server_queue_duration_seconds_count{`,
		`network_io_direction="receive"`, `network_io_direction="transmit"`, `thrift_server_refused_total{error_type="UNKNOWN_METHOD"`,
		`thrift_blocks_taken_total{`, `thrift_blocks_returned_total{`, `rpc_method="_OTHER"`,
	}
	var page string
	await(func() bool {
		rec := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
		body, _ := io.ReadAll(rec.Body)
		page = string(body)
		missing := 0
		for _, w := range want {
			if !strings.Contains(page, w) {
				missing++
			}
		}
		return missing == 0
	})
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("no %s", w)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
	m := expvar.Get(name).(*expvar.Map)
	for key, want := range map[string]string{"connections": "1", "connections_opened": "1", "calls": "6", "refused": "1"} {
		await(func() bool { return m.Get(key).String() == want })
		if got := m.Get(key).String(); got != want {
			t.Errorf("expvar %s is %s, want %s", key, got, want)
		}
	}
	if s := m.String(); strings.Contains(s, `"received_bytes": 0`) || strings.Contains(s, `"sent_bytes": 0`) || strings.Contains(s, `"blocks_taken": 0`) {
		t.Error(s)
	}
}

// TestBlocksCountedOnce: the process's blocks are counted once for any number of Stats.
func TestBlocksCountedOnce(t *testing.T) {
	tel := newTelemetry()
	addr := serve(t, &rpc.Server{Processor: greet.NewGreeterProcessor(new(greeter)), Stats: nocopyotel.ServerStats(tel.Options)})
	nocopyotel.ServerStats(tel.Options)
	c := greet.NewGreeterClient(dial(t, addr, nocopyotel.ClientStats(tel.Options)))
	if _, err := hello(t.Context(), c, "ada"); err != nil {
		t.Fatal(err)
	}
	found := 0
	for range 1000 { // blocks may be taken in the meantime
		before := rpc.ReadBlockStats()
		var data metricdata.ResourceMetrics
		if err := tel.reader.Collect(t.Context(), &data); err != nil {
			t.Fatal(err)
		}
		if rpc.ReadBlockStats() != before {
			continue
		}
		for _, m := range data.ScopeMetrics[0].Metrics {
			if want, ok := map[string]uint64{"thrift.blocks.taken": before.Taken, "thrift.blocks.returned": before.Returned}[m.Name]; ok {
				found++
				if got := m.Data.(metricdata.Sum[int64]).DataPoints[0].Value; got != int64(want) {
					t.Errorf("%s is %d, want %d", m.Name, got, want)
				}
			}
		}
		break
	}
	if found != 2 {
		t.Errorf("%d metrics of blocks", found)
	}
}

// TestUnknownMethodsAreOne: a proxy without IDL has one metric, and spans of bounded size, for all
// method names that a peer makes up.
func TestUnknownMethodsAreOne(t *testing.T) {
	tel := newTelemetry()
	backend := dial(t, serve(t, &rpc.Server{Processor: greet.NewGreeterProcessor(new(greeter))}))
	proxy := serve(t, &rpc.Server{
		Processor: rpc.NewProcessor("none", nil).WithFallback(rpc.Forward(backend)), Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options)},
	})
	cl := dial(t, proxy)
	const names = 50
	for i := range names {
		m := rpc.RawMethod(fmt.Sprint(strings.Repeat("é", 1000), i), false)
		if _, err := cl.Call(t.Context(), m, cl.NewArgs(m)); err == nil {
			t.Fatal("no error")
		}
	}
	await(func() bool { return len(tel.spans.GetSpans()) == names })
	for _, s := range tel.spans.GetSpans() {
		if s.Name != "apache_thrift" || len(attr(s, "rpc.method_original")) > 260 {
			t.Fatalf("span %s: %v", s.Name, s.Attributes)
		}
	}
	if n := tel.points(t, "rpc.server.call.duration"); n != 1 {
		t.Errorf("%d metrics of %d names", n, names)
	}
}

// TestOverloadMetrics: calls that wait for a place among MaxInFlight, and those that are refused,
// are counted; spans of their clients say why.
func TestOverloadMetrics(t *testing.T) {
	tel := newTelemetry()
	name := fmt.Sprint("thrift_overload_", time.Now().UnixNano())
	vars := nocopyotel.Expvar(name)
	begun, release := make(chan struct{}, 2), make(chan struct{})
	held := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		begun <- struct{}{}
		<-release
		return next(ctx, c)
	}
	addr := serve(t, &rpc.Server{
		Processor: greet.NewGreeterProcessor(new(greeter)), MaxInFlight: 1, MaxQueued: 1, Unordered: true, Interceptors: []rpc.Interceptor{held},
		Stats: nocopyotel.Both(nocopyotel.ServerStats(tel.Options), vars),
	})
	sum := func(name string) (n int64, errorType string) {
		var data metricdata.ResourceMetrics
		if err := tel.reader.Collect(t.Context(), &data); err != nil {
			t.Fatal(err)
		}
		for _, m := range data.ScopeMetrics[0].Metrics {
			if s, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == name {
				n = s.DataPoints[0].Value
				v, _ := s.DataPoints[0].Attributes.Value("error.type")
				errorType = v.AsString()
			}
		}
		return n, errorType
	}
	waits := func(want int64) {
		t.Helper()
		n := int64(-1)
		for range 12_000 {
			if n, _ = sum("thrift.server.waiting_requests"); n == want {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("%d calls wait, want %d", n, want)
	}
	c := greet.NewGreeterClient(dial(t, addr))
	var calls sync.WaitGroup
	for i := range int64(2) {
		calls.Go(func() {
			if _, err := hello(t.Context(), c, "ada"); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			<-begun
		}
	}
	waits(1)
	if got := expvar.Get(name).(*expvar.Map).Get("waiting").String(); got != "1" {
		t.Errorf("expvar: %s calls wait", got)
	}
	overHTTP, err := rpc.DialHTTP("http://"+addr, rpc.Interceptors(nocopyotel.Client(tel.Options)))
	if err != nil {
		t.Fatal(err)
	}
	defer overHTTP.(io.Closer).Close()
	traced := greet.NewGreeterClient(dial(t, addr, rpc.Interceptors(nocopyotel.Client(tel.Options))))
	for _, c := range []greet.GreeterClient{traced, greet.NewGreeterClient(overHTTP)} {
		if _, err := hello(t.Context(), c, "ada"); !errors.Is(err, rpc.ErrNotHandled) {
			t.Error(err)
		}
	}
	for _, s := range tel.spans.GetSpans() {
		if got := attr(s, "rpc.response.status_code"); got != "LOAD_SHEDDING" {
			t.Errorf("the status is %s", got)
		}
	}
	if n := len(tel.spans.GetSpans()); n != 2 {
		t.Errorf("%d spans", n)
	}
	if n, typ := sum("thrift.server.refused"); n != 2 || typ != "LOAD_SHEDDING" {
		t.Errorf("%d refused: %s", n, typ)
	}
	close(release)
	calls.Wait()
	waits(0)
}
