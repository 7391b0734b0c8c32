package lsp

import (
	"iter"
	"sort"
)

// place is where a value stands: in it, a value of the type typ of file f is expected or, if of is
// not nil, the name of one of its fields.
type place struct {
	f   *file
	typ *typeRef
	of  target
}

// valueWalk goes through the tokens of a value, and knows the place of each.
type valueWalk struct {
	*workspace
	stack []frame // the outside first
}

// frame is a list, a set, a map or a struct that is open, or the outside.
type frame struct {
	f     *file
	typ   *typeRef // of the whole
	close byte     // 0 at the outside
	isKey bool     // the next one is a key of a map or struct, not its value
	field target   // whose value is the next one
}

// expected returns the place of the next value.
func (w *valueWalk) expected() place {
	in := &w.stack[len(w.stack)-1]
	if in.close == 0 {
		return place{f: in.f, typ: in.typ}
	}
	g, typ := w.resolved(in.f, in.typ)
	if typ == nil {
		return place{}
	}
	switch s := w.follow(w.typeOf(g, typ)); {
	case in.close == ']' && len(typ.args) == 1:
		return place{f: g, typ: typ.args[0]}
	case in.close == ']':
		return place{}
	case len(typ.args) == 2 && in.isKey:
		return place{f: g, typ: typ.args[0]}
	case len(typ.args) == 2:
		return place{f: g, typ: typ.args[1]}
	case s.n != nil && s.n.hasFields() && in.isKey:
		return place{of: s}
	case in.field.n != nil:
		return place{f: in.field.f, typ: in.field.n.typ}
	}
	return place{}
}

// punct goes on after a bracket or separator.
func (w *valueWalk) punct(text string) {
	in := &w.stack[len(w.stack)-1]
	switch text {
	case ":":
		in.isKey = false
	case ",", ";":
		in.isKey = true
	case "[", "{":
		at := w.expected()
		in.isKey = true
		w.stack = append(w.stack, frame{f: at.f, typ: at.typ, isKey: true, close: text[0] + 2})
	default:
		if len(w.stack) > 1 {
			w.stack = w.stack[:len(w.stack)-1]
		}
	}
}

// scalar goes on after a name, number or text, and returns its place.
func (w *valueWalk) scalar(text string) place {
	in, at := &w.stack[len(w.stack)-1], w.expected()
	if at.of.n != nil {
		in.field = target{}
		if c := at.of.f.child(at.of.n, unquote(text)); c != nil {
			in.field = target{at.of.f, c}
		}
	}
	in.isKey = true // a colon changes that
	return at
}

// valuePlaces calls visit for each name, number and text of a node's value that begins before an
// offset, with its place, and returns the place at that offset.
func (w *workspace) valuePlaces(f *file, n *node, before int, visit func(token, place)) place {
	walk := &valueWalk{w, []frame{{f: f, typ: n.typ}}}
	tokens := f.allTokens()
	i := sort.Search(len(tokens), func(i int) bool { return tokens[i].from >= n.value.from })
	for ; i < len(tokens) && int(tokens[i].from) < before && tokens[i].to <= n.value.to; i++ {
		switch t := tokens[i]; t.kind {
		case commentToken:
		case punctToken:
			walk.punct(f.text(t.span))
		default:
			visit(t, walk.scalar(f.text(t.span)))
		}
	}
	return walk.expected()
}

// keys returns the names of fields in a node's value.
func (w *workspace) keys(f *file, n *node) iter.Seq[part] {
	return func(yield func(part) bool) {
		more := true
		w.valuePlaces(f, n, len(f.src), func(t token, at place) {
			if !more || at.of.n == nil || t.kind != textToken || t.to-t.from < 2 {
				return
			}
			if c := at.of.f.child(at.of.n, unquote(f.text(t.span))); c != nil {
				more = yield(part{span{t.from + 1, t.to - 1}, target{at.of.f, c}})
			}
		})
	}
}
