package render

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Text returns a struct as compact, readable text, like JSON with unquoted keys. It omits unset
// fields, unknown fields, and the values of redacted fields; see schema.Info.Redacted. The text of
// an exception begins with its name, as that of an error. The zero handle gives "<none>". d
// describes s.
func Text(s engine.Struct, d *schema.Struct) string { return string(printed(s, d, false)) }

// Format writes a struct for package fmt: with %+v on indented lines, with other verbs as Text
// does. d describes s.
func Format(f fmt.State, verb rune, s engine.Struct, d *schema.Struct) {
	switch {
	case verb == 'v' && f.Flag('+'):
		f.Write(printed(s, d, true))
	case verb == 'v' && f.Flag('#'):
		if !d.IsException() || s == (engine.Struct{}) {
			io.WriteString(f, d.Name())
		}
		f.Write(printed(s, d, false))
	default:
		fmt.Fprintf(f, fmt.FormatString(f, verb), Text(s, d))
	}
}

// printed returns the struct as text, on one line or indented.
func printed(s engine.Struct, d *schema.Struct, indented bool) []byte {
	if s == (engine.Struct{}) {
		return []byte(engine.ZeroText)
	}
	w, e := engine.WalkerOf(s)
	var name []byte
	if d.IsException() {
		name = append(name, d.Name()...)
	}
	return formatter{w, indented, 0}.structure(name, d, e)
}

// ContainerText returns a list, set or map as text. none is the text of one without elements,
// which an absent one is like.
func ContainerText(s engine.Struct, none string) string {
	if s == (engine.Struct{}) {
		return engine.ZeroText
	}
	t := s.ContainerType()
	if t == nil {
		return none
	}
	w, e := engine.WalkerOf(s)
	return string(formatter{Walker: w}.value(nil, t, engine.Word(e)))
}

// redactedText replaces a redacted value.
const redactedText = "<redacted>"

// formatter writes values of a message as text.
type formatter struct {
	*engine.Walker
	indented bool // fields, and elements that are structs or containers, are on lines of their own
	depth    int  // of the value that is being written, if indented
}

// mostIndent is the deepest indentation. The bound keeps the size of the text in proportion to the
// message's.
const mostIndent = 32

// inner returns the formatter for the values nested in this one.
func (p formatter) inner() formatter {
	p.depth++
	return p
}

// separate appends the separator before a field or element.
func (p formatter) separate(dst []byte, first bool) []byte {
	switch {
	case p.indented:
		dst = append(dst, '\n')
		for range min(p.depth, mostIndent) {
			dst = append(dst, "  "...)
		}
	case !first:
		dst = append(dst, ", "...)
	}
	return dst
}

// structure appends the struct of entry e to dst. The other methods append values in the same
// way.
func (p formatter) structure(dst []byte, d *schema.Struct, e uint32) []byte {
	if d.Info().Redacted() {
		return append(dst, redactedText...)
	}
	dst = append(dst, '{')
	in := p.inner()
	first := true
	for i := p.Next(d, e, 0); i < len(d.Fields()); i = p.Next(d, e, i+1) {
		f := &d.Fields()[i]
		word := p.Field(e, f)
		if word == 0 {
			continue
		}
		dst = in.separate(dst, first)
		first = false
		dst = append(dst, f.Name...)
		dst = append(dst, ": "...)
		if f.Info.Redacted() {
			dst = append(dst, redactedText...)
			continue
		}
		dst = in.value(dst, f.Type, word)
	}
	return p.end(dst, '}', first)
}

// end appends the bracket after fields or elements; none reports whether there are none.
func (p formatter) end(dst []byte, bracket byte, none bool) []byte {
	if p.indented && !none {
		dst = p.separate(dst, true)
	}
	return append(dst, bracket)
}

// value appends a value of type t, for which word stands.
func (p formatter) value(dst []byte, t *schema.Type, word engine.Word) []byte {
	switch t.Kind() {
	case schema.Fixed:
		return p.fixed(dst, t, p.Fixed(word))
	case schema.Text:
		return p.text(dst, t, word)
	case schema.Record:
		return p.structure(dst, t.Struct(), word.Entry())
	case schema.List:
		return p.list(dst, t, word.Entry())
	}
	return p.dict(dst, t, word.Entry())
}

func (p formatter) text(dst []byte, t *schema.Type, word engine.Word) []byte {
	b := p.Walker.Text(word)
	if t.Binary() || !utf8.Valid(b) {
		dst = append(dst, "0x"...)
		return hex.AppendEncode(dst, b)
	}
	return strconv.AppendQuote(dst, string(b))
}

func (p formatter) list(dst []byte, t *schema.Type, e uint32) []byte {
	dst = append(dst, '[')
	p.indented = p.indented && t.Elem().Kind() >= schema.Record
	in := p.inner()
	n := p.Len(e)
	for i := range n {
		dst = in.separate(dst, i == 0)
		dst = in.value(dst, t.Elem(), p.Element(t, e, i))
	}
	return p.end(dst, ']', n == 0)
}

func (p formatter) dict(dst []byte, t *schema.Type, e uint32) []byte {
	dst = append(dst, '{')
	p.indented = p.indented && (t.Elem().Kind() >= schema.Record || t.Key().Kind() >= schema.Record)
	in := p.inner()
	first := true
	for key, value := range p.Pairs(e) {
		dst = in.separate(dst, first)
		first = false
		dst = in.value(dst, t.Key(), key)
		dst = append(dst, ": "...)
		dst = in.value(dst, t.Elem(), value)
	}
	return p.end(dst, '}', first)
}
