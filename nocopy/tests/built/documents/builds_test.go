package documents_test

import (
	"bufio"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// buildsPage returns docs/builds.md, and a scratch module with the files that the page shows and
// the tool that it installs.
func buildsPage(t *testing.T) (page string, s scratch) {
	t.Helper()
	for _, tool := range []string{"git", "make", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	text, err := os.ReadFile("docs/builds.md")
	if err != nil {
		t.Fatal(err)
	}
	s = newScratch(t)
	for _, block := range named.FindAllStringSubmatch(string(text), -1) {
		s.file(block[1], block[2])
	}
	s.must("go", "mod", "edit", "-tool="+module+"/gen/nocopyc")
	return string(text), s
}

func (s scratch) file(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s scratch) must(name string, args ...string) string {
	s.t.Helper()
	out, err := s.run(name, args...)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// change replaces text in a file.
func (s scratch) change(name, from, to string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil || !strings.Contains(string(b), from) {
		s.t.Fatalf("%s has no %q (%v)", name, from, err)
	}
	s.file(name, strings.Replace(string(b), from, to, 1))
}

// TestBuilds: the steps of docs/builds.md work. Its script finds all generated code that is not
// fresh, and make generates if something is newer. make rehearse also follows the page with a
// download of the generator.
func TestBuilds(t *testing.T) {
	page, s := buildsPage(t)
	commands := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	for _, block := range commands {
		// The scratch module is made already, and takes the library from this checkout.
		if script := block[1]; !strings.Contains(script, "go mod init") {
			s.must("sh", "-euc", script)
		}
	}
	if len(commands) < 4 {
		t.Fatalf("%d blocks of commands", len(commands))
	}
	for line := range strings.Lines(page) {
		if c, ok := strings.CutPrefix(line, "    go tool nocopyc "); ok && !strings.Contains(c, "$") {
			s.must("sh", "-euc", "go tool nocopyc "+c)
		}
	}

	const script = "ci/generated.sh"
	stale := func(what, shown string) {
		t.Helper()
		if out, err := s.run("sh", script); err == nil || !strings.Contains(out, shown) {
			t.Errorf("%s: %v, and it shows\n%s", what, err, out)
		}
		s.must("git", "add", "-A")
		s.must("sh", script)
	}
	s.change("idl/order.thrift", "2: money.Amount total", "2: money.Amount total\n  3: string note")
	stale("a new field", "+func (s Order) GetNote()")
	s.file("gen/money/old.go", "package money\n")
	s.must("git", "add", "-A")
	stale("code whose IDL is gone", "-package money")
	s.file("idl/user.thrift", "namespace go user\nstruct User { 1: i64 id }\n")
	s.change("generate.go", "idl/order.thrift", "idl/order.thrift idl/user.thrift")
	stale("new code", "not committed: gen/user/user.go")

	s.must("make")
	if out := s.must("make"); strings.Contains(out, "go generate") {
		t.Errorf("make generates though nothing has changed: %s", out)
	}
	for _, name := range []string{"idl/money.thrift", "generate.go", "go.mod"} {
		if out := s.must("make", "--dry-run", "--assume-new="+name); !strings.Contains(out, "go generate") {
			t.Errorf("make does not generate if %s is newer: %s", name, out)
		}
	}
}

// TestBazel: the genrule's command writes its outputs, and each library's deps are what its
// package imports.
func TestBazel(t *testing.T) {
	_, s := buildsPage(t)
	b, err := os.ReadFile(filepath.Join(s.dir, "BUILD.bazel"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := regexp.MustCompile(`(?s)cmd = (.*?),\n`).FindSubmatch(b)
	if cmd == nil {
		t.Fatal("no cmd")
	}
	const external = "@com_github_nocopythrift_nocopythrift//"
	run := strings.NewReplacer("\" +\n", "", "$(execpath "+external+"gen/nocopyc)", s.nocopyc,
		"$(RULEDIR)", "bazel-out", "$(execpath idl/order.thrift)", "idl/order.thrift").Replace(string(cmd[1]))
	run = strings.ReplaceAll(run, `"`, "")
	if err := os.Remove(filepath.Join(s.dir, "go.mod")); err != nil { // Bazel's sandbox has none
		t.Fatal(err)
	}
	s.must("sh", "-euc", run)
	outs := regexp.MustCompile(`(?m)^        "(gen/.*)",$`).FindAllSubmatch(b, -1)
	libraries := regexp.MustCompile(`(?s)go_library\(\n    name = "(\w+)",\n    srcs = \["(.*?)"\],\n    importpath = "(.*?)",.*?deps = \[\n(.*?)\n    \],`).FindAllSubmatch(b, -1)
	if len(outs) != 2 || len(libraries) != len(outs) {
		t.Fatalf("%d outputs and %d libraries", len(outs), len(libraries))
	}
	for _, l := range libraries {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(s.dir, "bazel-out", string(l[2])), nil, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		var want, have []string
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if ours, ok := strings.CutPrefix(path, module+"/"); ok {
				want = append(want, external+ours)
			} else if other, ok := strings.CutPrefix(path, "example.com/shop/gen/"); ok {
				want = append(want, ":"+other)
			}
		}
		for lines := bufio.NewScanner(strings.NewReader(string(l[4]))); lines.Scan(); {
			have = append(have, strings.Trim(lines.Text(), `", `))
		}
		slices.Sort(want)
		if slices.Sort(have); !slices.Equal(have, want) {
			t.Errorf("%s: deps %v, imports %v", l[1], have, want)
		}
		if string(l[3]) != "example.com/shop/"+filepath.ToSlash(filepath.Dir(string(l[2]))) {
			t.Errorf("%s: importpath %s", l[1], l[3])
		}
	}
}
