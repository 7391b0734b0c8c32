package lsp

import (
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

// symbolKinds are the protocol's kinds of declarations.
var symbolKinds = map[nodeKind]protocol.SymbolKind{
	includeNode: protocol.SymbolKindModule, namespaceNode: protocol.SymbolKindNamespace, constNode: protocol.SymbolKindConstant,
	typedefNode: protocol.SymbolKindTypeParameter, enumNode: protocol.SymbolKindEnum, structNode: protocol.SymbolKindStruct,
	unionNode: protocol.SymbolKindStruct, exceptionNode: protocol.SymbolKindStruct, serviceNode: protocol.SymbolKindInterface,
	valueNode: protocol.SymbolKindEnumMember, fieldNode: protocol.SymbolKindField, methodNode: protocol.SymbolKindMethod,
}

func (s *server) documentSymbols(p *protocol.DocumentSymbolParams) (any, error) {
	f, err := s.file(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	table := f.lines()
	var symbols func(list []*node) []protocol.DocumentSymbol
	symbols = func(list []*node) []protocol.DocumentSymbol {
		out := []protocol.DocumentSymbol{}
		for _, n := range list {
			name := f.text(n.name)
			if n.kind == includeNode {
				name = unquote(name)
			}
			if name == "" || n.parent != nil && n.parent.kind == methodNode { // arguments would be too much
				continue
			}
			symbol := protocol.DocumentSymbol{Name: name, Kind: symbolKinds[n.kind], Range: table.rangeOf(n.span), SelectionRange: table.rangeOf(n.name), Children: symbols(n.children)}
			if detail := f.detail(n); detail != "" {
				symbol.Detail = &detail
			}
			out = append(out, symbol)
		}
		return out
	}
	return symbols(f.nodes), nil
}

// detail returns what stands beside the name of a declaration in lists.
func (f *file) detail(n *node) string {
	switch n.kind {
	case fieldNode, constNode, typedefNode:
		return f.typeText(n.typ)
	case methodNode:
		return f.signature(n)
	case valueNode, namespaceNode:
		return f.text(n.id)
	case structNode, unionNode, exceptionNode:
		return f.word(n)
	}
	return ""
}

// signature returns a method's types on one line.
func (f *file) signature(n *node) string {
	result := "void"
	if n.typ != nil {
		result = f.typeText(n.typ)
	}
	var args, throws []string
	for _, c := range n.children {
		if c.throws {
			throws = append(throws, f.typeText(c.typ))
		} else {
			args = append(args, f.typeText(c.typ)+" "+f.text(c.name))
		}
	}
	text := result + " (" + strings.Join(args, ", ") + ")"
	if throws != nil {
		text += " throws (" + strings.Join(throws, ", ") + ")"
	}
	return text
}

// maxSymbols bounds an answer: nobody reads more.
const maxSymbols = 1000

func (s *server) workspaceSymbols(p *protocol.WorkspaceSymbolParams) (any, error) {
	query := strings.ToLower(p.Query)
	list := []protocol.SymbolInformation{}
	if !s.watched {
		s.find()
	}
	for _, f := range s.all() {
		if s.ctx.Err() != nil {
			return nil, errCancelled
		}
		var table *lines
		f.all(func(n *node) {
			name := f.text(n.name)
			inMethod := n.parent != nil && n.parent.kind == methodNode
			if name == "" || n.kind <= namespaceNode || inMethod || len(list) >= maxSymbols || !strings.Contains(strings.ToLower(name), query) {
				return
			}
			if table == nil {
				table = f.lines()
			}
			symbol := protocol.SymbolInformation{Name: name, Kind: symbolKinds[n.kind], Location: protocol.Location{URI: s.uri(f), Range: table.rangeOf(n.name)}}
			if n.parent != nil {
				container := f.text(n.parent.name)
				symbol.ContainerName = &container
			}
			list = append(list, symbol)
		})
	}
	return list, nil
}
