package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	apache "github.com/nocopythrift/nocopythrift/kitex/examples/proxy/apache/shop"
	"github.com/nocopythrift/nocopythrift/kitex/examples/proxy/shop"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// listen serves with f until the test ends, and returns the address.
func listen(t *testing.T, f func(l net.Listener, stop <-chan struct{}) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- f(l, stop) }()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// proxied returns the address of a proxy in front of two back ends, and its metrics.
func proxied(t *testing.T) (addr string, m *metrics) {
	var backends []string
	for _, name := range []string{"east", "west"} {
		backends = append(backends, listen(t, func(l net.Listener, stop <-chan struct{}) error {
			return serveOurs(l, &rpc.Server{Processor: shop.NewOrdersProcessor(&backend{name})}, stop)
		}))
	}
	m = newMetrics(len(backends))
	return listen(t, func(l net.Listener, stop <-chan struct{}) error {
		return serveRouter(l, "proxy", m, backends, stop)
	}), m
}

// TestRouter: Apache's client, framed and not, gets through the proxy what the back end of its
// tenant says, of all kinds.
func TestRouter(t *testing.T) {
	addr, m := proxied(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, framed := range []bool{true, false} {
		var transport thrift.TTransport = thrift.NewTSocketConf(addr, apacheConfig)
		if framed {
			transport = thrift.NewTFramedTransportConf(transport, apacheConfig)
		} else {
			transport = thrift.NewTBufferedTransport(transport, 4096)
		}
		if err := transport.Open(); err != nil {
			t.Fatal(err)
		}
		defer transport.Close()
		c := apache.NewOrdersClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(apacheConfig))
		answered := map[string]bool{}
		for i, tenant := range tenants {
			for _, size := range []int{0, 100, 10_000, 1 << 20} {
				order := &apache.Order{
					Header:   &apache.Header{Tenant: &apache.Tenant{ID: tenant, Region: "eu"}, Via: "test", Labels: map[string]string{"a": "b"}},
					ID:       int64(i),
					Lines:    []*apache.Line{{Article: "engine", Count: 1}},
					Document: []byte(strings.Repeat("d", size)),
				}
				receipt, err := c.Place(ctx, order)
				if err != nil {
					t.Fatalf("framed %t, %d bytes: %v", framed, size, err)
				}
				if receipt.Via != "test proxy" || receipt.ID != int64(i) || string(receipt.Document) != string(order.Document) {
					t.Errorf("framed %t, %d bytes: %.100v", framed, size, receipt)
				}
				if want := []string{"east", "west"}[choose(tenant, 2)]; receipt.Backend != want {
					t.Errorf("%s went to %s, not to %s", tenant, receipt.Backend, want)
				}
				answered[receipt.Backend] = true
			}
		}
		if len(answered) != 2 {
			t.Error("only one back end was called")
		}
		header := &apache.Header{Tenant: &apache.Tenant{ID: "acme"}}
		var refused *apache.Refused
		if _, err := c.Place(ctx, &apache.Order{Header: header}); !errors.As(err, &refused) {
			t.Errorf("without lines: %v", err)
		}
		if known, err := c.Known(ctx, &apache.Question{Header: header, ID: 1}); err != nil || !known {
			t.Errorf("known: %t, %v", known, err)
		}
		if err := c.Note(ctx, &apache.Order{Header: header}); err != nil {
			t.Errorf("oneway: %v", err)
		}
		var wrong thrift.TApplicationException
		if _, err := c.Known(ctx, &apache.Question{ID: 1}); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "no tenant") {
			t.Errorf("without a header: %v", err)
		}
		if _, err := c.Known(ctx, &apache.Question{Header: header}); err != nil {
			t.Errorf("after that: %v", err)
		}
	}
	r := m.read()
	if calls := 2 * int64(4*len(tenants)+5); r.Requests != calls || r.Failed != 2 || r.Backends[0]+r.Backends[1] != calls-2 ||
		r.ByReference < 32<<20 || r.Copied > 100_000 || r.Received < 32<<20 || r.Connections != 2 {
		t.Errorf("counted %+v", r)
	}
}

// TestFresh: packages shop and envelope equal the output of nocopyc for the IDL.
func TestFresh(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out, err := exec.Command("go", "run", "-C", "../../..", "./gen/nocopyc", "-o", dir,
		filepath.Join(here, "shop.thrift"), filepath.Join(here, "envelope.thrift")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"shop/shop.go", "envelope/envelope.go"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not fresh: run generate.sh (%v)", name, err)
		}
	}
}

// TestPage: the page is there, and what it shows.
func TestPage(t *testing.T) {
	m := newMetrics(2)
	for range 99 {
		m.took(time.Millisecond)
	}
	m.took(time.Second)
	m.routed(1)
	srv := httptest.NewServer(m.handler())
	defer srv.Close()
	get := func(path string) []byte {
		res, err := srv.Client().Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: %s, %v", path, res.Status, err)
		}
		return body
	}
	if !strings.Contains(string(get("/")), "/reading") {
		t.Error("the page does not ask for a reading")
	}
	var r reading
	if err := json.Unmarshal(get("/reading"), &r); err != nil {
		t.Fatal(err)
	}
	if r.P50 < 0.99 || r.P50 > 1.01 || r.P99 > 1.01 || fmt.Sprint(r.Backends) != "[0 1]" {
		t.Errorf("it reads %+v", r)
	}
}

// TestShow runs the command with few calls.
func TestShow(t *testing.T) {
	var out strings.Builder
	s := show{out: &out, page: "127.0.0.1:0", each: 100 * time.Millisecond, rounds: 1, stay: 200 * time.Millisecond, callers: 4}
	if err := s.run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range append([]string{"http://127.0.0.1:", "each with the right answer"}, kinds...) {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not tell of %s:\n%s", want, &out)
		}
	}
}
