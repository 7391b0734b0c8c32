package migrate

import (
	"go/ast"
	"go/types"
	"strings"
)

// oldStruct returns the generated struct that t is, or points to; nil if it is none of an old
// package, or if the new one has none of its name.
func (w *rewriter) oldStruct(t types.Type) (named *types.Named, pointer bool) {
	if t == nil {
		return nil, false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t, pointer = p.Elem(), true
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || w.pairs[n.Obj().Pkg().Path()] == "" {
		return nil, false
	}
	if _, ok := n.Underlying().(*types.Struct); !ok || w.newNamed(n) == nil {
		return nil, false
	}
	return n, pointer
}

// newNamed returns the type of the new package that has the name of one of an old package.
func (w *rewriter) newNamed(n *types.Named) *types.Named {
	if n.Obj().Pkg() == nil {
		return nil
	}
	target := w.targets[w.pairs[n.Obj().Pkg().Path()]]
	if target == nil {
		return nil
	}
	if t, ok := target.Scope().Lookup(n.Obj().Name()).(*types.TypeName); ok {
		made, _ := types.Unalias(t.Type()).(*types.Named)
		return made
	}
	return nil
}

// method returns the method of a new type by its name, in any case: Id in old code is ID in
// new one.
func method(t types.Type, name string) *types.Func {
	if t == nil {
		return nil
	}
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		if f, ok := set.At(i).Obj().(*types.Func); ok && strings.EqualFold(f.Name(), name) {
			return f
		}
	}
	return nil
}

// accessor returns the method Get, Set and so on for a field of an old struct.
func (w *rewriter) accessor(n *types.Named, verb, field string) *types.Func {
	return method(w.newNamed(n), verb+strings.TrimSuffix(field, "_"))
}

// equals are the names that generated code of others has for the method Equal.
var equals = map[string]bool{"Equals": true, "DeepEqual": true}

// fits reports whether a value of the new type goes where code expects one of the old type, once
// the names of packages are changed.
func (w *rewriter) fits(old, now types.Type) bool {
	old, now = types.Unalias(old), types.Unalias(now)
	if types.Identical(old, now) {
		return true
	}
	if n, pointer := w.oldStruct(old); n != nil && pointer {
		return types.Identical(w.newNamed(n), now)
	}
	switch old := old.(type) {
	case *types.Named:
		if made := w.newNamed(old); made != nil {
			return types.Identical(made, now)
		}
	case *types.Slice:
		n, ok := now.(*types.Slice)
		return ok && w.fits(old.Elem(), n.Elem())
	case *types.Map:
		n, ok := now.(*types.Map)
		return ok && w.fits(old.Key(), n.Key()) && w.fits(old.Elem(), n.Elem())
	}
	return false
}

// resultOf returns the type of the only result of a method, nil if it has none or several.
func resultOf(f *types.Func) types.Type {
	if f == nil || f.Signature().Results().Len() != 1 {
		return nil
	}
	return f.Signature().Results().At(0).Type()
}

// parameterOf returns the type of the only parameter of a method.
func parameterOf(f *types.Func) types.Type {
	if f == nil || f.Signature().Params().Len() != 1 {
		return nil
	}
	return f.Signature().Params().At(0).Type()
}

// scalarPointer reports whether a field is a pointer to something that is no struct: an optional
// number or text.
func scalarPointer(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	_, isStruct := p.Elem().Underlying().(*types.Struct)
	return !isStruct
}

func isContainer(t types.Type) bool {
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Map:
		return true
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return !ok || b.Kind() != types.Byte
	}
	return false
}

// findNils notes the types of nil where it is returned, passed or assigned: the type checker only
// says that it is nil.
func (w *rewriter) findNils(f *ast.File) {
	note := func(e ast.Expr, t types.Type) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && w.info.Types[id].IsNil() {
			w.nils[id] = t
		}
	}
	returns := func(body *ast.BlockStmt, sig *types.Signature) {
		if body == nil {
			return
		}
		ast.Inspect(body, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == sig.Results().Len() {
				for i, e := range r.Results {
					note(e, sig.Results().At(i).Type())
				}
			}
			_, nested := n.(*ast.FuncLit)
			return !nested
		})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if obj, ok := w.info.Defs[n.Name].(*types.Func); ok {
				returns(n.Body, obj.Signature())
			}
		case *ast.FuncLit:
			if sig, ok := w.info.TypeOf(n).(*types.Signature); ok {
				returns(n.Body, sig)
			}
		case *ast.CallExpr:
			sig, ok := w.info.TypeOf(n.Fun).(*types.Signature)
			for i, e := range n.Args {
				if ok && i < sig.Params().Len() && !(sig.Variadic() && i >= sig.Params().Len()-1) {
					note(e, sig.Params().At(i).Type())
				}
			}
		case *ast.AssignStmt:
			for i, e := range n.Rhs {
				if len(n.Lhs) == len(n.Rhs) {
					note(e, w.info.TypeOf(n.Lhs[i]))
				}
			}
		}
		return true
	})
}
