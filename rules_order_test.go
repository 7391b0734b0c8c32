package nocopythrift_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A checkedPackage is a package of the library with the types of its expressions.
type checkedPackage struct {
	*types.Package
	fset  *token.FileSet
	files []*ast.File
	info  types.Info
}

// fileOf returns the name of the file of a position.
func (p *checkedPackage) fileOf(at token.Pos) string {
	return filepath.Base(p.fset.Position(at).Filename)
}

// checked are the packages that typesOf has returned, by their folders.
var checked = map[string]*checkedPackage{}

// typesOf returns the package in a folder, without its tests, as it is built on this machine.
func typesOf(t *testing.T, dir string) *checkedPackage {
	t.Helper()
	if p := checked[dir]; p != nil {
		return p
	}
	list, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}} {{.Dir}} {{.GoFiles}}", module+"/"+dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	p := &checkedPackage{fset: token.NewFileSet()}
	p.info = types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	for line := range strings.Lines(string(list)) {
		path, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		export, rest, _ := strings.Cut(rest, " ")
		exports[path] = export
		if path != module+"/"+dir {
			continue
		}
		folder, names, _ := strings.Cut(rest, " ")
		for _, name := range strings.Fields(strings.Trim(names, "[]")) {
			f, err := parser.ParseFile(p.fset, filepath.Join(folder, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, f)
		}
	}
	c := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		b, err := os.ReadFile(exports[path])
		return io.NopCloser(bytes.NewReader(b)), err
	})}
	if p.Package, err = c.Check(module+"/"+dir, p.fset, p.files, &p.info); err != nil {
		t.Fatal(err)
	}
	checked[dir] = p
	return p
}

// circles are calls that close a circle of files, by package. The list only shrinks.
var circles = map[string][]string{
	"nocopy/internal/parse": {
		// A machine that passes over values is one of run's modes.
		"run.go calls passOp of pass.go",
		// The loop leaves a value to the slow parser, which calls the loop for values in it.
		"resume.go calls addExtra of slowparse.go",
		"resume.go calls fields of slowparse.go",
		"resume.go calls mismatchedContainer of slowparse.go",
		"resume.go calls slowValue of slowparse.go",
		"parser.go calls fields of slowparse.go",
		"parser.go calls slowValue of slowparse.go",
		"parser.go calls runAll of resume.go",
		"parser.go calls need of stitch.go",
		// A wide struct is parsed by the slow parser, which parses the values of its fields.
		"widefields.go calls container of slowparse.go",
		"widefields.go calls duplicate of slowparse.go",
		"widefields.go calls textOrFixed of slowparse.go",
	},
}

// TestFilesStandInOrder: no file of these packages calls a function of one that calls it in turn,
// directly or by way of others. They can be read from the bottom up.
func TestFilesStandInOrder(t *testing.T) {
	for _, dir := range []string{"nocopy/internal/engine", "nocopy/internal/parse", "nocopy/internal/index"} {
		t.Run(filepath.Base(dir), func(t *testing.T) { inOrder(t, typesOf(t, dir), circles[dir]) })
	}
}

// inOrder fails if files of a package call each other in a circle, except by the allowed calls:
// "from calls name of to".
func inOrder(t *testing.T, p *checkedPackage, allowed []string) {
	calls := map[string]map[string]string{} // by calling file and called file: a name that is called
	needed := map[string]bool{}
	for id, used := range p.info.Uses {
		f, ok := used.(*types.Func)
		if from := p.fileOf(id.Pos()); ok && f.Pkg() == p.Package && p.fileOf(f.Origin().Pos()) != from {
			to := p.fileOf(f.Origin().Pos())
			if call := fmt.Sprintf("%s calls %s of %s", from, f.Name(), to); slices.Contains(allowed, call) {
				needed[call] = true
				continue
			}
			if calls[from] == nil {
				calls[from] = map[string]string{}
			}
			calls[from][to] = f.Name()
		}
	}
	if len(calls) < len(p.files)/3 {
		t.Fatalf("calls of %d files", len(calls))
	}
	if len(needed) != len(allowed) {
		t.Errorf("of the %d exceptions %d are not there", len(allowed), len(allowed)-len(needed))
	}
	var route, done []string
	var follow func(file string)
	follow = func(file string) {
		if i := slices.Index(route, file); i >= 0 {
			text := ""
			for k, from := range route[i:] {
				to := append(route[i:], file)[k+1]
				text += fmt.Sprintf("\n%s calls %s of %s", from, calls[from][to], to)
			}
			t.Fatal("files in a circle:" + text)
		}
		if slices.Contains(done, file) {
			return
		}
		route = append(route, file)
		for to := range calls[file] {
			follow(to)
		}
		route, done = route[:len(route)-1], append(done, file)
	}
	for file := range calls {
		follow(file)
	}
}
