package nocopyotel_test

import (
	"context"
	"fmt"
	"net"

	"github.com/nocopythrift/nocopythrift/interop/otel/internal/greet"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/otel/nocopyotel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// A server and a client whose spans are kept in memory. A program passes its own TracerProvider,
// or sets OpenTelemetry's global one.
func Example() {
	spans := tracetest.NewInMemoryExporter()
	options := nocopyotel.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))}
	srv := &rpc.Server{
		Processor:    greet.NewGreeterProcessor(new(greeter)),
		Interceptors: []rpc.Interceptor{nocopyotel.Server(options)},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go srv.Serve(l)
	ctx := context.Background()
	cl, err := rpc.Dial(ctx, "tcp", l.Addr().String(), rpc.Interceptors(nocopyotel.Client(options)))
	if err != nil {
		panic(err)
	}
	res, err := greet.NewGreeterClient(cl).Hello(ctx, func(args greet.GreeterHelloArgs) { args.SetName("ada") })
	fmt.Println(res.GetSuccess(), err)
	cl.Close()
	srv.Shutdown(ctx)
	for _, s := range spans.GetSpans() {
		fmt.Println(s.SpanKind, s.Name)
	}
	// Output:
	// hello ada <nil>
	// server Greeter/hello
	// client Greeter/hello
}
