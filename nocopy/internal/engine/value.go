package engine

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file reads and sets fields, elements and pairs by descriptors, as values whose types are
// not known when a program is compiled.

// Raw returns the value's wire bytes. They alias the message.
func (v WireValue) Raw() []byte { return v.b }

// Type returns the value's type. The zero Value has none: Type returns nil.
func (v Value) Type() *schema.Type { return v.typ }

// Bytes returns a string or binary. It aliases the message, and must not be changed.
func (v Value) Bytes() []byte { return v.text }

// Text returns a string or binary as a string. It aliases the message.
func (v Value) Text() string { return memory.String(v.text) }

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

// Struct returns the handle of a struct, union, exception, list, set or map.
func (v Value) Struct() Struct { return v.s }

// orNone returns t, or a type of nothing if t is nil.
func orNone(t *schema.Type) *schema.Type {
	if t == nil {
		return &schema.Type{}
	}
	return t
}

// mustBe panics with what can't be a value of type t, unless it is ok.
func mustBe(t *schema.Type, ok bool, what string) {
	if !ok {
		panic("nocopy: " + what + " as a value of type " + t.String())
	}
}

// ValueOfBool returns a value of type bool.
func ValueOfBool(v bool) Value {
	return Value{typ: schema.TypeBool, bits: uint64(BoolByte(v))}
}

// FixedOf returns the value of type t, of fixed size, that b begins with.
func FixedOf(t *schema.Type, b []byte) Value {
	v := Value{typ: t}
	switch t.Wire() {
	case wire.Bool:
		v.bits = uint64(BoolByte(b[0] != 0))
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

// lendFixed is FixedOf for bytes of the message. The value may alias them.
func (m *Message) lendFixed(t *schema.Type, b []byte) Value {
	v := FixedOf(t, b)
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

// ValueOfBytes returns v as a string or binary. It is referred to.
func ValueOfBytes(t *schema.Type, v []byte) Value {
	mustBe(t, orNone(t).Kind() == schema.Text, "bytes")
	return Value{typ: t, text: v}
}

// ValueOfStruct returns the handle s as a value of type t, a struct, list, set or map. s is of
// that type.
func ValueOfStruct(t *schema.Type, s Struct) Value {
	mustBe(t, orNone(t).Kind() >= schema.Record, "a handle")
	return Value{typ: t, s: s}
}

// valueOf returns the value of type t that a word of the index stands for.
func (m *Message) valueOf(t *schema.Type, word index.Word) Value {
	switch t.Kind() {
	case schema.Fixed:
		return m.lendFixed(t, m.fixedValue(word))
	case schema.Text:
		return Value{typ: t, text: m.LentBytes(word)}
	}
	return Value{typ: t, s: m.handle(word.Entry())}
}

// zeroWire has the wire bytes of the zero value of any type but a struct, list or map.
var zeroWire = make([]byte, 16)

// Value returns the field f of s, which d describes. If the field is not set, it returns the IDL
// default or the zero value.
func (s Struct) Value(f schema.Ref, d *schema.Struct) Value {
	fd := d.FieldOf(f)
	t := fd.Type
	switch {
	case t.Kind() >= schema.Record:
		return Value{typ: t, s: s.Child(f, d)}
	case s.HasField(f):
		return s.m.valueOf(t, s.m.ix.At(s.entry(), f))
	case t.Kind() == schema.Text && fd.Default == "":
		return Value{typ: t}
	case fd.Default == "":
		return FixedOf(t, zeroWire)
	}
	return ValueOf(t, fd.Default)
}

// ValueOf returns the value of type t, not a struct or container, that has these wire bytes.
func ValueOf(t *schema.Type, data string) Value {
	if t.Kind() == schema.Text {
		return Value{typ: t, text: []byte(data[wire.TextHeader:])}
	}
	return FixedOf(t, []byte(data))
}

// Sent reports whether field f of s, which d describes, would be sent: it is set, and in a union
// it is the arm.
func (s Struct) Sent(f schema.Ref, d *schema.Struct) bool {
	return s.HasField(f) && (!d.IsUnion() || s.Which() == int32(f.Number()))
}

// SetValue sets the field f of s, which d describes, to v, copying structs and containers. In a
// union f becomes the field that is set. SetValue panics if v does not have the field's type.
func (s Struct) SetValue(f schema.Ref, d *schema.Struct, v Value) {
	t := d.FieldOf(f).Type
	s.writable()
	v.mustFit(t)
	switch t.Kind() {
	case schema.Fixed:
		b := v.encoded()
		copy(s.fixed(f, int(t.Size())), b.fixed[:t.Size()])
	case schema.Text:
		s.SetBytes(f, v.text)
	default:
		s.SetChild(f, d, v.s)
		return
	}
	if d.IsUnion() {
		s.Arm(f, d)
	}
}

// NewValue sets the field f of s, which d describes, to an empty struct or container of n
// elements, and returns it to be filled, as NewChild does. In a union f becomes the field that is
// set.
func (s Struct) NewValue(f schema.Ref, d *schema.Struct, n int) Value {
	t := d.FieldOf(f).Type
	mustBe(t, t.Kind() >= schema.Record, "a new handle")
	return Value{typ: t, s: s.NewChild(f, d, n)}
}

// UnsetValue removes the field f of s, which d describes. A required field gets its default
// instead.
func (s Struct) UnsetValue(f schema.Ref, d *schema.Struct) {
	switch {
	case d.IsUnion():
		s.UnsetArm(f)
	case d.FieldOf(f).Req == schema.Required:
		s.Reset(f, d)
	default:
		s.Unset(f)
	}
}

// Complete completes the values that are being built in the message of s. Afterwards s reads as it
// will be sent. Complete does nothing for an absent struct or container, or the zero handle.
func (s Struct) Complete() {
	if s = s.orAbsent(); !s.m.isEmpty() {
		s.m.closeAllUnlessSealed()
	}
}

// CompleteToCopy is Complete before s is copied or compared. It also checks a message parsed with
// ByIndex, as Message.Index does, and panics if it is invalid.
func (s Struct) CompleteToCopy() {
	s.Complete()
	if s.m != nil && s.m.pending&byIndex != 0 {
		s.m.mustIndex()
	}
}

// CheckToCopy does what Check does, and checks a message parsed with ByIndex, as Index does.
func (m *Message) CheckToCopy() error {
	if err := m.Check(); err != nil || m.pending&byIndex == 0 {
		return err
	}
	return m.Index()
}

// mustFit panics unless v can be put where the IDL has type t.
func (v Value) mustFit(t *schema.Type) {
	if v.typ != t && !t.Equal(v.typ) {
		panic("nocopy: value of type " + v.typ.String() + " instead of one of type " + t.String() + schema.Apart(v.typ, t))
	}
}

// ContainerType returns the type of a list, set or map, or nil if it is absent.
func (s Struct) ContainerType() *schema.Type {
	if s = s.orAbsent(); s.m.isEmpty() {
		return nil
	}
	return s.typ()
}

// Count returns the number of elements of a list or set, or of pairs of a map.
func (s Struct) Count() int {
	if s.ContainerType() == nil {
		return 0
	}
	if s.typ().Kind() == schema.Dict {
		return s.MapLen()
	}
	return s.ListLen()
}

// Element returns element i of a list or set.
func (s Struct) Element(i int) Value {
	s.checkIndex(i)
	t := s.typ().Elem()
	switch t.Kind() {
	case schema.Fixed:
		return s.m.lendFixed(t, s.m.buf.At(s.m.ix.List(s.entry()).Start()+uint32(i)*uint32(t.Size())))
	case schema.Text:
		return Value{typ: t, text: s.BytesAt(i)}
	case schema.Record:
		return Value{typ: t, s: s.StructAt(i)}
	}
	return Value{typ: t, s: s.ContainerAt(i)}
}

// SetElement sets element i of a list to v, copying structs and containers.
func (s Struct) SetElement(i int, v Value) {
	s.writable()
	s.checkIndex(i)
	t := s.typ().Elem()
	v.mustFit(t)
	switch t.Kind() {
	case schema.Fixed:
		b := v.encoded()
		copy(s.SetFixedAt(i, int(t.Size())), b.fixed[:t.Size()])
	case schema.Text:
		s.SetBytesAt(i, v.text)
	default:
		s.SetViewAt(i, v.s)
	}
}

// AppendElement adds v at the end of a list or set, copying structs and containers. It does not
// look for an equal element.
func (s Struct) AppendElement(v Value) {
	s.writable()
	t := s.typ().Elem()
	v.mustFit(t)
	switch t.Kind() {
	case schema.Fixed:
		b := v.encoded()
		copy(s.GrowFixed(1, int(t.Size())), b.fixed[:t.Size()])
	case schema.Text:
		s.AppendBytes(v.text)
	default:
		s.AppendView(v.s)
	}
}

// AppendNewElement adds an empty struct, or a container of n elements, at the end of a list or
// set, and returns it to be filled.
func (s Struct) AppendNewElement(n int) Value {
	s.writable()
	t := s.typ().Elem()
	mustBe(t, t.Kind() >= schema.Record, "a new handle")
	return Value{typ: t, s: s.AppendNewView(n)}
}

// HasElement reports whether an element of a list or set has the wire bytes of v.
func (s Struct) HasElement(v Value) bool {
	if s.Count() == 0 {
		return false
	}
	v.mustFit(s.typ().Elem())
	if v.typ.Kind() >= schema.Record {
		return s.ContainsValue(v.s)
	}
	b := v.encoded()
	return s.ContainsKey(b.bytes())
}

// DeleteElements removes the elements from i to j-1 of a list or set.
func (s Struct) DeleteElements(i, j int) {
	s.writable()
	if t := s.typ().Elem(); t.Kind() == schema.Fixed {
		s.DeleteFixed(i, j, int(t.Size()))
		return
	}
	s.DeleteRange(i, j)
}

// DeleteElementsFunc removes the elements of a list or set for which del returns true. hasDel is
// as in DeleteFunc.
func DeleteElementsFunc(s Struct, hasDel bool, del func(Value) bool) {
	DeleteFunc(s, hasDel, func(i int) bool { return del(s.Element(i)) })
}

// DeletePairsFunc removes the pairs of a map for which del returns true. hasDel is as in
// DeleteFunc.
func DeletePairsFunc(s Struct, hasDel bool, del func(k, v Value) bool) {
	s.filterable(hasDel)
	t := s.typ()
	s.deletePairs(func(k, v index.Word) bool { return del(s.m.valueOf(t.Key(), k), s.m.valueOf(t.Elem(), v)) })
}

// Pairs iterates over the keys and values of a map in wire order, as All of a Map does.
func (s Struct) Pairs() iter.Seq2[Value, Value] {
	return func(yield func(k, v Value) bool) {
		if s.Count() == 0 {
			return
		}
		t := s.typ()
		s.eachPair(func(k, v index.Word) bool { return yield(s.m.valueOf(t.Key(), k), s.m.valueOf(t.Elem(), v)) })
	}
}

// LastPairs is Pairs, but of pairs whose keys are equal structs or containers it yields only the
// last. For other keys Pairs does so, too.
func (s Struct) LastPairs() iter.Seq2[Value, Value] {
	return func(yield func(k, v Value) bool) {
		if s.Count() == 0 {
			return
		}
		t := s.typ()
		views := t.OfViews()
		s.eachPair(func(k, v index.Word) bool {
			if views {
				last := s.m.lookup(s.entry(), t, s.m.wire(k.Entry(), t.Key()))
				if last >= 0 && s.pairAt(last).Key() != k {
					return true
				}
			}
			return yield(s.m.valueOf(t.Key(), k), s.m.valueOf(t.Elem(), v))
		})
	}
}

// Pair returns the value of a map's key, and whether there is one.
func (s Struct) Pair(key Value) (Value, bool) {
	if s.Count() == 0 {
		return Value{}, false
	}
	t := s.typ()
	key.mustFit(t.Key())
	i := s.find(s.key(key.encoded()))
	if i < 0 {
		return Value{}, false
	}
	return s.m.valueOf(t.Elem(), s.pairAt(i).Value()), true
}

// PutPair sets the value of a map's key to v, copying structs and containers and replacing an
// older value.
func (s Struct) PutPair(key, v Value) {
	s.writable()
	t := s.typ()
	key.mustFit(t.Key())
	v.mustFit(t.Elem())
	k := key.encoded()
	if t.Elem().Kind() >= schema.Record {
		s.putView(k, v.s)
		return
	}
	s.putEncoded(k, v.encoded())
}

// PutNewPair sets the value of a map's key to an empty struct, or a container of n elements,
// replacing an older value, and returns it to be filled.
func (s Struct) PutNewPair(key Value, n int) Value {
	s.writable()
	t := s.typ()
	key.mustFit(t.Key())
	mustBe(t.Elem(), t.Elem().Kind() >= schema.Record, "a new handle")
	return Value{typ: t.Elem(), s: s.putNew(key.encoded(), n)}
}

// AppendNewPair adds a pair of a zero key and a zero value to a map and returns both. It does not
// look for an equal key. Use it for keys that are structs or containers, which are filled in place
// afterwards.
func (s Struct) AppendNewPair() (key, value Value) {
	k, v := s.pairOfZeros()
	return s.m.valueOf(s.typ().Key(), k), s.m.valueOf(s.typ().Elem(), v)
}

// AppendPair adds a pair of a zero key and v to a map and returns the key, as AppendNewPair does.
// v is neither a struct nor a container.
func (s Struct) AppendPair(v Value) (key Value) {
	s.writable()
	t := s.typ()
	v.mustFit(t.Elem())
	mustBe(t, t.Elem().Kind() < schema.Record, "a pair with a value that is no handle")
	return s.m.valueOf(t.Key(), s.pairOf(v.encoded()))
}

// DeletePair removes all pairs of a map with this key and reports whether there were any.
func (s Struct) DeletePair(key Value) bool {
	s.writable()
	key.mustFit(s.typ().Key())
	return s.deleteEncoded(key.encoded())
}

// Peek finds one value in the wire bytes of a struct without making a message. Package nocopy
// documents it.
func Peek(b []byte, path ...int) (WireValue, error) {
	t, value, err := parse.Peek(b, path)
	return WireValue{t, value}, err
}

// Peek finishes the message of s, its root, and finds one
// value in its bytes, like the function Peek. The value aliases the message as Bytes does.
func (s Struct) Peek(path ...int) (WireValue, error) {
	if s.m == nil {
		return Peek(nil, path...)
	}
	s.alive()
	m := s.m
	m.Finish()
	first := m.buf.First()
	m.buf.Lend()
	m.buf.Freeze()
	v, err := Peek(first, path...)
	if errors.Is(err, io.ErrUnexpectedEOF) && len(first) < m.buf.Len() {
		return Peek(m.Bytes(), path...)
	}
	return v, err
}

// ValueOfInt returns v as a value of type t, an i8, i16, i32, i64 or enum. Higher bits than t has
// are cut off.
func ValueOfInt(t *schema.Type, v int64) Value {
	switch orNone(t).Wire() {
	case wire.I8:
		v = int64(int8(v))
	case wire.I16:
		v = int64(int16(v))
	case wire.I32:
		v = int64(int32(v))
	default:
		mustBe(t, orNone(t).Wire() == wire.I64, "an integer")
	}
	return Value{typ: t, bits: uint64(v)}
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

// AppendWire appends a copy of the wire bytes of v to dst. An absent struct or container gives the
// bytes of an empty one. AppendWire completes the values that are being built in it.
func (v Value) AppendWire(dst []byte) []byte {
	switch t := v.typ; {
	case t.Kind() == schema.Text:
		return append(wire.AppendBE32(dst, uint32(len(v.text))), v.text...)
	case t.Kind() >= schema.Record:
		return append(dst, v.s.wireAs(t)...)
	default:
		b := v.encoded()
		return append(dst, b.fixed[:t.Size()]...)
	}
}
