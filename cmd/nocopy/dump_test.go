package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// TestDump shows the bytes of messages, and reports what is wrong with a command line.
func TestDump(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"ok.thrift": "struct S {\n  1: i32 a\n}\n", "bad.thrift": "struct S { 1: J a }\n", "s.bin": "\x08\x00\x01\x00\x00\x00\x05\x00",
		"calls.pcap": string(new(capturetest.Capture).PCAP()), "short.pcap": "\xd4\xc3\xb2\xa1\x02", "calls.pcap.gz": "\x1f\x8b\x08\x00",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "nocopy: one file is needed, or - for standard input; see nocopy dump -h\n"},
		{"s.bin -h", 0, "Usage: nocopy dump [<file>] [flags]"},
		{"s.bin", 0, "1: i32 5"},
		{"-", 0, "# structs"},
		{"-format text -idl ok.thrift -type S s.bin", 0, "1 a: i32 5"},
		{"-format json s.bin", 0, `"value":5`},
		{"--json s.bin", 0, `"value":5`},
		{"-form framed-message -max 0 s.bin", 1, "nocopy: s.bin: malformed at offset 8\n"},
		{"-form frame s.bin", 2, `"frame" is no form`},
		{"-format yaml s.bin", 2, `nocopy: -format must be one of "text","json" but got "yaml"; see nocopy dump -h`},
		{"-idl bad.thrift s.bin", 1, "bad.thrift:1:15: unknown type J"},
		{"none", 1, "nocopy: open none"},
		{"-type S s.bin", 2, "nocopy: -type needs -idl; see nocopy dump -h\n"},
		{"-port 80 s.bin", 2, "nocopy: this is no capture, which -only, -port and -slower are for; see nocopy dump -h\n"},
		{"-form struct calls.pcap", 2, "nocopy: this is a capture, which -type, -form and -max are not for; see nocopy dump -h\n"},
		{"-max -1 s.bin", 2, "nocopy: -max is negative; see nocopy dump -h\n"},
		{"-max -1 calls.pcap", 2, "nocopy: -max is negative; see nocopy dump -h\n"},
		{"-max 5 calls.pcap", 2, "-max are not for"},
		{"-only [ calls.pcap", 2, "nocopy: -only [: syntax error in pattern; see nocopy dump -h\n"},
		{"calls.pcap.gz", 1, "nocopy: calls.pcap.gz is compressed by gzip: gunzip it first"},
		{"-slower -1s calls.pcap", 2, "nocopy: -slower is negative; see nocopy dump -h\n"},
		{"-interface lo s.bin", 2, "nocopy: a file and -interface do not go together; see nocopy dump -h\n"},
		{"-interface none0", 1, "none0"},
		{"calls.pcap", 0, "calls.pcap: 0 packets, 0 connections, 0 calls\n"},
		{"short.pcap", 1, "nocopy: short.pcap: the capture is cut"},
	} {
		out, errs, code := nocopy(t, "\x00", append([]string{"dump"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("nocopy dump %s: %d %s%s\nwant %d %s", c.args, code, out, errs, c.code, c.want)
		}
	}
}

// taped returns the address of a proxy for a server, and a function that waits until the
// connections are closed, and returns what has gone through them.
func taped(t *testing.T, server string) (addr string, ended func() *capturetest.Tape) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	tape := new(capturetest.Tape)
	var copying sync.WaitGroup
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := tape.DialContext(t.Context(), "tcp", server)
			if err != nil {
				from.Close()
				return
			}
			copying.Go(func() { io.Copy(to, from); to.Close() })
			copying.Go(func() { io.Copy(from, to); from.Close() })
		}
	}()
	return l.Addr().String(), func() *capturetest.Tape { copying.Wait(); return tape }
}

// TestDumpCapture: the calls of a capture, in all ways to speak, are shown, are a recording that
// can be replayed, and are answers for a mock.
func TestDumpCapture(t *testing.T) {
	idl, answers := write(t, "shop.thrift", shopIDL), write(t, "answers.jsonl", shopAnswers)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", answers)
	for _, how := range [][]string{
		{"-transport", "framed", "-protocol", "binary"}, {"-transport", "unframed", "-protocol", "compact"}, {"-transport", "theader", "-zlib", "-protocol", "binary"}, {"-transport", "http", "-protocol", "compact"},
	} {
		wire := how[1] + " " + how[len(how)-1]
		addr, ended := taped(t, server)
		for _, args := range [][]string{{"join", "text=a=b\x1b[31m"}, {"get", "id=404"}, {"add", "a=8"}, {"ping"}, {"tell", "what=x"}, {"echo", "order.id=7", "order.lines.0.article=lamp", "order.next.id=8"}} {
			nocopy(t, "", append(append([]string{"call", addr}, args...), append(how, "-idl", idl)...)...)
		}
		c := new(capturetest.Capture)
		ended().Play(c, "10.0.0.1", "10.0.0.2:9090")
		file := write(t, "calls.pcap", string(c.PCAP()))

		out, errs, code := nocopy(t, "", "dump", "-idl", idl, file)
		lines := strings.Split(out, "\n")
		for i, want := range []string{
			`Shop\.join \S+ \{"text":"a=b\\u001b\[31m"\} → ".*"`, `Shop\.get \S+ \{"id":404\} NotFound \{"why":"gone"\}`, `Shop\.add \S+ \{"a":8\} TApplicationException 6: no`,
			`Base\.ping \S+ \{\} → null`, `Shop\.tell \{"what":"x"\} oneway`, `Shop\.echo \S+ \{"order":\{"id":7,.*\}\} → \{"id":7\}`,
		} {
			pattern := `^2026-11-30T10:00:00\.\d{6}Z 10\.0\.0\.1:5000\d → 10\.0\.0\.2:9090 ` + wire + ` ` + want + `$`
			if i >= len(lines) || !regexp.MustCompile(strings.ReplaceAll(pattern, "Base", "(Base|Shop)")).MatchString(lines[i]) {
				t.Fatalf("%d: %d %s%s\nwant %s", i, code, out, errs, pattern)
			}
		}
		if code != 0 || len(lines) != 7 || !regexp.MustCompile(`calls\.pcap: \d+ packets, 6 connections, 6 calls\n$`).MatchString(errs) {
			t.Errorf("%d %s%s", code, out, errs)
		}

		for _, flags := range [][]string{{"-idl", idl}, nil} { // without IDL they are bytes
			calls, errs, code := nocopy(t, "", append([]string{"dump", "-format", "json", file}, flags...)...)
			if code != 0 || strings.Count(calls, "\n") != 6 || strings.Count(calls, `"client":"10.0.0.1:5000`) != 6 || !strings.Contains(calls, `"wire":"`+wire+`"`) {
				t.Fatalf("%d %s%s", code, calls, errs)
			}
			recorded := write(t, "calls.jsonl", calls)
			out, errs, code := nocopy(t, "", append([]string{"replay", recorded, server}, flags...)...)
			if code != 0 || out != "6 calls, 0 answers differ\n" {
				t.Errorf("replay %v: %d %s%s\n%s", flags, code, out, errs, calls)
			}
			if flags == nil {
				continue
			}
			mock, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", recorded)
			if out, errs, code := nocopy(t, "", "replay", recorded, mock, "-idl", idl); code != 0 {
				t.Errorf("mock: %d %s%s", code, out, errs)
			}
		}
	}
}

// TestDumpAssumed: of a connection that is older than the capture, pairs are marked if sequence
// ids do not tell calls apart. The JSON can be replayed.
func TestDumpAssumed(t *testing.T) {
	c := new(capturetest.Capture)
	conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
	for _, name := range []string{"a", "b", "c"} {
		for from, kind := range []string{capturetest.Client: "\x01", capturetest.Server: "\x02"} {
			conn.Send(from, []byte("\x80\x01\x00"+kind+"\x00\x00\x00\x01"+name+"\x00\x00\x00\x00\x00"))
		}
	}
	file := write(t, "calls.pcap", string(c.PCAP()))
	out, errs, code := nocopy(t, "", "dump", file)
	if lines := strings.Split(out, "\n"); code != 0 || len(lines) != 4 || strings.Contains(lines[0], "assumed") || !strings.HasSuffix(lines[1], " b 1ms {} → {} (assumed)") || strings.Count(errs, "rest on a client that waits") != 1 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	out, errs, code = nocopy(t, "", "dump", "-format", "json", file)
	if code != 0 || strings.Count(out, `,"assumed":true}`) != 2 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	server, _ := start(t, "mock", "-idl", write(t, "s.thrift", "service S { void b()  void c() }"), "-listen", "127.0.0.1:0")
	if out, errs, code := nocopy(t, "", "replay", write(t, "calls.jsonl", out), server); code != 0 || !strings.HasPrefix(out, "2 calls, 0 answers differ, 1 calls without a recorded answer left out\n") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// TestDumpFilters: flags choose calls. Calls before the place where a file is cut are shown.
func TestDumpFilters(t *testing.T) {
	c := new(capturetest.Capture)
	message := func(kind byte, name, body string) []byte {
		return []byte("\x80\x01\x00" + string(kind) + "\x00\x00\x00" + string(rune(len(name))) + name + "\x00\x00\x00\x00" + body)
	}
	for i, port := range []string{"9090", "9091"} {
		conn := c.Conn("10.0.0.1:500"+port[2:], "10.0.0.2:"+port)
		conn.Open()
		conn.Send(capturetest.Client, message(1, "fast", "\x00"))
		conn.Send(capturetest.Server, message(2, "fast", "\x00"))
		conn.Send(capturetest.Client, message(1, "slow", "\x00"))
		c.Conn("10.0.0.3:1", "10.0.0.4:2").Open()
		conn.Send(capturetest.Server, message(2, "slow", "\x0b\x00\x00\x00\x00\x00\x03\xff\x1b]"+"\x00"))
		if i == 0 {
			conn.Send(capturetest.Client, message(4, "tell", "\x00"))
			conn.Send(capturetest.Client, message(1, "lost", "\x00"))
		}
	}
	dir := t.TempDir()
	whole := c.PCAPNG()
	file, short := filepath.Join(dir, "calls.pcapng"), filepath.Join(dir, "cut.pcapng")
	for name, b := range map[string][]byte{file: whole, short: whole[:len(whole)-40]} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, methods string }{
		{"", "fast slow tell fast slow lost"}, {"-only slow", "slow slow"}, {"-only tell -only lost", "tell lost"}, {"-only none,tell,l?st", "tell lost"}, {"-only *l*", "slow tell slow lost"}, {"-port 9091", "fast slow"}, {"-slower 2ms", "slow slow lost"},
		{"-slower 1h -only lost", "lost"},
	} {
		args := append([]string{"dump", file}, strings.Fields(c.args)...)
		out, errs, code := nocopy(t, "", args...)
		var have []string
		for _, m := range regexp.MustCompile(`unframed binary (\w+) `).FindAllStringSubmatch(out, -1) {
			have = append(have, m[1])
		}
		if code != 0 || strings.Join(have, " ") != c.methods || strings.ContainsAny(out+errs, "\x1b\xff") {
			t.Errorf("nocopy %v: %d %s%s\nwant %s", args, code, out, errs, c.methods)
		}
	}
	if _, errs, code := nocopy(t, "", "dump", file, "-only", "tel"); code != 0 || !strings.HasSuffix(errs, "no call is of tel, did you mean tell? The capture has the methods fast, lost, slow, tell\n") {
		t.Errorf("%d %s", code, errs)
	}
	out, errs, code := nocopy(t, "", "dump", short)
	if code != 1 || strings.Count(out, "\n") != 6 || !strings.Contains(errs, "nocopy: "+short+": after packet ") || !strings.Contains(errs, "the capture is cut") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if _, errs, code := nocopy(t, string(whole), "dump", "-", "-port", "1"); code != 0 || !strings.Contains(errs, "packets of other ports") {
		t.Errorf("%d %s", code, errs)
	}
	out, errs, code = nocopy(t, string(c.Simple()), "dump", "-", "-format", "json", "-only", "fast")
	if code != 0 || strings.Count(out, "\n") != 2 || strings.Contains(out, `"time"`) || strings.Contains(out, `"took"`) || !strings.Contains(errs, " packets without a time") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if out, _, _ := nocopy(t, string(c.Simple()), "dump", "-", "-only", "fast"); !strings.HasPrefix(out, "- 10.0.0.1:50090 → 10.0.0.2:9090 unframed binary fast {} → {}\n") {
		t.Error(out)
	}
}

// TestDumpLarge: of large calls the text has the size, and JSON the bytes.
func TestDumpLarge(t *testing.T) {
	c := new(capturetest.Capture)
	conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
	conn.Open()
	text := strings.Repeat("x", 5<<20)
	conn.Send(capturetest.Client, []byte("\x80\x01\x00\x01\x00\x00\x00\x04join\x00\x00\x00\x00\x0b\x00\x01\x00\x50\x00\x00"+text+"\x00"))
	conn.Send(capturetest.Server, []byte("\x80\x01\x00\x02\x00\x00\x00\x04join\x00\x00\x00\x00\x00"))
	file, idl := string(c.PCAP()), write(t, "shop.thrift", shopIDL)
	out, errs, code := nocopy(t, file, "dump", "-", "-idl", idl, "-only", "Shop.join")
	if code != 0 || !strings.Contains(out, " Shop.join ") || !strings.HasSuffix(out, " (5242888 bytes) → {}\n") {
		t.Errorf("%d %.1000s%s", code, out, errs)
	}
	out, errs, code = nocopy(t, file, "dump", "-", "-idl", idl, "-format", "json")
	if code != 0 || !strings.HasPrefix(out, `{"method":"Shop.join","rawArgs":"CwABA`) || !strings.Contains(out, `"rawReply":"AA=="`) {
		t.Errorf("%d %.1000s%s", code, out, errs)
	}
}

// TestDumpInterrupted: signals are the usual end of reading an interface.
func TestDumpInterrupted(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		for _, name := range []string{"lo", "any"} {
			ctx, interrupt := context.WithCancelCause(t.Context())
			interrupt(shell.Interrupted(signal))
			var out, errs bytes.Buffer
			code := run([]string{"dump", "-interface", name}, shell.Of(ctx, strings.NewReader(""), &out, &errs))
			if code == 1 && regexp.MustCompile("is not allowed|on Linux only").MatchString(errs.String()) {
				t.Skip(errs.String())
			}
			if code != 0 || !strings.HasPrefix(errs.String(), name+": ") {
				t.Errorf("%v: %d %s%s", signal, code, out.String(), errs.String())
			}
		}
	}
}
