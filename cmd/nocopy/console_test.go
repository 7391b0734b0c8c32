package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// startConsole starts a console of a mock, and returns the page's URL and its second port, whose
// connections are watched.
func startConsole(t *testing.T) (url, watched string) {
	t.Helper()
	idl, answers := write(t, "shop.thrift", shopIDL), write(t, "answers.jsonl", shopAnswers)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", answers)
	socket := filepath.Join(t.TempDir(), "watched.sock")
	addr, _ := startWith(t, []string{"console", server, "-listen", "127.0.0.1:0", "-token", "off", "-watch", socket}, "is at http://")
	return "http://" + addr, socket
}

// request makes a request with headers that are "name: value", and returns the status and the
// body.
func request(t *testing.T, method, url, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

const jsonType = "Content-Type: application/json"

// TestConsole makes calls as the page does, and watches traffic.
func TestConsole(t *testing.T) {
	url, watched := startConsole(t)
	for path, want := range map[string]string{"/": "<title>nocopy console", "/_console/console.js": "EventSource", "/_console/console.css": "color-scheme"} {
		status, text, header := request(t, "GET", url+path, "")
		if status != 200 || !strings.Contains(text, want) || !strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'self'") {
			t.Errorf("%s: %d %v", path, status, header)
		}
		if strings.Contains(text, "innerHTML") || strings.Contains(text, "http://") || strings.Contains(text, "https://") {
			t.Errorf("%s makes elements of texts, or refers to other servers", path)
		}
	}
	var state struct {
		Services []struct {
			Name    string
			Methods []struct {
				Name, Args, Returns string
				Routes              []string
			}
		}
		Types struct {
			Structs map[string]struct{ Name string }
		}
	}
	_, text, _ := request(t, "GET", url+"/_console/state", "")
	if err := json.Unmarshal([]byte(text), &state); err != nil || len(state.Services) != 2 {
		t.Fatalf("%s, %v", text, err)
	}
	for _, m := range state.Services[1].Methods {
		if m.Name == "get" && (m.Returns != "Order" || state.Types.Structs[m.Args].Name != "get_args" || len(m.Routes) != 1 || m.Routes[0] != "POST /Shop/get") {
			t.Errorf("%+v", m)
		}
	}
	for args, want := range map[string]string{
		`{"method": "Shop.add", "args": "{\"a\": 1}"}`:                               `"result":"3"`,
		`{"method": "Shop.get", "args": "{\"id\": 404}", "headers": [["x-a", "b"]]}`: `"exception":"NotFound"`,
		`{"method": "Shop.add", "args": "{\"a\": 8}"}`:                               `"error":"rpc: internal error: no"`,
		`{"method": "Shop.add", "args": "{\"c\": 8}"}`:                               `it takes i32 a, i32 b`,
		`{"method": "Shop.none", "args": "{}"}`:                                      `not found`,
		`{"method": "Shop.add", "args": "{\"a\": 1}", "headers": [["a\r\nb", "c"]]}`: `"error":"rpc: `,
		`{"method": "Shop.get", "args": "{\"id\": 9007199254740993}"}`:               `i64 9007199254740993`,
	} {
		if status, text, _ := request(t, "POST", url+"/_console/call", args, jsonType); status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", args, status, text)
		}
	}
	if status, text, _ := request(t, "POST", url+"/Shop/add", `{"a": 1, "b": 2}`, jsonType); status != 200 || text != "{\"success\":4}\n" {
		t.Errorf("over the gateway: %d %s", status, text)
	}
	// Traffic of the console's own calls, and of another client's.
	res, err := http.Get(url + "/_console/traffic")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	want(t, 0, "4", "", "call", watched, "add", "a=1", "b=77", "-transport", "unframed")
	seen, lines := "", bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && !(strings.Contains(seen, "i64 404") && strings.Contains(seen, "b: i32 77")) {
		seen += lines.Text() + "\n"
	}
	if !strings.Contains(seen, "b: i32 77") {
		t.Errorf("the traffic is %s", seen)
	}
}

// TestConsoleOfOtherSites: pages of other sites, also those whose name means this machine, can
// make no call and read nothing.
func TestConsoleOfOtherSites(t *testing.T) {
	url, _ := startConsole(t)
	const call = `{"method": "Shop.add", "args": "{\"a\": 1}"}`
	for _, path := range []string{"/_console/call", "/Shop/add"} {
		for _, c := range []struct {
			status  int
			headers []string
		}{
			{403, []string{jsonType, "Origin: http://evil.example"}},
			{403, []string{jsonType, "Origin: null"}},
			{403, []string{jsonType, "Sec-Fetch-Site: cross-site"}},
			{403, []string{jsonType, "Sec-Fetch-Site: same-site"}},
			{421, []string{jsonType, "Host: evil.example"}},
			{421, []string{jsonType, "Host: evil.example:80", "Origin: http://evil.example:80", "Sec-Fetch-Site: same-origin"}},
			{421, []string{jsonType, "Host: localhost.evil.example"}},
			{403, []string{"Content-Type: text/plain"}},
			{403, []string{"Content-Type: application/x-www-form-urlencoded"}},
		} {
			status, text, header := request(t, "POST", url+path, call, c.headers...)
			if status != c.status || strings.Contains(text, "result") || header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %v: %d %s, want %d", path, c.headers, status, text, c.status)
			}
		}
	}
	for _, path := range []string{"/_console/state", "/_console/traffic", "/_console/console.js", "/"} {
		if status, _, _ := request(t, "GET", url+path, "", "Host: evil.example"); status != 421 {
			t.Errorf("%s for another host: %d", path, status)
		}
		if status, _, _ := request(t, "GET", url+path, "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"); status != 403 {
			t.Errorf("%s for another site: %d", path, status)
		}
		for _, origin := range []string{"http://evil.example", "null", "http://%zz"} {
			if status, _, _ := request(t, "GET", url+path, "", "Origin: "+origin); status != 403 {
				t.Errorf("%s for %s: %d", path, origin, status)
			}
		}
		if path != "/_console/traffic" { // which does not end
			if status, _, _ := request(t, "GET", url+path, "", "Origin: "+url); status != 200 {
				t.Errorf("%s for the page itself: %d", path, status)
			}
		}
	}
	if status, _, header := request(t, "OPTIONS", url+"/_console/call", "", "Origin: http://evil.example", "Access-Control-Request-Method: POST"); status < 400 || header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a preflight request: %d %v", status, header)
	}
	if status, _, _ := request(t, "GET", url+"/", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"); status != 200 {
		t.Errorf("a link to the page: %d", status)
	}
	for _, host := range []string{"localhost", "LOCALHOST.:90", "127.0.0.1:1", "[::1]:90", "192.0.2.7"} {
		if status, _, _ := request(t, "GET", url+"/", "", "Host: "+host); status != 200 {
			t.Errorf("host %s: %d", host, status)
		}
	}
}

// inBrowser returns a context for Chromium, if there is one; else the test is skipped.
func inBrowser(t *testing.T) context.Context {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium here: TestConsole does the same without one")
	}
	dir, err := os.MkdirTemp("", "browser") // the browser may write to it for a moment after its end
	if err != nil {
		t.Fatal(err)
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.UserDataDir(dir), chromedp.WindowSize(1200, 900))...)
	ctx, cancelContext := chromedp.NewContext(allocator)
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(func() {
		cancel()
		cancelContext()
		cancelAllocator()
		os.RemoveAll(dir)
	})
	return ctx
}

// TestConsoleInBrowser uses the page in Chromium, if there is one.
func TestConsoleInBrowser(t *testing.T) {
	ctx := inBrowser(t)
	url, watched := startConsole(t)
	other, _ := start(t, "mock", "-idl", write(t, "fleet.thrift", fleetIDL), "-listen", "127.0.0.1:0")
	pairs, _ := start(t, "console", other, "-listen", "127.0.0.1:0", "-token", "off")
	var result, verdict, sent, past, again, traffic, keys string
	var picture []byte
	err := chromedp.Run(ctx,
		chromedp.Navigate(url+"/"),
		chromedp.Click(`button[data-method="Shop.add"]`), chromedp.SetValue(`input[aria-label="a"]`, "1"), chromedp.SendKeys(`input[aria-label="b"]`, "2"),
		chromedp.Click("#send"), chromedp.Text("#result", &result), chromedp.Text("#sent", &sent),
		chromedp.Click(`button[data-method="Shop.get"]`), chromedp.SetValue(`input[aria-label="id"]`, "404"), chromedp.Click("#send"), chromedp.Text("#verdict", &verdict),
		chromedp.Click(`button[data-method="Shop.echo"]`), chromedp.Click(`//button[text()="set Order"]`, chromedp.BySearch), chromedp.SetValue(`input[aria-label="id"]`, "9007199254740993"),
		chromedp.FullScreenshot(&picture, 100),
		chromedp.Click("#send"), chromedp.WaitVisible("#received"), chromedp.Text("#sent", &again),
		chromedp.Click("#tab-history"), chromedp.WaitVisible("#history"), chromedp.Text("#history", &past),
		chromedp.ActionFunc(func(context.Context) error {
			want(t, 0, "4", "", "call", watched, "add", "a=1", "b=77")
			return nil
		}),
		chromedp.Click("#tab-traffic"), chromedp.WaitVisible("#messages pre"), chromedp.Sleep(300*time.Millisecond), chromedp.Text("#messages", &traffic),
		// A map with structs as keys
		chromedp.Navigate("http://"+pairs+"/"), chromedp.Click(`button[data-method="Fleet.count"]`), chromedp.Click(`//button[text()="add"]`, chromedp.BySearch),
		chromedp.Click(`//button[text()="set Cell"]`, chromedp.BySearch), chromedp.SetValue(`input[aria-label="x"]`, "5"), chromedp.SetValue(`.item input[placeholder="i32"]:not([aria-label])`, "66"),
		chromedp.Click("#send"), chromedp.WaitVisible("#received"), chromedp.Text("#sent", &keys),
	)
	if name := os.Getenv("NOCOPY_SCREENSHOT"); name != "" && len(picture) > 0 {
		os.WriteFile(name, picture, 0o600)
	}
	if err != nil || result != "3" || !strings.Contains(sent, "1 a: i32 1") || !strings.HasPrefix(verdict, "exception NotFound") ||
		!strings.Contains(again, "i64 9007199254740993") || strings.Count(past, "Shop.") != 3 || !strings.Contains(traffic, "b: i32 77") ||
		!strings.Contains(keys, "x: i32 5") || !strings.Contains(keys, "i32 66") {
		t.Errorf("%v\nkeys %s\nresult %s\nsent %s\nverdict %s\nagain %s\nhistory %s\ntraffic %s", err, keys, result, sent, verdict, again, past, traffic)
	}
}

// TestConsoleOfImages: browsers do not say where a GET comes from if they do not trust the
// address. An element of another site's page, such as an image, then makes no call: calls by GET
// need a header that it can't have, or what browsers say about the console's own page.
func TestConsoleOfImages(t *testing.T) {
	idl := write(t, "lamp.thrift", `service Lamp { i32 on(1: i32 n) (api.get = "/lamp/:n", api.post = "/lamp/:n", api.any = "/any/:n") }`)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "a", `{"method": "Lamp.on", "result": 7}`))
	addr, _ := start(t, "console", server, "-listen", "127.0.0.1:0", "-token", "off")
	for _, c := range []struct {
		status       int
		method, path string
		headers      []string
	}{
		{403, "GET", "/lamp/1", nil},
		{403, "GET", "/lamp/1", []string{"Host: 192.168.1.5:8090", "Accept: image/avif,image/webp,*/*", "Referer: http://evil.example/"}},
		{403, "GET", "/any/1", nil}, {403, "HEAD", "/lamp/1", nil}, {403, "POST", "/lamp/1", nil},
		{403, "POST", "/lamp/1", []string{"Content-Type: text/plain;charset=UTF-8"}},
		{403, "POST", "/any/1", []string{"Content-Type: multipart/form-data; boundary=x"}},
		{403, "POST", "/_console/call", []string{"Content-Type: application/x-www-form-urlencoded"}},
		{403, "GET", "/lamp/1", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "X-Nocopy-Console: 1"}},
		{403, "GET", "/lamp/1", []string{"Origin: http://evil.example", "X-Nocopy-Console: 1"}},
		{200, "GET", "/lamp/1", []string{"X-Nocopy-Console: 1"}},
		{200, "GET", "/lamp/1", []string{"Sec-Fetch-Site: same-origin"}},
		{200, "GET", "/lamp/1", []string{"Sec-Fetch-Site: none"}},
		{200, "GET", "/lamp/1", []string{"Content-Type: application/json"}},
		{200, "POST", "/lamp/1", []string{"Content-Type: application/json"}},
		{200, "GET", "/", nil}, {200, "GET", "/_console/state", nil},
	} {
		status, text, _ := request(t, c.method, "http://"+addr+c.path, "", c.headers...)
		if status != c.status || status == 403 && strings.Contains(text, "7") || status == 403 && len(c.headers) == 0 && c.method == "GET" && !strings.Contains(text, "add the header X-Nocopy-Console: 1") {
			t.Errorf("%s %s %v: %d %s, want %d", c.method, c.path, c.headers, status, text, c.status)
		}
	}
}
