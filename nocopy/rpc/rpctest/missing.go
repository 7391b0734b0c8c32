package rpctest

import (
	"context"
	"errors"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// argsOf returns an interceptor for clients that reports required fields which the arguments lack.
func argsOf(t testing.TB) rpc.Interceptor {
	return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		report(t, c, "arguments", c.Args)
		return next(ctx, c)
	}
}

// resultsOf returns an interceptor for servers that reports required fields which the handler's
// result or declared exception lacks.
func resultsOf(t testing.TB) rpc.Interceptor {
	return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		var exception nocopy.AnyStruct
		switch {
		case errors.As(err, &exception):
			report(t, c, "exception", nocopy.Struct(exception.ThriftStruct()))
			report(t, c, "result", c.Result) // an exception that the handler has put there
		case err == nil:
			report(t, c, "result", c.Result)
		}
		return err
	}
}

// report reports the required fields that are missing in the message of s, a part of a call.
func report(t testing.TB, c *rpc.Call, what string, s nocopy.Struct) {
	defer func() { recover() }() // the handle may be one of another test's, which has ended
	for _, text := range thriftimpl.Struct(s).Missing() {
		t.Errorf("rpctest: %s: the %s: %s", c.Method, what, text)
	}
}
