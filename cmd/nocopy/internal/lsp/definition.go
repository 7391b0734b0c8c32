package lsp

import (
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

func (s *server) definition(p *protocol.DefinitionParams) (any, error) {
	f, at, err := s.at(p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	t, _ := s.targetAt(f, at)
	if t.n == nil {
		return nil, nil
	}
	if t.n.kind == includeNode {
		g := s.include(t.f, t.n)
		if g == nil {
			return nil, nil
		}
		return protocol.Location{URI: s.uri(g)}, nil
	}
	return protocol.Location{URI: s.uri(t.f), Range: t.f.lines().rangeOf(t.n.name)}, nil
}

func (s *server) references(p *protocol.ReferenceParams) (any, error) {
	f, at, err := s.at(p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	list := []protocol.Location{}
	t, _ := s.targetAt(f, at)
	if t.n == nil {
		return list, nil
	}
	s.uses(t, func(g *file, spans []span) {
		table, uri := g.lines(), s.uri(g)
		for _, at := range spans {
			if g != t.f || at != t.n.name || p.Context.IncludeDeclaration {
				list = append(list, protocol.Location{URI: uri, Range: table.rangeOf(at)})
			}
		}
	})
	return list, nil
}

// uses calls visit for each file that has the name of a declaration, with the ranges of the names:
// that of the declaration itself among them. Of an included file, these are the names before dots.
func (s *server) uses(t target, visit func(*file, []span)) {
	if !s.watched {
		s.find() // there may be new files
	}
	name := t.name()
	if t.n.kind == includeNode {
		name = prefix(t.f.included(t.n))
	}
	for _, g := range s.all() {
		if s.ctx.Err() != nil {
			return
		}
		if !strings.Contains(g.src, name) {
			continue
		}
		if spans := s.usesIn(g, t, name); spans != nil {
			visit(g, spans)
		}
	}
}

// scanned returns the file with its tokens.
func (f *file) scanned() *file {
	if f.tokens != nil {
		return f
	}
	g, t := *f, *f.tree
	g.tree, t.tokens = &t, f.allTokens()
	return &g
}

// usesIn is uses for one file.
func (s *server) usesIn(g *file, t target, name string) (spans []span) {
	is := func(p part) bool { return p.n == t.n }
	if g == t.f {
		spans = append(spans, t.n.name)
	}
	for _, r := range g.refs {
		if strings.Contains(g.text(r.span), name) {
			for _, p := range s.parts(g, r) {
				if is(p) {
					spans = append(spans, p.span)
				}
			}
		}
	}
	if t.n.kind == fieldNode && t.n.parent.hasFields() {
		g = g.scanned()
		g.all(func(n *node) {
			if n.value.from < n.value.to && strings.Contains(g.text(n.value), name) {
				for k := range s.keys(g, n) {
					if is(k) {
						spans = append(spans, k.span)
					}
				}
			}
		})
	}
	return spans
}
