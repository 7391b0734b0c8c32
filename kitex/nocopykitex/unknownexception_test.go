package nocopykitex_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestUnknownException: an exception of a newer server that the client's IDL does not know is an
// error, also of a method that returns nothing.
func TestUnknownException(t *testing.T) {
	schema, err := dynamic.LoadText(map[string]string{"shop.thrift": `exception Closed { 1: string until }
		service Shop { void ping() throws (1: Closed closed), void check() throws (3: Closed closed), i64 count() throws (1: Closed closed) }`})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("Shop")
	if err != nil {
		t.Fatal(err)
	}
	srv := &rpc.Server{Processor: service.Processor(func(_ context.Context, c *dynamic.Call) error {
		for f := range c.Method.Throws() {
			return dynamic.Exception{Message: dynamic.Type{Struct: f.Type().Struct()}.New()}
		}
		return nil
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	for _, name := range []string{"framed", "unframed"} {
		cl := carrierNamed(name).dial(t, l.Addr().String())
		_, ping := cl.Ping(context.Background(), nil)
		_, check := cl.Check(context.Background(), func(a shop.ShopCheckArgs) { a.SetData([]byte{1}) })
		_, count := cl.Count(context.Background(), nil)
		for want, err := range map[string]error{"ping: the reply has field 1,": ping, "check: the reply has field 3,": check, "count: the reply has field 1,": count} {
			var e *rpc.ApplicationException
			if !errors.As(err, &e) || e.Type != rpc.MissingResult || !strings.Contains(e.Message, want) {
				t.Errorf("%s, %s %v", name, want, err)
			}
		}
	}
}
