package rpc_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestHTTPDeaf: a client that takes no answers, to any kind of request, is given up after
// WriteTimeout.
func TestHTTPDeaf(t *testing.T) {
	t.Parallel()
	for way, request := range map[string][]byte{
		"refused by the server": rawRequest("GET", "/", nil, "Content-Length: -"),
		"calls":                 rawRequest("POST", "/", strict(call, "add", 7, addArgs(40, 2))),
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "deaf") // t.TempDir is too long a path for some systems
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			l, err := net.Listen("unix", filepath.Join(dir, "s"))
			if err != nil {
				t.Fatal(err)
			}
			srv := &rpc.Server{WriteTimeout: 100 * time.Millisecond}
			serveOn(t, srv, &handler{}, l)
			nc, err := net.Dial("unix", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			nc.SetWriteDeadline(time.Now().Add(time.Minute))
			for requests := bytes.Repeat(request, 100); err == nil; {
				_, err = nc.Write(requests)
			}
			if os.IsTimeout(err) {
				t.Error("the server waits for a client that reads nothing")
			}
			eventually(t, "the connection ends", func() bool {
				conns, _ := serverInUse(srv)
				return conns == 0
			})
		})
	}
}

// TestHTTPWriterPanics: a router's ResponseWriter that panics costs the call, and nothing else.
func TestHTTPWriterPanics(t *testing.T) {
	h := &handler{notified: make(chan string, 10)}
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Logger: new(quiet).logger(), MaxConns: 1}
	router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			w = panicWriter{w}
		}
		srv.ServeHTTP(w, r)
	}))
	t.Cleanup(router.Close)
	client := rpc.HTTPClient(&http.Client{Transport: new(http.Transport)})
	for range 3 {
		bad := echo.NewEchoClient(dialHTTP(t, router.URL+"/panic", client))
		if err := bad.Notify(bg, nil); err == nil {
			t.Error("a response that can't be written is one")
		}
		if _, err := bad.Ping(bg, nil); err == nil {
			t.Error("a response that can't be written is one")
		}
		good := echo.NewEchoClient(dialHTTP(t, router.URL, client))
		unharmed(t, good)
		if err := good.Notify(bg, nil); err != nil {
			t.Error(err)
		}
	}
	finishes(t, "Shutdown", func() {
		if err := srv.Shutdown(bg); err != nil {
			t.Error(err)
		}
	})
	if _, slots := serverInUse(srv); slots != 0 {
		t.Errorf("%d slots are in use", slots)
	}
}

type panicWriter struct{ http.ResponseWriter }

func (panicWriter) WriteHeader(int) { panic(http.ErrAbortHandler) }

// TestHTTPAfterClose: nothing is sent when the client has been closed.
func TestHTTPAfterClose(t *testing.T) {
	sent := 0
	client := rpc.HTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		sent++
		return nil, io.EOF
	})})
	for range 100 {
		c := dialHTTP(t, "http://x", client)
		c.(io.Closer).Close()
		if _, err := echo.NewEchoClient(c).Ping(bg, nil); !errors.Is(err, rpc.ErrClientClosed) {
			t.Fatal(err)
		}
	}
	if sent > 0 {
		t.Errorf("%d calls were sent", sent)
	}
}
