package nocopyotel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/rpcconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Options are the settings of interceptors and Stats. The zero value of each is a good default.
type Options struct {
	TracerProvider trace.TracerProvider // nil means OpenTelemetry's global one
	MeterProvider  metric.MeterProvider // nil means OpenTelemetry's global one
	// Propagator reads and writes the map. Nil means W3C trace context and baggage.
	Propagator propagation.TextMapPropagator
	// Methods names methods that are known only by name and shall have spans and metrics of their
	// own. The names are those in calls.
	Methods []string
	// Address is the server's address, "host:port", for the spans and metrics of clients.
	Address string
}

const (
	scope  = "github.com/nocopythrift/nocopythrift/otel/nocopyotel"
	system = "apache_thrift"

	maxName = 256     // bytes of a method's name in a span
	maxText = 1 << 10 // bytes of an error's text in a span
)

// tracing is the state of an interceptor.
type tracing struct {
	Options
	tracer   trace.Tracer
	kind     trace.SpanKind
	duration metric.Float64Histogram
	common   []attribute.KeyValue // of all spans and metrics
}

func newTracing(o Options, kind trace.SpanKind) *tracing {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.Propagator == nil {
		o.Propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	}
	t := &tracing{Options: o, kind: kind, common: []attribute.KeyValue{semconv.RPCSystemNameKey.String(system)}}
	t.tracer = o.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	meter := o.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
	var err error
	if kind == trace.SpanKindServer {
		var h rpcconv.ServerCallDuration
		h, err = rpcconv.NewServerCallDuration(meter)
		t.duration = h.Inst()
	} else {
		var h rpcconv.ClientCallDuration
		h, err = rpcconv.NewClientCallDuration(meter)
		t.duration = h.Inst()
		if o.Address != "" {
			host, port := split(o.Address)
			t.common = append(t.common, semconv.ServerAddress(host))
			if port > 0 {
				t.common = append(t.common, semconv.ServerPort(port))
			}
		}
	}
	if err != nil {
		otel.Handle(err)
	}
	return t
}

// split returns the host and port of an address. Without a port, it returns the whole address and
// 0.
func split(addr string) (string, int) {
	if host, port, err := net.SplitHostPort(addr); err == nil {
		n, _ := strconv.Atoi(port)
		return host, n
	}
	return addr, 0
}

// Server returns an interceptor for servers, which must be the outermost. It begins a span for
// each call, continuing the client's trace, and measures the call. It adds the client's baggage
// and deadline to the context.
func Server(o Options) rpc.Interceptor {
	t := newTracing(o, trace.SpanKindServer)
	return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		ctx = t.Propagator.Extract(ctx, received{ctx})
		if !c.Method.Oneway() {
			var cancel context.CancelFunc
			ctx, cancel = rpc.ReceiveDeadline(ctx)
			defer cancel()
		}
		ctx, end := t.start(ctx, c)
		err := errPanic // stays if next panics
		defer func() { end(err) }()
		err = next(ctx, c)
		return err
	}
}

// Client returns an interceptor for clients. It begins a span for each call, or for each try if
// an interceptor around it makes several. It measures them, and sends the trace context, baggage
// and deadline.
func Client(o Options) rpc.Interceptor {
	t := newTracing(o, trace.SpanKindClient)
	return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		ctx, end := t.start(ctx, c)
		err := errPanic // stays if next panics
		defer func() { end(err) }()
		err = next(t.send(ctx, c), c)
		return err
	}
}

var errPanic = errors.New("a handler or interceptor has panicked, or ended its goroutine")

// received gives a propagator access to the headers of a request.
type received struct{ ctx context.Context }

func (r received) Get(key string) string { return rpc.Header(r.ctx, key) }

func (received) Set(string, string) {}

func (r received) Keys() (keys []string) {
	for key := range rpc.Headers(r.ctx) {
		keys = append(keys, key)
	}
	return keys
}

// send returns ctx with headers for the trace context, the baggage and the deadline. In a
// forwarded call, they replace the received ones, which are removed if this program has none.
// Large headers come last, and are omitted if there is no room for them.
func (t *tracing) send(ctx context.Context, c *rpc.Call) context.Context {
	out := propagation.MapCarrier{}
	t.Propagator.Inject(ctx, out)
	for _, key := range append(t.Propagator.Fields(), rpc.TimeoutKey) {
		if rpc.Header(ctx, key) != "" {
			ctx = rpc.SetHeader(ctx, key, "")
		}
	}
	if !c.Method.Oneway() {
		ctx = rpc.SendDeadline(ctx)
	}
	n, size := 0, 0
	for key, value := range rpc.Headers(ctx) {
		n, size = n+1, size+len(key)+len(value)
	}
	keys := slices.SortedFunc(maps.Keys(out), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a)+len(out[a]), len(b)+len(out[b])), strings.Compare(a, b))
	})
	for _, key := range keys {
		n, size = n+1, size+len(key)+len(out[key])
		if n > rpc.MaxHeaders || size > rpc.MaxHeaderBytes {
			break
		}
		ctx = rpc.SetHeader(ctx, key, out[key])
	}
	return ctx
}

// start begins a span, and returns a function that ends it with the call's error.
func (t *tracing) start(ctx context.Context, c *rpc.Call) (context.Context, func(error)) {
	began := time.Now()
	method, original := t.method(c.Method)
	attrs := append(t.common[:len(t.common):len(t.common)], semconv.RPCMethod(method))
	name := method
	spanAttrs := attrs
	if method == other {
		name = system
		spanAttrs = append(attrs[:len(attrs):len(attrs)], semconv.RPCMethodOriginal(original))
	}
	if c.Peer != nil {
		host, port := split(c.Peer.String())
		spanAttrs = append(spanAttrs[:len(spanAttrs):len(spanAttrs)], semconv.NetworkPeerAddress(host))
		if port > 0 {
			spanAttrs = append(spanAttrs, semconv.NetworkPeerPort(port))
		}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(t.kind), trace.WithTimestamp(began), trace.WithAttributes(spanAttrs...))
	return ctx, func(err error) {
		elapsed := time.Since(began)
		status, failed := t.outcome(c, err)
		if status != "OK" && span.IsRecording() {
			t.fail(span, c, err, status, failed)
		}
		result := append(attrs[:len(attrs):len(attrs)], semconv.RPCResponseStatusCode(status))
		if failed {
			result = append(result, semconv.ErrorTypeKey.String(status))
		}
		span.SetAttributes(result[len(attrs):]...)
		t.duration.Record(ctx, elapsed.Seconds(), metric.WithAttributeSet(attribute.NewSet(result...)))
		span.End(trace.WithTimestamp(began.Add(elapsed)))
	}
}

// other is the name in metrics and spans of methods that are known only by name.
const other = "_OTHER"

// method returns the name of m for spans and metrics. If that is other, it also returns m's own
// name, shortened.
func (t *tracing) method(m *rpc.Method) (name, original string) {
	switch wire := m.WireName(); {
	case m.Service != "":
		return m.Service + "/" + m.Name, ""
	case slices.Contains(t.Methods, wire):
		return strings.ReplaceAll(wire, ":", "/"), ""
	default:
		return other, strings.ToValidUTF8(wire[:min(len(wire), maxName)], "\ufffd")
	}
}

// fail records an error in the span.
func (t *tracing) fail(span trace.Span, c *rpc.Call, err error, typ string, failed bool) {
	text := textOf(err)
	if err == nil { // a forwarded exception
		text = textOf(c.Exception())
	}
	if failed {
		span.SetStatus(codes.Error, text)
	}
	span.AddEvent("exception", trace.WithAttributes(semconv.ExceptionType(typ), semconv.ExceptionMessage(text)))
}

// textOf returns the text of err, shortened; its methods may do anything.
func textOf(err error) (text string) {
	text = fmt.Sprintf("a %T, whose text can't be had", err)
	done := make(chan struct{})
	go func() { // Error may end its goroutine
		defer close(done)
		defer func() { recover() }()
		text = fmt.Sprint(err)
	}()
	<-done
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "\ufffd")
}

// outcome returns the status of a call that has ended with err, and whether it is an error.
func (t *tracing) outcome(c *rpc.Call, err error) (status string, failed bool) {
	defer func() {
		if recover() != nil { // methods of err may panic
			status, failed = "INTERNAL_ERROR", true
		}
	}()
	var application *rpc.ApplicationException
	var malformed *nocopy.Error
	switch {
	case err == nil:
		e := c.Exception() // a proxy passes it on in the result
		if e == nil {
			return "OK", false
		}
		if errors.As(e, &application) { // the IDL does not know it
			return typeName(application.Type), true
		}
		return nameOf(e), t.kind == trace.SpanKindClient
	case nameOf(err) != "" && (t.kind == trace.SpanKindClient || c.Exception() != nil):
		return nameOf(err), t.kind == trace.SpanKindClient
	case errors.As(err, &application):
		return typeName(application.Type), true
	case t.kind == trace.SpanKindServer:
		return "INTERNAL_ERROR", true
	case errors.Is(err, context.Canceled):
		return "CANCELLED", true
	case errors.Is(err, context.DeadlineExceeded):
		return "DEADLINE_EXCEEDED", true
	case errors.Is(err, rpc.ErrNotSent):
		return "NOT_SENT", true
	case errors.Is(err, rpc.ErrNotHandled): // over HTTP
		return typeName(rpc.LoadShedding), true
	case errors.Is(err, rpc.ErrClientClosed):
		return "CLIENT_CLOSED", true
	case errors.Is(err, rpc.ErrConnLost):
		return "CONNECTION_LOST", true
	case errors.As(err, &malformed):
		return "MALFORMED", true
	}
	return other, true
}

// nameOf returns the name of the declared exception that err is or wraps, or "".
func nameOf(err error) string {
	var e nocopy.AnyStruct
	if errors.As(err, &e) {
		return e.ThriftDesc().Name()
	}
	return ""
}
