// Package gocheck checks that generated files are good Go: part of every build, and without
// errors. Tests use it, because checking in the same process takes a fraction of the time of
// building and vetting.
package gocheck

import (
	"bytes"
	"errors"
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
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// A Checker checks generated packages. It is for one goroutine.
type Checker struct {
	runtime  types.Importer // for the runtime and the packages that it imports
	fset     *token.FileSet
	module   string
	files    map[string][]*ast.File    // of the packages to be checked, by import path
	packages map[string]*types.Package // the packages that have been checked
}

// New returns a Checker. It runs the go command, which compiles the runtime if need be.
func New() (*Checker, error) {
	const runtime = "github.com/nocopythrift/nocopythrift/nocopy"
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", runtime, runtime+"/rpc", runtime+"/validate", "iter")
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(list)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = file
	}
	library := importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		if exports[name] == "" {
			return nil, fmt.Errorf("%s is not among what the runtime imports", name)
		}
		return os.Open(exports[name])
	})
	return &Checker{runtime: library}, nil
}

// Check returns the errors in files, which are given by slash-separated names below the folder
// with the import path module. They may import each other, the runtime, and the runtime's imports.
func (c *Checker) Check(module string, files map[string][]byte) error {
	c.fset, c.module = token.NewFileSet(), module
	c.files, c.packages = map[string][]*ast.File{}, map[string]*types.Package{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		syntax, err := parser.ParseFile(c.fset, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			err = inBuild(name, files[name], syntax)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		at := path.Join(module, path.Dir(name))
		c.files[at] = append(c.files[at], syntax)
	}
	for _, at := range slices.Sorted(maps.Keys(c.files)) {
		if _, err := c.Import(at); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Import implements types.Importer.
func (c *Checker) Import(at string) (*types.Package, error) {
	if !strings.HasPrefix(at, c.module+"/") {
		return c.runtime.Import(at)
	}
	if pkg := c.packages[at]; pkg != nil {
		return pkg, nil
	}
	if len(c.files[at]) == 0 {
		return nil, fmt.Errorf("package %s is not there", at)
	}
	config := types.Config{Importer: c}
	pkg, err := config.Check(at, c.fset, c.files[at], nil)
	c.packages[at] = pkg
	return pkg, err
}

// inBuild returns an error if the go command would leave a file out of a build, or find directives
// in its comments.
func inBuild(name string, src []byte, syntax *ast.File) error {
	if err := skippedFolder(name); err != nil {
		return err
	}
	if pkg := syntax.Name.Name; pkg == "main" || pkg == "documentation" || pkg == "_" || pkg == "init" {
		return fmt.Errorf("package %s cannot be imported", pkg)
	}
	if !ast.IsGenerated(syntax) {
		return errors.New("it does not say that it is generated")
	}
	if err := directive(syntax); err != nil {
		return err
	}
	if err := constrained(name, src); err != nil {
		return err
	}
	if again, err := format.Source(src); err != nil || !bytes.Equal(again, src) {
		return fmt.Errorf("it is not formatted (%v)", err)
	}
	return nil
}

// skippedFolder returns an error if the go command passes over a folder of a file.
func skippedFolder(name string) error {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if part != "." && strings.Contains("_.", part[:1]) || part == "testdata" || part == "vendor" {
			return fmt.Errorf("the go command passes over folders called %s", part)
		}
	}
	return nil
}

// directive returns an error if a comment is more than a comment.
func directive(syntax *ast.File) error {
	for _, group := range syntax.Comments {
		for _, comment := range group.List {
			text := comment.Text
			plain := text == "//" || strings.HasPrefix(text, "// ") || strings.HasPrefix(text, "//\t")
			if !plain || constraint.IsGoBuild(text) || constraint.IsPlusBuild(text) {
				return fmt.Errorf("the comment %q is more than a comment", text)
			}
		}
	}
	return nil
}

// constrained returns an error if a file is not built for all systems.
func constrained(name string, src []byte) error {
	for _, system := range []string{"linux/amd64", "windows/386", "darwin/arm64", "js/wasm"} {
		on := build.Default
		on.GOOS, on.GOARCH, _ = strings.Cut(system, "/")
		on.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
		if ok, err := on.MatchFile("/nowhere", path.Base(name)); err != nil || !ok || strings.HasSuffix(name, "_test.go") {
			return fmt.Errorf("it is not built for %s (%v)", system, err)
		}
	}
	return nil
}
