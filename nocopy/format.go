package nocopy

import (
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"
)

// Format returns the struct as text: compact, readable, like JSON but for keys without quotes.
// Fields that are not set are left out; unknown ones are not shown. Of the zero handle it
// returns "<none>". d describes s.
func (s XStruct) Format(d *XDesc) string {
	if s.m == nil {
		return zeroHandleText
	}
	s.alive()
	return string(formatter{s.m}.structure(nil, d, s.entry()))
}

// zeroHandleText is the zero handle as text. Parse returns a zero handle with an error.
const zeroHandleText = "<none>"

// formatContainer returns a list, set or map as text. none is the text of one without elements,
// which an absent one is like.
func (s XStruct) formatContainer(none string) string {
	if s.m == nil {
		return zeroHandleText
	}
	s.alive()
	if s.m == empty {
		return none
	}
	return string(formatter{s.m}.value(nil, s.typ(), s.entry()))
}

// formatter writes values of a message as text.
type formatter struct{ m *Message }

// structure appends the struct of entry e to dst. The other methods append values in the same
// way.
func (p formatter) structure(dst []byte, d *XDesc, e uint32) []byte {
	dst = append(dst, '{')
	first := true
	for i := range d.fields {
		f := &d.fields[i]
		word := p.m.idx[e+f.word]
		if word == 0 {
			continue
		}
		if !first {
			dst = append(dst, ", "...)
		}
		first = false
		dst = append(dst, f.Name...)
		dst = append(dst, ": "...)
		if f.kind >= record && word&notIndexed != 0 {
			word = p.m.indexLazily(f.typ, word&^notIndexed)
			p.m.idx[e+f.word] = word
		}
		dst = p.value(dst, f.typ, word)
	}
	return append(dst, '}')
}

// value appends a value of type t, for which word stands.
func (p formatter) value(dst []byte, t *XType, word uint32) []byte {
	switch t.kind {
	case fixed:
		return p.fixed(dst, t, p.m.fixedValue(word))
	case text:
		return p.text(dst, t, word)
	case record:
		return p.structure(dst, t.desc, word)
	case list:
		return p.list(dst, t, word)
	}
	return p.dict(dst, t, word)
}

func (p formatter) text(dst []byte, t *XType, word uint32) []byte {
	b := []byte{}
	if word != 0 {
		b = p.m.textBytes(word)
	}
	if t.binary || !utf8.Valid(b) {
		dst = append(dst, "0x"...)
		return hex.AppendEncode(dst, b)
	}
	return strconv.AppendQuote(dst, string(b))
}

func (p formatter) fixed(dst []byte, t *XType, b []byte) []byte {
	switch t.wire {
	case WireBool:
		return strconv.AppendBool(dst, b[0] != 0)
	case WireI8:
		return strconv.AppendInt(dst, int64(int8(b[0])), 10)
	case WireI16:
		return strconv.AppendInt(dst, int64(int16(uint16(b[0])<<8|uint16(b[1]))), 10)
	case WireI32:
		v := int32(be32(b))
		if t.enum != nil {
			if name := t.enum.Name(v); name != "" {
				return append(dst, name...)
			}
		}
		return strconv.AppendInt(dst, int64(v), 10)
	case WireI64:
		return strconv.AppendInt(dst, int64(be64(b)), 10)
	case WireDouble:
		return strconv.AppendFloat(dst, math.Float64frombits(be64(b)), 'g', -1, 64)
	}
	return append(dst, UUID(b[:16]).String()...)
}

func (p formatter) list(dst []byte, t *XType, e uint32) []byte {
	if e == 0 {
		return append(dst, "[]"...)
	}
	dst = append(dst, '[')
	for i := range p.m.idx[e+listCount] {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		switch t.elem.kind {
		case fixed:
			dst = p.fixed(dst, t.elem, p.m.buf.At(p.m.idx[e+listStart]+i*uint32(t.elem.size)))
		case text:
			dst = p.text(dst, t.elem, p.m.idx[p.m.idx[e+listElems]+i])
		default:
			dst = p.value(dst, t.elem, p.m.elementEntry(e, t.elem, i))
		}
	}
	return append(dst, ']')
}

func (p formatter) dict(dst []byte, t *XType, e uint32) []byte {
	if e == 0 {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	first := true
	repeated := p.m.repeated(e, t) > 0
	for i := range p.m.idx[e+listCount] {
		slot := p.m.idx[e+listElems] + i*pairWords
		word := p.m.idx[slot]
		if word == 0 || repeated && p.m.isRepeated(e, t, i) {
			continue
		}
		if !first {
			dst = append(dst, ", "...)
		}
		first = false
		dst = p.value(dst, t.key, word)
		dst = append(dst, ": "...)
		dst = p.value(dst, t.elem, p.m.idx[slot+pairValue])
	}
	return append(dst, '}')
}
