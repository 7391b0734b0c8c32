package steps

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// path is where instrumented sources import this package from.
const path = "github.com/nocopythrift/nocopythrift/internal/steps"

// Overlay writes to dir copies of the sources in these folders of the module at root that count
// their steps. Files of tests stay as they are. It returns the name of a file for go's flag
// -overlay. Tests in packages of their own (package x_test) are left out: they would take most of
// the time of compiling.
func Overlay(root, dir string, folders ...string) (string, error) {
	replace := map[string]string{}
	put := func(name string, src []byte) error {
		to := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		from, err := filepath.Abs(filepath.Join(root, name))
		if err == nil {
			replace[from] = to
			err = os.WriteFile(to, src, 0o666)
		}
		return err
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			if strings.HasSuffix(file, "_test.go") {
				if err := leaveOut(file, src, replace); err != nil {
					return "", err
				}
				continue
			}
			if src, err = instrument(src); err != nil {
				return "", err
			}
			if err := put(folder+"/"+filepath.Base(file), src); err != nil {
				return "", err
			}
		}
	}
	if err := put("internal/steps/counting.go", []byte("package steps\n\nconst Counting = true\n")); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, list, 0o666)
}

// leaveOut makes replace hide the test file with the contents src if it has tests and is of a
// package of its own.
func leaveOut(file string, src []byte, replace map[string]string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.PackageClauseOnly)
	if err == nil && strings.HasSuffix(f.Name.Name, "_test") && bytes.Contains(src, []byte("\nfunc Test")) {
		file, err = filepath.Abs(file)
		replace[file] = "" // no such file
	}
	return err
}

// change replaces some bytes of a file by text.
type change struct {
	at, end int
	text    string
}

// instrumenter notes what is to be changed in a file so that it counts.
type instrumenter struct {
	files   *token.FileSet
	changes []change
}

// instrument returns src with calls that count. No line moves.
func instrument(src []byte) ([]byte, error) {
	in := &instrumenter{files: token.NewFileSet()}
	f, err := parser.ParseFile(in.files, "", src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			in.body(n.Body)
		case *ast.FuncLit:
			in.body(n.Body)
		case *ast.ForStmt:
			in.body(n.Body)
		case *ast.RangeStmt:
			in.body(n.Body)
		case *ast.CallExpr:
			in.call(n)
		}
		return true
	})
	if len(in.changes) == 0 {
		return src, nil
	}
	in.put(f.Name.End(), f.Name.End(), "; import stepcount "+strconv.Quote(path))
	slices.SortStableFunc(in.changes, func(a, b change) int { return a.at - b.at })
	var out []byte
	from := 0
	for _, c := range in.changes {
		out = append(append(out, src[from:c.at]...), c.text...)
		from = c.end
	}
	return append(out, src[from:]...), nil
}

func (in *instrumenter) put(from, to token.Pos, text string) {
	in.changes = append(in.changes, change{in.files.Position(from).Offset, in.files.Position(to).Offset, text})
}

func (in *instrumenter) body(b *ast.BlockStmt) {
	if b != nil {
		in.put(b.Lbrace+1, b.Lbrace+1, "stepcount.Step();")
	}
}

// wrap makes x the argument of a function of this package that returns it.
func (in *instrumenter) wrap(x ast.Expr, with string) {
	switch x.(type) {
	case *ast.BasicLit, *ast.FuncLit:
		return
	}
	in.put(x.Pos(), x.Pos(), "stepcount."+with+"(")
	in.put(x.End(), x.End(), ")")
}

// call counts what a call goes through that is not a loop of ours.
func (in *instrumenter) call(c *ast.CallExpr) {
	switch fun := c.Fun.(type) {
	case *ast.Ident:
		if len(c.Args) == 0 {
			return // a function of that name, not the built-in one
		}
		switch fun.Name {
		case "copy":
			in.put(fun.Pos(), fun.End(), "stepcount.Copy")
		case "append":
			if c.Ellipsis.IsValid() {
				in.wrap(c.Args[1], "Of")
			}
		case "clear":
			in.wrap(c.Args[0], "Of")
		case "make":
			if _, isSlice := c.Args[0].(*ast.ArrayType); isSlice {
				in.wrap(c.Args[len(c.Args)-1], "Size")
			}
		}
	case *ast.SelectorExpr:
		pkg, ok := fun.X.(*ast.Ident)
		if !ok || len(c.Args) == 0 {
			return
		}
		switch pkg.Name {
		case "bytes":
			if fun.Sel.Name == "Equal" {
				in.put(fun.Pos(), c.Args[0].Pos(), "stepcount.Equal(bytes.Equal, ")
				return
			}
			in.wrap(c.Args[len(c.Args)-1], "Of")
		case "strings", "utf8", "hex", "strconv", "maphash":
			in.wrap(c.Args[len(c.Args)-1], "Of")
		case "slices", "byteorder":
			if fun.Sel.Name != "Grow" && fun.Sel.Name != "Clip" {
				in.wrap(c.Args[0], "Of")
			}
		}
	}
}
