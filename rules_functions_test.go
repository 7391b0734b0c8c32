package nocopythrift_test

import (
	"go/ast"
	"go/token"
	"iter"
	"strings"
	"testing"
)

// The bounds of TestFunctions.
const (
	mostLines      = 80
	mostCyclomatic = 20
)

// longFunctions are the functions that may be beyond the bounds, by file and name, of a method
// Type.name.
var longFunctions = map[string]string{
	"nocopy/internal/parse/run.go run": "the parser's loop: a call for a phase would cost more than the phase",
}

// TestFunctions: a function, or a function literal in a variable of a package, has at most 80
// lines, and a cyclomatic number of at most 20, in all modules, except in tests and generated
// files.
func TestFunctions(t *testing.T) {
	left := len(longFunctions)
	check := func(name string, src []byte) {
		if strings.HasSuffix(name, "_test.go") || generated(src) {
			return
		}
		for id, f := range functionsIn(parse(src)) {
			lines := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1
			n := cyclomatic(f)
			if lines <= mostLines && n <= mostCyclomatic {
				continue
			}
			if longFunctions[name+" "+id] != "" {
				left--
				continue
			}
			t.Errorf("%s: %s has %d lines, and the cyclomatic number %d", name, id, lines, n)
		}
	}
	sources(t, ".", check)
	sources(t, "bench", check)
	if left != 0 {
		t.Errorf("%d of the exceptions are not needed", left)
	}
}

// functionsIn returns the functions that a file declares, and the outermost function literals in
// its variables, with their names: of a method Type.name, of a literal the variable's.
func functionsIn(file *ast.File) iter.Seq2[string, ast.Node] {
	return func(yield func(string, ast.Node) bool) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				name := f.Name.Name
				if f.Recv != nil {
					name = receiverOf(f) + "." + name
				}
				if !yield(name, f) {
					return
				}
				continue
			}
			var name string
			more := true
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					name = n.Names[0].Name
				case *ast.FuncLit:
					more = more && yield(name, n)
					return false // those in it count with it
				}
				return more
			})
			if !more {
				return
			}
		}
	}
}

// TestFunctionsIn: methods of two types with one name are told apart, and literals in variables
// are functions, too.
func TestFunctionsIn(t *testing.T) {
	const text = "package p\nfunc f() { _ = func() {} }\nfunc (a A) m() {}\nfunc (b *B[T]) m() {}\n" +
		"var v = func() { _ = func() {} }\nvar (\n\tw = map[int]func(){1: func() {}, 2: func() {}}\n\tx, y = 1, 2\n)\n"
	var names []string
	for name := range functionsIn(parse([]byte(text))) {
		names = append(names, name)
	}
	if got, want := strings.Join(names, " "), "f A.m B.m v w w"; got != want {
		t.Errorf("%s, not %s", got, want)
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
