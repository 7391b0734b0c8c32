package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const argumentsIDL = `
enum Payment { CARD = 1, CASH = 2 }
struct In {
  1: required i32 n, 2: Payment p, 3: list<string> names, 4: map<string, string> labels, 5: map<i32, In> byid, 6: set<Payment> ps, 7: list<In> ins,
  8: map<Payment, i32> counts, 9: map<In, i32> odd, 10: bool b, 11: list<list<i32>> ll, 12: map<binary, string> bins, 13: map<string, list<i32>> lists
}
service S { In echo(1: In d, 2: list<string> names, 3: Payment p), void f(1: i32 count), oneway void ping() }`

// echoing starts a server of argumentsIDL, and returns the arguments of S.echo that it gets as
// JSON.
func echoing(t *testing.T) (addr, idl string, call func(args ...string) string) {
	t.Helper()
	idl = write(t, "s.thrift", argumentsIDL)
	addr, _ = start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	return addr, idl, func(args ...string) string {
		t.Helper()
		file := t.TempDir() + "/calls.jsonl"
		proxy, stop := start(t, "record", addr, "-listen", "127.0.0.1:0", "-o", file)
		if out, errs, code := nocopy(t, "", append([]string{"call", proxy, "echo"}, args...)...); code != 0 {
			t.Errorf("%v: %d %s%s", args, code, out, errs)
		}
		stop()
		var line struct{ Args json.RawMessage }
		if err := json.Unmarshal([]byte(readFile(t, file)), &line); err != nil {
			t.Fatal(err)
		}
		return string(line.Args)
	}
}

// TestPaths: a key of key=value reaches keys of maps and elements of lists, and commas separate
// elements.
func TestPaths(t *testing.T) {
	_, _, call := echoing(t)
	for _, c := range [][]string{
		{`{"d":{"n":1,"labels":{"a":"x"}}}`, "d.n=1", "d.labels.a=x"},
		{`{"d":{"n":1,"labels":{"a.b":"x","c":"y=z"}}}`, "d.n=1", "d.labels.a.b=x", "d.labels.c=y=z"},
		{`{"d":{"n":1,"labels":{"a":"x","b":"y"}}}`, "-d", `{"d": {"n": 1, "labels": {"a": "z", "b": "y"}}}`, "d.labels.a=x"},
		{`{"names":["a","b"]}`, "names=a,b"}, {`{"names":[]}`, "names="}, {`{"names":["a"]}`, "names=a"}, {`{"names":["a,b"]}`, `names=["a,b"]`},
		{`{"names":["a","b"]}`, "names.0=a", "names.1=b"}, {`{"names":["a","c"]}`, "names=a,b", "names[1]=c"},
		{`{"names":["a","c"]}`, "-d", `{"names": ["a"]}`, "names[1]=c"},
		{`{"d":{"n":1,"ps":["CARD","CASH"]}}`, "d.n=1", "d.ps=CASH,1"},
		{`{"d":{"n":1,"ins":[{"n":1},{"n":2,"p":"CASH"}]}}`, "d.n=1", "d.ins.0.n=1", "d.ins.1.n=2", "d.ins[1].p=CASH"},
		{`{"d":{"n":1,"byid":{"7":{"n":4}},"counts":{"CASH":3}}}`, "d.n=1", "d.byid.7.n=4", "d.counts.CASH=3"},
		{`{"d":{"n":1,"ll":[[1,2],[3]]}}`, "d.n=1", "d.ll.0=1,2", "d.ll.1.0=3"},
		{`{"d":{"n":1,"lists":{"a":[1,2]}}}`, "d.n=1", "d.lists.a=1,2"},
		{`{"d":{"n":1,"bins":{"AQ==":"x"}}}`, "d.n=1", "d.bins.\x01=x"},
		{`{"d":{"n":1,"labels":{"a":"b"}}}`, `d={"n": 1, "labels": {"a": "b"}}`},
	} {
		if got := call(c[1:]...); got != c[0] && !(strings.Contains(c[0], "ps") && strings.Contains(got, `"ps":["CASH","CARD"]`)) {
			t.Errorf("%v: %s, want %s", c[1:], got, c[0])
		}
	}
}

// TestArgumentErrors: an error names the key=value that is wrong, or the path and the place in the
// JSON text, as the user has written them. Names that there are not get those that there are.
func TestArgumentErrors(t *testing.T) {
	addr, _, _ := echoing(t)
	const fields = "There are i32 n, Payment p, list<string> names"
	for _, c := range [][]string{
		{"argument p=CSH: \"CSH\" is no Payment, did you mean CASH? There are CARD, CASH", "echo", "p=CSH"},
		{"argument d.p=PEANUTS: \"PEANUTS\" is no Payment: there are CARD, CASH", "echo", "d.p=PEANUTS"},
		{"argument d.ps=CASH,cart: \"cart\" is no Payment, did you mean CARD?", "echo", "d.ps=CASH,cart"},
		{"argument d.counts.CSH=3: \"CSH\" is no Payment, did you mean CASH?", "echo", "d.counts.CSH=3"},
		{"arguments of S.echo: p: offset 6: \"CSH\" is no Payment, did you mean CASH?", "echo", "-d", `{"p": "CSH"}`},
		{"arguments of S.echo: d.counts.CSH: offset 36: \"CSH\" is no Payment, did you mean CASH?", "echo", "-d", `{"d": {"n":1, "counts": {"CARD": 5, "CSH": "x"}}}`},
		{"arguments of S.echo: d.ins[1].p: offset 43: \"CSH\" is no Payment, did you mean CASH?", "echo", "-d", `{"d": {"n": 1, "ins": [{"n":1}, {"n":1,"p":"CSH"}]}}`},
		{"argument d.ins:=[{\"p\":\"CSH\"}]: d.ins[0].p: \"CSH\" is no Payment", "echo", "d.n=1", `d.ins:=[{"p":"CSH"}]`},
		{"argument d.n=1.5: not a whole number", "echo", "d.n=1.5"}, {"argument d.n=99999999999: a number out of range", "echo", "d.n=99999999999"},
		{"argument d.byid.x.n=1: d.byid.x: not a number", "echo", "d.n=1", "d.byid.x.n=1"}, {"argument d.byid.7.n=1.5: not a whole number", "echo", "d.n=1", "d.byid.7.n=1.5"},
		{"arguments of S.echo: d.n: required field is missing", "echo", "d.b=true"},
		{"arguments of S.echo: d.n: offset 12: not a number", "echo", "-d", `{"d": {"n": "x"}}`},
		{"argument d.b=yes: \"yes\" is no bool: it is true or false", "echo", "d.b=yes"},
		{"argument d.nn=1: no field nn, did you mean n? " + fields, "echo", "d.nn=1"},
		{"unknown field: \"nmes\", did you mean names? " + fields, "echo", "-d", `{"d": {"n": 1, "byid": {"8": {"nmes": 1}}}}`},
		{"offset 1: unknown field: \"nams\" (did you mean \"names\"?) (it takes ", "echo", "-d", `{"nams": 1}`},
		{"argument d=1: it is a In: set its fields, as in d.n=…, or all of it, as in d:='{…}'", "echo", "d=1"},
		{"argument d.ins=1: it is a list<In>: set an element, as in d.ins.0…", "echo", "d.ins=1"},
		{"argument d.labels=x: it is a map<string, string>: set a value, as in d.labels.KEY=…", "echo", "d.labels=x"},
		{"argument d.odd.x=1: d.odd is a map<In, i32>, whose keys can't be part of a path: write d.odd:=JSON", "echo", "d.odd.x=1"},
		{"argument d..n=x: a name is missing after d.\n", "echo", "d..n=x"}, {"argument =x: a name is missing at the beginning", "echo", "=x"},
		{"argument d.labels.=x: a name is missing after d.labels.\n", "echo", "d.n=1", "d.labels.=x"},
		{"argument names.2=x: names is a list<string> and has 1 elements so far: the next one is names.1", "echo", "names=a", "names.2=x"},
		{"argument d.n.x=1: d.n is a i32 and has no fields", "echo", "d.n.x=1"},
		{"argument coun=1: no field coun, did you mean count? There are i32 count", "f", "coun=1"}, {"argument x=1: no field x: there are none", "ping", "x=1"},
		{"method ech: not found, did you mean echo? The IDL has the methods echo, f, ping", "ech"}, {"method S.ech: not found, did you mean echo? The service has the methods echo, f, ping", "S.ech"},
		{"method S.zzzzzz: not found; the service has the methods echo, f, ping", "S.zzzzzz"},
	} {
		if _, errs, code := nocopy(t, "", append([]string{"call", addr}, c[1:]...)...); code != 1 || !strings.HasPrefix(errs, "nocopy: ") || !strings.Contains(errs, c[0]) || strings.Contains(errs, "echo_args") || strings.Contains(errs, "nocopyjson") {
			t.Errorf("%v: %d %s, want %s", c[1:], code, errs, c[0])
		}
	}
}
