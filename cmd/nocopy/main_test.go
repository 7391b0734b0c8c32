package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// nocopy runs the tool and returns what it prints, and its exit code.
func nocopy(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var out, err bytes.Buffer
	code = run(args, shell.Of(ctx, strings.NewReader(stdin), &out, &err))
	return out.String(), err.String(), code
}

// want runs the tool and compares what it prints, without the white space at the end.
func want(t *testing.T, code int, stdout, stderr string, args ...string) {
	t.Helper()
	out, errs, have := nocopy(t, "", args...)
	if have != code || strings.TrimSpace(out) != stdout || strings.TrimSpace(errs) != stderr {
		t.Errorf("nocopy %s\nhave %d, %s\n%s\nwant %d, %s\n%s", strings.Join(args, " "), have, out, errs, code, stdout, stderr)
	}
}

// lockedBuffer is a Writer of a command that runs.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

var listening = regexp.MustCompile(`(?:on|at) (?:http://)?(127\.0\.0\.1:\d+|/\S+\.sock)`)

// start runs a command that serves, and returns its address. It ends with the test, or when stop
// is called, which returns what it has printed.
func start(t *testing.T, args ...string) (addr string, stop func() (stdout, stderr string)) {
	t.Helper()
	return startWith(t, args, "")
}

// startWith is start for a command that listens on several addresses: that of the line with a
// text.
func startWith(t *testing.T, args []string, line string) (addr string, stop func() (stdout, stderr string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out, errs lockedBuffer
	ended := make(chan int, 1)
	go func() { ended <- run(args, shell.Of(ctx, strings.NewReader(""), &out, &errs)) }()
	var once sync.Once
	stop = func() (string, string) {
		once.Do(func() {
			cancel()
			if code := <-ended; code != 0 {
				t.Errorf("nocopy %s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
			}
		})
		return out.String(), errs.String()
	}
	t.Cleanup(func() { stop() })
	for giveUp := time.Now().Add(time.Minute); time.Now().Before(giveUp); {
		_, rest, found := strings.Cut(errs.String(), line)
		if m := listening.FindStringSubmatch(strings.Repeat("at ", min(len(line), 1)) + rest); found && m != nil {
			return m[1], stop
		}
		select {
		case code := <-ended:
			t.Fatalf("nocopy %s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	t.Fatalf("nocopy %s does not listen: %s", strings.Join(args, " "), errs.String())
	return "", nil
}

// write writes a file to a folder of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const shopIDL = `
namespace go shop
/** What an order is paid with. */
enum Payment { CARD = 1, CASH = 2 }
struct Line { 1: required string article, 2: i32 count = 1, 3: double price }
struct Order {
  1: required i64 id, 2: string email, 3: list<Line> lines, 4: Payment payment, 5: optional binary blob, 6: map<string, i32> stock,
  7: set<string> tags, 8: string code (vt.pattern = "[A-Z]{3}-[0-9]{4}"), 9: string status (example = "shipped"),
  10: i32 few (vt.gt = "2", vt.le = "4"), 11: list<i64> three (vt.min_size = "3", vt.max_size = "3"), 12: optional Order next
}
exception NotFound { 1: string why }
service Base { void ping() }
service Shop extends Base {
  Order get(1: i64 id) throws (1: NotFound missing)
  i32 add(1: i32 a, 2: i32 b)
  Order echo(1: Order order)
  string join(1: string text, 2: binary bin, 3: Payment payment, 4: bool on, 5: double x, 6: uuid u)
  oneway void tell(1: string what)
}`

const shopAnswers = `# what the tests ask for
{"method": "Shop.add", "args": {"a": 1}, "result": 3}
{"method": "Shop.add", "args": {"a": 1}, "result": 4}
{"method": "get", "args": {"id": 404}, "exception": "NotFound", "value": {"why": "gone"}}
{"method": "Shop.add", "args": {"a": 9}, "cut": true}
{"method": "Shop.add", "args": {"a": 8}, "error": {"type": 6, "message": "no"}, "delay": "1ms"}
{"method": "Shop.join", "args": {"text": "a=b", "bin": "AAE=", "payment": "CASH", "on": true, "x": 2.5, "u": "01234567-89ab-cdef-0123-456789abcdef"}, "result": "all"}
{"method": "Shop.echo", "args": {"order": {"id": 7, "lines": [{"article": "lamp"}], "next": {"id": 8}}}, "result": {"id": 7}}
`

// TestCall calls in all ways a server that returns its IDL.
func TestCall(t *testing.T) {
	idl, answers := write(t, "shop.thrift", shopIDL), write(t, "answers.jsonl", shopAnswers)
	addr, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", answers)
	for _, how := range [][]string{
		nil, {"-transport", "framed"}, {"-transport=unframed", "--protocol", "binary"}, {"-transport", "theader", "-zlib"}, {"-transport", "http"},
		{"-transport", "unframed", "-protocol", "compact"}, {"-transport", "framed", "-protocol", "compact"}, {"-idl", idl}, {"-idl", filepath.Dir(idl)},
		{"-multiplexed", "Shop"}, {"-H", "x-token: secret", "-deadline", "5s"},
	} {
		args := append([]string{"call", addr, "Shop.get", "id=404"}, how...)
		want(t, 3, "", "{\n  \"exception\": \"NotFound\",\n  \"value\": {\n    \"why\": \"gone\"\n  }\n}", args...)
	}
	want(t, 0, "3", "", "call", addr, "add", "a=1", "b=2")
	want(t, 0, "4", "", "call", addr, "Shop.add", "-d", `{"a": 1}`, "b=2")
	want(t, 0, "4", "", "call", addr, "Shop:add", "-d", `{"a": 2}`, "a=1")
	want(t, 0, "null", "", "call", addr, "Shop.tell", "what=x")
	want(t, 0, "null", "", "call", addr, "ping")
	want(t, 0, `"all"`, "", "call", addr, "join", "text=a=b", "bin:=\"AAE=\"", "payment=CASH", "on=true", "x=2.5", "u=01234567-89ab-cdef-0123-456789abcdef")
	want(t, 0, `"all"`, "", "call", addr, "join", "text=a=b", "bin=@"+write(t, "bin", "\x00\x01"), "payment=2", "on=true", "x=2.5", "u=01234567-89ab-cdef-0123-456789abcdef")
	want(t, 0, "{\n  \"id\": 7\n}", "", "call", addr, "echo", "order.id=7", `order.lines:=[{"article": "lamp"}]`, "order.next.id=8")
	want(t, 0, "{\n  \"id\": 7\n}", "", "call", addr, "echo", "-d", "@"+write(t, "args.json", `{"order": {"id": 7, "lines": [{"article": "lamp"}], "next": {"id": 8}}}`))
	want(t, 70, "", "nocopy: "+addr+": rpc: internal error: no", "call", addr, "add", "a=8", "-transport", "framed")
	if out, errs, code := nocopy(t, `{"order": {"id": 7, "lines": [{"article": "lamp"}], "next": {"id": 8}}}`, "call", addr, "echo", "-d", "-"); code != 0 || out != "{\n  \"id\": 7\n}\n" {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if _, errs, code := nocopy(t, "", "call", addr, "add", "a=9"); code != 1 || !strings.Contains(errs, "connection") {
		t.Errorf("%d %s", code, errs)
	}
	// Several calls: it goes on after those that fail.
	lines := write(t, "calls.jsonl", "{\"method\": \"Shop.add\", \"args\": {\"a\": 1}}\n\n# no\n{\"method\": \"get\", \"args\": {\"id\": 404}}\n{\"method\": \"ping\"}\n{\"method\": \"none\"}\n{\"args\": 1}\nx\n")
	out, errs, code := nocopy(t, "", "call", addr, "-calls", lines)
	for i, line := range []string{"4", "", "", `{"exception":"NotFound","value":{"why":"gone"}}`, "null", `{"failed":"method none: not found`, `{"failed":"the key method is missing"}`, `{"failed":"invalid character`} {
		if outs := strings.Split(out, "\n"); len(outs) != 9 || !strings.HasPrefix(outs[i], line) || line == "" && outs[i] != "" {
			t.Errorf("line %d has the outcome %q in %q", i+1, line, outs)
		}
	}
	if code != 3 || strings.Count(errs, "\n") != 4 || !strings.Contains(errs, lines+":4: exception NotFound\n") || !strings.Contains(errs, lines+":6: method none") {
		t.Errorf("%d %q %s", code, out, errs)
	}
	out, errs, code = nocopy(t, "{\"a\": 8}\n{\"a\": 1}", "call", addr, "add", "-calls", "-")
	if code != 70 || out != "{\"error\":{\"type\":6,\"message\":\"no\"}}\n4\n" || !strings.HasPrefix(errs, "-:1: ") {
		t.Errorf("%d %q %s", code, out, errs)
	}
	if out, errs, code := nocopy(t, "{\"a\": 1}\n{\"a\": 1}\n", "call", addr, "add", "-calls", "-"); code != 0 || out != "4\n4\n" {
		t.Errorf("%d %q %s", code, out, errs)
	}
	out, errs, code = nocopy(t, "", "call", addr, "Shop.add", "a=1", "b=2", "-verbose")
	if code != 0 || out != "4\n" || !strings.Contains(errs, "1 a: i32 1") || !strings.Contains(errs, "0 success: i32 4") || !strings.Contains(errs, "# framed binary, ") || strings.Contains(errs, "\x1b") {
		t.Errorf("%d %q %s", code, out, errs)
	}
	want(t, 0, "{\n  \"0\": {\n    \"i32\": 4\n  }\n}", "", "call", addr, "add", "-raw", "1:i32=1", "2:i32=2")
	want(t, 0, "{\n  \"0\": {\n    \"i32\": 4\n  }\n}", "", "call", addr, "Shop:add", "-raw", "-d", `{"1": {"i32": 1}}`)
	want(t, 0, "{\n  \"1\": {\n    \"rec\": {\n      \"1\": {\n        \"str\": \"gone\"\n      }\n    }\n  }\n}", "", "call", addr, "get", "-raw", "1:i64=404")
}

// TestWrongVariable: a wrong variable fails the commands that use it, and no other one.
func TestWrongVariable(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	for variable, value := range map[string]string{"NOCOPY_TIMEOUT": "soon", "NOCOPY_TRANSPORT": "pigeon"} {
		t.Setenv(variable, value)
		for _, args := range [][]string{{"version"}, {"check", idl}, {"lint", idl}, {"config"}, {"completion", "bash"}} {
			if _, errs, code := nocopy(t, "", args...); code == 2 || strings.Contains(errs, value) {
				t.Errorf("%s: %v: %d %s", variable, args, code, errs)
			}
		}
		if _, errs, code := nocopy(t, "", "call", "127.0.0.1:1", "f", "-idl", idl); code != 2 || !strings.Contains(errs, value) {
			t.Errorf("%s: %d %s", variable, code, errs)
		}
		os.Unsetenv(variable)
	}
}

// TestUsage: mistakes in a command line are reported with exit code 2, faults of arguments, files
// and servers with 1.
func TestUsage(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	addr, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "unexpected argument nonsense; see nocopy -h", []string{"nonsense"}},
		{2, "unexpected argument cal, did you mean \"call\"?", []string{"cal"}},
		{2, "unexpected argument cal, did you mean \"call\"?; see nocopy -h", []string{"help", "cal"}},
		{2, "unexpected argument cal, did you mean \"call\"?; see nocopy -h", []string{"config", "cal"}},
		{2, "unknown flag -timeuot, did you mean \"-timeout\"?; see nocopy call -h", []string{"config", "call", "-timeuot", "1s"}},
		{2, "unknown flag -timeuot, did you mean \"-timeout\"?; see nocopy call -h", []string{"call", addr, "f", "-timeuot", "1s"}},
		{2, "unknown flag -json: write -format json; see nocopy bench -h", []string{"bench", addr, "f", "-json"}},
		{2, "unknown flag -dta", []string{"call", addr, "f", "-dta", "x"}},
		{2, "nocopy: -idl needs a value; see nocopy call -h", []string{"call", addr, "f", "-idl"}},
		{2, "nocopy: -d needs a value; see nocopy call -h", []string{"call", addr, "f", "-d"}},
		{2, "nocopy: -o needs a value; see nocopy gen -h", []string{"gen", idl, "-o"}},
		{2, "nocopy: unknown flag -x; see nocopy audit -h", []string{"audit", "-x"}}, {2, "nocopy: unknown flag -x; see nocopy lsp -h", []string{"lsp", "-x"}},
		{2, "unknown flag -agianst, did you mean \"-against\"?; see nocopy audit -h", []string{"audit", "-agianst", "x"}}, {2, "did you mean \"-fields\"?", []string{"gen", "-feilds"}},
		{2, "did you mean \"-check\"?", []string{"fmt", "-chek"}}, {2, "did you mean \"-format\"?", []string{"check", "--fromat=x"}}, {2, "did you mean \"-allow\"?", []string{"config", "-alow"}},
		{2, "did you mean \"-rate\"?; see nocopy bench -h", []string{"bench", "a", "b", "-rat", "1"}}, {2, "unknown flag -versoin, did you mean \"-version\"?; see nocopy -h", []string{"-versoin"}},
		{2, "see nocopy call -h", []string{"call"}},
		{2, "which method", []string{"call", addr}},
		{2, "-cert and -key", []string{"call", addr, "f", "-cert", "x"}},
		{2, "unknown flag", []string{"call", addr, "f", "-nonsense"}},
		{2, "nocopy: -transport must be one of", []string{"call", addr, "f", "-transport", "pigeon"}},
		{2, "not as 'name: value'", []string{"call", addr, "f", "-H", "x"}},
		{2, "-sasl does not go with", []string{"call", addr, "f", "-sasl", "PLAIN", "-transport", "http"}},
		{2, "known are PLAIN", []string{"call", addr, "f", "-sasl", "CRAM"}},
		{2, "-delay is not negative", []string{"mock", "-idl", idl, "-delay", "-1s"}},
		{2, "-calls has the arguments", []string{"call", addr, "f", "-calls", "x", "a=1"}},
		{2, "-idl FILE", []string{"mock"}},
		{2, "from 0 to 1", []string{"mock", "-idl", idl, "-errors", "2"}},
		{2, "what is to be described", []string{"describe"}},
		{1, "the service has the methods get, add, echo, join, tell, ping", []string{"call", addr, "Shop.none"}},
		{1, "did you mean Shop? The IDL has the services Base, Shop", []string{"call", addr, "Stop.get"}},
		{1, "it takes i64 id", []string{"call", addr, "get", "-d", `{"key": 1}`}},
		{1, "there are i64 id", []string{"call", addr, "get", "key=1"}},
		{1, "\"x\" is no i64", []string{"call", addr, "get", "id=x"}},
		{1, "not as key=value", []string{"call", addr, "get", "id"}},
		{1, "arguments of Shop.get: ", []string{"call", addr, "get", "-d", `{"id": `}},
		{1, "no such file", []string{"call", addr, "get", "-d", "@/none"}},
		{1, "no such file", []string{"call", addr, "get", "-idl", "/none.thrift"}},
		{1, "connection refused", []string{"call", gone.Addr().String(), "get"}},
		{1, "\"i33\" is no type", []string{"call", addr, "get", "-raw", "1:i33=1"}},
		{1, "address already in use", []string{"mock", "-idl", idl, "-listen", addr}},
		{1, "does not throw Other", []string{"mock", "-idl", idl, "-answers", write(t, "a", `{"method": "Shop.get", "exception": "Other"}`)}},
		{1, ":1: ", []string{"mock", "-idl", idl, "-answers", write(t, "a", `{"method": "Shop.add", "result": "x"}`)}},
		{1, "unknown field", []string{"mock", "-idl", idl, "-answers", write(t, "a", `{"method": "Shop.add", "results": 1}`)}},
		{1, "no .thrift files", []string{"describe", "-idl", t.TempDir()}},
	} {
		out, errs, code := nocopy(t, "", c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || out != "" || strings.Contains(errs, "goroutine") {
			t.Errorf("nocopy %s: %d %s%s; want %d and %q", strings.Join(c.args, " "), code, out, errs, c.code, c.want)
		}
	}
	for _, args := range [][]string{{"-version"}, {"--version"}, {"version"}} {
		if out, errs, code := nocopy(t, "", args...); code != 0 || errs != "" || !strings.HasPrefix(out, "nocopy v") {
			t.Errorf("nocopy %v: %d %s%s", args, code, out, errs)
		}
	}
}

// TestSource: the version says of what the tool was built, as far as the binary knows.
func TestSource(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Settings: vcs("false")}, ", commit 0123abcd"},
		{debug.BuildInfo{Settings: vcs("true")}, ", commit 0123abcd with changes"},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.0.0-rc.1", Sum: "h1:abc="}}, ", module v1.0.0-rc.1 h1:abc="},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, ""},
	} {
		b := built{Version: "v1"}
		if b.source(&c.info); b.String() != "nocopy v1"+c.want {
			t.Errorf("%+v: %q, want %q", c.info, b, c.want)
		}
	}
}

// TestHelp: help of all commands goes to standard output, in the same form, whichever way it is
// asked for.
func TestHelp(t *testing.T) {
	all, _, _ := nocopy(t, "")
	for _, args := range [][]string{{"-h"}, {"-help"}, {"--help"}, {"help"}} {
		if out, errs, code := nocopy(t, "", args...); code != 0 || errs != "" || out != all {
			t.Errorf("nocopy %v: %d %s%s", args, code, out, errs)
		}
	}
	for _, name := range strings.Fields("call describe mock record replay bench compare console lint bundle doc openapi migrate gen check audit fmt dump config completion help version") {
		if !regexp.MustCompile(`(?m)^  ` + name + ` +\S`).MatchString(all) {
			t.Errorf("the help has no %s", name)
		}
		text, errs, code := nocopy(t, "", name, "-h")
		if code != 0 || errs != "" || !strings.HasPrefix(text, "Usage: nocopy "+name+" ") && text[:15+len(name)] != "Usage: nocopy "+name+"\n" ||
			!regexp.MustCompile("(?i)example").MatchString(text) || !regexp.MustCompile(`(?m)^Flags:\n  -h, -help  `).MatchString(text) {
			t.Errorf("help of %s: %d %s%s", name, code, text, errs)
		}
		if flag := regexp.MustCompile(`(?m)(^|\s|")--\w|^ +-[\w-]+=`).FindString(text); flag != "" {
			t.Errorf("help of %s has %q in another style:\n%s", name, flag, text)
		}
		for _, args := range [][]string{{"help", name}, {name, "-help"}, {name, "--help"}} {
			if out, errs, code := nocopy(t, "", args...); code != 0 || errs != "" || out != text {
				t.Errorf("nocopy %v: %d %s%s", args, code, out, errs)
			}
		}
	}
}

// TestFlags: flags have one dash or two, values after a space or "=", and stand anywhere.
func TestFlags(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	addr, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "answers.jsonl", shopAnswers))
	for _, args := range [][]string{
		{"call", addr, "add", "-d", `{"a": 1}`}, {"call", "-d", `{"a": 1}`, addr, "add"}, {"call", addr, `-d={"a": 1}`, "add"}, {"call", addr, "--d", `{"a": 1}`, "add"},
		{"call", addr, "add", "-data", `{"a": 1}`}, {"call", addr, "add", `--data={"a": 1}`}, {"call", addr, "add", "a=1", "-d", ""}, {"call", addr, "add", "a=1", "-I.", "-Hx: y", "-H=z: -1"},
	} {
		if out, errs, code := nocopy(t, "", args...); code != 0 || out != "3\n" && out != "4\n" {
			t.Errorf("nocopy %v: %d %s%s", args, code, out, errs)
		}
	}
	bad := filepath.Dir(write(t, "bad.thrift", "struct S { 1: J j }"))
	for _, args := range [][]string{{"check", bad, "-I", "."}, {"check", "-I=.", bad}, {"check", "--I", ".", bad + "/bad.thrift"}, {"gen", bad, "-o", t.TempDir()}, {"openapi", bad}, {"doc", bad, "-o", t.TempDir()}} {
		if out, errs, code := nocopy(t, "", args...); code != 1 || out != "" || !strings.Contains(errs, "bad.thrift:1:15: unknown type J") {
			t.Errorf("nocopy %v: %d %s%s", args, code, out, errs)
		}
	}
	if out, errs, code := nocopy(t, "{\"method\": \"ping\", \"result\": null}\n{\"method\": \"Shop.add\", \"args\": {\"a\": 2}, \"result\": 77}\n", "replay", "-", addr); code != 100 || errs != "" ||
		!regexp.MustCompile(`^-:2: Shop.add: result: recorded 77, got -?\d+\n2 calls, 1 answers differ\n$`).MatchString(out) {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// TestMock: made-up values follow names, types, rules and examples, and are the same for the same
// arguments.
func TestMock(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	addr, stop := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	one, errs, code := nocopy(t, "", "call", addr, "get", "id=1")
	if code != 0 {
		t.Fatal(errs)
	}
	if again, _, _ := nocopy(t, "", "call", addr, "get", "id=1"); again != one {
		t.Errorf("the same arguments get %s, then %s", one, again)
	}
	if other, _, _ := nocopy(t, "", "call", addr, "get", "id=2"); other == one {
		t.Error("other arguments get the same")
	}
	for _, pattern := range []string{
		`"id": \d+`, `"email": "\w+@example.com"`, `"article": "`, `"payment": "(CARD|CASH)"`, `"code": "[A-Z]{3}-[0-9]{4}"`,
		`"status": "shipped"`, `"few": [34],`, `"three": \[\s*\d+,\s*\d+,\s*\d+\s*\]`,
	} {
		if !regexp.MustCompile(pattern).MatchString(one) {
			t.Errorf("%s does not match %s", one, pattern)
		}
	}
	if out, _ := stop(); strings.Count(out, "Shop.get {id: 1} → made up") != 2 {
		t.Errorf("the mock prints %s", out)
	}
	addr, _ = start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-errors", "1")
	want(t, 70, "", "nocopy: "+addr+": rpc: internal error: an error on demand, by nocopy mock -errors", "call", addr, "ping")
	addr, _ = start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-cuts", "1")
	if _, errs, code := nocopy(t, "", "call", addr, "ping"); code != 1 || !strings.Contains(errs, "connection lost") {
		t.Errorf("%d %s", code, errs)
	}
	addr, _ = start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-strict", "-answers", write(t, "a", `{"method": "Shop.add", "result": 1}`), "-delay", "1ms")
	want(t, 0, "1", "", "call", addr, "add")
	if _, errs, code := nocopy(t, "", "call", addr, "ping"); code != 70 || !strings.Contains(errs, "has no answer") {
		t.Errorf("%d %s", code, errs)
	}
	socket := filepath.Join(t.TempDir(), "s.sock")
	start(t, "mock", "-idl", idl, "-listen", socket)
	want(t, 0, "null", "", "call", socket, "ping")
	want(t, 0, "null", "", "call", "unix:"+socket, "ping", "-transport", "http")
}

// TestRecordReplay: replaying recorded calls reports no difference if the answers are the same,
// and otherwise all differences. A mock answers from a recording.
func TestRecordReplay(t *testing.T) {
	idl, answers := write(t, "shop.thrift", shopIDL), write(t, "answers.jsonl", `{"method": "Shop.get", "args": {"id": 404}, "exception": "NotFound", "value": {"why": "gone"}}`)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", answers)
	for _, withIDL := range []bool{true, false} {
		file := filepath.Join(t.TempDir(), "calls.jsonl")
		args := []string{"record", server, "-listen", "127.0.0.1:0", "-o", file}
		if withIDL {
			args = append(args, "-idl", idl)
		}
		proxy, stop := start(t, args...)
		for _, call := range [][]string{
			{"get", "id=1"}, {"get", "id=404"}, {"Shop:add", "a=1", "b=2", "-transport", "unframed", "-protocol", "compact"},
			{"tell", "what=x"}, {"ping", "-transport", "http"}, {"none", "-raw"},
		} {
			nocopy(t, "", append([]string{"call", proxy}, call...)...)
		}
		if _, errs := stop(); !strings.Contains(errs, "6 calls recorded") {
			t.Errorf("record prints %s", errs)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		want(t, 0, "6 calls, 0 answers differ", "", "replay", file, server)
		want(t, 0, "6 calls, 0 answers differ", "", "replay", file, server, "-transport", "unframed", "-idl", idl)
		if _, errs, code := nocopy(t, "", "record", server, "-o", file); code != 1 || !strings.Contains(errs, "exists") {
			t.Errorf("a recording is overwritten: %d %s", code, errs)
		}
		other, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-seed", "2")
		out, errs, code := nocopy(t, "", "replay", file, other)
		if code != 100 || errs != "" || !strings.Contains(out, file+":2: Shop:get: answer: recorded exception NotFound, got a result") ||
			!regexp.MustCompile(`calls.jsonl:1: Shop:get: result.\S+: recorded .*, got `).MatchString(out) {
			t.Errorf("%d %s%s", code, out, errs)
		}
		want(t, 0, "1 calls, 0 answers differ", "", "replay", file, other, "-only", "tell")
		if out, _, code := nocopy(t, "", "replay", file, other, "-format", "json"); code != 100 || !strings.Contains(out, `"calls": 6`) {
			t.Errorf("%d %s", code, out)
		}
	}
	file := write(t, "calls.jsonl", `{"method": "Shop.echo", "args": {"order": {"id": 1}}, "result": {"id": 1, "tags": ["a", "b"], "lines": [{"article": "x", "price": 1}, {"article": "y", "price": 2}]}}`)
	server, _ = start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers",
		write(t, "b", `{"method": "Shop.echo", "result": {"id": 1.0, "tags": ["b", "a"], "lines": [{"article": "x", "price": 3}, {"article": "y", "price": 4}]}}`))
	out, _, code := nocopy(t, "", "replay", file, server)
	if code != 100 || strings.Count(out, "\n") != 3 || !strings.Contains(out, "result.lines[1].price: recorded 2, got 4") {
		t.Errorf("%d %s", code, out)
	}
	want(t, 0, "1 calls, 0 answers differ", "", "replay", file, server, "-ignore", "lines[*].price")
}

// TestDescribe describes a server, and files.
func TestDescribe(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	addr, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	for _, from := range [][]string{{addr}, {"-idl", idl}} {
		describe := func(name ...string) string {
			out, errs, code := nocopy(t, "", append(append([]string{"describe"}, from...), name...)...)
			if code != 0 || errs != "" {
				t.Errorf("%v: %d %s", name, code, errs)
			}
			return out
		}
		if out := describe(); !strings.Contains(out, "service Shop") || !strings.Contains(out, "  Order get(1: i64 id) throws (1: ") || !strings.Contains(out, "  void ping()\n") {
			t.Errorf("%v: %s", from, out)
		}
		if out, want := describe("Payment"), "// What an order is paid with.\nenum Payment {\n  CARD = 1\n  CASH = 2\n}\n"; out != want {
			t.Errorf("%v: %s", from, out)
		}
		if out := describe("Shop.add"); out != "i32 add(1: i32 a, 2: i32 b)\n" {
			t.Errorf("%v: %s", from, out)
		}
		if out := describe("Line"); !strings.Contains(out, "struct Line {\n  1: required string article\n") {
			t.Errorf("%v: %s", from, out)
		}
		if out := describe("-format", "json"); !strings.Contains(out, `"name": "join"`) {
			t.Errorf("%v: %s", from, out)
		}
	}
	dir := filepath.Join(t.TempDir(), "idl")
	want(t, 0, filepath.Join(dir, "shop.thrift"), "", "describe", addr, "-save", dir)
	if text, err := os.ReadFile(filepath.Join(dir, "shop.thrift")); string(text) != shopIDL {
		t.Errorf("%s, %v", text, err)
	}
}

// TestBench measures a mock: at a rate, and as fast as it goes, with arguments by templates.
func TestBench(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	addr, stop := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-errors", "0.5")
	page := filepath.Join(t.TempDir(), "out.html")
	out, errs, code := nocopy(t, "", "bench", addr, "Shop.add", "-d", `{"a": {{n}}, "b": {{int 5 7}}}`, "-duration", "10s", "-n", "200", "-warmup", "0", "-html", page, "-format", "json")
	type second struct{ Calls int }
	var rep struct {
		Calls       int
		Errors      map[string]int
		Percentiles []struct{ Percent, Latency float64 }
		Timeline    []second
		Corrected   bool
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 || errs != "" || rep.Calls != 200 || rep.Corrected || !slices.ContainsFunc(rep.Timeline, func(s second) bool { return s.Calls > 0 }) ||
		len(rep.Percentiles) != 7 || rep.Percentiles[6].Latency < rep.Percentiles[0].Latency {
		t.Fatalf("%d %s%s, %v", code, out, errs, err)
	}
	failures := 0
	for text, n := range rep.Errors {
		failures += n
		if !strings.Contains(text, "on demand") {
			t.Errorf("error %s", text)
		}
	}
	if failures < 50 || failures > 150 {
		t.Errorf("%d of 200 calls failed, about half should", failures)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<h1>Shop.add</h1>") || !strings.Contains(string(text), "<polyline") || strings.Contains(string(text), "src=") {
		t.Errorf("%s, %v", text, err)
	}
	printed, _ := stop()
	for _, pattern := range []string{`add \{a: 0, b: [567]\}`, `add \{a: 199, b: [567]\}`} {
		if !regexp.MustCompile(pattern).MatchString(printed) {
			t.Errorf("no call is %s", pattern)
		}
	}

	addr, _ = start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	out, errs, code = nocopy(t, "", "bench", addr, "Shop.join", "text={{pick \"a\" \"b\"}}{{text 3}}", "x={{float 0 1}}", "u={{uuid}}", "-rate", "100", "-n", "30", "-warmup", "10ms")
	if code != 0 || errs != "" || !strings.HasPrefix(out, "Shop.join on "+addr+" (framed binary)\n30 calls in ") || !strings.Contains(out, "latencies from when they were due") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for arg, want := range map[string]string{`{"a": {{none}}}`: "function \"none\" not defined", `{"a": {{int 2 1}}}`: "is no span", `{"a": "{{n}}x"}`: "arguments of Shop.add: a: ", `{{text 99999999}}`: "at most"} {
		if _, errs, code := nocopy(t, "", "bench", addr, "Shop.add", "-d", arg); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", arg, code, errs)
		}
	}
	if _, errs, code := nocopy(t, "", "bench", addr, "Shop.add", "-c", "0"); code != 2 {
		t.Errorf("%d %s", code, errs)
	}
}

// TestCoordinatedOmission: with a rate, a server that stalls delays the calls that were due in the
// meantime, and these count.
func TestCoordinatedOmission(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	addr, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "a", `{"method": "Shop.add", "args": {"a": 10}, "result": 1, "delay": "300ms"}`))
	out, errs, code := nocopy(t, "", "bench", addr, "Shop.add", "a:={{n}}", "-rate", "100", "-n", "60", "-duration", "1m", "-warmup", "0", "-c", "1", "-format", "json")
	var rep struct {
		Percentiles []struct{ Percent, Latency float64 }
		Corrected   bool
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 || !rep.Corrected {
		t.Fatalf("%d %s%s, %v", code, out, errs, err)
	}
	// Of 60 calls, the stalled one and some 29 after it are late.
	if p75 := rep.Percentiles[1]; p75.Percent != 75 || p75.Latency < 50_000 {
		t.Errorf("75 %% of the calls took at most %v µs", p75.Latency)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
