package dynamic_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestEditingProxy: a proxy whose types come from an IDL edits forwarded messages, with handlers
// of package rpc. For a method without a handler the client gets an error.
func TestEditingProxy(t *testing.T) {
	backend := dial(t, serve(t, &rpc.Server{Processor: kv.NewKeyValueProcessor(&store{map[string][]byte{}})}))
	forward := rpc.Forward(backend)
	edit := func(ctx context.Context, c *rpc.Call) error {
		args := reflection.Of(rpc.AnyArgs(c))
		key, err := args.Get("key")
		if err != nil {
			return err
		}
		if err := args.Set("key", append([]byte("tenant/"), key.Bytes()...)); err != nil {
			return err
		}
		if err := forward(ctx, c); err != nil {
			return err
		}
		result := reflection.Of(rpc.AnyResult(c))
		if v, err := result.Get("success"); err == nil && v.IsSet() {
			return result.Set("success", append([]byte("shown "), v.Bytes()...))
		}
		return nil
	}
	schema, err := dynamic.Load(kvFile)
	if err != nil {
		t.Fatal(err)
	}
	p := mustService(t, schema, "KeyValue").Processor(nil).WithHandler(edit, "create", "retrieve")
	c := kv.NewKeyValueClient(dial(t, serve(t, &rpc.Server{Processor: p, Lazy: true})))
	if _, err := c.Create(t.Context(), func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("a")); args.SetValue([]byte("1")) }); err != nil {
		t.Fatal(err)
	}
	res, err := c.Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("a")) })
	if err != nil || string(res.GetSuccess()) != "shown 1" {
		t.Errorf("%q, %v", res.GetSuccess(), err)
	}
	direct, err := kv.NewKeyValueClient(backend).Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("tenant/a")) })
	if err != nil || string(direct.GetSuccess()) != "1" {
		t.Errorf("%q, %v at the backend", direct.GetSuccess(), err)
	}
	var missing kv.NotFound
	if _, err := c.Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("b")) }); !errors.As(err, &missing) {
		t.Error(err)
	}
	var e *rpc.ApplicationException
	if _, err := c.Delete(t.Context(), nil); !errors.As(err, &e) || e.Type != rpc.InternalError {
		t.Errorf("%v from a method without a handler", err)
	}
}
