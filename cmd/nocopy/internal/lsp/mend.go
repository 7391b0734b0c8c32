package lsp

import (
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// mended is a text that the parser of package idl accepts: what is wrong in it is blank, and all
// else is where it was. Checks thus see everything but the pieces with mistakes.
type mended struct {
	text   string
	ast    *idl.File
	errors idl.ErrorList // of syntax
}

// maxRounds is how often a text with errors is parsed: each time, a definition tells its first
// error only.
const maxRounds = 5

// mend parses a file. c is the cache of its former texts.
func mend(f *file, c *idl.Cache) mended {
	m := &mender{file: f, cache: c, blank: map[span]*node{}}
	m.parse()
	m.out.errors = m.errors
	for round := 0; len(m.errors) > 0 && round < maxRounds; round++ {
		for _, e := range m.errors {
			m.member(e.Pos.Offset)
		}
		m.parse()
		m.out.errors = append(m.out.errors, m.errors...)
	}
	if len(m.blank) > 0 {
		m.rest()
	}
	m.out.errors.Sort()
	for s, n := range m.blank {
		m.undeclare(s, n)
	}
	return m.out
}

type mender struct {
	*file
	cache  *idl.Cache
	blank  map[span]*node // what is blank; nil is text that belongs to no node
	errors idl.ErrorList  // of the last parsing
	out    mended
}

// parse parses the text with what is blank.
func (m *mender) parse() {
	m.out.text = m.src
	if len(m.blank) > 0 {
		b := []byte(m.src)
		for s := range m.blank {
			for i := s.from; i < s.to; i++ {
				if b[i] != '\n' && b[i] != '\r' {
					b[i] = ' '
				}
			}
		}
		m.out.text = string(b)
	}
	var err error
	m.out.ast, err = m.cache.Parse(m.path, []byte(m.out.text))
	m.errors, _ = err.(idl.ErrorList)
}

// member blanks what is most likely wrong if the parser stops at an offset: the last broken member
// of the definition that begins before, or else the member at the offset, or else all of it.
func (m *mender) member(offset int) {
	top, stray := m.around(offset)
	if top == nil {
		m.blank[stray] = nil
		return
	}
	var found *node
	for _, n := range top.children {
		if _, done := m.blank[n.span]; !done && int(n.from) <= offset && (n.broken || anyBroken(n) || n.has(offset) && found == nil) {
			found = n
		}
	}
	if found == nil || top.broken && int(top.body.to) <= offset {
		found = top
	}
	m.blank[found.span] = found
}

func anyBroken(n *node) bool {
	return slices.ContainsFunc(n.children, func(c *node) bool { return c.broken })
}

// around returns the definition that an offset is in or follows, or the text between definitions
// that it is in.
func (m *mender) around(offset int) (*node, span) {
	stray := span{0, int32(len(m.src))}
	for i, n := range m.nodes {
		switch {
		case int(n.to) <= offset:
			stray.from = n.to
		case int(n.from) == offset && i > 0 && m.nodes[i-1].broken && m.blank[m.nodes[i-1].span] == nil:
			return m.nodes[i-1], span{} // its end is missing
		case int(n.from) <= offset:
			return n, span{}
		default:
			stray.to = min(stray.to, n.from)
		}
	}
	if _, done := m.blank[stray]; (done || strings.TrimSpace(m.text(stray)) == "") && stray.from > 0 {
		for _, n := range m.nodes { // an error at the end of one is told at what comes next
			if n.to == stray.from {
				return n, span{}
			}
		}
	}
	return nil, stray
}

// rest blanks all that is broken, and enums whose values are, since these are looked up. If that
// is not enough, it blanks whole definitions.
func (m *mender) rest() {
	for _, e := range m.errors {
		m.member(e.Pos.Offset)
	}
	for _, top := range m.nodes {
		for _, n := range top.children {
			if _, done := m.blank[n.span]; done && top.kind == enumNode {
				m.blank[top.span] = top
			} else if len(m.errors) > 0 && !done && (n.broken || anyBroken(n)) {
				m.blank[n.span] = n
				m.unexplained(n)
			}
		}
	}
	for range 2 {
		m.parse()
		for _, e := range m.errors {
			if top, stray := m.around(e.Pos.Offset); top != nil {
				m.blank[top.span] = top
			} else {
				m.blank[stray] = nil
			}
		}
	}
}

// unexplained adds an error about a broken node if the parser stopped before it.
func (m *mender) unexplained(n *node) {
	at := m.lines().position(int(n.from))
	pos := idl.Position{Filename: m.path, Offset: int(n.from), Line: int(at.Line) + 1, Column: int(at.Character) + 1}
	m.out.errors.Add(pos, "this is no %s", map[nodeKind]string{valueNode: "value", fieldNode: "field", methodNode: "method"}[n.kind])
}

// undeclare tells the checks that what a blank piece declares may be there.
func (m *mender) undeclare(s span, n *node) {
	switch {
	case n == nil || n.kind == typedefNode: // its name may not be found
		for _, t := range m.tokensIn(s) {
			if t.kind == wordToken {
				m.out.ast.Broken[m.text(t.span)] = true
			}
		}
	case n.kind == includeNode:
		for _, t := range m.tokensIn(s) { // the path; a quote may be missing
			m.out.ast.Broken[prefix(strings.Trim(m.text(t.span), "\"'"))+"."] = true
		}
	case n.parent == nil:
		m.out.ast.Broken[m.text(n.name)] = true
	}
}
