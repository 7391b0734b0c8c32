package nocopyotel_test

import (
	"io"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/nocopythrift/nocopythrift/interop/otel/internal/greet"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/otel/nocopyotel"
)

// TestEveryWire: the trace continues over each wire, and baggage that is too large for the headers
// harms no call.
func TestEveryWire(t *testing.T) {
	member, err := baggage.NewMember("large", strings.Repeat("x", 8000))
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	for name, opts := range map[string][]rpc.Option{
		"framed": nil, "unframed": {rpc.Unframed}, "compact": {rpc.Protocol(rpc.Compact)}, "THeader": {rpc.THeader()}, "HTTP": nil,
	} {
		addr, spans := served(t, &rpc.Server{}, new(asks))
		opts = append(opts, rpc.Interceptors(nocopyotel.Client(nocopyotel.Options{TracerProvider: sdktrace.NewTracerProvider()})))
		var c rpc.Caller
		if name == "HTTP" {
			c, err = rpc.DialHTTP("http://"+addr, opts...)
		} else {
			c, err = rpc.Dial(t.Context(), "tcp", addr, opts...)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.(io.Closer).Close()
		ctx := rpc.SetHeader(baggage.ContextWithBaggage(t.Context(), bag), "own", strings.Repeat("x", 300))
		if _, err := greet.NewGreeterClient(c).Hello(ctx, func(args greet.GreeterHelloArgs) { args.SetName("ada") }); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		await(func() bool { return len(spans.GetSpans()) > 0 })
		if all := spans.GetSpans(); len(all) != 1 || !all[0].Parent.IsValid() {
			t.Errorf("%s: the server's span has no parent", name)
		}
	}
}
