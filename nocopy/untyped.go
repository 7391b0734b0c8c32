package nocopy

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// For generated code. XValue is a value of any type, for code that knows types only by
// descriptors. For structs, lists, sets and maps it is a handle. Strings and binaries alias the
// message that they were read from.
type XValue struct {
	typ  *XType
	bits uint64 // a bool, number or enum: its bits, sign-extended
	text []byte // a string or binary, or the 16 bytes of a uuid
	s    XStruct
}

// Type returns the value's type. The zero XValue has none: Type returns nil.
func (v XValue) Type() *XType { return v.typ }

// Bool returns a bool.
func (v XValue) Bool() bool { return v.bits != 0 }

// Int returns an i8, i16, i32 or i64, or the number of an enum.
func (v XValue) Int() int64 { return int64(v.bits) }

// Float returns a double.
func (v XValue) Float() float64 { return math.Float64frombits(v.bits) }

// Bytes returns a string or binary. It aliases the message, and must not be changed.
func (v XValue) Bytes() []byte { return v.text }

// Text returns a string or binary as a string. It aliases the message.
func (v XValue) Text() string { return chain.String(v.text) }

// UUID returns a uuid.
func (v XValue) UUID() (u UUID) {
	copy(u[:], v.text)
	return u
}

// Struct returns the handle of a struct, union, exception, list, set or map.
func (v XValue) Struct() XStruct { return v.s }

// valueOfBool returns a value of type bool.
func valueOfBool(v bool) XValue {
	if v {
		return XValue{typ: typeBool, bits: 1}
	}
	return XValue{typ: typeBool}
}

// orNone returns t, or a type of nothing if t is nil.
func (t *XType) orNone() *XType {
	if t == nil {
		return &XType{}
	}
	return t
}

// mustBe panics with what can't be a value of type t, unless it is ok.
func (t *XType) mustBe(ok bool, what string) {
	if !ok {
		panic("nocopy: " + what + " as a value of type " + t.String())
	}
}

// valueOfInt returns v as a value of type t, an i8, i16, i32, i64 or enum. Higher bits than t has
// are cut off.
func valueOfInt(t *XType, v int64) XValue {
	switch t.orNone().wire {
	case WireI8:
		v = int64(int8(v))
	case WireI16:
		v = int64(int16(v))
	case WireI32:
		v = int64(int32(v))
	default:
		t.mustBe(t.orNone().wire == WireI64, "an integer")
	}
	return XValue{typ: t, bits: uint64(v)}
}

// valueOfBytes returns v as a string or binary. It is referred to.
func valueOfBytes(t *XType, v []byte) XValue {
	t.mustBe(t.orNone().kind == text, "bytes")
	return XValue{typ: t, text: v}
}

// valueOfStruct returns the handle s as a value of type t, a struct, list, set or map. s is of
// that type.
func valueOfStruct(t *XType, s XStruct) XValue {
	t.mustBe(t.orNone().kind >= record, "a handle")
	return XValue{typ: t, s: s}
}

// fixedOf returns the value of type t, of fixed size, that b begins with.
func fixedOf(t *XType, b []byte) XValue {
	v := XValue{typ: t}
	switch t.wire {
	case WireBool:
		if b[0] != 0 {
			v.bits = 1
		}
	case WireI8:
		v.bits = uint64(int8(b[0]))
	case WireI16:
		v.bits = uint64(int16(binary.BigEndian.Uint16(b)))
	case WireI32:
		v.bits = uint64(int32(wire.BE32(b)))
	case WireUUID:
		v.text = b[:16:16]
	default:
		v.bits = wire.BE64(b)
	}
	return v
}

// valueOf returns the value of type t that a word of the index stands for.
func (m *Message) valueOf(t *XType, word uint32) XValue {
	switch t.kind {
	case fixed:
		if t.wire == WireUUID {
			m.buf.Lend()
		}
		return fixedOf(t, m.fixedValue(word))
	case text:
		m.buf.Lend()
		return XValue{typ: t, text: m.textBytes(word)}
	}
	return XValue{typ: t, s: m.handle(word)}
}

// zeroWire has the wire bytes of the zero value of any type but a struct, list or map.
var zeroWire = make([]byte, 16)

// Value returns the field f of s, which d describes. If the field is not set, it returns the IDL
// default or the zero value.
func (s XStruct) Value(f XField, d *XDesc) XValue {
	fd := d.field(f)
	t := fd.typ
	switch {
	case t.kind >= record:
		return XValue{typ: t, s: s.Child(f, d)}
	case s.HasField(f):
		return s.m.valueOf(t, s.m.at(s.entry(), f))
	case t.kind == text && fd.Default == "":
		return XValue{typ: t}
	case fd.Default == "":
		return fixedOf(t, zeroWire)
	}
	return valueOfWire(t, fd.Default)
}

// valueOfWire returns the value of type t, not a struct or container, that has these wire bytes.
func valueOfWire(t *XType, data string) XValue {
	if t.kind == text {
		return XValue{typ: t, text: []byte(data[wire.TextHeader:])}
	}
	return fixedOf(t, []byte(data))
}

// SetValue sets the field f of s, which d describes, to v, copying structs and containers. In a
// union f becomes the field that is set. SetValue panics if v does not have the field's type.
func (s XStruct) SetValue(f XField, d *XDesc, v XValue) {
	t := d.field(f).typ
	s.writable()
	v.mustFit(t)
	if t.kind >= record {
		s.SetChild(f, d, v.s)
		return
	}
	switch t.wire {
	case WireBool, WireI8:
		s.SetInt8(f, int8(v.bits))
	case WireI16:
		s.SetInt16(f, int16(v.bits))
	case WireI32:
		s.SetInt32(f, int32(v.bits))
	case WireI64, WireDouble:
		s.SetInt64(f, int64(v.bits))
	case WireUUID:
		s.SetUUID(f, v.UUID())
	case WireString:
		s.SetBytes(f, v.text)
	}
	if d.union {
		s.Arm(f, d)
	}
}

// NewValue sets the field f of s, which d describes, to an empty struct or container of n
// elements, and returns it to be filled, as NewChild does. In a union f becomes the field that is
// set.
func (s XStruct) NewValue(f XField, d *XDesc, n int) XValue {
	t := d.field(f).typ
	t.mustBe(t.kind >= record, "a new handle")
	return XValue{typ: t, s: s.NewChild(f, d, n)}
}

// UnsetValue removes the field f of s, which d describes. A required field gets its default
// instead.
func (s XStruct) UnsetValue(f XField, d *XDesc) {
	switch {
	case d.union:
		s.UnsetArm(f)
	case d.field(f).Req == XRequired:
		s.Reset(f, d)
	default:
		s.Unset(f)
	}
}

// Complete completes what is being built in the message of s. Afterwards s reads as it will be
// sent. Complete does nothing for an absent struct or container, or the zero handle.
func (s XStruct) Complete() {
	if s = s.orAbsent(); !s.m.isEmpty() {
		s.m.closeAllUnlessSealed()
	}
}

// CompleteToCopy is Complete before s is copied or compared. It also checks a message parsed with
// ByIndex, as Message.Index does, and panics if it is invalid.
func (s XStruct) CompleteToCopy() {
	s.Complete()
	if s.m != nil && s.m.pending&byIndex != 0 {
		s.m.mustIndex()
	}
}

// mustFit panics unless v can be put where the IDL has type t.
func (v XValue) mustFit(t *XType) {
	if v.typ != t && !t.Equal(v.typ) {
		panic("nocopy: value of type " + v.typ.String() + " in the place of one of type " + t.String())
	}
}

// ContainerType returns the type of a list, set or map, or nil if it is absent.
func (s XStruct) ContainerType() *XType {
	if s = s.orAbsent(); s.m.isEmpty() {
		return nil
	}
	return s.typ()
}

// Count returns the number of elements of a list or set, or of pairs of a map.
func (s XStruct) Count() int {
	if s.ContainerType() == nil {
		return 0
	}
	if s.typ().kind == dict {
		return s.pairs()
	}
	return s.count()
}

// Element returns element i of a list or set.
func (s XStruct) Element(i int) XValue {
	s.checkIndex(i)
	t := s.typ().elem
	switch t.kind {
	case fixed:
		if t.wire == WireUUID {
			s.m.buf.Lend()
		}
		return fixedOf(t, s.m.buf.At(s.m.idx[s.entry()+listStart]+uint32(i)*uint32(t.size)))
	case text:
		return XValue{typ: t, text: s.textAt(i)}
	case record:
		return XValue{typ: t, s: StructList[XStruct](s).At(i)}
	}
	return XValue{typ: t, s: s.containerAt(i)}
}

// SetElement sets element i of a list to v, copying structs and containers.
func (s XStruct) SetElement(i int, v XValue) {
	s.writable()
	s.checkIndex(i)
	t := s.typ().elem
	v.mustFit(t)
	switch t.kind {
	case fixed:
		b := v.encoded()
		copy(s.setFixedAt(i, int(t.size)), b.fixed[:t.size])
	case text:
		s.setTextAt(i, v.text)
	case record:
		s.setStructAt(i, v.s)
	default:
		s.setContainerAt(i, v.s)
	}
}

// AppendElement adds v at the end of a list or set, copying structs and containers. It does not
// look for an equal element.
func (s XStruct) AppendElement(v XValue) {
	s.writable()
	t := s.typ().elem
	v.mustFit(t)
	switch t.kind {
	case fixed:
		b := v.encoded()
		copy(s.growFixed(1, int(t.size)), b.fixed[:t.size])
	case text:
		s.appendText(v.text)
	case record:
		StructList[XStruct](s).Append(v.s)
	default:
		NestedList[XStruct](s).Append(v.s)
	}
}

// AppendNewElement adds an empty struct, or a container of n elements, at the end of a list or
// set, and returns it to be filled.
func (s XStruct) AppendNewElement(n int) XValue {
	s.writable()
	t := s.typ().elem
	t.mustBe(t.kind >= record, "a new handle")
	if t.kind == record {
		return XValue{typ: t, s: StructList[XStruct](s).AppendNew()}
	}
	return XValue{typ: t, s: NestedList[XStruct](s).AppendNew(n)}
}

// HasElement reports whether an element of a list or set has the wire bytes of v.
func (s XStruct) HasElement(v XValue) bool {
	if s.Count() == 0 {
		return false
	}
	v.mustFit(s.typ().elem)
	if v.typ.kind >= record {
		return s.containsValue(v.s)
	}
	b := v.encoded()
	return s.containsKey(b.bytes())
}

// DeleteElements removes the elements from i to j-1 of a list or set.
func (s XStruct) DeleteElements(i, j int) {
	s.writable()
	if t := s.typ().elem; t.kind == fixed {
		s.deleteFixed(i, j, int(t.size))
		return
	}
	s.deleteRange(i, j)
}

// encoded returns v as maps look for it.
func (v XValue) encoded() encoded {
	switch {
	case v.typ.kind >= record:
		return encoded{view: v.s.orAbsent()}
	case v.typ.wire == WireUUID:
		return encoded{fixed: v.UUID(), n: 16}
	case v.typ.kind == text && v.text == nil:
		return encoded{text: []byte{}}
	case v.typ.kind == text:
		return encoded{text: v.text}
	}
	return encodeFixed(int(v.typ.size), v.bits)
}

// Pairs iterates over the keys and values of a map in wire order, as All of a Map does.
func (s XStruct) Pairs() iter.Seq2[XValue, XValue] {
	return func(yield func(k, v XValue) bool) {
		if s.Count() == 0 {
			return
		}
		t := s.typ()
		s.eachPair(func(k, v uint32) bool { return yield(s.m.valueOf(t.key, k), s.m.valueOf(t.elem, v)) })
	}
}

// Pair returns the value of a map's key, and whether there is one.
func (s XStruct) Pair(key XValue) (XValue, bool) {
	if s.Count() == 0 {
		return XValue{}, false
	}
	t := s.typ()
	key.mustFit(t.key)
	i := s.find(s.key(key.encoded()))
	if i < 0 {
		return XValue{}, false
	}
	return s.m.valueOf(t.elem, s.m.idx[s.pairSlot(i)+pairValue]), true
}

// PutPair sets the value of a map's key to v, copying structs and containers and replacing an
// older value.
func (s XStruct) PutPair(key, v XValue) {
	s.writable()
	t := s.typ()
	key.mustFit(t.key)
	v.mustFit(t.elem)
	k := key.encoded()
	if t.elem.kind >= record {
		s.putView(k, v.s)
		return
	}
	s.putEncoded(k, v.encoded())
}

// PutNewPair sets the value of a map's key to an empty struct, or a container of n elements,
// replacing an older value, and returns it to be filled.
func (s XStruct) PutNewPair(key XValue, n int) XValue {
	s.writable()
	t := s.typ()
	key.mustFit(t.key)
	t.elem.mustBe(t.elem.kind >= record, "a new handle")
	return XValue{typ: t.elem, s: s.putNew(key.encoded(), n)}
}

// AppendNewPair adds a pair of a zero key and a zero value to a map and returns both. It does not
// look for an equal key. Use it for keys that are structs or containers, which are filled in place
// afterwards.
func (s XStruct) AppendNewPair() (key, value XValue) {
	slot := s.newPair()
	m, t := s.m, s.typ()
	word := m.appendZeroValue(t.key)
	m.idx[slot] = word
	m.keyAdded(s.entry(), t, s.pairNumber(slot))
	word = m.appendZeroValue(t.elem)
	m.idx[slot+pairValue] = word
	return m.valueOf(t.key, m.idx[slot]), m.valueOf(t.elem, word)
}

// AppendPair adds a pair of a zero key and v to a map and returns the key, as AppendNewPair does.
// v is neither a struct nor a container.
func (s XStruct) AppendPair(v XValue) (key XValue) {
	s.writable()
	t := s.typ()
	v.mustFit(t.elem)
	t.mustBe(t.elem.kind < record, "a pair with a value that is no handle")
	slot := s.newPair()
	m := s.m
	word := m.appendZeroValue(t.key)
	m.idx[slot] = word
	m.keyAdded(s.entry(), t, s.pairNumber(slot))
	word = m.appendEncoded(t.elem, v.encoded())
	m.idx[slot+pairValue] = word
	return m.valueOf(t.key, m.idx[slot])
}

// DeletePair removes all pairs of a map with this key and reports whether there were any.
func (s XStruct) DeletePair(key XValue) bool {
	s.writable()
	key.mustFit(s.typ().key)
	return s.deleteEncoded(key.encoded())
}

// Equal reports whether t and u have the same values on the wire: base types of the same name,
// structs with the same descriptor, and containers of such types. All enums are equal, as are
// string and binary.
func (t *XType) Equal(u *XType) bool {
	switch {
	case t == u:
		return true
	case t == nil || u == nil || t.wire != u.wire:
		return false
	case t.kind == record:
		return t.desc == u.desc
	case t.kind == dict:
		return t.key.Equal(u.key) && t.elem.Equal(u.elem)
	}
	return t.kind != list || t.elem.Equal(u.elem)
}
