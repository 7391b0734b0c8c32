package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

func zipped(text string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, text)
	z.Close()
	return out.String()
}

// TestTypes: a body whose type is not told, or only bytes, is JSON or Thrift as it begins.
func TestTypes(t *testing.T) {
	g := startAll(t)
	refused := `{"error":"Refused","exception":{"why":"an order without lines"}}`
	for _, header := range []string{"Content-Type: application/octet-stream", "Content-Type: "} {
		g.want("POST", "/v1/orders", header, `{"customer": "Ada"}`, 422, refused)
		g.want("POST", "/v1/orders", header, " \r\n\t{\"customer\": \"Ada\"}", 422, refused)
		g.want("POST", "/v1/orders", header, thriftText(1, "Ada")+"\x00", 422, refused)
		g.want("POST", "/v1/orders", header, "\x00", 400, `{"error":"Bad Request","message":"required field is missing","path":"Order.customer","offset":0}`)
		for _, body := range []string{`["customer"]`, "customer", "\x0b\x00", "\x80\x01\x00\x01"} {
			if status, _, text, err := g.send("POST", "/v1/orders", header, body); err != nil || status != 400 {
				t.Errorf("%q, %q: %d %s, %v", header, body, status, text, err)
			}
		}
	}
	for _, kind := range []string{"text/plain", "text/html", "application/x-www-form-urlencoded"} {
		if status, _, text, err := g.send("POST", "/v1/orders", "Content-Type: "+kind, thriftText(1, "Ada")+"\x00"); err != nil || status != 415 {
			t.Errorf("%s: %d %s, %v", kind, status, text, err)
		}
	}
}

// TestGzip: bodies may be compressed, up to the limits of others, and answers are if the client
// prefers that.
func TestGzip(t *testing.T) {
	const idl = `struct Text { 1: required string text }
service S { Text echo(1: Text text) (api.post = "/echo") }`
	schema, err := dynamic.LoadText(map[string]string{"test.thrift": idl})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("S")
	if err != nil {
		t.Fatal(err)
	}
	g := startFor(t, idl, service.Processor(func(_ context.Context, c *dynamic.Call) error {
		r, err := c.Args.GetByID(1)
		if err != nil {
			return err
		}
		return c.Return(r)
	}), time.Minute)
	g.client.Transport.(*http.Transport).DisableCompression = true
	const header = "Content-Encoding: gzip"
	body := `{"text":"` + strings.Repeat("Ada", 1000) + `"}`
	for _, accept := range []string{"gzip", "identity", "gzip;q=0", "br, gzip;q=0.8"} {
		status, h, plain, err := g.send("POST", "/echo", header+"\nAccept-Encoding: "+accept, zipped(body))
		if err != nil || status != 200 {
			t.Fatalf("%q: %d %s %v", accept, status, plain, err)
		}
		if (h.Get("Content-Encoding") == "gzip") != (accept == "gzip" || strings.HasPrefix(accept, "br")) {
			t.Errorf("%q: the answer is %q", accept, h.Get("Content-Encoding"))
		}
		if h.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(strings.NewReader(plain))
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(z)
			if err != nil || len(b) <= len(plain) {
				t.Errorf("%d bytes of %d, %v", len(b), len(plain), err)
			}
			plain = strings.TrimSpace(string(b))
		}
		if plain != body {
			t.Errorf("%q: %s", accept, plain)
		}
	}
	for _, c := range []struct {
		header, body string
		status       int
	}{
		{header, zipped(body + strings.Repeat(" ", 1<<20)), 413},
		{header, body, 400},
		{header, zipped(body)[:20], 400},
		{header, "", 400},
		{"Content-Encoding: br", body, 415},
		{"Content-Encoding: gzip, gzip", zipped(zipped(body)), 415},
		{"Content-Encoding: x-gzip", zipped(body), 200},
		{"Content-Encoding: identity", body, 200},
		{header + "\nContent-Type: application/x-thrift", zipped(thriftText(1, "Ada") + "\x00"), 200},
	} {
		if status, _, text, err := g.send("POST", "/echo", c.header, c.body); err != nil || status != c.status {
			t.Errorf("%s, %d bytes: %d %s, %v, want %d", c.header, len(c.body), status, text, err, c.status)
		}
	}
	begun, served := time.Now(), 0.0
	for range 100 { // bombs, each of nearly a MiB
		status, h, _, err := g.send("POST", "/echo", header, zipped(`{"text":""}`+strings.Repeat(" ", 1<<20-100)))
		if status != 200 && (status != 503 || h.Get("Retry-After") == "") || err != nil {
			t.Errorf("%d, %v", status, err)
		}
		if status == 200 {
			served++
		}
	}
	// There is room for 24 MiB. In a second 4 MiB become free again
	if most := 25 + 5*time.Since(begun).Seconds(); served > most {
		t.Errorf("%v of 100 bombs were served, more than %v", served, most)
	}
	g.waitForLoans(func(n int) bool { return n == 0 })
}
