package nocopycmp

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Message is a struct, union or exception for cmp. Its keys are the names of the fields that are
// set, as in the IDL, and the ids of those that the IDL does not know. An absent struct is nil.
//
// Values are bool, int8 to int64, float64, string, []byte, [nocopy.UUID], [Enum] and Message.
// Lists are slices of these; sets are too, sorted and without repeated elements; maps are Go's
// maps, with texts in the place of keys that are doubles, structs or containers. Unknown fields
// are of type []Raw.
type Message map[string]any

// typeKey is the key of a Message's type in it.
const typeKey = "@type"

// typeName is the value for typeKey.
type typeName struct{ d *thriftimpl.Desc }

// String returns the IDL's name of the struct.
func (t typeName) String() string { return t.d.Name() }

// Equal reports whether two structs have the same name.
func (t typeName) Equal(u typeName) bool { return t.d.Name() == u.d.Name() }

// desc returns the descriptor of m, nil of an absent one.
func (m Message) desc() *thriftimpl.Desc {
	t, _ := m[typeKey].(typeName)
	return t.d
}

// Enum is the value of an enum for cmp.
type Enum struct {
	e      *thriftimpl.Enum
	number int32
}

// Number returns the enum's number.
func (e Enum) Number() int32 { return e.number }

// String returns the name of the value, or its number if it has none.
func (e Enum) String() string {
	if e.e != nil {
		if name := e.e.Name(e.number); name != "" {
			return name
		}
	}
	return strconv.Itoa(int(e.number))
}

// Equal reports whether two values are of enums with the same name and have the same number.
func (e Enum) Equal(f Enum) bool {
	return e.number == f.number && (e.e == f.e || e.e != nil && f.e != nil && e.e.TypeName() == f.e.TypeName())
}

// Raw is a field that the IDL does not know: its type and its value's wire bytes.
type Raw struct {
	Type  nocopy.WireType
	Bytes []byte
}

// transformName is by what the paths of cmp name Transform.
const transformName = "nocopycmp.Transform"

var handleType = reflect.TypeFor[nocopy.AnyHandle]()

// Transform returns an option with which cmp compares messages, lists, sets and maps by their
// contents. They are not changed, but that what is being built in them is completed, and nothing
// of them is aliased. Fields that are set and fields that are not are different; sets and maps are
// compared in any order, lists in theirs. An absent list, set or map is nil.
func Transform() cmp.Option {
	isHandle := func(p cmp.Path) bool {
		t := p.Last().Type()
		return t != nil && t.Kind() == reflect.Struct && t.Implements(handleType)
	}
	return cmp.FilterPath(isHandle, cmp.Transformer(transformName, func(v any) any {
		h := v.(nocopy.AnyHandle)
		s := h.ThriftStruct()
		if m, ok := v.(nocopy.AnyStruct); ok {
			return message(m.ThriftDesc(), s)
		}
		if t := s.ContainerType(); t != nil {
			s.WireIn(t) // completes it
			return value(thriftimpl.ValueOfStruct(t, s))
		}
		return nil
	}))
}

// message returns a struct as a Message.
func message(d *thriftimpl.Desc, s thriftimpl.Struct) Message {
	if !s.Valid() {
		return nil
	}
	s.WireIn(thriftimpl.StructOf(d)) // completes it
	m := Message{typeKey: typeName{d}}
	for i := s.NextField(d, 0); i < d.NumFields(); i = s.NextField(d, i+1) {
		f := d.Field(i)
		if s.HasField(f) && (!d.IsUnion() || d.ArmID(s.Which()) == d.FieldDesc(i).ID) {
			m[d.FieldDesc(i).Name] = value(s.Value(f, d))
		}
	}
	for id, v := range s.Unknown(d) {
		key := strconv.Itoa(int(id))
		same, _ := m[key].([]Raw)
		m[key] = append(same, Raw{v.Type, bytes.Clone(v.Raw())})
	}
	return m
}

// value returns a value as cmp gets it, of the type that goType tells.
func value(v thriftimpl.Value) any {
	t := v.Type()
	switch t.Wire() {
	case nocopy.WireBool:
		return v.Bool()
	case nocopy.WireI8:
		return int8(v.Int())
	case nocopy.WireI16:
		return int16(v.Int())
	case nocopy.WireI32:
		if e := t.Enum(); e != nil {
			return Enum{e, int32(v.Int())}
		}
		return int32(v.Int())
	case nocopy.WireI64:
		return v.Int()
	case nocopy.WireDouble:
		return v.Float()
	case nocopy.WireUUID:
		return v.UUID()
	case nocopy.WireString:
		if t.Binary() {
			return append([]byte{}, v.Bytes()...)
		}
		return strings.Clone(v.Text())
	case nocopy.WireStruct:
		return message(t.Struct(), v.Struct())
	case nocopy.WireMap:
		return mapOf(t, v.Struct())
	}
	return sliceOf(t, v.Struct())
}

// sliceOf returns a list or set as a slice.
func sliceOf(t *thriftimpl.Type, s thriftimpl.Struct) any {
	n := s.Count()
	elems := make([]reflect.Value, n)
	for i := range n {
		elems[i] = reflect.ValueOf(value(s.Element(i)))
	}
	if t.Wire() == nocopy.WireSet {
		texts := make(map[string]reflect.Value, n)
		for _, x := range elems {
			texts[text(x.Interface())] = x
		}
		elems = elems[:0]
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			elems = append(elems, texts[key])
		}
	}
	return reflect.Append(reflect.MakeSlice(reflect.SliceOf(goType(t.Elem())), 0, len(elems)), elems...).Interface()
}

// mapOf returns a map as one of Go's.
func mapOf(t *thriftimpl.Type, s thriftimpl.Struct) any {
	m := reflect.MakeMap(goType(t))
	for k, v := range s.Pairs() {
		key := value(k)
		if b, ok := key.([]byte); ok {
			key = string(b)
		} else if x, ok := key.(float64); ok {
			key = strconv.FormatFloat(x, 'g', -1, 64)
		} else if goType(t).Key().Kind() == reflect.String && k.Type().Wire() != nocopy.WireString {
			key = text(key)
		}
		m.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value(v)))
	}
	return m.Interface()
}

// goType returns the type that values of type t have for cmp.
func goType(t *thriftimpl.Type) reflect.Type {
	switch t.Wire() {
	case nocopy.WireStruct:
		return reflect.TypeFor[Message]()
	case nocopy.WireList, nocopy.WireSet:
		return reflect.SliceOf(goType(t.Elem()))
	case nocopy.WireMap:
		key := reflect.TypeFor[string]()
		switch t.Key().Wire() {
		case nocopy.WireString, nocopy.WireDouble, nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		default:
			key = goType(t.Key())
		}
		return reflect.MapOf(key, goType(t.Elem()))
	case nocopy.WireString:
		if t.Binary() {
			return reflect.TypeFor[[]byte]()
		}
		return reflect.TypeFor[string]()
	case nocopy.WireUUID:
		return reflect.TypeFor[nocopy.UUID]()
	}
	if t.Enum() != nil {
		return reflect.TypeFor[Enum]()
	}
	return map[nocopy.WireType]reflect.Type{nocopy.WireBool: reflect.TypeFor[bool](), nocopy.WireI8: reflect.TypeFor[int8](),
		nocopy.WireI16: reflect.TypeFor[int16](), nocopy.WireI32: reflect.TypeFor[int32](), nocopy.WireI64: reflect.TypeFor[int64](),
		nocopy.WireDouble: reflect.TypeFor[float64]()}[t.Wire()]
}

// text returns a text that is the same for the same values only.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case float64:
		return strconv.FormatFloat(v+0, 'g', -1, 64) // 0, not −0
	case fmt.Stringer: // an Enum, a uuid, or a type's name
		return v.String()
	}
	x := reflect.ValueOf(v)
	var parts []string
	switch x.Kind() {
	case reflect.Slice:
		for i := range x.Len() {
			parts = append(parts, text(x.Index(i).Interface()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		for _, k := range x.MapKeys() {
			key, isName := k.Interface().(string)
			if _, isMessage := v.(Message); !isMessage || !isName {
				key = text(k.Interface())
			} else if key == typeKey {
				continue
			}
			parts = append(parts, key+": "+text(x.MapIndex(k).Interface()))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprintf("%+v", v)
}
