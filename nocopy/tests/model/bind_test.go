// Accessors for types that are made at run time, like those of generated code.

package model_test

import (
	"fmt"
	"iter"
	"math"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// This file has accessors for types of the referee. A value is a referee.Value if it is a leaf,
// otherwise a handle.

// handle is the handle of any struct, list, set or map.
type handle = thriftimpl.Struct

// wideHandle is the handle of a wide struct.
type wideHandle = thriftimpl.Wide

// color is the enum of all fields of enum type.
type color int32

// bound is a struct type with the facts that generated code would have.
type bound struct {
	*referee.Struct
	desc   *thriftimpl.Desc
	fields []thriftimpl.Field
	first  int // words of an index entry before those of the fields
	wide   bool
}

// schema is a set of struct types that refer to each other.
type schema struct {
	structs []*bound
	of      map[*referee.Struct]*bound
	types   map[*referee.Type]*thriftimpl.Type
}

// newSchema returns the types of some structs. Every second one is wide, even with few fields.
func newSchema(structs []*referee.Struct) *schema { return newSchemaOf(structs, 1) }

// newSchemaOf returns a schema of structs. Those with even (odd = 0) or odd (odd = 1) numbers are
// wide, even with few fields.
func newSchemaOf(structs []*referee.Struct, odd int) *schema {
	sc := &schema{of: map[*referee.Struct]*bound{}, types: map[*referee.Type]*thriftimpl.Type{}}
	for i, s := range structs {
		b := &bound{Struct: s}
		b.first, b.wide = entry.First(s.Union), len(s.Fields) > entry.MaxDirect
		if i%2 == odd {
			b.wide = true
		}
		switch {
		case s.Union:
			b.desc = thriftimpl.NewUnionDesc(s.Name)
		case s.Exception:
			b.desc = thriftimpl.NewExceptionDesc(s.Name)
		default:
			b.desc = thriftimpl.NewDesc(s.Name)
		}
		sc.structs = append(sc.structs, b)
		sc.of[s] = b
	}
	for _, b := range sc.structs {
		sc.define(b)
	}
	return sc
}

func (sc *schema) define(b *bound) {
	var descs []thriftimpl.FieldDesc
	for i, f := range b.Fields {
		constant := thriftimpl.Field(b.first+i)<<48 | thriftimpl.Field(b.first+len(b.Fields))<<32 | thriftimpl.Field(f.Type.Wire)<<16 | thriftimpl.Field(uint16(f.ID))
		if b.Union {
			constant |= entry.Union
		}
		if b.wide {
			constant |= entry.Wide
		}
		b.fields = append(b.fields, constant)
		fd := thriftimpl.FieldDesc{ID: f.ID, Name: f.Name, Type: sc.typ(f.Type), Req: impl.Requiredness(f.Req)}
		if f.Default != nil {
			fd.Default = string(referee.WriteValue(f.Type, f.Default, nil))
		}
		descs = append(descs, fd)
	}
	if b.wide {
		b.desc.DefineWide(descs...)
	} else {
		b.desc.Define(descs...)
	}
}

func (sc *schema) typ(t *referee.Type) *thriftimpl.Type {
	if have := sc.types[t]; have != nil {
		return have
	}
	var made *thriftimpl.Type
	switch {
	case t.IsStruct():
		made = thriftimpl.StructOf(sc.of[t.Struct].desc)
	case t.Wire == thrift.LIST:
		made = thriftimpl.ListOf(sc.typ(t.Elem))
	case t.Wire == thrift.SET:
		made = thriftimpl.SetOf(sc.typ(t.Elem))
	case t.IsMap():
		made = thriftimpl.MapOf(sc.typ(t.Key), sc.typ(t.Elem))
	case t.Enum:
		made = thriftimpl.EnumOf(thriftimpl.NewEnum("Enum", nil))
	case t.Wire == thrift.STRING && t.Binary:
		made = thriftimpl.TypeBinary
	default:
		made = map[thrift.TType]*thriftimpl.Type{thrift.BOOL: thriftimpl.TypeBool, thrift.BYTE: thriftimpl.TypeI8, thrift.I16: thriftimpl.TypeI16,
			thrift.I32: thriftimpl.TypeI32, thrift.I64: thriftimpl.TypeI64, thrift.DOUBLE: thriftimpl.TypeDouble, thrift.STRING: thriftimpl.TypeString,
			thrift.UUID: thriftimpl.TypeUUID}[t.Wire]
	}
	sc.types[t] = made
	return made
}

// leaf has the accessors of one type that is neither a struct nor a container: as a field, element
// and key.
type leaf interface {
	get(s handle, f thriftimpl.Field, def referee.Value) referee.Value
	set(s handle, f thriftimpl.Field, v referee.Value)
	setAll(s handle, f thriftimpl.Field, d *thriftimpl.Desc, v []referee.Value)
	list(l handle) leafList
	mapTo(value *referee.Type) dict
}

// leafList is a list or set of leaves.
type leafList interface {
	Len() int
	at(i int) referee.Value
	set(i int, v referee.Value)
	append(v referee.Value)
	add(v referee.Value)
	contains(v referee.Value) bool
	all() []referee.Value // by All, compared with AppendTo
	sort(cmp func(a, b referee.Value) int)
	deleteFunc(del func(v referee.Value) bool)
	arranged() arrangedList
}

// arrangedList has the methods that all lists share.
type arrangedList interface {
	Swap(i, j int)
	Delete(i, j int)
	Truncate(n int)
}

// listOf is the interface of lists of T.
type listOf[T any] interface {
	nocopy.View
	Len() int
	At(int) T
	Set(int, T)
	Append(T)
	AppendTo([]T) []T
	All() iter.Seq2[int, T]
	Contains(T) bool
	Add(T)
	SortFunc(func(a, b T) int)
	DeleteFunc(func(T) bool)
	arrangedList
}

// leafOf is the leaf with Go type T, lists L and codec C.
type leafOf[T any, L listOf[T], C thriftimpl.Codec[T]] struct {
	getter func(handle, thriftimpl.Field) T
	wide   func(wideHandle, thriftimpl.Field) T
	setter func(handle, thriftimpl.Field, T)
	slice  func(handle, thriftimpl.Field, *thriftimpl.Desc, []T)
	to     func(T) referee.Value
	from   func(referee.Value) T
}

func (x *leafOf[T, L, C]) get(s handle, f thriftimpl.Field, def referee.Value) referee.Value {
	switch {
	case def != nil && !s.HasField(f):
		return def
	case f&entry.Wide != 0:
		return x.to(x.wide(wideHandle(s), f))
	}
	return x.to(x.getter(s, f))
}

func (x *leafOf[T, L, C]) set(s handle, f thriftimpl.Field, v referee.Value) {
	x.setter(s, f, x.from(v))
}

func (x *leafOf[T, L, C]) setAll(s handle, f thriftimpl.Field, d *thriftimpl.Desc, v []referee.Value) {
	all := make([]T, len(v))
	for i := range v {
		all[i] = x.from(v[i])
	}
	x.slice(s, f, d, all)
}

func (x *leafOf[T, L, C]) list(l handle) leafList { return leavesOf[T, L, C]{L(l), x} }

type leavesOf[T any, L listOf[T], C thriftimpl.Codec[T]] struct {
	l L
	x *leafOf[T, L, C]
}

func (l leavesOf[T, L, C]) Len() int                      { return l.l.Len() }
func (l leavesOf[T, L, C]) at(i int) referee.Value        { return l.x.to(l.l.At(i)) }
func (l leavesOf[T, L, C]) set(i int, v referee.Value)    { l.l.Set(i, l.x.from(v)) }
func (l leavesOf[T, L, C]) append(v referee.Value)        { l.l.Append(l.x.from(v)) }
func (l leavesOf[T, L, C]) add(v referee.Value)           { l.l.Add(l.x.from(v)) }
func (l leavesOf[T, L, C]) contains(v referee.Value) bool { return l.l.Contains(l.x.from(v)) }

func (l leavesOf[T, L, C]) arranged() arrangedList { return l.l }

func (l leavesOf[T, L, C]) sort(cmp func(a, b referee.Value) int) {
	l.l.SortFunc(func(a, b T) int { return cmp(l.x.to(a), l.x.to(b)) })
}

func (l leavesOf[T, L, C]) deleteFunc(del func(v referee.Value) bool) {
	l.l.DeleteFunc(func(v T) bool { return del(l.x.to(v)) })
}

func (l leavesOf[T, L, C]) all() []referee.Value {
	var all []referee.Value
	for i, v := range l.l.All() {
		if i != len(all) {
			panic(fmt.Sprintf("All gives index %d after %d", i, len(all)-1))
		}
		all = append(all, l.x.to(v))
	}
	for i, v := range l.l.AppendTo(make([]T, 1))[1:] {
		if l.x.to(v) != all[i] {
			panic(fmt.Sprintf("AppendTo gives %v as element %d, All %v", v, i, all[i]))
		}
	}
	return all
}

func same[T any](v T) referee.Value { return v }
func cast[T any](v referee.Value) T { return v.(T) }

// leaves has all leaves.
var leaves = map[*referee.Type]leaf{
	referee.Bool:   &leafOf[bool, nocopy.BoolList, thriftimpl.AsBool]{handle.Bool, wideHandle.Bool, handle.SetBool, handle.SetBools, same[bool], cast[bool]},
	referee.I8:     &leafOf[int8, nocopy.Int8List, thriftimpl.AsInt8]{handle.Int8, wideHandle.Int8, handle.SetInt8, handle.SetInt8s, same[int8], cast[int8]},
	referee.I16:    &leafOf[int16, nocopy.Int16List, thriftimpl.AsInt16]{handle.Int16, wideHandle.Int16, handle.SetInt16, handle.SetInt16s, same[int16], cast[int16]},
	referee.I32:    &leafOf[int32, nocopy.Int32List, thriftimpl.AsInt32]{handle.Int32, wideHandle.Int32, handle.SetInt32, handle.SetInt32s, same[int32], cast[int32]},
	referee.I64:    &leafOf[int64, nocopy.Int64List, thriftimpl.AsInt64]{handle.Int64, wideHandle.Int64, handle.SetInt64, handle.SetInt64s, same[int64], cast[int64]},
	referee.String: &leafOf[string, nocopy.StringList, thriftimpl.AsString]{handle.Text, wideHandle.Text, handle.SetText, handle.SetTexts, same[string], cast[string]},
	referee.Double: &leafOf[float64, nocopy.Float64List, thriftimpl.AsFloat64]{handle.Float64, wideHandle.Float64, handle.SetFloat64, handle.SetFloat64s,
		func(v float64) referee.Value { return referee.Float(math.Float64bits(v)) },
		func(v referee.Value) float64 { return math.Float64frombits(uint64(v.(referee.Float))) }},
	referee.Binary: &leafOf[[]byte, nocopy.BytesList, thriftimpl.AsBytes]{handle.Bytes, wideHandle.Bytes, handle.SetBytes, handle.SetByteSlices,
		func(v []byte) referee.Value { return referee.Bytes(v) },
		func(v referee.Value) []byte { return []byte(v.(referee.Bytes)) }},
	referee.UUID: &leafOf[nocopy.UUID, nocopy.UUIDList, thriftimpl.AsUUID]{
		func(s handle, f thriftimpl.Field) nocopy.UUID { return s.UUID(f) }, func(s wideHandle, f thriftimpl.Field) nocopy.UUID { return s.UUID(f) },
		func(s handle, f thriftimpl.Field, v nocopy.UUID) { s.SetUUID(f, v) }, thriftimpl.SetUUIDs,
		func(v nocopy.UUID) referee.Value { return thrift.Tuuid(v) },
		func(v referee.Value) nocopy.UUID { return nocopy.UUID(v.(thrift.Tuuid)) }},
	referee.Enum: &leafOf[color, nocopy.EnumList[color], thriftimpl.AsEnum[color]]{
		func(x handle, f thriftimpl.Field) color { return color(x.Int32(f)) },
		func(x wideHandle, f thriftimpl.Field) color { return color(x.Int32(f)) },
		func(x handle, f thriftimpl.Field, v color) { x.SetInt32(f, int32(v)) }, thriftimpl.SetEnums[color],
		func(v color) referee.Value { return int32(v) },
		func(v referee.Value) color { return color(v.(int32)) }},
}

// dict has the accessors of one type of map.
type dict interface {
	len(m handle) int
	get(m handle, k any) (any, bool)
	put(m handle, k, v any)
	delete(m handle, k any) bool
	deleteFunc(m handle, del func(k, v any) bool)
	all(m handle, f func(k, v any))
	appendNew(m handle) (k, v any)
	putNew(m handle, k any, n int) handle // values that are structs or containers
	append(m handle, v any) (k any)       // other values
}

// dictOf returns the accessors of maps of type t.
func dictOf(t *referee.Type) dict {
	if t.Key == referee.String && t.Elem == referee.String {
		return pairs[string, string, nocopy.StringMap]{same[string], cast[string], same[string], cast[string], nil, nil}
	}
	if l := leaves[t.Key]; l != nil {
		return l.mapTo(t.Elem)
	}
	return mapTo[handle, thriftimpl.AsView[handle]](t.Elem, func(v handle) any { return v }, cast[handle])
}

func (x *leafOf[T, L, C]) conv() (func(T) any, func(any) T) { return x.to, x.from }

func (x *leafOf[T, L, C]) mapTo(value *referee.Type) dict {
	return mapTo[T, C](value, x.to, x.from)
}

func mapTo[K any, KC thriftimpl.Codec[K]](value *referee.Type, to func(K) any, from func(any) K) dict {
	x := keys[K, KC]{to, from}
	switch value {
	case referee.Bool:
		return toLeaf[bool, thriftimpl.AsBool](x, value)
	case referee.I8:
		return toLeaf[int8, thriftimpl.AsInt8](x, value)
	case referee.I16:
		return toLeaf[int16, thriftimpl.AsInt16](x, value)
	case referee.I32:
		return toLeaf[int32, thriftimpl.AsInt32](x, value)
	case referee.I64:
		return toLeaf[int64, thriftimpl.AsInt64](x, value)
	case referee.Double:
		return toLeaf[float64, thriftimpl.AsFloat64](x, value)
	case referee.UUID:
		return toLeaf[nocopy.UUID, thriftimpl.AsUUID](x, value)
	case referee.String:
		return toLeaf[string, thriftimpl.AsString](x, value)
	case referee.Binary:
		return toLeaf[[]byte, thriftimpl.AsBytes](x, value)
	case referee.Enum:
		return toLeaf[color, thriftimpl.AsEnum[color]](x, value)
	}
	view := func(v handle) any { return v }
	if value.IsStruct() {
		type structs = nocopy.StructMap[K, handle, KC]
		return pairs[K, handle, structs]{to, from, view, cast[handle], func(m structs, k K, _ int) handle { return m.PutNew(k) }, nil}
	}
	type nested = nocopy.NestedMap[K, handle, KC]
	return pairs[K, handle, nested]{to, from, view, cast[handle], nested.PutNew, nil}
}

// keys converts keys.
type keys[K any, KC thriftimpl.Codec[K]] struct {
	to   func(K) any
	from func(any) K
}

func toLeaf[V any, VC thriftimpl.Codec[V], K any, KC thriftimpl.Codec[K]](x keys[K, KC], value *referee.Type) dict {
	to, from := leaves[value].(interface {
		conv() (func(V) any, func(any) V)
	}).conv()
	type values = nocopy.Map[K, V, KC, VC]
	return pairs[K, V, values]{x.to, x.from, to, from, nil, values.Append}
}

// mapOf is the interface of maps from K to V.
type mapOf[K, V any] interface {
	nocopy.View
	Len() int
	Get(K) (V, bool)
	Put(K, V)
	Delete(K) bool
	DeleteFunc(func(K, V) bool)
	All() iter.Seq2[K, V]
	AppendNew() (K, V)
}

// pairs is the dict for maps of type M.
type pairs[K, V any, M mapOf[K, V]] struct {
	key     func(K) any
	fromKey func(any) K
	value   func(V) any
	from    func(any) V
	newAt   func(m M, k K, n int) handle
	added   func(m M, v V) K
}

func (d pairs[K, V, M]) len(m handle) int                     { return M(m).Len() }
func (d pairs[K, V, M]) put(m handle, k, v any)               { M(m).Put(d.fromKey(k), d.from(v)) }
func (d pairs[K, V, M]) delete(m handle, k any) bool          { return M(m).Delete(d.fromKey(k)) }
func (d pairs[K, V, M]) putNew(m handle, k any, n int) handle { return d.newAt(M(m), d.fromKey(k), n) }

func (d pairs[K, V, M]) deleteFunc(m handle, del func(k, v any) bool) {
	M(m).DeleteFunc(func(k K, v V) bool { return del(d.key(k), d.value(v)) })
}

func (d pairs[K, V, M]) append(m handle, v any) any { return d.key(d.added(M(m), d.from(v))) }

func (d pairs[K, V, M]) get(m handle, k any) (any, bool) {
	v, ok := M(m).Get(d.fromKey(k))
	return d.value(v), ok
}

func (d pairs[K, V, M]) all(m handle, f func(k, v any)) {
	for k, v := range M(m).All() {
		f(d.key(k), d.value(v))
	}
}

func (d pairs[K, V, M]) appendNew(m handle) (k, v any) {
	key, value := M(m).AppendNew()
	return d.key(key), d.value(value)
}
