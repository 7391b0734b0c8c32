package lsp

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// nodeKind is the kind of a node.
type nodeKind uint8

const (
	includeNode nodeKind = iota
	namespaceNode
	constNode
	typedefNode
	enumNode
	structNode
	unionNode
	exceptionNode
	serviceNode
	valueNode // of an enum
	fieldNode // also an argument or a declared exception
	methodNode
)

// definitions are the words that begin a node at the top of a file.
var definitions = map[string]nodeKind{
	"include": includeNode, "cpp_include": includeNode, "namespace": namespaceNode, "const": constNode, "typedef": typedefNode,
	"enum": enumNode, "struct": structNode, "union": unionNode, "exception": exceptionNode, "service": serviceNode,
}

// node is a declaration. What is missing in its text has an empty range where it should be.
type node struct {
	span
	kind     nodeKind
	broken   bool // it does not parse, apart from its children
	throws   bool // it is a declared exception
	parent   *node
	name     span
	id       span     // the id of a field, the number of a value
	typ      *typeRef // nil if there is none
	value    span     // the default of a field, the value of a constant
	body     span     // between braces or, of a method's arguments, parentheses
	children []*node
}

// hasFields reports whether a node is a struct, a union or an exception.
func (n *node) hasFields() bool { return structNode <= n.kind && n.kind <= exceptionNode }

// isType reports whether a node defines a type.
func (n *node) isType() bool { return typedefNode <= n.kind && n.kind <= exceptionNode }

// typeRef is a type as it is written.
type typeRef struct {
	name span       // with the words map, set and list
	args []*typeRef // of these
}

// use says what a ref refers to.
type use uint8

const (
	typeUse use = iota
	valueUse
	serviceUse
)

// ref is a name that refers to a definition.
type ref struct {
	span
	use use
}

// tree is what a text consists of. It does not change.
type tree struct {
	src    string
	tokens []token // with comments; nil once it was compacted
	nodes  []*node // in the order of the text
	refs   []ref   // likewise
	byName map[string]*node
}

// parse returns the tree of a text. Every text has one.
func parse(src string) *tree {
	p := &parser{tree: &tree{src: src, tokens: scan(src), byName: map[string]*node{}}}
	p.tokens = make([]token, 0, len(p.tree.tokens))
	for _, t := range p.tree.tokens {
		if t.kind != commentToken {
			p.tokens = append(p.tokens, t)
		}
	}
	p.file()
	for _, n := range p.tree.nodes {
		if name := p.tree.text(n.name); n.kind > namespaceNode && name != "" && p.tree.byName[name] == nil {
			p.tree.byName[name] = n
		}
	}
	return p.tree
}

// compact drops the tokens, which take most of a tree's memory, and room for more of all else.
func (t *tree) compact() *tree {
	t.tokens = nil
	t.refs, t.nodes = slices.Clone(t.refs), slices.Clone(t.nodes)
	t.all(func(n *node) { n.children = slices.Clone(n.children) })
	return t
}

// allTokens returns the tokens, scanned again if the tree has none.
func (t *tree) allTokens() []token {
	if t.tokens == nil {
		return scan(t.src)
	}
	return t.tokens
}

func (t *tree) text(s span) string { return s.in(t.src) }

// included returns the path that an include line names.
func (t *tree) included(n *node) string { return unquote(t.text(n.name)) }

// unquote returns the text between quotes.
func unquote(s string) string {
	if s == "" {
		return ""
	}
	return strings.TrimSuffix(s[1:], s[:1])
}

// prefix returns the name that an included file's names begin with.
func prefix(name string) string {
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	return strings.TrimSuffix(base, path.Ext(base))
}

// all calls visit for all nodes, those that contain others first.
func (t *tree) all(visit func(*node)) {
	var walk func(list []*node)
	walk = func(list []*node) {
		for _, n := range list {
			visit(n)
			walk(n.children)
		}
	}
	walk(t.nodes)
}

// at returns the innermost node at an offset, nil if there is none.
func (t *tree) at(offset int) (found *node) {
	list := t.nodes
	for {
		var in *node
		for _, n := range list {
			if n.has(offset) {
				in = n
			}
		}
		if in == nil {
			return found
		}
		found, list = in, in.children
	}
}

// named returns the node whose name is at an offset.
func (t *tree) named(offset int) *node {
	for n := t.at(offset); n != nil; n = n.parent {
		if n.name.has(offset) && n.name.from < n.name.to {
			return n
		}
	}
	return nil
}

// child returns the child with a name.
func (t *tree) child(n *node, name string) *node {
	for _, c := range n.children {
		if t.text(c.name) == name {
			return c
		}
	}
	return nil
}

// top returns the definition that a node is in.
func (n *node) top() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// number returns the id of a field or the number of a value. It is false if there is none.
func (t *tree) number(n *node) (int64, bool) {
	v, err := strconv.ParseInt(t.text(n.id), 0, 64)
	return v, err == nil
}

// typeText returns a type on one line.
func (t *tree) typeText(typ *typeRef) string {
	if typ == nil {
		return ""
	}
	var args []string
	for _, a := range typ.args {
		args = append(args, t.typeText(a))
	}
	if args == nil {
		return t.text(typ.name)
	}
	return t.text(typ.name) + "<" + strings.Join(args, ", ") + ">"
}
