package engine

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Format returns the struct as compact, readable text, like JSON with unquoted keys. It omits
// unset fields, unknown fields, and the values of redacted fields; see schema.Info.Redacted. The
// zero handle gives "<none>". d describes s.
func (s Struct) Format(d *schema.Struct) string { return string(s.printed(d, false)) }

// FormatTo writes the struct for package fmt: with %+v on indented lines, with other verbs as
// Format does. d describes s.
func (s Struct) FormatTo(f fmt.State, verb rune, d *schema.Struct) {
	switch {
	case verb == 'v' && f.Flag('+'):
		f.Write(s.printed(d, true))
	case verb == 'v' && f.Flag('#'):
		io.WriteString(f, d.Name())
		f.Write(s.printed(d, false))
	default:
		fmt.Fprintf(f, fmt.FormatString(f, verb), s.Format(d))
	}
}

// Shown returns the root for texts and logs: the zero handle if the message is empty or nil.
func (m *Message) Shown() Struct {
	if m == nil || m.words == 0 {
		return Struct{}
	}
	return m.Root()
}

// printed returns the struct as text, on one line or indented.
func (s Struct) printed(d *schema.Struct, indented bool) []byte {
	if s.m == nil {
		return []byte(zeroHandleText)
	}
	s.alive()
	return formatter{m: s.m, indented: indented}.structure(nil, d, s.entry())
}

// zeroHandleText is the zero handle as text. Parse returns a zero handle with an error.
const zeroHandleText = "<none>"

// FormatContainer returns a list, set or map as text. none is the text of one without elements,
// which an absent one is like.
func (s Struct) FormatContainer(none string) string {
	if s.m == nil {
		return zeroHandleText
	}
	s.alive()
	if s.m.isEmpty() {
		return none
	}
	return string(formatter{m: s.m}.value(nil, s.typ(), s.entry()))
}

// redactedText stands in the place of what is redacted.
const redactedText = "<redacted>"

// formatter writes values of a message as text.
type formatter struct {
	m        *Message
	indented bool // fields, and elements that are structs or containers, are on lines of their own
	depth    int  // of what is being written, if indented
}

// mostIndent is how deep text is indented at most, so that its size is in proportion to the
// message's.
const mostIndent = 32

// inner returns the formatter of what is inside.
func (p formatter) inner() formatter {
	p.depth++
	return p
}

// separate appends what comes before a field or element.
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
	for i := p.m.next(d, e, 0); i < len(d.Fields()); i = p.m.next(d, e, i+1) {
		f := &d.Fields()[i]
		word := p.m.at(e, f.Ref())
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
		if f.Kind() >= schema.Record && word&notIndexed != 0 {
			word = p.m.indexLazily(f, e)
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
func (p formatter) value(dst []byte, t *schema.Type, word uint32) []byte {
	switch t.Kind() {
	case schema.Fixed:
		return p.fixed(dst, t, p.m.fixedValue(word))
	case schema.Text:
		return p.text(dst, t, word)
	case schema.Record:
		return p.structure(dst, t.Struct(), word)
	case schema.List:
		return p.list(dst, t, word)
	}
	return p.dict(dst, t, word)
}

func (p formatter) text(dst []byte, t *schema.Type, word uint32) []byte {
	b := []byte{}
	if word != 0 {
		b = p.m.textBytes(word)
	}
	if t.Binary() || !utf8.Valid(b) {
		dst = append(dst, "0x"...)
		return hex.AppendEncode(dst, b)
	}
	return strconv.AppendQuote(dst, string(b))
}

func (p formatter) fixed(dst []byte, t *schema.Type, b []byte) []byte {
	switch t.Wire() {
	case WireBool:
		return strconv.AppendBool(dst, b[0] != 0)
	case WireI8:
		return strconv.AppendInt(dst, int64(int8(b[0])), 10)
	case WireI16:
		return strconv.AppendInt(dst, int64(int16(uint16(b[0])<<8|uint16(b[1]))), 10)
	case WireI32:
		v := int32(wire.BE32(b))
		if t.Enum() != nil {
			if name := t.Enum().Name(v); name != "" {
				return append(dst, name...)
			}
		}
		return strconv.AppendInt(dst, int64(v), 10)
	case WireI64:
		return strconv.AppendInt(dst, int64(wire.BE64(b)), 10)
	case WireDouble:
		return strconv.AppendFloat(dst, math.Float64frombits(wire.BE64(b)), 'g', -1, 64)
	}
	return AppendUUID(dst, [16]byte(b[:16]))
}

func (p formatter) list(dst []byte, t *schema.Type, e uint32) []byte {
	if e == 0 {
		return append(dst, "[]"...)
	}
	dst = append(dst, '[')
	p.indented = p.indented && t.Elem().Kind() >= schema.Record
	in := p.inner()
	n := p.m.idx[e+listCount]
	for i := range n {
		dst = in.separate(dst, i == 0)
		switch t.Elem().Kind() {
		case schema.Fixed:
			dst = p.fixed(dst, t.Elem(), p.m.buf.At(p.m.idx[e+listStart]+i*uint32(t.Elem().Size())))
		case schema.Text:
			dst = p.text(dst, t.Elem(), p.m.idx[p.m.idx[e+listElems]+i])
		default:
			dst = in.value(dst, t.Elem(), p.m.elementEntry(e, t.Elem(), i))
		}
	}
	return p.end(dst, ']', n == 0)
}

func (p formatter) dict(dst []byte, t *schema.Type, e uint32) []byte {
	if e == 0 {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	p.indented = p.indented && (t.Elem().Kind() >= schema.Record || t.Key().Kind() >= schema.Record)
	in := p.inner()
	first := true
	repeated := p.m.repeated(e, t) > 0
	for i := range p.m.idx[e+listCount] {
		slot := p.m.idx[e+listElems] + i*pairWords
		word := p.m.idx[slot]
		if word == 0 || repeated && p.m.isRepeated(e, t, i) {
			continue
		}
		dst = in.separate(dst, first)
		first = false
		dst = in.value(dst, t.Key(), word)
		dst = append(dst, ": "...)
		dst = in.value(dst, t.Elem(), p.m.idx[slot+pairValue])
	}
	return p.end(dst, '}', first)
}

// AppendUUID appends a uuid as text.
func AppendUUID(dst []byte, u [16]byte) []byte {
	for i, v := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, []byte{v})
	}
	return dst
}
