package idlfmt

import "github.com/nocopythrift/nocopythrift/gen/idl"

// The methods of this file follow the grammar, which the tokens are known to obey. Each writes one
// element of the grammar. Its argument g is the gap before the first token.

// file writes all tokens and the comments after the last one.
func (p *printer) file() {
	before, bodied := "", false
	for p.next < len(p.tokens) {
		word := p.text()
		g, has := line, p.hasBody()
		if p.next > 0 && (bodied || has || isHeader(before) && !isHeader(word)) {
			g = blank
		}
		at := p.next
		p.definition(g)
		before, bodied = word, has
		if p.next == at { // impossible, but must not loop for ever
			p.write(line)
		}
	}
	for _, c := range p.comments {
		g := line
		if c.Pos.Line == p.endLine {
			g = space
		}
		p.separate(g, c.Pos.Line-p.endLine)
		p.comment(c)
	}
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
}

// isHeader reports whether a word begins a line before the first definition.
func isHeader(word string) bool {
	return word == "namespace" || word == "include" || word == "cpp_include"
}

// hasBody reports whether the next definition has several lines.
func (p *printer) hasBody() bool {
	switch p.text() {
	case "enum", "struct", "union", "exception", "service":
	default:
		return false
	}
	for i := 0; ; i++ {
		switch p.peek(i) {
		case "{":
			return p.peek(i+1) != "}"
		case "":
			return false
		}
	}
}

func (p *printer) definition(g gap) {
	p.indent = 0
	word := p.text()
	p.write(g)
	p.indent = 1
	switch word {
	case "namespace", "include", "cpp_include":
		p.write(space)
		if word == "namespace" {
			p.write(space)
		}
		p.annotations()
	case "const", "typedef":
		p.typ(space)
		p.write(space)
		p.constant()
		p.annotations()
		p.separator()
		p.annotations()
		p.separator()
	case "enum", "struct", "union", "exception", "service":
		p.write(space)
		for p.text() == "extends" || p.text() == "xsd_all" {
			if p.text() == "extends" {
				p.write(space)
			}
			p.write(space)
		}
		switch word {
		case "enum":
			p.body(0, p.enumValue)
		case "service":
			p.body(0, p.function)
		default:
			p.body(0, p.field)
		}
		p.annotations()
	}
	p.indent = 0
}

// body writes a pair of braces, and each element between them on its own line. base is the
// indentation of the closing brace.
func (p *printer) body(base int, element func(gap)) {
	p.write(space)
	outside := p.indent
	g := tight
	for p.text() != "}" && p.text() != "" {
		p.indent = base + 1
		at := p.next
		element(g)
		if p.next == at {
			p.write(line)
		}
		g = line
	}
	p.indent = base + 1
	switch {
	case g == tight: // there was no element
		g = keep
	case p.next < len(p.tokens) && len(p.tokens[p.next].before) == 0:
		g = tight
	}
	p.writeClosing(g, base)
	p.indent = outside
}

// list writes a pair of brackets and the elements between them, and keeps their line breaks.
func (p *printer) list(g gap, end string, element func(gap)) {
	p.write(g)
	base, outside := p.started, p.indent
	g = keep
	for p.text() != end && p.text() != "" {
		p.indent = base + 1
		at := p.next
		element(g)
		if p.next == at {
			p.write(wrap)
		}
		g = wrap
	}
	p.indent = base + 1
	p.writeClosing(keep, base)
	p.indent = outside
}

func (p *printer) enumValue(g gap) {
	p.write(g)
	p.indent++
	p.constant()
	p.annotations()
	p.separator()
	p.indent--
}

func (p *printer) function(g gap) {
	if w := p.text(); w == "oneway" || w == "async" {
		p.write(g)
		p.indent++
		g = space
		defer func() { p.indent-- }()
	}
	if p.text() == "void" {
		p.write(g)
	} else {
		p.typ(g)
	}
	p.indent++
	p.write(space)
	p.list(none, ")", p.field)
	if p.text() == "throws" {
		p.write(wrap)
		p.list(space, ")", p.field)
	}
	p.annotations()
	p.separator()
	p.indent--
}

func (p *printer) field(g gap) {
	outside := p.indent
	if p.next < len(p.tokens) && p.tokens[p.next].Kind == idl.NumberToken {
		p.write(g)
		p.indent = outside + 1
		p.write(none)
		g = space
	}
	if w := p.text(); w == "required" || w == "optional" {
		p.write(g)
		p.indent = outside + 1
		g = space
	}
	p.typ(g)
	p.indent = outside + 1
	if p.text() == "&" {
		p.write(none)
	}
	p.write(space) // the name
	p.constant()
	for p.text() == "xsd_optional" || p.text() == "xsd_nillable" {
		p.write(space)
	}
	if p.text() == "xsd_attrs" {
		p.write(space)
		p.body(outside, p.field)
	}
	p.annotations()
	p.separator()
	p.indent = outside
}

func (p *printer) typ(g gap) {
	word := p.text()
	p.write(g)
	if next := p.text(); next != "<" && next != "cpp_type" { // list and others may also be names
		p.annotations()
		return
	}
	switch word {
	case "map", "set", "list":
		if p.text() == "cpp_type" {
			p.write(space)
			p.write(space)
			p.write(space) // <
		} else {
			p.write(none)
		}
		p.typ(none)
		if word == "map" {
			p.write(none)
			p.typ(space)
		}
		p.write(none) // >
		if word == "list" && p.text() == "cpp_type" {
			p.write(space)
			p.write(space)
		}
	}
	p.annotations()
}

// annotations writes a list of annotations, if there is one.
func (p *printer) annotations() {
	if p.text() != "(" {
		return
	}
	p.list(wrap, ")", func(g gap) {
		p.write(g)
		p.constant()
		p.separator()
	})
}

// constant writes "= VALUE", if there is one.
func (p *printer) constant() {
	if p.text() == "=" {
		p.write(space)
		p.value(space)
	}
}

func (p *printer) value(g gap) {
	switch p.text() {
	case "[":
		p.list(g, "]", func(g gap) {
			p.value(g)
			p.separator()
		})
	case "{":
		p.list(g, "}", func(g gap) {
			p.value(g)
			p.write(none) // the colon
			p.value(space)
			p.separator()
		})
	default:
		p.write(g)
	}
}

// separator writes a comma or semicolon, if there is one.
func (p *printer) separator() {
	if w := p.text(); w == "," || w == ";" {
		p.write(none)
	}
}
