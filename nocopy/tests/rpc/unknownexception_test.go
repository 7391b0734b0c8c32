package rpc_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// newerResults are results of a server with a newer IDL, and the field that the error names.
var newerResults = []struct {
	name, result, field string
}{
	{"nothing", "\x00", ""},
	{"a return value", "\x0b\x00\x00\x00\x00\x00\x01v\x00", ""},
	{"a struct as return value", "\x0c\x00\x00\x0b\x00\x01\x00\x00\x00\x01v\x00\x00", ""},
	{"headers", "\x0d\x22\xb8\x0b\x0b\x00\x00\x00\x01\x00\x00\x00\x01k\x00\x00\x00\x01v\x00", ""},
	{"a struct in the field of headers", "\x0c\x22\xb8\x00\x00", ""},
	{"an exception", "\x0c\x00\x03\x0b\x00\x01\x00\x00\x00\x02hi\x00\x00", "field 3"},
	{"an empty exception", "\x0c\x00\x07\x00\x00", "field 7"},
	{"an exception without an id", "\x0c\xff\xfe\x00\x00", "field -2"},
	{"headers and an exception", "\x0d\x22\xb8\x0b\x0b\x00\x00\x00\x00\x0c\x00\x03\x00\x00", "field 3"},
	{"a large exception", "\x0c\x7f\xff\x0b\x00\x01\x00\x01\x00\x00" + strings.Repeat("x", 1<<16) + "\x00\x00", "field 32767"},
}

// newerBackend answers each call with these bytes.
func newerBackend(t *testing.T, result string, opts ...rpc.Option) rpc.Caller {
	return rpc.NewCaller(func(_ context.Context, m *rpc.Method, _ []byte) ([]byte, error) {
		return strict(reply, m.Name, 1, []byte(result)), nil
	}, opts...)
}

// missingResult reports whether err is as it must be for a reply with this field; "" for nil.
func missingResult(err error, field string) bool {
	var e *rpc.ApplicationException
	if field == "" {
		return err == nil
	}
	return errors.As(err, &e) && e.Type == rpc.MissingResult && strings.Contains(e.Message, field)
}

// TestUnknownException: an exception that the client's IDL does not know is an error that names
// its field, also if the method returns nothing. It is not repeated.
func TestUnknownException(t *testing.T) {
	t.Parallel()
	schema, err := dynamic.LoadText(map[string]string{"echo.thrift": `exception NotFound { 1: string key }
		service Echo { void ping(), void fail() throws (1: NotFound missing), string version() }`})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("Echo")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range newerResults {
		for name, opts := range map[string][]rpc.Option{"plain": nil, "lazy": {rpc.Lazy}, "recycle": {rpc.Recycle}} {
			tries := 0
			q, log := callLog(slog.LevelInfo)
			count := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				tries++
				err := next(ctx, c)
				if e := c.Exception(); (e == nil) != (err == nil) && c.Method.Name != "version" {
					t.Errorf("%s: the error is %v, and the exception %v", name, err, e)
				}
				return err
			}
			retry := rpc.Retry(rpc.RetryPolicy{Idempotent: []string{"ping", "fail", "version"}})
			for _, backend := range []rpc.Caller{
				newerBackend(t, c.result, opts...),
				newerBackend(t, c.result, append([]rpc.Option{rpc.Interceptors(rpc.LogCalls(log), retry, count)}, opts...)...),
			} {
				tries = 0
				q.reset()
				e := echo.NewEchoClient(backend)
				_, ping := e.Ping(bg, nil)
				_, fail := e.Fail(bg, nil)
				if !missingResult(ping, c.field) || !missingResult(fail, c.field) {
					t.Errorf("%s, %s: %.200v, %.200v", c.name, name, ping, fail)
				}
				if log := q.String(); tries > 0 && (tries != 2 || strings.Count(log, "failed")+strings.Count(log, "ok") != 2 || strings.Contains(log, "ok") != (c.field == "")) {
					t.Errorf("%s, %s: %d tries, logged as %.300s", c.name, name, tries, log)
				}
				_, version := e.Version(bg, nil)
				if returned := c.name == "a return value"; returned != (version == nil) || !returned && !missingResult(version, cmp.Or(c.field, "Echo.version")) {
					t.Errorf("%s, %s: %.200v", c.name, name, version)
				}
				for _, method := range []string{"ping", "fail"} {
					args, err := service.Client(backend).NewArgs(method)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := service.Client(backend).Call(bg, method, args); !missingResult(err, c.field) {
						t.Errorf("%s, %s, dynamic %s: %.200v", c.name, name, method, err)
					}
				}
			}
		}
	}
}

// TestUnknownExceptionForwarded: a proxy passes exceptions on that it does not know, and logs
// them as failures on both sides.
func TestUnknownExceptionForwarded(t *testing.T) {
	t.Parallel()
	for _, c := range newerResults {
		served, serverLog := callLog(slog.LevelInfo)
		called, clientLog := callLog(slog.LevelInfo)
		note := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			if err := next(ctx, c); err != nil {
				return fmt.Errorf("not passed on: %w", err)
			}
			return nil
		}
		backend := newerBackend(t, c.result, rpc.Interceptors(rpc.LogCalls(clientLog), note))
		srv := &rpc.Server{
			Processor:    echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(backend)),
			Interceptors: []rpc.Interceptor{rpc.LogCalls(serverLog), note},
		}
		caller := rpctest.Serve(t, srv)
		for _, method := range []string{"ping", "fail"} {
			served.reset()
			called.reset()
			got, err := dynamic.CallRaw(bg, caller, method, []byte{0})
			if err != nil || string(got) != c.result {
				t.Errorf("%s, %s: %.100q, %v", c.name, method, got, err)
			}
			for side, q := range map[string]*quiet{"server": served, "client": called} {
				want := "level=INFO"
				if c.field != "" {
					want = "level=ERROR"
				}
				settles(t, "the call is logged", func() bool { return q.String() != "" })
				if log := q.String(); !strings.HasPrefix(log, want) || c.field != "" && !strings.Contains(log, c.field) {
					t.Errorf("%s, %s, %s: %.300s", c.name, method, side, log)
				}
			}
		}
	}
}

// TestVoidCallsAllocate: looking for unknown exceptions costs void calls nothing.
func TestVoidCallsAllocate(t *testing.T) {
	m := (&rpc.Method{Service: "S", Name: "m", Args: echo.NewBasePingArgs().ThriftDesc(), Result: echo.NewBasePingResult().ThriftDesc()})
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Lazy}} {
		result, err := echo.ParseBasePingResult([]byte{0}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() {
			if err := m.Outcome(nocopy.Struct(result)); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// TestExceptionOfAnotherType: as with Apache's library, a declared exception's field with another
// wire type is skipped. It is no exception of a method that returns nothing.
func TestExceptionOfAnotherType(t *testing.T) {
	t.Parallel()
	e := echo.NewEchoClient(newerBackend(t, "\x08\x00\x01\x00\x00\x00\x05\x00"))
	if _, err := e.Fail(bg, nil); err != nil {
		t.Error(err)
	}
	if _, err := e.Put(bg, func(args echo.EchoPutArgs) { args.SetMode("x") }); !missingResult(err, "Echo.put") {
		t.Error(err)
	}
}
