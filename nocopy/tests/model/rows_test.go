// A writer of whole structs from values of the referee, like the code of "nocopyc -fields".

package model_test

import (
	"math"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

type writer = thriftimpl.Writer

// plain reports whether a field of this type has a plain value.
func plain(t *referee.Type) bool {
	switch {
	case t.IsStruct():
		return !t.Struct.Union
	case t.IsMap():
		return leaves[t.Key] != nil && leaves[t.Elem] != nil
	case t.IsList():
		return leaves[t.Elem] != nil || isRows(t)
	}
	return true
}

// isRows reports whether t is a list of structs with plain values.
func isRows(t *referee.Type) bool {
	return t.Wire == thrift.LIST && t.Elem.IsStruct() && !t.Elem.Struct.Union
}

// plainPart returns the part of a value that plain values can hold. Fields without a plain value
// are unset, or have their default if they must be set.
func plainPart(v referee.Value) referee.Value {
	v = referee.Clone(v)
	each(v, func(rec *referee.Record) {
		rec.Unknown = nil
		for i := range rec.Fields {
			f := &rec.Type.Fields[i]
			if !plain(f.Type) {
				rec.Fields[i] = nil
			}
			if rec.Fields[i] == nil && f.AddedIfUnset(rec.Type) {
				rec.Fields[i] = f.Initial()
			}
		}
	})
	return v
}

// rower writes structs like ThriftAppend.
type rower struct{ *schema }

func (r rower) put(w *writer, at int, rec *referee.Record) int {
	b := r.of[rec.Type]
	for i := range b.Fields {
		f, c := &b.Fields[i], b.fields[i]
		at = w.Fit(at)
		switch v := rec.Fields[i]; {
		case v == nil || !plain(f.Type):
			if f.AddedIfUnset(rec.Type) {
				at = w.Default(at, b.desc, c)
			}
		case f.Type.IsStruct():
			w.Enter()
			at = r.put(w, w.Struct(at, c), v.(*referee.Record))
			w.Leave()
		case f.Type.IsMap():
			at = putMap(w, at, c, v.(*referee.Map))
		case isRows(f.Type):
			l := v.(*referee.List)
			at = w.List(at, c, nocopy.WireStruct, len(l.Elems))
			w.Enter()
			for _, x := range l.Elems {
				at = r.put(w, at, x.(*referee.Record))
			}
			w.Leave()
		case f.Type.IsList():
			at = putLeaves(w, at, c, f.Type, v.(*referee.List).Elems)
		default:
			at = putLeaf(w, at, c, f.Type, v)
		}
	}
	return w.Stop(w.Fit(at))
}

// message returns a new message with these fields.
func (r rower) message(rec *referee.Record, opts ...nocopy.Option) handle {
	var w writer
	w.New(r.of[rec.Type].desc, opts...)
	return w.Root(r.put(&w, 0, rec))
}

// set gives a struct these fields.
func (r rower) set(h handle, rec *referee.Record) {
	var w writer
	b := r.of[rec.Type]
	var others []thriftimpl.Field
	for i := range b.Fields {
		if !plain(b.Fields[i].Type) {
			others = append(others, b.fields[i])
		}
	}
	w.Into(h, b.desc)
	w.Done(r.put(&w, 0, rec), others...)
}

// list sets field i of a struct to these elements. If by is not nil, it is called before each
// element.
func (r rower) list(h handle, b *bound, i int, l *referee.List, by func(k int)) {
	var w writer
	defer w.Drop()
	begin := w.BeginList
	if by != nil {
		begin = w.BeginListAside
	}
	at := begin(h, b.fields[i], b.desc, len(l.Elems))
	for k, x := range l.Elems {
		if by != nil {
			by(k)
		}
		at = r.put(&w, w.Element(at, k), x.(*referee.Record))
	}
	w.EndList(at)
}

func putLeaf(w *writer, at int, f thriftimpl.Field, t *referee.Type, v referee.Value) int {
	switch t {
	case referee.Bool:
		return w.Bool(at, f, v.(bool))
	case referee.I8:
		return w.Int8(at, f, v.(int8))
	case referee.I16:
		return w.Int16(at, f, v.(int16))
	case referee.I32, referee.Enum:
		return w.Int32(at, f, v.(int32))
	case referee.I64:
		return w.Int64(at, f, v.(int64))
	case referee.Double:
		return w.Float64(at, f, math.Float64frombits(uint64(v.(referee.Float))))
	case referee.UUID:
		return w.UUID(at, f, nocopy.UUID(v.(thrift.Tuuid)))
	case referee.String:
		return w.Text(at, f, v.(string))
	}
	return w.Binary(at, f, []byte(v.(referee.Bytes)))
}

// all returns the elements as a non-nil slice.
func (x *leafOf[T, L, C]) all(v []referee.Value) []T {
	all := make([]T, len(v))
	for i := range v {
		all[i] = x.from(v[i])
	}
	return all
}

func sliceOf[T any](t *referee.Type, v []referee.Value) []T {
	return leaves[t].(interface{ all([]referee.Value) []T }).all(v)
}

// elements returns v as a slice of elements of a list or set of type t.
func elements[T comparable](t *referee.Type, v []referee.Value) []T {
	all := sliceOf[T](t.Elem, v)
	if t.Wire == thrift.SET {
		return thriftimpl.Distinct(all)
	}
	return all
}

func putLeaves(w *writer, at int, f thriftimpl.Field, t *referee.Type, v []referee.Value) int {
	switch t.Elem {
	case referee.Bool:
		return w.Bools(at, f, elements[bool](t, v))
	case referee.I8:
		return w.Int8s(at, f, elements[int8](t, v))
	case referee.I16:
		return w.Int16s(at, f, elements[int16](t, v))
	case referee.I32:
		return w.Int32s(at, f, elements[int32](t, v))
	case referee.I64:
		return w.Int64s(at, f, elements[int64](t, v))
	case referee.Enum:
		return thriftimpl.WriteEnums(w, at, f, elements[color](t, v))
	case referee.Double:
		all := sliceOf[float64](t.Elem, v)
		if t.Wire == thrift.SET {
			all = thriftimpl.DistinctFloat64s(all)
		}
		return w.Float64s(at, f, all)
	case referee.UUID:
		return w.UUIDs(at, f, elements[nocopy.UUID](t, v))
	case referee.String:
		return w.Texts(at, f, elements[string](t, v))
	}
	all := sliceOf[[]byte](t.Elem, v)
	if t.Wire == thrift.SET {
		all = thriftimpl.DistinctSlices(all)
	}
	return w.ByteSlices(at, f, all)
}

func putMap(w *writer, at int, f thriftimpl.Field, m *referee.Map) int {
	at = w.Map(at, f, nocopy.WireType(m.Type.Key.Wire), nocopy.WireType(m.Type.Elem.Wire), len(m.Pairs))
	for _, p := range m.Pairs {
		at = putValue(w, w.Fit(at), m.Type.Key, p.Key)
		at = putValue(w, w.Fit(at), m.Type.Elem, p.Value)
	}
	return at
}

// putValue writes a key or value of a map.
func putValue(w *writer, at int, t *referee.Type, v referee.Value) int {
	switch t {
	case referee.Bool:
		return w.BoolValue(at, v.(bool))
	case referee.I8:
		return w.Int8Value(at, v.(int8))
	case referee.I16:
		return w.Int16Value(at, v.(int16))
	case referee.I32, referee.Enum:
		return w.Int32Value(at, v.(int32))
	case referee.I64:
		return w.Int64Value(at, v.(int64))
	case referee.Double:
		return w.Float64Value(at, math.Float64frombits(uint64(v.(referee.Float))))
	case referee.UUID:
		return w.UUIDValue(at, nocopy.UUID(v.(thrift.Tuuid)))
	case referee.String:
		return w.TextValue(at, v.(string))
	}
	return w.BinaryValue(at, []byte(v.(referee.Bytes)))
}
