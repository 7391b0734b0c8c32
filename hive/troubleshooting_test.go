package hive_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestTroubleshooting provokes the messages that docs/troubleshooting.md has for Hive.
func TestTroubleshooting(t *testing.T) {
	page, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Hive and Spark\n")
	messages := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1)
	if len(messages) < 8 {
		t.Fatalf("%d messages", len(messages))
	}

	server, client := certificates(t)
	login := func(_ context.Context, m string) rpc.SASLServer {
		if m == "PLAIN" {
			return plainServer{"ada", "secret"}
		}
		return nil
	}
	silent := slog.New(slog.DiscardHandler)
	open := good().Serve(t, &rpc.Server{Logger: silent})
	sasl := good().Serve(t, &rpc.Server{SASL: login, Logger: silent})
	web := serveHTTP(t, good(), "Basic YWRhOnNlY3JldA==", nil)
	nowhere := answering(t, func(c net.Conn) {
		c.Read(make([]byte, 1000))
		io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	})
	var said []string
	for _, cfg := range []hive.Config{
		{Addr: open, User: "ada", Password: "secret"},
		{Addr: sasl, NoSASL: true},
		{Addr: good().Serve(t, &rpc.Server{TLS: server, Logger: silent}), NoSASL: true},
		{Addr: open, NoSASL: true, TLS: client},
		{Addr: answering(t, after("HTTP/1.1 400 Illegal character\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")), NoSASL: true},
		{Addr: answering(t, after("\x03\x00\x00\x00\x20Unsupported mechanism type PLAIN")), User: "ada", Password: "secret"},
		{Addr: answering(t, func(net.Conn) {}), NoSASL: true},
		{Addr: web.Addr, HTTP: true, User: "ada", Password: "wrong"},
		{Addr: nowhere, HTTP: true, HTTPPath: "wrong", User: "ada"},
		{Addr: open, NoSASL: true, Token: "secret"},
	} {
		cfg.Timeout = time.Minute
		c, err := hive.Connect(t.Context(), cfg)
		if err == nil {
			c.Close()
			t.Errorf("%v: connected", cfg)
			continue
		}
		said = append(said, err.Error())
	}
	c, err := hive.Connect(t.Context(), hive.Config{Addr: open, NoSASL: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Query(t.Context(), "q WHERE a = ?", 1, 2)
	said = append(said, err.Error())
	_, err = hive.ParseDSN("jdbc:hive2://localhost:10000/default")
	said = append(said, err.Error())
	_, err = hive.ParseDSN("hive://ada@localhost:10000/default?auth=KERBEROS")
	said = append(said, err.Error())
	c.Close()
	_, err = c.Query(t.Context(), "q")
	said = append(said, err.Error())

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
