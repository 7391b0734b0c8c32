package lsp

// parser makes a tree. It goes on after each mistake: in a body with the next line or after the
// next separator, at the top of a file with the next definition.
type parser struct {
	tree   *tree
	tokens []token // without comments
	i      int
	depth  int // of types and values in each other
}

// maxDepth is how deep types and values may be in each other. Deeper ones are mistakes.
const maxDepth = 200

// peek returns the text of a token, counted from the next one; "" is none.
func (p *parser) peek(n int) string {
	if p.i+n >= len(p.tokens) {
		return ""
	}
	return p.tree.text(p.tokens[p.i+n].span)
}

// is reports whether the next token is of a kind.
func (p *parser) is(kind tokenKind) bool { return p.i < len(p.tokens) && p.tokens[p.i].kind == kind }

// accept skips the next token if it has a text, and reports that.
func (p *parser) accept(text string) bool {
	if p.peek(0) != text {
		return false
	}
	p.i++
	return true
}

// take skips the next token and returns its range.
func (p *parser) take() span {
	p.i++
	return p.tokens[p.i-1].span
}

// end returns the offset after the last token that was taken.
func (p *parser) end() int32 {
	if p.i == 0 {
		return 0
	}
	return p.tokens[p.i-1].to
}

// nowhere returns the empty range after the last token.
func (p *parser) nowhere() span { return span{p.end(), p.end()} }

// file parses all.
func (p *parser) file() {
	for p.i < len(p.tokens) {
		kind, ok := definitions[p.peek(0)]
		if !ok {
			p.skip(nil)
			continue
		}
		n := &node{kind: kind, span: span{from: p.tokens[p.i].from}}
		p.i++
		p.tree.nodes = append(p.tree.nodes, n)
		if n.broken = !p.definition(n); n.broken {
			p.skip(n)
		}
		n.to = p.end()
	}
}

// skip skips at least one token, or none if there is a node whose text it is, and all others
// before the next definition.
func (p *parser) skip(n *node) {
	if n == nil {
		p.i++
	}
	for p.i < len(p.tokens) {
		if _, ok := definitions[p.peek(0)]; ok {
			return
		}
		p.i++
	}
}

// definition parses what comes after the first word of one, and reports whether it is right.
func (p *parser) definition(n *node) bool {
	n.name, n.id, n.value, n.body = p.nowhere(), p.nowhere(), p.nowhere(), p.nowhere()
	switch n.kind {
	case includeNode:
		if !p.is(textToken) || p.tokens[p.i].first {
			return false
		}
		n.name = p.take()
		return true
	case namespaceNode:
		if !p.is(wordToken) && p.peek(0) != "*" {
			return false
		}
		n.id = p.take()
		return p.nameOf(n) && p.annotations()
	case constNode:
		n.typ = p.typ()
		return n.typ != nil && p.nameOf(n) && p.accept("=") && p.valueOf(n) && p.tail()
	case typedefNode:
		n.typ = p.typ()
		return n.typ != nil && p.nameOf(n) && p.tail()
	}
	return p.nameOf(n) && p.extends(n) && p.members(n) && p.annotations()
}

// extends parses what may come between a name and a body.
func (p *parser) extends(n *node) bool {
	if n.kind == serviceNode && p.accept("extends") {
		if !p.is(wordToken) || p.tokens[p.i].first {
			return false
		}
		p.refer(p.take(), serviceUse)
	}
	p.accept("xsd_all")
	return p.peek(0) == "{"
}

// nameOf parses a name. A word of the language on the next line is not one.
func (p *parser) nameOf(n *node) bool {
	n.name = p.nowhere()
	if !p.is(wordToken) || p.tokens[p.i].first && keywords[p.peek(0)] || p.defines() {
		return false
	}
	n.name = p.take()
	return true
}

// defines reports whether the next token is the first word of a line and of definitions.
func (p *parser) defines() bool {
	_, ok := definitions[p.peek(0)]
	return ok && p.tokens[p.i].first
}

// tail parses annotations and a separator. Both may be missing.
func (p *parser) tail() bool {
	if !p.annotations() {
		return false
	}
	_ = p.accept(",") || p.accept(";")
	return true
}

// annotations parses what is in parentheses, if there are any.
func (p *parser) annotations() bool {
	if !p.accept("(") {
		return true
	}
	for p.i < len(p.tokens) {
		if p.accept(")") {
			return true
		}
		if !p.is(wordToken) {
			return false
		}
		p.i++
		if p.accept("=") {
			if !p.is(textToken) {
				return false
			}
			p.i++
		}
		_ = p.accept(",") || p.accept(";")
	}
	return false
}

// refer notes a name that refers to something.
func (p *parser) refer(s span, u use) {
	if !keywords[p.tree.text(s)] {
		p.tree.refs = append(p.tree.refs, ref{s, u})
	}
}

// typ parses a type, nil if there is none.
func (p *parser) typ() *typeRef {
	if !p.is(wordToken) || p.defines() || p.depth > maxDepth {
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	word := p.peek(0)
	t := &typeRef{name: p.take()}
	n := map[string]int{"map": 2, "set": 1, "list": 1}[word]
	if p.peek(0) == "cpp_type" && n > 0 {
		p.i++
		if p.is(textToken) {
			p.i++
		}
	}
	if n == 0 || p.peek(0) != "<" {
		p.refer(t.name, typeUse)
		if p.peek(0) == "(" && !p.annotations() {
			return nil
		}
		return t
	}
	p.i++
	for k := range n {
		arg := p.typ()
		if arg == nil || k+1 < n && !p.accept(",") {
			return nil
		}
		t.args = append(t.args, arg)
	}
	if !p.accept(">") {
		return nil
	}
	if p.peek(0) == "cpp_type" {
		p.i += 2
		p.i = min(p.i, len(p.tokens))
	}
	if p.peek(0) == "(" && !p.annotations() {
		return nil
	}
	return t
}

// valueOf parses the value of a node.
func (p *parser) valueOf(n *node) bool {
	if p.i == len(p.tokens) {
		n.value = p.nowhere()
		return false
	}
	n.value.from = p.tokens[p.i].from
	ok := p.value()
	n.value.to = max(p.end(), n.value.from)
	return ok
}

func (p *parser) value() bool {
	if p.i == len(p.tokens) || p.defines() || p.depth > maxDepth {
		return false
	}
	p.depth++
	defer func() { p.depth-- }()
	switch {
	case p.is(wordToken):
		if word := p.peek(0); word != "true" && word != "false" {
			p.refer(p.tokens[p.i].span, valueUse)
		}
		p.i++
		return true
	case p.is(numberToken), p.is(textToken):
		p.i++
		return true
	case p.accept("["):
		return p.elements("]", func() bool {
			next := p.tokens[p.i].first && p.peek(1) == ":" // it is the id of the next field
			return !next && p.value()
		})
	case p.accept("{"):
		return p.elements("}", func() bool { return p.value() && p.accept(":") && p.value() })
	}
	return false
}

// elements parses what is in brackets, up to the last one.
func (p *parser) elements(last string, one func() bool) bool {
	for p.i < len(p.tokens) && p.peek(0) != last {
		if !one() {
			return false
		}
		_ = p.accept(",") || p.accept(";")
	}
	return p.accept(last)
}

// members parses the members of a definition between braces, and reports whether there is the last
// brace. Without it, they end where the next definition seems to begin.
func (p *parser) members(n *node) bool {
	n.body.from = p.take().from
	for p.i < len(p.tokens) && p.peek(0) != "}" && !p.begins() {
		c := &node{kind: fieldNode, parent: n, span: span{from: p.tokens[p.i].from}}
		n.children = append(n.children, c)
		from := p.i
		var ok bool
		switch n.kind {
		case enumNode:
			c.kind = valueNode
			ok = p.enumValue(c)
		case serviceNode:
			c.kind = methodNode
			ok = p.method(c)
		default:
			ok = p.field(c)
		}
		if c.broken = !ok; !ok {
			p.skipMember(from, n.kind == serviceNode)
		}
		c.to = p.end()
	}
	closed := p.accept("}")
	n.body.to = p.end()
	return closed
}

// begins reports whether the next token begins a definition, so that a brace is missing: it is the
// first of its line, and a name and what can come after that follow.
func (p *parser) begins() bool {
	if p.i >= len(p.tokens) || !p.tokens[p.i].first {
		return false
	}
	switch p.peek(0) {
	case "enum", "struct", "union", "exception":
		return p.peek(2) == "{" || p.peek(2) == "xsd_all"
	case "service":
		return p.peek(2) == "{" || p.peek(2) == "extends"
	case "typedef", "include", "namespace":
		return p.peek(1) != "," && p.peek(1) != ";" && p.peek(1) != "=" && p.peek(1) != ":" && p.peek(1) != "}"
	case "const":
		return p.i+1 < len(p.tokens) && p.tokens[p.i+1].kind == wordToken
	}
	return false
}

// skipMember goes to where the next member may begin: after a separator, or at a new line. from is
// where the broken one began.
func (p *parser) skipMember(from int, service bool) {
	if p.i == from { // at least one token, so that there is an end
		p.i++
	}
	depth := 0
	for ; p.i < len(p.tokens); p.i++ {
		switch text := p.peek(0); {
		case p.tokens[p.i].first && (depth <= 0 || service) && text != ")" && text != "throws", p.begins():
			return
		case text == "}" && depth <= 0:
			return
		case text == "(" || text == "{" || text == "[":
			depth++
		case text == ")" || text == "}" || text == "]":
			depth--
		case (text == "," || text == ";") && depth <= 0 && !service:
			p.i++
			return
		}
	}
}

func (p *parser) enumValue(n *node) bool {
	n.id = p.nowhere()
	if !p.nameOf(n) {
		return false
	}
	n.id = p.nowhere()
	if p.accept("=") {
		if !p.is(numberToken) {
			return false
		}
		n.id = p.take()
	}
	return p.tail()
}

// field parses a field, an argument or a declared exception.
func (p *parser) field(n *node) bool {
	n.id, n.name, n.value = p.nowhere(), p.nowhere(), p.nowhere()
	if p.is(numberToken) {
		n.id = p.take()
		if !p.accept(":") {
			return false
		}
	}
	if word := p.peek(0); word == "required" || word == "optional" {
		p.i++
	}
	if p.i < len(p.tokens) && p.tokens[p.i].first && p.tokens[p.i].from > n.from && n.id.from < n.id.to && p.is(numberToken) {
		return false
	}
	if n.typ = p.typ(); n.typ == nil {
		return false
	}
	p.accept("&")
	if !p.nameOf(n) {
		return false
	}
	n.value = p.nowhere()
	if p.accept("=") && !p.valueOf(n) {
		return false
	}
	_ = p.accept("xsd_optional")
	_ = p.accept("xsd_nillable")
	if p.accept("xsd_attrs") {
		for p.i < len(p.tokens) && !p.accept("}") {
			p.i++
		}
	}
	return p.tail()
}

func (p *parser) method(n *node) bool {
	n.id, n.name = p.nowhere(), p.nowhere()
	_ = p.accept("oneway") || p.accept("async")
	if !p.accept("void") {
		if n.typ = p.typ(); n.typ == nil {
			return false
		}
	}
	if !p.nameOf(n) || p.peek(0) != "(" {
		return false
	}
	n.body.from = p.tokens[p.i].from
	ok := p.arguments(n, false)
	n.body.to = p.end()
	if ok && p.accept("throws") {
		ok = p.peek(0) == "(" && p.arguments(n, true)
	}
	return ok && p.tail()
}

// arguments parses fields in parentheses.
func (p *parser) arguments(n *node, throws bool) bool {
	p.i++
	for p.i < len(p.tokens) && !p.accept(")") {
		if word := p.peek(0); word == "}" || word == "oneway" || word == "void" || word == "async" {
			return false // the next method
		}
		c := &node{kind: fieldNode, parent: n, throws: throws, span: span{from: p.tokens[p.i].from}}
		n.children = append(n.children, c)
		if c.broken = !p.field(c); c.broken {
			c.span = span{min(c.from, p.end()), p.end()}
			return false
		}
		c.to = p.end()
	}
	return p.tree.src[p.end()-1] == ')'
}
