package main

import (
	"strings"
	"testing"
)

// TestLeftOut: a field that can't be where its annotation says leaves out one route, of a document
// and of the console. Values that are JSON are taken.
func TestLeftOut(t *testing.T) {
	idl := write(t, "shop.thrift", `
struct Move { 1: required i64 shop_id (api.path = "shop_id") }
struct Query { 1: optional map<string, string> ext (api.query = "ext") }
service Shop {
  void move(1: Move m) (api.post = "/items/move")
  list<string> all(1: Query q) (api.get = "/items")
}`)
	const reason = `Shop.move (api.post): Move.shop_id is required, but can't be set: it is in the path, which has no ":shop_id"`
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "answers.jsonl", `{"method": "Shop.all", "result": ["a"]}`+"\n"))
	addr, stop := startWith(t, []string{"console", server, "-idl", idl, "-listen", "127.0.0.1:0", "-token", "off"}, "is at http://")
	status, text, _ := request(t, "GET", `http://`+addr+`/items?ext=%7B%22a%22:%22b%22%7D`, "", "X-Nocopy-Console: 1")
	if status != 200 || !strings.Contains(text, `{"success":["a"]}`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text, _ = request(t, "GET", `http://`+addr+`/items?ext=x`, "", "X-Nocopy-Console: 1"); status != 400 || !strings.Contains(text, "not JSON") {
		t.Errorf("%d %s", status, text)
	}
	if _, stderr := stop(); !strings.Contains(stderr, "not offered over HTTP: "+reason+"\n") {
		t.Error(stderr)
	}
}
