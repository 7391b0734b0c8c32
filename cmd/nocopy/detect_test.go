package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// multiplexing starts a server that is as Apache's in Java and Python: it closes connections on
// which a call does not name a service that is registered. The registered one is called shop, and
// is the Shop of shopIDL. framed is the transport's.
func multiplexing(t *testing.T, framed bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(nc net.Conn) error {
		defer nc.Close()
		for {
			head := make([]byte, 12)
			if framed {
				if _, err := io.ReadFull(nc, head[:4]); err != nil {
					return err
				}
			}
			if _, err := io.ReadFull(nc, head[4:12]); err != nil {
				return err
			}
			n := binary.BigEndian.Uint32(head[8:])
			if head[4] != 0x80 || n > 1<<10 {
				return errors.New("bad version")
			}
			name := make([]byte, n+4)
			if _, err := io.ReadFull(nc, name); err != nil {
				return err
			}
			// Each struct of arguments that the test sends ends with its only 0, or is {1: i32 1}.
			var b [1]byte
			for {
				if _, err := io.ReadFull(nc, b[:]); err != nil {
					return err
				}
				if b[0] == 0 {
					break
				}
				if _, err := io.ReadFull(nc, make([]byte, 6)); err != nil {
					return err
				}
			}
			method, ok := strings.CutPrefix(string(name[:n]), "shop:")
			if !ok {
				return errors.New("no such service")
			}
			kind, body := byte(2), []byte{8, 0, 0, 0, 0, 0, 7, 0}
			if method == "tell" {
				continue
			}
			if method != "add" {
				kind, body = 3, []byte{8, 0, 2, 0, 0, 0, 1, 0}
			}
			out := append([]byte{0, 0, 0, 0, 0x80, 1, 0, kind}, binary.BigEndian.AppendUint32(nil, uint32(len(method)))...)
			out = append(append(append(out, method...), name[n:]...), body...)
			binary.BigEndian.PutUint32(out, uint32(len(out)-4))
			if !framed {
				out = out[4:]
			}
			if _, err := nc.Write(out); err != nil {
				return err
			}
		}
	}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go serve(nc)
		}
	}()
	return l.Addr().String()
}

// TestMultiplexing: a server that closes the connections of clients which name no service is found
// out with the name of one, which may be another one than in the IDL.
func TestMultiplexing(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	for _, framed := range []bool{true, false} {
		addr := multiplexing(t, framed)
		for _, args := range [][]string{
			{"call", addr, "shop:add", "a=1", "-idl", idl}, {"call", addr, "Shop.add", "a=1", "-multiplexed", "shop", "-idl", idl},
			{"call", addr, "add", "a=1", "-multiplexed", "shop", "-idl", idl}, {"call", addr, "add", "-raw", "1:i32=1", "-multiplexed", "shop"},
			{"call", addr, "shop:add", "-raw", "1:i32=1"}, {"bench", addr, "shop:add", "a=1", "-idl", idl, "-n", "3", "-warmup", "0"},
			{"replay", write(t, "calls.jsonl", `{"method": "shop:add", "args": {"a": 1}, "result": 7}`), addr, "-idl", idl},
			{"replay", write(t, "calls.jsonl", `{"method": "Shop.add", "args": {"a": 1}, "result": 7}`), addr, "-idl", idl, "-multiplexed", "shop"},
		} {
			if out, errs, code := nocopy(t, "", args...); code != 0 || !strings.ContainsAny(out, "731") {
				t.Errorf("framed %v: nocopy %s: %d %s%s", framed, strings.Join(args, " "), code, out, errs)
			}
		}
		for want, args := range map[string][]string{
			"-multiplexed NAME":                 {"call", addr, "Shop.add", "a=1", "-idl", idl, "-timeout", "20s"},
			"no service with the name \"Shop\"": {"call", addr, "Shop:add", "a=1", "-idl", idl, "-timeout", "20s"},
			"call Shop:add":                     {"call", addr, "Shop.add", "a=1", "-idl", idl, "-transport", map[bool]string{true: "framed", false: "unframed"}[framed]},
		} {
			if out, errs, code := nocopy(t, "", args...); code != 1 || !strings.Contains(errs, want) {
				t.Errorf("framed %v: nocopy %s: %d %s%s", framed, strings.Join(args, " "), code, out, errs)
			}
		}
		// Methods without the name are an IDL's, too.
		file := filepath.Join(t.TempDir(), "calls.jsonl")
		proxy, stop := start(t, "record", addr, "-listen", "127.0.0.1:0", "-idl", idl, "-multiplexed", "shop", "-o", file)
		want(t, 0, "7", "", "call", proxy, "shop:add", "a=1", "-idl", idl)
		// As Apache's Go library makes them, oneway calls have the header of others
		want(t, 0, "null", "", "call", proxy, "shop:tell", "-idl", idl, "-transport", "framed")
		// Clients that name no service get the name of -multiplexed.
		want(t, 0, "7", "", "call", proxy, "add", "a=1", "-idl", idl)
		want(t, 0, "null", "", "call", proxy, "tell", "-idl", idl, "-transport", "framed")
		stop()
		text, err := os.ReadFile(file)
		for _, method := range []string{"add", "tell"} {
			if n := strings.Count(string(text), `{"method":"shop:`+method+`"`); n != 2 {
				t.Errorf("framed %v: %d calls of shop:%s in the recording, want 2:\n%s", framed, n, method, text)
			}
		}
		if want := `{"method":"shop:add","args":{"a":1},"result":7,`; err != nil || !strings.HasPrefix(string(text), want) || !strings.Contains(string(text), `{"method":"shop:tell","args":{},"result":null,"oneway":true`) {
			t.Errorf("framed %v: the recording is %s, %v", framed, text, err)
		}
	}
	several := write(t, "several.thrift", "service A { i32 add(1: i32 a) }\nservice B { i32 add(1: i32 a) }")
	if _, errs, code := nocopy(t, "", "call", multiplexing(t, true), "shop:add", "a=1", "-idl", several); code != 1 || !strings.Contains(errs, "A and B have a method add") || !strings.Contains(errs, "with -multiplexed shop") {
		t.Errorf("%d %s", code, errs)
	}
	want(t, 0, "7", "", "call", multiplexing(t, true), "B.add", "a=1", "-idl", several, "-multiplexed", "shop")
}

// TestDetectionTime: -timeout bounds all of a call, whatever the server does. An answer of HTTP is
// conclusive, and so is a refused connection.
func TestDetectionTime(t *testing.T) {
	t.Parallel()
	silent := answerWith(t, func([]byte) []byte { return nil }, true)
	began := time.Now()
	_, errs, code := nocopy(t, "", "call", silent, "f", "-timeout", "2s")
	if d := time.Since(began); code != 1 || !strings.Contains(errs, "framed binary: no answer in 2s") || !strings.Contains(errs, "http compact: no answer in 2s") || d < 2*time.Second || d > 40*time.Second {
		t.Errorf("%v: %d %s", d, code, errs)
	}
	for flags, want := range map[string]string{
		"-transport framed -protocol binary -raw": "no answer in 1s", "-deadline 1s -transport framed": "no answer in 1s", "-transport http -protocol binary -raw": "no answer in 1s",
	} {
		_, errs, code := nocopy(t, "", append([]string{"call", silent, "f", "-timeout", "1s"}, strings.Fields(flags)...)...)
		if code != 1 || !strings.Contains(errs, want) || strings.Contains(errs, "context") {
			t.Errorf("%s: %d %s", flags, code, errs)
		}
	}
	if out, errs, code := nocopy(t, "", "bench", silent, "f", "-idl", write(t, "f.thrift", "service S { void f() }"), "-transport", "framed", "-timeout", "1s", "-n", "1", "-warmup", "0"); code != 1 || !strings.Contains(out, "no answer in 1s") || strings.Contains(out+errs, "context") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for status, want := range map[int]string{404: "name the path", 403: "403", 405: "405"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer server.Close()
		for _, addr := range []string{server.URL, strings.TrimPrefix(server.URL, "http://")} {
			_, errs, code := nocopy(t, "", "call", addr, "f", "-timeout", "50s")
			if code != 1 || !strings.Contains(errs, want) || strings.Contains(errs, "framed") {
				t.Errorf("%s: %d %s", addr, code, errs)
			}
		}
	}
	// It says HTTP on connections of others, and does not answer a request.
	hung := answerWith(t, func(request []byte) []byte {
		if request[0] != 0 { // it is not in a frame
			return nil
		}
		return []byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}, true)
	if _, errs, code := nocopy(t, "", "call", hung, "f", "-timeout", "2s"); code != 1 || strings.Contains(errs, "framed") || !strings.Contains(errs, "http binary: no answer in 2s") {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code := nocopy(t, "", "call", hung, "f", "-timeout", "50s", "-transport", "framed"); code != 1 || !strings.Contains(errs, "add -transport http") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestUsualWaysFirst: a server gets framed binary first, and then unframed binary. Servers in Node
// end at any other bytes.
func TestUsualWaysFirst(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan []byte, 2)
	go func() { // it closes both connections
		for range 2 {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			nc.SetDeadline(time.Now().Add(time.Minute))
			begin := make([]byte, 4)
			io.ReadFull(nc, begin)
			got <- begin
			nc.Close()
		}
		l.Close()
	}()
	nocopy(t, "", "call", l.Addr().String(), "f", "-raw", "-timeout", "50s")
	if framed := <-got; framed[0] != 0 || framed[1] != 0 || framed[3] > 100 {
		t.Errorf("the first connection has %x", framed)
	}
	if unframed := <-got; string(unframed) != "\x80\x01\x00\x01" {
		t.Errorf("the second connection has %x", unframed)
	}
}

// TestOneAtATime: a server that serves one connection after the other, and waits for more bytes on
// one that speaks in another way, is found out.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	for _, w := range []struct {
		wire rpc.Wires
		want string
	}{{rpc.WireUnframed, "unframed binary"}, {rpc.WireFramedCompact, "framed compact"}, {rpc.WireUnframedCompact, "unframed compact"}} {
		upstream := fleet(t, &rpc.Server{Wires: w.wire})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				nc, err := l.Accept()
				if err != nil {
					return
				}
				oneConnection(nc, upstream)
			}
		}()
		if out, errs, code := nocopy(t, "", "call", l.Addr().String(), "ping", "-v", "-timeout", "50s"); code != 0 || !strings.Contains(errs, "# "+w.want) {
			t.Errorf("%s: %d %s%s", w.want, code, out, errs)
		}
	}
}

// oneConnection passes a client's bytes on to a server, and the answers of the server unless it
// refuses how the client speaks: then the client gets none. It returns at the client's end.
func oneConnection(nc net.Conn, server string) {
	defer nc.Close()
	up, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer up.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := nc.Read(b)
		if err != nil {
			return
		}
		up.Write(b[:n])
		up.SetReadDeadline(time.Now().Add(time.Minute))
		n, err = up.Read(b)
		if err == nil && !strings.Contains(string(b[:n]), "does not speak") {
			nc.Write(b[:n])
		}
	}
}

// TestURLs: a URL that is not encrypted does not go with flags for encryption, nor any URL with
// other transports.
func TestURLs(t *testing.T) {
	for _, flag := range []string{"-tls", "-ca=x", "-insecure", "-server-name=x", "-cert=x -key=y"} {
		for _, command := range []string{"call %s f", "describe %s", "record %s", "replay x %s", "bench %s f", "console %s"} {
			for _, addr := range []string{"http://localhost:1/x", "HTTP://localhost:1/x"} {
				args := append(strings.Fields(strings.Replace(command, "%s", addr, 1)), strings.Fields(flag)...)
				if _, errs, code := nocopy(t, "", args...); code != 2 || !strings.Contains(errs, "https://") {
					t.Errorf("nocopy %s: %d %s", strings.Join(args, " "), code, errs)
				}
			}
		}
	}
	if _, errs, code := nocopy(t, "", "call", "https://localhost:1", "f", "-transport", "framed"); code != 2 || !strings.Contains(errs, "does not go with") {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code := nocopy(t, "", "call", "localhost:1", "f", "-timeout", "0s"); code != 2 || !strings.Contains(errs, "-timeout") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestMultiplexingAdvice: only a server that never sends anything, and closes connections, may be
// a multiplexing one.
func TestMultiplexingAdvice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func([]byte) []byte
		open   bool
		advice bool
	}{
		"closes each":           {func([]byte) []byte { return nil }, false, true},
		"closes or waits":       {nil, false, true},
		"null bytes, then ends": {func([]byte) []byte { return make([]byte, 64) }, false, false},
		"null bytes":            {func([]byte) []byte { return make([]byte, 64) }, true, false},
		"one null byte":         {func([]byte) []byte { return make([]byte, 1) }, false, false},
		"4 null bytes":          {func([]byte) []byte { return make([]byte, 4) }, false, false},
		"text":                  {func([]byte) []byte { return []byte("220 mail.example.com ESMTP\r\n") }, false, false},
		"never answers":         {func([]byte) []byte { return nil }, true, false},
	} {
		addr := multiplexing(t, true)
		if c.answer != nil {
			addr = answerWith(t, c.answer, c.open)
		}
		_, errs, code := nocopy(t, "", "call", addr, "f", "-raw", "-timeout", "4s")
		if code == 0 || strings.Contains(errs, "perhaps it is a multiplexing server") != c.advice {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
}
