package rpc_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestAdvice: the error of a client at a server that expects something else says what is probable,
// and which option to try. Once the server has answered, an end is an end.
func TestAdvice(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	silent := func(reads int) func(nc net.Conn) {
		return func(nc net.Conn) { io.ReadFull(nc, make([]byte, reads)) }
	}
	writes := func(text string) func(nc net.Conn) {
		return func(nc net.Conn) {
			io.ReadFull(nc, make([]byte, 20))
			io.WriteString(nc, text)
			nc.(interface{ CloseWrite() error }).CloseWrite()
			io.Copy(io.Discard, nc)
		}
	}
	listen := func(serve func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go acceptAll(l, func(nc net.Conn) {
			defer nc.Close()
			serve(nc)
		})
		return l.Addr().String()
	}
	foreignTLS := listen(func(nc net.Conn) { // it sends no alert, as many do
		tls.Server(onlyReads{nc}, &tls.Config{Certificates: []tls.Certificate{cert}}).Handshake()
	})
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	webTLS := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(webTLS.Close)
	overTLS := []rpc.Option{rpc.TLS(&tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})}
	silentTLS := listen(func(nc net.Conn) {
		s := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{cert}})
		io.ReadFull(s, make([]byte, 20))
	})
	for _, c := range []struct {
		name, addr string
		opts       []rpc.Option
		want       []string
	}{
		{"nothing, after a byte", listen(silent(1)), nil, []string{"rpc.TLS", "rpc.SASL"}},
		{"nothing, after a call", listen(silent(20)), nil, []string{"rpc.TLS", "rpc.SASL"}},
		{"another server's TLS", foreignTLS, nil, []string{"rpc.TLS", "rpc.SASL"}},
		{"unframed", listen(silent(20)), []rpc.Option{rpc.Unframed}, []string{"rpc.TLS", "rpc.SASL"}},
		{"our TLS", serve(t, &rpc.Server{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, &handler{}), nil, []string{"TLS", "rpc.TLS"}},
		{"TLS's alert", listen(writes("\x15\x03\x01\x00\x02\x02\x46")), nil, []string{"TLS", "rpc.TLS"}},
		{"a login over TLS", silentTLS, overTLS, []string{"rpc.SASL", "certificate"}},
		{"SASL's refusal", listen(writes("\x03\x00\x00\x00\x05wrong")), nil, []string{"SASL", "rpc.SASL"}},
		{"a web server", strings.TrimPrefix(web.URL, "http://"), nil, []string{"HTTP", "rpc.DialHTTP"}},
		{"a web server, unframed", strings.TrimPrefix(web.URL, "http://"), []rpc.Option{rpc.Unframed}, []string{"HTTP", "rpc.DialHTTP"}},
		{"a web server's answer", listen(writes("HTTP/1.1 400 Bad Request\r\n\r\n")), nil, []string{"HTTP", "rpc.DialHTTP"}},
		{"HTTP, nothing", "http://" + listen(silent(20)), nil, []string{"https"}},
		{"HTTP, our TLS", "http://" + serve(t, &rpc.Server{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, &handler{}), nil, []string{"TLS", "https"}},
		{"HTTP, a web server's TLS", strings.Replace(webTLS.URL, "https", "http", 1), nil, []string{"HTTPS server"}},
	} {
		var caller rpc.Caller
		if strings.HasPrefix(c.addr, "http://") {
			caller = dialHTTP(t, c.addr, c.opts...)
		} else {
			conn, err := rpc.Dial(bg, "tcp", c.addr, append([]rpc.Option{rpc.Logger(new(quiet).logger())}, c.opts...)...)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			t.Cleanup(func() { conn.Close() })
			caller = conn
		}
		_, err := echo.NewEchoClient(caller).Add(bg, func(args echo.EchoAddArgs) { args.SetA(1) })
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no %s in %v", c.name, want, err)
			}
		}
	}
	// The server answers one call, and is gone at the next.
	var n atomic.Int32
	addr := listen(func(nc net.Conn) {
		for {
			if _, err := readFrame(nc); err != nil || n.Add(1) > 1 {
				return
			}
			nc.Write(frame(strict(reply, "add", 1, sumResult(1))))
		}
	})
	conn := dial(t, addr, rpc.PoolSize(1))
	c := echo.NewEchoClient(conn)
	if _, err := c.Add(bg, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Add(context.Background(), nil); err == nil || strings.Contains(err.Error(), "perhaps") {
			t.Errorf("after an answer: %v", err)
		}
	}
}

// onlyReads is a connection whose writes are lost.
type onlyReads struct{ net.Conn }

func (onlyReads) Write(b []byte) (int, error) { return len(b), nil }
