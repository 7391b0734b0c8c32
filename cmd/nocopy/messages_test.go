package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestForgedLines: what a server says does not make lines that look like the tool's own.
func TestForgedLines(t *testing.T) {
	const forged = "no\nnocopy: forged\r\n1 calls, 0 answers differ"
	idl := write(t, "shop.thrift", shopIDL)
	addr, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers",
		write(t, "answers.jsonl", fmt.Sprintf(`{"method": "Shop.add", "error": {"type": 6, "message": %q}}`, forged)))
	calls := write(t, "calls.jsonl", `{"method": "Shop.add", "args": {"a": 1}, "result": 1}`)
	for _, args := range [][]string{
		{"call", addr, "add"}, {"call", addr, "add", "-raw"}, {"call", addr, "-calls", calls}, {"replay", calls, addr}, {"bench", addr, "add", "-n", "1", "-warmup", "0"},
	} {
		out, errs, code := nocopy(t, "", args...)
		for line := range strings.Lines(out + errs) {
			if strings.HasPrefix(line, "nocopy: forged") || args[0] != "replay" && strings.HasPrefix(line, "1 calls, 0") {
				t.Errorf("nocopy %v: %d %s%s", args, code, out, errs)
			}
		}
		if !strings.Contains(out+errs, `no\nnocopy: forged`) {
			t.Errorf("nocopy %v: %d %s%s", args, code, out, errs)
		}
	}
	// While the tool finds out how a server speaks, and in files that it returns
	refusing := answerWith(t, func(request []byte) []byte {
		return []byte("HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 19\r\n\r\nno\nnocopy: forged\n\n\n")
	}, true)
	for _, addr := range []string{refusing, describing(t, "S", rpc.IDLFile{Path: "s\nnocopy: forged\n.thrift", Text: "service S { T f() }"})} {
		if _, errs, code := nocopy(t, "", "describe", addr); code != 1 || strings.Contains(errs, "\nnocopy: forged") || !strings.Contains(errs, "forged") {
			t.Errorf("%d %s", code, errs)
		}
	}
}

// TestApplicationCodes: types of exceptions that do not fit between the other codes all give 64.
// None is taken for what lint found, or for another type.
func TestApplicationCodes(t *testing.T) {
	codes := map[int]int{0: 64, 6: 70, 35: 99, 36: 64, 66: 64, 403: 64, -1: 64, -60: 64}
	var answers strings.Builder
	for exception := range codes {
		fmt.Fprintf(&answers, "{\"method\": \"Shop.add\", \"args\": {\"a\": %d}, \"error\": {\"type\": %[1]d, \"message\": \"no\"}}\n", exception)
	}
	addr, _ := start(t, "mock", "-idl", write(t, "shop.thrift", shopIDL), "-listen", "127.0.0.1:0",
		"-answers", write(t, "answers.jsonl", answers.String()))
	for exception, want := range codes {
		if out, errs, code := nocopy(t, "", "call", addr, "add", fmt.Sprintf("a=%d", exception)); code != want || !strings.Contains(errs, "no") {
			t.Errorf("type %d: exit code %d, not %d: %s%s", exception, code, want, out, errs)
		}
	}
}

// TestQuietMock: mock -q prints nothing.
func TestQuietMock(t *testing.T) {
	ports := freePorts(t, "9090")
	addr := "127.0.0.1:" + ports["9090"]
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run([]string{"mock", "-idl", write(t, "shop.thrift", shopIDL), "-listen", addr, "-q"}, shell.Of(ctx, nil, &out, &errs))
	}()
	for range 3000 {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		io.WriteString(nc, strings.Repeat("\xff", 64)) // of which a server warns
		io.Copy(io.Discard, nc)
		nc.Close()
		break
	}
	want(t, 0, "null", "", "call", addr, "ping")
	if out, errs, code := nocopy(t, "", "call", addr, "none", "-raw"); code != 65 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	cancel()
	if code := <-ended; code != 0 || out.String()+errs.String() != "" {
		t.Errorf("mock -q: %d %s%s", code, out.String(), errs.String())
	}
}

// TestAppend: a recording is not appended to a file that others may read.
func TestAppend(t *testing.T) {
	server, _ := start(t, "mock", "-idl", write(t, "shop.thrift", shopIDL), "-listen", "127.0.0.1:0")
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: true, 0o640: true, 0o602: true} {
		file := write(t, "calls.jsonl", "{\"method\": \"ping\"}\n")
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if refused {
			if _, errs, code := nocopy(t, "", "record", server, "-listen", "127.0.0.1:0", "-o", file, "-append"); code != 1 || !strings.Contains(errs, "chmod 600 "+file) {
				t.Errorf("%o: %d %s", mode, code, errs)
			}
			continue
		}
		proxy, stop := start(t, "record", server, "-listen", "127.0.0.1:0", "-o", file, "-append")
		nocopy(t, "", "call", proxy, "ping")
		stop()
		if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != 2 {
			t.Errorf("%o: %s, %v", mode, text, err)
		}
	}
}

// TestLimits: limits have flags, and messages name these.
func TestLimits(t *testing.T) {
	deep := func(levels int) []byte {
		b := []byte{12, 0, 0, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}
		for range levels {
			b = append(b, 12, 0, 12, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1)
		}
		return append(b, make([]byte, levels+2)...)
	}
	idl := write(t, "shop.thrift", shopIDL)
	addr := answerWith(t, func(request []byte) []byte { return reply(request, deep(100)) }, true)
	args := strings.Repeat(`{"id": 1, "next": `, 100) + `{"id": 1}` + strings.Repeat("}", 100)
	raw := strings.Repeat(`{"rec": {"1": `, 99) + `{"i32": 1}` + strings.Repeat("}}", 99)
	for _, call := range [][]string{
		{"call", addr, "get", "id=1", "-idl", idl}, {"call", addr, "get", "-raw", "1:i64=1"}, {"call", addr, "echo", "-d", `{"order": ` + args + `}`, "-idl", idl},
		{"call", addr, "echo", "-raw", "-d", `{"1": ` + raw + `}`},
	} {
		call = append(call, "-transport", "framed", "-protocol", "binary")
		if _, errs, code := nocopy(t, "", call...); code != 1 || !strings.Contains(errs, "-max-depth") || strings.Contains(errs, "MaxDepth") {
			t.Errorf("nocopy %.200s: %d %.300s", strings.Join(call, " "), code, errs)
		}
		if _, errs, code := nocopy(t, "", append(call, "-max-depth", "120")...); code != 0 {
			t.Errorf("nocopy %.200s: %d %.300s", strings.Join(call, " "), code, errs)
		}
	}
	if _, errs, code := nocopy(t, "", "call", addr, "get", "id=1", "-idl", idl, "-max-frame", "300", "-transport", "framed", "-protocol", "binary"); code != 1 || !strings.Contains(errs, "more than -max-frame = 300") {
		t.Errorf("%d %s", code, errs)
	}
	answers := write(t, "answers.jsonl", `{"method": "Shop.get", "result": `+args+"}\n")
	if _, errs, code := nocopy(t, "", "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", answers); code != 1 || !strings.Contains(errs, "-max-depth") || strings.Contains(errs, "MaxDepth") {
		t.Errorf("a deep answer: %d %.300s", code, errs)
	}
	unknown := write(t, "unknown.jsonl", `{"method": "Shop.get", "result": {"idd": 1}}`)
	if _, errs, code := nocopy(t, "", "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", unknown); code != 1 || !strings.HasSuffix(errs, "unknown field: \"idd\" (did you mean \"id\"?)\n") {
		t.Errorf("an answer with an unknown field: %d %s", code, errs)
	}
	deeper, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", answers, "-max-depth", "120")
	for _, call := range [][]string{{"get", "id=1"}, {"echo", "-d", `{"order": ` + args + `}`}} {
		if _, errs, code := nocopy(t, "", append([]string{"call", deeper, "-idl", idl, "-max-depth", "120"}, call...)...); code != 0 {
			t.Errorf("%.100s: %d %.300s", call, code, errs)
		}
	}
	if _, errs, code := nocopy(t, "", "mock", "-idl", idl, "-max-depth", "70000"); code != 2 || !strings.Contains(errs, "-max-depth") {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code := nocopy(t, "", "call", addr, "get", "-max-depth", "-1"); code != 2 || !strings.Contains(errs, "-max-depth") {
		t.Errorf("%d %s", code, errs)
	}
}
