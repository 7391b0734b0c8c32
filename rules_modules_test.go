package nocopythrift_test

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestNoForeignTests: tests beside the code of packages that programs import need only modules
// that the package needs itself: "go mod tidy" downloads for a program what these tests import.
func TestNoForeignTests(t *testing.T) {
	apart := regexp.MustCompile(`^(bench|cmd|examples|interop|kitex|parquetmeta)/|/(tests|bench|internal/wild)/|^gen/internal/|^[^/]*$`)
	needs, tests := map[string]string{}, map[string][]string{} // by folder
	sources(t, ".", func(name string, src []byte) {
		dir := path.Dir(name)
		switch {
		case apart.MatchString(name):
		case strings.HasSuffix(name, "_test.go"):
			tests[dir] = append(tests[dir], imports(src)...)
		default:
			needs[dir] += strings.Join(imports(src), " ") + " "
		}
	})
	for dir, imported := range tests {
		for _, i := range imported {
			host, _, _ := strings.Cut(i, "/")
			of := strings.Join(strings.Split(i+"//", "/")[:3], "/") // the module, without its version
			if strings.Contains(host, ".") && of != module && !strings.Contains(needs[dir], of) {
				t.Errorf("tests in %s import %s: move them to a module of tests", dir, i)
			}
		}
	}
}

// TestRequirements: the module that every user inherits is required at a tag, and at the same one
// everywhere in the repository.
func TestRequirements(t *testing.T) {
	modules, err := exec.Command("git", "ls-files", "*go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	tagged := regexp.MustCompile(`^v\d+\.\d+\.\d+$`)
	versions := map[string][]string{} // version → go.mod files
	for _, file := range strings.Fields(string(modules)) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, after, ok := strings.Cut(string(text), "github.com/go-json-experiment/json "); ok {
			v := strings.Fields(after)[0]
			versions[v] = append(versions[v], file)
			if !tagged.MatchString(v) {
				t.Errorf("%s requires %s, which is not a tag", file, v)
			}
		}
	}
	if len(versions) != 1 {
		t.Errorf("versions and who requires them: %v", versions)
	}
}

// TestModules: CI tests every module, except the guide, lists, extensions of editors, and commands
// for this repository. The corpora of fuzz tests in the root module are modules, which keeps them
// out of its zip file.
func TestModules(t *testing.T) {
	files, err := exec.Command("git", "ls-files", "*go.mod", "*testdata/fuzz/*").Output()
	if err != nil {
		t.Fatal(err)
	}
	var ci []byte
	for _, script := range []string{".ci/run", ".ci/parts"} {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		ci = append(ci, text...)
	}
	for _, file := range strings.Fields(string(files)) {
		dir := path.Dir(file)
		if before, _, corpus := strings.Cut(file, "testdata/fuzz/"); corpus {
			if _, err := os.Stat(before + "testdata/fuzz/go.mod"); err != nil && !strings.Contains(before, "/tests/") {
				t.Errorf("%s is in the zip file of its module: %v", file, err)
			}
			continue
		}
		tested := regexp.MustCompile(`(?m)[ (]` + regexp.QuoteMeta(dir) + `([ ;)]|$)`)
		if dir != "." && dir != "docs" && dir != "editors" && dir != "internal/rehearse" && !tested.Match(ci) {
			t.Errorf("neither .ci/run nor .ci/parts tests the module in %s", dir)
		}
	}
}

// TestIndirect: what a module imports itself is not marked "// indirect", as "go mod tidy" has it.
func TestIndirect(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]map[string]bool{} // module's folder → path → it is indirect
	line := regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) v\S+( // indirect)?$`)
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		paths := map[string]bool{}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			paths[m[1]] = m[2] != ""
		}
		required[path.Dir(file)] = paths
	}
	sources(t, ".", func(name string, src []byte) {
		dir := path.Dir(name)
		for required[dir] == nil && dir != "." {
			dir = path.Dir(dir)
		}
		for _, i := range imports(src) {
			of := i
			for _, known := required[dir][of]; !known && of != "."; _, known = required[dir][of] {
				of = path.Dir(of)
			}
			if required[dir][of] {
				t.Errorf("%s imports %s: run go mod tidy in %s", name, i, dir)
			}
		}
	})
}
