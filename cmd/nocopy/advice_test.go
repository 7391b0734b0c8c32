package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAdvice: the error at a server that ends connections without a word names the flags to try,
// and no option of the Go package.
func TestAdvice(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				r := bufio.NewReader(nc)
				// net/http has another error if it could not write all of its request
				if begin, _ := r.Peek(20); bytes.HasPrefix(begin, []byte("POST")) {
					if request, err := http.ReadRequest(r); err == nil {
						io.Copy(io.Discard, request.Body)
					}
				}
			}()
		}
	}()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	idl := write(t, "s.thrift", "service S { void ping(1: i64 a) }")
	for _, c := range []struct {
		addr  string
		flags []string
		want  []string
	}{
		{l.Addr().String(), nil, []string{"or it expects a login (-sasl PLAIN -user NAME", "another -transport"}},
		{l.Addr().String(), []string{"-transport", "framed", "-protocol", "binary"}, []string{"-tls", "-sasl PLAIN -user NAME", "another -transport"}},
		{"http://" + l.Addr().String(), []string{"-protocol", "binary"}, []string{"https"}},
		{strings.TrimPrefix(web.URL, "http://"), []string{"-transport", "framed", "-protocol", "binary"}, []string{"-transport http"}},
	} {
		out, errs, code := nocopy(t, "", append([]string{"call", c.addr, "S.ping", "a=1", "-idl", idl}, c.flags...)...)
		for _, want := range c.want {
			if code != 1 || !strings.Contains(errs, want) || strings.Contains(errs, "rpc.TLS") || strings.Contains(errs, "rpc.SASL") || strings.Contains(errs, "rpc.Dial") {
				t.Errorf("%v: %d %s%s, want %s", c.flags, code, out, errs, want)
			}
		}
	}
}
