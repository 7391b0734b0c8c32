package engine

import (
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// This file has the codecs of keys and values of maps. Those of values of fixed size are in
// basetypes.go.

// AsString and so on are the codecs of values without a fixed size, by their Go types.
type (
	// AsString is the codec of strings.
	AsString struct{}
	// AsBytes is the codec of binaries.
	AsBytes struct{}
	// AsView is the codec of structs and containers.
	AsView[S View] struct{}
)

func (AsString) get(m *Message, w uint32) string { return m.TextString(w) }

func (AsBytes) get(m *Message, w uint32) []byte { m.buf.Lend(); return m.textBytes(w) }

func (AsView[S]) get(m *Message, w uint32) S { return S(m.handle(w)) }

func (AsString) encode(v string) encoded { return encoded{text: chain.StringBytes(v)} }

func (AsBytes) encode(v []byte) encoded { return encoded{text: v} }

func (AsView[S]) encode(v S) encoded { return encoded{view: Struct(v).orAbsent()} }

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

// BoolByte returns v as the byte that stands for it on the wire.
func BoolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}
