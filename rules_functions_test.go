package nocopythrift_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// The bounds of TestFunctions.
const (
	mostLines      = 80
	mostCyclomatic = 20
)

// longFunctions are the functions that may be beyond the bounds, by file and name.
var longFunctions = map[string]string{
	"nocopy/internal/parse/run.go run": "the parser's loop: a call for a phase would cost more than the phase",
}

// TestFunctions: a function has at most 80 lines, and a cyclomatic number of at most 20, in all
// modules, except in tests and generated files.
func TestFunctions(t *testing.T) {
	left := len(longFunctions)
	check := func(name string, src []byte) {
		if strings.HasSuffix(name, "_test.go") || generated(src) {
			return
		}
		for _, d := range parse(src).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1
			n := cyclomatic(f)
			if lines <= mostLines && n <= mostCyclomatic {
				continue
			}
			if longFunctions[name+" "+f.Name.Name] != "" {
				left--
				continue
			}
			t.Errorf("%s: %s has %d lines, and the cyclomatic number %d", name, f.Name.Name, lines, n)
		}
	}
	sources(t, ".", check)
	sources(t, "bench", check)
	if left != 0 {
		t.Errorf("%d of the exceptions are not needed", left)
	}
}

// cyclomatic returns 1 and the number of branches in n, as gocyclo counts them: if, for, range,
// case, && and ||. Functions in it count with it.
func cyclomatic(n ast.Node) int {
	count := 1
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			count++
		case *ast.CaseClause:
			if n.List != nil {
				count++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				count++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				count++
			}
		}
		return true
	})
	return count
}

// TestCyclomatic: each kind of branch counts once, and what is no branch does not.
func TestCyclomatic(t *testing.T) {
	for text, want := range map[string]int{
		"":                               1,
		"if a { } else { }":              2,
		"if a { } else if b { }":         3,
		"for { }":                        2,
		"for range a { }":                2,
		"switch { case a, b: default: }": 2,
		"switch a.(type) { case int: case bool: }": 3,
		"select { case <-a: default: }":            2,
		"_ = a && b || !c":                         3,
		"_ = a & b | c":                            1,
		"defer func() { if a { } }()":              2,
		"goto x; x: a()":                           1,
	} {
		src := []byte("package p\nfunc f() {\n" + text + "\n}\n")
		if got := cyclomatic(parse(src)); got != want {
			t.Errorf("%s: %d, not %d", text, got, want)
		}
	}
}
