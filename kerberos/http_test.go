package kerberos

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// httpServer returns a server over HTTP that lets ada in, and a log of why others are not.
func httpServer(t *testing.T, next http.Handler) (*httptest.Server, *logged) {
	t.Helper()
	log := new(logged)
	h := newAcceptor().Handler(next, func(principal string) error {
		if principal != "ada@TEST.EXAMPLE" {
			return errors.New("not on the list")
		}
		return nil
	}, func(_ *http.Request, err error) { io.WriteString(log, err.Error()+"\n") })
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv, log
}

// asking is a RoundTripper that logs in with the tickets of a kdc.
type asking struct{ kdc *kdc }

func (a asking) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	token, err := negotiateToken(r.Context(), a.kdc, "HTTP/"+r.URL.Hostname())
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Negotiate "+base64.StdEncoding.EncodeToString(token))
	return http.DefaultTransport.RoundTrip(r)
}

// TestHTTPCalls: calls over HTTP arrive, each with its login.
func TestHTTPCalls(t *testing.T) {
	t.Parallel()
	srv, _ := httpServer(t, rpc.HTTPHandler(kv.NewKeyValueProcessor(new(store))))
	c, err := rpc.DialHTTP(srv.URL, rpc.HTTPClient(&http.Client{Transport: asking{newKDC()}}))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := roundTrip(t, c, []byte("value")); err != nil {
			t.Error(err)
		}
	}
	without, err := rpc.DialHTTP(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	var status *rpc.HTTPError
	if err := roundTrip(t, without, []byte("value")); !errors.As(err, &status) || status.Status != http.StatusUnauthorized {
		t.Error(err)
	}
}

// TestHTTPLogins: the status and the log of good and bad logins.
func TestHTTPLogins(t *testing.T) {
	t.Parallel()
	srv, log := httpServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, Principal(r.Context()))
	}))
	token := func(edit func(*kdc)) string {
		k := newKDC()
		edit(k)
		b, err := negotiateToken(t.Context(), k, "HTTP/127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		return "Negotiate " + base64.StdEncoding.EncodeToString(b)
	}
	good := token(func(*kdc) {})
	mutual := func() string {
		tk, err := newKDC().ticket(t.Context(), "HTTP/127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		_, b, err := newRequest(tk, true)
		if err != nil {
			t.Fatal(err)
		}
		return "Negotiate " + base64.StdEncoding.EncodeToString(b)
	}()
	for _, c := range []struct {
		name, header string
		status       int
		log          string
	}{
		{"good", good, 200, ""},
		{"the same again", good, 401, "a replay"},
		{"no SPNEGO around it", mutual, 200, ""},
		{"another client", token(func(k *kdc) { k.client = "eve" }), 403, `"eve@TEST.EXAMPLE" may not log in: not on the list`},
		{"expired", token(func(k *kdc) { k.from, k.until = -3e13, -2e13 }), 401, "expired"},
		{"none", "", 401, ""},
		{"basic", "Basic YTpi", 401, ""},
		{"no base64", "Negotiate $$$", 401, "not base64"},
		{"NTLM", "Negotiate " + base64.StdEncoding.EncodeToString([]byte("NTLMSSP\x00\x01")), 401, "tries NTLM"},
		{"empty", "Negotiate ", 401, "neither a token"},
		{"large", "Negotiate " + strings.Repeat("YWFh", maxToken/4+1), 401, "more than 65536"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || c.status == 200 && string(body) != "ada@TEST.EXAMPLE" || c.status == 401 && resp.Header.Get("WWW-Authenticate") != "Negotiate" {
			t.Errorf("%s: %d %q %v", c.name, resp.StatusCode, body, resp.Header)
		}
		if c.name == "no SPNEGO around it" && !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Negotiate Y") {
			t.Errorf("%s: the server did not prove who it is", c.name)
		}
		if c.log != "" {
			log.await(t, c.log)
		}
	}
}
