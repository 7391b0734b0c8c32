package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// TestRecordFaults: calls go wrong as flags say, and the recording tells. Replaying it, and
// answering from it, regards only what the server has answered.
func TestRecordFaults(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	server, stop := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "answers.jsonl", `{"method": "Shop.add", "result": 7}`))
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	proxy := func(flags ...string) string {
		addr, _ := start(t, append([]string{"record", server, "-listen", "127.0.0.1:0", "-idl", idl, "-o", file, "-append"}, flags...)...)
		return addr
	}
	call := func(addr string, args ...string) (string, string, int) {
		return nocopy(t, "", append([]string{"call", addr, "-idl", idl, "-transport", "framed", "-protocol", "binary"}, args...)...)
	}
	addr := proxy("-errors", "1", "-methods", "Shop.add,te*", "-delay", "1ms")
	if _, errs, code := call(addr, "add", "a=1"); code != 70 || !strings.HasSuffix(errs, "rpc: internal error: an error on demand, by nocopy record -errors\n") {
		t.Errorf("an error: %d %s", code, errs)
	}
	for _, args := range [][]string{{"tell", "what=oneway"}, {"ping"}} { // no answer; another method
		if _, errs, code := call(addr, args...); code != 0 {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	// Half of the cuts come after the server's answer.
	addr = proxy("-cuts", "1", "-methods", "add")
	for range 20 {
		if _, errs, code := call(addr, "add", "a=2"); code != 1 || !strings.Contains(errs, "connection") {
			t.Errorf("a cut: %d %s", code, errs)
		}
	}
	addr = proxy("-bandwidth", "1MB/s")
	text := strings.Repeat("x", 200_000)
	if out, errs, code := call(addr, "echo", "order.id=1", "order.email="+text); code != 0 || !strings.Contains(out, `"id"`) {
		t.Errorf("throttled: %d %.300s", code, errs)
	}

	counts := map[string]int{}
	for line := range strings.Lines(readFile(t, file)) {
		var l struct {
			Method, Fault, Failed string
			Result                json.RawMessage
			Args                  struct{ Order struct{ Email string } }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Method == "Shop.echo" && l.Args.Order.Email != text {
			t.Errorf("throttled arguments arrive as %.200s", line)
		}
		counts[fmt.Sprintf("%s %s %t %t", l.Method, l.Fault, l.Failed != "", string(l.Result) == "7")]++
	}
	cut, late := counts["Shop.add cut true false"], counts["Shop.add cut false true"]
	if cut+late != 20 || cut == 0 || late == 0 || counts["Shop.add error true false"] != 1 || counts["Shop.tell  false false"] != 1 || counts["Shop.ping  false false"] != 1 {
		t.Errorf("the recording has %v", counts)
	}
	want(t, 0, fmt.Sprintf("%d calls, 0 answers differ, %d calls without a recorded answer left out", late+3, cut+1), "", "replay", file, server, "-ignore", "result.*")
	other, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", file)
	want(t, 0, "7", "", "call", other, "add", "a=2")
	if printed, _ := stop(); strings.Count(printed, "Shop.add {a: 2}") != 2*late {
		t.Errorf("of 20 calls, %d are recorded and replayed with answers, and the server has seen\n%.2000s", late, printed)
	}
}

// framed returns a framed call with these fields.
func framed(method string, seqid uint32, fields ...byte) []byte {
	b := append([]byte{0, 0, 0, 0, 0x80, 1, 0, 1, 0, 0, 0, byte(len(method))}, method...)
	b = append(binary.BigEndian.AppendUint32(b, seqid), fields...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// TestRecordOrder: while an answer is held back, the server gets the calls that follow on the
// connection, and the client gets the answers in order.
func TestRecordOrder(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	server, stop := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	addr, _ := start(t, "record", server, "-listen", "127.0.0.1:0", "-idl", idl, "-o", os.DevNull, "-delay", "300ms", "-methods", "add")
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(time.Minute))
	for i, method := range []string{"add", "ping", "add", "ping", "ping"} {
		if _, err := nc.Write(framed(method, uint32(i+1), 0)); err != nil {
			t.Fatal(err)
		}
	}
	for i, method := range []string{"add", "ping", "add", "ping", "ping"} {
		head := make([]byte, 4)
		if _, err := io.ReadFull(nc, head); err != nil {
			t.Fatal(err)
		}
		reply := make([]byte, binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(nc, reply); err != nil {
			t.Fatal(err)
		}
		if want := append([]byte(method), 0, 0, 0, byte(i+1)); !bytes.Contains(reply, want) {
			t.Errorf("reply %d is %q", i+1, reply)
		}
	}
	if printed, _ := stop(); strings.Count(printed, "→") != 5 || !strings.HasPrefix(printed, "Shop.add") {
		t.Errorf("the server has seen\n%s", printed)
	}
}

// verify records calls with -fail until there were n, made by calls, and returns the exit code,
// what is said, and the findings.
func verify(t *testing.T, server, idl string, n int, calls func(proxy string)) (code int, said string, found findings) {
	t.Helper()
	return verifyInto(t, os.DevNull, server, idl, n, calls)
}

// verifyInto is verify with a recording, and more flags.
func verifyInto(t *testing.T, file, server, idl string, n int, calls func(proxy string), more ...string) (code int, said string, found findings) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	report := filepath.Join(t.TempDir(), "findings.json")
	args := append([]string{"record", server, "-listen", "127.0.0.1:0", "-transport", "framed", "-protocol", "binary", "-idl", idl, "-o", file, "-fail", "-findings", report}, more...)
	if n > 0 {
		args = append(args, "-n", fmt.Sprint(n))
	}
	var out, errs lockedBuffer
	ended := make(chan int, 1)
	go func() { ended <- run(args, shell.Of(ctx, nil, &out, &errs)) }()
	for !listening.MatchString(errs.String()) {
		select {
		case code := <-ended:
			t.Fatalf("%d %s", code, errs.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	calls(listening.FindStringSubmatch(errs.String())[1])
	if n == 0 {
		cancel(shell.Interrupted(syscall.SIGTERM))
	}
	select {
	case code = <-ended:
	case <-time.After(5 * time.Minute):
		t.Fatalf("it does not end\n%.2000s", errs.String())
	}
	if info, err := os.Stat(report); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := json.Unmarshal([]byte(readFile(t, report)), &found); err != nil {
		t.Fatal(err)
	}
	return code, errs.String(), found
}

type findings struct {
	Calls, Unanswered, UnderWay int

	Findings []struct {
		Side, Method, Path, Kind, Text string
		Count                          int
	}
	More int
}

const (
	keptIDL = `
enum Colour { RED = 1 }
union Choice { 1: i32 a, 2: i32 b }
struct Item { 1: required string name, 2: i32 count (vt.gt = "0", vt.le = "9"), 3: Colour colour, 4: list<i32> sizes, 5: map<string, Item> parts, 6: Choice choice,
  7: string secret (nocopy.redact, vt.max_size = "1"), 8: Colour hidden (nocopy.redact) }
exception Gone { 1: i32 code (vt.ge = "400") }
service Store { Item get(1: string key) throws (1: Gone gone), void put(1: Item item), oneway void note(1: string text), void only(1: i32 a) }`
	brokenIDL = `
struct Item { 1: binary name, 2: i32 count, 3: i32 colour, 4: list<i64> sizes, 5: map<string, Item> parts, 6: Choice choice, 7: string secret, 8: i32 hidden, 99: bool more }
struct Choice { 1: i32 a, 2: i32 b }
exception Gone { 1: i32 code }
exception Other { 1: i32 code }
service Store { Item get(1: string key) throws (1: Gone gone, 2: Other other), void put(1: Item item, 2: bool more), void gone() }`
)

// TestVerify: all that breaks the IDL is found, on both sides, counted, and the exit code is 100.
func TestVerify(t *testing.T) {
	idl, broken := write(t, "kept.thrift", keptIDL), write(t, "broken.thrift", brokenIDL)
	server, _ := start(t, "mock", "-idl", broken, "-listen", "127.0.0.1:0", "-answers", write(t, "answers.jsonl", `
{"method": "Store.get", "args": {"key": "a"}, "result": {"name": "YQ==", "count": 3}}
{"method": "Store.get", "args": {"key": "b"}, "result": {"name": "/w==", "count": 10}}
{"method": "Store.get", "args": {"key": "c"}, "exception": "Gone", "value": {"code": 399}}
{"method": "Store.get", "args": {"key": "d"}, "exception": "Other", "value": {}}`))
	code, said, found := verify(t, server, idl, 0, func(proxy string) {
		call := func(args ...string) {
			nocopy(t, "", append([]string{"call", proxy, "-idl", broken, "-transport", "framed", "-protocol", "binary"}, args...)...)
		}
		for _, key := range []string{"a", "b", "c", "d"} {
			call("get", "key="+key)
		}
		for _, item := range []string{
			// As the IDL demands
			`{"name": "YQ==", "count": 1, "colour": 1, "choice": {"a": 1}, "parts": {"x": {"name": "", "count": 9}}}`,
			// Not as it demands
			`{"name": "YQ==", "count": 12, "colour": 7, "parts": {"x": {"count": 10}, "y": {"count": 11}}}`,
			`{"name": "/w==", "sizes": [1], "choice": {"a": 1, "b": 2}, "more": true}`,
			`{"name": "YQ==", "count": 12, "secret": "very", "hidden": 4711}`, `{"name": "YQ==", "count": 1, "choice": {}}`,
		} {
			call("put", "-d", `{"item": `+item+`}`)
		}
		call("put", "more=true", "item.name=a", "item.count=1")
		call("gone")
		nocopy(t, "", "call", proxy, "only", "-raw", "1:i32=1", "-transport", "framed", "-protocol", "binary")
	})
	want := map[string]int{
		`server: Store.get: result.name: is not UTF-8`: 1, `server: Store.get: Gone.code: 399 breaks vt.ge = "400"`: 1,
		`server: Store.get: result.count: 10 breaks vt.le = "9"`: 1, `client: Store.put: args.item.count: 0 breaks vt.gt = "0"`: 1,
		`server: Store.get: reply.2: the IDL has no such field (struct)`: 1, `client: Store.put: args.item.count: 12 breaks vt.le = "9"`: 1,
		`client: Store.put: args.item.colour: 7 is not in the enum Colour`: 1, `client: Store.put: args.item.parts[*].name: is required, and missing`: 2,
		`client: Store.put: args.item.name: is not UTF-8`: 1, `client: Store.put: args.item.sizes: is of the type list of i64, the IDL has list<i32>`: 1,
		`client: Store.put: args.item.choice: 0 fields of the union Choice are set`: 1,
		`client: Store.put: args.item.choice: 2 fields of the union Choice are set`: 1, `client: Store.put: args.item.99: the IDL has no such field (bool)`: 1,
		`client: Store.put: args.item.secret: breaks vt.max_size = "1"`: 1, `client: Store.put: args.item.hidden: the value is not in the enum Colour`: 1,
		`client: Store.put: args.2: the IDL has no such field (bool)`: 1, `client: gone: the IDL has no such method`: 1,
		`server: Store.only: the server does not know the method`: 1,
	}
	for _, f := range found.Findings {
		text := f.Side + ": " + f.Method + ": "
		if f.Path != "" {
			text += f.Path + ": "
		}
		if text += f.Text; want[text] != f.Count {
			t.Errorf("found %d × %s, kind %s", f.Count, text, f.Kind)
		}
		if strings.Count(said, "\n"+text+"\n") != 1 || !strings.Contains(said, fmt.Sprintf("\n%6d  %s\n", f.Count, text)) {
			t.Errorf("it does not say %s\n%s", text, said)
		}
		delete(want, text)
	}
	if code != 100 || len(want) > 0 || found.Calls != 12 || found.More != 0 || strings.Contains(said, "very") || strings.Contains(said, "4711") {
		t.Errorf("exit code %d, %d calls, not found %v\n%s", code, found.Calls, want, said)
	}

	// What keeps to the IDL is no finding, in any way of calling.
	server, _ = start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	code, said, found = verify(t, server, idl, 4, func(proxy string) {
		for _, args := range [][]string{{"put", "item.name=a", "item.count=1", "-transport", "http"}, {"Store:get", "key=x", "-protocol", "compact"}, {"note", "text=x"}, {"only", "-H", "a: b"}} {
			if _, errs, code := nocopy(t, "", append([]string{"call", proxy, "-idl", idl}, args...)...); code != 0 {
				t.Errorf("%v: %d %s", args, code, errs)
			}
		}
	})
	if code != 0 || len(found.Findings) > 0 || found.Calls != 4 || !strings.Contains(said, "nothing in 4 calls breaks the IDL") {
		t.Errorf("%d %s", code, said)
	}
}

// TestVerifyHostile: clients that break the IDL in very many ways fill no memory, and can't write
// to the terminal what they like. Errors about flags come before anything else.
func TestVerifyHostile(t *testing.T) {
	idl := write(t, "kept.thrift", keptIDL)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	const calls = 1100
	code, said, found := verify(t, server, idl, calls, func(proxy string) {
		nc, err := net.Dial("tcp", proxy)
		if err != nil {
			t.Error(err)
			return
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(4 * time.Minute))
		go func() {
			for i := range calls {
				nc.Write(framed(fmt.Sprintf("m\x1b[2J\nforged %d %s", i, strings.Repeat("x", 200)), uint32(i+1), 0))
			}
		}()
		io.Copy(io.Discard, nc) // until the last call ends the command
	})
	if code != 100 || len(found.Findings) != 1000 || found.More < 100 || len(said) > 1_200_000 || strings.Contains(said, "\x1b") || strings.Contains(said, "\nforged") {
		t.Errorf("%d, %d findings and %d more, %.3000s", code, len(found.Findings), found.More, said)
	}
	plain, _ := start(t, "record", server, "-listen", "127.0.0.1:0", "-idl", idl, "-o", os.DevNull, "-duration", "1h", "-methods", "get", "-errors", "1")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "-errors and -cuts are from 0 to 1", []string{"-errors", "1.5"}}, {2, "no bandwidth", []string{"-bandwidth", "fast"}},
		{2, "-methods needs -delay", []string{"-methods", "get", "-bandwidth", "1KB/s"}}, {2, "-methods gett: the IDL has no such method", []string{"-methods", "gett", "-delay", "1s", "-idl", idl}},
		{2, "not negative", []string{"-duration", "-1s"}}, {1, "exists", []string{"-findings", write(t, "old", ""), "-o", os.DevNull, "-idl", idl}},
	} {
		if out, errs, code := nocopy(t, "", append([]string{"record", plain, "-listen", "127.0.0.1:0"}, c.args...)...); code != c.code || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%v: %d %s%s", c.args, code, out, errs)
		}
	}
	silent := answerWith(t, func(request []byte) []byte { return reply(request, []byte{0}) }, true)
	if _, errs, code := nocopy(t, "", "record", silent, "-transport", "framed", "-fail"); code != 1 || !strings.Contains(errs, "give it with -idl FILE") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestVerifyUnreadable: bytes that are no call, and replies that are no answer to theirs, are
// findings. The recording does not say that the server has answered then.
func TestVerifyUnreadable(t *testing.T) {
	idl := write(t, "kept.thrift", keptIDL)
	typed := func(message []byte, typ byte) []byte {
		message[7] = typ
		return message
	}
	server := answerWith(t, func(b []byte) []byte {
		answer := reply(b, []byte{12, 0, 0, 11, 0, 1, 0, 0, 0, 1, 'a', 0, 0})
		switch key := string(b[26 : len(b)-1]); key { // the text of the field
		case "name":
			copy(answer[12:], "put")
		case "seqid":
			answer[18]++
		case "type":
			answer[7] = 9
		case "frame":
			answer[0] = 0xff
		case "garbage":
			return []byte("\x00\x00\x00\x10garbage garbage garbage")
		case "length":
			answer[25] = 0x7f
		}
		return answer
	}, true)
	key := func(name string) []byte {
		return framed("get", 1, append(append([]byte{11, 0, 1, 0, 0, 0, byte(len(name))}, name...), 0)...)
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	code, said, found := verifyInto(t, file, server, idl, 0, func(proxy string) {
		for _, message := range [][]byte{
			typed(framed("get", 1, 0), 2), typed(framed("get", 1, 0), 9), framed("get", 1, 11, 0, 1, 0x7f, 0, 0, 0), framed("get", 1, 11, 0, 1, 0, 0, 0, 9),
			{0xff, 0xff, 0xff, 0xff, 1}, []byte("garbage garbage garbage"), {0x10, 0, 0, 0, 0x80, 1, 0, 1, 0, 0, 0, 3, 'g', 'e', 't'}, {0, 0, 1, 0, 0x80, 1, 0, 1, 0, 0, 0, 3, 'g'},
			[]byte("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-thrift\r\nContent-Length: 7\r\n\r\ngarbage"),
			typed(framed("note", 1, 11, 0, 1, 0x7f, 0, 0, 0), 4),
			key("name"), key("seqid"), key("type"), key("frame"), key("garbage"), key("length"), key("fine"),
		} {
			nc, err := net.Dial("tcp", proxy)
			if err != nil {
				t.Error(err)
				return
			}
			nc.SetDeadline(time.Now().Add(time.Minute))
			nc.Write(message)
			nc.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, nc)
			nc.Close()
		}
	})
	counts := map[string]int{}
	for _, f := range found.Findings {
		if f.Kind == "malformed" && strings.Contains(f.Text, "(client 127.0.0.1:") {
			counts[f.Side+" "+f.Method] += f.Count
		}
	}
	want := map[string]int{"client Store.get": 4, "client ": 5, "client Store.note": 1, "server Store.get": 6}
	if code != 100 || !maps.Equal(counts, want) || strings.Count(said, " malformed: ") < len(found.Findings) || strings.Contains(said, "level=") {
		t.Errorf("%d, found %v, want %v\n%s", code, counts, want, said)
	}
	if text := readFile(t, file); strings.Count(text, `"failed":`) != 6 || strings.Contains(text, `"error":`) || strings.Count(text, "\n") != 7 {
		t.Errorf("the recording is\n%s", text)
	}
}

// TestRecordLeavesNothing: a command that can't begin leaves no file, which the next one would
// refuse to overwrite.
func TestRecordLeavesNothing(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	dir := t.TempDir()
	out, found := filepath.Join(dir, "calls.jsonl"), filepath.Join(dir, "found.json")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, "address already in use", []string{"-listen", server, "-o", out, "-findings", found}}, {1, "exists", []string{"-o", out, "-findings", write(t, "old.json", "")}},
		{2, "found.json would be written twice", []string{"-o", found, "-findings", found}}, {1, "exists", []string{"-o", write(t, "old.jsonl", ""), "-findings", found}},
		{2, "shop.thrift would be overwritten", []string{"-o", idl, "-append"}}, {2, "shop.thrift would be overwritten", []string{"-o", out, "-findings", idl, "-idl", idl}},
	} {
		args := append([]string{"record", server, "-listen", "127.0.0.1:0", "-idl", idl}, c.args...)
		if _, errs, code := nocopy(t, "", args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
