package idl

import "github.com/alecthomas/participle/v2/lexer"

// attachComments sets the Doc of every declaration.
func (p *parser) attachComments() {
	for _, d := range p.file.Definitions {
		switch d := d.(type) {
		case *Const:
			d.Doc = p.doc(d.Tokens)
		case *Typedef:
			d.Doc = p.doc(d.Tokens)
		case *Enum:
			d.Doc = p.doc(d.Tokens)
			for _, v := range d.Values {
				v.Doc = p.doc(v.Tokens)
			}
		case *Struct:
			d.Doc = p.doc(d.Tokens)
			p.attachFields(d.Fields)
		case *Service:
			d.Doc = p.doc(d.Tokens)
			for _, f := range d.Functions {
				f.Doc = p.doc(f.Tokens)
				p.attachFields(f.Args)
				p.attachFields(f.Throws)
			}
		}
	}
}

func (p *parser) attachFields(fields []*Field) {
	for _, f := range fields {
		f.Doc = p.doc(f.Tokens)
	}
}

// doc returns the comment of a declaration with these tokens: the comment above it, or else the
// comment after it on its last line, or else the comment after its opening brace.
func (p *parser) doc(tokens []lexer.Token) string {
	if text := p.comments.above[tokens[0].Pos.Offset]; text != "" {
		return text
	}
	if text := p.comments.beside[tokens[len(tokens)-1].Pos.Offset]; text != "" {
		return text
	}
	for _, t := range tokens {
		if t.Value == "{" {
			return p.comments.beside[t.Pos.Offset]
		}
	}
	return ""
}
