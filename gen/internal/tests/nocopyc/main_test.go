package nocopyc_test

import (
	"bytes"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files writes files into a new directory and changes to it. list alternates names and texts.
func files(t *testing.T, list ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := 0; i < len(list); i += 2 {
		writeFile(t, list[i], list[i+1])
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// command is the file of the command that is tested.
var command string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nocopyc")
	if err != nil {
		log.Fatal(err)
	}
	command = filepath.Join(dir, "nocopyc.exe") // Windows needs the extension
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", command, "github.com/nocopythrift/nocopythrift/gen/nocopyc").CombinedOutput(); err != nil {
		log.Fatalf("%v\n%s", err, out)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func nocopyc(args ...string) (code int, stdout, stderr string) { return reading("", args...) }

// reading runs the command with a standard input.
func reading(stdin string, args ...string) (code int, stdout, stderr string) {
	cmd := exec.Command(command, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return -1, "", err.Error()
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// tree lists the files below a directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(name))
		}
		return nil
	})
	return list
}

func TestUsage(t *testing.T) {
	files(t, "a.thrift", "struct A {}")
	for args, want := range map[string]string{
		"":                   "nocopyc: -o DIR, or -check, is missing; see nocopyc -h\n",
		"a.thrift":           "nocopyc: -o DIR, or -check, is missing; see nocopyc -h\n",
		"-o out":             "nocopyc: no .thrift file is given; see nocopyc -h\n",
		"-check":             "nocopyc: no .thrift file is given; see nocopyc -h\n",
		"a.thrift -o":        "nocopyc: -o needs a value; see nocopyc -h\n",
		"-o out a.thrift -x": "nocopyc: unknown flag -x; see nocopyc -h\n",
	} {
		if code, _, stderr := nocopyc(strings.Fields(args)...); code != 2 || stderr != want {
			t.Errorf("%q: exit code %d, %q, want %q", args, code, stderr, want)
		}
	}
	for arg, want := range map[string]string{
		"-x":   "nocopyc: unknown flag -x; see nocopyc -h\n",
		"-o":   "nocopyc: -o needs a value; see nocopyc -h\n",
		"-r=x": "nocopyc: invalid boolean value \"x\" for -r: parse error; see nocopyc -h\n",
	} {
		if code, _, stderr := nocopyc(arg); code != 2 || stderr != want {
			t.Errorf("%s: exit code %d, %q", arg, code, stderr)
		}
	}
	if code, stdout, stderr := nocopyc("-help"); code != 0 || stderr != "" || !strings.Contains(stdout, "-package-prefix PATH ") {
		t.Errorf("-help: exit code %d, %q%q", code, stdout, stderr)
	}
	if code, stdout, _ := nocopyc("-version"); code != 0 || !strings.HasPrefix(stdout, "nocopyc v") {
		t.Errorf("-version: exit code %d, %q", code, stdout)
	}
}

func TestCheck(t *testing.T) {
	files(t, "good.thrift", "include 'in.thrift'\nstruct A { 1: in.I i }", "in.thrift", "struct I {}",
		"bad.thrift", "struct B { 1: C c }", "rule.thrift", "struct B { 1: i32 a (vt.lt = 'x') }")
	for _, test := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"-check good.thrift", 0, ""},
		{"-check -r -o out good.thrift", 0, ""},
		{"-check good.thrift bad.thrift", 1, "bad.thrift:1:15: unknown type C\n"},
		{"-check rule.thrift", 1, "rule.thrift:1:22: vt.lt: \"x\" is not an integer\n"},
		{"-check no.thrift", 1, "no.thrift:1:1: cannot read no.thrift: no such file or directory\n"},
	} {
		if code, stdout, stderr := nocopyc(strings.Fields(test.args)...); code != test.code || stderr != test.stderr || stdout != "" {
			t.Errorf("%s: exit code %d, %s%s", test.args, code, stdout, stderr)
		}
	}
	if got := tree(t, "."); len(got) != 4 {
		t.Errorf("there are %q", got)
	}
}

func TestErrorsWriteNothing(t *testing.T) {
	files(t, "good.thrift", "struct A {}", "bad.thrift", "struct B { 1: C c }\nstruct D { 1: i32 a = 'x' }", "worse.thrift", "struct")
	code, _, stderr := nocopyc("-o", "out", "good.thrift", "bad.thrift", "worse.thrift")
	want := "bad.thrift:1:15: unknown type C\nbad.thrift:2:23: cannot use the string \"x\" as i32\nworse.thrift:1:7: unexpected end of file, expected a name\n"
	if diff := cmp.Diff(want, stderr); diff != "" || code != 1 {
		t.Errorf("exit code %d (-want +got):\n%s", code, diff)
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("the output directory was made")
	}
}

func TestPackages(t *testing.T) {
	const inner, outer = "namespace go x.inner\nstruct I {}", "include 'inner.thrift'\nnamespace go x.outer\nstruct O { 1: inner.I i }"
	missing := "outer.thrift:1:1: the import path of package x/inner is needed: give -package-prefix\n"
	for name, test := range map[string]struct {
		files  []string
		args   []string
		stderr string
		tree   []string
		has    string // part of the last file
	}{
		"without namespace": {[]string{"My-File.thrift", "struct A {}"}, []string{"My-File.thrift"}, "", []string{"my-file/My-File.go"}, "package my_file\n"},
		"for all languages": {[]string{"a.thrift", "namespace * x.y\nnamespace py z"}, []string{"a.thrift"}, "", []string{"x/y/a.go"}, "package y\n"},
		"prefix": {[]string{"inner.thrift", inner, "outer.thrift", outer}, []string{"-package-prefix", "h.org/m/", "outer.thrift"},
			"outer.thrift:1:1: warning: the code needs x/inner/inner.go, which is not in out: run \"nocopyc -o out -package-prefix h.org/m/ inner.thrift\" too, or give -r\n",
			[]string{"x/outer/outer.go"}, "\"h.org/m/x/inner\"\n"},
		"recursive": {[]string{"inner.thrift", inner, "outer.thrift", outer}, []string{"-r", "-package-prefix", "h.org/m", "outer.thrift"},
			"", []string{"x/inner/inner.go", "x/outer/outer.go"}, "inner.I(impl.Struct(s).Child("},
		"no prefix": {[]string{"inner.thrift", inner, "outer.thrift", outer}, []string{"outer.thrift"}, missing, nil, ""},
		"no prefix, no module": {[]string{"inner.thrift", inner, "outer.thrift", outer}, []string{"-r", "outer.thrift"},
			missing, nil, ""},
		"prefix from go.mod": {[]string{"go.mod", "module h.org/m // mine\n", "inner.thrift", inner, "outer.thrift", outer}, []string{"-r", "outer.thrift"},
			"", []string{"x/inner/inner.go", "x/outer/outer.go"}, "\"h.org/m/out/x/inner\"\n"},
		"include not used": {[]string{"inner.thrift", inner, "outer.thrift", "include 'inner.thrift'\nstruct O {}"}, []string{"outer.thrift"},
			"", []string{"outer/outer.go"}, "package outer\n"},
		"one package": {[]string{"a.thrift", "include 'b.thrift'\nnamespace go p\nstruct A { 1: b.A a, 2: b.E e }", "b.thrift", "namespace go p\nstruct A {} enum E {}"},
			[]string{"a.thrift", "b.thrift"}, "a.thrift:3:8: warning: Apache's compiler refuses the name A, which b.thrift has, too, with the same namespaces\na.thrift:3:8: warning: struct A is A_ in Go: struct A of b.thrift has the name A\n", []string{"p/a.go", "p/b.go"}, "type A nocopy.Struct\n"},
		"one file twice": {[]string{"a.thrift", "struct A {}"}, []string{"a.thrift", "./a.thrift"}, "", []string{"a/a.go"}, "package a\n"},
		"same output": {[]string{"x/a.thrift", "struct A {}", "y/a.thrift", "struct A {}"}, []string{"x/a.thrift", "y/a.thrift"},
			"y/a.thrift:1:1: a/a.go would be generated from x/a.thrift too: give each file a \"namespace go\" of its own, or rename one\n", nil, ""},
		"import cycle": {[]string{"a.thrift", "include 'b.thrift'\nnamespace go p\nstruct A { 1: b.B b }", "b.thrift", "include 'c.thrift'\nnamespace go q\nstruct B { 1: c.C c }",
			"c.thrift", "namespace go p\nstruct C {}"}, []string{"-r", "-package-prefix", "m", "a.thrift"},
			"b.thrift:1:1: Go packages would import each other: p → q → p\n", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			files(t, test.files...)
			code, _, stderr := nocopyc(append([]string{"-o", "out"}, test.args...)...)
			if diff := cmp.Diff(test.stderr, stderr); diff != "" || (code != 0) != (test.stderr != "" && !strings.Contains(test.stderr, "warning")) {
				t.Fatalf("exit code %d (-want +got):\n%s", code, diff)
			}
			if diff := cmp.Diff(test.tree, tree(t, "out")); diff != "" {
				t.Fatalf("files (-want +got):\n%s", diff)
			}
			if len(test.tree) > 0 {
				src, _ := os.ReadFile(filepath.Join("out", test.tree[len(test.tree)-1]))
				if !strings.Contains(string(src), test.has) {
					t.Errorf("%q is missing in:\n%s", test.has, src)
				}
			}
		})
	}
}
