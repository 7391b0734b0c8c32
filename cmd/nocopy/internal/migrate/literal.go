package migrate

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// name returns the name of a new variable. The file does not contain it, thus nothing is shadowed.
func (w *rewriter) name(base string) string {
	for {
		w.names++
		if name := fmt.Sprintf("%s%d", base, w.names); !bytes.Contains(w.src, []byte(name)) {
			return name
		}
	}
}

// literal returns an expression that makes the message of a composite literal.
func (w *rewriter) literal(n *types.Named, lit *ast.CompositeLit) string {
	if len(lit.Elts) == 0 {
		return w.constructor(n) + "()"
	}
	v := w.name(strings.ToLower(n.Obj().Name()[:1]))
	return "func() " + w.typeName(n) + " {\n" + v + " := " + w.constructor(n) + "()" + w.fill(v, n, lit) + "\nreturn " + v + "\n}()"
}

// fill returns statements that set the fields of v as a literal does, each on a line.
func (w *rewriter) fill(v string, n *types.Named, lit *ast.CompositeLit) string {
	text := ""
	fields := n.Underlying().(*types.Struct)
	at := lit.Lbrace
	for i, e := range lit.Elts {
		text += w.comments(at, e.Pos())
		at = e.End()
		value, field := e, ""
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			value, field = kv.Value, kv.Key.(*ast.Ident).Name
		} else if i < fields.NumFields() {
			field = fields.Field(i).Name()
		}
		line, ok := w.set(v, n, field, value, false)
		if !ok {
			w.todo(e, "%s can't be set this way: see the setters of %s", field, n.Obj().Name())
			original := strings.ReplaceAll(string(w.src[e.Pos()-w.start:e.End()-w.start]), "\n", "\n// ")
			line = "// " + original
		}
		text += "\n" + line
	}
	return text + w.comments(at, lit.Rbrace)
}

// comments returns the comments between two positions, each on a line.
func (w *rewriter) comments(from, to token.Pos) string {
	text := ""
	i, _ := slices.BinarySearchFunc(w.notes, from, func(g *ast.CommentGroup, pos token.Pos) int { return cmp.Compare(g.Pos(), pos) })
	for ; i < len(w.notes) && w.notes[i].Pos() < to; i++ {
		for _, c := range w.notes[i].List {
			text += "\n" + c.Text
		}
	}
	return text
}

// set returns statements that set a field of x. pointed says that the field points to the value.
func (w *rewriter) set(x string, n *types.Named, field string, value ast.Expr, pointed bool) (string, bool) {
	value = ast.Unparen(value)
	set := w.accessor(n, "Set", field)
	if w.info.Types[value].IsNil() {
		if unset := w.accessor(n, "Unset", field); unset != nil {
			return x + "." + unset.Name() + "()", true
		}
		return "", false
	}
	if text, ok := w.made(x, n, field, value); ok {
		return text, true
	}
	if lit, ok := value.(*ast.CompositeLit); ok {
		if text, ok := w.list(x, n, field, lit); ok {
			return text, true
		}
	}
	if set == nil {
		return "", false
	}
	typ := w.info.TypeOf(value)
	if scalarPointer(typ) && !pointed {
		inner, ok := w.pointee(value)
		if !ok || !w.fits(deref(typ), parameterOf(set)) {
			return "", false
		}
		return x + "." + set.Name() + "(" + inner + ")", true
	}
	if b, ok := typ.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 || w.fits(typ, parameterOf(set)) {
		return x + "." + set.Name() + "(" + w.expr(value) + ")", true
	}
	if isMap(typ) {
		if whole := w.accessor(n, "Set", field+"Map"); whole != nil && w.fits(typ, parameterOf(whole)) {
			return x + "." + whole.Name() + "(" + w.expr(value) + ")", true
		}
	}
	return w.copied(x, n, field, value)
}

// made returns statements that make a struct in a field of x, if the value is &T{…} or NewT().
func (w *rewriter) made(x string, n *types.Named, field string, value ast.Expr) (string, bool) {
	if lit, child := w.addressed(value); child != nil {
		if make := w.accessor(n, "New", field); make != nil && types.Identical(resultOf(make), w.newNamed(child)) {
			if len(lit.Elts) == 0 {
				return x + "." + make.Name() + "()", true
			}
			v := w.name(strings.ToLower(child.Obj().Name()[:1]))
			return "{\n" + v + " := " + x + "." + make.Name() + "()" + w.fill(v, child, lit) + "\n}", true
		}
	}
	if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 0 {
		child, _ := w.oldStruct(w.info.TypeOf(call))
		make := w.accessor(n, "New", field)
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && child != nil && make != nil && sel.Sel.Name == "New"+child.Obj().Name() &&
			types.Identical(resultOf(make), w.newNamed(child)) {
			return x + "." + make.Name() + "()", true
		}
	}
	return "", false
}

// copied returns statements that copy a Go slice of structs into a list. A nil slice leaves an
// optional field unset.
func (w *rewriter) copied(x string, n *types.Named, field string, value ast.Expr) (string, bool) {
	s, ok := w.info.TypeOf(value).Underlying().(*types.Slice)
	if !ok {
		return "", false
	}
	elem, pointer := w.oldStruct(s.Elem())
	make := w.accessor(n, "New", field)
	set := method(resultOf(make), "Set")
	if elem == nil || !pointer || set == nil || set.Signature().Params().Len() != 2 ||
		!types.Identical(set.Signature().Params().At(1).Type(), w.newNamed(elem)) {
		return "", false
	}
	from, list := w.name("from"), w.name("list")
	text := list + " := " + x + "." + make.Name() + "(len(" + from + "))\nfor i, v := range " + from + " {\n" + list + ".Set(i, v)\n}"
	head := "{\n" + from + " := " + w.expr(value) + "\n"
	if unset := w.accessor(n, "Unset", field); unset != nil && method(types.NewPointer(n), "IsSet"+field) != nil {
		head = "if " + from + " := " + w.expr(value) + "; " + from + " == nil {\n" + x + "." + unset.Name() + "()\n} else {\n"
	}
	return head + text + "\n}", true
}

func deref(t types.Type) types.Type { return types.Unalias(t).(*types.Pointer).Elem() }

// pointee returns the value that an expression makes a pointer to: &v, thrift.Int64Ptr(v) and the
// like.
func (w *rewriter) pointee(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		return w.expr(e.X), true
	case *ast.CallExpr:
		name := ""
		switch fun := e.Fun.(type) {
		case *ast.SelectorExpr:
			name = fun.Sel.Name
		case *ast.Ident:
			name = fun.Name
		}
		if len(e.Args) == 1 && (strings.Contains(strings.ToLower(name), "ptr") || strings.Contains(strings.ToLower(name), "pointer") || name == "new") {
			return w.expr(e.Args[0]), true
		}
	}
	return "", false
}

// list returns statements that make a list of structs as a literal does.
func (w *rewriter) list(x string, n *types.Named, field string, lit *ast.CompositeLit) (string, bool) {
	s, ok := w.info.TypeOf(lit).Underlying().(*types.Slice)
	if !ok {
		return "", false
	}
	elem, pointer := w.oldStruct(s.Elem())
	make := w.accessor(n, "New", field)
	if elem == nil || !pointer || make == nil || method(resultOf(make), "At") == nil {
		return "", false
	}
	list := w.name("list")
	text := "{\n" + list + " := " + x + "." + make.Name() + fmt.Sprintf("(%d)", len(lit.Elts))
	for i, e := range lit.Elts {
		inner, child := w.addressed(e)
		switch {
		case child != nil && len(inner.Elts) == 0:
		case child != nil:
			v := w.name(strings.ToLower(child.Obj().Name()[:1]))
			text += fmt.Sprintf("\n%s := %s.At(%d)", v, list, i) + w.fill(v, child, inner)
		default:
			if _, keyed := e.(*ast.KeyValueExpr); keyed {
				return "", false
			}
			text += fmt.Sprintf("\n%s.Set(%d, %s)", list, i, w.expr(e))
		}
	}
	if len(lit.Elts) == 0 {
		return x + "." + make.Name() + "(0)", true
	}
	return text + "\n_ = " + list + "\n}", true
}
