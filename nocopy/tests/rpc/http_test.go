package rpc_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// httpWays serve h over HTTP in all ways that a Server has, and return the URL.
var httpWays = map[string]func(t testing.TB, srv *rpc.Server, h *handler) string{
	"own port": func(t testing.TB, srv *rpc.Server, h *handler) string {
		return "http://" + serve(t, srv, h) + "/any/path"
	},
	"router": func(t testing.TB, srv *rpc.Server, h *handler) string {
		if srv.Processor == nil {
			srv.Processor = echo.NewEchoProcessor(h)
		}
		if srv.Logger == nil {
			srv.Logger = new(quiet).logger()
		}
		mux := http.NewServeMux()
		mux.Handle("/echo", srv)
		s := httptest.NewUnstartedServer(mux)
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(true)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
		t.Cleanup(s.Close)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			if err := srv.Shutdown(ctx); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
		})
		return s.URL + "/echo"
	},
}

func dialHTTP(t testing.TB, url string, opts ...rpc.Option) rpc.Caller {
	t.Helper()
	c, err := rpc.DialHTTP(url, append([]rpc.Option{rpc.Logger(new(quiet).logger())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.(io.Closer).Close() })
	return c
}

// http2 makes a client speak HTTP/2 without TLS.
func http2(t testing.TB) rpc.Option {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return rpc.HTTPClient(&http.Client{Transport: transport})
}

// apacheHTTP returns Apache's client for a URL.
func apacheHTTP(t testing.TB, url string) *thrift.TStandardClient {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	trans, err := thrift.NewTHttpClientWithOptions(url, thrift.THttpClientOptions{Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	p := protocols(true).GetProtocol(trans)
	return thrift.NewTStandardClient(p, p)
}

func TestHTTPApacheClient(t *testing.T) {
	t.Parallel()
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h := &handler{notified: make(chan string, 1)}
			c := apacheHTTP(t, start(t, &rpc.Server{}, h))
			for i := range int64(3) {
				result := fields{}
				if _, err := c.Call(bg, "add", fields{1: i, 2: int64(40)}, result); err != nil || result[0] != i+40 {
					t.Errorf("add: %v, %v", result, err)
				}
			}
			for _, n := range sizes {
				payload := bytes.Repeat([]byte("x"), n)
				result := fields{}
				if _, err := c.Call(bg, "echo", fields{1: payload}, result); err != nil || !bytes.Equal(result[0].([]byte), payload) {
					t.Errorf("echo of %d bytes: %v", n, err)
				}
			}
			if _, err := c.Call(bg, "notify", fields{1: []byte("hello")}, nil); err != nil {
				t.Error(err)
			}
			if got := <-h.notified; got != "hello" {
				t.Errorf("notified of %q", got)
			}
			_, err := c.Call(bg, "nonsense", fields{}, fields{})
			if e, ok := err.(thrift.TApplicationException); !ok || e.TypeId() != thrift.UNKNOWN_METHOD {
				t.Errorf("unknown method: %v", err)
			}
		})
	}
}
