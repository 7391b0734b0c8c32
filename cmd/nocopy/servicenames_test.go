package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
)

// twoIDL has two services with a method of the same name.
const twoIDL = `service Shop { i32 add(1: i32 a), oneway void tell(), string name() }
service Store { i32 add(1: i32 a), i64 count() }`

// TestAnswersOfRegisteredNames: a mock serves the names of services that its answers have, by
// which a server has registered them.
func TestAnswersOfRegisteredNames(t *testing.T) {
	t.Parallel()
	idl := write(t, "two.thrift", twoIDL)
	addr, stop := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-strict", "-answers", write(t, "answers.jsonl", strings.Join([]string{
		`{"method": "shop:add", "args": {"a": 1}, "result": 7}`, `{"method": "shop:name", "result": "x"}`, `{"method": "shop:tell"}`,
		`{"method": "Shop:add", "args": {"a": 2}, "result": 8}`, `{"method": "main stock:count", "result": 9}`,
	}, "\n")))
	for _, c := range [][]string{
		{"7", "shop:add", "a=1"}, {`"x"`, "shop:name"}, {"null", "shop:tell"}, {"8", "Shop:add", "a=2"}, {"8", "Shop.add", "a=2"},
		{"8", "shop:add", "a=2"}, {"9", "main stock:count"}, {"9", "Store:count"}, {"9", "count"},
	} {
		for _, flags := range [][]string{{"-idl", idl}, {"-idl", idl, "-transport", "framed"}, {"-idl", idl, "-transport", "http", "-protocol", "compact"}} {
			want(t, 0, c[0], "", append(append([]string{"call", addr}, c[1:]...), flags...)...)
		}
	}
	// Those that ask for the IDL see each service once.
	if out, errs, code := nocopy(t, "", "describe", addr); code != 0 || strings.Count(out, "service Shop ") != 1 || strings.Count(out, "service Store ") != 1 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if _, errs, code := nocopy(t, "", "call", addr, "stock:count", "-idl", idl); code != 65 && code != 1 || errs == "" {
		t.Errorf("a name that no answer has: %d %s", code, errs)
	}
	stop()
	for line, want := range map[string]string{
		`{"method": "x:name", "result": ""}` + "\n" + `{"method": "x:count", "result": 1}`: ":2: x:count is a method of Store, and a line above has the name x for Shop",
		`{"method": "y:add", "result": 1}`:                                                 "Shop and Store have a method add",
		`{"method": "y:none", "result": 1}`:                                                "none",
	} {
		if _, errs, code := nocopy(t, "", "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", write(t, "answers.jsonl", line)); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", line, code, errs)
		}
	}
}

// TestReplayKeepsServiceNames: replay -multiplexed gives its name to calls that were recorded
// without one, as record -multiplexed does. Names in the recording stay.
func TestReplayKeepsServiceNames(t *testing.T) {
	t.Parallel()
	idl := write(t, "two.thrift", twoIDL)
	addr, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-strict", "-answers", write(t, "answers.jsonl", `{"method": "Shop:add", "result": 1}`+"\n"+`{"method": "depot:count", "result": 2}`+"\n"+`{"method": "Store:add", "result": 3}`))
	record := func(more ...string) (string, func() (string, string)) {
		file := filepath.Join(t.TempDir(), "calls.jsonl")
		proxy, stop := start(t, append([]string{"record", addr, "-listen", "127.0.0.1:0", "-multiplexed", "depot", "-o", file}, more...)...)
		want(t, 0, "1", "", "call", proxy, "Shop:add", "a=1", "-idl", idl, "-transport", "framed")
		want(t, 0, "2", "", "call", proxy, "Store.count", "-idl", idl, "-transport", "framed")
		want(t, 0, "3", "", "call", proxy, "Store:add", "a=1", "-idl", idl, "-transport", "framed")
		return file, stop
	}
	for _, more := range [][]string{{"-idl", idl}, nil} {
		file, stop := record(more...)
		stop()
		for _, flags := range [][]string{nil, {"-multiplexed", "depot"}, {"-multiplexed", "nobody"}, {"-multiplexed", "nobody", "-transport", "framed"}} {
			want(t, 0, "3 calls, 0 answers differ", "", append([]string{"replay", file, addr, "-idl", idl}, flags...)...)
		}
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), `"depot:count"`) || !strings.Contains(string(text), `"Shop:add"`) {
			t.Errorf("%s %v", text, err)
		}
	}
	// Calls without a name get that of the flag, also if the first call has one.
	mixed := write(t, "mixed.jsonl", `{"method": "Shop:add", "args": {"a": 1}, "result": 1}`+"\n"+`{"method": "Store.count", "result": 2}`+"\n"+`{"method": "Store:add", "result": 3}`)
	want(t, 0, "3 calls, 0 answers differ", "", "replay", mixed, addr, "-idl", idl, "-multiplexed", "depot")
	if out, _, code := nocopy(t, "", "replay", mixed, addr, "-idl", idl, "-multiplexed", "nobody"); code != 100 || strings.Count(out, "\n") != 2 || !strings.Contains(out, "mixed.jsonl:2: Store.count") {
		t.Errorf("%d %s", code, out)
	}
}

// TestRecordedNames: in a recording and a capture, a service's name and a colon come before a
// method only if they were on the wire, whatever a bundle says. A replay sends the same names.
// Patterns of -only and -methods fit names in the recording and in the IDL.
func TestRecordedNames(t *testing.T) {
	t.Parallel()
	idl := write(t, "two.thrift", twoIDL)
	bundle := filepath.Join(t.TempDir(), "two.bundle")
	want(t, 0, "", "", "bundle", idl, "-service", "Shop:Shop", "-service", "Shop", "-service", "depot:Store", "-o", bundle)
	server, _ := start(t, "mock", "-idl", bundle, "-listen", "127.0.0.1:0")
	framed := []string{"-transport", "framed", "-protocol", "binary"}
	record := func(server, idl string, more ...string) (addr string, methods func() string) {
		file := filepath.Join(t.TempDir(), "calls.jsonl")
		addr, stop := start(t, append(append([]string{"record", server, "-listen", "127.0.0.1:0", "-idl", idl, "-o", file}, more...), framed...)...)
		return addr, func() string {
			stop()
			var all []string
			for line := range strings.Lines(readFile(t, file)) {
				all = append(all, strings.Split(line, `"`)[3])
			}
			return file + " " + strings.Join(all, " ")
		}
	}
	addr, methods := record(server, bundle)
	addr, ended := taped(t, addr)
	for _, args := range [][]string{{"name", "-raw"}, {"Shop:name", "-raw"}, {"depot:count", "-raw"}} {
		if _, errs, code := nocopy(t, "", append(append([]string{"call", addr}, args...), framed...)...); code != 0 {
			t.Fatal(errs)
		}
	}
	const names = "Shop.name Shop:name depot:count"
	file, said, _ := strings.Cut(methods(), " ")
	c := new(capturetest.Capture)
	ended().Play(c, "10.0.0.1", "10.0.0.2:9090")
	out, errs, _ := nocopy(t, string(c.PCAP()), "dump", "-", "-idl", bundle, "-format", "json")
	captured := strings.Split(out, `"`)
	if said != names || len(captured) < 4 || captured[3] != "Shop.name" || !strings.Contains(out, `"Shop:name"`) || !strings.Contains(out, `"depot:count"`) {
		t.Errorf("the recording has %s, the capture %s%s", said, out, errs)
	}
	addr, methods = record(server, idl)
	want(t, 0, "3 calls, 0 answers differ", "", append([]string{"replay", file, addr, "-idl", bundle}, framed...)...)
	if _, said, _ := strings.Cut(methods(), " "); said != names {
		t.Errorf("the replay has called %s", said)
	}

	for pattern, calls := range map[string]string{"depot:*": "1", "Store.*": "1", "Store:count": "1", "count": "1", "Shop.name": "2", "shop:*": "", "*name": "2"} {
		out, errs, code := nocopy(t, "", append([]string{"replay", file, server, "-idl", idl, "-only", pattern}, framed...)...)
		if code != 0 && calls != "" || code == 0 && out != calls+" calls, 0 answers differ\n" {
			t.Errorf("replay -only %s: %d %s%s", pattern, code, out, errs)
		}
		if calls == "" {
			continue
		}
		addr, methods := record(server, idl, "-errors", "1", "-methods", pattern)
		nocopy(t, "", append([]string{"replay", file, addr, "-idl", idl}, framed...)...)
		made, _, _ := strings.Cut(methods(), " ")
		if n := strings.Count(readFile(t, made), `"fault":"error"`); fmt.Sprint(n) != calls {
			t.Errorf("-methods %s has chosen %d calls, not %s", pattern, n, calls)
		}
	}
}
