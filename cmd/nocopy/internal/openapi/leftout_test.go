package openapi

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/gateway"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestLeftOut: the document has the routes that the gateway has, and the same reasons for those
// that are left out.
func TestLeftOut(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		idl  string
		left []string // parts of the lines of stderr
	}{
		{`
struct Filter { 1: optional string colour, 2: optional i64 max_price }
struct Move { 1: required i64 shop_id (api.path = "shop_id"), 2: string to }
struct Search { 1: string id (api.path = "id"), 2: optional Filter filter (api.query = "filter"), 3: map<string, string> ext (api.header = "Ext") }
service S {
  Filter search(1: Search s) (api.get = "/search/:id")
  void move(1: Move m) (api.post = "/items/move", api.put = "/items/:shop_id")
}`, []string{`S.move (api.post): Move.shop_id is required, but can't be set: it is in the path, which has no ":shop_id"`}},
		{`
exception Bad {} (api.http_code = "99")
struct Raw { 1: i32 a (api.raw_body), 2: map<i32, i32> b (api.raw_body), 3: string s (api.http_code) }
struct Maybe { 1: i64 a (api.path = "a"), 2: i64 b (api.path = "b", api.body = "b"), 3: i64 c (api.none) }
struct Never { 1: required i32 a (api.http_code) }
service S {
  void raw(1: Raw r) throws (1: Bad b) (api.post = "/raw", api.any = "/raws")
  void maybe(1: Maybe m) (api.post = "/maybe")
  void without_body(1: Maybe m) (api.get = "/maybe")
  void never(1: Never n) (api.post = "/never")
  Raw bad_reply() (api.get = "/bad")
}`, []string{
			"Raw.a is of type i32: it can't be in api.raw_body", "Raw.b is of type map<i32,i32>", "Raw.s is of type string", "no status",
			"Raw.a is of type i32", "Raw.b is of type map<i32,i32>", "Raw.s is of type string", "no status",
			"Maybe.a is never set", "Maybe.a is never set", "Maybe.b is never set", "Never.a is required", "Raw.a is", "Raw.b is", "Raw.s is",
		}},
		{`
service Base { void health() (api.get = "/health"), void other() (api.get = "/other/") }
service S extends Base {
  void a() (api.get = "/a", api.any = "/a")
  void b() (api.get = "/a")
  void c() (api.get = "/:x/b")
  void d() (api.get = "/c/:y")
  void e() (api.post = "/c/:y", api.put = "/files/*rest")
  void f() (api.get = "/:")
  void g() (api.get = "/:a/:a")
  void h() (api.get = "h")
}`, []string{"S.h (api.get)", "S.b: S.a is at GET /a, too", `S.d: pattern "GET /c/{y}" conflicts with pattern "GET /{x}/b"`, "S.f: ", "S.g: "}},
	} {
		if err := os.WriteFile("a.thrift", []byte(c.idl), 0o666); err != nil {
			t.Fatal(err)
		}
		set, err := schema.Load([]string{"a.thrift"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		doc, leftOut, err := Document(set, Options{})
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := dynamic.Load("a.thrift")
		if err != nil {
			t.Fatal(err)
		}
		none := rpc.NewCaller(func(context.Context, *rpc.Method, []byte) ([]byte, error) { return nil, errors.New("called") })
		g := gateway.New(loaded, map[string]rpc.Caller{"S": none, "Base": none})

		var have, want []string
		for path, item := range doc.Paths {
			for method := range item {
				have = append(have, strings.ToUpper(method)+" "+path)
			}
		}
		for _, r := range g.Routes() {
			template, _, err := templateOf(r.Path)
			if err != nil {
				t.Fatal(err)
			}
			methods := []string{r.Verb}
			if r.Verb == "" {
				methods = []string{"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"}
			}
			for _, method := range methods {
				want = append(want, method+" "+template)
			}
		}
		slices.Sort(have)
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(have, want) {
			t.Errorf("%s\nroutes        %v\nof a gateway  %v", c.idl, have, want)
		}
		have, want = nil, strings.Split(strings.ReplaceAll(g.LeftOut().Error(), "map<i32, i32>", "map<i32,i32>"), "\n")
		for _, reason := range leftOut {
			have = append(have, reason.Error())
		}
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) {
			t.Errorf("left out\n%s\nby a gateway\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
		var out, stderr bytes.Buffer
		if err := (&Command{Files: []string{"a.thrift"}, Format: "json"}).Run(&shell.Shell{Out: &out, Err: &stderr}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		for _, part := range c.left {
			at := slices.IndexFunc(lines, func(line string) bool {
				return strings.HasPrefix(line, "left out: ") && strings.Contains(line, part) && strings.Contains(line, "never set") == strings.HasSuffix(line, "; the rest is offered")
			})
			if at < 0 {
				t.Fatalf("no line with %s in\n%s", part, stderr.String())
			}
			lines = slices.Delete(lines, at, at+1)
		}
		if len(lines) > 0 {
			t.Errorf("also left out: %s", strings.Join(lines, "\n"))
		}
	}
}
