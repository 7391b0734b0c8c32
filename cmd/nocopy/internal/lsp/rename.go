package lsp

import (
	"regexp"
	"slices"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

func (s *server) prepareRename(p *protocol.PrepareRenameParams) (any, error) {
	f, at, err := s.at(p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	t, where := s.targetAt(f, at)
	if !canRename(t) {
		return nil, nil
	}
	return protocol.RangeWithPlaceholder{Range: f.lines().rangeOf(where), Placeholder: t.name()}, nil
}

// canRename reports whether the name of a declaration can be changed. An included file has a name
// that only the disk can change.
func canRename(t target) bool {
	return t.n != nil && t.n.kind != includeNode && t.n.kind != namespaceNode
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// noNames are the words that can't be names.
var noNames = words(`namespace cpp_include include void bool byte i8 i16 i32 i64 double string binary uuid map list set oneway
	typedef struct union exception extends throws service enum const required optional async true false`)

func (s *server) rename(p *protocol.RenameParams) (any, error) {
	f, at, err := s.at(p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	t, _ := s.targetAt(f, at)
	switch {
	case !canRename(t):
		return nil, failed("there is no name here that can be changed")
	case !identifier.MatchString(p.NewName) || noNames[p.NewName]:
		return nil, failed("%q is not a name", p.NewName)
	}
	siblings := t.f.nodes
	if t.n.parent != nil {
		siblings = t.n.parent.children
	}
	for _, n := range siblings {
		if n != t.n && n.kind > namespaceNode && t.f.text(n.name) == p.NewName {
			return nil, failed("there is a %s already", p.NewName)
		}
	}
	if other := s.inherited(t, p.NewName); other.n != nil {
		return nil, failed("there is a %s in service %s already", p.NewName, target{other.f, other.n.parent}.name())
	}
	changes := map[string][]protocol.TextEdit{}
	s.uses(t, func(g *file, spans []span) {
		table, uri := g.lines(), s.uri(g)
		for _, at := range spans {
			changes[uri] = append(changes[uri], protocol.TextEdit{Range: table.rangeOf(at), NewText: p.NewName})
		}
	})
	return protocol.WorkspaceEdit{Changes: changes}, nil
}

// inherited returns a method with a name of a service that extends the one which a method is in,
// or that it extends.
func (s *server) inherited(t target, name string) (found target) {
	if t.n.kind != methodNode {
		return target{}
	}
	of := target{t.f, t.n.parent}
	look := func(service target) {
		if c := service.f.child(service.n, name); c != nil && found.n == nil {
			found = target{service.f, c}
		}
	}
	for _, base := range s.bases(of) {
		look(base)
	}
	for _, g := range s.all() {
		if !strings.Contains(g.src, name) {
			continue
		}
		for _, n := range g.nodes {
			if n.kind == serviceNode && slices.ContainsFunc(s.bases(target{g, n}), func(b target) bool { return b.n == of.n }) {
				look(target{g, n})
			}
		}
	}
	return found
}

// bases returns the services that a service extends.
func (w *workspace) bases(t target) (list []target) {
	for range maxTypedefs { // more would be a circle
		i := slices.IndexFunc(t.f.refs, func(r ref) bool { return r.use == serviceUse && t.n.from <= r.from && r.to <= t.n.to })
		if i < 0 {
			break
		}
		parts := w.parts(t.f, t.f.refs[i])
		if parts == nil {
			break
		}
		t = parts[len(parts)-1].target
		list = append(list, t)
	}
	return list
}
