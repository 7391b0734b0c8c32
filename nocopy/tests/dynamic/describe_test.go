package dynamic_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// dialDescribing starts a server and returns a client for it. Both end with the test.
func dialDescribing(t *testing.T, srv *rpc.Server, opts ...rpc.Option) *rpc.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-served })
	cl, err := rpc.Dial(t.Context(), "tcp", l.Addr().String(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	return cl
}

// processorOf returns a Processor for a service, with its IDL.
func processorOf(t *testing.T, service string, files ...rpc.IDLFile) *rpc.Processor {
	t.Helper()
	texts := map[string]string{}
	for _, f := range files {
		texts[f.Path] = f.Text
	}
	s, err := dynamic.LoadText(texts)
	if err != nil {
		t.Fatal(err)
	}
	of, err := s.Service(service)
	if err != nil {
		t.Fatal(err)
	}
	return of.Processor(func(_ context.Context, c *dynamic.Call) error { return c.Return(7) }).WithIDL(service, files...)
}

// TestDescribe: a server with Describe returns the IDL of its services on every wire, and
// interceptors and fallbacks don't notice. Calls by what it says succeed.
func TestDescribe(t *testing.T) {
	base := rpc.IDLFile{Path: "in/base.thrift", Text: "struct P { 1: i32 x }"}
	store := rpc.IDLFile{Path: "store.thrift", Text: `include "in/base.thrift" service Store { i32 get(1: base.P p) }`}
	other := rpc.IDLFile{Path: "other.thrift", Text: `include "in/base.thrift" service Other { i32 get(1: base.P p) }`}
	noticed := 0
	fallback := func(context.Context, *rpc.Call) error { noticed++; return nil }
	for name, p := range map[string]*rpc.Processor{
		"one":         processorOf(t, "Store", store, base).WithFallback(fallback),
		"multiplexed": rpc.Multiplexed(map[string]*rpc.Processor{"st": processorOf(t, "Store", store, base), "ot": processorOf(t, "Other", other, base)}),
	} {
		for wire, opts := range map[string][]rpc.Option{
			"framed": nil, "unframed": {rpc.Unframed}, "compact": {rpc.Protocol(rpc.Compact)}, "theader": {rpc.THeader(rpc.Zlib)},
		} {
			cl := dialDescribing(t, &rpc.Server{Processor: p, Describe: true, Interceptors: []rpc.Interceptor{
				func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { noticed++; return next(ctx, c) },
			}}, opts...)
			s, err := dynamic.Describe(t.Context(), cl)
			if err != nil {
				t.Errorf("%s, %s: %v", name, wire, err)
				continue
			}
			if _, err := s.Struct("base.P"); err != nil {
				t.Errorf("%s, %s: %v", name, wire, err)
			}
			d, err := dynamic.ReadDescription(t.Context(), cl)
			want := []dynamic.ServiceName{{Service: "store.Store"}}
			if name == "multiplexed" {
				want = []dynamic.ServiceName{{Name: "ot", Service: "other.Other"}, {Name: "st", Service: "store.Store"}}
			}
			if err != nil || !slices.Equal(d.Services, want) || d.Files[base.Path] != base.Text || len(d.Files) != len(want)+1 {
				t.Errorf("%s, %s: %+v, %v", name, wire, d, err)
			}
			if noticed > 0 {
				t.Errorf("%s, %s: it was noticed", name, wire)
			}
			service, err := s.Service("Store")
			if err != nil {
				t.Fatal(err)
			}
			caller := rpc.Caller(cl)
			if name == "multiplexed" {
				caller = rpc.MultiplexedCaller(cl, "st")
			}
			args, err := service.Client(caller).NewArgs("get")
			if err != nil {
				t.Fatal(err)
			}
			result, err := service.Client(caller).Call(t.Context(), "get", args)
			if v, _ := result.Get("success"); err != nil || v.Int() != 7 {
				t.Errorf("%s, %s: %v, %v", name, wire, v, err)
			}
			noticed = 0
		}
	}
}

// TestNotDescribed: without Describe, and without IDL, a server says nothing. A fallback then
// gets the call, as in a proxy.
func TestNotDescribed(t *testing.T) {
	file := rpc.IDLFile{Path: "s.thrift", Text: "service S { i32 f() }"}
	with := processorOf(t, "S", file)
	for name, srv := range map[string]*rpc.Server{
		"off": {Processor: with}, "no IDL": {Processor: rpc.NewProcessor("S", nil), Describe: true},
	} {
		cl := dialDescribing(t, srv)
		if s, err := dynamic.Describe(t.Context(), cl); s != nil || !errors.Is(err, dynamic.ErrNotDescribed) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	backend := dialDescribing(t, &rpc.Server{Processor: with, Describe: true})
	proxy := dialDescribing(t, &rpc.Server{Processor: rpc.NewProcessor("", nil).WithFallback(dynamic.Forward(backend))})
	if _, err := dynamic.Describe(t.Context(), proxy); err != nil {
		t.Errorf("through a proxy: %v", err)
	}
	gone := dialDescribing(t, &rpc.Server{Processor: with})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dynamic.Describe(ctx, gone); !errors.Is(err, context.Canceled) || errors.Is(err, dynamic.ErrNotDescribed) {
		t.Errorf("error %v of a call that was given up", err)
	}
}

// answering returns a Caller whose server answers one method with these bytes, and does not know
// others.
func answering(method string, reply []byte) rpc.Caller {
	return rpc.NewCaller(func(_ context.Context, m *rpc.Method, call []byte) ([]byte, error) {
		if m.WireName() != method {
			return nil, &rpc.ApplicationException{Type: rpc.UnknownMethod, Message: m.WireName()}
		}
		head := append([]byte{0x80, 1, 0, 2}, binary.BigEndian.AppendUint32(nil, uint32(len(method)))...)
		return append(append(append(head, method...), call[8+len(method):12+len(method)]...), reply...), nil
	})
}

// description returns the wire bytes of a description.
func description(files ...rpc.IDLFile) []byte {
	b := []byte{12, 0, 0, 15, 0, 2, 12}
	b = binary.BigEndian.AppendUint32(b, uint32(len(files)))
	for _, f := range files {
		for id, text := range []string{f.Path, f.Text} {
			b = append(binary.BigEndian.AppendUint32(append(b, 11, 0, byte(id+1)), uint32(len(text))), text...)
		}
		b = append(b, 0)
	}
	return append(b, 0, 0)
}

// TestHostileDescriptions: a hostile description is refused with an error, or is IDL within the
// limits. No file of this machine is read.
func TestHostileDescriptions(t *testing.T) {
	many := make([]rpc.IDLFile, 1001)
	for i := range many {
		many[i].Path = fmt.Sprint(i, ".thrift")
	}
	good := rpc.IDLFile{Path: "a.thrift", Text: "service S {}"}
	for name, c := range map[string]struct {
		reply []byte
		want  string
	}{
		"empty":         {[]byte{0}, "it is empty"},
		"no files":      {description(), "it has no files"},
		"many files":    {description(many...), "more than 1000"},
		"twice":         {description(good, good), "called \"a.thrift\""},
		"truncated":     {description(good)[:20], "EOF"},
		"other types":   {[]byte{12, 0, 0, 8, 0, 2, 0, 0, 0, 1, 0, 0}, "it has no files"},
		"too large":     {description(rpc.IDLFile{Path: "a.thrift", Text: "//" + strings.Repeat("x", 1<<20)}), "larger than"},
		"far too large": {description(rpc.IDLFile{Path: "a.thrift", Text: strings.Repeat("\n", 3<<20)}), "limit"},
		"not IDL":       {description(rpc.IDLFile{Path: "a.thrift", Text: "struct {"}), "a.thrift:1:"},
		"absolute":      {description(rpc.IDLFile{Path: "a.thrift", Text: `include "/etc/hostname"`}), "cannot find include"},
		"above":         {description(rpc.IDLFile{Path: "a.thrift", Text: `include "../../../../../../etc/hostname"`}), "cannot find include"},
		"cycle":         {description(rpc.IDLFile{Path: "a.thrift", Text: `include "b.thrift"`}, rpc.IDLFile{Path: "b.thrift", Text: `include "a.thrift"`}), "cycle"},
		"itself":        {description(rpc.IDLFile{Path: "a.thrift", Text: `include "a.thrift"`}), "cycle"},
		"deep":          {description(rpc.IDLFile{Path: "a.thrift", Text: "const " + strings.Repeat("list<", 100_000) + "i32"}), "a.thrift:1:"},
		"huge count":    {[]byte{12, 0, 0, 15, 0, 2, 12, 0x7f, 0xff, 0xff, 0xff, 0}, "EOF"},
	} {
		s, err := dynamic.Describe(t.Context(), answering(rpc.DescribeMethod, c.reply))
		if s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %.300v; want an error with %q", name, s, err, c.want)
		}
	}
	for _, path := range []string{"/etc/passwd", "../../x.thrift", "a\x00b", strings.Repeat("d/", 1000) + "a.thrift"} {
		s, err := dynamic.Describe(t.Context(), answering(rpc.DescribeMethod, description(rpc.IDLFile{Path: path, Text: "service S {}"})))
		if err != nil {
			continue // it may be refused
		}
		if _, err := s.Service("S"); err != nil {
			t.Errorf("path %.40q: %v", path, err)
		}
	}
}

// TestParseDescription: a bundle is read as the answer of a server that returns it is. What later
// versions may add is skipped.
func TestParseDescription(t *testing.T) {
	const services = "\x0f\x00\x01\x0c\x00\x00\x00\x01" + "\x0b\x00\x01\x00\x00\x00\x01s" + "\x0b\x00\x02\x00\x00\x00\x01S" + "\x0b\x00\x03\x00\x00\x00\x03d/a"
	const file = "\x0f\x00\x02\x0c\x00\x00\x00\x01" + "\x0b\x00\x01\x00\x00\x00\x01a" + "\x0b\x00\x02\x00\x00\x00\x0cservice S {}"
	const newer = "\x08\x00\x63\x00\x00\x00\x05" + "\x0f\x00\x64\x0c\x00\x00\x00\x01\x00" + "\x0b\x00\x65\x00\x00\x00\x01x"
	want := &dynamic.Description{Services: []dynamic.ServiceName{{Name: "s", Service: "a.S"}}, Files: map[string]string{"a": "service S {}"}}
	for name, b := range map[string]string{
		"as it is": services + "\x00" + file + "\x00\x00", "newer": newer + services + newer + "\x00" + newer + file + newer + "\x00" + newer + "\x00",
		"another type": "\x0b\x00\x01\x00\x00\x00\x00" + services + "\x00" + file + "\x0b\x00\x65\x00\x00\x00\x01x" + "\x00\x00",
	} {
		d, err := dynamic.ParseDescription([]byte(b))
		if diff := cmp.Diff(want, d); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		told, err := dynamic.ReadDescription(t.Context(), answering(rpc.DescribeMethod, []byte("\x0c\x00\x00"+b+"\x00")))
		if diff := cmp.Diff(want, told); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		for n := range len(b) {
			if d, err := dynamic.ParseDescription([]byte(b[:n])); d != nil || err == nil {
				t.Errorf("%s: the first %d bytes are %v", name, n, d)
			}
		}
		if d, err := dynamic.ParseDescription([]byte(b + "\x00")); d != nil || err == nil {
			t.Errorf("%s, and a byte more: %v", name, d)
		}
	}
}

// metadata is the metadata of fbthrift's servers, as far as the test needs it.
const metadata = `
struct Element { 1: optional Type t }
struct Pair { 1: optional Type k, 2: optional Type v }
struct Name { 1: string name, 2: optional Type of }
union Type { 1: i32 p, 2: Element l, 3: Element s, 4: Pair m, 5: Name e, 6: Name st, 7: Name u, 8: Name td, 9: Element stream }
struct Enum { 1: string name, 2: map<i32, string> elements }
struct Field { 1: i32 id, 2: Type type, 3: string name, 4: bool opt }
struct Struct { 1: string name, 2: list<Field> fields, 3: bool u }
struct Function { 1: string name, 2: Type ret, 3: list<Field> args, 4: list<Field> exc, 5: bool oneway }
struct Service { 1: string name, 2: list<Function> functions, 3: optional string parent }
struct Metadata { 2: map<string, Enum> enums, 4: map<string, Struct> structs, 5: map<string, Struct> exceptions, 6: map<string, Service> services }
struct Ref { 1: string name }
struct Response { 2: Metadata metadata, 3: list<Ref> services }
struct Result { 0: optional Response success }`

// TestDescribeMetadata: fbthrift's metadata become IDL. Parts without a counterpart are left
// out, and no name can forge IDL.
func TestDescribeMetadata(t *testing.T) {
	s, err := dynamic.LoadText(map[string]string{"m.thrift": metadata})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Struct("Result")
	if err != nil {
		t.Fatal(err)
	}
	m, err := result.FromJSON([]byte(`{"success": {"services": [{"name": "shop.Shop"}], "metadata": {
		"enums": {"shop.Colour": {"name": "shop.Colour", "elements": {"1": "RED", "2": "BLUE"}}},
		"structs": {
			"shop.Order": {"name": "shop.Order", "fields": [
				{"id": 1, "name": "id", "type": {"p": 5}}, {"id": 2, "name": "lines", "type": {"l": {"t": {"st": {"name": "shop.Line"}}}}},
				{"id": 3, "name": "weight", "type": {"p": 6}}, {"id": 4, "name": "colours", "opt": true, "type": {"m": {"k": {"p": 9}, "v": {"e": {"name": "shop.Colour"}}}}},
				{"id": 5, "name": "x } struct Evil {", "type": {"p": 1}}, {"id": 6, "name": "t", "type": {"td": {"name": "shop.T", "of": {"s": {"t": {"p": 8}}}}}}]},
			"shop.Line": {"name": "shop.Line", "fields": [{"id": 1, "name": "n", "type": {"p": 4}}]},
			"shop.Either": {"name": "shop.Either", "u": true, "fields": [{"id": 1, "name": "a", "type": {"p": 2}}]},
			"a } struct Evil {": {"name": "a } struct Evil {"}},
		"exceptions": {"shop.Bad": {"name": "shop.Bad", "fields": [{"id": 1, "name": "why", "type": {"p": 9}}]}},
		"services": {
			"base.Shop": {"name": "base.Shop", "functions": [{"name": "ping", "ret": {"p": 10}}]},
			"shop.Shop": {"name": "shop.Shop", "parent": "base.Shop", "functions": [
				{"name": "buy", "ret": {"p": 3}, "args": [{"id": 1, "name": "order", "type": {"st": {"name": "shop.Order"}}}], "exc": [{"id": 1, "name": "bad", "type": {"st": {"name": "shop.Bad"}}}]},
				{"name": "watch", "ret": {"stream": {}}}, {"name": "tell", "oneway": true, "ret": {"p": 10}}, {"name": "f(", "ret": {"p": 10}}]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := answering("getThriftServiceMetadata", m.Message().Bytes())
	d, err := dynamic.ReadDescription(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	described, err := dynamic.Describe(t.Context(), c)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Files["metadata.thrift"])
	}
	if !slices.Equal(d.Services, []dynamic.ServiceName{{Service: "metadata.shop_Shop"}}) {
		t.Errorf("the services are %v", d.Services)
	}
	shop, err := described.Service("shop_Shop")
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	for m := range shop.AllMethods() {
		methods = append(methods, m.Name())
	}
	if want := []string{"buy", "tell", "ping"}; !slices.Equal(methods, want) {
		t.Errorf("the methods are %v, want %v", methods, want)
	}
	order, err := described.Struct("Order")
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for f := range order.Fields() {
		fields = append(fields, fmt.Sprintf("%d %s %s", f.ID(), f.Type(), f.Name()))
	}
	if have, want := strings.Join(fields, ","), "1 i64 id,2 list<Line> lines,4 map<string, Colour> colours,6 set<binary> t"; have != want {
		t.Errorf("Order has %s, want %s", have, want)
	}
	if strings.Contains(d.Files["metadata.thrift"], "Evil") {
		t.Errorf("a name forges IDL:\n%s", d.Files["metadata.thrift"])
	}
}

// FuzzDescribe: any answer of a server gives a schema or an error.
func FuzzDescribe(f *testing.F) {
	f.Add(description(rpc.IDLFile{Path: "a.thrift", Text: "service S { i32 f() }"}), false)
	f.Add([]byte{12, 0, 0, 12, 0, 2, 13, 0, 6, 11, 12, 0, 0, 0, 0, 0, 0, 0}, true)
	f.Fuzz(func(t *testing.T, reply []byte, metadata bool) {
		method := rpc.DescribeMethod
		if metadata {
			method = "getThriftServiceMetadata"
		}
		d, err := dynamic.ReadDescription(t.Context(), answering(method, reply))
		if (d == nil) == (err == nil) {
			t.Errorf("%v and %v", d, err)
		}
		if d, err := dynamic.ParseDescription(reply); (d == nil) == (err == nil) {
			t.Errorf("%v and %v", d, err)
		}
		var bad *nocopy.Error
		if err != nil && !errors.Is(err, dynamic.ErrNotDescribed) && !errors.As(err, &bad) {
			t.Errorf("error %v", err)
		}
	})
}
