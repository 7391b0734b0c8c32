package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestReload: while requests are under way the IDL is replaced again and again, also by broken
// ones. Each request is answered, by the old IDL or the new one.
func TestReload(t *testing.T) {
	g := startAll(t)
	old := idl(t)
	moved := maps.Clone(old)
	moved["kvstore.thrift"] = strings.ReplaceAll(moved["kvstore.thrift"], `"/v1/keys/:key"`, `"/v2/keys/:key"`)
	moved["orders.thrift"] = strings.ReplaceAll(moved["orders.thrift"], "2: i32 count = 1", "2: i32 count = 1\n  4: string colour")
	broken := maps.Clone(old)
	broken["kvstore.thrift"] += "struct {"
	var sent atomic.Int64
	var stop atomic.Bool
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for !stop.Load() {
				g.want("POST", "/v1/orders", "", `{"customer": "Ada"}`, 422, `{"error":"Refused","exception":{"why":"an order without lines"}}`)
				sent.Add(1)
			}
		})
	}
	const missing = `{"error":"NotFound","exception":{"key":"YQ=="}}`
	defer senders.Wait()
	defer stop.Store(true)
	for round := range 20 {
		if err := g.use(moved); err != nil {
			t.Fatal(err)
		}
		g.want("GET", "/v2/keys/a", "", "", 404, missing)
		if status, _, text, err := g.send("GET", "/v1/keys/a", "", ""); status != 404 || !strings.Contains(text, "no method") {
			t.Errorf("round %d: %d %s, %v at the old path", round, status, text, err)
		}
		if err := g.use(broken); err == nil || !strings.Contains(err.Error(), "kvstore.thrift:") {
			t.Fatalf("error %v for a broken IDL", err)
		}
		g.want("GET", "/v2/keys/a", "", "", 404, missing)
		if err := g.use(old); err != nil {
			t.Fatal(err)
		}
		g.want("GET", "/v1/keys/a", "", "", 404, missing)
	}
	stop.Store(true)
	senders.Wait()
	if sent.Load() < 20 {
		t.Errorf("only %d requests were sent meanwhile", sent.Load())
	}
}

// TestRefused: an IDL that can't be used is refused with a reason that says where.
func TestRefused(t *testing.T) {
	g := startAll(t)
	for _, c := range []struct{ idl, want string }{
		{`struct A {`, "a.thrift:1:"},
		{`service Other { void f() }`, "no service has a server"},
		{`service Other { void f() (api.get = "/a") }`, "Other.f (api.get): the service has no server"},
		{`service KeyValue { void f() (api.get = "a") }`, "does not begin with a slash"},
		{`service KeyValue { void f() (api.get = "/a b") }`, "does not begin with a slash"},
		{`service KeyValue { void f() (api.get = "/{a}") }`, "does not begin with a slash"},
		{`service KeyValue { void f() (api.get = "/a//b") }`, "can't have a part"},
		{`service KeyValue { void f() (api.get = "/*a/b") }`, "can't have a part"},
		{`service KeyValue { void f() (api.get = "/:") }`, "KeyValue.f: "},
		{`service KeyValue { void f() (api.get = "/:a/:a") }`, "KeyValue.f: "},
		{`struct A { 1: required string a (api.path = "a") } service KeyValue { void f(1: A a) (api.get = "/b") }`, `has no ":a"`},
		{`service KeyValue { void f(1: i32 a (api.raw_body)) (api.post = "/b") }`, "can't be in api.raw_body"},
		{`struct A { 1: i32 a (api.body = "b"), 2: i32 b } service KeyValue { void f(1: A a) (api.post = "/b") }`, "same name"},
		{`exception E {} (api.http_code = "99") service KeyValue { void f() throws (1: E e) (api.post = "/b") }`, "no status"},
	} {
		if err := g.use(map[string]string{"a.thrift": c.idl}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nerror %v\nwant  %s", c.idl, err, c.want)
		}
	}
	if !strings.Contains((*g.refused.Load()).Error(), "no status") {
		t.Error("the latest reason is not kept")
	}
	g.want("GET", "/v1/keys/a", "", "", 404, `{"error":"NotFound","exception":{"key":"YQ=="}}`)
}

// TestProgram runs the program as users do, and edits its IDL.
func TestProgram(t *testing.T) {
	folder, beside := t.TempDir(), t.TempDir()
	// A file that is written in place is empty for a moment, which is IDL, too.
	write := func(name, text string) {
		from := filepath.Join(beside, name)
		if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(from, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	texts := idl(t)
	for name, text := range texts {
		write(name, text)
	}
	ctx, interrupt := context.WithCancel(context.Background())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		c := config{listen: "127.0.0.1:0", idl: folder, timeout: time.Minute, poll: 5 * time.Millisecond}
		err := c.run(ctx, in)
		in.CloseWithError(io.EOF)
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-ended)
	}
	g := &testGateway{t: t, url: strings.TrimSuffix(line, "/\n"), client: &http.Client{Timeout: 2 * time.Minute}}
	defer g.client.CloseIdleConnections()
	status := func(path string) string {
		status, _, text, err := g.send("GET", path, "", "")
		return fmt.Sprint(status, " ", text, " ", err)
	}
	until := func(path, want string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if strings.Contains(status(path), want) {
				return
			}
		}
		t.Fatalf("%s is %s, not %s", path, status(path), want)
	}
	// The page follows a moment after the routes.
	accepted := func() {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if !strings.Contains(status("/_gateway/methods"), "refused") {
				return
			}
		}
		t.Fatalf("the page still says that an IDL is refused: %s", status("/_gateway/methods"))
	}
	until("/v1/keys/a", "NotFound")
	write("kvstore.thrift", strings.ReplaceAll(texts["kvstore.thrift"], "/v1/", "/v2/"))
	until("/v2/keys/a", "NotFound")
	until("/v1/keys/a", "Not Found")
	write("kvstore.thrift", "service KeyValue { void")
	until("/_gateway/methods", `"refused":"kvstore.thrift:1:`)
	until("/v2/keys/a", "NotFound")
	write("kvstore.thrift", texts["kvstore.thrift"])
	until("/v1/keys/a", "NotFound")
	accepted()
	write("large.thrift", strings.Repeat("// ", maxIDL/3+1))
	until("/_gateway/methods", "more than 1048576 bytes")
	os.Remove(filepath.Join(folder, "large.thrift"))
	until("/_gateway/methods", `{"methods"`)
	accepted()
	until("/v1/keys/a", "NotFound")
	g.client.CloseIdleConnections()
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
