package rpc_test

import (
	"context"
	"errors"
	"io"
	gomaps "maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestHTTPOnlyProgramsHeaders: a call and its reply have the headers that the programs have set,
// and none that HTTP, net/http's client or net/http's server adds.
func TestHTTPOnlyProgramsHeaders(t *testing.T) {
	got := make(chan map[string]string, 1)
	intercept := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		got <- gomaps.Collect(rpc.Headers(ctx))
		if rpc.Header(ctx, "X-Reply") != "" {
			if err := rpc.SetReplyHeader(ctx, "Server", "ours"); err != nil {
				t.Error(err)
			}
		}
		return next(ctx, c)
	}
	for way, start := range httpWays {
		for _, version := range []string{"HTTP/1.1", "HTTP/1.1 by the program's client", "HTTP/2"} {
			t.Run(way+"/"+version, func(t *testing.T) {
				var opts []rpc.Option
				switch {
				case version == "HTTP/2" && way == "own port":
					return // only with TLS
				case version == "HTTP/2":
					opts = append(opts, http2(t))
				case version != "HTTP/1.1":
					transport := &http.Transport{}
					t.Cleanup(transport.CloseIdleConnections)
					opts = append(opts, rpc.HTTPClient(&http.Client{Transport: transport}))
				}
				u := start(t, &rpc.Server{Interceptors: []rpc.Interceptor{intercept}}, &handler{})
				c := echo.NewEchoClient(dialHTTP(t, u, opts...))
				for _, want := range []struct{ call, reply map[string]string }{
					{map[string]string{}, map[string]string{}},
					{map[string]string{"X-Reply": "yes"}, map[string]string{"Server": "ours"}},
					{map[string]string{"User-Agent": "shop/7"}, map[string]string{}},
				} {
					var replies rpc.ReplyHeaders
					ctx := rpc.ReceiveHeaders(bg, &replies)
					for key, value := range want.call {
						ctx = rpc.SetHeader(ctx, key, value)
					}
					if _, err := c.Ping(ctx, nil); err != nil {
						t.Fatal(err)
					}
					if call, reply := <-got, gomaps.Collect(replies.All()); !gomaps.Equal(call, want.call) || !gomaps.Equal(reply, want.reply) {
						t.Errorf("got %v and %v, want %v", call, reply, want)
					}
				}
			})
		}
	}
	t.Run("other servers", func(t *testing.T) {
		var sent http.Header
		u := fakeHTTP(t, func(w http.ResponseWriter, r *http.Request) {
			sent = r.Header
			w.Header().Set("Content-Type", "application/x-thrift")
			w.Write(strict(reply, "ping", 1, []byte{0}))
		})
		var replies rpc.ReplyHeaders
		if _, err := echo.NewEchoClient(dialHTTP(t, u)).Ping(rpc.ReceiveHeaders(bg, &replies), nil); err != nil {
			t.Fatal(err)
		}
		if all := gomaps.Collect(replies.All()); len(all) != 0 {
			t.Errorf("the reply has %v", all)
		}
		names := slices.Sorted(gomaps.Keys(sent)) // gateways expect a User-Agent
		if want := []string{"Accept", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent"}; !slices.Equal(names, want) {
			t.Errorf("sent: %v, want %v", names, want)
		}
	})
}

// TestHTTPIdempotencyKey: no header makes net/http send a call again that may have been handled.
func TestHTTPIdempotencyKey(t *testing.T) {
	for _, key := range []string{"Idempotency-Key", "idempotency-key", "X-Idempotency-Key", "X-IDEMPOTENCY-KEY", "Another-Key"} {
		t.Run(key, func(t *testing.T) {
			var calls atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get(key); got != "7" {
					t.Errorf("the header is %q", got)
				}
				io.Copy(io.Discard, r.Body)
				if calls.Add(1) > 1 {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Content-Type", "application/x-thrift")
				w.Write(strict(reply, "ping", 1, []byte{0})) // the connection is used again
			}))
			t.Cleanup(s.Close)
			c := echo.NewEchoClient(dialHTTP(t, s.URL))
			ctx := rpc.SetHeader(bg, key, "7")
			if _, err := c.Ping(ctx, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Ping(ctx, nil); !errors.Is(err, rpc.ErrConnLost) {
				t.Error(err)
			}
			if n := calls.Load(); n != 2 {
				t.Errorf("%d calls have arrived", n)
			}
		})
	}
}
