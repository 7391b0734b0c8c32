package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// files writes files into a new folder, and makes it the working directory.
func files(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		os.MkdirAll(filepath.Dir(name), 0o777)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs the command and returns what it prints and its exit code.
func run(t *testing.T, c Command) (string, int) {
	t.Helper()
	var out bytes.Buffer
	if c.Format == "" {
		c.Format = "text"
	}
	err := c.Run(&shell.Shell{Ctx: context.Background(), In: strings.NewReader(""), Out: &out, Err: &out})
	if err != nil && err.Error() != shell.ErrSilent.Error() {
		fmt.Fprintln(&out, err)
	}
	return out.String(), shell.CodeOf(err)
}

func expect(t *testing.T, c Command, want string, code int) {
	t.Helper()
	have, got := run(t, c)
	if want = strings.TrimLeft(want, "\n"); have != want || got != code {
		t.Errorf("exit code %d, want %d\n%s\nwant\n%s", got, code, have, want)
	}
}

const everything = `
include "other.thrift"
include "other.thrift"
include "missing.thrift"
namespace java com.Example

enum color { Red, BLUE = 0 }
struct user {
  i32 a
  -5: byte b = 3000000000
  0: map<color, list<i32>> UserName
  7: required set<other.Thing> things = [color.GREEN]
}
service Users { async void ping() }
`

// TestRules: each rule finds what its documentation says.
func TestRules(t *testing.T) {
	files(t, map[string]string{"A.thrift": everything, "other.thrift": "struct Thing {}"})
	expect(t, Command{Paths: []string{"A.thrift"}, Enable: []string{"all"}}, `
A.thrift:1:1: warning: file "A" is not in lower_snake_case (FILE_LOWER_SNAKE_CASE)
A.thrift:1:1: warning: the file is not formatted (format)
A.thrift:3:1: warning: "other.thrift" is included twice (IMPORT_USED)
A.thrift:4:1: warning: "missing.thrift" is included but not used (IMPORT_USED)
A.thrift:4:1: error: included file "missing.thrift" is not found (include.path)
A.thrift:5:16: warning: namespace "com.Example" is not in lower_snake_case (PACKAGE_LOWER_SNAKE_CASE)
A.thrift:7:6: warning: enum "color" has no comment (COMMENT_ENUM)
A.thrift:7:6: warning: enum "color" is not in PascalCase (ENUM_PASCAL_CASE)
A.thrift:7:14: warning: value "Red" has no comment (COMMENT_ENUM_VALUE)
A.thrift:7:14: warning: value "Red" is not in UPPER_SNAKE_CASE (ENUM_VALUE_UPPER_SNAKE_CASE)
A.thrift:7:14: warning: "Red" of enum "color" has no number, it is 0 (enum.value.implicit)
A.thrift:7:19: warning: value "BLUE" has no comment (COMMENT_ENUM_VALUE)
A.thrift:7:19: warning: "Red" and "BLUE" of enum "color" are both 0 (ENUM_NO_ALLOW_ALIAS)
A.thrift:8:8: warning: struct "user" has no comment (COMMENT_MESSAGE)
A.thrift:8:8: warning: struct "user" is not in PascalCase (MESSAGE_PASCAL_CASE)
A.thrift:9:3: warning: field "a" has no documentation (field.doc.missing)
A.thrift:9:3: error: field "a" has no id (field.id.missing)
A.thrift:9:3: warning: field "a" is not optional (field.optional)
A.thrift:9:3: warning: field "a" is neither required nor optional (field.requiredness)
A.thrift:9:7: warning: field "a" has no comment (COMMENT_FIELD)
A.thrift:10:3: warning: field "b" has no documentation (field.doc.missing)
A.thrift:10:3: error: field "b" has the negative id -5 (field.id.negative)
A.thrift:10:3: warning: field "b" is not optional (field.optional)
A.thrift:10:3: warning: field "b" is neither required nor optional (field.requiredness)
A.thrift:10:7: warning: byte is a former name of i8 (type.byte)
A.thrift:10:12: warning: field "b" has no comment (COMMENT_FIELD)
A.thrift:10:16: error: 3000000000 does not fit in i8 (compile)
A.thrift:10:16: warning: the integer 3000000000 needs 64 bits, which not all languages have (int.64bit)
A.thrift:11:3: warning: field "UserName" has no documentation (field.doc.missing)
A.thrift:11:3: error: field "UserName" has the id 0 (field.id.zero)
A.thrift:11:3: warning: field "UserName" is not optional (field.optional)
A.thrift:11:3: warning: field "UserName" is neither required nor optional (field.requiredness)
A.thrift:11:28: warning: field "UserName" has no comment (COMMENT_FIELD)
A.thrift:11:28: warning: field "UserName" is not in lower_snake_case (FIELD_LOWER_SNAKE_CASE)
A.thrift:12:3: warning: field "things" is required: programs without it can no longer read the struct once it is removed (FIELD_NOT_REQUIRED)
A.thrift:12:3: warning: field "things" has no documentation (field.doc.missing)
A.thrift:12:3: warning: field "things" is not optional (field.optional)
A.thrift:12:15: warning: set value type "other.Thing" fails in some languages: Python can't hash it (set.value.type)
A.thrift:12:32: warning: field "things" has no comment (COMMENT_FIELD)
A.thrift:12:42: error: "color.GREEN" is neither a constant nor a value of an enum (constant.ref)
A.thrift:14:9: warning: service "Users" has no comment (COMMENT_SERVICE)
A.thrift:14:9: warning: service "Users" does not end with Service (SERVICE_SUFFIX)
A.thrift:14:17: warning: method "ping" is async: write oneway (function.async)
A.thrift:14:28: warning: method "ping" has no comment (COMMENT_RPC)
`, shell.Findings)
}

// TestKeys: what is not a base type or an enum as a key or in a set is a warning, unless generated
// code does not compile, or the team has said what it wants.
func TestKeys(t *testing.T) {
	const idl = "struct S {\n  1: map<I, i32> a\n  2: map<L, i32> b\n  3: set<I> c\n  4: map<E, i32> d\n  5: set<binary> e\n}\n" +
		"union I { 1: string a }\nenum E { A = 1 }\ntypedef list<i32> L\n"
	structs := "a.thrift:2:6: warning: map key type \"I\" fails in some languages: Python can't hash it, JavaScript turns it into a text, Go compares addresses (map.key.type)\n"
	sets := "a.thrift:4:6: warning: set value type \"I\" fails in some languages: Python can't hash it (set.value.type)\n"
	files(t, map[string]string{"a.thrift": idl, "c.json": `{"checks": {"map": {"key": {"allowedTypes": ["base", "union"]}}}}`})
	expect(t, Command{Paths: []string{"a.thrift"}}, structs+
		"a.thrift:3:6: error: map key type \"L\": thriftgo writes Go code that does not compile (map.key.type)\n"+sets, shell.Findings)
	expect(t, Command{Paths: []string{"a.thrift"}, Compilers: "apache"}, structs+
		"a.thrift:3:6: warning: map key type \"L\" fails in some languages: Python can't hash it, JavaScript turns it into a text (map.key.type)\n"+sets, shell.Findings)
	expect(t, Command{Paths: []string{"a.thrift"}, Config: "c.json"},
		"a.thrift:3:6: error: map key type \"L\" is not allowed (map.key.type)\n"+sets+
			"a.thrift:5:6: error: map key type \"E\" is not allowed (map.key.type)\n", shell.Findings)
}

// TestNolint: the forms in which rules are switched off, and how far each reaches.
func TestNolint(t *testing.T) {
	field := func(comment, same string) string {
		return "struct S {\n" + comment + "\n  i32 a" + same + "\n  i32 b\n}\n"
	}
	for text, want := range map[string]string{
		field("", ""):                                                                 "3 4",
		field("", " // nolint"):                                                       "4",
		field("", " //nolint:field.id.missing"):                                       "4",
		field("", " # nolint:field, other"):                                           "4 nolint",
		field("", " /* nolint:field.id */"):                                           "4",
		field("", " // nolint:IMPORT_USED"):                                           "3 4",
		field("", " // nolint:all // they are in the database"):                       "4",
		field("", " // nolint:field.id.missing because it must"):                      "4",
		field("", " // nolinter"):                                                     "3 4",
		field("", " // nolint:"):                                                      "3 4 nolint",
		field("", " (nolint = \"field.id\")"):                                         "4",
		field("", " (nolint)"):                                                        "4",
		field("  // nolint:field.id", ""):                                             "4",
		field("  // nolint:field.id\n  // a comment", ""):                             "5",
		field("  /** @nolint(field.id) */", ""):                                       "4",
		field("  /** @nolint */", ""):                                                 "4",
		"// nolint:field.id.missing\n" + field("", ""):                                "",
		"// nolint:field.id.missing\n\nconst i32 C = 1\n" + field("", ""):             "",
		"// nolint:field.id.missing\nconst i32 C = 1\n" + field("", ""):               "5 6",
		"const i32 C = 1 // nolint\n" + field("", ""):                                 "4 5",
		strings.Replace(field("", ""), "{", "{ // nolint:field", 1):                   "",
		strings.TrimSuffix(field("", ""), "\n") + ` (nolint = "x, field.id.missing")`: "nolint",
	} {
		files(t, map[string]string{"a.thrift": text})
		result, err := Lint(Input{Paths: []string{"a.thrift"}})
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, f := range result.Findings {
			if f.Rule != "nolint" {
				have = append(have, fmt.Sprint(f.Pos.Line))
			}
		}
		for _, f := range result.Findings {
			if f.Rule == "nolint" {
				have = append(have, "nolint")
			}
		}
		if strings.Join(have, " ") != want {
			t.Errorf("findings on lines %v, want %s\n%s", have, want, text)
		}
	}
}

// TestFix mends all findings that can be mended. The file then means the same. The other findings
// are printed.
func TestFix(t *testing.T) {
	files(t, map[string]string{"a.thrift": `include "used.thrift"
include "unused.thrift" // no longer
  include "used.thrift"
/* both */ include "unused.thrift"
enum E { A, B = 5, C (x = "y") }
struct S { 1:used.T t  byte b }
service V { async void f(), }`, "used.thrift": "struct T {}", "unused.thrift": ""})
	fix := Command{Paths: []string{"a.thrift"}, Enable: []string{"all"}, Disable: []string{"COMMENT", "SERVICE", "field.doc", "field.optional", "field.requiredness", "PACKAGE"}, Fix: true}
	expect(t, fix, "a.thrift:12:3: error: field \"b\" has no id (field.id.missing)\n", shell.Findings)
	have, _ := os.ReadFile("a.thrift")
	want := `include "used.thrift"

/* both */
enum E {
  A = 0,
  B = 5,
  C = 6 (x = "y")
}

struct S {
  1: used.T t
  i8 b
}

service V {
  oneway void f(),
}
`
	if string(have) != want {
		t.Errorf("the file is\n%s", have)
	}
}

// TestConfig: a file of thriftcheck's has its meaning; one of ours has the default rules.
// TestLargeConfig reads configurations for which the parser of TOML would take gigabytes.
func TestLargeConfig(t *testing.T) {
	for text, want := range map[string]string{
		"a=" + strings.Repeat("{b=", 20_000):         "line 1 has more than 100 braces",
		strings.Repeat("a.", 500_000) + "a=1":        "larger than 65536 bytes",
		"[" + strings.Repeat("a.", 500_000) + "a]\n": "larger than 65536 bytes",
		"a=" + strings.Repeat("[", 1_000_000):        "larger than 65536 bytes",
	} {
		name := filepath.Join(t.TempDir(), ConfigFile)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadConfig(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: %v, want %s", text, err, want)
		}
	}
}

func TestConfig(t *testing.T) {
	if _, err := ReadConfig("/dev/zero"); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("an endless configuration: %v", err)
	}
	texts := map[string]string{
		"idl/a.thrift":  "include \"b.thrift\"\nnamespace py x\nstruct S { 1: i32 template; 2: map<string, U> m; 3: set<E> s }\nunion U {}\nenum E { A, B }\n",
		"inc/b.thrift":  "",
		ThriftcheckFile: "includes = ['inc']\n[checks]\ndisabled = ['field']\n[checks.enum.size]\nwarning = 1\n[checks.names]\nreserved=['template']\n[checks.map.value]\ndisallowedTypes=['union']\n[checks.set]\nallowedTypes=['string']\n[[checks.namespace.patterns]]\npy='^idl\\.'\n[[checks.include.restricted]]\n'idl*'='b'\n[checks.types]\ndisallowedTypes=['union']\n",
	}
	files(t, texts)
	want := `
idl/a.thrift:1:1: error: files like "idl*" must not include "b.thrift" (include.restricted)
idl/a.thrift:2:1: error: the "py" namespace "x" does not match "^idl\\." (namespace.patterns)
idl/a.thrift:3:19: error: the name "template" is reserved (names.reserved)
idl/a.thrift:3:32: error: map value type "U" is not allowed (map.value.type)
idl/a.thrift:3:44: error: type "U" is not allowed (types)
idl/a.thrift:3:53: error: set value type "E" is not allowed (set.value.type)
idl/a.thrift:4:1: error: type "U" is not allowed (types)
idl/a.thrift:5:1: warning: enum "E" has 2 values, more than 1 (enum.size)
`
	expect(t, Command{Paths: []string{"idl"}}, want, shell.Findings)
	expect(t, Command{Paths: []string{"idl"}, Include: []string{"."}, Enable: []string{"include.path"}},
		"idl/a.thrift:1:1: error: included file \"b.thrift\" is not found (include.path)\n", shell.Findings)

	for name, text := range map[string]string{
		"c.json": `{"includes": ["inc"], "checks": {"enabled": ["types"], "types": {"disallowedTypes": ["enum"]}}}`,
		"c.yaml": "includes: [inc]\nchecks:\n  enabled: [types]\n  types:\n    disallowedTypes: [enum]\n",
		"c.toml": "includes=['inc']\n[checks]\nenabled=['types']\n[checks.types]\ndisallowedTypes=['enum']\n",
	} {
		os.WriteFile(name, []byte(text), 0o666)
		expect(t, Command{Paths: []string{"idl"}, Config: name}, "idl/a.thrift:3:57: error: type \"E\" is not allowed (types)\nidl/a.thrift:5:1: error: type \"E\" is not allowed (types)\n", shell.Findings)
	}
	for text, want := range map[string]string{
		"nothing = 1": `unknown field "nothing"`, "[checks]\nenabled=['no']": `there is no rule "no"`, "[": "toml",
		"[checks.set]\nallowedTypes=['float']": `unknown type "float"`, "[[checks.namespace.patterns]]\npy='('": "missing closing",
	} {
		os.WriteFile("bad.toml", []byte(text), 0o666)
		if have, code := run(t, Command{Paths: []string{"idl"}, Config: "bad.toml"}); !strings.Contains(have, want) || code != shell.Usage {
			t.Errorf("%s: %s, exit code %d, want %s", text, have, code, want)
		}
	}
	for _, c := range []Command{{Config: "none.toml", Paths: []string{"idl"}}, {}} {
		if have, code := run(t, c); code != shell.Usage {
			t.Errorf("exit code %d: %s", code, have)
		}
	}
	for _, path := range []string{"none.thrift", "inc/none"} {
		if have, code := run(t, Command{Paths: []string{path}}); code != shell.Failed || !strings.Contains(have, path) {
			t.Errorf("exit code %d: %s", code, have)
		}
	}
}

// TestFormats: the forms for programs, with names that mean something in them.
func TestFormats(t *testing.T) {
	files(t, map[string]string{"a,b:%.thrift": "// ümläut\n/* é */ struct S { i32 a }"})
	paths := []string{"a,b:%.thrift"}
	expect(t, Command{Paths: paths, Format: "github"}, "::error file=a%2Cb%3A%25.thrift,line=2,col=21,title=field.id.missing::field \"a\" has no id\n", shell.Findings)
	out, _ := run(t, Command{Paths: paths, Format: "json"})
	var report jsonReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Errors != 1 || report.Findings[0].Column != 21 {
		t.Errorf("%v: %s", err, out)
	}
	out, _ = run(t, Command{Paths: paths, Format: "sarif"})
	var log sarifLog
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		t.Fatal(err)
	}
	r := log.Runs[0].Results[0]
	at := r.Locations[0].Physical
	if log.Version != "2.1.0" || at.Artifact.URI != "./a,b:%25.thrift" || at.Region != (sarifRegion{2, 20}) ||
		log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
		t.Errorf("%+v", r)
	}
	files(t, map[string]string{"a.thrift": "struct S {}"})
	for _, format := range []string{"json", "sarif"} {
		if out, code := run(t, Command{Paths: []string{"a.thrift"}, Format: format}); code != 0 || strings.Contains(out, "null") {
			t.Errorf("exit code %d: %s", code, out)
		}
	}
}

// TestStdin: standard input is the file that it is called, which includes others.
func TestStdin(t *testing.T) {
	files(t, map[string]string{"idl/b.thrift": "struct T {}"})
	var out bytes.Buffer
	c := Command{Paths: []string{"-"}, StdinFilename: "idl/a.thrift", Format: "text"}
	err := c.Run(&shell.Shell{In: strings.NewReader("include 'b.thrift'\nstruct S { b.T t }"), Out: &out})
	if want := "idl/a.thrift:2:12: error: field \"t\" has no id (field.id.missing)\n"; out.String() != want || shell.CodeOf(err) != shell.Findings {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestHostile: files that are meant to take long do not.
func TestHostile(t *testing.T) {
	const n = 1_000
	repeat := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, strings.ReplaceAll(format, "%d", "%[1]d"), i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"directives": repeat("/* nolint:field.id */ const i32 c%d = 1 "),
		"lines":      repeat("// nolint:x%d\nconst i32 c%d = 1\n"),
		"fields":     "struct S {" + repeat("i32 f%d ") + "}",
		"values":     "enum E {" + repeat("V%d ") + "}" + repeat("const i32 c%d = E.V%d "),
		"typedefs":   "typedef i32 t0 " + repeat("typedef map<t%d, t%d> u%d "),
		"includes":   repeat("include 'a%d' "),
		"nested":     "typedef " + strings.Repeat("list<", 190) + "i32" + strings.Repeat(">", 190) + " t",
	} {
		t.Run(name, func(t *testing.T) {
			files(t, map[string]string{"a.thrift": text})
			for _, format := range Formats {
				run(t, Command{Paths: []string{"a.thrift"}, Enable: []string{"all"}, Format: format, Fix: format == "text" && name == "values"})
			}
		})
	}
	// A file's name is no command for a terminal or GitHub.
	evil := "x\x1b[31m\n::error::y\u009b.thrift"
	files(t, map[string]string{evil: "struct S { i32 a }"})
	for _, format := range Formats {
		out, code := run(t, Command{Paths: []string{evil}, Format: format})
		if code != shell.Findings || strings.ContainsAny(out, "\x1b\u009b") || strings.Contains(out, "\n::error::y") {
			t.Errorf("%s: exit code %d: %q", format, code, out)
		}
	}
	files(t, map[string]string{"a.thrift": "include 'b.thrift'", "b.thrift": "include 'a.thrift'", "c.thrift": "\xff\x00", "d.thrift": ""})
	if out, code := run(t, Command{Paths: []string{"."}}); code != shell.Findings || !strings.Contains(out, "include cycle") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestCompilers: what only Apache's compiler refuses is not found in files that it does not read.
func TestCompilers(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "namespace go a\nservice S { void f() throws (1: Ex e) }\nexception Ex {}\nconst i32 N = 010\nunion U { 1: required i32 a }\n"
	if err := os.WriteFile("a.thrift", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	const apache, thriftgo, both = "a.thrift:2:33: warning: Apache's compiler refuses exception Ex", "a.thrift:4:15: warning: 010 is 10", "a.thrift:5:11: warning: union U"
	for _, c := range []struct {
		config, flag string
		want         []string
	}{
		{"", "", []string{apache, thriftgo, both}},
		{`compilers = ["thriftgo"]`, "", []string{thriftgo, both}},
		{`compilers = ["apache"]`, "", []string{apache, both}},
		{`compilers = []`, "", []string{both}},
		{`compilers = []`, "apache,thriftgo", []string{apache, thriftgo, both}},
		{"", "thriftgo", []string{thriftgo, both}},
	} {
		if err := os.WriteFile(ConfigFile, []byte(c.config), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, notice bytes.Buffer
		err := (&Command{Paths: []string{"a.thrift"}, Format: "text", Compilers: c.flag, Enable: []string{"compile"}}).Run(&shell.Shell{Out: &out, Err: &notice})
		if !strings.Contains(notice.String(), "move it to the section lint of nocopy.yaml") || strings.Count(notice.String(), "\n") != 1 {
			t.Errorf("%+v: the old file is read with the notice %q", c, notice.String())
		}
		if shell.CodeOf(err) != shell.Findings {
			t.Errorf("%+v: %v", c, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i, want := range c.want {
			if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
				t.Errorf("%+v:\n%s", c, out.String())
				break
			}
		}
		if len(lines) != len(c.want) {
			t.Errorf("%+v:\n%s", c, out.String())
		}
	}
	for _, c := range []Command{{Compilers: "kitex"}, {Config: "other.toml"}} {
		if err := os.WriteFile("other.toml", []byte(`compilers = ["javac"]`), 0o666); err != nil {
			t.Fatal(err)
		}
		c.Paths, c.Format = []string{"a.thrift"}, "text"
		if err := c.Run(&shell.Shell{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}); shell.CodeOf(err) != shell.Usage || !strings.Contains(err.Error(), "unknown compiler") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
