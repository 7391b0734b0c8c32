package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// newProject makes the working directory of the test a folder with these files. What the user
// allows is kept in another one.
func newProject(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

const projectShop = `namespace go shop
struct Order { 1: required i64 id, 2: string email (example = "a@b") }
service Shop { Order getOrder(1: i64 id) }
`

// TestProject: with a project file, commands need neither flags nor files, in each folder below.
func TestProject(t *testing.T) {
	newProject(t, map[string]string{"idl/shop.thrift": `include "common.thrift"
` + projectShop, "third/common.thrift": "struct C {}", "a/b/x": ""})
	mock, _ := start(t, "mock", "-idl", "idl/shop.thrift", "-I", "third", "-listen", "127.0.0.1:0")
	file := `idl: [idl]
include: [third]
targets:
  shop:
    address: ` + mock + `
    transport: framed
    protocol: binary
    multiplexed: Shop
    timeout: 5s
    headers: {authorization: "Bearer ${NOCOPY_TEST_TOKEN}", x-team: a}
    environments:
      compact: {protocol: compact, headers: {}}
gen: {out: gen, package-prefix: example.com/gen}
lint: {checks: {enabled: [field.optional]}}
audit: {baseline: old, warnings: "off"}
`
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("nocopy.yaml", file)
	if err := os.Mkdir("old", 0o777); err != nil {
		t.Fatal(err)
	}
	write("old/shop.thrift", strings.Replace(projectShop, "string email", "string mail", 1))
	t.Setenv("NOCOPY_TEST_TOKEN", "s3cret")
	for _, dir := range []string{".", "a/b"} {
		t.Chdir(dir)
		for _, target := range []string{"shop", "shop@compact"} {
			out, errs, code := nocopy(t, "", "call", target, "getOrder", "id=7", "-v")
			if code != 0 || !regexp.MustCompile(`"id": -?\d+`).MatchString(out) || !strings.Contains(errs, map[string]string{"shop": "framed binary", "shop@compact": "framed compact"}[target]) {
				t.Errorf("%s: %d %s%s", target, code, out, errs)
			}
		}
		for _, c := range []struct {
			code int
			want string
			args []string
		}{
			{0, "10 calls in ", []string{"bench", "shop", "getOrder", "id=7", "-n", "10", "-warmup", "0"}},
			{0, "# framed binary\nservice Shop", []string{"describe", "shop"}}, // what the server tells
			{0, "struct Order", []string{"describe", "shop", "Order"}},
			{0, "service Shop", []string{"describe"}},
			{0, "struct Order", []string{"describe", "Order"}},
			{0, "\"openapi\"", []string{"openapi"}},
			{0, "", []string{"check"}},
			{100, "field \"id\" is not optional", []string{"lint"}},
			{0, "", []string{"gen"}},
			{0, "", []string{"doc", "-o", t.TempDir()}},
			{0, "\"rec\"", []string{"call", "shop", "getOrder", "-raw", "1:i64=7"}},
		} {
			if out, errs, code := nocopy(t, "", c.args...); code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("nocopy %v: %d %s%s", c.args, code, out, errs)
			}
		}
	}
	if _, err := os.Stat("../../gen/shop/shop.go"); err != nil {
		t.Error(err)
	}
	if out, errs, code := nocopy(t, "", "audit"); code != 0 && code != 100 || strings.Contains(errs, "needed") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	t.Setenv("NOCOPY_PROJECT", "off")
	if out, errs, code := nocopy(t, "", "call", "shop", "getOrder", "id=7"); code != 2 || !strings.Contains(errs, "shop is no address") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	t.Setenv("NOCOPY_PROJECT", "../../nocopy.yaml")
	t.Chdir(t.TempDir())
	// The path is relative to the working directory
	if out, errs, code := nocopy(t, "", "describe", "Order"); code != 2 {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// TestConfig: nocopy config says where each value comes from. A flag goes before a variable, and
// that before the file.
func TestConfig(t *testing.T) {
	newProject(t, map[string]string{"shop.thrift": projectShop, "nocopy.yaml": `idl: shop.thrift
targets:
  shop:
    address: localhost:1
    timeout: 5s
    deadline: 4s
    protocol: compact
    headers: {x: "${NOCOPY_TEST_TOKEN}", y: file}
gen: {out: out, fields: true}
`})
	t.Setenv("NOCOPY_TEST_TOKEN", "s3cret")
	t.Setenv("NOCOPY_TIMEOUT", "6s")
	t.Setenv("NOCOPY_DEADLINE", "3s")
	type setting struct {
		Key   string
		Value any
		From  string
	}
	config := func(args ...string) []setting {
		t.Helper()
		out, errs, code := nocopy(t, "", append([]string{"config", "-format", "json"}, args...)...)
		var all []setting
		if err := json.Unmarshal([]byte(out), &all); err != nil || code != 0 || strings.Contains(out, "s3cret") {
			t.Fatalf("%v: %d %s%s, %v", args, code, out, errs, err)
		}
		return all
	}
	check := func(all []setting, want ...setting) {
		t.Helper()
		for _, w := range want {
			if !slices.Contains(all, w) {
				t.Errorf("%v is missing in %v", w, all)
			}
		}
	}
	comparable := func(all []setting) (some []setting) {
		for _, s := range all {
			if _, ok := s.Value.([]any); !ok {
				some = append(some, s)
			}
		}
		return some
	}
	check(comparable(config("call", "shop", "getOrder", "-deadline", "2s", "-H", "y: flag")),
		setting{"target", "shop", "argument"}, setting{"address", "localhost:1", "nocopy.yaml:4:14"}, setting{"method", "getOrder", "argument"},
		setting{"-timeout", "6s", "$NOCOPY_TIMEOUT"}, setting{"-deadline", "2s", "flag"}, setting{"-protocol", "compact", "nocopy.yaml:7:15"},
		setting{"-transport", "auto", "default"}, setting{"-header", "x: ${NOCOPY_TEST_TOKEN}", "nocopy.yaml:8:18"}, setting{"-header", "y: flag", "flag"})
	check(comparable(config("gen", "-r", "-o", "other")), setting{"-o", "other", "flag"}, setting{"-r", "true", "flag"}, setting{"-fields", "true", "nocopy.yaml:9:25"})
	check(comparable(config()), setting{"idl", "shop.thrift", "nocopy.yaml:1:6"}, setting{"targets.shop.headers.y", "file", "nocopy.yaml:8:45"}, setting{"gen.fields", "true", "nocopy.yaml:9:25"}, setting{"-timeout", "6s", "$NOCOPY_TIMEOUT"})
	if out, errs, code := nocopy(t, "", "config", "call", "shop", "f"); code != 0 || !strings.Contains(out, "-timeout    6s ") || !regexp.MustCompile(`(?m)^-protocol +compact +nocopy.yaml:7:15$`).MatchString(out) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	// What is not set is shown, also where only a set variable is a value.
	newProject(t, map[string]string{"a.thrift": projectShop, "b.thrift": "struct B {}", "nocopy.yaml": `idl: [a.thrift, b.thrift]
targets:
  shop: {address: "${NOCOPY_TEST_HOST}", timeout: "${NOCOPY_TEST_TIME}", headers: {x: "a ${NOCOPY_TEST_NONE}"}, ca: "${NOCOPY_TEST_DIR}/ca"}
`})
	check(comparable(config("call", "shop", "f")), setting{"address", "${NOCOPY_TEST_HOST}", "nocopy.yaml:3:19, NOCOPY_TEST_HOST is not set"},
		setting{"-timeout", "6s", "$NOCOPY_TIMEOUT"}, setting{"-header", "x: a ${NOCOPY_TEST_NONE}", "nocopy.yaml:3:87, NOCOPY_TEST_NONE is not set"},
		setting{"-ca", "${NOCOPY_TEST_DIR}/ca", "nocopy.yaml:3:117, NOCOPY_TEST_DIR is not set"})
	if out, errs, code := nocopy(t, "", "config", "call", "shop", "f"); code != 0 || !regexp.MustCompile(`(?m)^-idl +a.thrift +nocopy.yaml:1:7\n +b.thrift$`).MatchString(out) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if _, errs, code := nocopy(t, "", "audit", "a.thrift", "-against", "shop"); code == 0 || !strings.HasPrefix(errs, "nocopy: nocopy.yaml:3:19: the variable NOCOPY_TEST_HOST is not set\n") {
		t.Errorf("%d %s", code, errs)
	}
	t.Setenv("NOCOPY_TEST_HOST", "localhost:1")
	if _, errs, code := nocopy(t, "", "audit", "a.thrift", "-against", "shop"); code == 0 || !strings.HasPrefix(errs, "nocopy: nocopy.yaml:3:") || !strings.Contains(errs, " is not set\n") {
		t.Errorf("%d %s", code, errs)
	}
	if out, errs, code := nocopy(t, "", "config", "call", "shop", "f", "-nonsense"); code != 2 || !strings.Contains(errs, "unknown flag -nonsense") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for _, args := range [][]string{{"-h"}, {"-help"}} {
		if out, errs, code := nocopy(t, "", append([]string{"config"}, args...)...); code != 0 || !strings.HasPrefix(out, "Usage: nocopy config") {
			t.Errorf("%d %s%s", code, out, errs)
		}
	}
	t.Chdir(t.TempDir())
	if out, errs, code := nocopy(t, "", "config"); code != 0 || !strings.Contains(errs, "there is no nocopy.yaml here or above") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// TestProjectMistakes: a mistake in the file is reported with its place, and its command is not
// run.
func TestProjectMistakes(t *testing.T) {
	newProject(t, map[string]string{"idl/shop.thrift": projectShop})
	deep := "idl: " + strings.Repeat("[", 200) + strings.Repeat("]", 200)
	// Each level has the one before ten times.
	bomb := func(begin, level, end string) string {
		text := begin
		for i := range 12 {
			name, times := string(rune('b'+i)), strings.TrimSuffix(strings.Repeat("*"+string(rune('a'+i))+", ", 10), ", ")
			text += strings.NewReplacer("NAME", name, "TIMES", times).Replace(level)
		}
		return text + end
	}
	merged := bomb("targets:\n  a: &a {address: x}\n", "  NAME: &NAME {<<: [TIMES]}\n", "")
	inArgs := bomb("targets:\n  t:\n    address: a:1\n    calls:\n      c:\n        method: m\n        args:\n          a: &a [x]\n", "          NAME: &NAME [TIMES]\n", "")
	inLint := bomb("lint:\n  checks:\n    namespace:\n      patterns:\n        a: &a [x]\n", "        NAME: &NAME [TIMES]\n", "")
	for _, c := range []struct{ text, want string }{
		{"target: {}", `nocopy.yaml:1:1: unknown key "target" in the file, did you mean targets?`},
		{"targets:\n  shop: {adress: a:1}", `nocopy.yaml:2:10: unknown key "adress" in target shop, did you mean address?`},
		{"targets:\n  shop: {address: a:1, timeuot: 1s}", `nocopy.yaml:2:24: unknown key "timeuot" in target shop, did you mean timeout?`},
		{"targets:\n  shop: {address: a:1, timeout: soon}", `nocopy.yaml:2:33: timeout: `},
		{"targets:\n  shop: {address: a:1, tls: maybe}", `nocopy.yaml:2:29: tls: bool value must be`},
		{"targets:\n  shop: {address: a:1, transport: pigeon}", `nocopy.yaml:2:35: transport is auto, framed, unframed, theader, http, not "pigeon"`},
		{"targets:\n  shop: {address: a:1, max-depth: deep}", `nocopy.yaml:2:35: max-depth: `},
		{"targets:\n  shop: {}", `nocopy.yaml:2:3: target shop has no address`},
		{"targets:\n  shop:\n    address:", `nocopy.yaml:3:13: address has no value`},
		{"targets:\n  a b: {address: x}", `nocopy.yaml:2:3: the name of a target has letters`},
		{"targets:\n  shop: {address: a:1, password: hunter2}", `nocopy.yaml:2:34: a password in the file can be read by all who have the file: write a variable, such as ${NOCOPY_PASSWORD}`},
		{"targets:\n  shop: {address: a:1, headers: {Authorization: Bearer abc}}", `nocopy.yaml:2:49: Authorization: this header's value is a secret, perhaps, which all who have the file could read: write a variable, such as ${NOCOPY_TOKEN}`},
		{"targets:\n  shop: {address: \"http://u:hunter2@a:1/\"}", `nocopy.yaml:2:19: address: a password in the file can be read by all`},
		{"targets:\n  shop: {address: a:1, headers: {k: \"${AWS_SECRET_ACCESS_KEY}\"}}", `nocopy.yaml:2:37: k: the file may name variables that begin with NOCOPY_, not ${AWS_SECRET_ACCESS_KEY}`},
		{"targets:\n  shop: {address: \"u:hunter2@a:1/\"}", `nocopy.yaml:2:19: address: a password in the file can be read by all`},
		{"targets:\n  shop: {address: \"a:1/x, tls\"}", `nocopy.yaml:2:19: address: "a:1/x, tls" has a space`},
		{"targets:\n  shop: {address: \"${HOME}:1\"}", `nocopy.yaml:2:19: address: the file may name variables that begin with NOCOPY_`},
		{"targets:\n  shop: {address: a:1, headers: {\"a:b\": c}}", `nocopy.yaml:2:34: "a:b" is no name of a header`},
		{"targets:\n  shop: {address: a:1, headers: {k: \"${NOCOPY_X\"}}", `nocopy.yaml:2:37: k: ${ is not closed by }`},
		{"targets:\n  shop: {address: a:1, calls: {x: {}}}", `nocopy.yaml:2:32: call x has no method`},
		{"targets:\n  shop: {address: a:1, calls: {x: {method: m, args: [1]}}}", `nocopy.yaml:2:53: the arguments of call x are no JSON object`},
		{"targets:\n  shop: {address: a:1, environments: {p: {environments: {}}}}", `nocopy.yaml:2:43: unknown key "environments" in target shop@p`},
		{"lint: {checks: {enabeld: [x]}}", `nocopy.yaml:1:17: unknown key "enabeld" in lint.checks, did you mean enabled?`},
		{"lint: {checks: {enum: {size: {warning: many}}}}", `nocopy.yaml:1:40: lint.checks.enum.size.warning is a number, not "many"`},
		{"lint: {checks: {enabled: [no.such]}}", `nocopy.yaml:1:1: lint: there is no rule "no.such"`},
		{"lint: {checks: {namespace: {patterns: {py: \"(\"}}}}", `nocopy.yaml:1:39: error parsing regexp`},
		{"gen: {out: gen, feilds: true}", `nocopy.yaml:1:17: unknown key "feilds" in gen, did you mean fields?`},
		{"gen: {fields: 7}", `nocopy.yaml:1:15: fields: "7" is no value for it`},
		{"gen: {out: ../other}", `nocopy.yaml:1:12: out: "../other" is outside of the file's folder`},
		{"gen: {out: /tmp/other}", `nocopy.yaml:1:12: out: "/tmp/other" is outside of the file's folder`},
		{"gen: {out: away/x}", `nocopy.yaml:1:12: out: "away/x" is outside of the file's folder`},
		{"gen: {out: nowhere}", `nocopy.yaml:1:12: out: "nowhere" is outside of the file's folder`},
		{"idl: [../../etc]", `nocopy.yaml:1:7: idl: "../../etc" is outside of the file's folder`},
		{"targets:\n  shop: {address: a:1, cert: /home/u/c.pem}", `nocopy.yaml:2:30: cert: "/home/u/c.pem" is outside`},
		{"audit: {baseline: --output=x}", `nocopy.yaml:1:19: "--output=x" is neither a revision of git nor a path`},
		{"idl: {a: b}", `nocopy.yaml:1:6: idl is one value, not keys and values`},
		{"idl: a\nidl: b", `nocopy.yaml:2:1: key "idl" is there twice`},
		{"- a", `nocopy.yaml:1:1: the file has keys and values, not a list`},
		{"idl: [a", `nocopy.yaml:2:1: did not find expected`},
		{"idl: a: b", `nocopy.yaml:1:7: `},
		{"idl: a\n---\nidl: b", `nocopy.yaml:`},
		{"idl: \xff", `nocopy.yaml:1:6: the file is not in UTF-8`},
		{"\xff\xfei\x00d\x00", `nocopy.yaml:1:1: the file is not in UTF-8`},
		{"idl: a\x1b[31m", `nocopy.yaml:1:7: the file has the control character U+001B`},
		{"idl: \"\\e[31m\"", `nocopy.yaml:1:6: idl has a control character`},
		{deep, `nocopy.yaml:1:`},
		{merged, `nocopy.yaml:3:31: the file has more than 100000 values, with those that aliases (*) repeat`},
		{inArgs, `nocopy.yaml:8:18: the file has more than 100000 values, with those that aliases (*) repeat`},
		{inLint, `nocopy.yaml:5:9: `},
		{"targets: &a\n  shop: *a", `nocopy.yaml:2:`},
		{"idl: &a [*a]", `nocopy.yaml:1:`},
		{"targets: &a {<<: *a}", `nocopy.yaml:1:`},
		{"lint: {checks: {namespace: {patterns: &a {py: *a}}}}", `nocopy.yaml:1:`},
		{"idl: " + strings.Repeat("x", 2<<20), `nocopy.yaml is larger than 1048576 bytes`},
	} {
		if err := os.WriteFile("nocopy.yaml", []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		os.Remove("away")
		os.Remove("nowhere")
		if err := os.Symlink(t.TempDir(), "away"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/nonexistent/x", "nowhere"); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"call", "shop", "f"}, {"gen"}, {"lint"}, {"config"}, {"config", "bench", "shop", "f"}} {
			out, errs, code := nocopy(t, "", args...)
			if code != 2 || out != "" || !strings.HasPrefix(errs, "nocopy: "+c.want) || len(errs) > 5000 || strings.ContainsAny(errs, "\x1b") {
				t.Errorf("%.60q, nocopy %v: %d %.100s%.300s; want %s", c.text, args, code, out, errs, c.want)
			}
		}
	}
}

// TestProjectFiles: only a regular file that is the user's, or of the folder, is read.
func TestProjectFiles(t *testing.T) {
	dir := newProject(t, map[string]string{"real.yaml": "idl: x.thrift", "x.thrift": projectShop, "sub/x": ""})
	secret := write(t, "secret", "idl: passwd")
	for _, c := range []struct {
		make func() error
		want string
	}{
		{func() error { return os.Mkdir("nocopy.yaml", 0o777) }, "nocopy: nocopy.yaml is a folder: the project file is a file"},
		{func() error { return os.Symlink("nocopy.yaml", "nocopy.yaml") }, "nocopy: nocopy.yaml can't be read: too many levels of symbolic links"},
		{func() error { return os.Symlink(secret, "nocopy.yaml") }, "nocopy: nocopy.yaml can't be read: it is a symbolic link that leaves its folder"},
		{func() error { return os.Symlink("gone", "nocopy.yaml") }, "nocopy: nocopy.yaml can't be read: no such file"},
		{func() error { return exec.Command("mkfifo", "nocopy.yaml").Run() }, "nocopy: nocopy.yaml is no regular file"},
		{func() error { return os.Symlink("/dev/zero", "nocopy.yaml") }, "nocopy: nocopy.yaml can't be read: it is a symbolic link that leaves its folder"},
	} {
		os.RemoveAll("nocopy.yaml")
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := nocopy(t, "", "check"); code != 2 || !strings.HasPrefix(errs, c.want) || strings.Contains(errs, "passwd") {
			t.Errorf("%d %s%s; want %s", code, out, errs, c.want)
		}
	}
	os.RemoveAll("nocopy.yaml")
	if err := os.Symlink("real.yaml", "nocopy.yaml"); err != nil {
		t.Fatal(err)
	}
	want(t, 0, "", "", "check")
	// A file that another user has put into a folder above, such as /tmp, is refused.
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, files of other users were not tested: only root can make them")
	}
	if err := os.Chown("real.yaml", 4711, 4711); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown("nocopy.yaml", 4711, 4711); err != nil {
		t.Fatal(err)
	}
	t.Chdir("sub")
	if out, errs, code := nocopy(t, "", "check"); code != 2 || !strings.Contains(errs, "nocopy.yaml belongs to another user (number 4711)") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if err := os.Chown(filepath.Join(dir, "sub"), 4711, 4711); err != nil {
		t.Fatal(err)
	}
	want(t, 0, "", "", "check")
}

// TestProjectSecrets: a variable of the user goes to another machine only if the user has allowed
// it for this address.
func TestProjectSecrets(t *testing.T) {
	file := `targets:
  shop:
    address: shop.invalid:9090
    transport: framed
    protocol: binary
    tls: true
    headers: {authorization: "Bearer ${NOCOPY_TEST_TOKEN}"}
  login: {address: "login.invalid:1", sasl: PLAIN, user: u, transport: framed, protocol: binary}
  path: {address: "http://path.invalid/${NOCOPY_TEST_TOKEN}"}
  open: {address: "open.invalid:1", transport: framed, protocol: binary}
  chosen: {address: "${NOCOPY_TEST_ADDRESS}", transport: framed, protocol: binary}
`
	dir := newProject(t, map[string]string{"shop.thrift": projectShop, "nocopy.yaml": "idl: shop.thrift\n" + file})
	t.Setenv("NOCOPY_TEST_TOKEN", "s3cret")
	t.Setenv("NOCOPY_TEST_ADDRESS", "chosen.invalid:1")
	t.Setenv("NOCOPY_PASSWORD", "hunter2")
	refused := regexp.MustCompile(`^nocopy: nocopy.yaml:\d+:\d+: this would send the variable (NOCOPY_\w+) to (\S+.*): if that is right, allow it with nocopy config -allow (\w+)\n$`)
	ask := func(target string) []string {
		t.Helper()
		out, errs, code := nocopy(t, "", "call", target, "getOrder", "id=7")
		m := refused.FindStringSubmatch(errs)
		if strings.Contains(out+errs, "s3cret") || strings.Contains(errs, "hunter2") || (m != nil) != (code == 2) {
			t.Errorf("%s: %d %s%s", target, code, out, errs)
		}
		return m
	}
	for target, want := range map[string][]string{
		"shop": {"NOCOPY_TEST_TOKEN", "shop.invalid:9090, tls"}, "login": {"NOCOPY_PASSWORD", "login.invalid:1"}, "path": {"NOCOPY_TEST_TOKEN", "http://path.invalid/${NOCOPY_TEST_TOKEN}"},
		"open": nil, "chosen": nil,
	} {
		if m := ask(target); want == nil && m != nil || want != nil && (m == nil || !slices.Equal(m[1:], append(want, target))) {
			t.Errorf("%s: %q, want %q", target, m, want)
		}
	}
	want(t, 0, "allowed: $NOCOPY_TEST_TOKEN to shop.invalid:9090, tls", "", "config", "-allow", "shop")
	if ask("shop") != nil {
		t.Error("what was allowed is asked for")
	}
	if ask("login") == nil {
		t.Error("another target is allowed, too")
	}
	// The file changes, as by git pull.
	for _, change := range [][2]string{{"tls: true", "tls: false"}, {"shop.invalid:9090", "evil.invalid:9090"}, {"tls: true", "tls: true\n    insecure: true"}} {
		if err := os.WriteFile(filepath.Join(dir, "nocopy.yaml"), []byte(strings.Replace(file, change[0], change[1], 1)+"idl: shop.thrift\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if ask("shop") == nil {
			t.Errorf("%s instead of %s is allowed, too", change[1], change[0])
		}
	}
	if out, errs, code := nocopy(t, "", "config", "-allow"); code != 0 || strings.Count(out, "allowed: ") != 3 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if out, errs, code := nocopy(t, "", "config", "-allow", "none"); code != 2 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	os.Unsetenv("NOCOPY_TEST_TOKEN")
	if _, errs, code := nocopy(t, "", "call", "shop", "getOrder"); code != 2 || !strings.HasPrefix(errs, "nocopy: nocopy.yaml:8:") || !strings.Contains(errs, "the variable NOCOPY_TEST_TOKEN is not set") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestProjectAudit: the baseline is a revision of git or a folder.
func TestProjectAudit(t *testing.T) {
	newProject(t, map[string]string{"idl/shop.thrift": projectShop, "more/x.thrift": "struct X {}", "nocopy.yaml": "idl: [idl]\naudit: {baseline: main}\n", "a/b": ""})
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "-m", "x"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.WriteFile("idl/shop.thrift", []byte(strings.Replace(projectShop, "getOrder", "get", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, dir string }{
		{"idl: [idl]\naudit: {baseline: main}\n", "."}, {"idl: [idl]\naudit: {baseline: main}\n", "a"},
		{"idl: [idl, more]\naudit: {baseline: main}\n", "."}, {"idl: [idl, more]\naudit: {baseline: main}\n", "a"},
	} {
		if err := os.WriteFile("nocopy.yaml", []byte(c.file), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Run(c.dir, func(t *testing.T) {
			t.Chdir(c.dir)
			if out, errs, code := nocopy(t, "", "audit"); code != 100 || !strings.Contains(out, "method getOrder of service Shop removed") {
				t.Errorf("%s in %s: %d %s%s", c.file, c.dir, code, out, errs)
			}
			if _, errs, code := nocopy(t, "", "audit", "HEAD"); code != 2 || !strings.Contains(errs, "NEW is missing: \"HEAD\" is OLD") {
				t.Errorf("%d %s", code, errs)
			}
		})
	}
}
