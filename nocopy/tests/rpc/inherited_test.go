package rpc_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestInherited: a method that a service inherits is one of the service that is called, for
// interceptors on both sides, in errors, and with any Caller between. It is always the same
// Method.
func TestInherited(t *testing.T) {
	t.Parallel()
	var got []string
	methods := map[string]*rpc.Method{}
	note := func(side string) rpc.Interceptor {
		return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			got = append(got, side+" "+c.Method.String())
			if m := methods[side+c.Method.String()]; m != nil && m != c.Method && side == "client" {
				t.Errorf("%s: %s is another Method at each call", side, c.Method)
			}
			methods[side+c.Method.String()] = c.Method
			return next(ctx, c)
		}
	}
	h := &handler{notified: make(chan string, 1)}
	serve := func(p *rpc.Processor) rpc.Caller {
		return rpctest.Serve(t, &rpc.Server{Processor: p, Interceptors: []rpc.Interceptor{note("server")}}, rpc.Interceptors(note("client")))
	}
	derived, base := serve(echo.NewEchoProcessor(h)), serve(echo.NewBaseProcessor(h))
	multi := rpc.MultiplexedCaller(serve(rpc.Multiplexed(map[string]*rpc.Processor{"x": echo.NewEchoProcessor(h)})), "x")
	for _, c := range []struct {
		name string
		call func() error
		want string
	}{
		{"inherited", func() error { _, err := echo.NewEchoClient(derived).Ping(bg, nil); return err }, "client Echo.ping, server Echo.ping"},
		{"again", func() error { _, err := echo.NewEchoClient(derived).Ping(bg, nil); return err }, "client Echo.ping, server Echo.ping"},
		{"own", func() error { _, err := echo.NewEchoClient(derived).Add(bg, nil); return err }, "client Echo.add, server Echo.add"},
		{"its part", func() error { _, err := echo.NewEchoClient(derived).BaseClient.Version(bg, nil); return err }, "client Echo.version, server Echo.version"},
		{"the base's client", func() error { _, err := echo.NewBaseClient(derived).Ping(bg, nil); return err }, "client Base.ping, server Echo.ping"},
		{"the base", func() error { _, err := echo.NewBaseClient(base).Ping(bg, nil); return err }, "client Base.ping, server Base.ping"},
		{"multiplexed", func() error { _, err := echo.NewEchoClient(multi).Ping(bg, nil); return err }, "client x:Echo.ping, server Echo.ping"},
		{"the base after it", func() error { _, err := echo.NewBaseClient(base).Ping(bg, nil); return err }, "client Base.ping, server Base.ping"},
	} {
		got = nil
		if err := c.call(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
	lost := rpc.NewCaller(func(context.Context, *rpc.Method, []byte) ([]byte, error) { return nil, io.ErrClosedPipe })
	if _, err := echo.NewEchoClient(lost).Ping(bg, nil); err == nil || !strings.Contains(err.Error(), "Echo.ping") {
		t.Error(err)
	}
}

// stillCaller does nothing.
type stillCaller struct{}

func (stillCaller) NewArgs(*rpc.Method) (args nocopy.Struct) { return args }
func (stillCaller) Call(context.Context, *rpc.Method, nocopy.Struct) (result nocopy.Struct, err error) {
	return result, nil
}

// TestInheritedAllocations: calling an inherited method allocates no more than calling one's own.
func TestInheritedAllocations(t *testing.T) {
	c := echo.NewEchoClient(stillCaller{})
	if n := testing.AllocsPerRun(100, func() { c.Ping(bg, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestInheritedDynamic: the same with IDL that is loaded, over three services in two files.
func TestInheritedDynamic(t *testing.T) {
	t.Parallel()
	schema, err := dynamic.LoadText(map[string]string{
		"a.thrift": "service A { i64 one() }",
		"b.thrift": "include \"a.thrift\"\nservice B extends a.A { i64 two() }\nservice C extends B { i64 three() }",
	})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("C")
	if err != nil {
		t.Fatal(err)
	}
	q, log := callLog(slog.LevelInfo)
	srv := &rpc.Server{
		Processor:    service.Processor(func(_ context.Context, c *dynamic.Call) error { return c.Return(1) }),
		Interceptors: []rpc.Interceptor{rpc.LogCalls(log)},
	}
	c := service.Client(rpctest.Serve(t, srv, rpc.Interceptors(rpc.LogCalls(log))))
	for _, name := range []string{"one", "two", "three"} {
		q.reset()
		args, err := c.NewArgs(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Call(bg, name, args); err != nil {
			t.Error(err)
		}
		settles(t, "both sides log", func() bool { return strings.Count(q.String(), "\n") == 2 })
		if log := q.String(); strings.Count(log, "rpc: C."+name+": ok") != 2 {
			t.Errorf("%s: %s", name, log)
		}
	}
}

// TestStaleArgs: the panic of a handle that is used after its call, or of one that is absent,
// names the Go type.
func TestStaleArgs(t *testing.T) {
	for want, use := range map[string]func(){
		"nocopy: EchoPutArgs used after Release": func() {
			args := echo.NewEchoPutArgs()
			args.Release()
			args.GetMode()
		},
		"nocopy: BaseVersionResult used after Release": func() {
			result := echo.NewBaseVersionResult()
			result.Release()
			result.GetSuccess()
		},
		"nocopy: EchoPutArgs.item: setter called on an absent struct or container: use NewItem first": func() {
			args := echo.NewEchoPutArgs()
			defer args.Release()
			args.GetItem().SetName("")
		},
		"nocopy: NotFound used after Release": func() {
			e := echo.NewNotFound()
			e.Release()
			e.GetKey()
		},
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, want) {
					t.Errorf("%s, want %s", text, want)
				}
			}()
			use()
		}()
	}
}
