package golang_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/golang"
)

// libraries finds the packages that generated code imports in the go command's cache.
var libraries = sync.OnceValues(func() (map[string]string, error) {
	const lib = "github.com/nocopythrift/nocopythrift/nocopy"
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", lib, lib+"/rpc").Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[name] = file
	}
	return files, nil
})

// A judge decides whether generated files are good Go: it type-checks their packages.
type judge struct {
	fset     *token.FileSet
	imported types.Importer
	files    map[string][]*ast.File    // of generated packages, by import path
	packages map[string]*types.Package // those that were checked
}

// newJudge returns a judge of code generated with the package prefix "m".
func newJudge() (*judge, error) {
	files, err := libraries()
	if err != nil {
		return nil, err
	}
	j := &judge{files: map[string][]*ast.File{}, packages: map[string]*types.Package{}}
	j.imported = importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		if files[name] == "" {
			return nil, fmt.Errorf("%s is not imported by generated code", name)
		}
		return os.Open(files[name])
	})
	return j, nil
}

// Import implements types.Importer.
func (j *judge) Import(name string) (*types.Package, error) {
	if !strings.HasPrefix(name, "m/") {
		return j.imported.Import(name)
	}
	if pkg, ok := j.packages[name]; ok {
		return pkg, nil
	}
	config := types.Config{Importer: j}
	pkg, err := config.Check(name, j.fset, j.files[name], nil)
	j.packages[name] = pkg
	return pkg, err
}

// check returns what is wrong with generated files, nil if they are part of the build and have no errors.
func (j *judge) check(files []golang.File) error {
	j.fset = token.NewFileSet()
	clear(j.files)
	clear(j.packages)
	for _, f := range files {
		syntax, err := parser.ParseFile(j.fset, f.Path, f.Source, parser.ParseComments)
		if err != nil {
			return err
		}
		if err := inBuild(f, syntax); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		dir := "m/" + path.Dir(f.Path)
		if others := j.files[dir]; len(others) > 0 && others[0].Name.Name != syntax.Name.Name {
			return fmt.Errorf("%s is of package %s, others are of %s", f.Path, syntax.Name, others[0].Name)
		}
		j.files[dir] = append(j.files[dir], syntax)
	}
	for dir := range j.files {
		if _, err := j.Import(dir); err != nil {
			return err
		}
	}
	return nil
}

// inBuild returns why the go command would pass over a file, or do something with it that no user expects.
func inBuild(f golang.File, syntax *ast.File) error {
	for part := range strings.SplitSeq(path.Dir(f.Path), "/") {
		if strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") || part == "testdata" || part == "vendor" {
			return fmt.Errorf("the go command passes over folders called %s", part)
		}
	}
	if name := syntax.Name.Name; name == "main" || name == "documentation" || name == "_" || name == "init" {
		return fmt.Errorf("package %s", name)
	}
	if !ast.IsGenerated(syntax) {
		return fmt.Errorf("does not say that it is generated")
	}
	for _, group := range syntax.Comments {
		for _, c := range group.List {
			plain := c.Text == "//" || strings.HasPrefix(c.Text, "// ") || strings.HasPrefix(c.Text, "//\t")
			if !plain || constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text) {
				return fmt.Errorf("the comment %q is more than a comment", c.Text)
			}
		}
	}
	for _, system := range []string{"linux/amd64", "windows/386", "darwin/arm64", "js/wasm"} {
		c := build.Default
		c.GOOS, c.GOARCH, _ = strings.Cut(system, "/")
		c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Source)), nil }
		if ok, err := c.MatchFile("/nowhere", path.Base(f.Path)); err != nil || !ok || strings.HasSuffix(f.Path, "_test.go") {
			return fmt.Errorf("not built for %s (%v)", system, err)
		}
	}
	if again, err := format.Source(f.Source); err != nil || !bytes.Equal(again, f.Source) {
		return fmt.Errorf("is not formatted (%v):\n%s", err, cmp.Diff(string(f.Source), string(again)))
	}
	return nil
}
