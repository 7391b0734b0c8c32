package engine

import (
	"encoding/binary"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
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

// AsBool, AsInt8 and so on are the codecs of the scalars, by their Go types.
type (
	AsBool    struct{}
	AsInt8    struct{}
	AsInt16   struct{}
	AsInt32   struct{}
	AsInt64   struct{}
	AsFloat64 struct{}
	// AsUUID is the codec of uuids.
	AsUUID[U ~[16]byte] struct{}
	// AsEnum is the codec of an enum.
	AsEnum[E ~int32] struct{}
	// AsString is the codec of strings.
	AsString struct{}
	// AsBytes is the codec of binaries.
	AsBytes struct{}
	// AsView is the codec of structs and containers.
	AsView[S View] struct{}
)

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

// BoolByte returns v as the byte that stands for it on the wire.
func BoolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func encodeBool(v bool) encoded {
	if v {
		return encodeFixed(1, 1)
	}
	return encodeFixed(1, 0)
}

func (AsBool) get(m *Message, w uint32) bool { return m.fixedValue(w)[0] != 0 }
func (AsInt8) get(m *Message, w uint32) int8 { return int8(m.fixedValue(w)[0]) }
func (AsInt16) get(m *Message, w uint32) int16 {
	return int16(binary.BigEndian.Uint16(m.fixedValue(w)))
}
func (AsInt32) get(m *Message, w uint32) int32 { return int32(wire.BE32(m.fixedValue(w))) }
func (AsEnum[E]) get(m *Message, w uint32) E   { return E(wire.BE32(m.fixedValue(w))) }
func (AsInt64) get(m *Message, w uint32) int64 { return int64(wire.BE64(m.fixedValue(w))) }
func (AsFloat64) get(m *Message, w uint32) float64 {
	return math.Float64frombits(wire.BE64(m.fixedValue(w)))
}
func (AsUUID[U]) get(m *Message, w uint32) U     { return U([16]byte(m.fixedValue(w)[:16])) }
func (AsString) get(m *Message, w uint32) string { return m.TextString(w) }
func (AsBytes) get(m *Message, w uint32) []byte  { m.buf.Lend(); return m.textBytes(w) }
func (AsView[S]) get(m *Message, w uint32) S     { return S(m.handle(w)) }

func (AsBool) encode(v bool) encoded       { return encodeBool(v) }
func (AsInt8) encode(v int8) encoded       { return encodeFixed(1, uint64(v)) }
func (AsInt16) encode(v int16) encoded     { return encodeFixed(2, uint64(v)) }
func (AsInt32) encode(v int32) encoded     { return encodeFixed(4, uint64(v)) }
func (AsEnum[E]) encode(v E) encoded       { return encodeFixed(4, uint64(v)) }
func (AsInt64) encode(v int64) encoded     { return encodeFixed(8, uint64(v)) }
func (AsFloat64) encode(v float64) encoded { return encodeFixed(8, math.Float64bits(v)) }
func (AsUUID[U]) encode(v U) encoded       { return encoded{fixed: v, n: 16} }
func (AsString) encode(v string) encoded   { return encoded{text: chain.StringBytes(v)} }
func (AsBytes) encode(v []byte) encoded    { return encoded{text: v} }
func (AsView[S]) encode(v S) encoded       { return encoded{view: Struct(v).orAbsent()} }
