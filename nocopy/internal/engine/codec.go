package engine

import (
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Codec encodes and decodes keys or values of Go type T in a map. The As…
// types implement it.
type Codec[T any] interface {
	// get returns the value that an index word stands for.
	get(m *Message, word uint32) T
	// encode returns the wire bytes of v.
	encode(v T) encoded
}

// encoded is the wire bytes of a map's key or value. If text is not nil, it is a text without its
// length. Otherwise the bytes are the first n of fixed, or the bytes of view.
type encoded struct {
	fixed [16]byte
	n     int
	text  []byte
	view  Struct // a struct, list or map whose bytes are still to be read
}

func (k *encoded) bytes() []byte {
	if k.text != nil {
		return k.text
	}
	return k.fixed[:k.n]
}

func encodeFixed(n int, v uint64) encoded {
	k := encoded{n: n}
	binary.BigEndian.PutUint64(k.fixed[:], v<<(64-8*n))
	return k
}

// fixedValue returns where the fixed-size value is that a word of a map stands for.
func (m *Message) fixedValue(word uint32) []byte {
	if word&inNode != 0 {
		word = m.buf.NodeStart(word &^ inNode)
	}
	return m.buf.At(word)
}

// replaceFixed returns n bytes for a value that replaces the one that word stands for, and the new
// value's word.
func (m *Message) replaceFixed(word uint32, n int) ([]byte, uint32) {
	p := word
	if word&inNode != 0 {
		p = m.buf.NodeStart(word &^ inNode)
	}
	if m.buf.Writable(p) {
		return m.buf.At(p)[:n], word
	}
	node := word &^ inNode
	if word&inNode == 0 {
		node = m.buf.AddReplace(word, word+uint32(n))
	}
	p, b := m.buf.Place(n)
	m.buf.SetPlaced(node, p, p+uint32(n))
	return b, inNode | node
}

// appendEncoded appends a value of type t to the innermost frame and returns its word.
func (m *Message) appendEncoded(t *schema.Type, k encoded) uint32 {
	switch t.Kind() {
	case schema.Fixed:
		p, b := m.buf.Extend(int(t.Size()))
		copy(b, k.fixed[:])
		return p
	case schema.Text:
		checkLen(len(k.text))
		return m.extendText(k.text)
	}
	return m.appendValue(t, 0, source{n: len(k.text), data: k.text}, 0)
}

// replaceEncoded replaces the value that word stands for and returns the new value's word.
func (m *Message) replaceEncoded(t *schema.Type, word uint32, k encoded) uint32 {
	if t.Kind() == schema.Fixed {
		b, word := m.replaceFixed(word, int(t.Size()))
		copy(b, k.fixed[:])
		return word
	}
	checkLen(len(k.text))
	if len(k.text) >= ReferSize && m.mayRefer(len(k.text)) {
		return m.replaceTextByRef(word, k.text)
	}
	b, word := m.replaceText(word, len(k.text))
	copy(b, k.text)
	return word
}
