package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient runs tests, and waits until goroutines have ended: goleak does so for less than a
// second. A server that refuses a body keeps its connection for half a second more.
type patient struct{ *testing.M }

func (p patient) Run() int {
	code := p.M.Run()
	for end := time.Now().Add(time.Minute); code == 0 && goleak.Find() != nil && time.Now().Before(end); {
	}
	return code
}

// The limits of a Gateway; see package gateway.
const (
	maxBody    = 1 << 20
	maxHeaders = 100
	maxParts   = 1000 // of a form
	firstBytes = 512  // of a body before its first byte has arrived
)

// A testGateway is a gateway that HTTP requests can be sent to.
type testGateway struct {
	*site
	t      *testing.T
	url    string
	client *http.Client
}

// start starts a gateway for IDL files, with its HTTP server. All ends with the test.
func start(t *testing.T, texts map[string]string, backends map[string]rpc.Caller, timeout time.Duration, set ...func(*site)) *testGateway {
	t.Helper()
	g := newSite(backends, timeout)
	for _, f := range set {
		f(g)
	}
	if err := g.use(texts); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := newServer(g, timeout)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1100}, Timeout: 2 * time.Minute}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		srv.Close()
		<-served
	})
	return &testGateway{g, t, "http://" + l.Addr().String(), client}
}

// startAll starts a gateway for the example's IDL and services.
func startAll(t *testing.T, set ...func(*site)) *testGateway {
	t.Helper()
	texts := idl(t)
	backends, stop, err := config{}.startBackends(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return start(t, texts, backends, time.Minute, set...)
}

func idl(t *testing.T) map[string]string {
	t.Helper()
	texts, err := readIDL(os.DirFS("idl"))
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// send sends a request, whose header is "name: value" lines, and returns the answer.
func (g *testGateway) send(verb, path, header, body string) (int, http.Header, string, error) {
	req, err := http.NewRequest(verb, g.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		req.Header.Set(name, value)
	}
	res, err := g.client.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header, strings.TrimSpace(string(text)), err
}

// want sends a request and compares the answer.
func (g *testGateway) want(verb, path, header, body string, status int, want string) http.Header {
	g.t.Helper()
	have, answer, text, err := g.send(verb, path, header, body)
	if err != nil {
		g.t.Errorf("%s %s: %v", verb, path, err)
	} else if have != status || text != want {
		g.t.Errorf("%s %s %s\nhave %d %s\nwant %d %s", verb, path, body, have, text, status, want)
	}
	return answer
}

// TestRedirect: paths with empty parts and dots are redirected, with JSON that says where to.
func TestRedirect(t *testing.T) {
	g := startAll(t)
	g.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, clean := range map[string]string{"//v1/keys/hello": "/v1/keys/hello", "/v1/./keys//": "/v1/keys/", "/none//../nothing": "/nothing"} {
		header := g.want("GET", path, "", "", 307, `{"error":"Temporary Redirect","message":"the path without empty parts and dots is `+clean+`"}`)
		if header.Get("Location") != clean || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", path, header)
		}
	}
}

func TestKeyValue(t *testing.T) {
	g := startAll(t)
	const pair = `{"key": "aGVsbG8=", "value": "d29ybGQ="}`
	const missing = `{"error":"NotFound","exception":{"key":"aGVsbG8="}}`
	g.want("GET", "/v1/keys/hello", "", "", 404, missing)
	g.want("POST", "/v1/keys", "", pair, 200, `{}`)
	g.want("POST", "/v1/keys", "", pair, 409, `{"error":"AlreadyExists","exception":{"key":"aGVsbG8="}}`)
	g.want("GET", "/v1/keys/hello", "", "", 200, `{"success":"d29ybGQ="}`)
	raw := "\x00\xff{ not JSON"
	g.want("PUT", "/v1/keys/hello", "Content-Type: application/octet-stream", raw, 200, `{}`)
	g.want("GET", "/v1/keys/hello", "", "", 200, `{"success":"`+base64.StdEncoding.EncodeToString([]byte(raw))+`"}`)
	g.want("PUT", "/v1/keys/hello", "", "", 200, `{}`)
	g.want("GET", "/v1/keys/hello", "", "", 200, `{"success":""}`)
	g.want("DELETE", "/v1/keys/hello", "", "", 200, `{}`)
	g.want("DELETE", "/v1/keys/hello", "", "", 404, missing)
	// A key may be any bytes: its part of the path is decoded.
	g.want("GET", "/v1/keys/%00%ff%2F..%2Fa%20b", "", "", 404, `{"error":"NotFound","exception":{"key":"AP8vLi4vYSBi"}}`)
	g.want("HEAD", "/v1/keys/hello", "", "", 404, "")
}

func TestOrders(t *testing.T) {
	g := startAll(t)
	header := g.want("POST", "/v1/orders", "X-Request-Id: r-1", `{"customer": "Ada", "lines": [{"article": "engine", "count": 2, "cents": 150}, {"article": "card"}]}`,
		201, `{"id":"1152921504606846977","lines":2,"cents":300}`)
	if id := header.Get("X-Request-Id"); id != "r-1" {
		t.Errorf("the header is %q", id)
	}
	g.want("POST", "/v1/orders?coupon=ten", "", `{"customer": "Ada"}`, 422, `{"error":"Refused","exception":{"why":"an order without lines"}}`)
}

// TestMalformed: the error for a request names the wrong value's path, and its offset if it is in
// a body.
func TestMalformed(t *testing.T) {
	g := startAll(t)
	for _, c := range []struct{ verb, path, header, body, want string }{
		{"GET", "/", "", "", "200 "},
		{"GET", "/nothing", "", "", "404 Not Found"},
		{"GET", "/v1/keys/", "", "", "404 Not Found"},
		{"GET", "/v1/keys/a/b", "", "", "404 Not Found"},
		{"PATCH", "/v1/keys", "", "", "405 Method Not Allowed"},
		{"POST", "/v1/keys", "", `{"key": 7}`, "400 Bad Request create_args.key 8"},
		{"POST", "/v1/keys", "", `{"key": "!"}`, "400 Bad Request create_args.key 8"},
		{"POST", "/v1/keys", "", `{"key": "aGk=", "key": "aGk="}`, "400 Bad Request create_args.key 16"},
		{"POST", "/v1/keys", "", `{"keys": "aGk="}`, "400 Bad Request create_args 1"},
		{"POST", "/v1/keys", "", `{"key": "aGk="`, "400 Bad Request create_args 14"},
		{"POST", "/v1/keys", "", `{} {}`, "400 Bad Request create_args 3"},
		{"POST", "/v1/keys", "", `[]`, "400 Bad Request create_args 0"},
		{"POST", "/v1/keys", "", "\x80\x01\x00\x01", "400 Bad Request create_args 0"},
		{"POST", "/v1/keys", "Content-Type: text/plain", `{}`, "415 Unsupported Media Type"},
		{"POST", "/v1/keys", "Content-Type: application/x-www-form-urlencoded", `{}`, "415 Unsupported Media Type"},
		{"POST", "/v1/keys", "Content-Type: application/x-thrift", "\x0b\x00\x01\x00", "400 Bad Request create_args.key 4"},
		{"POST", "/v1/keys", "", `{"key": "` + strings.Repeat("A", maxBody) + `"}`, "413 Request Entity Too Large"},
		{"PUT", "/v1/keys/a", "", strings.Repeat("A", maxBody+1), "413 Request Entity Too Large"},
		{"POST", "/v1/orders", "", ``, "400 Bad Request Order 0"},
		{"POST", "/v1/orders", "", `{}`, "400 Bad Request Order.customer 1"},
		{"POST", "/v1/orders", "", `{"customer": "A", "lines": [{"article": "x"}, {"article": "y", "count": 1.5}]}`, "400 Bad Request Order.lines[1].count 72"},
		{"POST", "/v1/orders", "", `{"customer": "A", "payment": "SHELLS"}`, "400 Bad Request Order.payment 29"},
		// What comes from elsewhere can't be in the JSON.
		{"POST", "/v1/orders", "", `{"customer": "A", "coupon": "x"}`, "400 Bad Request Order 18"},
		{"POST", "/v1/orders", "", `{"customer": "A", "trace": {"request_id": "x"}}`, "400 Bad Request Order.trace 28"},
		{"POST", "/v1/orders?coupon=%ff", "", `{"customer": "A"}`, "400 Bad Request Order.coupon"},
		{"POST", "/v1/orders?coupon=%zz", "", `{"customer": "A"}`, "400 Bad Request"},
		{"POST", "/v1/orders", "", strings.Repeat(`{"trace":`, 1000), "400 Bad Request Order.trace 10"},
	} {
		status, _, text, err := g.send(c.verb, c.path, c.header, c.body)
		if err != nil {
			t.Errorf("%s %s: %v", c.verb, c.path, err)
			continue
		}
		var p struct {
			Error, Message, Path string
			Offset               *int
		}
		if status != 200 {
			if err := json.Unmarshal([]byte(text), &p); err != nil || p.Message == "" {
				t.Errorf("%s %s: %v in %s", c.verb, c.path, err, text)
			}
		}
		have := strings.TrimRight(fmt.Sprint(status, " ", p.Error, " ", p.Path), " ")
		if p.Offset != nil {
			have += fmt.Sprint(" ", *p.Offset)
		}
		if have != strings.TrimSpace(c.want) {
			t.Errorf("%s %s %.60q\nhave %s (%s)\nwant %s", c.verb, c.path, c.body, have, p.Message, c.want)
		}
	}
	g.want("GET", "/v1/keys/alive", "", "", 404, `{"error":"NotFound","exception":{"key":"YWxpdmU="}}`)
}

// TestNotHTTP: bytes that are no HTTP end their connection only.
func TestNotHTTP(t *testing.T) {
	g := startAll(t)
	for _, bytes := range []string{"\x00\x00\x00\x10\x80\x01\x00\x01", "GET / HTTP/9.9\r\n\r\n", "POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<16) + "\r\n\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, bytes)
		conn.(*net.TCPConn).CloseWrite()
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if len(answer) > 0 && !strings.HasPrefix(string(answer), "HTTP/1.1 4") && !strings.HasPrefix(string(answer), "HTTP/1.1 5") {
			t.Errorf("%.40q is answered by %q", bytes, answer)
		}
	}
	g.want("GET", "/v1/keys/alive", "", "", 404, `{"error":"NotFound","exception":{"key":"YWxpdmU="}}`)
}

func TestBounds(t *testing.T) {
	g := startAll(t)
	var many strings.Builder
	for i := range maxHeaders + 1 {
		fmt.Fprintf(&many, "X-%d: x\n", i)
	}
	if status, _, text, err := g.send("GET", "/v1/keys/a", many.String(), ""); status != 431 {
		t.Errorf("%d %s, %v for too many header fields", status, text, err)
	}
}

// TestCallsAtOnce: there are as many calls at a time as MaxCalls says.
func TestCallsAtOnce(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	g := startFor(t, `service S { void f() (api.get = "/f") }`, reply(func(context.Context, string, []byte) ([]byte, error) {
		began <- struct{}{}
		<-end
		return []byte{0}, nil
	}), time.Minute, func(g *site) { g.MaxCalls = 2 })
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() { g.want("GET", "/f", "", "", 200, `{}`) })
		<-began
	}
	if n := g.Stats().Calls; n != 2 {
		t.Errorf("%d calls are being made, want 2", n)
	}
	header := g.want("GET", "/f", "", "", 503, `{"error":"Service Unavailable","message":"too many requests at a time"}`)
	if header.Get("Retry-After") == "" {
		t.Error("it is not said when to try again")
	}
	close(end)
	calls.Wait()
	go func() { <-began }()
	g.want("GET", "/f", "", "", 200, `{}`)
}

// TestConcurrent: a thousand requests at a time each get their own answer, among them bad ones.
func TestConcurrent(t *testing.T) {
	g := startAll(t)
	const n = 1000
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			key := fmt.Sprint("key ", i)
			text := base64.StdEncoding.EncodeToString([]byte(key))
			value := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(key, i%100)))
			path := strings.ReplaceAll("/v1/keys/"+key, " ", "%20")
			ready.Done()
			<-begin
			g.want("POST", "/v1/keys", "", `{"key":"`+text+`","value":"`+value+`"}`, 200, `{}`)
			g.want("GET", path, "", "", 200, `{"success":"`+value+`"}`)
			if i%10 == 0 {
				g.want("POST", "/v1/keys", "", `{"key":`, 400, `{"error":"Bad Request","message":"unexpected EOF","path":"create_args.key","offset":7}`)
			}
			g.want("DELETE", path, "", "", 200, `{}`)
			g.want("GET", path, "", "", 404, `{"error":"NotFound","exception":{"key":"`+text+`"}}`)
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
}

// FuzzRequest: for any body, the answer is JSON, and blames the right side.
func FuzzRequest(f *testing.F) {
	texts, err := readIDL(os.DirFS("idl"))
	if err != nil {
		f.Fatal(err)
	}
	backends, stop, err := config{}.startBackends(context.Background(), texts)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(stop)
	g := newSite(backends, time.Minute)
	if err := g.use(texts); err != nil {
		f.Fatal(err)
	}
	f.Add("/v1/orders", false, []byte(`{"customer": "A", "lines": [{"article": "x", "count": 2}]}`))
	f.Add("/v1/orders?coupon=x", true, []byte("\x0b\x00\x01\x00\x00\x00\x01A\x0f\x00\x02\x0c\x00\x00\x00\x01\x00\x00"))
	f.Add("/v1/keys", false, []byte(`{"key": "aGk="}`))
	f.Fuzz(func(t *testing.T, path string, asThrift bool, body []byte) {
		req, err := http.NewRequest("POST", "http://x/"+strings.TrimPrefix(path, "/"), strings.NewReader(string(body)))
		if err != nil {
			t.Skip()
		}
		req.Header.Set("Content-Type", map[bool]string{true: "application/x-thrift", false: "application/json"}[asThrift])
		w := httptest.NewRecorder()
		g.ServeHTTP(w, req)
		if w.Code >= 500 {
			t.Errorf("%q %q: %d %s", path, body, w.Code, w.Body)
		}
		if !json.Valid(w.Body.Bytes()) && w.Code/100 != 3 {
			t.Errorf("%d %q is no JSON", w.Code, w.Body)
		}
	})
}
