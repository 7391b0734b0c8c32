package rpc_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// hostOf returns the address in a URL.
func hostOf(t testing.TB, s string) (host, path string) {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host, u.Path
}

// rawRequest returns the bytes of a request with a body, and with headers that replace the usual
// ones.
func rawRequest(method, path string, body []byte, headers ...string) []byte {
	all := []string{"Host: x", "Content-Type: application/x-thrift", fmt.Sprintf("Content-Length: %d", len(body))}
	for _, h := range headers {
		name, _, _ := strings.Cut(h, ":")
		kept := all[:0]
		for _, a := range all {
			if !strings.HasPrefix(a, name+":") {
				kept = append(kept, a)
			}
		}
		if all = kept; !strings.HasSuffix(h, ": -") {
			all = append(all, h)
		}
	}
	return append([]byte(method+" "+path+" HTTP/1.1\r\n"+strings.Join(all, "\r\n")+"\r\n\r\n"), body...)
}

// response reads a response to a request, and its body.
func response(t testing.TB, r *bufio.Reader, method string) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		t.Error(err)
		return &http.Response{}, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp, string(b)
}

// TestHTTPRefused: a request that is no call is answered with a status and a text, a bad call with
// Thrift's exception. Other calls are answered as before.
func TestHTTPRefused(t *testing.T) {
	t.Parallel()
	add := strict(call, "add", 7, addArgs(40, 2))
	compact := []byte("\x82\x21\x07\x03add\x16\x50\x16\x04\x00") // the same
	zip := func(b []byte) []byte {
		zipped := new(bytes.Buffer)
		z := gzip.NewWriter(zipped)
		z.Write(b)
		z.Close()
		return zipped.Bytes()
	}
	sum := string(strict(reply, "add", 7, sumResult(42)))
	const page, gzipped = "Content-Type: text/html", "Content-Encoding: gzip"
	chunked := func(body []byte) []byte {
		return fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}
	const x, te, noLength = "Content-Type: application/x-thrift", "Transfer-Encoding: chunked", "Content-Length: -"
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			q := new(quiet)
			u := start(t, &rpc.Server{MaxFrame: 10_000, Logger: q.logger()}, &handler{notified: make(chan string, 10)})
			host, path := hostOf(t, u)
			for _, c := range []struct {
				name    string
				request []byte
				status  int
				text    string
			}{
				{"GET", rawRequest("GET", path, nil), 405, "POST"},
				{"HEAD", rawRequest("HEAD", path, nil, noLength), 405, ""},
				{"PUT", rawRequest("PUT", path, add), 405, "POST"},
				{"OPTIONS", rawRequest("OPTIONS", path, nil), 405, "POST"},
				{"no type", rawRequest("POST", path, add, "Content-Type: -"), 200, sum},
				{"plain text", rawRequest("POST", path, add, "Content-Type: text/plain"), 200, sum},
				{"bytes", rawRequest("POST", path, add, "Content-Type: application/octet-stream"), 200, sum},
				{"another name", rawRequest("POST", path, add, "Content-Type: application/thrift"), 200, sum},
				{"a form", rawRequest("POST", path, add, "Content-Type: application/x-www-form-urlencoded"), 200, sum},
				{"a type that is none", rawRequest("POST", path, add, "Content-Type: ;;;"), 200, sum},
				{"no type, compact", rawRequest("POST", path, compact, "Content-Type: -"), 200, "\x82\x41\x07\x03add\x06\x00\x54\x00"},
				{"no type, old", rawRequest("POST", path, nonStrict(call, "add", 7, addArgs(40, 2)), "Content-Type: -"), 200, string(nonStrict(reply, "add", 7, sumResult(42)))},
				{"no type, chunked", rawRequest("POST", path, chunked(add), te, noLength, "Content-Type: -"), 200, sum},
				{"no type, nothing", rawRequest("POST", path, nil, "Content-Type: -"), 415, "application/x-thrift"},
				{"no type, a frame", rawRequest("POST", path, frame(add), "Content-Type: -"), 415, "application/x-thrift"},
				{"no type, part of a message", rawRequest("POST", path, add[:10], "Content-Type: -"), 400, "too short"},
				{"no type, too much", rawRequest("POST", path, append(bytes.Clone(add), make([]byte, 10_000)...), "Content-Type: -"), 413, "rpc.Server.MaxFrame = 10000"},
				{"a page", rawRequest("POST", path, []byte("<html>"), page), 415, "application/x-thrift"},
				{"a long page", rawRequest("POST", path, bytes.Repeat([]byte("<p>"), 3000), page), 415, "application/x-thrift"},
				{"a form of text", rawRequest("POST", path, []byte("a=b"), "Content-Type: application/x-www-form-urlencoded"), 415, "application/x-thrift"},
				{"of the same origin", rawRequest("POST", path, add, page, "Origin: http://x"), 200, sum},
				{"of the same origin, new browsers", rawRequest("POST", path, add, page, "Sec-Fetch-Site: same-origin"), 200, sum},
				{"of another page", rawRequest("POST", path, add, "Content-Type: text/plain", "Origin: http://evil.example"), 403, "another origin"},
				{"of another page without a type", rawRequest("POST", path, add, "Content-Type: -", "Sec-Fetch-Site: cross-site"), 403, "another origin"},
				{"JSON", rawRequest("POST", path, []byte(`[1,"add",1,7,{}]`), "Content-Type: application/vnd.apache.thrift.json; charset=utf-8"), 415, "JSON"},
				{"gzip", rawRequest("POST", path, zip(add), gzipped), 200, sum},
				{"gzip without a type", rawRequest("POST", path, zip(add), gzipped, "Content-Type: -"), 200, sum},
				{"gzip, chunked", rawRequest("POST", path, chunked(zip(add)), te, noLength, "Content-Encoding: x-gzip"), 200, sum},
				{"too much in gzip", rawRequest("POST", path, zip(make([]byte, 10_001)), gzipped), 413, "rpc.Server.MaxFrame = 10000"},
				{"no gzip", rawRequest("POST", path, add, gzipped), 400, "malformed"},
				{"half of gzip", rawRequest("POST", path, zip(add)[:20], gzipped), 400, "malformed"},
				{"gzip of a page", rawRequest("POST", path, zip([]byte("<html>")), gzipped, page), 415, "application/x-thrift"},
				{"brotli", rawRequest("POST", path, add, "Content-Encoding: br"), 415, "gzip only"},
				{"compact as binary", rawRequest("POST", path, compact, "Content-Type: application/vnd.apache.thrift.binary"), 400, "protocol"},
				{"binary as compact", rawRequest("POST", path, add, "Content-Type: application/vnd.apache.thrift.compact"), 400, "protocol"},
				{"nothing", rawRequest("POST", path, nil), 400, "too short"},
				{"part of a header", rawRequest("POST", path, add[:10]), 400, "too short"},
				{"garbage", rawRequest("POST", path, []byte("\xff\xfe\xfd\xfc\xfb\xfa")), 400, "not a Thrift"},
				{"a frame", rawRequest("POST", path, frame(add)), 400, "in a frame"},
				{"a compact frame", rawRequest("POST", path, frame(compact)), 400, "in a frame"},
				{"a malformed oneway call", rawRequest("POST", path, strict(oneway, "notify", 7, []byte{9, 0, 1, 0})), 400, "notify_args"},
				{"too much", rawRequest("POST", path, nil, "Content-Length: 10001"), 413, "rpc.Server.MaxFrame = 10000"},
				{"9 EB", rawRequest("POST", path, nil, "Content-Length: 9000000000000000000"), 413, "rpc.Server.MaxFrame = 10000"},
				{"too much, chunked", rawRequest("POST", path, chunked(make([]byte, 10_001)), te, noLength), 413, "rpc.Server.MaxFrame = 10000"},
				{"a call", rawRequest("POST", path, add), 200, string(strict(reply, "add", 7, sumResult(42)))},
				{"a call, chunked", rawRequest("POST", path, chunked(add), te, noLength), 200, string(strict(reply, "add", 7, sumResult(42)))},
				{"a type with a parameter", rawRequest("POST", path, add, x+"; charset=utf-8"), 200, string(strict(reply, "add", 7, sumResult(42)))},
				{"a compact call", rawRequest("POST", path, compact), 200, "\x82\x41\x07\x03add\x06\x00\x54\x00"},
				{"a compact call by its type", rawRequest("POST", path, compact, "Content-Type: application/vnd.apache.thrift.compact"), 200, "\x82\x41\x07\x03add\x06\x00\x54\x00"},
				{"an old header", rawRequest("POST", path, nonStrict(call, "add", 7, addArgs(40, 2))), 200, string(nonStrict(reply, "add", 7, sumResult(42)))},
				{"a service's name", rawRequest("POST", path, strict(call, "S:nothing", 7, []byte{0})), 200, string(strict(exception, "nothing", 7, failure("S:nothing", 1)))},
				{"an unknown method", rawRequest("POST", path, strict(call, "nothing", 7, []byte{0})), 200, string(strict(exception, "nothing", 7, failure("nothing", 1)))},
				{"a reply", rawRequest("POST", path, strict(reply, "add", 7, []byte{0})), 200, string(strict(exception, "add", 7, failure("2", 2)))},
				{"a oneway call", rawRequest("POST", path, strict(oneway, "notify", 7, []byte{0})), 200, ""},
				{"missing bytes", rawRequest("POST", path, add[:len(add)-3]), 200, "unexpected EOF"},
				{"trailing bytes", rawRequest("POST", path, append(bytes.Clone(add), 1, 2, 3)), 200, "bytes after the end"},
				{"two messages", rawRequest("POST", path, append(bytes.Clone(add), add...)), 200, "bytes after the end"},
				{"two compact messages", rawRequest("POST", path, append(bytes.Clone(compact), compact...)), 200, "bytes after the end"},
				{"a bad argument", rawRequest("POST", path, strict(call, "put", 7, []byte{0})), 200, "put_args.mode"},
			} {
				nc := dialRaw(t, host)
				send(t, nc, c.request)
				resp, text := response(t, bufio.NewReader(nc), strings.Fields(string(c.request))[0])
				exact := c.status == 200 && !strings.Contains("unexpected EOF, bytes after the end, put_args.mode", c.text)
				if resp.StatusCode != c.status || !strings.Contains(text, c.text) || exact && text != c.text {
					t.Errorf("%s: %s\n%q, want %d\n%q", c.name, resp.Status, text, c.status, c.text)
				}
				if allow := resp.Header.Get("Allow"); (allow == "POST") != (c.status == 405) {
					t.Errorf("%s: Allow: %q", c.name, allow)
				}
				if got := resp.Header.Get("Content-Type"); c.status == 200 && got != "application/x-thrift" && !bytes.Contains(c.request, []byte("Content-Type: "+got)) {
					t.Errorf("%s: the reply is a %q", c.name, got)
				}
				nc.Close()
			}
			logs(t, q, "peer=127.0.0.1")
			unharmed(t, echo.NewEchoClient(dialHTTP(t, u)))
		})
	}
}

// TestHTTPSmuggled: a request whose end could be understood in two ways is refused, or its
// connection has no other.
func TestHTTPSmuggled(t *testing.T) {
	h := &custom{added: make(chan struct{}, 100)}
	add := strict(call, "add", 7, addArgs(40, 2))
	host := serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h)}, nil)
	inner := rawRequest("POST", "/", add)
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d", n) }
	for _, c := range []struct {
		name    string
		headers string
		body    []byte
		status  int
	}{
		{"two lengths", length(len(add)) + "\r\n" + length(len(add)+len(inner)), append(bytes.Clone(add), inner...), 400},
		{"two lengths in one", length(len(add)) + ", " + fmt.Sprint(len(add)+len(inner)), append(bytes.Clone(add), inner...), 400},
		{"a signed length", "Content-Length: +5", inner, 400},
		{"a negative length", "Content-Length: -1", inner, 400},
		{"a length in hex", "Content-Length: 0x10", inner, 400},
		{"an unknown encoding", "Transfer-Encoding: xchunked", inner, 501},
		{"two encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", inner, 501},
		{"a space before the colon", "Transfer-Encoding : chunked", inner, 400},
		{"a folded line", length(0) + "\r\nX: y\r\n Transfer-Encoding: chunked", inner, 0},
		{"a bare carriage return", length(0) + "\r\nX: y\rTransfer-Encoding: chunked", inner, 400},
		{"a negative chunk", "Transfer-Encoding: chunked", []byte("-1\r\n"), 400},
		{"a huge chunk", "Transfer-Encoding: chunked", []byte("fffffffffffffffff\r\n"), 400},
		{"no host", "", inner, 400},
	} {
		nc := dialRaw(t, host)
		head := "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\n" + c.headers + "\r\n\r\n"
		if c.name == "no host" {
			head = "POST / HTTP/1.1\r\n\r\n"
		}
		send(t, nc, append([]byte(head), c.body...))
		r := bufio.NewReader(nc)
		resp, text := response(t, r, "POST")
		if resp.StatusCode < 400 || c.status != 0 && resp.StatusCode != c.status {
			t.Errorf("%s: %s %q", c.name, resp.Status, text)
		}
		if c.status != 0 {
			if b, err := io.ReadAll(r); len(b) > 0 {
				t.Errorf("%s: then %q, %v", c.name, b, err)
			}
		}
	}
	if c := h.added; len(c) > 1 { // the one after the folded line is a request of its own
		t.Errorf("%d calls were handled", len(c))
	}
	// With both, the encoding counts, and the connection ends.
	nc := dialRaw(t, host)
	send(t, nc, rawRequest("POST", "/", fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(add), add), "Transfer-Encoding: chunked", length(3)))
	if resp, text := response(t, bufio.NewReader(nc), "POST"); resp.StatusCode != 200 && resp.StatusCode != 400 {
		t.Errorf("a length and an encoding: %s %q", resp.Status, text)
	}
}

// TestHTTPManyHeaders: a request's header is bounded.
func TestHTTPManyHeaders(t *testing.T) {
	t.Parallel()
	host := serve(t, &rpc.Server{}, &handler{})
	nc := dialRaw(t, host)
	go nc.Write([]byte("POST / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 100_000) + "\r\n"))
	if resp, _ := response(t, bufio.NewReader(nc), "POST"); resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Error(resp.Status)
	}
	unharmed(t, echo.NewEchoClient(dial(t, host)))
}

// TestHTTPLargeHeaders: if headers are too large together, the largest are left out. The choice
// does not depend on chance.
func TestHTTPLargeHeaders(t *testing.T) {
	got := make(chan map[string]string, 1)
	srv := &rpc.Server{Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		all := map[string]string{}
		for key, value := range rpc.Headers(ctx) {
			all[key] = value
		}
		got <- all
		return next(ctx, c)
	}}}
	nc := dialRaw(t, serve(t, srv, &handler{}))
	r := bufio.NewReader(nc)
	request := rawRequest("POST", "/", strict(call, "add", 7, addArgs(40, 2)), "A: "+strings.Repeat("a", 3000), "B: "+strings.Repeat("b", 3000),
		"C: "+strings.Repeat("c", 3000), "D: d", "Thrift-Timeout: 1000", "Cookie: "+strings.Repeat("x", 9000), "E: one\r\nE: two")
	for range 20 {
		send(t, nc, request)
		response(t, r, "POST")
		h := <-got
		if len(h) != 5 || h["A"] == "" || h["B"] == "" || h["D"] != "d" || h["E"] != "two" || h["Thrift-Timeout"] == "" {
			t.Fatalf("the headers are %.300q", h)
		}
	}
}

// TestHTTPSlow: a header or a body that does not come is not waited for.
func TestHTTPSlow(t *testing.T) {
	t.Parallel()
	add := rawRequest("POST", "/", strict(call, "add", 7, addArgs(40, 2)))
	header := bytes.Index(add, []byte("\r\n\r\n")) + 4
	for _, n := range []int{5, 40, header - 1, header, len(add) - 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			host := serve(t, &rpc.Server{ReadTimeout: 4 * time.Second}, &handler{})
			nc := dialRaw(t, host)
			send(t, nc, add[:n])
			b, err := io.ReadAll(nc)
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Error("the connection stays open")
			}
			if n >= header && !bytes.HasPrefix(b, []byte("HTTP/1.1 408 ")) {
				t.Errorf("%q", b)
			}
		})
	}
}

// FuzzHTTP: every request has a response, and only a call has status 200.
func FuzzHTTP(f *testing.F) {
	add := strict(call, "add", 7, addArgs(40, 2))
	for _, t := range []string{"application/x-thrift", "application/vnd.apache.thrift.binary", "application/vnd.apache.thrift.compact", "text/plain", ""} {
		f.Add("POST", t, add, int64(len(add)))
		f.Add("POST", t, []byte("\x82\x21\x07\x03add\x16\x50\x16\x04\x00"), int64(-1))
	}
	f.Add("GET", "application/x-thrift", add, int64(len(add)))
	f.Add("POST", "application/x-thrift", strict(oneway, "notify", 7, []byte{0}), int64(5))
	// The handler's own methods sleep as long as they are told
	atOnce := func(context.Context, *rpc.Call) error { return nil }
	p := echo.NewEchoProcessor(&handler{}).WithHandler(atOnce, "echo", "notify", "fail")
	srv := &rpc.Server{Processor: p, MaxFrame: 1 << 16, Logger: new(quiet).logger()}
	f.Cleanup(func() { srv.Shutdown(context.Background()) })
	f.Fuzz(func(t *testing.T, method, contentType string, body []byte, length int64) {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.Method, r.ContentLength = method, max(length, -1)
		r.Header["Content-Type"] = []string{contentType}
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		if w.Code == http.StatusOK && method != "POST" || w.Code != http.StatusOK && w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s %q %q: %d", method, contentType, body, w.Code)
		}
		if w.Code != http.StatusOK && w.Body.Len() == 0 {
			t.Errorf("status %d without a text", w.Code)
		}
	})
}
