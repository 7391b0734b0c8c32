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

// valuePlaces calls visit for each name, number and text of a node's value that begins before an
// offset, with its place, and returns the place at that offset.
func (w *workspace) valuePlaces(f *file, n *node, before int, visit func(token, place)) place {
	type frame struct {
		f     *file
		typ   *typeRef // of the whole
		isKey bool     // a key comes next, of a map or struct
		close byte     // 0 at the outside
		field target   // after its key
	}
	expect := func(in frame) place {
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
		case in.close == '}' && len(typ.args) == 2 && in.isKey:
			return place{f: g, typ: typ.args[0]}
		case in.close == '}' && len(typ.args) == 2:
			return place{f: g, typ: typ.args[1]}
		case in.close == '}' && s.n != nil && s.n.hasFields() && in.isKey:
			return place{of: s}
		case in.close == '}' && in.field.n != nil:
			return place{f: in.field.f, typ: in.field.n.typ}
		}
		return place{}
	}
	stack := []frame{{f: f, typ: n.typ}}
	tokens := f.allTokens()
	i := sort.Search(len(tokens), func(i int) bool { return tokens[i].from >= n.value.from })
	for ; i < len(tokens) && int(tokens[i].from) < before && tokens[i].to <= n.value.to; i++ {
		t, in := tokens[i], &stack[len(stack)-1]
		if t.kind == commentToken {
			continue
		}
		text := f.text(t.span)
		switch {
		case t.kind != punctToken:
			at := expect(*in)
			visit(t, at)
			if at.of.n != nil {
				in.field = target{}
				if c := at.of.f.child(at.of.n, unquote(text)); c != nil {
					in.field = target{at.of.f, c}
				}
			}
			if !in.isKey {
				in.isKey = true
			}
		case text == ":":
			in.isKey = false
		case text == "," || text == ";":
			in.isKey = true
		case text == "[" || text == "{":
			at := expect(*in)
			in.isKey = true
			stack = append(stack, frame{f: at.f, typ: at.typ, isKey: true, close: text[0] + 2})
		case len(stack) > 1:
			stack = stack[:len(stack)-1]
		}
	}
	return expect(stack[len(stack)-1])
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
