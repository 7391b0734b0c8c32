package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

const contextID = 8888

// mapOf returns the wire bytes of a map of strings with one pair.
func mapOf(key, value string) []byte {
	return bytes.Join([][]byte{{11, 11, 0, 0, 0, 1}, be32(len(key)), []byte(key), be32(len(value)), []byte(value)}, nil)
}

// fieldOf is the wire bytes of the field that setting mapOf(key, value) adds.
func fieldOf(key, value string) []byte {
	return append([]byte{13, contextID >> 8, contextID & 0xff}, mapOf(key, value)...)
}

// seen is an interceptor of a server that notes each call's arguments and the field in them.
type seen struct {
	mu   sync.Mutex
	args [][]byte
	vals []string
}

func (s *seen) intercept(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
	v, ok := c.Field(contextID)
	val := "none"
	if ok {
		val = string(v.Raw())
	}
	s.mu.Lock()
	s.args, s.vals = append(s.args, bytes.Clone(c.Args.Message().Bytes())), append(s.vals, val)
	s.mu.Unlock()
	return next(ctx, c)
}

func (s *seen) take() ([][]byte, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	args, vals := s.args, s.vals
	s.args, s.vals = nil, nil
	return args, vals
}

// TestSetField: a field that a client's interceptor sets is sent last in the arguments, and a
// server's interceptor sees it. The arguments themselves do not change, large or small.
func TestSetField(t *testing.T) {
	t.Parallel()
	for _, lazy := range []bool{false, true} {
		for name, opts := range tryOpts {
			t.Run(fmt.Sprintf("%s, lazy %t", name, lazy), func(t *testing.T) {
				var at seen
				addr := serve(t, &rpc.Server{Recycle: name == "recycling", Lazy: lazy, Interceptors: []rpc.Interceptor{at.intercept}}, &handler{})
				var own []byte
				cl := dial(t, addr, append(opts, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
					if !c.SetField(contextID, nocopy.WireMap, mapOf("k", "first")) || !c.SetField(7777, nocopy.WireBool, []byte{1}) {
						t.Error("not set")
					}
					if v, ok := c.Field(contextID); !ok || !bytes.Equal(v.Raw(), mapOf("k", "first")) {
						t.Errorf("set, and found %x", v.Raw())
					}
					c.SetField(contextID, nocopy.WireMap, mapOf("k", c.Method.Name)) // in place of the first
					c.RemoveField(7777)
					if v, ok := c.Field(7777); ok {
						t.Errorf("removed, and found %x", v.Raw())
					}
					if c.Method.Name == "echo" && (c.SetField(1, nocopy.WireBool, []byte{1}) || c.RemoveField(2)) {
						t.Error("a field of the IDL was set or removed")
					}
					own = bytes.Clone(c.Args.Message().Bytes())
					return next(ctx, c)
				}))...)
				c := echo.NewEchoClient(cl)
				for _, size := range []int{0, 10, 5000, 20_000, 300_000} {
					payload := []byte(strings.Repeat("p", size))
					res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload); args.SetDelayMs(0) })
					if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
						t.Fatalf("%d bytes: %v", size, err)
					}
					res.Release()
					args, vals := at.take()
					want := append(own[:len(own)-1:len(own)-1], append(fieldOf("k", "echo"), 0)...)
					if len(args) != 1 || !bytes.Equal(args[0], want) || vals[0] != string(mapOf("k", "echo")) {
						t.Fatalf("%d bytes: sent %d bytes, want %d; the server has seen %q", size, len(args[0]), len(want), vals)
					}
				}
				put, err := c.Put(bg, func(args echo.EchoPutArgs) {
					args.SetMode("link")
					args.NewItem().SetData(make([]byte, 50_000)) // referred to
				})
				if err != nil || len(put.GetSuccess().GetData()) != 50_000 {
					t.Fatal(err)
				}
				put.Release()
				if err := c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("t") }); err != nil {
					t.Fatal(err)
				}
				if _, err := c.Ping(bg, func(echo.BasePingArgs) {}); err != nil {
					t.Fatal(err)
				}
				var vals []string // a oneway call may be handled after the next one
				settles(t, "all calls were seen", func() bool {
					_, more := at.take()
					vals = append(vals, more...)
					return len(vals) == 3
				})
				for _, method := range []string{"put", "notify", "ping"} {
					if !slices.Contains(vals, string(mapOf("k", method))) {
						t.Errorf("%s is not among %q", method, vals)
					}
				}
				unused(t, cl)
			})
		}
	}
}

// TestSetFieldAtTheSameTime: tries at the same time send a value each of the same arguments, and
// one try after the other a new one.
func TestSetFieldAtTheSameTime(t *testing.T) {
	t.Parallel()
	var at seen
	addr := serve(t, &rpc.Server{Interceptors: []rpc.Interceptor{at.intercept}}, &handler{})
	const tries = 5
	several := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		copies := [tries]rpc.Call{}
		var all sync.WaitGroup
		var errs [tries]error
		for i := range copies {
			copies[i] = *c
			all.Go(func() { errs[i] = next(ctx, &copies[i]) })
		}
		all.Wait()
		c.Result = copies[0].Result
		return errors.Join(errs[:]...)
	}
	var mu sync.Mutex
	n := 0
	number := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		mu.Lock()
		n++
		i := n
		mu.Unlock()
		c.SetField(contextID, nocopy.WireMap, mapOf("try", fmt.Sprint(i)))
		return next(ctx, c)
	}
	twice := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if err := next(ctx, c); err != nil {
			return err
		}
		return next(ctx, c)
	}
	c := echo.NewEchoClient(dial(t, addr, rpc.Interceptors(several, twice, number)))
	for _, size := range []int{10, 100_000} {
		n = 0
		res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(bytes.Repeat([]byte("p"), size)) })
		if err != nil || len(res.GetSuccess()) != size {
			t.Fatal(err)
		}
		res.Release()
		args, vals := at.take()
		got := map[string]bool{}
		for i := range vals {
			if !bytes.HasSuffix(args[i], append([]byte(vals[i]), 0)) {
				t.Errorf("the field %q is not last", vals[i])
			}
			got[vals[i]] = true
		}
		for i := range 2 * tries {
			if !got[string(mapOf("try", fmt.Sprint(i+1)))] {
				t.Errorf("%d bytes: try %d is not among %q", size, i+1, vals)
			}
		}
	}
}

// TestForwardField: a proxy passes the field on, replaces it on the way out, or changes or removes
// it on the way in; methods known by name only, too.
func TestForwardField(t *testing.T) {
	t.Parallel()
	set := func(value string) rpc.Interceptor {
		return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			if value == "" {
				c.RemoveField(contextID)
			} else {
				c.SetField(contextID, nocopy.WireMap, mapOf("k", value))
			}
			return next(ctx, c)
		}
	}
	for _, unknown := range []bool{false, true} {
		for _, how := range []struct {
			name    string
			in, out []rpc.Interceptor
			want    string
		}{
			{"passed on", nil, nil, string(mapOf("k", "client"))},
			{"replaced on the way out", nil, []rpc.Interceptor{set("out")}, string(mapOf("k", "out"))},
			{"replaced on the way in", []rpc.Interceptor{set("in")}, nil, string(mapOf("k", "in"))},
			{"replaced twice", []rpc.Interceptor{set("in")}, []rpc.Interceptor{set("out")}, string(mapOf("k", "out"))},
			{"removed on the way in", []rpc.Interceptor{set("")}, nil, "none"},
			{"removed on the way out", nil, []rpc.Interceptor{set("")}, "none"},
			{"removed and set", []rpc.Interceptor{set("")}, []rpc.Interceptor{set("out")}, string(mapOf("k", "out"))},
		} {
			for name, opts := range tryOpts {
				t.Run(fmt.Sprintf("%s, %s, unknown methods %t", how.name, name, unknown), func(t *testing.T) {
					var at seen
					backend := serve(t, &rpc.Server{Interceptors: []rpc.Interceptor{at.intercept}}, &handler{})
					out := append(opts[:len(opts):len(opts)], rpc.Lazy)
					if how.out != nil {
						out = append(out, rpc.Interceptors(how.out...))
					}
					forward := rpc.Forward(dial(t, backend, out...))
					p := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(forward)
					if unknown {
						p = rpc.NewProcessor("none", nil).WithFallback(forward)
					}
					proxy := serve(t, &rpc.Server{Processor: p, Lazy: true, Recycle: name == "recycling", Interceptors: how.in}, nil)
					c := echo.NewEchoClient(dial(t, proxy, append(opts[:len(opts):len(opts)], rpc.Interceptors(set("client")))...))
					for _, size := range []int{10, 5000, 100_000} {
						res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(bytes.Repeat([]byte("p"), size)) })
						if err != nil || len(res.GetSuccess()) != size {
							t.Fatal(err)
						}
						res.Release()
						if args, vals := at.take(); len(vals) != 1 || vals[0] != how.want || bytes.Count(args[0], []byte{13, contextID >> 8, contextID & 0xff}) != min(1, len(how.want)/10) {
							t.Errorf("%d bytes: the back end has seen %q", size, vals)
						}
					}
				})
			}
		}
	}
}

// TestSetFieldBadBytes: bytes that are not one value of the type are a bad program.
func TestSetFieldBadBytes(t *testing.T) {
	addr := serve(t, &rpc.Server{}, &handler{})
	var c echo.EchoClient
	panics := 0
	bad := func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
		for _, wire := range [][]byte{nil, mapOf("k", "v")[:10], append(mapOf("k", "v"), 0)} {
			func() {
				defer func() {
					if v := recover(); v == "nocopy: rpc.Call.SetField: the bytes are no map" {
						panics++
					}
				}()
				call.SetField(contextID, nocopy.WireMap, wire)
			}()
		}
		return next(ctx, call)
	}
	c = echo.NewEchoClient(dial(t, addr, rpc.Interceptors(bad)))
	if _, err := c.Ping(bg, func(echo.BasePingArgs) {}); err != nil || panics != 3 {
		t.Errorf("%d panics, want 3; %v", panics, err)
	}
}

// TestSetFieldDropsIndex: an interceptor's arguments may carry an index of their bytes. When a
// field is set, they are sent without it: it would not fit the bytes that are sent.
func TestSetFieldDropsIndex(t *testing.T) {
	t.Parallel()
	var at seen
	addr := serve(t, &rpc.Server{Interceptors: []rpc.Interceptor{at.intercept}}, &handler{})
	for _, size := range []int{6000, 300_000} { // copied, linked
		own := echo.NewEchoPutArgs(nocopy.WithIndex)
		own.SetMode("link")
		numbers := own.NewItem().NewNumbers(size / 8)
		for i := range numbers.Len() {
			numbers.Set(i, int64(i))
		}
		own.Message().Finish()
		wire := own.Message().AppendTo(nil)
		if _, err := nocopy.Peek(wire, entry.IndexID); err != nil {
			t.Fatalf("there is no index: %v", err)
		}
		for _, opts := range [][]nocopy.Option{nil, {nocopy.Lazy}, {nocopy.RequireIndex}} {
			parsed, err := echo.ParseEchoPutArgs(wire, opts...)
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range []echo.EchoPutArgs{parsed, own} {
				cl := dial(t, addr, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
					c.Args = nocopy.Struct(args)
					c.SetField(contextID, nocopy.WireMap, mapOf("k", "v"))
					return next(ctx, c)
				}))
				res, err := echo.NewEchoClient(cl).Put(bg, func(echo.EchoPutArgs) {})
				if err != nil {
					t.Fatal(err)
				}
				if n := res.GetSuccess().GetNumbers().Len(); n != size/8 {
					t.Errorf("%d numbers came back", n)
				}
				res.Release()
				sent, vals := at.take()
				if len(sent) != 1 || len(vals) != 1 || vals[0] != string(mapOf("k", "v")) {
					t.Fatalf("%v: the server has seen %q", opts, vals)
				}
				if _, err := nocopy.Peek(sent[0], entry.IndexID); !errors.Is(err, nocopy.ErrNotFound) {
					t.Errorf("%d bytes, %v: sent with an index: %v", size, opts, err)
				}
				if got, err := echo.ParseEchoPutArgs(sent[0]); err != nil || !got.GetItem().Equal(args.GetItem()) {
					t.Errorf("%d bytes, %v: sent other arguments: %v", size, opts, err)
				}
			}
			parsed.Release()
		}
		own.Release()
	}
}
