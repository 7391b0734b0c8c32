package dynamic_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

const kvFile = "../../../examples/kv/kvstore.thrift"

func serve(t testing.TB, srv *rpc.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-done })
	return l.Addr().String()
}

func dial(t testing.TB, addr string, opts ...rpc.Option) *rpc.Client {
	t.Helper()
	c, err := rpc.Dial(t.Context(), "tcp", addr, append([]rpc.Option{rpc.DialTimeout(time.Minute)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func mustService(t testing.TB, s *dynamic.Schema, name string) dynamic.Service {
	t.Helper()
	sv, err := s.Service(name)
	if err != nil {
		t.Fatal(err)
	}
	return sv
}

// store handles the calls of KeyValue, with generated types.
type store struct{ data map[string][]byte }

func (s *store) Create(ctx context.Context, args kv.KeyValueCreateArgs, r kv.KeyValueCreateResult) error {
	if _, ok := s.data[string(args.GetKey())]; ok {
		return kv.NewAlreadyExists()
	}
	s.data[string(args.GetKey())] = []byte(string(args.GetValue()))
	return nil
}

func (s *store) Retrieve(ctx context.Context, args kv.KeyValueRetrieveArgs, r kv.KeyValueRetrieveResult) error {
	v, ok := s.data[string(args.GetKey())]
	if !ok {
		return kv.NewNotFound()
	}
	r.SetSuccess(v)
	return nil
}

func (s *store) Update(ctx context.Context, args kv.KeyValueUpdateArgs, r kv.KeyValueUpdateResult) error {
	return errors.New("no updates today")
}

func (s *store) Delete(ctx context.Context, args kv.KeyValueDeleteArgs, r kv.KeyValueDeleteResult) error {
	panic("deleted")
}

// handlers returns handlers for the same calls, without generated types.
func handlers(t testing.TB, schema *dynamic.Schema) map[string]dynamic.Handler {
	data := map[string][]byte{}
	key := func(c *dynamic.Call) string { v, _ := c.Args.Get("key"); return v.Text() }
	return map[string]dynamic.Handler{
		"create": func(ctx context.Context, c *dynamic.Call) error {
			if _, ok := data[key(c)]; ok {
				return dynamic.Exception{Message: mustStruct(t, schema, "AlreadyExists").New()}
			}
			v, _ := c.Args.Get("value")
			data[strings.Clone(key(c))] = []byte(v.Text())
			return nil
		},
		"retrieve": func(ctx context.Context, c *dynamic.Call) error {
			v, ok := data[key(c)]
			if !ok {
				return errors.Join(errors.New("missing"), dynamic.Exception{Message: mustStruct(t, schema, "NotFound").New()})
			}
			return c.Return(v)
		},
		"update": func(ctx context.Context, c *dynamic.Call) error { return errors.New("no updates today") },
		"delete": func(ctx context.Context, c *dynamic.Call) error { panic("deleted") },
	}
}

// outcomes makes calls without generated types and returns their outcomes.
func outcomes(t testing.TB, c dynamic.Client) (all []string) {
	call := func(method string, set map[string]any) {
		args, err := c.NewArgs(method)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range set {
			if err := args.Set(name, v); err != nil {
				t.Fatal(err)
			}
		}
		result, err := c.Call(t.Context(), method, args)
		var e dynamic.Exception
		var app *rpc.ApplicationException
		switch {
		case errors.As(err, &e):
			all = append(all, method+" throws "+e.Error())
		case errors.As(err, &app):
			text, _, _ := strings.Cut(app.Error(), " under id")
			all = append(all, method+" fails: "+text)
		case err != nil:
			t.Fatal(err)
		default:
			all = append(all, method+" returns "+result.String())
			result.Release()
		}
	}
	call("retrieve", map[string]any{"key": []byte("k")})
	call("create", map[string]any{"key": []byte("k"), "value": "v1"})
	call("create", map[string]any{"key": []byte("k"), "value": strings.Repeat("v", 3)})
	call("retrieve", map[string]any{"key": "k"})
	call("update", nil)
	call("delete", nil)
	return all
}

var wantOutcomes = []string{
	"retrieve throws NotFound{}", "create returns {}", "create throws AlreadyExists{}", "retrieve returns {success: 0x7631}",
	"update fails: rpc: internal error: no updates today", "delete fails: rpc: internal error: the server has failed; its log tells why",
}

// TestCalls: clients and servers without generated code call each other and generated ones,
// directly and through a proxy without an IDL.
func TestCalls(t *testing.T) {
	schema := mustLoad(t, kvFile)
	sv := mustService(t, schema, "KeyValue")
	generated := func() *rpc.Processor { return kv.NewKeyValueProcessor(&store{map[string][]byte{}}) }
	dyn := func() *rpc.Processor {
		p, err := sv.ProcessorOf(handlers(t, schema))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := func() *rpc.Processor {
		all := handlers(t, schema)
		return sv.Processor(func(ctx context.Context, c *dynamic.Call) error { return all[c.Method.Name()](ctx, c) })
	}
	for name, processor := range map[string]func() *rpc.Processor{"generated": generated, "dynamic": dyn, "one handler": one} {
		for _, recycle := range []bool{false, true} {
			backend := serve(t, &rpc.Server{Processor: processor(), Recycle: recycle})
			var opts []rpc.Option
			if recycle {
				opts = append(opts, rpc.Recycle, rpc.Unframed)
			}
			if diff := cmp.Diff(wantOutcomes, outcomes(t, sv.Client(dial(t, backend, opts...)))); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			backend = serve(t, &rpc.Server{Processor: processor(), Recycle: recycle})
			proxy := serve(t, &rpc.Server{Processor: rpc.NewProcessor("", nil).WithFallback(dynamic.Forward(dial(t, backend, opts...))), Recycle: recycle})
			if diff := cmp.Diff(wantOutcomes, outcomes(t, sv.Client(dial(t, proxy, opts...)))); diff != "" {
				t.Errorf("%s through a proxy: %s", name, diff)
			}
			// One of several services, through a proxy for all of them
			backend = serve(t, &rpc.Server{Processor: rpc.Multiplexed(map[string]*rpc.Processor{"kv": processor()})})
			proxy = serve(t, &rpc.Server{Processor: rpc.NewProcessor("", nil).WithFallback(dynamic.Forward(dial(t, backend)))})
			if diff := cmp.Diff(wantOutcomes, outcomes(t, sv.Client(rpc.MultiplexedCaller(dial(t, proxy), "kv")))); diff != "" {
				t.Errorf("%s multiplexed: %s", name, diff)
			}
			var app *rpc.ApplicationException
			args, _ := sv.Client(dial(t, proxy)).NewArgs("create")
			if _, err := sv.Client(rpc.MultiplexedCaller(dial(t, proxy), "other")).Call(t.Context(), "create", args); !errors.As(err, &app) || app.Type != rpc.UnknownMethod {
				t.Errorf("a service that there is not: %v", err)
			}
		}
	}
	// A generated client calls a dynamic server
	c := kv.NewKeyValueClient(dial(t, serve(t, &rpc.Server{Processor: dyn()})))
	_, err := c.Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("k")) })
	if e := (kv.NotFound{}); !errors.As(err, &e) {
		t.Errorf("%v", err)
	}
	if _, err := c.Create(t.Context(), func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("k")); args.SetValue([]byte("v")) }); err != nil {
		t.Error(err)
	}
	r, err := c.Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("k")) })
	if err != nil || string(r.GetSuccess()) != "v" {
		t.Errorf("%v, %v", r, err)
	}
}

const services = `
exception Denied { 1: string why }
exception Other { 1: i32 code }
struct P { 1: i32 x, 2: list<map<string, P>> more }
service Base { i32 count(1: P p) throws (2: Denied d, 1: Other o), oneway void tell(1: string v) }
service S extends Base { P echo(1: P p, 2: i32 times = 3), void nothing() throws (1: Denied d) }
`

// TestServices: inherited methods, defaults, oneway calls, several exceptions, deadlines.
func TestServices(t *testing.T) {
	schema := text(t, services)
	sv := mustService(t, schema, "S")
	if base, ok := sv.Base(); !ok || base.Name() != "Base" {
		t.Error(base, ok)
	}
	told := make(chan string, 1)
	stuck := make(chan struct{})
	addr := serve(t, &rpc.Server{Processor: sv.Processor(func(ctx context.Context, c *dynamic.Call) error {
		switch c.Method.Name() {
		case "tell":
			if c.Return(1) == nil || c.Result.Valid() {
				t.Error("a oneway call returns something")
			}
			v, _ := c.Args.Get("v")
			told <- strings.Clone(v.Text())
			return nil
		case "count":
			p, _ := c.Args.Lookup("p.x")
			switch p.Int() {
			case 1:
				m := mustStruct(t, schema, "Denied").New()
				m.Set("why", "one")
				return dynamic.Exception{Message: m}
			case 2:
				e, _ := c.Result.New("o")
				return e.Message().Set("code", 7)
			case 3:
				return dynamic.Exception{Message: mustStruct(t, schema, "P").New()} // undeclared
			case 4:
				return nil // returns nothing
			case 5:
				return c.Return("five")
			case 6:
				return dynamic.Exception{}
			case 7:
				<-stuck
			}
			return c.Return(p.Int())
		case "echo":
			times, _ := c.Args.Get("times")
			p, _ := c.Args.Get("p")
			if err := c.Return(p); err != nil {
				return err
			}
			r, _ := c.Result.Get("success")
			return r.Message().Set("x", times.Int())
		}
		return nil
	})})
	defer close(stuck)
	client := sv.Client(dial(t, addr))
	call := func(ctx context.Context, method string, fields map[string]any) (dynamic.Message, error) {
		args, err := client.NewArgs(method)
		if err != nil {
			t.Fatal(err)
		}
		made, err := dynamic.TypeOf(args).FromMap(fields)
		if err != nil {
			t.Fatal(err)
		}
		return client.Call(ctx, method, made)
	}
	type m = map[string]any
	r, err := call(t.Context(), "echo", m{"p": m{"x": 1, "more": []any{m{"k": m{"x": 2}}}}})
	if err != nil || r.String() != `{success: {x: 3, more: [{"k": {x: 2}}]}}` {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := call(t.Context(), "tell", m{"v": "hello"}); err != nil || <-told != "hello" {
		t.Error(err)
	}
	for x, want := range map[int]string{
		0: "", 1: `{why: "one"}`, 2: "{code: 7}", 3: "rpc: internal error: {x: 0}", 4: "rpc: missing result: S.count", 5: "string instead of i32",
		6: "<none>",
	} {
		_, err := call(t.Context(), "count", m{"p": m{"x": x}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d: %v, not %s", x, err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := call(ctx, "count", m{"p": m{"x": 7}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := client.NewArgs("none"); !errors.Is(err, descriptor.ErrNotFound) {
		t.Error(err)
	}
	args, _ := client.NewArgs("echo")
	for name, args := range map[string]dynamic.Message{"zero": {}, "of another method": args} {
		if _, err := client.Call(t.Context(), "count", args); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := client.Call(t.Context(), "none", args); !errors.Is(err, descriptor.ErrNotFound) {
		t.Error(err)
	}
	if _, err := sv.ProcessorOf(map[string]dynamic.Handler{"none": func(context.Context, *dynamic.Call) error { return nil }}); !errors.Is(err, descriptor.ErrNotFound) {
		t.Error(err)
	}
	if _, err := sv.ProcessorOf(map[string]dynamic.Handler{"tell": nil}); err == nil {
		t.Error("a nil Handler is no error")
	}
}

// TestRaw: calls of methods that are known only by name.
func TestRaw(t *testing.T) {
	schema := text(t, services)
	sv := mustService(t, schema, "S")
	told := make(chan string, 1)
	c := dial(t, serve(t, &rpc.Server{Processor: sv.Processor(func(ctx context.Context, c *dynamic.Call) error {
		if c.Method.Oneway() {
			v, _ := c.Args.Get("v")
			told <- strings.Clone(v.Text())
			return nil
		}
		return c.Return(map[string]any{"count": 5}[c.Method.Name()])
	})}))
	result, err := dynamic.CallRaw(t.Context(), c, "count", []byte{0})
	if want := "\x08\x00\x00\x00\x00\x00\x05\x00"; err != nil || string(result) != want {
		t.Errorf("%x, %v", result, err)
	}
	if err := dynamic.CallRawOneway(t.Context(), c, "tell", []byte("\x0b\x00\x01\x00\x00\x00\x02hi\x00")); err != nil || <-told != "hi" {
		t.Error(err)
	}
	for name, args := range map[string]string{"empty": "", "truncated": "\x08\x00\x01", "trailing": "\x00\x00", "type": "\x01\x00\x01\x00"} {
		var bad *nocopy.Error
		if _, err := dynamic.CallRaw(t.Context(), c, "count", []byte(args)); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var app *rpc.ApplicationException
	if _, err := dynamic.CallRaw(t.Context(), c, "none", []byte{0}); !errors.As(err, &app) || app.Type != rpc.UnknownMethod {
		t.Error(err)
	}
}

// TestManyExceptions: results with many fields, which have other index layouts.
func TestManyExceptions(t *testing.T) {
	for _, n := range []int{0, 12, 13, 56, 57, 70} {
		var idl strings.Builder
		idl.WriteString("exception Denied { 1: i32 code }\nservice S { i32 f(1: i32 x)")
		for i := range n {
			fmt.Fprintf(&idl, "%s%d: Denied e%d", []string{" throws (", ", "}[min(i, 1)], i+1, i+1)
		}
		if n > 0 {
			idl.WriteString(")")
		}
		schema, err := dynamic.LoadText(map[string]string{"many.thrift": idl.String() + " }"})
		if err != nil {
			t.Fatal(err)
		}
		sv := mustService(t, schema, "S")
		p := sv.Processor(func(ctx context.Context, c *dynamic.Call) error {
			x, _ := c.Args.Get("x")
			switch {
			case x.Int() == 1:
				return c.Return(x)
			case x.Int() == 2 && n > 0:
				return dynamic.Exception{Message: mustStruct(t, schema, "Denied").New()}
			}
			return nil // without a return value
		})
		c := sv.Client(dial(t, serve(t, &rpc.Server{Processor: p})))
		for x := range 3 {
			args, err := c.NewArgs("f")
			if err != nil {
				t.Fatal(err)
			}
			if err := args.Set("x", x); err != nil {
				t.Fatal(err)
			}
			result, err := c.Call(t.Context(), "f", args)
			var e dynamic.Exception
			var app *rpc.ApplicationException
			switch {
			case x == 1:
				if err != nil || result.String() != "{success: 1}" {
					t.Errorf("%d exceptions: %v, %v", n, result, err)
				}
			case x == 2 && n > 0:
				if !errors.As(err, &e) {
					t.Errorf("%d exceptions: %v, %v, not one of them", n, result, err)
				}
			default:
				if !errors.As(err, &app) || app.Type != rpc.MissingResult {
					t.Errorf("%d exceptions: %v, %v, not a missing result", n, result, err)
				}
			}
		}
	}
}
