package nocopythrift_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rawWords are the places that may read or store words of the index as numbers, by file and
// function, with how many there are and the reason.
var rawWords = map[string]struct {
	places int
	reason string
}{
	"engine/build.go FixedBytes": {1, "to be inlined"},
	"engine/list.go TextOf":      {2, "to be inlined"},
	"engine/message.go ListLen":  {1, "to be inlined"},
	"engine/struct.go makeEmpty": {1, "absent structs share an index of zeros"},
	"engine/struct.go word":      {1, "to be inlined"},
	"engine/struct.go lacks":     {1, "to be inlined"},
	"engine/struct.go Has":       {1, "to be inlined"},
	"engine/structs.go Word":     {1, "to be inlined"},
	"parse/start.go Root":        {2, "the loop has the index by a pointer: it is set, and the root's start"},
	"parse/start.go Written":     {1, "the loop has the index by a pointer"},
	"parse/resume.go load":       {1, "the loop has the index by a pointer"},
}

// TestWords: package index owns the words of entries. The engine, the parser and the renderer ask
// its types about them, and do no arithmetic on their bits or numbers. What reads words as numbers
// is in rawWords, is generated, or is the parser's loop, run.go, which has the index by a pointer.
func TestWords(t *testing.T) {
	bits := regexp.MustCompile(`1 ?<< ?31($|[^ -]| [^-])|int32\(w(ord)?\) <`)
	found, all := map[string]int{}, 0
	for _, room := range []string{"engine", "parse", "render"} {
		dir := "nocopy/internal/" + room
		sources(t, dir, func(name string, src []byte) {
			if strings.HasSuffix(name, "_test.go") {
				return
			}
			for line := range strings.Lines(string(src)) {
				if code, comment, _ := strings.Cut(line, "//"); bits.MatchString(code) && comment == "" {
					t.Errorf("%s: %s", name, strings.TrimSpace(line))
				}
			}
		})
		p := typesOf(t, dir)
		for _, file := range p.files {
			name := room + "/" + p.fileOf(file.Pos())
			if ast.IsGenerated(file) || name == "parse/run.go" || strings.HasPrefix(name, "parse/memory_") {
				continue
			}
			for _, d := range file.Decls {
				where := name
				if f, ok := d.(*ast.FuncDecl); ok {
					where += " " + f.Name.Name
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 && p.isIndex(call.Args[0]) && fmt.Sprint(call.Fun) == "len" {
						return false // how many words there are
					}
					if p.isRaw(n) {
						if found[where]++; found[where] > rawWords[where].places {
							t.Errorf("%s reads words of the index as numbers: %s", where, p.fset.Position(n.Pos()))
						}
						all++
					}
					return true
				})
			}
		}
	}
	for where, may := range rawWords {
		if found[where] < may.places {
			t.Errorf("%s reads words as numbers %d times, fewer than rawWords has", where, found[where])
		}
	}
	if all >= 20 {
		t.Errorf("%d places read words of the index as numbers", all)
	}
}

// isRaw reports whether n reads or stores words of the index as numbers. It is all its words; an
// index, a slice or a range of numbers of 32 bits; a pointer to one; a call of the loop's
// functions; or the word of the index whose number is a sum.
func (p *checkedPackage) isRaw(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IndexExpr:
		return p.isWords(n.X) && !p.isIndex(n.X)
	case *ast.SliceExpr:
		return p.isWords(n.X) && !p.isIndex(n.X)
	case *ast.RangeStmt:
		return p.isWords(n.X) && !p.isIndex(n.X)
	case *ast.SelectorExpr:
		return p.isIndex(n)
	case *ast.StarExpr:
		return !p.info.Types[n].IsType() && p.isNumber(p.info.Types[n].Type)
	case *ast.CallExpr:
		switch f := ast.Unparen(n.Fun).(type) {
		case *ast.Ident: // of package parse
			return slices.Contains([]string{"put", "wordAt"}, f.Name) && p.Name() == "parse"
		case *ast.SelectorExpr:
			if name := f.Sel.Name; p.isOfIndex(f) && (name == "Word" || name == "SetWord") {
				_, computed := ast.Unparen(n.Args[0]).(*ast.BinaryExpr)
				return computed
			}
		}
	}
	return false
}

// isIndex reports whether e is all words of an index.
func (p *checkedPackage) isIndex(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Words" && p.isOfIndex(s) && p.isWords(s)
}

// isOfIndex reports whether s is a method or field of an index.
func (p *checkedPackage) isOfIndex(s *ast.SelectorExpr) bool {
	return strings.TrimPrefix(fmt.Sprint(p.info.Types[s.X].Type), "*") == module+"/nocopy/internal/index.Index"
}

// isWords reports whether e is a slice or an array of numbers of 32 bits, or a pointer to one.
func (p *checkedPackage) isWords(e ast.Expr) bool {
	t := p.info.Types[e].Type
	if t == nil {
		return false
	}
	t = t.Underlying()
	if to, ok := t.(*types.Pointer); ok {
		t = to.Elem().Underlying()
	}
	switch t := t.(type) {
	case *types.Slice:
		return p.isNumber(t.Elem())
	case *types.Array:
		return p.isNumber(t.Elem())
	}
	return false
}

// isNumber reports whether t is uint32 itself, which has no meaning, as type Word of package index
// has.
func (p *checkedPackage) isNumber(t types.Type) bool {
	b, ok := types.Unalias(t).(*types.Basic)
	return ok && b.Kind() == types.Uint32
}
