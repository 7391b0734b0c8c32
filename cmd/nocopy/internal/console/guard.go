package console

import (
	"context"
	"crypto/subtle"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard refuses what comes from pages of other sites. A browser says where a request comes from
// (Origin, Sec-Fetch-Site), which net/http checks. A site whose name was made to mean this machine
// (DNS rebinding) is told by the name in Host.
func (s *site) guard(h http.Handler) http.Handler {
	h = http.NewCrossOriginProtection().Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !s.isOwn(req.Host) {
			http.Error(w, "this page is not for the host "+req.Host+": see nocopy console -h, -host", http.StatusMisdirectedRequest)
			return
		}
		// Cross-site reads, such as by a script element, get nothing either.
		if site := req.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			if req.Header.Get("Sec-Fetch-Mode") != "navigate" || req.Method != http.MethodGet || req.URL.Path != "/" {
				http.Error(w, "requests of other sites are refused", http.StatusForbidden)
				return
			}
		}
		// Browsers that do not trust an address, such as http with an IP address, leave Sec-Fetch-Site
		// out, and net/http lets reads pass.
		if origin, err := url.Parse(req.Header.Get("Origin")); err != nil || req.Header.Get("Origin") != "" && origin.Host != req.Host {
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
			return
		}
		if s.Token != noToken && !s.takeToken(w, req) {
			return
		}
		if isCall(req) && !isDeliberate(req) {
			http.Error(w, "this may be a request that a page of another site has caused: add the header "+ownHeader+": 1", http.StatusForbidden)
			return
		}
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		h.ServeHTTP(w, req)
	})
}

// noToken is the value of -token without which requests are answered.
const noToken = "off"

// takeToken reports whether a request has the token: as a program's header, in the page's cookie,
// or in the URL of the page, which then sets the cookie and leaves the token out. It answers other
// requests, and removes the token from this one.
func (s *site) takeToken(w http.ResponseWriter, req *http.Request) bool {
	is := func(text string) bool { return subtle.ConstantTimeCompare([]byte(text), []byte(s.Token)) == 1 }
	if text, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok && is(text) {
		req.Header.Del("Authorization")
		req.Header.Set(ownHeader, "1")
		return true
	}
	// Cookies are not kept apart by ports, and can't have all characters.
	_, port, _ := net.SplitHostPort(req.Host)
	name := "nocopy-console-" + port
	for _, cookie := range req.CookiesNamed(name) {
		if text, err := url.QueryUnescape(cookie.Value); err != nil || !is(text) {
			continue
		}
		req.Header.Del("Cookie")
		return true
	}
	if req.Method == http.MethodGet && req.URL.Path == "/" && is(req.URL.Query().Get("token")) {
		http.SetCookie(w, &http.Cookie{Name: name, Value: url.QueryEscape(s.Token), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		http.Redirect(w, req, "/", http.StatusSeeOther)
		return false
	}
	http.Error(w, "the token is missing: nocopy console has printed a URL that has it. Programs send Authorization: Bearer TOKEN", http.StatusUnauthorized)
	return false
}

// ownHeader is a header that says that a request is no other site's: a browser lets pages add it
// to requests to other sites only if these allow it, which the console does not.
const ownHeader = "X-Nocopy-Console"

// isCall reports whether a request may make a call. All requests may, except those for the page
// and for what it shows.
func isCall(req *http.Request) bool {
	return req.Method != http.MethodGet || req.URL.Path != "/" && !strings.HasPrefix(req.URL.Path, "/_console/")
}

// isDeliberate reports whether no page of another site can have caused a request. Browsers say
// where requests come from only to addresses that they trust, which http with an IP address other
// than 127.0.0.1 is not. An image could then make calls by GET.
func isDeliberate(req *http.Request) bool {
	if site := req.Header.Get("Sec-Fetch-Site"); site == "same-origin" || site == "none" || req.Header.Get(ownHeader) != "" {
		return true
	}
	// Pages can send forms and plain text to other sites without asking these, and nothing else.
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	return kind != "" && kind != "application/x-www-form-urlencoded" && kind != "multipart/form-data" && kind != "text/plain"
}

// isOwn reports whether a browser that names a host means this machine: an IP address is not
// looked up.
func (s *site) isOwn(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || slices.ContainsFunc(s.Host, func(own string) bool { return strings.EqualFold(own, host) })
}

// pass passes the bytes of a connection on to a server, and back, until either side ends.
func pass(ctx context.Context, client net.Conn, network, address string) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return
	}
	defer server.Close()
	stop := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(server, client)
		if half, ok := server.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
	}()
	io.Copy(client, server)
	if half, ok := client.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	client.Close()
	<-done
}
