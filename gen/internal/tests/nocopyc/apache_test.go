package nocopyc_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/gocheck"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// rejected has the files of Apache's repository that its own compiler (0.25) does not accept, with
// their errors.
var rejected = map[string]string{
	"test/BrokenConstants.thrift": "does not fit in",
}

// TestApache generates code from every .thrift file in test/ and tutorial/ of the Apache Thrift
// module, and vets it, which type-checks it. Each file and its includes have a separate directory,
// since many have the same namespace.
func TestApache(t *testing.T) {
	apache := goCommand(t, ".", "list", "-m", "-f", "{{.Dir}}", "github.com/apache/thrift")
	dir := newModule(t, "apache")
	n := 0
	for _, file := range thriftFiles(t, apache, "test", "tutorial") {
		n++
		out := fmt.Sprintf("t%d", n)
		code, _, stderr := nocopyc("-r", "-o", filepath.Join(dir, out), "-package-prefix", "apache/"+out,
			"-I", filepath.Join(apache, "test"), filepath.Join(apache, file))
		if why := rejected[file]; why != "" {
			if code != 1 || !strings.Contains(stderr, why) {
				t.Errorf("%s: exit code %d, %s", file, code, stderr)
			}
			continue
		}
		if code != 0 {
			t.Errorf("%s:\n%s", file, stderr)
		}
	}
	if n < 90 {
		t.Errorf("only %d files were found", n)
	}
	// Names that collide with each other, with Go's words and with packages.
	odd, err := filepath.Glob("testdata/names/*.thrift")
	if err != nil || len(odd) == 0 {
		t.Fatal(odd, err)
	}
	if code, _, stderr := nocopyc(append([]string{"-o", filepath.Join(dir, "names")}, odd...)...); code != 0 {
		t.Errorf("%q:\n%s", odd, stderr)
	}
	if !testmode.Long {
		typeCheck(t, dir, "apache")
		return
	}
	// The runtime needs only the standard library: nothing is downloaded.
	goCommand(t, dir, "vet", "-mod=mod", "./...")
}

// typeCheck reports errors in the Go files below dir, whose import path is module.
func typeCheck(t *testing.T, dir, module string) {
	t.Helper()
	c, err := gocheck.New()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range tree(t, dir) {
		if strings.HasSuffix(name, ".go") {
			if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(files) == 0 {
		t.Fatalf("no Go files in %s", dir)
	}
	if err := c.Check(module, files); err != nil {
		t.Error(err)
	}
}

// newModule makes a module that uses this checkout, and returns its directory.
func newModule(t *testing.T, name string) string {
	t.Helper()
	root := goCommand(t, ".", "list", "-m", "-f", "{{.Dir}}", "github.com/nocopythrift/nocopythrift")
	dir := t.TempDir()
	gomod := fmt.Sprintf("module %s\n\ngo 1.26\n\nrequire github.com/nocopythrift/nocopythrift v0.0.0\n\nreplace github.com/nocopythrift/nocopythrift => %q\n", name, root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(gomod), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// thriftFiles lists the .thrift files in folders of a directory.
func thriftFiles(t *testing.T, dir string, folders ...string) []string {
	t.Helper()
	var list []string
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(dir), folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".thrift") {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// goCommand runs the go command without a network and returns its output. It keeps GOFLAGS: with
// others than this test's the standard library would be compiled again.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
