package main

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestPage: the page and all that it refers to come from the gateway itself, and the list that it
// shows has all that a request needs.
func TestPage(t *testing.T) {
	g := startAll(t)
	load := func(path, kind string) string {
		t.Helper()
		res, err := g.client.Get(g.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %s, %s, %v", path, res.Status, res.Header.Get("Content-Type"), err)
		}
		if path != "/_gateway/methods" && !strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "default-src 'self'") {
			t.Errorf("%s has no Content-Security-Policy", path)
		}
		return string(text)
	}
	page := load("/", "text/html")
	for _, id := range []string{`id="methods"`, `id="refused"`} {
		if !strings.Contains(page, id) {
			t.Errorf("the page has no %s", id)
		}
	}
	refers := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(refers) < 3 {
		t.Errorf("the page refers only to %q", refers)
	}
	for _, m := range refers {
		switch path := m[1]; {
		case path == "data:,":
		case !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//"):
			t.Errorf("the page refers to %s, which another server has", path)
		default:
			load(path, "")
		}
	}
	if script := load("/_gateway/page.js", "text/javascript"); strings.Contains(script, "innerHTML") {
		t.Error("the script makes elements of texts")
	}
	load("/_gateway/page.css", "text/css")

	var list struct {
		Methods []methodInfo
		Refused string
	}
	if err := json.Unmarshal([]byte(load("/_gateway/methods", "application/json")), &list); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range list.Methods {
		line := m.Service + "." + m.Method + " " + m.Verb + " " + m.Path
		for _, p := range m.Params {
			line += " " + p.In + ":" + p.Name + ":" + p.Type
		}
		for _, e := range m.Throws {
			line += " " + e.Type
		}
		lines = append(lines, line+" "+string(m.Body))
		if m.Doc == "" {
			t.Errorf("%s has no text", m.Method)
		}
	}
	want := `KeyValue.create POST /v1/keys AlreadyExists {"key":"a2V5","value":"dmFsdWU="}
KeyValue.retrieve GET /v1/keys/:key path:key:binary NotFound 
KeyValue.update PUT /v1/keys/:key path:key:binary NotFound 
KeyValue.delete DELETE /v1/keys/:key path:key:binary NotFound 
Orders.submit POST /v1/orders query:coupon:string header:X-Request-Id:string header:User-Agent:string Refused ` +
		`{"customer":"customer","lines":[{"article":"article","count":1,"cents":0}],"payment":"CARD","trace":{}}`
	if have := strings.Join(lines, "\n"); have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
	// The example that the page has for each body is a good request.
	for _, m := range list.Methods {
		if len(m.Body) > 0 {
			if status, _, text, err := g.send(m.Verb, m.Path, "", string(m.Body)); status >= 300 {
				t.Errorf("%s: %d %s, %v", m.Method, status, text, err)
			}
		}
	}
}

// TestPageOfAny: circles of types and unions have an example, too.
func TestPageOfAny(t *testing.T) {
	g := startFor(t, `
struct Node { 1: optional Node next, 2: list<Node> more, 3: map<string, Node> named, 4: Choice choice, 5: optional binary b = "x" }
union Choice { 1: string a, 2: Node b }
service S { void f(1: Node n) (api.post = "/f") void g(1: Choice c) (api.post = "/g") void h(1: Node n, 2: i32 m) (api.any = "/h") }`,
		reply(nil), 0)
	for _, r := range g.Routes() {
		if info := infoOf(r); len(info.Body) < 3 || !json.Valid(info.Body) {
			t.Errorf("%s has the example %s", info.Method, info.Body)
		}
	}
}
