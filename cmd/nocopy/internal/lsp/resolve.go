package lsp

import (
	"sort"
	"strings"
)

// target is a declaration and the file that it is in; n is nil if there is none.
type target struct {
	f *file
	n *node
}

// name returns the declaration's name.
func (t target) name() string { return t.f.text(t.n.name) }

// part is a piece of a name, between dots, with what it refers to.
type part struct {
	span
	target
}

// maxTypedefs is how many typedefs are followed; more than these would be a circle.
const maxTypedefs = 64

// parts returns what the pieces of a name refer to; nil if that is not declared. The last piece is
// the name of the declaration itself, those before it are of its file or its enum.
func (w *workspace) parts(f *file, r ref) []part {
	name := f.text(r.span)
	if n := f.byName[name]; n != nil && fits(n, r.use) {
		return []part{{r.span, target{f, n}}}
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil
	}
	left, last := span{r.from, r.from + int32(dot)}, span{r.from + int32(dot) + 1, r.to}
	for _, inc := range f.nodes {
		if inc.kind != includeNode || prefix(f.included(inc)) != name[:dot] {
			continue
		}
		g := w.include(f, inc)
		if g == nil {
			continue
		}
		if n := g.byName[name[dot+1:]]; n != nil && fits(n, r.use) {
			return []part{{left, target{f, inc}}, {last, target{g, n}}}
		}
	}
	if r.use != valueUse {
		return nil
	}
	list := w.parts(f, ref{left, typeUse})
	if list == nil {
		return nil
	}
	enum := w.follow(list[len(list)-1].target)
	if enum.n == nil || enum.n.kind != enumNode {
		return nil
	}
	if v := enum.f.child(enum.n, name[dot+1:]); v != nil {
		return append(list, part{last, target{enum.f, v}})
	}
	return nil
}

// fits reports whether a name used in some way can be that of a definition.
func fits(n *node, u use) bool {
	switch u {
	case typeUse:
		return n.isType()
	case serviceUse:
		return n.kind == serviceNode
	}
	return n.kind == constNode
}

// follow returns the type that a typedef stands for, if that has a name; else t itself, or the
// last of the typedefs.
func (w *workspace) follow(t target) target {
	for range maxTypedefs {
		if t.n == nil || t.n.kind != typedefNode || t.n.typ == nil {
			break
		}
		next := w.typeOf(t.f, t.n.typ)
		if next.n == nil {
			break
		}
		t = next
	}
	return t
}

// typeOf returns the definition of a type. There is none of base types and containers.
func (w *workspace) typeOf(f *file, typ *typeRef) target {
	if typ == nil || typ.args != nil {
		return target{}
	}
	list := w.parts(f, ref{typ.name, typeUse})
	if list == nil {
		return target{}
	}
	return list[len(list)-1].target
}

// resolved returns a type with typedefs resolved, and the file that it is written in.
func (w *workspace) resolved(f *file, typ *typeRef) (*file, *typeRef) {
	if t := w.follow(w.typeOf(f, typ)); t.n != nil && t.n.kind == typedefNode {
		return t.f, t.n.typ
	}
	return f, typ
}

// refAt returns the name that refers to something at an offset.
func (f *file) refAt(offset int) (ref, bool) {
	i := sort.Search(len(f.refs), func(i int) bool { return int(f.refs[i].to) >= offset })
	if i < len(f.refs) && f.refs[i].has(offset) {
		return f.refs[i], true
	}
	return ref{}, false
}

// targetAt returns what is declared or referred to at an offset, and the range of its name there.
func (w *workspace) targetAt(f *file, offset int) (target, span) {
	if r, ok := f.refAt(offset); ok {
		for _, p := range w.parts(f, r) {
			if p.has(offset) {
				return p.target, p.span
			}
		}
		return target{}, span{}
	}
	if n := f.named(offset); n != nil {
		return target{f, n}, n.name
	}
	if n := f.at(offset); n != nil && n.value.has(offset) {
		for k := range w.keys(f, n) {
			if k.has(offset) {
				return k.target, k.span
			}
		}
	}
	return target{}, span{}
}
