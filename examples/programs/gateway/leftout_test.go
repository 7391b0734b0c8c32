package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/gateway"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// echo returns a gateway for a service S with one argument each, which it returns.
func echo(t *testing.T, idl string) *testGateway {
	t.Helper()
	schema, err := dynamic.LoadText(map[string]string{"test.thrift": idl})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("S")
	if err != nil {
		t.Fatal(err)
	}
	return startFor(t, idl, service.Processor(func(_ context.Context, c *dynamic.Call) error {
		if _, ok := c.Method.Returns(); !ok {
			return nil
		}
		arg, err := c.Args.GetByID(1)
		if err != nil {
			return err
		}
		return c.Return(arg)
	}), time.Minute)
}

// TestJSONTexts: structs, maps and lists of them are JSON in queries, paths, forms, cookies and
// headers, in requests and in replies.
func TestJSONTexts(t *testing.T) {
	g := echo(t, `
struct Point { 1: optional i32 x, 2: optional string y }
struct Filter {
  1: optional string colour
  2: optional i64 most (api.js_conv)
  3: optional Point at
  4: optional string user (api.header = "X-User")
  5: optional string called (api.body = "name")
}
union Either { 1: i32 n, 2: string s }
struct Query {
  1: optional Filter filter (api.query = "filter")
  2: optional map<string, i32> counts (api.query = "counts")
  3: optional list<Point> points (api.query = "points")
  4: optional set<list<i32>> rows (api.query = "rows")
  5: optional Either either (api.query)
  6: optional map<Point, string> by_point (api.query)
}
struct Other {
  1: optional Point in_path (api.path = "p")
  2: optional Point in_form (api.form = "f")
  3: optional map<i32, Point> in_cookie (api.cookie = "c")
  4: optional list<Point> in_header (api.header = "X-Points")
  5: required Point first (api.query = "first", api.body = "first")
  6: optional map<string, string> in_reply (api.header = "X-Reply")
}
service S {
  map<string, string> show(1: map<string, string> all (api.query = "all")) (api.get = "/show")
  Query query(1: Query q) (api.get = "/query")
  Other other(1: Other o) (api.post = "/other/:p")
}
`)
	// What is in queries is not in the reply's JSON: its bytes are those of the request.
	seen := echo(t, `
struct Point { 1: optional i32 x, 2: optional string y }
struct Filter { 1: optional string colour, 2: optional i64 most, 3: optional Point at, 4: optional string user (api.header = "X-User"), 5: optional string called (api.body = "name") }
struct In { 1: optional Filter filter (api.query), 2: optional list<Point> points (api.query), 3: required map<string, i32> counts (api.query) }
service S {
  Filter filter(1: Filter filter (api.query), 2: i32 n) (api.get = "/filter")
  list<Point> points(1: list<Point> points (api.query), 2: i32 n) (api.get = "/points")
  map<string, i32> counts(1: map<string, i32> counts (api.query), 2: i32 n) (api.get = "/counts")
  map<string, i32> unannotated(1: required map<string, i32> counts, 2: i32 n) (api.get = "/unannotated")
  map<string, i32> cookie(1: required map<string, i32> counts (api.cookie = "c"), 2: i32 n) (api.get = "/cookie")
  In all(1: In in) (api.get = "/all")
}`)
	seen.want("GET", `/filter?filter={"colour":"red","most":7,"at":{"x":1},"name":"n"}`, "X-User: ada", "", 200, `{"colour":"red","most":7,"at":{"x":1},"name":"n"}`)
	if h := seen.want("GET", `/filter?filter={}`, "X-User: ada", "", 200, `{}`); h.Get("X-User") != "ada" {
		t.Errorf("the reply's header: %v", h)
	}
	seen.want("GET", `/filter?filter={"user":"root"}`, "", "", 400, `{"error":"Bad Request","message":"unknown field: \"user\" in query filter","path":"filter_args.filter"}`)
	seen.want("GET", `/filter?filter={"at":{"x":"no"}}`, "", "", 400, `{"error":"Bad Request","message":"value of another type: not a number in query filter","path":"filter_args.filter.at.x"}`)
	seen.want("GET", `/filter?filter={}}`, "", "", 400, `{"error":"Bad Request","message":"bytes after the end of the message in query filter","path":"filter_args.filter"}`)
	seen.want("GET", `/filter?filter={},"value":{}`, "", "", 400, `{"error":"Bad Request","message":"name or key comes twice in query filter","path":"filter_args.filter"}`)
	seen.want("GET", `/points?points=[{"x":1},{"y":"b"}]`, "", "", 200, `{"success":[{"x":1},{"y":"b"}]}`)
	seen.want("GET", `/points?points={"x":1}&points={"y":"b"}&points=[{},{"x":2}]`, "", "", 200, `{"success":[{"x":1},{"y":"b"},{},{"x":2}]}`)
	seen.want("GET", `/counts?counts={"a":1,"b":2}`, "", "", 200, `{"success":{"a":1,"b":2}}`)
	seen.want("GET", `/counts?counts=null`, "", "", 200, `{"success":{}}`)
	seen.want("GET", `/unannotated?counts={"a":1}`, "", "", 200, `{"success":{"a":1}}`)
	seen.want("GET", `/unannotated?counts=null`, "", "", 400, `{"error":"Bad Request","message":"required field is missing in query counts","path":"unannotated_args.counts"}`)
	for _, cookie := range []string{`a=b; c={"a":1,"b":2}`, `c=%7B%22a%22%3A1%2C%22b%22%3A2%7D; d=e`} {
		seen.want("GET", `/cookie`, "Cookie: "+cookie, "", 200, `{"success":{"a":1,"b":2}}`)
	}
	seen.want("GET", `/cookie`, "Cookie: a=b", "", 400, `{"error":"Bad Request","message":"required field is missing in cookie c","path":"cookie_args.counts"}`)

	g.want("GET", `/show?all={"a":"b"}`, "", "", 200, `{"success":{"a":"b"}}`)
	g.want("GET", `/query?filter={}&counts={}&points=[]&rows=[[1],[2,3]]&either={"s":"x"}&by_point=[[{"x":1},"one"]]`, "", "", 200, `{}`)
	g.want("GET", `/query?either={"s":"x","n":1}`, "", "", 400, `{"error":"Bad Request","message":"value of another type: a union with two fields in query either","path":"Query.either.n"}`)
	h := g.want("POST", `/other/%7B%22x%22:4%7D`, "Content-Type: application/json\nX-Points: {\"x\":5}\nX-Reply: {\"k\":\"v\"}", `{"first":{"x":6}}`, 200, `{"first":{"x":6}}`)
	if h.Get("X-Points") != `[{"x":5}]` || h.Get("X-Reply") != `{"k":"v"}` {
		t.Errorf("the reply's header: %v", h)
	}
	g.want("POST", `/other/%7B%7D`, "Content-Type: application/x-www-form-urlencoded", `f={"x":"y"}`, 400, `{"error":"Bad Request","message":"value of another type: not a number in form f","path":"Other.in_form.x"}`)
}

// TestLeftOut: what is not possible leaves out one route, with all reasons. The others are
// offered.
func TestLeftOut(t *testing.T) {
	const idl = `
exception Bad {} (api.http_code = "99")
exception Worse {} (api.http_code = "x")
struct Move { 1: required i64 shop_id (api.path = "shop_id"), 2: string to }
struct Maybe { 1: i64 shop_id (api.path = "shop_id"), 2: string to, 3: i64 other (api.path = "other", api.query = "other") }
struct InBody { 1: required i64 shop_id (api.path = "shop_id", api.body = "shop_id"), 2: i32 none (api.none) }
struct Never { 1: required i64 n (api.none) }
struct Raw { 1: i32 a (api.raw_body), 2: map<i32, i32> b (api.raw_body), 3: string s (api.http_code) }
service Base { void health() (api.get = "/health") }
service S extends Base {
  i64 ok(1: i64 n) (api.get = "/ok")
  Move move(1: Move m) (api.post = "/move", api.put = "/shops/:shop_id")
  void raw(1: Raw r) throws (1: Bad b, 2: Worse w) (api.post = "/raw")
  Maybe maybe(1: Maybe m) (api.post = "/maybe")
  InBody in_body(1: InBody m) (api.post = "/in_body")
  void never(1: Never n) (api.post = "/never")
  void same() (api.get = "/ok")
  void like() (api.get = "/:a/b")
  void alike() (api.get = "/a/:b")
  void path() (api.get = "path")
}`
	schema, err := dynamic.LoadText(map[string]string{"a.thrift": idl})
	if err != nil {
		t.Fatal(err)
	}
	none := rpc.NewCaller(func(context.Context, *rpc.Method, []byte) ([]byte, error) { return nil, errors.New("called") })
	for _, backends := range []map[string]rpc.Caller{{"S": none}, {"S": none, "Base": none}} {
		g := gateway.New(schema, backends)
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, r := range g.Routes() {
			have = append(have, r.Verb+" "+r.Path)
		}
		const routes = "GET /:a/b, GET /health, GET /ok, POST /in_body, POST /maybe, PUT /shops/:shop_id"
		slices.Sort(have)
		if strings.Join(have, ", ") != routes {
			t.Errorf("routes %s\nwant   %s", strings.Join(have, ", "), routes)
		}
		const want = `S.move (api.post): Move.shop_id is required, but can't be set: it is in the path, which has no ":shop_id"
S.raw (api.post): Raw.a is of type i32: it can't be in api.raw_body
S.raw (api.post): Raw.b is of type map<i32, i32>: it can't be in api.raw_body
S.raw (api.post): Raw.s is of type string: it can't be in api.http_code
S.raw (api.post): Bad: api.http_code = "99" is no status from 200 to 599
S.raw (api.post): Worse: api.http_code = "x" is no status from 200 to 599
S.maybe (api.post): Maybe.shop_id is never set: it is in the path, which has no ":shop_id"; the rest is offered
S.never (api.post): Never.n is required, but can't be set: api.none and api.http_code are not for requests
S.path (api.get): path "path" does not begin with a slash, or has one of the characters {} ?#
S.same: S.ok is at GET /ok, too
S.alike: pattern "GET /a/{b}" conflicts with pattern "GET /{a}/b"`
		if have := g.LeftOut().Error(); have != want {
			t.Errorf("left out %s\nwant     %s", have, want)
		}
	}
	g := echo(t, strings.Replace(idl, "S extends Base", "S", 1))
	g.want("POST", "/in_body", "", `{"shop_id": 4}`, 200, `{"shop_id":4}`)
	g.want("POST", "/in_body", "", `{}`, 400, `{"error":"Bad Request","message":"required field is missing","path":"InBody.shop_id"}`)
	g.want("POST", "/maybe?other=3", "", `{"to": "x"}`, 200, `{"to":"x"}`)
}
