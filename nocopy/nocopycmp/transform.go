package nocopycmp

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Message is the form of a struct, union or exception that cmp compares. Its keys are the IDL
// names of the fields that are set, and the ids of unknown fields. An absent struct is nil.
//
// Values are bool, int8 to int64, float64, string, []byte, [nocopy.UUID], [Enum] and Message.
// Unknown fields are of type []Raw. Lists are slices of these. Sets are sorted slices without
// repeated elements. Maps are Go maps; keys that are doubles, structs or containers are replaced
// by texts. Each NaN is an element or a key of its own.
//
// Fields that options such as IgnoreFields ignore do not affect the order of sets or the texts of
// keys. Elements and keys that differ only in them are still counted separately.
type Message map[string]any

// typeKey is the key under which a Message has its type.
const typeKey = "@type"

// typeName is the value for typeKey.
type typeName struct {
	d       *thriftimpl.Desc
	options *options
}

// String returns the IDL's name of the struct.
func (t typeName) String() string { return t.d.Name() }

// Equal reports whether the IDL declares two structs alike.
func (t typeName) Equal(u typeName) bool { return t.d == u.d || impl.SameDescs(t.d, u.d) }

// typ returns the value of typeKey, which is zero for an absent Message.
func (m Message) typ() typeName {
	t, _ := m[typeKey].(typeName)
	return t
}

// desc returns the descriptor of m, or nil if m is absent.
func (m Message) desc() *thriftimpl.Desc { return m.typ().d }

// Enum is the form of an enum value that cmp compares.
type Enum struct {
	e      *thriftimpl.Enum
	number int32
}

// Number returns the enum's number.
func (e Enum) Number() int32 { return e.number }

// String returns the name of the value, or its number if it has no name.
func (e Enum) String() string {
	if e.e != nil {
		if name := e.e.Name(e.number); name != "" {
			return name
		}
	}
	return strconv.Itoa(int(e.number))
}

// Equal reports whether two values have the same number, of enums with the same name.
func (e Enum) Equal(f Enum) bool {
	return e.number == f.number && (e.e == f.e || e.e != nil && f.e != nil && e.e.TypeName() == f.e.TypeName())
}

// Raw is a field that the IDL does not know: its type and the wire bytes of its value.
type Raw struct {
	Type  nocopy.WireType
	Bytes []byte
}

// transformName is the name of Transform in cmp's paths.
const transformName = "nocopycmp.Transform"

var handleType = reflect.TypeFor[nocopy.AnyHandle]()

// Transform returns an option that makes cmp compare messages, lists, sets and maps by their
// contents. Set fields differ from unset ones. The order of lists matters; that of sets and maps
// does not. An absent list, set or map is nil. Transform completes what is being built in
// messages, and changes nothing else. Its values do not alias them.
func Transform() cmp.Option {
	isHandle := func(p cmp.Path) bool {
		t := p.Last().Type()
		return t != nil && t.Kind() == reflect.Struct && t.Implements(handleType)
	}
	return cmp.Options{
		cmp.FilterPath(isHandle, cmp.Transformer(transformName, func(v any) any {
			c := converter{&options{}}
			h := v.(nocopy.AnyHandle)
			s := h.ThriftStruct()
			if m, ok := v.(nocopy.AnyStruct); ok {
				s.CheckDesc(m.ThriftDesc())
				return c.message(m.ThriftDesc(), s)
			}
			if t := s.ContainerType(); t != nil {
				s.WireIn(t) // completes it
				return c.value(impl.ValueOfStruct(t, s))
			}
			return nil
		})),
		cmp.Transformer(arrangeName, func(u unordered) any { return u.arranged() }),
	}
}

// converter converts the values of one handle to values for cmp.
type converter struct{ options *options }

// message returns a struct as a Message.
func (c converter) message(d *thriftimpl.Desc, s thriftimpl.Struct) Message {
	if !s.Valid() {
		return nil
	}
	s.WireIn(thriftimpl.StructOf(d)) // completes it
	m := Message{typeKey: typeName{d, c.options}}
	for i := s.NextField(d, 0); i < d.NumFields(); i = s.NextField(d, i+1) {
		if f := d.Field(i); s.Sent(f, d) {
			m[d.FieldDesc(i).Name] = c.value(s.Value(f, d))
		}
	}
	for id, v := range s.Unknown(d) {
		key := strconv.Itoa(int(id))
		same, _ := m[key].([]Raw)
		m[key] = append(same, Raw{v.Type, bytes.Clone(v.Raw())})
	}
	return m
}

// value returns a value in its form for cmp. Its type is that of goType.
func (c converter) value(v impl.Value) any {
	t := v.Type()
	switch t.Wire() {
	case nocopy.WireStruct:
		return c.message(t.Struct(), v.Struct())
	case nocopy.WireMap:
		return c.mapOf(t, v.Struct())
	case nocopy.WireList, nocopy.WireSet:
		return c.sliceOf(t, v.Struct())
	}
	if e := t.Enum(); e != nil {
		return Enum{e, int32(v.Int())}
	}
	switch x := impl.GoValue(v).(type) { // the message may be released
	case string:
		return strings.Clone(x)
	case []byte:
		return append([]byte{}, x...)
	default:
		return x
	}
}

// sliceOf returns a list or set as a slice, but a set with structs in it as an unordered.
func (c converter) sliceOf(t *thriftimpl.Type, s thriftimpl.Struct) any {
	if t.Wire() != nocopy.WireSet {
		list := make([]any, s.Count())
		for i := range list {
			list[i] = c.value(s.Element(i))
		}
		return slice(t.Elem(), list)
	}
	u := unordered{t: t}
	for i := range s.Count() {
		v := s.Element(i)
		if u.number(impl.AppendElement(nil, v)) == len(u.list) {
			u.list = append(u.list, c.value(v))
		}
	}
	if hasStruct(t.Elem()) {
		return u
	}
	return u.arranged()
}

// slice returns a Go slice of values for cmp, of type t.
func slice(t *thriftimpl.Type, list []any) any {
	x := reflect.MakeSlice(reflect.SliceOf(goType(t)), 0, len(list))
	for _, v := range list {
		x = reflect.Append(x, reflect.ValueOf(v))
	}
	return x.Interface()
}

// mapOf returns a map as a Go map, but a map with structs in its keys as an unordered.
func (c converter) mapOf(t *thriftimpl.Type, s thriftimpl.Struct) any {
	u := unordered{t: t}
	for k, v := range s.Pairs() {
		i := u.number(impl.AppendKey(nil, k))
		if i == len(u.list) {
			u.list, u.values = append(u.list, c.value(k)), append(u.values, nil)
		}
		u.values[i] = c.value(v)
	}
	if hasStruct(t.Key()) {
		return u
	}
	return u.arranged()
}

// goType returns the Go type of values of type t in their form for cmp.
func goType(t *thriftimpl.Type) reflect.Type {
	switch t.Wire() {
	case nocopy.WireStruct:
		return reflect.TypeFor[Message]()
	case nocopy.WireList, nocopy.WireSet:
		if t.Wire() == nocopy.WireSet && hasStruct(t.Elem()) {
			return unorderedType
		}
		return reflect.SliceOf(goType(t.Elem()))
	case nocopy.WireMap:
		if hasStruct(t.Key()) {
			return unorderedType
		}
		return reflect.MapOf(keyType(t.Key()), goType(t.Elem()))
	}
	zeros := string(make([]byte, 16)) // any value will do
	return reflect.TypeOf(converter{}.value(impl.ValueOf(t, zeros)))
}

// keyType returns the Go type of keys of type t in their form for cmp.
func keyType(t *thriftimpl.Type) reflect.Type {
	switch t.Wire() {
	case nocopy.WireString, nocopy.WireDouble, nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		return reflect.TypeFor[string]()
	}
	return goType(t)
}

// hasStruct reports whether values of type t are or contain structs.
func hasStruct(t *thriftimpl.Type) bool {
	switch t.Wire() {
	case nocopy.WireStruct:
		return true
	case nocopy.WireList, nocopy.WireSet:
		return hasStruct(t.Elem())
	case nocopy.WireMap:
		return hasStruct(t.Key()) || hasStruct(t.Elem())
	}
	return false
}
