package rpc_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// lacking is a handler without methods: it embeds an interface that is nil.
type lacking struct{ echo.EchoHandler }

// failing is a handler whose method fails inside: with a nil pointer, and in a method that another
// struct has from an interface that is nil.
type failing struct {
	echo.UnimplementedEchoHandler
	inner *lacking
}

func (b failing) Echo(ctx context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	return b.inner.Echo(ctx, args, result)
}

// TestHandlerLacksMethod: the log and the answer name the method that a handler lacks and say what
// to embed; another nil dereference is not taken for that.
func TestHandlerLacksMethod(t *testing.T) {
	const want = "the handler has no method echo: it embeds an interface that is nil; embed UnimplementedEchoHandler instead"
	pass := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }
	for name, c := range map[string]struct {
		h     echo.EchoHandler
		lacks bool
	}{
		"pointer":       {&lacking{}, true},
		"value":         {lacking{}, true},
		"inside":        {failing{inner: &lacking{}}, false},
		"a nil pointer": {failing{}, false},
	} {
		for _, list := range [][]rpc.Interceptor{nil, {pass}} {
			var log strings.Builder
			srv := &rpc.Server{Processor: echo.NewEchoProcessor(c.h), Interceptors: list, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			client := rpctest.Serve(t, srv)
			_, err := echo.NewEchoClient(client).Echo(context.Background(), nil)
			var app *rpc.ApplicationException
			if !errors.As(err, &app) {
				t.Fatalf("%s: %v", name, err)
			}
			if is := app.Message == want && app.Type == rpc.UnknownMethod; is != c.lacks {
				t.Errorf("%s: the answer is %v", name, err)
			}
			if is := strings.Contains(log.String(), want); is != c.lacks {
				t.Errorf("%s: the log is %s", name, log.String())
			}
		}
	}
}
