package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAgainst: -against is a target, a folder, a revision or an address, in this order.
func TestAgainst(t *testing.T) {
	newProject(t, map[string]string{"idl/v1/shop.thrift": projectShop, "saved/shop.thrift": strings.Replace(projectShop, "email", "saved", 1)})
	mock, _ := start(t, "mock", "-idl", "idl/v1/shop.thrift", "-listen", "127.0.0.1:0")
	project := "idl: [idl]\ntargets:\n  prod: {address: '" + mock + "'}\n"
	change := func(name, old, new string) {
		t.Helper()
		text, err := os.ReadFile(name)
		if err != nil && name != "nocopy.yaml" {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(text), old, new, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	change("nocopy.yaml", "", project)
	for _, args := range [][]string{{"init", "-q", "-b", "prod"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "-m", "x"}, {"branch", "saved"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	change("idl/v1/shop.thrift", "email", "mail")
	renamed := "idl/v1/shop.thrift:2:36: warning: field 2 of Order renamed from email to mail [field-renamed; breaks json, source; old: "
	for _, c := range []struct {
		args      string
		code      int
		out, errs string
	}{
		{"idl -against prod", 0, renamed + "prod:shop.thrift:2:36]\n", "nocopy: note: -against prod is taken for a target of nocopy.yaml; it is also a revision of git\n"},
		{"-against prod", 0, renamed + "prod:shop.thrift:2:36]\n", "nocopy: note: "},
		{"idl/v1/shop.thrift -against " + mock, 0, renamed + mock + ":shop.thrift:2:36]\n", ""},
		{"idl -against prod -policy WIRE", 0, "", "nocopy: note: "},
		{"idl -against prod -policy WIRE_JSON -warnings error", 100, strings.Replace(renamed, "warning", "error", 1), "nocopy: note: "},
		{"idl -against refs/heads/prod", 0, renamed + "refs/heads/prod:idl/v1/shop.thrift:2:36]\n", ""},
		{"idl -against saved", 0, strings.Replace(renamed, "email", "saved", 1) + "saved/shop.thrift:2:36]\n", "nocopy: note: -against saved is taken for a folder; it is also a revision of git\n"},
		{"idl -against ./saved", 0, strings.Replace(renamed, "email", "saved", 1) + "saved/shop.thrift:2:36]\n", ""},
		{"idl -against none", 1, "", "nocopy: none: there is no such file, folder or git revision\n"},
		{"idl -against --output=x", 1, "", "nocopy: --output=x: there is no such file, folder or git revision\n"},
		{"idl -against=", 1, "", "nocopy: the name of what is old or new is empty\n"},
		{"idl -against 127.0.0.1:1", 1, "", "nocopy: 127.0.0.1:1: "},
		{"idl -against prod -against none", 2, "", "nocopy: invalid value \"none\" for flag -against: it was given before, as \"prod\"; see nocopy audit -h\n"},
		{"idl -against prod -policy wire-json", 2, "", "nocopy: -policy is WIRE, WIRE_JSON, SOURCE or FILE, not \"wire-json\", did you mean WIRE_JSON?; see nocopy audit -h\n"},
		{"idl -against prod -policy X", 2, "", "nocopy: -policy is WIRE, WIRE_JSON, SOURCE or FILE, not \"X\"; see nocopy audit -h\n"},
	} {
		out, errs, code := nocopy(t, "", append([]string{"audit"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.HasPrefix(out, c.out) || c.out == "" && out != "" || !strings.HasPrefix(errs, c.errs) || c.errs == "" && errs != "" {
			t.Errorf("nocopy audit %s: %d\n%s%s\nwant %d\n%s%s", c.args, code, out, errs, c.code, c.out, c.errs)
		}
	}
}

// TestBrokenFile: a file with errors does not hide what other files break. It is in one state, in
// the other, or told by a server.
func TestBrokenFile(t *testing.T) {
	const a, c, broken = "struct A { 1: i32 a }", "include \"b.thrift\"\nstruct C { 1: b.B b }", "struct B { 1: i32 b"
	files := func(dir, a, b, c string) map[string]string {
		return map[string]string{dir + "/a.thrift": a, dir + "/b.thrift": b, dir + "/c.thrift": c}
	}
	all := map[string]string{"nocopy.yaml": "idl: [bad]\naudit: {baseline: good, ignore: [{path: C.b, reason: old}]}\n"}
	maps.Copy(all, files("good", a, broken+"}", c))
	maps.Copy(all, files("bad", strings.Replace(a, "i32", "i64", 1), broken, "include \"b.thrift\""))
	newProject(t, all)
	changed := func(new, old, was, is string) string {
		return new + "/a.thrift:1:12: error: type of field 1 a of A changed from " + was + " to " + is + " [field-type-changed; breaks wire, json, source; old: " + old + "/a.thrift:1:12]\n"
	}
	const wrong = "/b.thrift:1:20: unexpected end of file, expected \"}\"\n"
	for _, c := range []struct{ args, out, errs string }{
		{"good bad", changed("bad", "good", "i32", "i64"), "bad" + wrong},
		{"bad good", changed("good", "bad", "i64", "i32"), "bad" + wrong},
		{"bad bad", "", "bad" + wrong + "bad" + wrong},
		{"", changed("bad", "good", "i32", "i64"), "bad" + wrong}, // and no ignore is unused
		{"good bad b.thrift", "", "bad" + wrong},
		{"good bad c.thrift a.thrift", changed("bad", "good", "i32", "i64"), "bad" + wrong},
		{"good -against bad", changed("good", "bad", "i64", "i32"), "bad" + wrong},
		{"good bad none.thrift", "", "nocopy: none.thrift is neither"},
	} {
		out, errs, code := nocopy(t, "", append([]string{"audit"}, strings.Fields(c.args)...)...)
		if code != 1 || out != c.out || errs != c.errs && !(strings.HasSuffix(c.errs, " neither") && strings.HasPrefix(errs, c.errs)) {
			t.Errorf("nocopy audit %s: %d\n%s%s\nwant\n%s%s", c.args, code, out, errs, c.out, c.errs)
		}
	}
	if err := os.Rename("bad/b.thrift", "bad/d.thrift"); err != nil { // it is missing, and included
		t.Fatal(err)
	}
	out, errs, code := nocopy(t, "", "audit", "good", "bad")
	if code != 1 || !strings.HasPrefix(out, "bad/a.thrift:1:12: error: ") || strings.Contains(out, "c.thrift") || strings.Count(errs, "\n") != 2 {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// TestIgnores: the project file says which findings are accepted, and why.
func TestIgnores(t *testing.T) {
	newProject(t, map[string]string{"old/shop.thrift": projectShop, "idl/shop.thrift": strings.Replace(projectShop, "email", "mail", 1), "a/b": ""})
	for _, c := range []struct {
		ignore    string
		code      int
		out, errs string // the beginnings
	}{
		{`{path: "idl/shop.thrift:Order", rule: field-renamed, reason: nobody reads it}`, 0, "", ""},
		{`{path: Order.email, reason: nobody reads it}`, 0, "", ""},
		{`{path: Order.none, reason: nobody reads it}`, 100, "idl/shop.thrift:2:36: error: ", "nocopy.yaml:3:36: warning: nothing is broken that the ignore of Order.none allows: remove it\n"},
		{`{path: Order.email}`, 2, "", "nocopy: nocopy.yaml:3:36: the ignore of Order.email needs a reason"},
		{`{path: Order.email, rule: field-rename, reason: x}`, 2, "", "nocopy: nocopy.yaml:3:36: audit has no rule \"field-rename\", did you mean field-renamed?"},
		{`{reason: x}`, 2, "", "nocopy: nocopy.yaml:3:36: an ignore needs a path"},
		{`Order.email`, 2, "", "nocopy: nocopy.yaml:3:36: ignore has keys and values, not \"Order.email\""},
	} {
		text := "idl: [idl]\n\naudit: {baseline: old,    ignore: [" + c.ignore + "]}\n"
		if err := os.WriteFile("nocopy.yaml", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		out, errs, code := nocopy(t, "", "audit", "-warnings", "error")
		if code != c.code || !strings.HasPrefix(out, c.out) || c.out == "" && out != "" || !strings.HasPrefix(errs, c.errs) || c.errs == "" && errs != "" {
			t.Errorf("%s: %d\n%s%s\nwant %d\n%s%s", c.ignore, code, out, errs, c.code, c.out, c.errs)
		}
	}
	text := "idl: [idl]\naudit: {baseline: old, policy: WIRE_JSON, ignore: [{path: Order.none, reason: x}]}\n"
	if err := os.WriteFile("nocopy.yaml", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _, _ := nocopy(t, "", "audit", "-format", "json")
	var report struct {
		Policy   string
		Findings []struct{ Policy, Rule, Path, Place string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Policy != "WIRE_JSON" || len(report.Findings) != 1 {
		t.Fatalf("%v %s", err, out)
	}
	if f := report.Findings[0]; f.Policy != "WIRE_JSON" || f.Rule != "field-renamed" || f.Path != "Order.email" || f.Place != "idl/shop.thrift:2:36" {
		t.Errorf("%+v", f)
	}
	t.Chdir("a")
	if out, errs, code := nocopy(t, "", "audit", "-wire"); code != 0 || out != "" || !strings.Contains(errs, "Order.none") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if out, _, code := nocopy(t, "", "audit", "-rules"); code != 0 || !strings.Contains(out, "field-renamed         WIRE_JSON  an id has another name\n") {
		t.Errorf("%d %s", code, out)
	}
}
