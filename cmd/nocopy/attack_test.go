package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestLoopback: without a host, commands listen on the loopback interface.
func TestLoopback(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	server, _ := start(t, "mock", "-idl", idl, "-listen", ":0")
	for name, args := range map[string][]string{
		"mock": {"mock", "-idl", idl, "-listen", ":0"}, "record": {"record", server, "-listen", ":0"}, "console": {"console", server, "-listen", ":0"},
	} {
		addr, _ := start(t, args...)
		if host, _, err := net.SplitHostPort(addr); err != nil || host != "127.0.0.1" {
			t.Errorf("%s listens on %s", name, addr)
		}
	}
}

// answerWith starts a server that answers each connection's first bytes with these, and then waits
// or closes.
func answerWith(t *testing.T, answer func(request []byte) []byte, wait bool) string {
	t.Helper()
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
				nc.SetDeadline(time.Now().Add(time.Minute))
				b := make([]byte, 4096)
				for {
					n, err := nc.Read(b)
					if err != nil {
						return
					}
					nc.Write(answer(b[:n]))
					if !wait {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// reply returns the framed reply to a framed request, with this struct.
func reply(request, body []byte) []byte {
	if len(request) < 16 {
		return nil
	}
	n := int(binary.BigEndian.Uint32(request[8:]))
	if n > len(request)-16 {
		return nil
	}
	b := append([]byte{0, 0, 0, 0, 0x80, 1, 0, 2}, request[8:16+n]...)
	b = append(b, body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// TestHostileServers: servers send hostile answers. Each command fails in time, says why, and
// writes no control characters.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	idl := write(t, "shop.thrift", shopIDL)
	file := write(t, "calls.jsonl", `{"method": "Shop.get", "args": {"id": 1}, "result": {"id": 1}}`)
	text := func(id byte, s string) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{11, 0, id}, uint32(len(s))), s...)
	}
	bodies := map[string][]byte{
		"empty": {0}, "truncated": {12, 0, 0, 10}, "huge count": {12, 0, 0, 15, 0, 3, 12, 0x7f, 0xff, 0xff, 0xff, 0, 0},
		"other type": {8, 0, 0, 0, 0, 0, 1, 0}, "unknown exception": {12, 0, 9, 0, 0},
		"missing required": {12, 0, 0, 0, 0}, "deep": append([]byte(strings.Repeat("\x0c\x00\x63", 5000)), 0),
		"terminal":  append(append([]byte{12, 0, 1}, text(1, "\x1b]0;evil\x07\x1b[31m\x9b2J")...), 0, 0),
		"exception": append(append([]byte{12, 0, 1}, text(1, "\x1b]0;evil\x07\u009b2J\x7f\u202egpj.exe\u2066")...), 0, 0),
		"result":    append(append([]byte{12, 0, 0, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}, text(2, "\u009b2J\x7f\u202egpj.exe\u2066")...), 0, 0),
	}
	for name, body := range bodies {
		addr := answerWith(t, func(request []byte) []byte { return reply(request, body) }, true)
		for _, command := range [][]string{
			{"call", addr, "Shop.get", "id=1", "-v"}, {"call", addr, "get", "-raw", "-v"}, {"replay", file, addr},
			{"bench", addr, "Shop.get", "id=1", "-n", "3", "-warmup", "0"}, {"describe", addr},
		} {
			args := append(command, "-transport", "framed", "-protocol", "binary", "-timeout", "2s")
			if command[0] != "describe" && command[len(command)-2] != "-raw" {
				args = append(args, "-idl", idl)
			}
			out, errs, code := nocopy(t, "", args...)
			if code == 0 && command[0] != "bench" && name != "result" && command[2] != "get" {
				t.Errorf("%s: nocopy %s succeeds: %s", name, strings.Join(command, " "), out)
			}
			if strings.Contains(errs, "goroutine ") || strings.ContainsAny(out+errs, "\x1b\x07\u009b") && !strings.Contains(out+errs, "\\") {
				t.Errorf("%s: nocopy %s: %d %q %q", name, strings.Join(command, " "), code, out, errs)
			}
			for _, c := range out + errs {
				if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 || c == 0x202e || c == 0x2066 {
					t.Errorf("%s: nocopy %s writes %q: %q %q", name, strings.Join(command, " "), c, out, errs)
					break
				}
			}
		}
	}
	refusing := answerWith(t, func(request []byte) []byte {
		b := reply(request, append(text(1, "\x1b]0;evil\x07\u009b2J"), 0))
		if b != nil {
			b[7] = 3 // an exception
		}
		return b
	}, true)
	for _, command := range []string{"call", "bench", "describe"} {
		if out, errs, code := nocopy(t, "", command, refusing, "Shop.get", "-transport", "framed", "-timeout", "1s"); code == 0 || strings.ContainsAny(out+errs, "\x1b\x07\u009b") {
			t.Errorf("%s: %d %q %q", command, code, out, errs)
		}
	}
	// Servers that speak something else, or nothing, while the tool finds out what
	var calls sync.WaitGroup
	for name, answer := range map[string]func([]byte) []byte{
		"silence": func([]byte) []byte { return nil },
		"noise":   func(b []byte) []byte { return []byte(strings.Repeat("\x1b[31mnoise", 1000)) },
		"echo":    func(b []byte) []byte { return b },
		"zeros":   func([]byte) []byte { return make([]byte, 1000) },
		"TLS":     func([]byte) []byte { return []byte("\x15\x03\x01\x00\x02\x02\x28") },
		"SSH":     func([]byte) []byte { return []byte("SSH-2.0-OpenSSH_9.6\r\n") },
		"HTTP": func([]byte) []byte {
			return []byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		},
		"promise": func([]byte) []byte { return []byte{0x00, 0xf0, 0, 0, 0x80, 1, 0, 2} },
	} {
		for _, wait := range []bool{true, false} {
			addr := answerWith(t, answer, wait)
			calls.Go(func() { // at the same time: they wait for answers that do not come
				began := time.Now()
				_, errs, code := nocopy(t, "", "call", addr, "get", "-timeout", "2s")
				if code != 1 || errs == "" || strings.ContainsAny(errs, "\x1b\x07") || strings.Contains(errs, "goroutine ") {
					t.Errorf("%s: %d %q", name, code, errs)
				}
				if name == "TLS" && !strings.Contains(errs, "add -tls") {
					t.Errorf("%s: %s", name, errs)
				}
				if d := time.Since(began); d > 40*time.Second {
					t.Errorf("%s takes %v", name, d)
				}
			})
		}
	}
	calls.Wait()
}

// describing starts a server that returns these files.
func describing(t *testing.T, service string, files ...rpc.IDLFile) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &rpc.Server{Processor: rpc.NewProcessor(service, nil).WithIDL(service, files...), Describe: true}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-served })
	return l.Addr().String()
}

// TestHostileIDL: IDL that a server returns is refused, or harms nothing.
func TestHostileIDL(t *testing.T) {
	secret := write(t, "secret.thrift", "struct Secret { 1: string found }")
	dir := t.TempDir()
	for i, path := range []string{"../evil.thrift", "/tmp/nocopy-evil.thrift", "a/../../evil.thrift", "a\\..\\..\\evil.thrift", "a\x00.thrift", ""} {
		into := filepath.Join(dir, fmt.Sprint(i))
		addr := describing(t, "S", rpc.IDLFile{Path: path, Text: "service S { void f() }"})
		if _, errs, code := nocopy(t, "", "describe", addr, "-save", into); code != 1 || errs == "" {
			t.Errorf("%q is saved: %d %s", path, code, errs)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "*.thrift")); len(found) > 0 {
		t.Errorf("%v were written", found)
	}
	if _, errs, code := nocopy(t, "", "describe", describing(t, "S", rpc.IDLFile{Path: "s.thrift", Text: "service S {}"}), "-save", dir); code != 1 || !strings.Contains(errs, "exists") {
		t.Errorf("a folder that is there is written to: %d %s", code, errs)
	}
	for _, include := range []string{secret, "../" + filepath.Base(secret), "/etc/passwd"} {
		addr := describing(t, "S", rpc.IDLFile{Path: "s.thrift", Text: fmt.Sprintf("include %q service S { void f() }", include)})
		if out, errs, code := nocopy(t, "", "describe", addr); code != 1 || strings.Contains(out+errs, "found") || !strings.Contains(errs, "cannot find include") {
			t.Errorf("include %s: %d %s%s", include, code, out, errs)
		}
	}
	addr := describing(t, "S", rpc.IDLFile{Path: "s.thrift", Text: "/** \x1b]0;evil\x07\x1b[2J\n */ struct A { 1: i32 x }\nservice S { A f(1: A a) }"})
	for _, name := range []string{"A", "S", "S.f", ""} {
		out, errs, code := nocopy(t, "", strings.Fields("describe "+addr+" "+name)...)
		if code != 0 || strings.ContainsAny(out+errs, "\x1b\x07") {
			t.Errorf("describe %s: %d %q %q", name, code, out, errs)
		}
	}
	for _, text := range []string{strings.Repeat("x", 2<<20), "struct A { 1: " + strings.Repeat("list<", 50_000) + "i32 }", "service S { T f() }"} {
		for _, command := range []string{"describe", "call", "bench"} {
			_, errs, code := nocopy(t, "", command, describing(t, "S", rpc.IDLFile{Path: "s.thrift", Text: text}), "S.f")
			if code != 1 || len(errs) > 1<<16 || strings.Contains(errs, "goroutine ") {
				t.Errorf("%s of %.20q: %d %.300s", command, text, code, errs)
			}
		}
	}
}

// TestHostileRecordings: a recording contains data only. No file that it names is opened. Lines
// that do not fit are refused with their number.
func TestHostileRecordings(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	secret := write(t, "secret", "found")
	for line, want := range map[string]string{
		`{"method": "Shop.join", "args": {"text": "@` + secret + `"}, "result": "x"}`:                    "",
		`{"method": "Shop.join", "args": "@` + secret + `", "result": "x"}`:                              ":1: arguments of Shop.join",
		`{"method": "Shop.join", "args": {"text": 1}}`:                                                   ":1: arguments of Shop.join",
		`{"method": "Shop.join", "idl": "/etc/passwd"}`:                                                  `:1: json: unknown field "idl"`,
		`{"method": "../../etc/passwd"}`:                                                                 ":1: service ../../etc: not found",
		`{"method": ""}`:                                                                                 ":1: the key method is missing",
		`{"method": "Shop.get", "rawArgs": "AAAA", "rawReply": "AA=="}`:                                  "",
		`{"method": "Shop.get", "rawArgs": "` + strings.Repeat("DAAB", 30000) + `", "rawReply": "AA=="}`: "",
		`{"method": "Shop.get"} {"method": "Shop.get"}`:                                                  ":1: more follows",
		strings.Repeat("[", 100_000):                                                                     ":1: ",
	} {
		out, errs, code := nocopy(t, "", "replay", write(t, "calls.jsonl", line), server)
		if code == 0 || want != "" && !strings.Contains(errs, want) || strings.Contains(out+errs, "found\"") || strings.Contains(errs, "goroutine ") {
			t.Errorf("replay of %.100s: %d %.300s %.300s", line, code, out, errs)
		}
		if _, errs, code := nocopy(t, "", "mock", "-idl", idl, "-listen", "/none/s.sock", "-answers", write(t, "calls.jsonl", line)); code != 1 || strings.Contains(errs, "goroutine ") {
			t.Errorf("mock with %.100s: %d %.300s", line, code, errs)
		}
	}
	// A recording is not written through a link, or into a file that is there.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := nocopy(t, "", "record", server, "-o", link); code != 1 || !strings.Contains(errs, "exists") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestTerminalCommands: names of files, and texts in them, write no control characters. Only the
// text of a file is as it is, unless it goes to a terminal.
func TestTerminalCommands(t *testing.T) {
	const evil = "\x1b]0;evil\x07\u009b2J\u202e\x7f"
	t.Chdir(t.TempDir())
	dir := evil + ".d"
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	good := put("good"+evil+".thrift", "/** "+evil+" */\nstruct A { 1: string x = \""+evil+"\" (note = \""+evil+"\") } service S { A f() (api.get=\"/"+evil+"\") }")
	now := put("now.thrift", "// "+evil+"\nstruct B {}\n")
	bad := put("bad.thrift", "include \""+evil+"\"\nstruct A { 1: "+evil+" x 1: string y = "+evil+" }")
	worse := put("worse.thrift", "struct A { 1: none x } const i32 N = \""+evil+"\"")
	for _, command := range [][]string{
		{"check", good}, {"check", bad}, {"check", worse}, {"check", dir + "/none"}, {"check", "-" + evil}, {"gen", "-o", "out" + evil, bad}, {"gen", "-o", "out" + evil, good},
		{"gen", "-o", bad, good}, {"fmt", "-check", dir}, {"fmt", "-l", good}, {"fmt", bad}, {"fmt", "-w", dir + "/none"}, {"audit", good, now}, {"audit", "-json", good, now}, {"audit", good, bad},
		{"audit", evil, now}, {"dump", good}, {"dump", dir + "/none"}, {"dump", "-idl", bad, good}, {"dump", "-json", good}, {"lint", dir}, {"lint", "-format", "json", dir},
		{"lint", "-format", "github", dir}, {"lint", "-format", "sarif", dir}, {"lint", "-enable", evil, dir}, {"lint", "-config", good, dir}, {"doc", "-o", "site", bad},
		{"doc", "-o", good, now}, {"openapi", good}, {"openapi", bad}, {"describe", "-idl", good, "A"}, {"describe", "-idl", good},
		{"describe", "-idl", bad}, {"describe", "-idl", good, evil}, {"describe", "-idl", good, "-save", evil + "/x"}, {"call", evil, "f", "-idl", good}, {"call", "localhost:1", evil, "-idl", good},
		{"mock", "-idl", bad}, {"mock", "-idl", good, "-listen", evil, "-answers", good}, {"replay", good, "localhost:1"}, {"migrate", "-replace", evil + "=x", "./" + evil},
		{evil}, {"call", "-" + evil}, {"call", "--timeout", evil, "x"}, {"lint", "-format", evil},
	} {
		out, errs, _ := nocopy(t, "", command...)
		for _, c := range out + errs {
			if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 || c == 0x202e {
				t.Errorf("nocopy %q writes %q:\n%q\n%q", command, c, out, errs)
				break
			}
		}
	}
	if out, _, code := nocopy(t, "", "fmt", now); code != 0 || out != "// "+evil+"\nstruct B {}\n" {
		t.Errorf("the formatted text is %q", out)
	}
}

// TestNoAnswer: an answer without IDL is no description, and bytes that do not answer the call are
// no answer.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	empty := answerWith(t, func(request []byte) []byte {
		if bytes.Contains(request, []byte("nocopy.describe")) { // this method is unknown, perhaps
			answer := reply(request, []byte{8, 0, 2, 0, 0, 0, 1, 0})
			if len(answer) > 7 {
				answer[7] = 3
			}
			return answer
		}
		return reply(request, []byte("\x0c\x00\x00\x0b\x00\x01\x00\x00\x00\x01n\x08\x00\x02\x00\x00\x00\x05\x00\x00"))
	}, true)
	idl := write(t, "s.thrift", "service S {}")
	want := "the server does not tell its IDL: what it sends is no description: it has no types and no services"
	for _, args := range [][]string{{"describe", empty}, {"audit", idl, "-against", empty}} {
		if out, errs, code := nocopy(t, "", args...); code == 0 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%v: %d %s%s", args, code, out, errs)
		}
	}
	zeros := answerWith(t, func([]byte) []byte { return make([]byte, 1<<20) }, true)
	if out, errs, code := nocopy(t, "", "describe", zeros, "-timeout", "20s"); code != 1 || !strings.Contains(errs, "the server answers in no known way") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}
