package migrate

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// rewriter rewrites a file.
type rewriter struct {
	fset    *token.FileSet
	info    *types.Info
	src     []byte
	start   token.Pos
	scope   *types.Scope              // of the file
	nils    map[*ast.Ident]types.Type // which types a nil has
	notes   []*ast.CommentGroup
	headers map[ast.Stmt]bool // statements in those of an if, for or switch, which must stay one
	pairs   map[string]string // the paths of new packages by those of old ones
	targets map[string]*types.Package

	todos  []string // of the statement that is being rendered
	report []string
	names  int // of variables that were made
}

// file returns the file's new text, formatted if anything in it has changed.
func (w *rewriter) file(f *ast.File) ([]byte, error) {
	w.headers, w.notes, w.nils = map[ast.Stmt]bool{}, f.Comments, map[*ast.Ident]types.Type{}
	w.findNils(f)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			w.headers[n.Init] = true
		case *ast.ForStmt:
			w.headers[n.Init], w.headers[n.Post] = true, true
		case *ast.SwitchStmt:
			w.headers[n.Init] = true
		case *ast.TypeSwitchStmt:
			w.headers[n.Init], w.headers[n.Assign] = true, true
		case *ast.CommClause:
			w.headers[n.Comm] = true
		}
		return true
	})
	text := w.render(f)
	if text == string(w.src[f.Pos()-w.start:f.End()-w.start]) {
		return w.src, nil // not even formatted
	}
	return format.Source([]byte(string(w.src[:f.Pos()-w.start]) + text + string(w.src[f.End()-w.start:])))
}

// todo notes why something stays as it is.
func (w *rewriter) todo(n ast.Node, reason string, args ...any) {
	reason = fmt.Sprintf(reason, args...)
	if !slices.Contains(w.todos, reason) {
		w.todos = append(w.todos, reason)
		w.report = append(w.report, w.position(n.Pos())+": "+reason)
	}
}

// render returns the text of a node in which everything in it is rewritten.
func (w *rewriter) render(n ast.Node) string {
	var b strings.Builder
	at := n.Pos()
	ast.Inspect(n, func(child ast.Node) bool {
		if child == nil || child == n {
			return true
		}
		text, ok := w.rewrite(child)
		if ok {
			b.Write(w.src[at-w.start : child.Pos()-w.start])
			b.WriteString(text)
			at = child.End()
		}
		return !ok
	})
	b.Write(w.src[at-w.start : n.End()-w.start])
	return b.String()
}

// expr returns the text of an expression, which may be rewritten itself.
func (w *rewriter) expr(e ast.Expr) string {
	if text, ok := w.rewrite(e); ok {
		return text
	}
	return w.render(e)
}

// rewrite returns what takes the place of a node; false if only what is in it changes.
func (w *rewriter) rewrite(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return w.imports(n)
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
		return "", false
	case ast.Stmt:
		if w.headers[n] {
			return "", false
		}
		return w.noted(func() string {
			if text, ok := w.statement(n); ok {
				return text
			}
			return w.render(n)
		}), true
	case *ast.GenDecl, *ast.FuncDecl:
		return w.noted(func() string { return w.render(n) }), true
	case ast.Expr:
		return w.expression(n)
	}
	return "", false
}

// noted returns what f does, after comments with what it could not do.
func (w *rewriter) noted(f func() string) string {
	around := w.todos
	w.todos = nil
	text := f()
	for _, reason := range slices.Backward(w.todos) {
		text = "// TODO(nocopy migrate): " + reason + "\n" + text
	}
	w.todos = around
	return text
}

// expression rewrites an expression.
func (w *rewriter) expression(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return w.star(e)
	case *ast.Ident:
		if n, pointer := w.oldStruct(w.nils[e]); n != nil && pointer {
			return w.typeName(n) + "{}", true
		}
	case *ast.SelectorExpr:
		return w.selector(e)
	case *ast.BinaryExpr:
		return w.comparison(e)
	case *ast.IndexExpr:
		return w.index(e)
	case *ast.CallExpr:
		return w.call(e)
	case *ast.UnaryExpr:
		if lit, ok := e.X.(*ast.CompositeLit); ok && e.Op == token.AND {
			if n, _ := w.oldStruct(w.info.TypeOf(lit)); n != nil {
				return w.literal(n, lit), true
			}
		}
		if sel, ok := e.X.(*ast.SelectorExpr); ok && e.Op == token.AND && w.fieldOf(sel) != nil {
			w.todo(e, "a field has no address: use Set%s", sel.Sel.Name)
			return string(w.src[e.Pos()-w.start : e.End()-w.start]), true
		}
	case *ast.CompositeLit:
		if n, pointer := w.oldStruct(w.info.TypeOf(e)); n != nil {
			if pointer {
				return w.literal(n, e), true // in a list, without its type
			}
			w.todo(e, "a struct is a handle, and has no values: use New%s", n.Obj().Name())
			return string(w.src[e.Pos()-w.start : e.End()-w.start]), true
		}
	}
	return "", false
}

// typeName returns a generated type as the file calls it.
func (w *rewriter) typeName(n *types.Named) string {
	return w.packageName(n.Obj().Pkg()) + "." + n.Obj().Name()
}

func (w *rewriter) packageName(p *types.Package) string {
	for _, name := range w.scope.Names() {
		if imported, ok := w.scope.Lookup(name).(*types.PkgName); ok && imported.Imported() == p {
			return name
		}
	}
	return p.Name()
}

// star rewrites a pointer type, and what a field points to.
func (w *rewriter) star(e *ast.StarExpr) (string, bool) {
	v := w.info.Types[e]
	if n, _ := w.oldStruct(v.Type); n != nil {
		if v.IsType() {
			return w.expr(e.X), true
		}
		w.todo(e, "a struct is a handle: a copy is made by Clone")
		return string(w.src[e.Pos()-w.start : e.End()-w.start]), true
	}
	if sel, ok := e.X.(*ast.SelectorExpr); ok && scalarPointer(w.info.TypeOf(sel)) {
		if n := w.fieldOf(sel); n != nil {
			if get := w.accessor(n, "Get", sel.Sel.Name); get != nil && w.fits(v.Type, resultOf(get)) {
				return w.expr(sel.X) + "." + get.Name() + "()", true
			}
		}
	}
	return "", false
}

// fieldOf returns the generated struct that a selector reads a field of, nil if there is none.
func (w *rewriter) fieldOf(e *ast.SelectorExpr) *types.Named {
	s := w.info.Selections[e]
	if s == nil || s.Kind() != types.FieldVal {
		return nil
	}
	n, _ := w.oldStruct(s.Recv())
	return n
}

// selector rewrites the reading of a field, and the names of methods.
func (w *rewriter) selector(e *ast.SelectorExpr) (string, bool) {
	if n := w.fieldOf(e); n != nil {
		get := w.accessor(n, "Get", e.Sel.Name)
		typ := w.info.TypeOf(e)
		switch {
		case get == nil:
			w.todo(e, "%s has no getter for %s", n.Obj().Name(), e.Sel.Name)
			return "", false
		case w.fits(typ, resultOf(get)):
			return w.expr(e.X) + "." + get.Name() + "()", true
		case scalarPointer(typ):
			w.todo(e, "%s is a value, not a pointer: ask IsSet%s", get.Name(), strings.TrimPrefix(get.Name(), "Get"))
		case isContainer(typ):
			if to := method(resultOf(get), "AppendTo"); to != nil && w.fits(typ, resultOf(to)) {
				return w.expr(e.X) + "." + get.Name() + "().AppendTo(nil)", true
			}
			w.todo(e, "%s returns a %s, not a Go %s", get.Name(), short(resultOf(get)), map[bool]string{true: "map", false: "slice"}[isMap(typ)])
		default:
			w.todo(e, "%s returns a %s", get.Name(), short(resultOf(get)))
		}
		return w.expr(e.X) + "." + get.Name() + "()", true
	}
	if s := w.info.Selections[e]; s != nil && s.Kind() == types.MethodVal {
		if n, _ := w.oldStruct(s.Recv()); n != nil {
			name := e.Sel.Name
			if equals[name] {
				name = "Equal"
			}
			m := method(w.newNamed(n), name)
			if m == nil {
				w.todo(e, "%s has no method %s", n.Obj().Name(), e.Sel.Name)
				return "", false
			}
			return w.expr(e.X) + "." + m.Name(), true
		}
	}
	if id, ok := e.X.(*ast.Ident); ok {
		if p, ok := w.info.Uses[id].(*types.PkgName); ok && w.pairs[p.Imported().Path()] != "" {
			if w.targets[w.pairs[p.Imported().Path()]].Scope().Lookup(e.Sel.Name) == nil {
				w.todo(e, "the new package has no %s", e.Sel.Name)
			}
		}
	}
	return "", false
}

func isMap(t types.Type) bool { _, ok := t.Underlying().(*types.Map); return ok }

// short returns a type's name for messages.
func short(t types.Type) string {
	if t == nil {
		return "nothing"
	}
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// comparison rewrites comparisons with nil.
func (w *rewriter) comparison(e *ast.BinaryExpr) (string, bool) {
	x := e.X
	if w.info.Types[e.X].IsNil() {
		x = e.Y
	} else if !w.info.Types[e.Y].IsNil() {
		return "", false
	}
	not := map[token.Token]string{token.EQL: "!", token.NEQ: ""}
	mark, ok := not[e.Op]
	if !ok {
		return "", false
	}
	if sel, ok := x.(*ast.SelectorExpr); ok {
		if n := w.fieldOf(sel); n != nil {
			if is := w.accessor(n, "IsSet", sel.Sel.Name); is != nil {
				return mark + w.expr(sel.X) + "." + is.Name() + "()", true
			}
		}
	}
	if n, pointer := w.oldStruct(w.info.TypeOf(x)); n != nil && pointer {
		return mark + w.expr(x) + ".Valid()", true
	}
	return "", false
}

// container returns the text and the type of the container that a field is; nil if e is no field
// of a generated struct.
func (w *rewriter) container(e ast.Expr) (string, types.Type) {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return "", nil
	}
	n := w.fieldOf(sel)
	if n == nil || !isContainer(w.info.TypeOf(sel)) {
		return "", nil
	}
	get := w.accessor(n, "Get", sel.Sel.Name)
	if get == nil {
		return "", nil
	}
	return w.expr(sel.X) + "." + get.Name() + "()", resultOf(get)
}

// index rewrites the reading of an element.
func (w *rewriter) index(e *ast.IndexExpr) (string, bool) {
	list, typ := w.container(e.X)
	if typ == nil {
		return "", false
	}
	if two, ok := w.info.Types[e].Type.(*types.Tuple); ok { // v, ok := m[k]
		m := method(typ, "Get")
		if m == nil || m.Signature().Results().Len() != 2 || !w.fits(two.At(0).Type(), m.Signature().Results().At(0).Type()) {
			return "", false
		}
		return list + "." + m.Name() + "(" + w.expr(e.Index) + ")", true
	}
	for _, name := range []string{"At", "Get", "Lookup"} {
		if m := method(typ, name); m != nil && w.fits(w.info.Types[e].Type, resultOf(m)) {
			return list + "." + m.Name() + "(" + w.expr(e.Index) + ")", true
		}
	}
	return "", false
}

// call rewrites len, new and calls that turn a value into a pointer.
func (w *rewriter) call(e *ast.CallExpr) (string, bool) {
	id, ok := e.Fun.(*ast.Ident)
	if !ok || len(e.Args) != 1 {
		return "", false
	}
	switch w.info.Uses[id] {
	case types.Universe.Lookup("len"):
		if list, typ := w.container(e.Args[0]); method(typ, "Len") != nil {
			return list + ".Len()", true
		}
	case types.Universe.Lookup("new"):
		if n, _ := w.oldStruct(w.info.TypeOf(e.Args[0])); n != nil {
			return w.constructor(n) + "()", true
		}
	}
	return "", false
}

// constructor returns the name of the function that makes a new message.
func (w *rewriter) constructor(n *types.Named) string {
	return w.packageName(n.Obj().Pkg()) + ".New" + n.Obj().Name()
}
