package rpc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHalves: the server's files and the client's name nothing of each other.
func TestHalves(t *testing.T) {
	halves := [2][]string{
		{"server.go", "serverconn.go", "serverread.go", "servertries.go", "serve.go", "handle.go"},
		{"client.go", "clientconn.go", "clientwrite.go", "clienttries.go", "dial.go", "pending.go", "turn.go"},
	}
	var declares [2]map[string]bool
	var files [2][]*ast.File
	fset := token.NewFileSet()
	for half, names := range halves {
		declares[half] = map[string]bool{}
		for _, name := range names {
			f, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[half] = append(files[half], f)
			for declared := range f.Scope.Objects {
				declares[half][declared] = true
			}
		}
	}
	for half := range files {
		for _, f := range files[half] {
			for _, id := range f.Unresolved {
				if declares[1-half][id.Name] {
					t.Errorf("%s: %s is the other half's", fset.Position(id.Pos()), id.Name)
				}
			}
		}
	}
	for _, prefix := range []string{"server*.go", "client*.go"} {
		names, err := filepath.Glob(prefix)
		if err != nil || len(names) < 4 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") && !slices.Contains(slices.Concat(halves[0], halves[1]), name) {
				t.Errorf("%s is in neither half", name)
			}
		}
	}
}
