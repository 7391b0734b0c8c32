package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// callLog returns a logger of lines without times, durations and addresses.
func callLog(level slog.Level) (*quiet, *slog.Logger) {
	q := new(quiet)
	return q, slog.New(slog.NewTextHandler(q, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "took", "peer", "method":
			return slog.Attr{}
		}
		return a
	}}))
}

// TestLogCalls: the records of calls, on servers and on clients, by outcome.
func TestLogCalls(t *testing.T) {
	t.Parallel()
	for _, srv := range []*rpc.Server{{}, {Recycle: true}, {Lazy: true}} {
		served, serverLog := callLog(slog.LevelInfo)
		called, clientLog := callLog(slog.LevelInfo)
		var panics rpc.Interceptor = func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			if c.Method.Name == "version" {
				panic("no version")
			}
			return next(ctx, c)
		}
		srv.Interceptors = []rpc.Interceptor{rpc.LogCalls(serverLog), panics}
		srv.Logger = slog.New(slog.DiscardHandler)
		conn := dial(t, serve(t, srv, &handler{}), rpc.Interceptors(rpc.LogCalls(clientLog)))
		c := echo.NewEchoClient(conn)
		put := func(mode string) {
			c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("a"); args.SetMode(mode) })
		}
		ended, end := context.WithCancel(bg)
		end()
		for _, step := range []struct {
			call          func()
			server, calls string
		}{
			{func() { c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) }) },
				`level=INFO msg="rpc: Echo.add: ok" args.a=1 args.b=2 result.success=3`, ""},
			{func() { put("link") }, `level=INFO msg="rpc: Echo.put: ok" args.item.name=a args.mode=link result.success.name=a`, ""},
			{func() { put("missing, filled") },
				`level=WARN msg="rpc: Echo.put: NotFound" args.item.name=a args.mode="missing, filled" err.key=a err.code=0`, ""},
			{func() { put("missing, returned") },
				`level=WARN msg="rpc: Echo.put: NotFound" args.item.name=a args.mode="missing, returned" err.key=a err.code=404`, ""},
			{func() { put("undeclared") },
				`level=ERROR msg="rpc: Echo.put: failed" args.item.name=a args.mode=undeclared err="the disk is full"`,
				`level=ERROR msg="rpc: Echo.put: failed" args.item.name=a args.mode=undeclared err="rpc: internal error: the disk is full"`},
			{func() { c.Ping(bg, nil) }, `level=INFO msg="rpc: Echo.ping: ok" args=map[] result=map[]`, ""},
			{func() { c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("x") }) },
				`level=INFO msg="rpc: Echo.notify: ok" args.text=x args.delay_ms=0`, ""},
			{func() { c.Version(ended, nil) }, "", `level=WARN msg="rpc: Echo.version: canceled" args=map[] err="context canceled"`},
			{func() { c.Version(bg, nil) }, `level=ERROR msg="rpc: Echo.version: failed" args=map[] err=`, `level=ERROR msg="rpc: Echo.version: failed" args=map[] err=`},
		} {
			served.reset()
			called.reset()
			step.call()
			if step.calls == "" {
				step.calls = step.server
			}
			if step.server != "" {
				settles(t, "the server logs", func() bool { return served.String() != "" })
			}
			if got := served.String(); !strings.HasPrefix(got, step.server) || strings.Count(got, "\n") != min(len(step.server), 1) {
				t.Errorf("server: %q, want %q", got, step.server)
			}
			if got := called.String(); !strings.HasPrefix(strings.ReplaceAll(got, "rpc: Echo.version: ", ""), strings.ReplaceAll(step.calls, "rpc: Echo.version: ", "")) {
				t.Errorf("client: %q, want %q", got, step.calls)
			}
		}
		served.reset()
		c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 1<<20)) })
		settles(t, "the server logs", func() bool { return served.String() != "" })
		if n := len(served.String()); n > 2000 || n < 200 {
			t.Errorf("%d bytes of a call of 1 MiB", n)
		}
	}
}

// TestLogCallsRedacted: values that must not be in logs are not, of arguments, results and
// exceptions, nor where a program prints what a Call has.
func TestLogCallsRedacted(t *testing.T) {
	t.Parallel()
	schema, err := dynamic.LoadText(map[string]string{"login.thrift": `
		struct Token { 1: string name, 2: string secret (nocopy.redact) }
		exception Denied { 1: string why, 2: string hint (nocopy.redact) }
		service Login { Token login(1: string user, 2: string password (nocopy.redact)) throws (1: Denied denied) }`})
	if err != nil {
		t.Fatal(err)
	}
	login, err := schema.Service("Login")
	if err != nil {
		t.Fatal(err)
	}
	denied, _ := schema.Struct("Denied")
	token, _ := schema.Struct("Token")
	printed := new(quiet)
	look := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		fmt.Fprintln(printed, c.Args, c.Result)
		fmt.Fprintf(printed, "%v %+v %#v %s %q\n", c.Args, c.Args, c.Args, c.Result, c.Result)
		fmt.Fprintf(printed, "%v %+v %#v %s\n", rpc.AnyArgs(c), rpc.AnyArgs(c), rpc.AnyResult(c), rpc.AnyResult(c))
		slog.New(slog.NewJSONHandler(printed, nil)).Info("m", "args", rpc.AnyArgs(c), "a", c.Args, "result", rpc.AnyResult(c), "r", c.Result)
		return err
	}
	log := slog.New(slog.NewJSONHandler(printed, nil))
	srv := &rpc.Server{Interceptors: []rpc.Interceptor{rpc.LogCalls(log), look}, Processor: login.Processor(func(ctx context.Context, c *dynamic.Call) error {
		user, _ := c.Args.Get("user")
		if user.Text() == "eve" {
			e := denied.New()
			e.Set("why", "unknown")
			e.Set("hint", "hunter2")
			return dynamic.Exception{Message: e}
		}
		m, err := token.FromMap(map[string]any{"name": "t", "secret": "hunter2"})
		if err != nil {
			return err
		}
		return c.Return(m)
	})}
	client := login.Client(rpctest.Serve(t, srv, rpc.Interceptors(rpc.LogCalls(log), look)))
	for _, user := range []string{"ada", "eve"} {
		args, err := client.NewArgs("login")
		if err != nil {
			t.Fatal(err)
		}
		args.Set("user", user)
		args.Set("password", "hunter2")
		if _, err := client.Call(bg, "login", args); (err != nil) != (user == "eve") {
			t.Fatal(err)
		}
	}
	got := printed.String()
	if strings.Contains(got, "hunter2") || strings.Contains(got, "0xc0") {
		t.Errorf("secrets or pointers are printed:\n%s", got)
	}
	for _, want := range []string{`{user: "ada", password: <redacted>}`, "\n  user: \"ada\"", `login_args{user: "ada"`, `"args":{"user":"ada","password":"<redacted>"}`,
		`"err":{"why":"unknown","hint":"<redacted>"}`, `"result":{"success":{"name":"t","secret":"<redacted>"}}`, `"a":{"user":"ada"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestStructText: a handle without a type prints as its type does if it is the root of its
// message.
func TestStructText(t *testing.T) {
	args := echo.NewEchoPutArgs()
	args.NewItem().SetName("a")
	args.SetMode("m")
	root, inner := nocopy.Struct(args), nocopy.Struct(args.GetItem())
	for _, c := range []struct {
		of   nocopy.Struct
		want string
	}{{root, `{item: {name: "a"}, mode: "m"}`}, {inner, "<struct in put_args>"}, {nocopy.Struct{}, "<none>"}, {thriftimpl.Absent(), "{}"}, {nocopy.Struct(args.GetItem().Clone()), `{name: "a"}`}} {
		if got := fmt.Sprint(c.of); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if v := c.of.LogValue(); v.Kind() != slog.KindGroup && v.String() != c.want {
			t.Errorf("logged as %s, want %s", v, c.want)
		}
	}
	if got := fmt.Sprintf("%#v %#v", root, inner); got != `put_args{item: {name: "a"}, mode: "m"} <struct in put_args>` {
		t.Error(got)
	}
	root.Release()
	if got := fmt.Sprint(root); !strings.Contains(got, "nocopy: EchoPutArgs used after Release") {
		t.Error(got)
	}
}

// lateHandler keeps records, and asks for their values when it is told to.
type lateHandler struct {
	slog.Handler
	kept []slog.Record
}

func (h *lateHandler) Handle(_ context.Context, r slog.Record) error {
	h.kept = append(h.kept, r)
	return nil
}

// TestLogCallsRough: handlers of logs that panic, or ask for values too late; handlers of calls
// that are still running; interceptors that leave nothing or anything; no Logger.
func TestLogCallsRough(t *testing.T) {
	t.Parallel()
	q, text := callLog(slog.LevelInfo)
	late := &lateHandler{Handler: text.Handler()}
	h := &handler{waiting: make(chan struct{}, 1), release: make(chan struct{})}
	early := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name != "fail" {
			return next(ctx, c)
		}
		go next(ctx, c)
		<-h.waiting
		return errors.New("too slow\xff" + strings.Repeat("x", 5000))
	}
	srv := &rpc.Server{Interceptors: []rpc.Interceptor{
		rpc.LogCalls(slog.New(panickingHandler{text.Handler()})), rpc.LogCalls(slog.New(late)), rpc.LogCalls(text), early,
	}, Logger: slog.New(slog.DiscardHandler)}
	c := echo.NewEchoClient(dial(t, serve(t, srv, h)))
	if _, err := c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") }); err == nil {
		t.Error("no error")
	}
	close(h.release)
	if got := q.String(); !strings.Contains(got, `args="<still in use>" err="too slow`) || len(got) > 1400 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	echoes(t, c, "hello")
	for _, r := range late.kept {
		r.Attrs(func(a slog.Attr) bool {
			if v := a.Value.Resolve(); (a.Key == "args" || a.Key == "result") && v.String() != "<the call has ended>" && v.String() != "<still in use>" {
				t.Errorf("%s is %s after the call", a.Key, v)
			}
			return true
		})
	}
	odd := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		c.Method, c.Args, c.Result = nil, nocopy.Struct{}, c.Args
		return err
	}
	srv = &rpc.Server{Interceptors: []rpc.Interceptor{rpc.LogCalls(text), odd}, Logger: slog.New(slog.DiscardHandler)}
	c = echo.NewEchoClient(dial(t, serve(t, srv, h)))
	q.reset()
	c.Add(bg, nil)
	if got := q.String(); got != "level=INFO msg=\"rpc: ?: ok\"\n" {
		t.Error(got)
	}
	defer func() {
		if v := fmt.Sprint(recover()); v != "nocopy: rpc.LogCalls without a Logger" {
			t.Error(v)
		}
	}()
	rpc.LogCalls(nil)
}

// TestLogCallsSampled: SampleLogs counts each method and outcome by itself.
func TestLogCallsSampled(t *testing.T) {
	t.Parallel()
	q, text := callLog(slog.LevelInfo)
	sample := rpc.LogCalls(slog.New(rpc.SampleLogs(text.Handler(), 1)))
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, &handler{}), rpc.Interceptors(sample)))
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			c.Add(bg, nil)
			c.Ping(bg, nil)
			c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode([]string{"fill", "undeclared"}[i%2]) })
		})
	}
	all.Wait()
	for _, what := range []string{"Echo.add: ok", "Echo.ping: ok", "Echo.put: ok", "Echo.put: failed"} {
		if !strings.Contains(q.String(), `msg="rpc: `+what+`" args`) {
			t.Errorf("no %q in %s", what, q)
		}
	}
	settles(t, "what was dropped is told", func() bool { return strings.Count(q.String(), "dropped=") >= 4 })
	if n := strings.Count(q.String(), "\n"); n > 40 {
		t.Errorf("%d lines", n)
	}
}
