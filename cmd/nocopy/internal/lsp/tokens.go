package lsp

import (
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

// The kinds of semantic tokens, by their place in the legend.
const (
	tokNamespace = iota
	tokType
	tokEnum
	tokStruct
	tokInterface
	tokEnumMember
	tokProperty
	tokParameter
	tokMethod
	tokVariable
	tokKeyword
	tokString
	tokNumber
	tokComment
	tokDecorator
)

var legend = protocol.SemanticTokensLegend{
	TokenTypes: strings.Fields("namespace type enum struct interface enumMember property parameter method variable keyword string number comment decorator"),
	// A declaration has the first one, a base type the second.
	TokenModifiers: []string{"declaration", "defaultLibrary"},
}

const (
	modDeclaration = 1 << iota
	modLibrary
)

// tokenKinds are the kinds of declared names.
var tokenKinds = map[nodeKind]int{
	includeNode: tokNamespace, namespaceNode: tokNamespace, constNode: tokVariable, typedefNode: tokType, enumNode: tokEnum, structNode: tokStruct, unionNode: tokStruct,
	exceptionNode: tokStruct, serviceNode: tokInterface, valueNode: tokEnumMember, fieldNode: tokProperty, methodNode: tokMethod,
}

func (s *server) semanticTokens(p *protocol.SemanticTokensParams) (any, error) {
	f, err := s.file(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	e := encoder{table: f.lines(), data: []uint32{}}
	names, tokens := f.nameKinds(), f.allTokens()
	for i, t := range tokens {
		name, known := names[t.from]
		switch {
		case t.kind == commentToken:
			e.add(t.span, tokComment, 0)
		case t.kind == textToken:
			e.add(t.span, tokString, 0)
		case t.kind == numberToken:
			e.add(t.span, tokNumber, 0)
		case t.kind == wordToken && known && name.modifiers == 0:
			s.reference(&e, f, ref{t.span, name.use})
		case t.kind == wordToken && known:
			e.add(t.span, name.kind, name.modifiers)
		case t.kind == wordToken:
			e.word(t.span, f.text(t.span), i > 0 && (tokens[i-1].kind == textToken || strings.Contains("(,;", f.text(tokens[i-1].span))))
		}
	}
	return protocol.SemanticTokens{Data: e.data}, nil
}

// nameKind is the kind of a declared name, or the use of another one.
type nameKind struct {
	kind, modifiers int
	use             use
}

// nameKinds returns the kinds of the names in a file by their offsets.
func (f *file) nameKinds() map[int32]nameKind {
	names := map[int32]nameKind{}
	f.all(func(n *node) {
		kind := tokenKinds[n.kind]
		if n.kind == fieldNode && n.parent.kind == methodNode {
			kind = tokParameter
		}
		if n.kind != includeNode {
			names[n.name.from] = nameKind{kind, modDeclaration, 0}
		}
	})
	for _, r := range f.refs {
		names[r.from] = nameKind{use: r.use}
	}
	return names
}

// word adds a word that is no name. It may be the key of an annotation.
func (e *encoder) word(s span, text string, mayBeKey bool) {
	switch {
	case baseSizes[text] > 0 || text == "string" || text == "binary" || text == "map" || text == "list" || text == "set":
		e.add(s, tokType, modLibrary)
	case reservedWords[text]:
		e.add(s, tokKeyword, 0)
	case mayBeKey:
		e.add(s, tokDecorator, 0)
	}
}

// reservedWords are the words of the IDL that are no types.
var reservedWords = words(`namespace cpp_include include void cpp_type oneway async typedef struct union exception extends throws service enum const
	required optional xsd_all xsd_optional xsd_nillable xsd_attrs true false`)

// encoder makes the numbers of semantic tokens: each has five, its place relative to the one
// before.
type encoder struct {
	table *lines
	data  []uint32
	last  protocol.Position
}

// add adds a token; one of several lines as one of each.
func (e *encoder) add(s span, kind, modifiers int) {
	for s.from < s.to {
		end := s.to
		if i := strings.IndexAny(s.in(e.table.src), "\r\n"); i >= 0 {
			end = s.from + int32(i)
		}
		if end > s.from {
			from, to := e.table.position(int(s.from)), e.table.position(int(end))
			column := from.Character
			if from.Line == e.last.Line {
				column -= e.last.Character
			}
			e.data = append(e.data, from.Line-e.last.Line, column, to.Character-from.Character, uint32(kind), uint32(modifiers))
			e.last = from
		}
		s.from = end + 1
	}
}

// reference adds a name that refers to something, in its pieces.
func (s *server) reference(e *encoder, f *file, r ref) {
	parts := s.parts(f, r)
	for _, p := range parts {
		e.add(p.span, tokenKinds[p.n.kind], 0)
	}
	if parts != nil {
		return
	}
	left, last := tokNamespace, tokType // of a name that is not declared
	if r.use == valueUse {
		left, last = tokEnum, tokVariable
	}
	if dot := int32(strings.LastIndexByte(f.text(r.span), '.')); dot > 0 {
		e.add(span{r.from, r.from + dot}, left, 0)
		r.from += dot + 1
	}
	e.add(r.span, last, 0)
}
