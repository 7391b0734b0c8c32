package reflection

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Value is a value of any IDL type, read from a message. Methods for another type than the value's
// return zero.
type Value struct {
	v   impl.Value
	set bool
}

// Type returns the value's type. It must not be called on the zero Value.
func (v Value) Type() descriptor.Type { return descriptor.TypeOf(v.v.Type()) }

// IsSet reports whether the value is in the message. It is false for the default of an unset
// field.
func (v Value) IsSet() bool { return v.set }

// Bool returns a bool.
func (v Value) Bool() bool { return v.v.Bool() && v.v.Type().Wire() == nocopy.WireBool }

// Int returns an i8, i16, i32 or i64, or the number of an enum.
func (v Value) Int() int64 {
	if !v.is(nocopy.WireI8, nocopy.WireI16, nocopy.WireI32, nocopy.WireI64) {
		return 0
	}
	return v.v.Int()
}

// Float returns a double.
func (v Value) Float() float64 {
	if !v.is(nocopy.WireDouble) {
		return 0
	}
	return v.v.Float()
}

// Text returns a string or binary as a string. It aliases the message.
func (v Value) Text() string {
	if !v.is(nocopy.WireString) {
		return ""
	}
	return v.v.Text()
}

// Bytes returns a string or binary as bytes. They alias the message and must not be changed.
func (v Value) Bytes() []byte {
	if !v.is(nocopy.WireString) {
		return nil
	}
	return v.v.Bytes()
}

// UUID returns a uuid.
func (v Value) UUID() nocopy.UUID {
	if !v.is(nocopy.WireUUID) {
		return nocopy.UUID{}
	}
	return v.v.UUID()
}

// EnumName returns the IDL's name of an enum value, or "".
func (v Value) EnumName() string {
	if v.v.Type() == nil || v.v.Type().Enum() == nil {
		return ""
	}
	return v.v.Type().Enum().Name(int32(v.v.Int()))
}

// Message returns a struct, union or exception. For other types it returns the zero Message, which
// has no fields.
func (v Value) Message() Message {
	if !v.is(nocopy.WireStruct) {
		return Message{}
	}
	return Message{v.v.Struct(), v.v.Type().Struct()}
}

// List returns a list or set.
func (v Value) List() List {
	if !v.is(nocopy.WireList, nocopy.WireSet) {
		return List{}
	}
	return List{v.v}
}

// Map returns a map.
func (v Value) Map() Map {
	if !v.is(nocopy.WireMap) {
		return Map{}
	}
	return Map{v.v}
}

func (v Value) is(types ...nocopy.WireType) bool {
	if v.v.Type() == nil {
		return false
	}
	for _, t := range types {
		if v.v.Type().Wire() == t {
			return true
		}
	}
	return false
}

// Interface returns the value as a Go value: a bool, int8, int16, int32, int64, float64, string,
// []byte or nocopy.UUID, for an enum an int32, or a Message, List or Map. Strings and bytes alias
// the message.
func (v Value) Interface() any {
	if v.v.Type() == nil {
		return nil
	}
	switch v.v.Type().Wire() {
	case nocopy.WireStruct:
		return v.Message()
	case nocopy.WireList, nocopy.WireSet:
		return v.List()
	case nocopy.WireMap:
		return v.Map()
	}
	return impl.GoValue(v.v)
}

// String returns the value as compact, readable text.
func (v Value) String() string {
	if name := v.EnumName(); name != "" {
		return name
	}
	if b, ok := v.Interface().([]byte); ok {
		return fmt.Sprintf("0x%x", b)
	}
	return fmt.Sprint(v.Interface())
}

// List is a list or set of any type. The zero List has no elements.
type List struct{ v impl.Value }

// Len returns the number of elements.
func (l List) Len() int { return l.v.Struct().Count() }

// At returns element i. It panics with a nocopy.IndexError if i is out of range.
func (l List) At(i int) Value { return Value{l.v.Struct().Element(i), true} }

// All iterates over indices and elements.
func (l List) All() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		for i := 0; i < l.Len(); i++ {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Set sets element i to v, which may be any value that Message.Set accepts for its type.
func (l List) Set(i int, v any) error {
	return use(l.elem(), v, func(x impl.Value) { l.v.Struct().SetElement(i, x) })
}

// Append adds v at the end. v may be any value that Message.Set accepts for its type. Append does
// not look for an equal element of a set.
func (l List) Append(v any) error {
	return use(l.elem(), v, l.v.Struct().AppendElement)
}

// AppendNew adds an empty struct or container at the end and returns it to be filled. It panics if
// the elements have another type.
func (l List) AppendNew() Value { return Value{l.v.Struct().AppendNewElement(0), true} }

// Delete removes the elements from i to j-1.
func (l List) Delete(i, j int) { l.v.Struct().DeleteElements(i, j) }

// DeleteFunc removes the elements for which del returns true. [nocopy.StructList.DeleteFunc] says
// what del may do.
func (l List) DeleteFunc(del func(Value) bool) {
	impl.DeleteElementsFunc(l.v.Struct(), del != nil, func(x impl.Value) bool { return del(Value{x, true}) })
}

// String returns the elements as compact, readable text.
func (l List) String() string { return nocopy.StringList(l.v.Struct()).String() }

func (l List) elem() *thriftimpl.Type {
	if l.v.Type() == nil {
		return nil
	}
	return l.v.Type().Elem()
}

// Map is a map of any type. The zero Map has no pairs.
type Map struct{ v impl.Value }

// Len returns the number of keys. If the keys are structs or containers, it is the number of
// pairs.
func (m Map) Len() int { return m.v.Struct().Count() }

// Get returns the value of a key, and whether there is one. The key may be any value that
// Message.Set accepts for its type. The error reports a key that can't be in a map of this type.
func (m Map) Get(key any) (v Value, ok bool, err error) {
	err = useKey(m.key(), key, func(k impl.Value) { v.v, ok = m.v.Struct().Pair(k) })
	v.set = ok
	return v, ok, err
}

// Put sets the value of a key, replacing an older one. Both may be any value that Message.Set
// accepts for their types.
func (m Map) Put(key, v any) error {
	var put error
	err := useKey(m.key(), key, func(k impl.Value) {
		put = use(m.v.Type().Elem(), v, func(x impl.Value) { m.v.Struct().PutPair(k, x) })
	})
	return cmp.Or(err, put)
}

// PutNew sets the value of a key to an empty struct or container, replacing an older one, and
// returns it to be filled. It panics if the values have another type.
func (m Map) PutNew(key any) (v Value, err error) {
	err = useKey(m.key(), key, func(k impl.Value) { v = Value{m.v.Struct().PutNewPair(k, 0), true} })
	return v, err
}

// Delete removes a key and reports whether it was there.
func (m Map) Delete(key any) (deleted bool, err error) {
	err = useKey(m.key(), key, func(k impl.Value) { deleted = m.v.Struct().DeletePair(k) })
	return deleted, err
}

// DeleteFunc removes the pairs for which del returns true. [nocopy.StringMap.DeleteFunc] says what
// del may do.
func (m Map) DeleteFunc(del func(k, v Value) bool) {
	impl.DeletePairsFunc(m.v.Struct(), del != nil, func(k, v impl.Value) bool { return del(Value{k, true}, Value{v, true}) })
}

// All iterates over keys and values in wire order.
func (m Map) All() iter.Seq2[Value, Value] {
	return func(yield func(k, v Value) bool) {
		for k, v := range m.v.Struct().Pairs() {
			if !yield(Value{k, true}, Value{v, true}) {
				return
			}
		}
	}
}

// String returns the pairs as compact, readable text.
func (m Map) String() string { return nocopy.StringMap(m.v.Struct()).String() }

func (m Map) key() *thriftimpl.Type {
	if m.v.Type() == nil {
		return nil
	}
	return m.v.Type().Key()
}

func isHandle(t *thriftimpl.Type) bool {
	switch t.Wire() {
	case nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		return true
	}
	return false
}
