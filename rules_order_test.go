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

// TestFilesStandInOrder: no file of the engine calls a function of one that calls it in turn,
// directly or by way of others. The engine can be read from the bottom up.
func TestFilesStandInOrder(t *testing.T) {
	const engine = "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	list, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}} {{.Dir}} {{.GoFiles}}", engine).Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	fset := token.NewFileSet()
	var files []*ast.File
	for line := range strings.Lines(string(list)) {
		path, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		export, rest, _ := strings.Cut(rest, " ")
		exports[path] = export
		if path != engine {
			continue
		}
		dir, names, _ := strings.Cut(rest, " ")
		for _, name := range strings.Fields(strings.Trim(names, "[]")) {
			f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	uses := map[*ast.Ident]types.Object{}
	c := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		b, err := os.ReadFile(exports[path])
		return io.NopCloser(bytes.NewReader(b)), err
	})}
	pkg, err := c.Check(engine, fset, files, &types.Info{Uses: uses})
	if err != nil {
		t.Fatal(err)
	}
	fileOf := func(p token.Pos) string { return filepath.Base(fset.Position(p).Filename) }
	calls := map[string]map[string]string{} // by calling file and called file: a name that is called
	for id, used := range uses {
		f, ok := used.(*types.Func)
		if from := fileOf(id.Pos()); ok && f.Pkg() == pkg && fileOf(f.Origin().Pos()) != from {
			if calls[from] == nil {
				calls[from] = map[string]string{}
			}
			calls[from][fileOf(f.Origin().Pos())] = f.Name()
		}
	}
	if len(calls) < 20 {
		t.Fatalf("calls of %d files", len(calls))
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
