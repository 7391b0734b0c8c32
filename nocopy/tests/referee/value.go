// Package referee has the values with which tests compare the library: values of Thrift types as
// plain Go data, random ones of any type, and their bytes as Apache Thrift's own Go library reads
// and writes them. It does not use package nocopy. Only tests import it.
package referee

import (
	"encoding/binary"
	"slices"

	"github.com/apache/thrift/lib/go/thrift"
)

// Type is the type of a field or element.
type Type struct {
	Wire   thrift.TType
	Binary bool // a string that is bytes
	Enum   bool // an i32
	Struct *Struct
	Key    *Type // of a map
	Elem   *Type // of a list or set; of a map: the value
}

// Struct is a struct, union or exception.
type Struct struct {
	Name      string
	Union     bool
	Exception bool
	Fields    []Field
}

// Field is a field of a Struct, in declaration order.
type Field struct {
	ID      int16
	Name    string
	Type    *Type
	Req     Requiredness
	Default Value // nil: none
}

// Requiredness is required, optional or neither, as the IDL says for a field.
type Requiredness int

// The requirednesses. DefaultReq is neither required nor optional.
const (
	DefaultReq Requiredness = iota
	Required
	Optional
)

// The types without parameters.
var (
	Bool   = &Type{Wire: thrift.BOOL}
	I8     = &Type{Wire: thrift.BYTE}
	I16    = &Type{Wire: thrift.I16}
	I32    = &Type{Wire: thrift.I32}
	I64    = &Type{Wire: thrift.I64}
	Double = &Type{Wire: thrift.DOUBLE}
	String = &Type{Wire: thrift.STRING}
	Binary = &Type{Wire: thrift.STRING, Binary: true}
	UUID   = &Type{Wire: thrift.UUID}
	Enum   = &Type{Wire: thrift.I32, Enum: true}

	// Leaves holds all of them.
	Leaves = []*Type{Bool, I8, I16, I32, I64, Double, String, Binary, UUID, Enum}
)

// StructOf, ListOf, SetOf and MapOf make the other types.
func StructOf(s *Struct) *Type     { return &Type{Wire: thrift.STRUCT, Struct: s} }
func ListOf(elem *Type) *Type      { return &Type{Wire: thrift.LIST, Elem: elem} }
func SetOf(elem *Type) *Type       { return &Type{Wire: thrift.SET, Elem: elem} }
func MapOf(key, value *Type) *Type { return &Type{Wire: thrift.MAP, Key: key, Elem: value} }
func (t *Type) IsStruct() bool     { return t.Wire == thrift.STRUCT }
func (t *Type) IsMap() bool        { return t.Wire == thrift.MAP }
func (t *Type) IsList() bool       { return t.Wire == thrift.LIST || t.Wire == thrift.SET }
func (t *Type) IsContainer() bool  { return t.IsStruct() || t.IsMap() || t.IsList() }
func (t *Type) IsFixed() bool      { return !t.IsContainer() && t.Wire != thrift.STRING }
func (t *Type) Same(u *Type) bool  { return t == u || t != nil && u != nil && t.same(u) }
func (t *Type) same(u *Type) bool {
	return t.Wire == u.Wire && t.Binary == u.Binary && t.Enum == u.Enum && t.Struct == u.Struct &&
		t.Key.Same(u.Key) && t.Elem.Same(u.Elem)
}

// Value is a value: bool, int8, int16, int32 (enums too), int64, Float, string, Bytes,
// thrift.Tuuid, *Record, *List or *Map.
type Value = any

// Float is a double by its bits, so that NaNs are compared bit for bit.
type Float uint64

// Bytes is a binary.
type Bytes string

// Record is a struct's value.
type Record struct {
	Type    *Struct
	Fields  []Value // by place in Type.Fields; nil: not set
	Unknown []Raw   // fields that Type does not have, in wire order
	Last    int     // of a union: place+1 of the arm that counts, 0 if none is set

	// Superseded holds fields that occur again later, so that they do not count. Only Write uses
	// them.
	Superseded []Raw
}

// SetArm makes field i, by its place, the only one that is set, if r is a union.
func (r *Record) SetArm(i int) {
	if r.Type.Union {
		for k := range r.Fields {
			if k != i {
				r.Fields[k] = nil
			}
		}
		r.Last = i + 1
		r.Unknown = nil
	}
}

// Weight returns the number of structs and containers in v, and roughly its bytes.
func Weight(v Value) (n, size int) {
	add := func(x Value) {
		k, b := Weight(x)
		n, size = n+k, size+b
	}
	switch v := v.(type) {
	case *Record:
		for _, x := range v.Fields {
			if x != nil {
				add(x)
			}
		}
	case *List:
		for _, x := range v.Elems {
			add(x)
		}
	case *Map:
		for _, p := range v.Pairs {
			add(p.Key)
			add(p.Value)
		}
	case string:
		return 0, len(v)
	case Bytes:
		return 0, len(v)
	default:
		return 0, 8
	}
	return n + 1, size + 8
}

// Raw is a field as its bytes.
type Raw struct {
	ID   int16
	Wire thrift.TType
	Data string
}

// List is the value of a list or set.
type List struct {
	Type  *Type
	Elems []Value
}

// Map is the value of a map. If a key comes twice, the last pair counts.
type Map struct {
	Type  *Type
	Pairs []Pair
}

// Pair is an entry of a Map.
type Pair struct{ Key, Value Value }

// Zero returns the value of a field or element of the type that was not set. A struct has the
// fields that must be on the wire.
func Zero(t *Type) Value {
	switch t.Wire {
	case thrift.BOOL:
		return false
	case thrift.BYTE:
		return int8(0)
	case thrift.I16:
		return int16(0)
	case thrift.I32:
		return int32(0)
	case thrift.I64:
		return int64(0)
	case thrift.DOUBLE:
		return Float(0)
	case thrift.UUID:
		return thrift.Tuuid{}
	case thrift.STRING:
		if t.Binary {
			return Bytes("")
		}
		return ""
	case thrift.STRUCT:
		r := NewRecord(t.Struct)
		for i := range t.Struct.Fields {
			if f := &t.Struct.Fields[i]; f.AddedIfUnset(t.Struct) {
				r.Fields[i] = f.Initial()
			}
		}
		return r
	case thrift.MAP:
		return &Map{Type: t}
	}
	return &List{Type: t}
}

// NewRecord returns a struct with no fields set.
func NewRecord(s *Struct) *Record { return &Record{Type: s, Fields: make([]Value, len(s.Fields))} }

// AddedIfUnset reports whether a field of s is on the wire although it is not set.
func (f *Field) AddedIfUnset(s *Struct) bool {
	return !s.Union && f.Req != Optional && (f.Req == Required || f.Default != nil || f.Type.IsFixed())
}

// Initial returns the value of such a field that is not set.
func (f *Field) Initial() Value {
	if f.Default != nil {
		return Clone(f.Default)
	}
	return Zero(f.Type)
}

// Clone returns a deep copy.
func Clone(v Value) Value {
	switch v := v.(type) {
	case *Record:
		c := &Record{Type: v.Type, Fields: make([]Value, len(v.Fields)), Unknown: slices.Clone(v.Unknown), Last: v.Last}
		for i, x := range v.Fields {
			if x != nil {
				c.Fields[i] = Clone(x)
			}
		}
		return c
	case *List:
		c := &List{Type: v.Type, Elems: make([]Value, len(v.Elems))}
		for i, x := range v.Elems {
			c.Elems[i] = Clone(x)
		}
		return c
	case *Map:
		c := &Map{Type: v.Type, Pairs: make([]Pair, len(v.Pairs))}
		for i, p := range v.Pairs {
			c.Pairs[i] = Pair{Clone(p.Key), Clone(p.Value)}
		}
		return c
	}
	return v
}

// Equal reports whether two values are the same. The order of a map's pairs does not count, nor do
// pairs whose key occurs again later.
func Equal(a, b Value) bool { return string(Append(nil, a)) == string(Append(nil, b)) }

// Append appends bytes that are the same for equal values and only for those.
func Append(dst []byte, v Value) []byte {
	be := binary.BigEndian
	switch v := v.(type) {
	case bool:
		if v {
			return append(dst, 1)
		}
		return append(dst, 0)
	case int8:
		return append(dst, byte(v))
	case int16:
		return be.AppendUint16(dst, uint16(v))
	case int32:
		return be.AppendUint32(dst, uint32(v))
	case int64:
		return be.AppendUint64(dst, uint64(v))
	case Float:
		return be.AppendUint64(dst, uint64(v))
	case string:
		return append(be.AppendUint32(dst, uint32(len(v))), v...)
	case Bytes:
		return append(be.AppendUint32(dst, uint32(len(v))), v...)
	case thrift.Tuuid:
		return append(dst, v[:]...)
	case *Record:
		return v.appendTo(dst)
	case *List:
		dst = be.AppendUint32(dst, uint32(len(v.Elems)))
		for _, x := range v.Elems {
			dst = Append(dst, x)
		}
		return dst
	case *Map:
		return v.appendTo(dst)
	}
	panic("referee: not a value")
}

// appendTo is Append for a record: fields, arm, and unknown fields in the order of the wire.
func (v *Record) appendTo(dst []byte) []byte {
	be := binary.BigEndian
	for i, x := range v.Fields {
		if x != nil {
			dst = Append(be.AppendUint16(dst, uint16(i)), x)
		}
	}
	dst = append(dst, 0xff, 0xff)
	if v.Type.Union {
		dst = be.AppendUint16(dst, uint16(v.Last))
	}
	for _, raw := range v.Unknown {
		dst = append(be.AppendUint16(dst, uint16(raw.ID)), byte(raw.Wire))
		dst = append(be.AppendUint32(dst, uint32(len(raw.Data))), raw.Data...)
	}
	return append(dst, 0xff, 0xff, 0xff)
}

// appendTo is Append for a map: the pairs that count, sorted by their bytes.
func (m *Map) appendTo(dst []byte) []byte {
	pairs := m.Live()
	sorted := make([]string, len(pairs))
	for i, p := range pairs {
		sorted[i] = string(Append(Append(nil, p.Key), p.Value))
	}
	slices.Sort(sorted)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(sorted)))
	for _, p := range sorted {
		dst = append(dst, p...)
	}
	return dst
}

// Live returns the pairs that count. Keys that are structs or containers are not compared: the
// pairs of such a map all count.
func (m *Map) Live() []Pair {
	if m.Type.Key.IsContainer() {
		return m.Pairs
	}
	var live []Pair
	for i, p := range m.Pairs {
		if m.Find(p.Key) == i {
			live = append(live, p)
		}
	}
	return live
}

// Find returns the number of the last pair with the key, −1 if there is none.
func (m *Map) Find(key Value) int {
	container := m.Type.Key.IsContainer()
	for i := len(m.Pairs) - 1; i >= 0; i-- {
		if k := m.Pairs[i].Key; !container && k == key || container && Equal(k, key) {
			return i
		}
	}
	return -1
}

// Plain returns the value as maps, slices and scalars only, for go-cmp to compare and to print.
func Plain(v Value) any {
	switch v := v.(type) {
	case *Record:
		m := map[string]any{}
		for i, x := range v.Fields {
			if x != nil {
				m[v.Type.Fields[i].Name] = Plain(x)
			}
		}
		if len(v.Unknown) > 0 {
			m["(unknown)"] = v.Unknown
		}
		if v.Last > 0 {
			m["(which)"] = v.Type.Fields[v.Last-1].Name
		}
		return m
	case *List:
		l := make([]any, len(v.Elems))
		for i, x := range v.Elems {
			l[i] = Plain(x)
		}
		return l
	case *Map:
		type pair struct {
			order      string
			Key, Value any
		}
		var pairs []pair
		for _, p := range v.Live() {
			pairs = append(pairs, pair{string(Append(Append(nil, p.Key), p.Value)), Plain(p.Key), Plain(p.Value)})
		}
		slices.SortFunc(pairs, func(a, b pair) int {
			if a.order < b.order {
				return -1
			}
			return 1
		})
		l := make([][2]any, len(pairs))
		for i, p := range pairs {
			l[i] = [2]any{p.Key, p.Value}
		}
		return l
	}
	return v
}
