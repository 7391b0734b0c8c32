package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestHTTPOdd: rare parts of HTTP do no harm: a call that asks before its body, upgrades that
// nobody wants, and trailers.
func TestHTTPOdd(t *testing.T) {
	add, sum := strict(call, "add", 7, addArgs(40, 2)), string(strict(reply, "add", 7, sumResult(42)))
	const te, noLength = "Transfer-Encoding: chunked", "Content-Length: -"
	trailed := func(trailer string) []byte {
		return fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n%s\r\n", len(add), add, trailer)
	}
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			headers := make(chan map[string]string, 10)
			srv := &rpc.Server{MaxFrame: 10_000, Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				headers <- namesFolded(rpc.Headers(ctx))
				return next(ctx, c)
			}}}
			host, path := hostOf(t, start(t, srv, &handler{}))
			for name, c := range map[string]struct {
				request []byte
				status  int
			}{
				"an upgrade to HTTP/2":  {rawRequest("POST", path, add, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"), 200},
				"an upgrade to sockets": {rawRequest("POST", path, add, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA=="), 200},
				"trailers":              {rawRequest("POST", path, trailed("Late: x\r\nContent-Length: 3\r\nThrift-Timeout: 1\r\n"), te, noLength, "Trailer: Late"), 200},
				"endless trailers":      {rawRequest("POST", path, trailed(strings.Repeat("Late: x\r\n", 10_000)), te, noLength, "Trailer: Late"), 400},
				"an unknown demand":     {rawRequest("POST", path, add, "Expect: the best"), 417},
				"a tunnel":              {rawRequest("CONNECT", "example.com:80", nil), 405},
			} {
				nc := dialRaw(t, host)
				go nc.Write(c.request) // the server may not take all of it
				resp, text := response(t, bufio.NewReader(nc), "POST")
				if resp.StatusCode != c.status && !(way == "router" && resp.StatusCode == 404) || c.status == 200 && text != sum {
					t.Errorf("%s: %s %q", name, resp.Status, text)
				}
				if resp.Header.Get("Upgrade") != "" {
					t.Errorf("%s: the connection is upgraded to %s", name, resp.Header.Get("Upgrade"))
				}
				if c.status == 200 {
					h := <-headers
					for _, key := range []string{"late", "content-length", "thrift-timeout", "upgrade"} {
						if h[key] != "" {
							t.Errorf("%s: the header %s is %q", name, key, h[key])
						}
					}
				}
			}
			nc := dialRaw(t, host)
			r := bufio.NewReader(nc)
			request := rawRequest("POST", path, nil, fmt.Sprintf("Content-Length: %d", len(add)), "Expect: 100-continue")
			send(t, nc, request)
			if line, err := r.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
				t.Fatalf("the server says %q, %v", line, err)
			}
			r.ReadString('\n')
			send(t, nc, add)
			if resp, text := response(t, r, "POST"); resp.StatusCode != 200 || text != sum {
				t.Errorf("after it has asked: %s %q", resp.Status, text)
			}
			nc = dialRaw(t, host)
			send(t, nc, rawRequest("POST", path, nil, "Content-Length: 10001", "Expect: 100-continue"))
			if resp, text := response(t, bufio.NewReader(nc), "POST"); resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("asked for too much, the server says %s %q", resp.Status, text)
			}
		})
	}
}

// TestHTTPRapidReset: a client that begins calls over HTTP/2 and takes them back at once has no
// more handlers at work than Concurrency, and harms no other client.
func TestHTTPRapidReset(t *testing.T) {
	t.Parallel()
	const most = 8
	h := &custom{}
	var running, highest atomic.Int64
	h.fail = func(ctx context.Context, _ echo.EchoFailArgs, _ echo.EchoFailResult) error {
		n := running.Add(1)
		for old := highest.Load(); n > old && !highest.CompareAndSwap(old, n); old = highest.Load() {
		}
		<-ctx.Done()
		time.Sleep(time.Millisecond) // work that does not end at once
		running.Add(-1)
		return ctx.Err()
	}
	addr := serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h), Concurrency: most}, nil)
	nc := dialRaw(t, addr)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		io.Copy(io.Discard, nc)
	}()
	send(t, nc, join([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), http2Frame(4, 0, 0, nil)))
	body := strict(call, "fail", 7, []byte{0})
	var err error
	for id := uint32(1); id < 20_000 && err == nil; id += 2 {
		literal := func(name, value string) []byte {
			return join([]byte{0, byte(len(name))}, []byte(name), []byte{byte(len(value))}, []byte(value))
		}
		fields := join([]byte{0x83, 0x86, 0x84}, literal(":authority", "x"), literal("content-type", "application/x-thrift"))
		_, err = nc.Write(join(http2Frame(1, 4, id, fields), http2Frame(0, 1, id, body), http2Frame(3, 0, id, be32(8))))
	}
	unharmed(t, echo.NewEchoClient(dial(t, addr)))
	nc.Close()
	<-ended
	eventually(t, "all handlers return", func() bool { return running.Load() == 0 })
	if n := highest.Load(); n > most {
		t.Errorf("%d handlers were at work at once", n)
	}
}

// http2Frame returns a frame of HTTP/2.
func http2Frame(typ, flags byte, stream uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(typ))
	b = append(b, flags)
	return bytes.Join([][]byte{binary.BigEndian.AppendUint32(b, stream), payload}, nil)
}
