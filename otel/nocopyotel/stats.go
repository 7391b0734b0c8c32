package nocopyotel

import (
	"context"
	"errors"
	"expvar"
	"reflect"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// ServerStats returns Stats for a Server that record these metrics; side is server:
//
//	thrift.<side>.connections       open connections
//	thrift.<side>.active_requests   requests that are being handled, or made
//	thrift.server.waiting_requests  requests that wait for a place among Server.MaxInFlight
//	thrift.<side>.queue.duration    how long calls have waited, in seconds
//	thrift.<side>.io                bytes, by network.io.direction
//	thrift.<side>.io.by_reference   bytes sent without copying them together first
//	thrift.server.refused           messages that were not handled, by error.type; LOAD_SHEDDING
//	                                if there were too many calls
//	thrift.blocks.taken, .returned  blocks of memory of the process, see rpc.BlockStats
func ServerStats(o Options) *rpc.Stats { return newStats(o, "server") }

// ClientStats returns Stats for a Client that record the metrics of ServerStats; side is client.
func ClientStats(o Options) *rpc.Stats { return newStats(o, "client") }

// newStats returns Stats whose functions record to the instruments of a server or a client.
func newStats(o Options, side string) *rpc.Stats {
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	m := o.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
	prefix, background := "thrift."+side+".", context.Background()
	conns, err1 := m.Int64UpDownCounter(prefix+"connections", metric.WithUnit("{connection}"), metric.WithDescription("Connections that are open."))
	active, err2 := m.Int64UpDownCounter(prefix+"active_requests", metric.WithUnit("{request}"), metric.WithDescription("Calls under way."))
	queue, err3 := m.Float64Histogram(prefix+"queue.duration", metric.WithUnit("s"), metric.WithDescription("How long calls have waited."),
		metric.WithExplicitBucketBoundaries(0.00001, 0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10))
	io, err4 := m.Int64Counter(prefix+"io", metric.WithUnit("By"), metric.WithDescription("Bytes received and sent."))
	byRef, err5 := m.Int64Counter(prefix+"io.by_reference", metric.WithUnit("By"), metric.WithDescription("Bytes sent from where they lay."))
	converted, err6 := m.Int64Counter(prefix+"io.converted", metric.WithUnit("By"), metric.WithDescription("Bytes turned from or into another protocol."))
	err := errors.Join(err1, err2, err3, err4, err5, err6, observeBlocks(o.MeterProvider, m))
	in := metric.WithAttributeSet(attribute.NewSet(semconv.NetworkIODirectionReceive))
	out := metric.WithAttributeSet(attribute.NewSet(semconv.NetworkIODirectionTransmit))
	s := &rpc.Stats{
		Conns:    func(n int) { conns.Add(background, int64(n)) },
		InFlight: func(n int) { active.Add(background, int64(n)) },
		Queued:   func(d time.Duration) { queue.Record(background, d.Seconds()) },
		Received: func(n int) { io.Add(background, int64(n), in) },
		Sent: func(n linkbuf.Stats) {
			io.Add(background, int64(n.Bytes), out)
			byRef.Add(background, int64(n.RefBytes))
		},
		Converted: func(n int) { converted.Add(background, int64(n)) },
	}
	if side == "server" {
		refused, err6 := m.Int64Counter(prefix+"refused", metric.WithUnit("{message}"), metric.WithDescription("Messages that were not handled."))
		waiting, err7 := m.Int64UpDownCounter(prefix+"waiting_requests", metric.WithUnit("{request}"), metric.WithDescription("Calls that wait for a place among MaxInFlight."))
		err = errors.Join(err, err6, err7)
		s.Waiting = func(n int) { waiting.Add(background, int64(n)) }
		s.Refused = func(e rpc.ExceptionType) {
			refused.Add(background, 1, metric.WithAttributes(semconv.ErrorTypeKey.String(typeName(e))))
		}
	}
	if err != nil {
		otel.Handle(err)
	}
	return s
}

// blocksOf has the MeterProviders that already count blocks. A process has few. OpenTelemetry adds
// up the values of several callbacks, but the blocks of a process must be counted once.
var blocksOf sync.Map

// observeBlocks makes m, a Meter of provider p, count the process's blocks of memory.
func observeBlocks(p metric.MeterProvider, m metric.Meter) error {
	if reflect.ValueOf(p).Comparable() {
		if _, done := blocksOf.LoadOrStore(p, true); done {
			return nil
		}
	}
	taken, err1 := m.Int64ObservableCounter("thrift.blocks.taken", metric.WithUnit("{block}"), metric.WithDescription("Blocks of memory taken from pools, or made."))
	returned, err2 := m.Int64ObservableCounter("thrift.blocks.returned", metric.WithUnit("{block}"), metric.WithDescription("Blocks of memory returned to pools."))
	_, err3 := m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		b := rpc.ReadBlockStats()
		o.ObserveInt64(taken, int64(b.Taken))
		o.ObserveInt64(returned, int64(b.Returned))
		return nil
	}, taken, returned)
	return errors.Join(err1, err2, err3)
}

// typeName returns the name of an ApplicationException's type in metrics and spans, such as
// UNKNOWN_METHOD. For a type that Thrift does not define, which a peer may have made up, it is
// _OTHER.
func typeName(t rpc.ExceptionType) string {
	if t < rpc.UnknownException || t > rpc.LoadShedding {
		return other
	}
	return strings.ToUpper(strings.ReplaceAll(t.String(), " ", "_"))
}

// Expvar returns Stats that package expvar publishes as a map with this name:
//
//	{"connections": 2, "connections_opened": 9, "active": 1, "waiting": 0, "calls": 5731,
//	 "queued_ns": 87211, "received_bytes": 471193, "sent_bytes": 331144,
//	 "sent_by_reference_bytes": 0, "refused": 3, "blocks_taken": 83, "blocks_returned": 79}
//
// Like expvar.Publish, it panics if the name is taken.
func Expvar(name string) *rpc.Stats {
	m := expvar.NewMap(name)
	for _, key := range []string{"connections", "connections_opened", "active", "waiting", "calls", "queued_ns", "received_bytes", "sent_bytes", "sent_by_reference_bytes", "refused"} {
		m.Add(key, 0)
	}
	m.Set("blocks_taken", expvar.Func(func() any { return rpc.ReadBlockStats().Taken }))
	m.Set("blocks_returned", expvar.Func(func() any { return rpc.ReadBlockStats().Returned }))
	count := func(key, total string) func(int) {
		return func(n int) {
			if m.Add(key, int64(n)); n > 0 {
				m.Add(total, int64(n))
			}
		}
	}
	return &rpc.Stats{
		Conns:    count("connections", "connections_opened"),
		InFlight: count("active", "calls"),
		Waiting:  func(n int) { m.Add("waiting", int64(n)) },
		Queued:   func(d time.Duration) { m.Add("queued_ns", int64(d)) },
		Received: func(n int) { m.Add("received_bytes", int64(n)) },
		Sent: func(n linkbuf.Stats) {
			m.Add("sent_bytes", int64(n.Bytes))
			m.Add("sent_by_reference_bytes", int64(n.RefBytes))
		},
		Converted: func(n int) { m.Add("converted_bytes", int64(n)) },
		Refused:   func(rpc.ExceptionType) { m.Add("refused", 1) },
	}
}

// Both returns Stats that call a and b, such as ServerStats and Expvar.
func Both(a, b *rpc.Stats) *rpc.Stats {
	return &rpc.Stats{
		Conns: both(a.Conns, b.Conns), InFlight: both(a.InFlight, b.InFlight), Waiting: both(a.Waiting, b.Waiting), Queued: both(a.Queued, b.Queued),
		Received: both(a.Received, b.Received), Sent: both(a.Sent, b.Sent), Converted: both(a.Converted, b.Converted), Refused: both(a.Refused, b.Refused),
	}
}

func both[T any](f, g func(T)) func(T) {
	if f == nil || g == nil {
		if f == nil {
			return g
		}
		return f
	}
	return func(v T) { f(v); g(v) }
}
