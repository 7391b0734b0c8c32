package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const defaultsIDL = `
enum Payment { CARD = 1, CASH = 2 }
/** Of an order. */
typedef i64 ID
typedef list<In> Ins
/** Most orders. */
const i32 MAX = 10
const map<Payment, binary> KEYS = {Payment.CARD: "x"}
const In FIRST = {"n": 3}
struct In {
  1: required i32 n, 2: Payment p = Payment.CASH, 3: string s = "x\"y", 4: list<i32> l = [1, 2], 5: bool b = false, 6: double d = 2.5, 7: ID id = MAX,
  8: map<string, i32> m = {"a": 1}, 9: binary bin = "hi", 10: optional uuid u = "01234567-89ab-cdef-0123-456789abcdef", 11: string none
}
service S { In echo(1: i32 count = 7 (api.query = "count"), 2: Payment p = Payment.CARD (api.header = "p")) (api.get = "/echo"), In get(1: In in) }`

// TestDefaults: describe and openapi have the defaults of fields, and describe typedefs and
// constants.
func TestDefaults(t *testing.T) {
	idl := write(t, "d.thrift", defaultsIDL)
	addr, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	const echo = "In echo(1: i32 count = 7, 2: Payment p = CARD)"
	const keys, first = "const map<Payment, binary> KEYS = {CARD: 0x78}", "const In FIRST = {n: 3, p: CASH, s: \"x\\\"y\", l: [1, 2], b: false, d: 2.5, id: 10, m: {\"a\": 1}, bin: 0x6869}"
	for _, from := range [][]string{{"-idl", idl}, {addr}} {
		for name, shown := range map[string]string{
			"ID": "// Of an order.\ntypedef i64 ID", "Ins": "typedef list<In> Ins", "d.MAX": "// Most orders.\nconst i32 MAX = 10", "KEYS": keys, "FIRST": first, "S.echo": echo,
			"In": "struct In {\n  1: required i32 n\n  2: Payment p = CASH\n  3: string s = \"x\\\"y\"\n  4: list<i32> l = [1, 2]\n  5: bool b = false\n  6: double d = 2.5\n  7: i64 id = 10\n" +
				"  8: map<string, i32> m = {\"a\": 1}\n  9: binary bin = 0x6869\n  10: optional uuid u = \"01234567-89ab-cdef-0123-456789abcdef\"\n  11: string none\n}",
		} {
			want(t, 0, shown, "", append(append([]string{"describe"}, from...), name)...)
		}
		for name, near := range map[string]string{"Inn": "did you mean In", "MIX": "did you mean MAX?", "ech": "did you mean echo?", "ehco": "did you mean echo?", "S.ech": "did you mean echo? The service has the methods echo, get"} {
			if _, errs, code := nocopy(t, "", append(append([]string{"describe"}, from...), name)...); code != 1 || !strings.Contains(errs, near) {
				t.Errorf("%s: %d %s", name, code, errs)
			}
		}
		if _, errs, code := nocopy(t, "", "describe", "-idl", idl, "localhost:9090"); code != 2 || !strings.Contains(errs, "leave localhost:9090 away") {
			t.Errorf("describe with an address and -idl: %d %s", code, errs)
		}
		out, errs, code := nocopy(t, "", append([]string{"describe"}, from...)...)
		if code != 0 || !strings.HasSuffix(out, "\ntypedef i64 ID\ntypedef list<In> Ins\nconst i32 MAX = 10\n"+keys+"\n"+first+"\n") || !strings.Contains(out, "  "+echo+"\n") {
			t.Errorf("%d %s%s", code, out, errs)
		}
		defaults := func(fields any) string {
			all := map[string]any{}
			for _, f := range fields.([]any) {
				if v, ok := f.(map[string]any)["default"]; ok {
					all[f.(map[string]any)["name"].(string)] = v
				}
			}
			text, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		const all = `{"b":false,"bin":"aGk=","d":2.5,"id":10,"l":[1,2],"m":{"a":1},"p":"CASH","s":"x\"y","u":"01234567-89ab-cdef-0123-456789abcdef"}`
		for name, have := range map[string]string{"In": all, "S.echo": `{"count":7,"p":"CARD"}`, "KEYS": `{"CARD":"eA=="}`, "ID": "i64"} {
			out, errs, _ := nocopy(t, "", append(append([]string{"describe", "-format", "json"}, from...), name)...)
			var told map[string]any
			if err := json.Unmarshal([]byte(out), &told); err != nil {
				t.Fatalf("%s%s, %v", out, errs, err)
			}
			var got string
			switch {
			case told["fields"] != nil:
				got = defaults(told["fields"])
			case told["args"] != nil:
				got = defaults(told["args"])
			case told["value"] != nil:
				text, _ := json.Marshal(told["value"])
				got = string(text)
			default:
				got = told["type"].(string)
			}
			if got != have {
				t.Errorf("%s has %s, want %s", name, got, have)
			}
		}
	}
	out, errs, code := nocopy(t, "", "openapi", idl)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema struct{ Default any }
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Default any }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%d %s%s, %v", code, out, errs, err)
	}
	got := map[string]any{}
	for _, p := range doc.Paths["/echo"]["get"].Parameters {
		got["echo."+p.Name] = p.Schema.Default
	}
	for name, p := range doc.Components.Schemas["In"].Properties {
		got[name] = p.Default
	}
	if text, err := json.Marshal(got); err != nil || string(text) != `{"b":false,"bin":"aGk=","d":2.5,"echo.count":7,"echo.p":"CARD","id":10,"l":[1,2],"m":{"a":1},"n":null,"none":null,"p":"CASH","s":"x\"y","u":"01234567-89ab-cdef-0123-456789abcdef"}` {
		t.Errorf("openapi has %s, %v", text, err)
	}
}
