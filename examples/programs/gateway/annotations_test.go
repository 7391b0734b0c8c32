package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/gateway"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// startFor starts a gateway for one IDL file, whose services all have the same server.
func startFor(t *testing.T, idl string, p *rpc.Processor, timeout time.Duration, set ...func(*site)) *testGateway {
	t.Helper()
	addr, end, err := serve(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	cl, err := rpc.Dial(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	texts := map[string]string{"test.thrift": idl}
	schema, err := dynamic.LoadText(texts)
	if err != nil {
		t.Fatal(err)
	}
	backends := map[string]rpc.Caller{}
	for _, s := range schema.Services() {
		backends[s.Name()] = cl
	}
	return start(t, texts, backends, timeout, set...)
}

// reply returns a Processor that handles all calls by f, which gets and returns wire bytes.
func reply(f func(ctx context.Context, method string, args []byte) ([]byte, error)) *rpc.Processor {
	return rpc.NewProcessor("", nil).WithFallback(func(ctx context.Context, c *rpc.Call) error {
		result, err := f(ctx, c.Method.WireName(), c.Args.Message().Bytes())
		if err != nil || c.Method.Oneway() {
			return err
		}
		m, err := dynamic.TypeOf(dynamicStruct(c)).Parse(result)
		if err == nil {
			c.Result = nocopy.Struct(m.ThriftStruct())
		}
		return err
	})
}

type rawStruct struct{ c *rpc.Call }

func (r rawStruct) ThriftDesc() *thriftimpl.Desc    { return r.c.Method.Args }
func (r rawStruct) ThriftStruct() thriftimpl.Struct { return thriftimpl.Struct(r.c.Args) }
func dynamicStruct(c *rpc.Call) nocopy.AnyStruct    { return rawStruct{c} }

const annotated = `
enum Colour { RED = 1, BLUE = 2 }
struct Inner {
  1: string note (api.header = "X-Note")
  2: i32 n
}
struct Request {
  1: required i64 id (api.path = "id")
  2: list<i32> pages (api.query = "page")
  3: set<Colour> colours (api.query = "colour")
  4: string session (api.cookie = "session")
  5: bool flag (api.header = "X-Flag")
  6: uuid key (api.query = "key")
  7: double weight (api.query = "weight", api.header = "X-Weight")
  8: string name (api.body = "fullName")
  9: string secret (api.none)
  10: i64 big (api.js_conv)
  11: Inner inner
  12: binary raw (api.raw_body)
  13: optional i8 small (api.query, api.body = "small")
  14: i32 code (api.http_code)
}
struct Form { 1: required string a (api.form = "a"), 2: list<i64> b (api.form = "b"), 3: binary file (api.form, api.query = "f1", api.query = "f2", api.header = "X-File") }
struct Search { 1: required string q, 2: i32 limit = 10, 3: list<string> tags, 4: string page (api.query = "p") }
exception Gone { 1: string why, 2: i32 status (api.http_code), 3: string where (api.header = "Location") }
exception Plain { 1: string why }
exception Taken { 1: string why }
service Echo {
  Request all(1: Request r) (api.post = "/all/:id", api.put = "/all/:id")
  Form form(1: Form f) (api.post = "/form", api.put = "/form", api.post = "/form/:also")
  Search search(1: Search s) (api.get = "/search")
  string rest(1: string path (api.path = "path")) (api.any = "/rest/*path")
  void fail(1: i32 how) throws (1: Gone gone, 2: Plain plain, 3: Taken taken (api.http_code = "409")) (api.get = "/fail", api.delete = "/fail")
  oneway void tell(1: string what) (api.patch = "/tell")
  map<string, i32> counts() (api.get = "/")
}`

// TestAnnotations: fields are where their annotations say, in requests and in replies. The server
// returns what it has got.
func TestAnnotations(t *testing.T) {
	told := make(chan string, 1)
	idl := strings.ReplaceAll(annotated, `"/")`, `"/counts")`)
	schema, err := dynamic.LoadText(map[string]string{"test.thrift": idl})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("Echo")
	if err != nil {
		t.Fatal(err)
	}
	g := startFor(t, idl, service.Processor(func(_ context.Context, c *dynamic.Call) error {
		arg, err := c.Args.GetByID(1)
		switch c.Method.Name() {
		case "counts":
			return nil
		case "tell":
			told <- strings.Clone(arg.Text())
			return err
		case "fail":
			name := []string{"", "gone", "plain", "taken"}[arg.Int()]
			if name == "" {
				return errors.New("secret reason")
			}
			e, err := c.Result.New(name)
			if err != nil {
				return err
			}
			e.Message().Set("where", "/there")
			if arg.Int() == 1 {
				e.Message().Set("status", 410)
			}
			return e.Message().Set("why", "so")
		}
		return c.Return(arg)
	}), time.Minute)

	header := g.want("POST", "/all/7?page=1&page=2,3&colour=BLUE,1,BLUE&key=01234567-89ab-cdef-0123-456789abcdef&weight=2.5", "Cookie: session=s1\nX-Flag: true\nX-Weight: 9\nX-Note: n1",
		`{"fullName": "Ada", "big": "9007199254740993", "inner": {"n": 4}, "small": 3}`,
		200, `{"fullName":"Ada","big":"9007199254740993","inner":{"n":4},"small":3}`)
	if header.Get("X-Flag") != "true" || header.Get("X-Note") != "n1" || header.Get("X-Weight") != "2.5" {
		t.Errorf("the reply's header: %v", header)
	}
	g.want("PUT", "/all/7?small=5", "", `{"small": 3}`, 200, `{"small":5}`)
	g.want("POST", "/all/7", "", ``, 200, `{"big":"0"}`)
	for body, want := range map[string]string{
		`{"name": "Ada"}`:          `{"error":"Bad Request","message":"unknown field: \"name\"","path":"Request","offset":1}`,
		`{"secret": "x"}`:          `{"error":"Bad Request","message":"unknown field: \"secret\"","path":"Request","offset":1}`,
		`{"inner": {"note": "x"}}`: `{"error":"Bad Request","message":"unknown field: \"note\"","path":"Request.inner","offset":11}`,
		`{"id": 3}`:                `{"error":"Bad Request","message":"unknown field: \"id\"","path":"Request","offset":1}`,
	} {
		g.want("POST", "/all/7", "", body, 400, want)
	}
	for query, path := range map[string]string{
		"/all/x": "Request.id", "/all/1.5": "Request.id", "/all/9223372036854775808": "Request.id", "/all/1?page=1,x": "Request.pages",
		"/all/1?colour=PINK": "Request.colours", "/all/1?key=1": "Request.key", "/all/1?weight=w": "Request.weight", "/all/1?small=200": "Request.small",
	} {
		if status, _, text, err := g.send("POST", query, "", "{}"); status != 400 || !strings.Contains(text, `"path":"`+path+`"`) {
			t.Errorf("%s: %d %s, %v", query, status, text, err)
		}
	}
	const form = "Content-Type: application/x-www-form-urlencoded"
	g.want("POST", "/form", form, "a=x+y&b=1&b=2", 200, `{}`)
	g.want("POST", "/form/x", form, "a=x", 200, `{}`) // an annotation that comes twice
	g.want("PUT", "/form", form, "a=x", 200, `{}`)
	for query, want := range map[string]string{"?f1=one&f2=two": "one", "?f2=two": "two"} {
		if h := g.want("POST", "/form"+query, form, "a=x", 200, `{}`); h.Get("X-File") != want {
			t.Errorf("%s: %v", query, h)
		}
	}
	g.want("POST", "/form", form, "b=1", 400, `{"error":"Bad Request","message":"required field is missing in form a","path":"Form.a"}`)
	g.want("GET", "/search?q=x&tags=a,b&p=3", "", "", 200, `{"q":"x","limit":10,"tags":["a","b"]}`)
	g.want("GET", "/search?limit=3", "", "", 400, `{"error":"Bad Request","message":"required field is missing in query q","path":"Search.q"}`)
	g.want("GET", "/rest/a/b%20c", "", "", 200, `{"success":"a/b c"}`)
	g.want("DELETE", "/rest/a", "", "", 200, `{"success":"a"}`)
	if h := g.want("GET", "/fail?how=1", "", "", 410, `{"error":"Gone","exception":{"why":"so"}}`); h.Get("Location") != "/there" {
		t.Errorf("the exception's header: %v", h)
	}
	g.want("GET", "/fail?how=2", "", "", 500, `{"error":"Plain","exception":{"why":"so"}}`)
	g.want("DELETE", "/fail", "", `{"how": 3}`, 409, `{"error":"Taken","exception":{"why":"so"}}`)
	g.want("GET", "/fail", "", "", 502, `{"error":"Bad Gateway","message":"the server did not handle the call: internal error"}`)
	g.want("GET", "/counts", "", "", 502, `{"error":"Bad Gateway","message":"the reply is empty"}`)
	g.want("PATCH", "/tell", "", `{"what": "it"}`, 202, `{}`)
	if what := <-told; what != "it" {
		t.Errorf("told %q", what)
	}
}

// TestPlain: methods of a service without annotations are at POST /Service/method, with arguments
// of any names and types by their names. A method without annotation is nowhere if the service has
// some.
func TestPlain(t *testing.T) {
	const idl = `
struct Point { 1: i32 x, 2: string at (api.header = "X-At") }
exception Bad { 1: string why }
service Base { i32 twice(1: i32 n) }
service Plain extends Base { Point echo(1: Point p) throws (1: Bad bad) oneway void tell(1: string what) void none() }`
	schema, err := dynamic.LoadText(map[string]string{"test.thrift": idl})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("Plain")
	if err != nil {
		t.Fatal(err)
	}
	g := startFor(t, idl, service.Processor(func(_ context.Context, c *dynamic.Call) error {
		switch c.Method.Name() {
		case "twice":
			n, _ := c.Args.Get("n")
			return c.Return(2 * n.Int())
		case "echo":
			p, _ := c.Args.Get("p")
			if x, _ := p.Message().Get("x"); x.Int() < 0 {
				e, err := c.Result.New("bad")
				if err != nil {
					return err
				}
				return e.Message().Set("why", "negative")
			}
			return c.Return(p)
		}
		return nil
	}), time.Minute)
	g.want("POST", "/Plain/twice", "", `{"n": 4}`, 200, `{"success":8}`)
	g.want("POST", "/Base/twice", "", `{"n": 4}`, 200, `{"success":8}`)
	if h := g.want("POST", "/Plain/echo", "X-At: here", `{"p": {"x": 3}}`, 200, `{"x":3}`); h.Get("X-At") != "here" {
		t.Errorf("the header is %v", h)
	}
	g.want("POST", "/Plain/echo", "", `{"p": {"x": -3}}`, 500, `{"error":"Bad","exception":{"why":"negative"}}`)
	g.want("POST", "/Plain/tell", "", `{"what": "it"}`, 202, `{}`)
	g.want("POST", "/Plain/none", "", ``, 200, `{}`)
	g.want("POST", "/Plain/none", "Content-Type: text/plain", `{}`, 415, `{"error":"Unsupported Media Type","message":"content type \"text/plain\": the method takes application/json and application/x-thrift"}`)
	g.want("POST", "/Plain/twice", "", `{"m": 4}`, 400, `{"error":"Bad Request","message":"unknown field: \"m\"","path":"twice_args","offset":1}`)
	g.want("GET", "/Plain/twice", "", "", 405, `{"error":"Method Not Allowed","message":"no method of the IDL is at GET /Plain/twice"}`)
	g = startFor(t, `service S { i32 f() (api.get = "/f") i32 g() }`, reply(nil), time.Second)
	g.want("POST", "/S/g", "", "{}", 404, `{"error":"Not Found","message":"no method of the IDL is at POST /S/g"}`)
}

// TestErr: a gateway whose schema can't be used says so to the program and to clients.
func TestErr(t *testing.T) {
	bad, err := dynamic.LoadText(map[string]string{"a.thrift": `service S { void f() (api.get = "x") }`})
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range []*dynamic.Schema{bad, nil} {
		g := gateway.New(schema, map[string]rpc.Caller{"S": rpc.NewCaller(func(context.Context, *rpc.Method, []byte) ([]byte, error) { return nil, errors.New("called") })})
		if g.Err() == nil {
			t.Error("no error")
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest("GET", "/f", nil))
		if w.Code != 503 || !strings.Contains(w.Body.String(), "the gateway has no routes: ") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// TestServerFails: errors of the server are its fault, not the client's.
func TestServerFails(t *testing.T) {
	const idl = `
struct Reply { 1: required string a, 2: i32 status (api.http_code), 3: string h (api.header = "H") }
service S { Reply f(1: binary how) (api.get = "/f") void g(1: binary how) (api.get = "/g") }`
	stop := make(chan struct{})
	answers := reply(func(ctx context.Context, _ string, args []byte) ([]byte, error) {
		switch how := string(args[7 : len(args)-1]); how {
		case "slow":
			select {
			case <-ctx.Done():
			case <-stop:
			}
			return nil, ctx.Err()
		case "unknown":
			return nil, &rpc.ApplicationException{Type: rpc.UnknownMethod, Message: "secret"}
		default:
			return []byte(how), nil
		}
	})
	defer close(stop)
	g := startFor(t, idl, answers, 100*time.Millisecond)
	g.want("GET", "/f?how=slow", "", "", 504, `{"error":"Gateway Timeout","message":"the server did not answer in time"}`)
	g = startFor(t, idl, answers, time.Minute)
	g.want("GET", "/f?how=unknown", "", "", 502, `{"error":"Bad Gateway","message":"the server did not handle the call: unknown method"}`)
	g.want("GET", "/f?how=%0c%00%00%00%00", "", "", 502, `{"error":"Bad Gateway","message":"the reply is malformed"}`)
	g.want("GET", "/f?how=%00", "", "", 502, `{"error":"Bad Gateway","message":"the reply is empty"}`)
	g.want("GET", "/f?how=%08%00%07%00%00%00%00%00", "", "", 502, `{"error":"Bad Gateway","message":"the reply is an exception that the IDL does not know"}`)
	g.want("GET", "/g?how=%08%00%07%00%00%00%00%00", "", "", 502, `{"error":"Bad Gateway","message":"the reply is an exception that the IDL does not know"}`)
	if status, _, text, err := g.send("GET", "/f?how=%0c%00%00%0b%00%01%00%00%00%01%ff%00%00", "", ""); status != 502 || !strings.Contains(text, "as JSON") {
		t.Errorf("a string that is not UTF-8: %d %s, %v", status, text, err)
	}
	g.want("GET", "/f?how=%0c%00%00%0b%00%01%00%00%00%00%08%00%02%00%00%00%c9%0b%00%03%00%00%00%04a%0d%0ab%00%00", "", "", 201, `{"a":""}`)
	// A status that would not end the request is not taken.
	g.want("GET", "/f?how=%0c%00%00%0b%00%01%00%00%00%00%08%00%02%00%00%00%65%00%00", "", "", 200, `{"a":""}`)
	g.want("GET", "/f?how=%0c%00%00%0b%00%01%00%00%00%00%08%00%02%7f%00%00%65%00%00", "", "", 200, `{"a":""}`)
}

// TestServerBusy: a server that has too many calls makes the gateway say that it is unavailable.
func TestServerBusy(t *testing.T) {
	begun, release := make(chan struct{}, 1), make(chan struct{})
	srv := &rpc.Server{MaxInFlight: 1, MaxQueued: -1, Logger: slog.New(slog.DiscardHandler), Processor: reply(func(context.Context, string, []byte) ([]byte, error) {
		begun <- struct{}{}
		<-release
		return []byte("\x08\x00\x00\x00\x00\x00\x07\x00"), nil
	})}
	caller := rpc.NewCaller(func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
		return srv.ServeMessage(ctx, append([]byte(nil), call...))
	})
	g := start(t, map[string]string{"s.thrift": `service S { i32 f() (api.get = "/f") }`}, map[string]rpc.Caller{"S": caller}, time.Minute)
	var held sync.WaitGroup
	held.Go(func() { g.want("GET", "/f", "", "", 200, `{"success":7}`) })
	<-begun
	g.want("GET", "/f", "", "", 503, `{"error":"Service Unavailable","message":"the server is too busy to handle the call"}`)
	close(release)
	held.Wait()
}

// TestUnreachable: a server that is gone is a bad gateway, and one that comes back is found.
func TestUnreachable(t *testing.T) {
	idl := map[string]string{"s.thrift": `service S { i32 f() (api.get = "/f") }`}
	p := reply(func(context.Context, string, []byte) ([]byte, error) {
		return []byte("\x08\x00\x00\x00\x00\x00\x07\x00"), nil
	})
	addr, end, err := serve(p)
	if err != nil {
		t.Fatal(err)
	}
	cl, err := rpc.Dial(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	g := start(t, idl, map[string]rpc.Caller{"S": cl}, 20*time.Second)
	g.want("GET", "/f", "", "", 200, `{"success":7}`)
	end()
	if status, _, text, err := g.send("GET", "/f", "", ""); status != 502 && status != 504 {
		t.Errorf("%d %s, %v without a server", status, text, err)
	}
	l, err := net.Listen("tcp", addr)
	// Another test may have taken the port for a connection, and gives it back.
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		l, err = net.Listen("tcp", addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	srv := &rpc.Server{Processor: p}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	defer func() { srv.Close(); <-served }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if status, _, _, _ := g.send("GET", "/f", "", ""); status == 200 {
			return
		}
	}
	t.Error("the server that is back is not found")
}
