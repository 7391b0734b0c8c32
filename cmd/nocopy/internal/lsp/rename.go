package lsp

import (
	"regexp"

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
	changes := map[string][]protocol.TextEdit{}
	s.uses(t, func(g *file, spans []span) {
		table, uri := g.lines(), s.uri(g)
		for _, at := range spans {
			changes[uri] = append(changes[uri], protocol.TextEdit{Range: table.rangeOf(at), NewText: p.NewName})
		}
	})
	return protocol.WorkspaceEdit{Changes: changes}, nil
}
