package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// statement rewrites a statement.
func (w *rewriter) statement(s ast.Stmt) (string, bool) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return w.assign(s)
	case *ast.IncDecStmt:
		if sel, n := w.target(s.X); n != nil {
			return w.change(sel, n, map[token.Token]string{token.INC: "+", token.DEC: "-"}[s.Tok], "1")
		}
	case *ast.RangeStmt:
		list, typ := w.container(s.X)
		if method(typ, "All") == nil {
			return "", false
		}
		head := "for "
		for i, e := range []ast.Expr{s.Key, s.Value} {
			if e != nil {
				head += []string{"", ", "}[i] + w.expr(e)
			}
		}
		if s.Key != nil {
			head += " " + s.Tok.String() + " "
		}
		return head + "range " + list + ".All() " + w.render(s.Body), true
	}
	return "", false
}

// target returns the field of a generated struct that is assigned to; nil if there is none.
func (w *rewriter) target(e ast.Expr) (*ast.SelectorExpr, *types.Named) {
	if star, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		if sel, ok := star.X.(*ast.SelectorExpr); ok && scalarPointer(w.info.TypeOf(sel)) {
			return sel, w.fieldOf(sel)
		}
	}
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	return sel, w.fieldOf(sel)
}

// change rewrites x.F += v.
func (w *rewriter) change(sel *ast.SelectorExpr, n *types.Named, op, v string) (string, bool) {
	get, set := w.accessor(n, "Get", sel.Sel.Name), w.accessor(n, "Set", sel.Sel.Name)
	if get == nil || set == nil || !w.simple(sel.X) {
		w.todo(sel, "write it with %s and %s", "Get"+sel.Sel.Name, "Set"+sel.Sel.Name)
		return "", false
	}
	x := w.expr(sel.X)
	return x + "." + set.Name() + "(" + x + "." + get.Name() + "() " + op + " " + v + ")", true
}

// simple reports whether an expression may be written twice: it has no calls.
func (w *rewriter) simple(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if _, call := n.(*ast.CallExpr); call {
			ok = false
		}
		return ok
	})
	return ok
}

func (w *rewriter) assign(s *ast.AssignStmt) (string, bool) {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		for _, e := range s.Lhs {
			if sel, n := w.target(e); n != nil {
				w.todo(e, "assign to a variable first, then call Set%s", sel.Sel.Name)
				return string(w.src[s.Pos()-w.start : s.End()-w.start]), true
			}
		}
		return "", false
	}
	rhs := s.Rhs[0]
	if id, ok := s.Lhs[0].(*ast.Ident); ok {
		if lit, n := w.addressed(rhs); n != nil && s.Tok == token.DEFINE && id.Name != "_" {
			return id.Name + " := " + w.constructor(n) + "()" + w.fill(id.Name, n, lit), true
		}
		return "", false
	}
	if ix, ok := s.Lhs[0].(*ast.IndexExpr); ok && s.Tok == token.ASSIGN {
		list, typ := w.container(ix.X)
		if m := method(typ, "Set"); m != nil && m.Signature().Params().Len() == 2 && w.fits(w.info.TypeOf(ix), m.Signature().Params().At(1).Type()) {
			return list + "." + m.Name() + "(" + w.expr(ix.Index) + ", " + w.expr(rhs) + ")", true
		}
		if typ != nil {
			w.todo(s, "%s has no Set for this", short(typ))
		}
		return "", false
	}
	sel, n := w.target(s.Lhs[0])
	if n == nil {
		return "", false
	}
	if s.Tok != token.ASSIGN {
		return w.change(sel, n, strings.TrimSuffix(s.Tok.String(), "="), "("+w.expr(rhs)+")")
	}
	if text, ok := w.appends(sel, n, rhs); ok {
		return text, true
	}
	_, pointed := ast.Unparen(s.Lhs[0]).(*ast.StarExpr)
	if text, ok := w.set(w.expr(sel.X), n, sel.Sel.Name, rhs, pointed); ok {
		return text, true
	}
	w.todo(s, "%s can't be set this way: see the setters of %s", sel.Sel.Name, n.Obj().Name())
	return string(w.src[s.Pos()-w.start : s.End()-w.start]), true
}

// appends rewrites x.F = append(x.F, v...).
func (w *rewriter) appends(sel *ast.SelectorExpr, n *types.Named, rhs ast.Expr) (string, bool) {
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if !ok || len(call.Args) < 2 || !w.simple(sel.X) {
		return "", false
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok || w.info.Uses[id] != types.Universe.Lookup("append") {
		return "", false
	}
	first, ok := ast.Unparen(call.Args[0]).(*ast.SelectorExpr)
	if !ok || string(w.src[first.Pos()-w.start:first.End()-w.start]) != string(w.src[sel.Pos()-w.start:sel.End()-w.start]) {
		return "", false
	}
	get, is, make := w.accessor(n, "Get", sel.Sel.Name), w.accessor(n, "IsSet", sel.Sel.Name), w.accessor(n, "New", sel.Sel.Name)
	if get == nil || is == nil || make == nil || method(resultOf(get), "Append") == nil {
		return "", false
	}
	x := w.expr(sel.X)
	list := x + "." + get.Name() + "()"
	text := "if !" + x + "." + is.Name() + "() {\n" + x + "." + make.Name() + "(0)\n}\n"
	if call.Ellipsis.IsValid() {
		v := w.name("v")
		return text + "for _, " + v + " := range " + w.expr(call.Args[1]) + " {\n" + list + ".Append(" + v + ")\n}", true
	}
	var lines []string
	for _, arg := range call.Args[1:] {
		if lit, elem := w.addressed(arg); elem != nil && method(resultOf(get), "AppendNew") != nil {
			v := w.name(strings.ToLower(elem.Obj().Name()[:1]))
			lines = append(lines, "{\n"+v+" := "+list+".AppendNew()"+w.fill(v, elem, lit)+use(v, lit)+"\n}")
			continue
		}
		lines = append(lines, list+".Append("+w.expr(arg)+")")
	}
	return text + strings.Join(lines, "\n"), true
}

// use returns a statement that uses a variable whose fields are not set.
func use(v string, lit *ast.CompositeLit) string {
	if len(lit.Elts) == 0 {
		return "\n_ = " + v
	}
	return ""
}

// addressed returns the literal of a generated struct that an expression takes the address of, or
// that stands in a list of such; nil if it is none.
func (w *rewriter) addressed(e ast.Expr) (*ast.CompositeLit, *types.Named) {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	} else if lit, ok := e.(*ast.CompositeLit); !ok || lit.Type != nil {
		return nil, nil
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, nil
	}
	n, _ := w.oldStruct(w.info.TypeOf(lit))
	return lit, n
}
