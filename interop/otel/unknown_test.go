package nocopyotel_test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/otel/nocopyotel"
)

// TestUnknownException: a void call that was answered with an exception which the IDL does not
// know has failed, in the spans of the client, and in both spans of a proxy.
func TestUnknownException(t *testing.T) {
	load := func(throws string) dynamic.Service {
		schema, err := dynamic.LoadText(map[string]string{"s.thrift": "exception New { 1: string why }\nservice S { void risky() " + throws + " }"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Service("S")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	newer, older := load("throws (3: New new)"), load("")
	backend := serve(t, &rpc.Server{Processor: newer.Processor(func(_ context.Context, c *dynamic.Call) error {
		for f := range c.Method.Throws() {
			e := dynamic.Type{Struct: f.Type().Struct()}.New()
			return dynamic.Exception{Message: e}
		}
		return nil
	})})
	tel := newTelemetry()
	proxied := dial(t, backend, rpc.Interceptors(nocopyotel.Client(tel.Options)))
	proxy := serve(t, &rpc.Server{
		Processor:    older.Processor(nil).WithHandler(rpc.Forward(proxied), "risky"),
		Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options)},
	})
	for name, caller := range map[string]rpc.Caller{"direct": proxied, "through a proxy": dial(t, proxy)} {
		args, err := older.Client(caller).NewArgs("risky")
		if err != nil {
			t.Fatal(err)
		}
		_, err = older.Client(caller).Call(t.Context(), "risky", args)
		var e *rpc.ApplicationException
		if !errors.As(err, &e) || e.Type != rpc.MissingResult {
			t.Errorf("%s: %v", name, err)
		}
		want := 1
		if name != "direct" {
			want = 2
		}
		for _, s := range tel.take(t, want) {
			if attr(s, "error.type") != "MISSING_RESULT" || s.Status.Code != codes.Error || len(s.Events) != 1 {
				t.Errorf("%s, %v: %v, %v", name, s.SpanKind, s.Attributes, s.Status)
			}
		}
	}
}
