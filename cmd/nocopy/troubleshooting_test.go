package main

import (
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestTroubleshooting provokes the messages that docs/troubleshooting.md has for the tool.
func TestTroubleshooting(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The tool\n")
	section, _, ok := strings.Cut(section, "\n## ")
	messages := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1)
	if !ok || len(messages) < 8 {
		t.Fatalf("%d messages", len(messages))
	}

	listen := func(answer string) string {
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
				nc.Read(make([]byte, 100))
				io.WriteString(nc, answer)
				nc.Close()
			}
		}()
		return l.Addr().String()
	}
	thrift, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &rpc.Server{Processor: rpc.NewProcessor("S", nil), Logger: slog.New(slog.DiscardHandler)}
	go srv.Serve(thrift)
	t.Cleanup(func() { srv.Close() })
	web, secure := httptest.NewServer(http.NotFoundHandler()), httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(web.Close)
	t.Cleanup(secure.Close)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()

	idl := write(t, "s.thrift", "enum E { A } service S { void ping(1: i64 a, 2: E e) }")
	bad := write(t, "bad.thrift", "struct A { 1: B b }")
	framed := []string{"-transport", "framed", "-protocol", "binary"}
	call := func(addr string, more ...string) []string {
		return append([]string{"call", addr, "S.ping", "-idl", idl}, more...)
	}
	var said []string
	for _, args := range [][]string{
		call(gone.Addr().String(), "a=1"),
		call(listen(""), "a=1"),
		call(listen("\x15\x03\x01\x00\x02\x02\x46"), framed...),
		call(listen("\x03\x00\x00\x00\x05wrong"), framed...),
		call(thrift.Addr().String(), append(framed, "-tls")...),
		call(secure.Listener.Addr().String(), append(framed, "-tls")...),
		call(web.URL, "-protocol", "binary"),
		call(thrift.Addr().String(), "a=x"),
		call(thrift.Addr().String(), "e=B"),
		call(thrift.Addr().String(), "b=1"),
		call(thrift.Addr().String(), "a=1"),
		{"call", thrift.Addr().String(), "S.pong", "-idl", idl},
		{"call", thrift.Addr().String(), "S.ping", "-idl", bad},
		{"call", thrift.Addr().String(), "S.ping"},
		{"call", thrift.Addr().String(), "S.ping", "-idll", idl},
		{"record", thrift.Addr().String(), "-o", idl},
		{"describe", thrift.Addr().String()},
	} {
		_, errs, _ := nocopy(t, "", args...)
		said = append(said, errs)
	}
	said = append(said, endsAtFirstBytes(t))
	for _, m := range messages {
		text := strings.ReplaceAll(regexp.QuoteMeta(strings.ReplaceAll(m[1], " … ", "…")), "…", ".*?")
		if !slices.ContainsFunc(said, regexp.MustCompile(text).MatchString) {
			t.Errorf("nothing gives %q", m[1])
		}
	}
	if t.Failed() {
		t.Logf("provoked:\n%s", strings.Join(said, "\n"))
	}
}

// endsAtFirstBytes returns what the tool says of a server that ends. If the machine is slow, all
// connections may have been made before: then there is another try.
func endsAtFirstBytes(t *testing.T) (errs string) {
	for range 20 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			nc, err := l.Accept()
			l.Close()
			if err == nil {
				nc.Close()
			}
		}()
		if _, errs, _ = nocopy(t, "", "call", l.Addr().String(), "f", "-raw"); strings.Contains(errs, "it took connections before") {
			break
		}
	}
	return errs
}
