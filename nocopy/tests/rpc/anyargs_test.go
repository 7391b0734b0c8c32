package rpc_test

import (
	"context"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestAnyArgs: a handler that knows no types edits arguments and results of any method.
func TestAnyArgs(t *testing.T) {
	h := &handler{notified: make(chan string, 1)}
	backend := dial(t, serve(t, &rpc.Server{}, h))
	forward := rpc.Forward(backend)
	edit := func(ctx context.Context, c *rpc.Call) error {
		args := reflection.Of(rpc.AnyArgs(c))
		if !args.Valid() {
			t.Errorf("%s has no arguments", c.Method)
		}
		for _, name := range []string{"text", "a"} { // of notify and add
			if _, ok := args.Descriptor().ByName(name); !ok {
				continue
			}
			if err := args.Set(name, map[string]any{"text": "edited", "a": int64(40)}[name]); err != nil {
				t.Error(err)
			}
		}
		if err := forward(ctx, c); err != nil {
			return err
		}
		result := reflection.Of(rpc.AnyResult(c))
		if v, err := result.Get("success"); err == nil && v.IsSet() {
			return result.Set("success", v.Int()+100)
		}
		if c.Method.Oneway() == result.Valid() {
			t.Errorf("%s: a result: %v", c.Method, result.Valid())
		}
		return nil
	}
	p := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(edit, "add", "notify", "fail")
	c := clientOf(t, p, false)
	res, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) })
	if err != nil || res.GetSuccess() != 142 {
		t.Errorf("%v, %v: the edits are not in it", res, err)
	}
	if err := c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("as it came") }); err != nil || <-h.notified != "edited" {
		t.Error(err)
	}
	if _, err := c.Fail(bg, nil); err != nil {
		t.Error(err)
	}

	raw := rpc.NewProcessor("Any", nil).WithFallback(func(ctx context.Context, c *rpc.Call) error {
		if d := reflection.Of(rpc.AnyArgs(c)).Descriptor(); d.NumFields() != 0 {
			t.Errorf("%s has known fields", c.Method)
		}
		return forward(ctx, c)
	})
	echoes(t, clientOf(t, raw, false), "raw")
}

// TestAnyArgsOfAnother: arguments of another type than the method's read as absent.
func TestAnyArgsOfAnother(t *testing.T) {
	replaced := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		of := *c
		of.Args, of.Result = echo.NewEchoNotifyArgs().Message().Root(), c.Args
		if reflection.Of(rpc.AnyArgs(&of)).Valid() || reflection.Of(rpc.AnyResult(&of)).Valid() {
			t.Error("a struct of another type is there")
		}
		return next(ctx, c)
	}
	unharmed(t, echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Interceptors: []rpc.Interceptor{replaced}}, &handler{}))))
}
