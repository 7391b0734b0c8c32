package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Generated packages are type-checked in process, which takes a
// fraction of the time that building and vetting them takes.

// typeChecker imports generated packages from source, and all others from the build cache.
type typeChecker struct {
	fset     *token.FileSet
	dir      string // where the module's packages are
	module   string // their import path up to there
	packages map[string]*types.Package
	cached   types.Importer
	problems []error
}

// typeCheck reports what the compiler would refuse in the Go packages below dir, whose import
// paths begin with module. They may import each other, the runtime and what that imports.
func typeCheck(t *testing.T, dir, module string) {
	t.Helper()
	c := &typeChecker{fset: token.NewFileSet(), dir: dir, module: module, packages: map[string]*types.Package{}}
	exports := exportData(t)
	c.cached = importer.ForCompiler(c.fset, "gc", func(p string) (io.ReadCloser, error) {
		if exports[p] == "" {
			return nil, fmt.Errorf("%s is not among what the runtime imports", p)
		}
		return os.Open(exports[p])
	})
	n := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if files, _ := filepath.Glob(filepath.Join(name, "*.go")); len(files) == 0 {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		n++
		if _, err := c.Import(path.Join(module, filepath.ToSlash(rel))); err != nil {
			c.problems = append(c.problems, err)
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d packages in %s (%v)", n, dir, err)
	}
	for _, err := range c.problems {
		t.Error(err)
	}
}

// Import implements types.Importer.
func (c *typeChecker) Import(importPath string) (*types.Package, error) {
	rel, ok := strings.CutPrefix(importPath, c.module+"/")
	if !ok {
		return c.cached.Import(importPath)
	}
	if p := c.packages[importPath]; p != nil {
		return p, nil
	}
	dir := filepath.Join(c.dir, filepath.FromSlash(rel))
	p, err := build.ImportDir(dir, 0) // leaves out files that constraints exclude, as go build does
	if err != nil {
		return nil, fmt.Errorf("%s: %w", importPath, err)
	}
	if len(p.IgnoredGoFiles) > 0 {
		c.problems = append(c.problems, fmt.Errorf("%s: go build leaves out %q", importPath, p.IgnoredGoFiles))
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: c, Error: func(err error) { c.problems = append(c.problems, err) }}
	checked, _ := conf.Check(importPath, c.fset, files, nil) // what is wrong has gone to Error
	c.packages[importPath] = checked
	return checked, nil
}

// exportData returns where the build cache has the compiler's export data of the runtime and of
// all packages that it imports.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	const runtime = "github.com/nocopythrift/nocopythrift/nocopy"
	files := map[string]string{}
	list := goCommand(t, ".", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		runtime, runtime+"/rpc", "iter")
	for line := range strings.Lines(list) {
		p, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[p] = file
	}
	return files
}

func TestTypeCheck(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"good/a.go":  "package good\n\nimport \"m/other\"\n\nvar _ int = other.N\n",
		"other/a.go": "package other\n\nconst N = 1\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(name), 0o777)
		os.WriteFile(name, []byte(src), 0o666)
	}
	typeCheck(t, dir, "m")
	bad := typeChecker{fset: token.NewFileSet(), dir: dir, module: "m", packages: map[string]*types.Package{}}
	os.WriteFile(filepath.Join(dir, "other", "a.go"), []byte("package other\n\nconst N = \"1\"\n"), 0o666)
	os.WriteFile(filepath.Join(dir, "other", "b_windows.go"), []byte("package other\n"), 0o666)
	bad.Import("m/good")
	if len(bad.problems) != 2 {
		t.Errorf("a package that does not compile and a file left out: %v", bad.problems)
	}
}
