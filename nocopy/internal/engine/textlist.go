package engine

import "github.com/nocopythrift/nocopythrift/internal/chain"

// TextAt returns element i of a list of strings.
func (s Struct) TextAt(i int) string {
	slot := s.elemSlot(i)
	word := s.m.idx[slot]
	if text, ok := s.m.buf.FlatText(word); ok {
		return text
	}
	return s.m.lendText(word)
}

// TextOf returns element i of a list of strings that has so many.
func (s Struct) TextOf(i int) string {
	return s.m.TextString(s.m.idx[s.m.idx[uint32(s.k)+listElems]+uint32(i)])
}

// SetTextAt makes element i of a list of strings v.
func (s Struct) SetTextAt(i int, v string) { s.SetBytesAt(i, chain.StringBytes(v)) }

// AppendText adds v at the end of a list of strings.
func (s Struct) AppendText(v string) { s.AppendBytes(chain.StringBytes(v)) }

// ContainsText reports whether a list of strings has an element v.
func (s Struct) ContainsText(v string) bool { return s.ContainsKey(chain.StringBytes(v)) }

// LentBytes returns the bytes of a binary, which the caller may keep.
func (m *Message) LentBytes(word uint32) []byte {
	m.buf.Lend()
	return m.textBytes(word)
}
