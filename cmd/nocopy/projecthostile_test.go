package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProjectAddresses: an address that looks like one of this machine is not one if calls over
// HTTP would go elsewhere.
func TestProjectAddresses(t *testing.T) {
	newProject(t, map[string]string{"shop.thrift": projectShop})
	t.Setenv("NOCOPY_TEST_TOKEN", "s3cret")
	for address, asks := range map[string]bool{
		"evil.invalid://localhost/": true, "tcp://evil.invalid://localhost/": true, "localhost:@evil.invalid/": true, "127.0.0.1@evil.invalid:1": true,
		"http://localhost@evil.invalid/": true, "localhost.evil.invalid:1": true, "127.1:1": true, "0.0.0.0:1": true, "evil.invalid:1": true,
		"localhost:1": false, ":1": false, "[::1]:1": false, "localhost:1/thrift": false, "http://127.0.0.1:1/": false, "tcp://localhost:1": false, "unix:sock": false, "/no/sock": false,
	} {
		for _, transport := range []string{"auto", "http"} {
			if err := os.WriteFile("nocopy.yaml", []byte("idl: shop.thrift\ntargets: {t: {address: \""+address+"\", transport: "+transport+", headers: {x: \"${NOCOPY_TEST_TOKEN}\"}}}\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, errs, code := nocopy(t, "", "call", "t", "getOrder", "id=1"); strings.Contains(errs, "this would send the variable") != asks || asks != (code == 2) {
				t.Errorf("%s, %s: %d %s", address, transport, code, errs)
			}
		}
	}
}

// TestProjectPassword: NOCOPY_PASSWORD is asked for whenever it would be sent, also if another
// variable is allowed in its place.
func TestProjectPassword(t *testing.T) {
	newProject(t, map[string]string{"shop.thrift": projectShop, "nocopy.yaml": `idl: shop.thrift
targets:
  plain: {address: "plain.invalid:1", transport: framed, protocol: binary}
  other: {address: "other.invalid:1", transport: framed, protocol: binary, sasl: PLAIN, user: u, password: "${NOCOPY_TEST_OTHER}"}
`})
	asks := func(target string, asked bool) {
		t.Helper()
		if _, errs, _ := nocopy(t, "", "call", target, "getOrder", "id=1"); strings.Contains(errs, "this would send the variable NOCOPY_PASSWORD") != asked {
			t.Errorf("%s: %s", target, errs)
		}
	}
	t.Setenv("NOCOPY_TEST_OTHER", "harmless")
	want(t, 0, "allowed: $NOCOPY_TEST_OTHER to other.invalid:1", "", "config", "-allow", "other")
	t.Setenv("NOCOPY_PASSWORD", "hunter2")
	asks("other", true)
	asks("plain", false)
	t.Setenv("NOCOPY_SASL", "PLAIN")
	asks("plain", true)
	want(t, 0, "allowed: $NOCOPY_PASSWORD to plain.invalid:1", "", "config", "-allow", "plain")
	asks("plain", false)
}

// TestProjectURLPassword: the password of a URL is not printed.
func TestProjectURLPassword(t *testing.T) {
	newProject(t, map[string]string{"shop.thrift": projectShop, "nocopy.yaml": `idl: shop.thrift
targets: {t: {address: "http://u:${NOCOPY_TEST_TOKEN}@127.0.0.1:1/"}, v: {address: "u:${NOCOPY_TEST_TOKEN}@127.0.0.1:1/"}}
`})
	t.Setenv("NOCOPY_TEST_TOKEN", "hunter2")
	for _, args := range [][]string{{"call", "t", "getOrder", "id=1"}, {"call", "v", "getOrder", "id=1", "-transport", "http"}, {"bench", "t", "getOrder", "id=1", "-n", "1", "-warmup", "0"}} {
		if out, errs, code := nocopy(t, "", args...); code == 0 || strings.Contains(out+errs, "hunter2") || !strings.Contains(out+errs, "u:***@127.0.0.1:1/") {
			t.Errorf("%v: %d %s%s", args, code, out, errs)
		}
	}
}

// TestProjectPaths: variables in paths are the tool's and at the beginning, and what follows them
// is below them.
func TestProjectPaths(t *testing.T) {
	dir := newProject(t, map[string]string{"idl/shop.thrift": projectShop, "a/x": "", "fine/shop.thrift": projectShop})
	away := t.TempDir()
	t.Setenv("NOCOPY_TEST_EMPTY", "")
	t.Setenv("NOCOPY_TEST_WORD", "word")
	t.Setenv("NOCOPY_TEST_UP", "../up")
	t.Setenv("NOCOPY_TEST_AWAY", away)
	for name, to := range map[string]string{"word": away, "base": away} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, command, want string }{
		{"gen: {out: \"${HOME}/x\"}", "gen", "nocopy.yaml:2:12: out: the file may name variables that begin with NOCOPY_, not ${HOME}"},
		{"gen: {out: gen, package-prefix: \"${HOME}\"}", "gen", "nocopy.yaml:2:33: package-prefix: the file may name variables"},
		{"include: [\"${HOME}\"]", "check", "nocopy.yaml:2:11: include: the file may name variables"},
		{"audit: {baseline: \"${HOME}\"}", "audit", "nocopy.yaml:2:19: baseline: the file may name variables"},
		{"lint: {includes: [\"${HOME}\"]}", "lint", "nocopy.yaml:2:7: lint: the file may name variables"},
		{"gen: {out: \"${NOCOPY_TEST_AWAY}/../x\"}", "gen", "nocopy.yaml:2:12: out: \"${NOCOPY_TEST_AWAY}/../x\" has a variable, which is the beginning of a path"},
		{"gen: {out: \"${NOCOPY_TEST_AWAY}${NOCOPY_TEST_UP}\"}", "gen", "nocopy.yaml:2:12: out: "},
		{"gen: {out: \"gen/${NOCOPY_TEST_UP}\"}", "gen", "nocopy.yaml:2:12: out: "},
		{"gen: {out: \"${NOCOPY_TEST_EMPTY}/tmp\"}", "gen", "nocopy.yaml:2:12: the variable NOCOPY_TEST_EMPTY is empty"},
		{"gen: {out: \"${NOCOPY_TEST_UP}\"}", "gen", "nocopy.yaml:2:12: ${NOCOPY_TEST_UP} is \"../up\", which is neither absolute nor in the file's folder"},
		{"gen: {out: \"${NOCOPY_TEST_WORD}/x\"}", "gen", "nocopy.yaml:2:12: ${NOCOPY_TEST_WORD}/x is \"word/x\", which is neither"},
		{"audit: {baseline: a/../../x}", "audit", "nocopy.yaml:2:19: baseline: \"a/../../x\" is outside of the file's folder"},
		{"audit: {baseline: base}", "audit", "nocopy.yaml:2:19: baseline: \"base\" is outside"},
		{"include: " + strings.Repeat("a/", 100_000), "check", "nocopy.yaml:2:10: include: \"a/a/"},
	} {
		if err := os.WriteFile("nocopy.yaml", []byte("idl: idl\n"+c.file+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := nocopy(t, "", c.command); code != 2 || !strings.HasPrefix(errs, "nocopy: "+c.want) {
			t.Errorf("%.60s: %d %s%s; want %s", c.file, code, out, errs, c.want)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile("nocopy.yaml", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("idl: idl\ngen: {out: \"${NOCOPY_TEST_AWAY}/x\"}\nlint: {includes: [\"${NOCOPY_TEST_AWAY}\"]}\n")
	want(t, 0, "", "", "gen")
	if _, err := os.Stat(filepath.Join(away, "x/shop/shop.go")); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(away, "other.thrift"), []byte("struct O {}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("idl/shop.thrift", []byte("include \"other.thrift\"\nnamespace go shop\nstruct S { 1: other.O o }"), 0o666); err != nil {
		t.Fatal(err)
	}
	want(t, 0, "", "", "lint")
	// A link below the folder that is named leads nowhere, either.
	write("idl: fine\ngen: {out: gen}\n")
	if err := os.Mkdir("gen", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), "gen/shop"); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := nocopy(t, "", "gen"); code != 1 || !strings.Contains(errs, "gen/shop/shop.go: ") || !strings.Contains(errs, "path escapes from parent") {
		t.Errorf("%d %s", code, errs)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "gen/shop/*")); len(left) > 0 {
		t.Errorf("%v was written", left)
	}
	// A pipe would be waited for, and a file of any size read.
	if err := exec.Command("mkfifo", "pipe").Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("large", make([]byte, 2<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "large"} {
		write("idl: fine\ntargets: {t: {address: \"localhost:1\", ca: " + name + "}}\n")
		if _, errs, code := nocopy(t, "", "call", "t", "getOrder", "id=1"); code != 2 || !strings.Contains(errs, name+" is not a regular file of at most 1048576 bytes") {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
}

// TestProjectSize: files whose reading would take minutes or gigabytes are refused, in few words.
func TestProjectSize(t *testing.T) {
	newProject(t, nil)
	many := func(begin, each, between, end string, n int) string {
		return begin + strings.TrimSuffix(strings.Repeat(each+between, n), between) + end
	}
	var keys, headers, calls strings.Builder
	for i := range 60_000 {
		name := "k" + strings.Repeat("a", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576%26))
		keys.WriteString(" " + name + ": {}\n")
		if i < 8000 {
			headers.WriteString(name + ": v, ")
		}
		if i < 15_000 {
			calls.WriteString("   " + name + ": {method: m, args: *a}\n")
		}
	}
	tooMany := "the file has more than 100000 values, with those that aliases (*) repeat"
	for name, c := range map[string]struct{ text, want string }{
		"keys":    {"targets:\n" + keys.String(), "has no address"},
		"merged":  {"targets:\n t:\n  address: a:1\n  headers: &b {" + headers.String() + "}\n u:\n  address: a:1\n" + many("  headers: {<<: [", "*b", ",", "]}\n", 90_000), tooMany},
		"calls":   {"targets:\n t:\n  address: a:1\n  calls:\n" + many("   a: {method: m, args: &a {x: [", "1", ",", "]}}\n", 40_000) + calls.String(), tooMany},
		"unknown": {strings.ReplaceAll(keys.String(), "\n ", "\n")[1:], "unknown key"},
		"name":    {"targets: {t: {address: \"a:1\", calls: {" + strings.Repeat("x", 900_000) + ": {}}}}", "call xxx"},
		"header":  {"targets: {t: {address: \"a:1\", headers: {token" + strings.Repeat("x", 900_000) + ": b}}}", "tokenxxx"},
		"flag":    {"targets: {t: {address: \"a:1\", timeout: " + strings.Repeat("x", 900_000) + "}}", "timeout: "},
	} {
		if err := os.WriteFile("nocopy.yaml", []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := nocopy(t, "", "check"); code != 2 || !strings.Contains(errs, c.want) || len(errs) > 6000 {
			t.Errorf("%s: %d %.200s%.300s", name, code, out, errs)
		}
	}
}

// TestCompleteQuotes: names that a shell would run are not completed.
func TestCompleteQuotes(t *testing.T) {
	newProject(t, map[string]string{"x.thrift": `struct A { 1: i32 a (json.name = "x$(touch pwned)"), 2: i32 b (json.name = "y;z"), 3: i32 c }
service S { i32 f(1: A a) }`})
	for _, args := range [][]string{{"call", "-idl", "x.thrift", "127.0.0.1:1", "f", "a."}, {"-line", "nocopy call -idl x.thrift 127.0.0.1:1 f a.", "\"'@><=;|&(:"}} {
		if out, errs, code := nocopy(t, "", append([]string{"complete"}, args...)...); code != 0 || out != "a.c=\ti32\n" {
			t.Errorf("%d %s%s", code, out, errs)
		}
	}
}
