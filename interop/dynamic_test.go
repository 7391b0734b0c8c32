// Calls without generated code, in both directions, with Apache Thrift's Go library on the other
// side. The IDL is Apache's ThriftTest.thrift, loaded at run time.

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nocopythrift/nocopythrift/interop"
	apache "github.com/nocopythrift/nocopythrift/interop/internal/apache/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// more is a service with methods that no server of these tests has.
const more = `
include "ThriftTest.thrift"
service More extends ThriftTest.ThriftTest {
  ThriftTest.Xtruct notThere(1: ThriftTest.Insanity thing) throws (1: ThriftTest.Xception err1)
  oneway void tellNobody(1: string thing)
}
`

// loadTest returns the services of ThriftTest.thrift.
func loadTest(t *testing.T) (s *dynamic.Schema, first, second, extended dynamic.Service) {
	t.Helper()
	idl, err := os.ReadFile(filepath.Join(apacheModule(t), "test", "ThriftTest.thrift"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err = dynamic.LoadText(map[string]string{"ThriftTest.thrift": string(idl), "more.thrift": more}); err != nil {
		t.Fatal(err)
	}
	for name, sv := range map[string]*dynamic.Service{"ThriftTest": &first, "SecondService": &second, "More": &extended} {
		if *sv, err = s.Service(name); err != nil {
			t.Fatal(err)
		}
	}
	return s, first, second, extended
}

// m are the fields of a struct.
type m = map[string]any

// dynamicCall is a call with what comes of it: what the method returns, or an exception's type and
// fields.
type dynamicCall struct {
	method string
	args   m
	want   any
	throws string
}

var (
	xtruct = m{"string_thing": "a\x00é\"", "byte_thing": int8(-1), "i32_thing": int32(math.MinInt32), "i64_thing": int64(math.MaxInt64)}
	insane = m{"userMap": map[any]any{int32(5): int64(-5), int32(77): int64(1) << 40}, "xtructs": []any{xtruct, m{"string_thing": "", "byte_thing": int8(0), "i32_thing": int32(0), "i64_thing": int64(0)}}}
)

// echo is a call that returns its argument.
func echo(method string, v any) dynamicCall { return dynamicCall{method, m{"thing": v}, v, ""} }

func dynamicCalls() []dynamicCall {
	long := map[any]any{}
	for i := range int32(3000) {
		long[i] = i * i
	}
	return []dynamicCall{
		{"testVoid", nil, nil, ""},
		echo("testString", "パイソン 𐍈\x00\"\\"), echo("testString", ""), echo("testString", strings.Repeat("x", 100_000)),
		echo("testBool", true), echo("testBool", false),
		echo("testByte", int8(math.MinInt8)), echo("testI32", int32(math.MaxInt32)), echo("testI64", int64(math.MinInt64)),
		echo("testDouble", math.Inf(-1)), echo("testDouble", math.SmallestNonzeroFloat64), echo("testDouble", math.NaN()),
		echo("testBinary", []byte{}), echo("testBinary", []byte{0, 0xff, 0x80, '"'}), echo("testBinary", make([]byte, 1<<20)),
		echo("testUuid", nocopy.UUID{0, 1, 2, 15: 255}),
		echo("testStruct", xtruct),
		echo("testNest", m{"byte_thing": int8(3), "struct_thing": xtruct, "i32_thing": int32(4)}),
		echo("testMap", map[any]any{}), echo("testMap", long),
		echo("testStringMap", m{"a": "b", "": "c", "ü": ""}),
		echo("testSet", []any{}), echo("testSet", []any{int32(1), int32(2), int32(42)}),
		echo("testList", []any{}), echo("testList", []any{int32(1), int32(1), int32(-2)}),
		echo("testEnum", int32(8)), echo("testEnum", int32(77)),
		echo("testTypedef", int64(math.MinInt64)),
		{"testMapMap", m{"hello": int32(1)}, mapMap, ""},
		{"testInsanity", m{"argument": insane}, map[any]any{
			int64(1): map[any]any{int32(2): insane, int32(3): insane},
			// Apache's writes containers that are not set as empty
			int64(2): map[any]any{int32(6): m{"userMap": map[any]any{}, "xtructs": []any{}}},
		}, ""},
		{"testMulti", m{"arg0": int8(42), "arg1": int32(4242), "arg2": int64(424242), "arg3": map[any]any{int16(1): "blah"}, "arg4": "EIGHT", "arg5": int64(24)},
			m{"string_thing": "Hello2", "byte_thing": int8(42), "i32_thing": int32(4242), "i64_thing": int64(424242)}, ""},
		{"testException", m{"arg": "success"}, nil, ""},
		{"testException", m{"arg": "Xception"}, m{"errorCode": int32(1001), "message": "Xception"}, "Xception"},
		{"testException", m{"arg": "TException"}, nil, "internal error"},
		{"testMultiException", m{"arg0": "success", "arg1": "foobar"},
			m{"string_thing": "foobar", "byte_thing": int8(0), "i32_thing": int32(0), "i64_thing": int64(0)}, ""},
		{"testMultiException", m{"arg0": "Xception", "arg1": ""}, m{"errorCode": int32(1001), "message": "This is an Xception"}, "Xception"},
		{"testMultiException", m{"arg0": "Xception2", "arg1": ""}, m{"errorCode": int32(2002), "struct_thing": m{
			"string_thing": "This is an Xception2", "byte_thing": int8(0), "i32_thing": int32(0), "i64_thing": int64(0)}}, "Xception2"},
		{"testOneway", m{"secondsToSleep": int32(0)}, nil, ""},
		{"notThere", m{"thing": insane}, nil, "unknown method"},
		{"tellNobody", m{"thing": "hello"}, nil, ""},
		{"testVoid", nil, nil, ""},
		echo("testI32", int32(7)), // the connection has survived
	}
}

var mapMap = map[any]any{
	int32(-4): map[any]any{int32(-4): int32(-4), int32(-3): int32(-3), int32(-2): int32(-2), int32(-1): int32(-1)},
	int32(4):  map[any]any{int32(4): int32(4), int32(3): int32(3), int32(2): int32(2), int32(1): int32(1)},
}

// callDynamically makes a call and compares what comes of it.
func callDynamically(t *testing.T, c dynamic.Client, call dynamicCall) {
	t.Helper()
	args, err := c.NewArgs(call.method)
	if err != nil {
		t.Fatal(err)
	}
	if args, err = dynamic.TypeOf(args).FromMap(call.args); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	result, err := c.Call(ctx, call.method, args)
	var e dynamic.Exception
	var app *rpc.ApplicationException
	got, threw := any(nil), ""
	switch {
	case errors.As(err, &e):
		got, threw = dynamic.ToMap(e), e.Descriptor().Name()
	case errors.As(err, &app):
		threw = map[rpc.ExceptionType]string{rpc.InternalError: "internal error", rpc.UnknownMethod: "unknown method"}[app.Type]
	case err != nil:
		t.Errorf("%s: %v", call.method, err)
	case result.Has("success"):
		got = dynamic.ToMap(result)["success"]
	}
	if list, ok := got.([]any); ok && call.method == "testSet" { // comes back in any order
		slices.SortFunc(list, func(a, b any) int { return int(a.(int32)) - int(b.(int32)) })
	}
	diff := ""
	if !reflect.DeepEqual(call.want, got) { // much faster than cmp
		diff = cmp.Diff(call.want, got, cmpopts.EquateNaNs())
	}
	if diff != "" || threw != call.throws {
		t.Errorf("%s threw %q, want %q; %.1000s", call.method, threw, call.throws, diff)
	}
	result.Release()
}

// caller returns what calls the service with a name on a server.
func caller(t *testing.T, port, transport, protocol, service string, opts ...rpc.Option) rpc.Caller {
	t.Helper()
	c, err := interop.Dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port), transport, protocol, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if interop.Multiplexed(protocol) {
		return rpc.MultiplexedCaller(c, service)
	}
	return c
}

// serveDynamic starts a server of ours and returns its port. It ends with the test.
func serveDynamic(t *testing.T, srv *rpc.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-done })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// TestDynamicClientAgainstApache: a client without generated code calls all methods of Apache's
// server, and methods that it does not have.
func TestDynamicClientAgainstApache(t *testing.T) {
	t.Parallel()
	_, first, second, extended := loadTest(t)
	called := map[string]bool{}
	for _, c := range dynamicCalls() {
		called[c.method] = true
	}
	for method := range first.AllMethods() {
		if !called[method.Name()] {
			t.Errorf("%s is not called", method.Name())
		}
	}
	matrix(t, func(t *testing.T, transport, protocol string) {
		port := startApache(t, transport, protocol, apacheHandler{})
		for _, opts := range [][]rpc.Option{nil, {rpc.Recycle}} {
			c := extended.Client(caller(t, port, transport, protocol, "ThriftTest", opts...))
			for _, call := range dynamicCalls() {
				callDynamically(t, c, call)
			}
		}
		secondWant := dynamicCall{"secondtestString", m{"thing": "x"}, `testString("x")`, ""}
		if !interop.Multiplexed(protocol) {
			secondWant.want, secondWant.throws = nil, "unknown method"
		}
		callDynamically(t, second.Client(caller(t, port, transport, protocol, "SecondService")), secondWant)
	})
}

// dynamicHandlers are handlers of all methods of ThriftTest, without generated code.
func dynamicHandlers(t *testing.T, s *dynamic.Schema, sv dynamic.Service) map[string]dynamic.Handler {
	t.Helper()
	all := map[string]dynamic.Handler{}
	for method := range sv.AllMethods() {
		all[method.Name()] = func(_ context.Context, c *dynamic.Call) error {
			v, err := c.Args.GetID(1)
			if err != nil {
				return err
			}
			return c.Return(v)
		}
	}
	exception := func(name string, fields m) error {
		typ, err := s.Struct(name)
		if err != nil {
			return err
		}
		e, err := typ.FromMap(fields)
		if err != nil {
			return err
		}
		return fmt.Errorf("it is declared: %w", dynamic.Exception{Message: e})
	}
	returns := func(c *dynamic.Call, v any) error {
		made, err := dynamic.TypeOf(c.Result).FromMap(m{"success": v})
		if err != nil {
			return err
		}
		success, err := made.Get("success")
		if err != nil {
			return err
		}
		return c.Return(success)
	}
	text := func(c *dynamic.Call, name string) string {
		v, err := c.Args.Get(name)
		if err != nil {
			return err.Error()
		}
		return v.Text()
	}
	all["testVoid"] = func(context.Context, *dynamic.Call) error { return nil }
	all["testOneway"] = func(_ context.Context, c *dynamic.Call) error {
		v, err := c.Args.Get("secondsToSleep")
		time.Sleep(time.Duration(v.Int()) * time.Second)
		return err
	}
	all["testMapMap"] = func(_ context.Context, c *dynamic.Call) error { return returns(c, mapMap) }
	all["testInsanity"] = func(_ context.Context, c *dynamic.Call) error {
		v, err := c.Args.Get("argument")
		if err != nil {
			return err
		}
		crazy := dynamic.ToMap(v.Message())
		return returns(c, map[int64]any{1: map[int32]any{2: crazy, 3: crazy}, 2: map[int32]any{6: m{"userMap": m{}, "xtructs": []any{}}}})
	}
	all["testMulti"] = func(_ context.Context, c *dynamic.Call) error {
		v := [3]reflection.Value{}
		for i := range v {
			v[i], _ = c.Args.GetID(int16(i + 1))
		}
		return returns(c, m{"string_thing": "Hello2", "byte_thing": v[0], "i32_thing": v[1], "i64_thing": v[2]})
	}
	all["testException"] = func(_ context.Context, c *dynamic.Call) error {
		switch arg := text(c, "arg"); arg {
		case "Xception":
			return exception("Xception", m{"errorCode": 1001, "message": arg})
		case "TException":
			return errors.New("Just TException")
		}
		return nil
	}
	all["testMultiException"] = func(_ context.Context, c *dynamic.Call) error {
		switch text(c, "arg0") {
		case "Xception":
			return exception("Xception", m{"errorCode": 1001, "message": "This is an Xception"})
		case "Xception2": // set in the result
			e, err := c.Result.New("err2")
			if err != nil {
				return err
			}
			if err := e.Message().Set("errorCode", 2002); err != nil {
				return err
			}
			thing, err := e.Message().New("struct_thing")
			if err != nil {
				return err
			}
			return thing.Message().Set("string_thing", "This is an Xception2")
		}
		return returns(c, m{"string_thing": text(c, "arg1")})
	}
	return all
}

// dynamicProcessor returns a processor without generated code, for one service or both, and of the
// first without one method.
func dynamicProcessor(t *testing.T, s *dynamic.Schema, first, second dynamic.Service, protocol, without string) *rpc.Processor {
	t.Helper()
	handlers := dynamicHandlers(t, s, first)
	delete(handlers, without)
	p, err := first.ProcessorOf(handlers)
	if err != nil {
		t.Fatal(err)
	}
	if interop.Multiplexed(protocol) {
		return rpc.Multiplexed(map[string]*rpc.Processor{interop.FirstName: p, interop.SecondName: second.Processor(func(_ context.Context, c *dynamic.Call) error {
			v, err := c.Args.Get("thing")
			if err != nil {
				return err
			}
			return c.Return(fmt.Sprintf("testString(%q)", v.Text()))
		})})
	}
	return p
}

// TestApacheAgainstDynamicServer: Apache's client calls all methods of a server without generated
// code, and one that it does not have; also through a proxy.
func TestApacheAgainstDynamicServer(t *testing.T) {
	t.Parallel()
	s, first, second, _ := loadTest(t)
	matrix(t, func(t *testing.T, transport, protocol string) {
		for _, recycle := range []bool{false, true} {
			port := serveDynamic(t, &rpc.Server{Processor: dynamicProcessor(t, s, first, second, protocol, ""), Recycle: recycle})
			dialApache(t, port, transport, protocol).callEverything()

			to := caller(t, port, transport, protocol, interop.FirstName)
			p := first.Proxy(to)
			if interop.Multiplexed(protocol) {
				p = rpc.Multiplexed(map[string]*rpc.Processor{
					interop.FirstName:  p,
					interop.SecondName: second.Proxy(caller(t, port, transport, protocol, interop.SecondName)),
				})
			}
			proxy := serveDynamic(t, &rpc.Server{Processor: p, Recycle: recycle})
			dialApache(t, proxy, transport, protocol).callEverything()
		}

		port := serveDynamic(t, &rpc.Server{Processor: dynamicProcessor(t, s, first, second, protocol, "testStruct")})
		c := dialApache(t, port, transport, protocol)
		unknown := func(err error) {
			t.Helper()
			var app thrift.TApplicationException
			if !errors.As(err, &app) || app.TypeId() != thrift.UNKNOWN_METHOD {
				t.Errorf("%v instead of an unknown method", err)
			}
		}
		_, err := c.first.TestStruct(t.Context(), &apache.Xtruct{StringThing: strings.Repeat("x", 10_000)})
		unknown(err)
		if !interop.Multiplexed(protocol) {
			_, err := apache.NewSecondServiceClient(c.first.Client_()).SecondtestString(t.Context(), "x")
			unknown(err)
		}
		if got, err := c.first.TestI32(t.Context(), 5); got != 5 || err != nil {
			t.Errorf("after an unknown method: %d, %v", got, err)
		}
	})
}

// TestDynamicClientAgainstDynamicServer: both sides without generated code do as Apache's do.
func TestDynamicClientAgainstDynamicServer(t *testing.T) {
	t.Parallel()
	s, first, second, extended := loadTest(t)
	matrix(t, func(t *testing.T, transport, protocol string) {
		port := serveDynamic(t, &rpc.Server{Processor: dynamicProcessor(t, s, first, second, protocol, "")})
		c := extended.Client(caller(t, port, transport, protocol, "ThriftTest"))
		for _, call := range dynamicCalls() {
			callDynamically(t, c, call)
		}
	})
}
