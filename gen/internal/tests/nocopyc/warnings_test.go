package nocopyc_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWarnings: names that get underscores, and what has no plain value.
func TestWarnings(t *testing.T) {
	files(t, "go.mod", "module h.org/m\n", "b.thrift", "namespace go p\nstruct User {}\nenum Kind { A }\n", "a.thrift", `include "b.thrift"
namespace go p
namespace py other
union U { 1: i32 a, 2: string b }
struct Line { 1: i32 n }
struct user {
  1: i64 user_id
  2: i64 userID
  3: i64 UserID
  4: U choice
  5: set<Line> lines
  6: list<Line> fine
  7: map<string, string> x
  8: i32 x_map
  9: i32 parse
}
struct Foo {}
struct NewFoo {}
struct Foo_ {}
const i32 Kind_A = 1
service S { i32 get_x(1: U u), i32 getX(), void readByte() }
service T extends S { i32 GetX() }
`)
	const clashes = `a.thrift:6:8: warning: struct user is User_ in Go: struct User of b.thrift has the name User
a.thrift:8:3: warning: field userID of struct user is UserID_ in Go: field user_id has the name UserID
a.thrift:9:3: warning: field UserID of struct user is UserID__ in Go: field user_id has the name UserID
a.thrift:13:3: warning: SetXMap of field x of struct user is SetXMap_ in Go: a method of another field has the name SetXMap
a.thrift:19:8: warning: NewFoo_ of struct Foo_ is NewFoo__ in Go: struct NewFoo has the name NewFoo_
a.thrift:20:11: warning: constant Kind_A is Kind_A_ in Go: value Kind.A of b.thrift has the name Kind_A
a.thrift:21:36: warning: method getX of service S is GetX_ in Go: method get_x has the name GetX
a.thrift:21:49: warning: method readByte of service S is ReadByte_ in Go: a method of the standard library with other arguments has the name ReadByte
a.thrift:22:27: warning: method GetX of service T is GetX__ in Go: method get_x of service S has the name GetX
`
	const left = `a.thrift:4:7: warning: -fields: union U has no plain Go struct
a.thrift:6:8: warning: -fields: User_Fields does not have choice, lines, whose types have no plain value
a.thrift:15:3: warning: field parse of struct user is Parse_ in Go: a method of User_Fields has the name Parse
a.thrift:21:17: warning: -fields: SGetXArgsFields does not have u, whose type has no plain value
`
	sorted := func(text string) string {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	for _, args := range []string{"-check", "-r -o out", "-check -r"} {
		code, _, stderr := nocopyc(append(strings.Fields(args), "a.thrift")...)
		if diff := cmp.Diff(sorted(clashes), sorted(withoutNeeds(stderr))); diff != "" || code != 0 {
			t.Errorf("%s: exit code %d (-want +got):\n%s", args, code, diff)
		}
	}
	code, _, stderr := nocopyc("-fields", "-r", "-o", "out", "a.thrift")
	if diff := cmp.Diff(sorted(clashes+left), sorted(stderr)); diff != "" || code != 0 {
		t.Errorf("exit code %d (-want +got):\n%s", code, diff)
	}
	source, err := os.ReadFile("out/p/fields-a.go")
	if err != nil {
		t.Fatal(err)
	}
	const comment = "// User_Fields holds the fields of User_ as plain values. It does not have choice, lines, whose\n" +
		"// types have no plain value: use the setters of User_.\ntype User_Fields struct {"
	if !strings.Contains(string(source), comment) {
		t.Errorf("the comment is missing in\n%s", source)
	}
}

// withoutNeeds returns messages without those about files of other runs.
func withoutNeeds(stderr string) string {
	var kept []string
	for line := range strings.Lines(stderr) {
		if !strings.Contains(line, "the code needs") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestOptionalFiles: files of an earlier run with more options are told: they may not compile.
func TestOptionalFiles(t *testing.T) {
	files(t, "go.mod", "module h.org/m\n", "a.thrift", "struct A { 1: i32 a }\nservice S { void f() }", "out/b/fields-b.go", "package b\n", "b.thrift", "namespace go b\n")
	if code, _, stderr := nocopyc("-fields", "-reflect", "-o", "out", "a.thrift"); code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for args, want := range map[string]string{
		"-fields -reflect": "",
		"-reflect":         "out/a/fields-a.go: warning: an earlier run has generated this file, with -fields; it may not fit the new code: give -fields, or remove the file\n",
		"-fields":          "out/a/reflect-a.go: warning: an earlier run has generated this file, with -reflect; it may not fit the new code: give -reflect, or remove the file\n",
	} {
		if code, _, stderr := nocopyc(append(strings.Fields(args), "-o", "out", "a.thrift", "b.thrift")...); code != 0 || stderr != want {
			t.Errorf("%s: exit code %d, %s", args, code, stderr)
		}
	}
}

// TestCompilers: there are only warnings about compilers that read the files.
func TestCompilers(t *testing.T) {
	files(t, "a.thrift", "service S { void f() throws (1: Ex e) }\nexception Ex {}\nconst i32 N = 010\n")
	const apache, thriftgo = "a.thrift:1:33: warning: Apache's compiler refuses exception Ex here: it is defined further down, at 2:11\n",
		"a.thrift:3:15: warning: 010 is 10, as for Apache's compiler; thriftgo takes it for an octal number\n"
	for list, want := range map[string]string{"apache,thriftgo": apache + thriftgo, "apache": apache, "thriftgo": thriftgo, "": ""} {
		if code, _, stderr := nocopyc("-check", "-compilers", list, "a.thrift"); code != 0 || stderr != want {
			t.Errorf("%s: exit code %d, %s", list, code, stderr)
		}
	}
	if code, _, stderr := nocopyc("-check", "-compilers", "kitex", "a.thrift"); code != 2 || !strings.Contains(stderr, `unknown compiler "kitex"`) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
