package main

import (
	"net/http"
	"net/http/cookiejar"
	neturl "net/url"
	"regexp"
	"strings"
	"testing"
)

// TestConsoleToken: without the token of the printed URL, nothing is shown and nothing called.
func TestConsoleToken(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "answers.jsonl", shopAnswers))
	for _, flags := range [][]string{nil, {"-token", "my & token"}, {"-token", `a;b"c\ü`}} {
		addr, stop := startWith(t, append([]string{"console", server, "-listen", "127.0.0.1:0"}, flags...), "is at http://")
		url := "http://" + addr
		call := func(headers ...string) int {
			status, _, _ := request(t, "POST", url+"/Shop/add", `{"a": 1}`, append(headers, jsonType)...)
			return status
		}
		for _, path := range []string{"/", "/_console/state", "/_console/traffic", "/?token=wrong", "/?token=", "/Shop/ping"} {
			if status, text, header := request(t, "GET", url+path, "", "X-Nocopy-Console: 1"); status != 401 || strings.Contains(text, "Shop") || header.Get("Set-Cookie") != "" {
				t.Errorf("%s: %d %s", path, status, text)
			}
		}
		for _, h := range [][]string{nil, {"Authorization: Bearer "}, {"Authorization: Bearer off"}, {"Cookie: nocopy-console=x"}} {
			if status := call(h...); status != 401 {
				t.Errorf("%v: %d", h, status)
			}
		}
		_, printed := stop()
		// The console is started anew, since stop ends it: with the same token.
		m := regexp.MustCompile(`/\?token=(\S+)`).FindStringSubmatch(printed)
		if m == nil || flags != nil && m[1] != neturl.QueryEscape(flags[1]) {
			t.Fatalf("the console prints %s", printed)
		}
		token, _ := neturl.QueryUnescape(m[1])
		addr, _ = startWith(t, []string{"console", server, "-listen", "127.0.0.1:0", "-token", token}, "is at http://")
		url = "http://" + addr
		if status := call("Authorization: Bearer " + token); status != 200 {
			t.Errorf("%d with the token", status)
		}
		jar, _ := cookiejar.New(nil)
		browser := &http.Client{Jar: jar}
		res, err := browser.Get(url + "/?token=" + m[1])
		if err != nil || res.StatusCode != 200 || res.Request.URL.RawQuery != "" {
			t.Fatalf("%v, %v", res, err)
		}
		res.Body.Close()
		if res, err = browser.Get(url + "/_console/state"); err != nil || res.StatusCode != 200 {
			t.Errorf("%v, %v", res, err)
		}
		res.Body.Close()
		// What keeps other sites out holds with the cookie, too.
		req, _ := http.NewRequest("POST", url+"/Shop/add", strings.NewReader("{}"))
		req.Header.Set("Origin", "http://evil.example")
		req.Header.Set("Content-Type", "application/json")
		if res, err = browser.Do(req); err != nil || res.StatusCode != 403 {
			t.Errorf("%v, %v", res, err)
		}
		res.Body.Close()
	}
}
