package engine

import (
	"encoding/binary"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file has all that depends on base types of fixed size, but the lists of them
// (fixedlists.go): getters and setters of fields, values by descriptors, and codecs of keys and
// values of maps.

// Bool returns a bool field, or false if it is not set.
func (s Struct) Bool(f schema.Ref) (v bool) {
	if s.m != nil {
		v = s.m.buf.Load1(s.word(f)) != 0
	}
	return
}

// Int8 returns an i8 field, or 0 if it is not set.
func (s Struct) Int8(f schema.Ref) (v int8) {
	if s.m != nil {
		v = int8(s.m.buf.Load1(s.word(f)))
	}
	return
}

// Int16 returns an i16 field, or 0 if it is not set.
func (s Struct) Int16(f schema.Ref) (v int16) {
	if s.m != nil {
		v = int16(s.m.buf.Load2(s.word(f)))
	}
	return
}

// Int32 returns an i32 or enum field, or 0 if it is not set.
func (s Struct) Int32(f schema.Ref) (v int32) {
	if s.m != nil {
		v = int32(s.m.buf.Load4(s.word(f)))
	}
	return
}

// Int64 returns an i64 field, or 0 if it is not set.
func (s Struct) Int64(f schema.Ref) (v int64) {
	if s.m != nil {
		v = int64(s.m.buf.Load8(s.word(f)))
	}
	return
}

// Float64 returns a double field, or 0 if it is not set.
func (s Struct) Float64(f schema.Ref) (v float64) {
	if s.m != nil {
		v = math.Float64frombits(s.m.buf.Load8(s.word(f)))
	}
	return
}

// UUID returns a uuid field, or zeros if it is not set.
func (s Struct) UUID(f schema.Ref) (v [16]byte) {
	if s.m != nil {
		v = [16]byte(s.m.buf.At(s.word(f))[:16])
	}
	return
}

// SetBool sets a bool field. All setters panic if the struct is absent.
func (s Struct) SetBool(f schema.Ref, v bool) {
	x := byte(0)
	if v {
		x = 1
	}
	s.SetInt8(f, int8(x))
}

// SetInt8 sets an i8 field.
func (s Struct) SetInt8(f schema.Ref, v int8) {
	if debugging && s.m != nil {
		s.m.noteSet(uint32(s.k), f)
	}
	if !f.Wide() && s.m != nil {
		if p := s.word(f); s.m.buf.InTail(p, 1) {
			s.m.buf.Put1(p, byte(v))
			return
		}
	}
	s.fixed(f, 1)[0] = byte(v)
}

// SetInt16 sets an i16 field.
func (s Struct) SetInt16(f schema.Ref, v int16) {
	if debugging && s.m != nil {
		s.m.noteSet(uint32(s.k), f)
	}
	if !f.Wide() && s.m != nil {
		if p := s.word(f); s.m.buf.InTail(p, 2) {
			s.m.buf.Put2(p, uint16(v))
			return
		}
	}
	binary.BigEndian.PutUint16(s.fixed(f, 2), uint16(v))
}

// SetInt32 sets an i32 or enum field.
func (s Struct) SetInt32(f schema.Ref, v int32) {
	if debugging && s.m != nil {
		s.m.noteSet(uint32(s.k), f)
	}
	if !f.Wide() && s.m != nil {
		if p := s.word(f); s.m.buf.InTail(p, 4) {
			s.m.buf.Put4(p, uint32(v))
			return
		}
	}
	binary.BigEndian.PutUint32(s.fixed(f, 4), uint32(v))
}

// SetInt64 sets an i64 field.
func (s Struct) SetInt64(f schema.Ref, v int64) {
	if debugging && s.m != nil {
		s.m.noteSet(uint32(s.k), f)
	}
	if !f.Wide() && s.m != nil {
		if p := s.word(f); s.m.buf.InTail(p, 8) {
			s.m.buf.Put8(p, uint64(v))
			return
		}
	}
	binary.BigEndian.PutUint64(s.fixed(f, 8), uint64(v))
}

// SetFloat64 sets a double field.
func (s Struct) SetFloat64(f schema.Ref, v float64) { s.SetInt64(f, int64(math.Float64bits(v))) }

// SetUUID sets a uuid field.
func (s Struct) SetUUID(f schema.Ref, v [16]byte) { copy(s.fixed(f, 16), v[:]) }

// Bool returns a bool field, or false if it is not set.
func (s Wide) Bool(f schema.Ref) bool { return s.Int8(f) != 0 }

// Int8 returns an i8 field, or 0 if it is not set.
func (s Wide) Int8(f schema.Ref) int8 {
	if s.m == nil {
		return 0
	}
	t := s.table()
	if s.lacks(t, f) {
		return 0
	}
	return int8(s.m.buf.Load1(index.TableAt(s.m.ix.Words, t, f)))
}

// Int16 returns an i16 field, or 0 if it is not set.
func (s Wide) Int16(f schema.Ref) int16 {
	if s.m == nil {
		return 0
	}
	t := s.table()
	if s.lacks(t, f) {
		return 0
	}
	return int16(s.m.buf.Load2(index.TableAt(s.m.ix.Words, t, f)))
}

// Int32 returns an i32 or enum field, or 0 if it is not set.
func (s Wide) Int32(f schema.Ref) int32 {
	if s.m == nil {
		return 0
	}
	t := s.table()
	if s.lacks(t, f) {
		return 0
	}
	return int32(s.m.buf.Load4(index.TableAt(s.m.ix.Words, t, f)))
}

// Int64 returns an i64 field, or 0 if it is not set.
func (s Wide) Int64(f schema.Ref) int64 {
	if s.m == nil {
		return 0
	}
	t := s.table()
	if s.lacks(t, f) {
		return 0
	}
	return int64(s.m.buf.Load8(index.TableAt(s.m.ix.Words, t, f)))
}

// Float64 returns a double field, or 0 if it is not set.
func (s Wide) Float64(f schema.Ref) float64 { return math.Float64frombits(uint64(s.Int64(f))) }

// UUID returns a uuid field, or zeros if it is not set.
func (s Wide) UUID(f schema.Ref) (v [16]byte) {
	if s.m != nil {
		v = [16]byte(s.m.buf.At(s.word(f))[:16])
	}
	return
}

// Bool returns a bool.
func (v Value) Bool() bool { return v.bits != 0 }

// Int returns an i8, i16, i32 or i64, or the number of an enum.
func (v Value) Int() int64 { return int64(v.bits) }

// Float returns a double.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// UUID returns a uuid.
func (v Value) UUID() (u [16]byte) {
	copy(u[:], v.text)
	return u
}

// ValueOfBool returns a value of type bool.
func ValueOfBool(v bool) Value {
	if v {
		return Value{typ: schema.TypeBool, bits: 1}
	}
	return Value{typ: schema.TypeBool}
}

// fixedOf returns the value of type t, of fixed size, that b begins with.
func fixedOf(t *schema.Type, b []byte) Value {
	v := Value{typ: t}
	switch t.Wire() {
	case wire.Bool:
		if b[0] != 0 {
			v.bits = 1
		}
	case wire.I8:
		v.bits = uint64(int8(b[0]))
	case wire.I16:
		v.bits = uint64(int16(binary.BigEndian.Uint16(b)))
	case wire.I32:
		v.bits = uint64(int32(wire.BE32(b)))
	case wire.UUID:
		v.text = b[:16:16]
	default:
		v.bits = wire.BE64(b)
	}
	return v
}

// lendFixed is fixedOf for bytes of the message. The value may alias them.
func (m *Message) lendFixed(t *schema.Type, b []byte) Value {
	v := fixedOf(t, b)
	if v.text != nil {
		m.buf.Lend()
	}
	return v
}

// ValueOfFloat returns a value of type double.
func ValueOfFloat(v float64) Value {
	return Value{typ: schema.TypeDouble, bits: math.Float64bits(v)}
}

// ValueOfUUID returns a value of type uuid.
func ValueOfUUID(v [16]byte) Value { return Value{typ: schema.TypeUUID, text: v[:]} }

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

func (AsEnum[E]) get(m *Message, w uint32) E { return E(wire.BE32(m.fixedValue(w))) }

func (AsInt64) get(m *Message, w uint32) int64 { return int64(wire.BE64(m.fixedValue(w))) }

func (AsFloat64) get(m *Message, w uint32) float64 {
	return math.Float64frombits(wire.BE64(m.fixedValue(w)))
}

func (AsUUID[U]) get(m *Message, w uint32) U { return U([16]byte(m.fixedValue(w)[:16])) }

func (AsString) get(m *Message, w uint32) string { return m.TextString(w) }

func (AsBytes) get(m *Message, w uint32) []byte { m.buf.Lend(); return m.textBytes(w) }

func (AsView[S]) get(m *Message, w uint32) S { return S(m.handle(w)) }

func (AsBool) encode(v bool) encoded { return encodeBool(v) }

func (AsInt8) encode(v int8) encoded { return encodeFixed(1, uint64(v)) }

func (AsInt16) encode(v int16) encoded { return encodeFixed(2, uint64(v)) }

func (AsInt32) encode(v int32) encoded { return encodeFixed(4, uint64(v)) }

func (AsEnum[E]) encode(v E) encoded { return encodeFixed(4, uint64(v)) }

func (AsInt64) encode(v int64) encoded { return encodeFixed(8, uint64(v)) }

func (AsFloat64) encode(v float64) encoded { return encodeFixed(8, math.Float64bits(v)) }

func (AsUUID[U]) encode(v U) encoded { return encoded{fixed: v, n: 16} }

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

// encoded returns v as maps look for it.
func (v Value) encoded() encoded {
	switch {
	case v.typ.Kind() >= schema.Record:
		return encoded{view: v.s.orAbsent()}
	case v.typ.Kind() == schema.Fixed && v.text != nil:
		k := encoded{n: len(v.text)}
		copy(k.fixed[:], v.text)
		return k
	case v.typ.Kind() == schema.Text && v.text == nil:
		return encoded{text: []byte{}}
	case v.typ.Kind() == schema.Text:
		return encoded{text: v.text}
	}
	return encodeFixed(int(v.typ.Size()), v.bits)
}
