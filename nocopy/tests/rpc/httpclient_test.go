package rpc_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// fakeHTTP serves f until the test has ended.
func fakeHTTP(t testing.TB, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

// TestHTTPClientErrors tests the result of a call for each kind of answer.
func TestHTTPClientErrors(t *testing.T) {
	t.Parallel()
	const thrift = "application/x-thrift"
	sum := strict(reply, "add", 1, sumResult(42))
	answer := func(status int, contentType string, body []byte, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header()["Content-Type"] = nil
			if contentType != "" {
				w.Header().Set("Content-Type", contentType)
			}
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			w.Write(body)
		}
	}
	is := func(targets ...error) func(error) bool {
		return func(err error) bool {
			for _, target := range targets {
				if !errors.Is(err, target) {
					return false
				}
			}
			return true
		}
	}
	status := func(want int, text string, lost bool) func(error) bool {
		return func(err error) bool {
			var e *rpc.HTTPError
			return errors.As(err, &e) && e.Status == want && e.Text == text && errors.Is(err, rpc.ErrConnLost) == lost && !errors.Is(err, rpc.ErrNotSent)
		}
	}
	application := func(want rpc.ExceptionType) func(error) bool {
		return func(err error) bool {
			var e *rpc.ApplicationException
			return errors.As(err, &e) && e.Type == want
		}
	}
	says := func(text string) func(error) bool {
		return func(err error) bool { return err != nil && strings.Contains(err.Error(), text) }
	}
	zip := func(b []byte) []byte {
		zipped := new(bytes.Buffer)
		z := gzip.NewWriter(zipped)
		z.Write(b)
		z.Close()
		return zipped.Bytes()
	}
	damaged := zip(sum)
	damaged[len(damaged)-5] ^= 1 // of the checksum
	const encoding = "Content-Encoding"
	hijack := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			nc, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				io.WriteString(nc, text)
				nc.Close()
			}
		}
	}
	for _, c := range []struct {
		name   string
		server http.HandlerFunc
		is     func(error) bool
	}{
		{"a reply", answer(200, thrift, sum), is(nil)},
		{"a reply without a type", answer(200, "", sum), is(nil)},
		{"a reply with another type", answer(200, "application/vnd.apache.thrift.binary; charset=utf-8", sum), is(nil)},
		{"a compact reply", answer(200, thrift, []byte("\x82\x41\x01\x03add\x06\x00\x54\x00")), is(rpc.ErrVersion)},
		{"a reply in chunks", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", thrift)
			for _, b := range sum {
				w.Write([]byte{b})
				w.(http.Flusher).Flush()
			}
		}, is(nil)},
		{"not found", answer(404, "text/plain", []byte("no such page\n")), status(404, "no such page", false)},
		{"a long text", answer(500, "text/plain", bytes.Repeat([]byte("x"), 1<<20)), status(500, strings.Repeat("x", 1024), false)},
		{"a text that is none", answer(400, "text/plain", []byte("\xff\xfe")), status(400, "?", false)},
		{"unauthorized", answer(401, "", nil), status(401, "", false)},
		{"a bad gateway", answer(502, "text/plain", []byte("no backend")), status(502, "no backend", true)},
		{"unavailable", answer(503, "", nil), status(503, "", true)},
		{"a gateway's timeout", answer(504, "", nil), status(504, "", true)},
		{"another success", answer(204, "", nil), status(204, "", false)},
		{"a redirect", answer(307, "", nil, "Location", "http://127.0.0.1:1/"), status(307, "to http://127.0.0.1:1/", false)},
		{"a page", answer(200, "text/html", []byte("<html>log in</html>")), says("<html>log in</html>")},
		{"a reply as a page", answer(200, "text/html; charset=UTF-8", sum), is(nil)},
		{"a reply as bytes", answer(200, "application/octet-stream", sum), is(nil)},
		{"a reply as text", answer(200, "text/plain", sum), is(nil)},
		{"a reply with a type that is none", answer(200, ";;;", sum), is(nil)},
		{"an exception as a page", answer(200, "text/html", strict(exception, "add", 1, failure("no", 6))), application(rpc.InternalError)},
		{"an old reply as a page", answer(200, "text/html", nonStrict(reply, "add", 1, sumResult(42))), is(nil)},
		{"a compact reply as a page", answer(200, "text/html", []byte("\x82\x41\x01\x03add\x06\x00\x54\x00")), is(rpc.ErrVersion)},
		{"half a reply as a page", answer(200, "text/html", sum[:len(sum)-3]), is(io.ErrUnexpectedEOF)},
		{"too much as a page", answer(200, "text/html", append(bytes.Clone(sum), make([]byte, 10_000)...)), is(nocopy.ErrLimit)},
		{"a frame as a page", answer(200, "text/html", frame(sum)), says(`its Content-Type is "text/html" instead of`)},
		{"bytes that are no reply", answer(200, "application/octet-stream", []byte("PK\x03\x04")), says("PK")},
		{"a long page", answer(200, "text/html", bytes.Repeat([]byte("<p>"), 100_000)), says("<p><p>")},
		{"an empty page", answer(200, "text/html", nil), says(`its Content-Type is "text/html"`)},
		{"two bytes of a page", answer(200, "text/html", []byte("ok")), says("ok")},
		{"JSON", answer(200, "application/vnd.apache.thrift.json", []byte(`[1,"add",2,1,{}]`)), says(`[1,"add"`)},
		{"gzip", answer(200, thrift, zip(sum), encoding, "gzip"), is(nil)},
		{"x-gzip", answer(200, thrift, zip(sum), encoding, "x-gzip"), is(nil)},
		{"gzip as a page", answer(200, "text/html", zip(sum), encoding, "GZIP"), is(nil)},
		{"a page in gzip", answer(200, "text/html", zip([]byte("<html>log in</html>")), encoding, "gzip"), says("<html>log in</html>")},
		{"an error in gzip", answer(500, "text/plain", zip([]byte("no backend")), encoding, "gzip"), status(500, "no backend", false)},
		{"too much in gzip", answer(200, thrift, zip(make([]byte, 1<<20)), encoding, "gzip"), is(nocopy.ErrLimit)},
		{"a bomb", answer(200, thrift, zip(append(bytes.Clone(sum), make([]byte, 100<<20)...)), encoding, "gzip"), is(nocopy.ErrLimit)},
		{"damaged gzip", answer(200, thrift, damaged, encoding, "gzip"), func(err error) bool { return says("bad reply")(err) && !errors.Is(err, rpc.ErrConnLost) }},
		{"half of gzip", answer(200, thrift, zip(sum)[:20], encoding, "gzip"), is(io.ErrUnexpectedEOF)},
		{"no gzip", answer(200, thrift, sum, encoding, "gzip"), func(err error) bool { return says("bad reply")(err) && !errors.Is(err, rpc.ErrConnLost) }},
		{"brotli", answer(200, thrift, sum, encoding, "br"), says("compressed")},
		{"gzip twice", answer(200, thrift, zip(zip(sum)), encoding, "gzip, gzip"), says("compressed")},
		{"nothing", answer(200, thrift, nil), is(io.ErrUnexpectedEOF)},
		{"half a header", answer(200, thrift, sum[:9]), is(io.ErrUnexpectedEOF)},
		{"half a struct", answer(200, thrift, sum[:len(sum)-3]), is(io.ErrUnexpectedEOF)},
		{"trailing bytes", answer(200, thrift, append(bytes.Clone(sum), 1)), is(nocopy.ErrTrailing)},
		{"garbage", answer(200, thrift, []byte("\xff\xff\xff\xff")), is(rpc.ErrVersion)},
		{"a frame", answer(200, thrift, frame(sum)), is(rpc.ErrVersion)},
		{"too much", answer(200, thrift, make([]byte, 10_001)), is(nocopy.ErrLimit)},
		{"too much in chunks", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", thrift)
			for range 1000 {
				w.Write(make([]byte, 1000))
				w.(http.Flusher).Flush()
			}
		}, is(nocopy.ErrLimit)},
		{"another id", answer(200, thrift, strict(reply, "add", 2, sumResult(42))), application(rpc.BadSequenceID)},
		{"another name", answer(200, thrift, strict(reply, "sub", 1, sumResult(42))), application(rpc.WrongMethodName)},
		{"a call", answer(200, thrift, strict(call, "add", 1, sumResult(42))), application(rpc.InvalidMessageType)},
		{"an exception", answer(200, thrift, strict(exception, "add", 1, failure("no", 6))), application(rpc.InternalError)},
		{"a truncated body", hijack("HTTP/1.1 200 OK\r\nContent-Type: " + thrift + "\r\nContent-Length: 1000\r\n\r\n" + string(sum)), is(rpc.ErrConnLost, io.ErrUnexpectedEOF)},
		{"an end", hijack(""), is(rpc.ErrConnLost, io.EOF)},
		{"another protocol", hijack(string(frame(sum))), is(rpc.ErrConnLost)},
		{"100,000 headers", hijack("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 100_000) + "\r\n"), is(rpc.ErrConnLost)},
	} {
		c2 := echo.NewEchoClient(dialHTTP(t, fakeHTTP(t, c.server), rpc.MaxFrame(10_000)))
		res, err := c2.Add(bg, func(args echo.EchoAddArgs) { args.SetA(40); args.SetB(2) })
		if !c.is(err) || err == nil && res.GetSuccess() != 42 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, code := range []int{200, 202, 204} {
		c := echo.NewEchoClient(dialHTTP(t, fakeHTTP(t, answer(code, "", nil))))
		if err := c.Notify(bg, nil); err != nil {
			t.Errorf("oneway, %d: %v", code, err)
		}
	}
	if err := echo.NewEchoClient(dialHTTP(t, fakeHTTP(t, answer(500, "", nil)))).Notify(bg, nil); !status(500, "", false)(err) {
		t.Errorf("oneway, 500: %v", err)
	}
}

// TestHTTPNotSent: a call that the server can't have is told from one that it may have, and Retry
// acts on it.
func TestHTTPNotSent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there
	tries := 0
	count := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { tries++; return next(ctx, c) }
	retry := rpc.Retry(rpc.RetryPolicy{Idempotent: []string{"version"}})
	c := echo.NewEchoClient(dialHTTP(t, "http://"+l.Addr().String(), rpc.Interceptors(retry, count)))
	if _, err := c.Ping(bg, nil); !errors.Is(err, rpc.ErrNotSent) || tries != 3 {
		t.Errorf("%d tries: %v", tries, err)
	}
	failing := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return nil, errors.New("no token")
	})}
	if _, err := echo.NewEchoClient(dialHTTP(t, "http://x", rpc.HTTPClient(failing))).Ping(bg, nil); !errors.Is(err, rpc.ErrNotSent) || !strings.Contains(err.Error(), "no token") {
		t.Error(err)
	}
	var seen atomic.Int64
	host := fakeHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		if seen.Add(1)%2 == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/x-thrift")
		w.Write(strict(reply, "version", 1, []byte("\x0b\x00\x00\x00\x00\x00\x01v\x00")))
	})
	c = echo.NewEchoClient(dialHTTP(t, host, rpc.Interceptors(retry)))
	if res, err := c.Version(bg, nil); err != nil || res.GetSuccess() != "v" || seen.Load() != 2 {
		t.Errorf("%d tries: %v", seen.Load(), err)
	}
	if _, err := c.Ping(bg, nil); !errors.Is(err, rpc.ErrConnLost) || seen.Load() != 3 {
		t.Errorf("%d tries: %v", seen.Load(), err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestHTTPToken: an http.Client of the program adds tokens, and follows redirects.
func TestHTTPToken(t *testing.T) {
	srv := httptest.NewServer(rpc.HTTPHandler(echo.NewEchoProcessor(&handler{}), func(s *rpc.Server) {
		s.Interceptors = []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			if rpc.Header(ctx, "Authorization") != "Bearer secret" {
				return &rpc.ApplicationException{Type: rpc.InternalError, Message: "who are you?"}
			}
			return next(ctx, c)
		}}
	}))
	t.Cleanup(srv.Close)
	front := fakeHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, srv.URL, http.StatusTemporaryRedirect)
	})
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("Expect", "100-continue") // a redirect comes before the call then
		return transport.RoundTrip(r)
	})}
	unharmed(t, echo.NewEchoClient(dialHTTP(t, srv.URL, rpc.HTTPClient(client))))
	unharmed(t, echo.NewEchoClient(dialHTTP(t, front, rpc.HTTPClient(client))))
	if _, err := echo.NewEchoClient(dialHTTP(t, srv.URL)).Ping(bg, nil); err == nil || !strings.Contains(err.Error(), "who are you?") {
		t.Error(err)
	}
	withHeader := rpc.SetHeader(bg, "authorization", "Bearer secret")
	if _, err := echo.NewEchoClient(dialHTTP(t, srv.URL)).Ping(withHeader, nil); err != nil {
		t.Error(err)
	}
}

// TestHTTPGivenUp: a call ends when its context does, when the client is closed, or when the
// server stalls.
func TestHTTPGivenUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	stalls := func(w http.ResponseWriter, r *http.Request) { <-release }
	halts := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-thrift")
		w.Header().Set("Content-Length", "1000")
		w.(http.Flusher).Flush()
		<-release
	}
	for name, server := range map[string]http.HandlerFunc{"before the reply": stalls, "in the reply": halts} {
		c := dialHTTP(t, fakeHTTP(t, server))
		ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
		if _, err := echo.NewEchoClient(c).Ping(ctx, nil); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, rpc.ErrConnLost) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		time.AfterFunc(20*time.Millisecond, func() { c.(io.Closer).Close() })
		if _, err := echo.NewEchoClient(c).Ping(bg, nil); !errors.Is(err, rpc.ErrClientClosed) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := echo.NewEchoClient(c).Ping(bg, nil); !errors.Is(err, rpc.ErrClientClosed) {
			t.Errorf("%s, again: %v", name, err)
		}
	}
	c := dialHTTP(t, fakeHTTP(t, halts), rpc.StallTimeout(200*time.Millisecond))
	if _, err := echo.NewEchoClient(c).Ping(bg, nil); !errors.Is(err, rpc.ErrConnLost) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a reply that stalls: %v", err)
	}
	other := func(status int, contentType string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(status)
			w.(http.Flusher).Flush()
			<-release
		}
	}
	for name, server := range map[string]http.HandlerFunc{"a status": other(500, "text/plain"), "a page": other(200, "text/html")} {
		c := dialHTTP(t, fakeHTTP(t, server), rpc.StallTimeout(200*time.Millisecond))
		if _, err := echo.NewEchoClient(c).Ping(bg, nil); !errors.Is(err, rpc.ErrConnLost) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s whose text stalls: %v", name, err)
		}
	}
	c = dialHTTP(t, fakeHTTP(t, other(200, "application/x-thrift")), rpc.StallTimeout(200*time.Millisecond))
	if err := echo.NewEchoClient(c).Notify(bg, nil); err != nil {
		t.Errorf("a oneway call whose answer stalls: %v", err)
	}
	for _, begun := range []string{"H", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 103 Early Hints\r\n"} {
		dribbles := fakeServer(t, func(nc net.Conn) {
			http.ReadRequest(bufio.NewReader(nc))
			io.WriteString(nc, begun)
			<-release
		})
		c = dialHTTP(t, "http://"+dribbles, rpc.StallTimeout(200*time.Millisecond))
		if _, err := echo.NewEchoClient(c).Ping(bg, nil); !errors.Is(err, rpc.ErrConnLost) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a response that stalls after %q: %v", begun, err)
		}
	}
	thinks := fakeHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		time.Sleep(400 * time.Millisecond)
		w.Header().Set("Content-Type", "application/x-thrift")
		w.Write(strict(reply, "ping", 1, []byte{0}))
	})
	c = dialHTTP(t, thinks, rpc.StallTimeout(200*time.Millisecond))
	if _, err := echo.NewEchoClient(c).Ping(bg, nil); err != nil {
		t.Errorf("a server that takes longer than it may stall: %v", err)
	}
	deaf := fakeServer(t, func(nc net.Conn) { <-release }) // reads nothing
	c = dialHTTP(t, "http://"+deaf, rpc.StallTimeout(200*time.Millisecond))
	big := make([]byte, 64<<20)
	_, err := echo.NewEchoClient(c).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(big) })
	if !errors.Is(err, rpc.ErrNotSent) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a call that nobody takes: %v", err)
	}
	clear(big) // nothing reads it any more, or -race says so
	close(release)
}

// TestDialHTTP: addresses that can't be dialled, and options that can't be set, are errors.
func TestDialHTTP(t *testing.T) {
	for _, url := range []string{"", "localhost:80", "ftp://localhost", "http://", "http:localhost", "http://[::1", "unix:///tmp/s"} {
		if c, err := rpc.DialHTTP(url); err == nil || c != nil {
			t.Errorf("%q is accepted", url)
		}
	}
	own := rpc.HTTPClient(http.DefaultClient)
	for want, opts := range map[string][]rpc.Option{
		"rpc.Unframed":      {rpc.Unframed},
		"rpc.SASL":          {rpc.SASL(mechanism{name: "PLAIN"})},
		"rpc.SharedMemory":  {rpc.CopyFromPeer},
		"rpc.MaxShared":     {rpc.MaxShared(1 << 20)},
		"rpc.MaxConnAge":    {rpc.MaxConnAge(time.Minute)},
		"rpc.OneConnection": {rpc.OneConnection},
		"rpc.THeader":       {rpc.THeader()},
		"rpc.TLS":           {own, rpc.TLS(&tls.Config{})},
		"rpc.Dialer":        {own, rpc.Dialer(new(net.Dialer).DialContext)},
		"rpc.DialTimeout":   {own, rpc.DialTimeout(time.Second)},
		"rpc.KeepAlive":     {own, rpc.KeepAlive{Enable: true}},
		"rpc.IdleTimeout":   {own, rpc.IdleTimeout(time.Second)},
		"rpc.PoolSize":      {own, rpc.PoolSize(1)},
		"a nil rpc.Option":  {nil},
		"without a Client":  nil,
		"for rpc.DialHTTP":  nil,
		"without a Process": nil,
		"a nil function":    nil,
	} {
		func() {
			defer func() {
				if v, ok := recover().(string); !ok || !strings.HasPrefix(v, "nocopy: ") || !strings.Contains(v, want) {
					t.Errorf("%s: %q", want, v)
				}
			}()
			switch want {
			case "without a Client":
				rpc.HTTPClient(nil)
			case "for rpc.DialHTTP":
				rpc.Dial(bg, "tcp", "127.0.0.1:1", own)
			case "without a Process":
				rpc.HTTPHandler(nil)
			case "a nil function":
				rpc.HTTPHandler(echo.NewEchoProcessor(&handler{}), nil)
			default:
				rpc.DialHTTP("http://localhost", opts...)
			}
		}()
	}
}

// TestHTTPHeaders: headers of calls and replies are sent as headers of HTTP.
func TestHTTPHeaders(t *testing.T) {
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			got := make(chan http.Header, 1)
			intercept := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				h := http.Header{}
				for key, value := range rpc.Headers(ctx) {
					h.Add(key, value)
				}
				if d, ok := ctx.Deadline(); ok && time.Until(d) < time.Hour {
					h.Set("deadline", "soon")
				}
				got <- h
				for i := range 3 {
					if err := rpc.SetReplyHeader(ctx, fmt.Sprint("Reply-", i), "x"); err != nil && !c.Method.Oneway() {
						t.Error(err)
					}
				}
				if err := rpc.SetReplyHeader(ctx, "Content-Length", "5"); err == nil {
					t.Error("a header that is HTTP's own can be set")
				}
				return next(ctx, c)
			}
			srv := &rpc.Server{Interceptors: []rpc.Interceptor{intercept}, Deadlines: true}
			u := start(t, srv, &handler{})
			c := echo.NewEchoClient(dialHTTP(t, u, rpc.Deadlines))
			var replies rpc.ReplyHeaders
			ctx, cancel := context.WithTimeout(bg, 30*time.Minute)
			defer cancel()
			ctx = rpc.ReceiveHeaders(rpc.SetHeader(rpc.SetHeader(ctx, "traceparent", "00-1"), "X-Token", "secret"), &replies)
			for _, how := range []string{"", "fail"} {
				_, err := c.Fail(ctx, func(args echo.EchoFailArgs) { args.SetHow(how) })
				if err != nil {
					t.Error(err)
				}
				h := <-got
				if h.Get("traceparent") != "00-1" || h.Get("x-token") != "secret" || h.Get("thrift-timeout") == "" || h.Get("deadline") != "soon" {
					t.Errorf("the request has %v", h)
				}
				for _, name := range []string{"Content-Type", "Content-Length", "Host", "Accept", "Accept-Encoding", "Connection"} {
					if h.Get(name) != "" {
						t.Errorf("a handler sees %s", name)
					}
				}
				if replies.Get("reply-2") != "x" || replies.Get("Content-Type") != "" {
					t.Errorf("the reply has %v", slog.AnyValue(&replies))
				}
			}
			host, path := hostOf(t, u)
			nc := dialRaw(t, host)
			request := rawRequest("POST", path, strict(call, "add", 7, addArgs(40, 2)), strings.Repeat("X-Y: z\r\n", 110)+"X-Last: 1", "Thrift-Timeout: 1x", "X-Big: "+strings.Repeat("b", 20_000))
			send(t, nc, request)
			h := <-got
			n, size := 0, 0
			for key, values := range h {
				for _, value := range values {
					n, size = n+1, size+len(key)+len(value)
				}
			}
			if n > rpc.MaxHeaders || size > rpc.MaxHeaderBytes {
				t.Errorf("%d headers of %d bytes", n, size)
			}
		})
	}
}

// TestHTTPForward: a proxy speaks HTTP on either side, with headers, exceptions and unknown
// methods.
func TestHTTPForward(t *testing.T) {
	t.Parallel()
	backend := "http://" + serve(t, &rpc.Server{}, &handler{notified: make(chan string, 100)})
	host, _ := hostOf(t, backend)
	for name, to := range map[string]rpc.Caller{"to HTTP": dialHTTP(t, backend), "to compact HTTP": dialHTTP(t, backend, rpc.Protocol(rpc.Compact)), "to frames": dial(t, host)} {
		forward := rpc.Forward(to)
		for kind, p := range map[string]*rpc.Processor{
			"known":   echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(forward),
			"unknown": rpc.NewProcessor("", nil).WithFallback(forward),
		} {
			proxy := serve(t, &rpc.Server{Processor: p, Lazy: true}, nil)
			for from, c := range map[string]rpc.Caller{"from HTTP": dialHTTP(t, "http://"+proxy), "from frames": dial(t, proxy), "from compact": dial(t, proxy, rpc.Protocol(rpc.Compact))} {
				t.Run(fmt.Sprint(kind, " ", from, " ", name), func(t *testing.T) {
					c := echo.NewEchoClient(c)
					unharmed(t, c)
					payload := bytes.Repeat([]byte("x"), 300_000)
					res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
					if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
						t.Error(err)
					}
					put := func(mode string) error {
						_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("key"); args.SetMode(mode) })
						return err
					}
					var missing echo.NotFound
					if err := put("missing, filled"); !errors.As(err, &missing) || missing.GetKey() != "key" {
						t.Error(err)
					}
					var e *rpc.ApplicationException
					if err := put("application exception"); !errors.As(err, &e) || e.Type != rpc.InvalidTransform {
						t.Error(err)
					}
					if err := c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("x") }); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
