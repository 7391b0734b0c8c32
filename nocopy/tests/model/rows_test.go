// A writer of whole structs from values of the referee, as the code of "nocopyc -fields" is.

package model_test

import (
	"math"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/referee"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

type row = thriftimpl.Row

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

// isRows reports whether t is a list of structs that have plain values.
func isRows(t *referee.Type) bool {
	return t.Wire == thrift.LIST && t.Elem.IsStruct() && !t.Elem.Struct.Union
}

// plainPart returns what is left of a value when it is written as plain values: fields that have
// none are not set, or what they are if they must be.
func plainPart(v referee.Value) referee.Value {
	v = referee.Clone(v)
	each(v, func(rec *referee.Record) {
		rec.Unknown = nil
		for i := range rec.Fields {
			f := &rec.Type.Fields[i]
			if !plain(f.Type) {
				rec.Fields[i] = nil
			}
			if rec.Fields[i] == nil && f.Owed(rec.Type) {
				rec.Fields[i] = f.Initial()
			}
		}
	})
	return v
}

// rower writes structs as ThriftPut does.
type rower struct{ *schema }

func (w rower) put(r *row, at int, rec *referee.Record) int {
	b := w.of[rec.Type]
	e := r.Entry()
	for i := range b.Fields {
		f, c := &b.Fields[i], b.fields[i]
		v := rec.Fields[i]
		switch {
		case v == nil || !plain(f.Type):
		case f.Type.IsStruct():
			at = r.Back(e, w.put(r, r.Struct(at, c, w.of[f.Type.Struct].desc), v.(*referee.Record)))
		case f.Type.IsMap():
			at = leaves[f.Type.Key].rowMap(r, at, c, b.desc, v.(*referee.Map))
		case isRows(f.Type):
			l := v.(*referee.List)
			at = r.List(at, c, b.desc, len(l.Elems))
			for _, x := range l.Elems {
				at = w.put(r, r.Next(at, w.stride(f.Type)), x.(*referee.Record))
			}
			at = r.EndList(at, e, c)
		case f.Type.IsList():
			at = putLeaves(r, at, c, b.desc, f.Type.Elem, v.(*referee.List).Elems)
		default:
			at = putLeaf(r, at, c, f.Type, v, f.Req == referee.Optional)
		}
	}
	return r.StopOwed(at, b.desc)
}

// stride returns how many words the entry of an element has.
func (w rower) stride(list *referee.Type) uint32 {
	b := w.of[list.Elem.Struct]
	if b.wide {
		return entry.WideWords
	}
	return uint32(b.first + len(b.Fields))
}

// message returns a new message with these fields.
func (w rower) message(rec *referee.Record, opts ...nocopy.Option) handle {
	var r row
	return r.Root(w.put(&r, r.New(w.of[rec.Type].desc, opts...), rec))
}

// set gives a struct these fields.
func (w rower) set(h handle, rec *referee.Record) {
	var r row
	b := w.of[rec.Type]
	var others []thriftimpl.Field
	for i := range b.Fields {
		if !plain(b.Fields[i].Type) {
			others = append(others, b.fields[i])
		}
	}
	r.Done(w.put(&r, r.Into(h, b.desc), rec), others...)
}

// list sets field i of a struct to these elements, by a function if by is not nil, which is called
// before each of them.
func (w rower) list(h handle, b *bound, i int, l *referee.List, by func(k int)) {
	var r row
	at := r.Rows(h, b.fields[i], b.desc, len(l.Elems))
	for k, x := range l.Elems {
		if by != nil {
			by(k)
			at = r.NextBy(at, w.stride(l.Type))
		} else {
			at = r.Next(at, w.stride(l.Type))
		}
		at = w.put(&r, at, x.(*referee.Record))
	}
	r.End(at)
}

func putLeaf(r *row, at int, f thriftimpl.Field, t *referee.Type, v referee.Value, opt bool) int {
	switch t {
	case referee.Bool:
		if opt {
			return r.BoolOpt(r.BoolOpt(at, f, nocopy.Opt[bool]{}), f, nocopy.Some(v.(bool)))
		}
		return r.Bool(at, f, v.(bool))
	case referee.I8:
		if opt {
			return r.Int8Opt(r.Int8Opt(at, f, nocopy.Opt[int8]{}), f, nocopy.Some(v.(int8)))
		}
		return r.Int8(at, f, v.(int8))
	case referee.I16:
		if opt {
			return r.Int16Opt(r.Int16Opt(at, f, nocopy.Opt[int16]{}), f, nocopy.Some(v.(int16)))
		}
		return r.Int16(at, f, v.(int16))
	case referee.I32:
		if opt {
			return r.Int32Opt(r.Int32Opt(at, f, nocopy.Opt[int32]{}), f, nocopy.Some(v.(int32)))
		}
		return r.Int32(at, f, v.(int32))
	case referee.Enum:
		if opt {
			return thriftimpl.PutEnum(r, thriftimpl.PutEnum(r, at, f, nocopy.Opt[color]{}), f, nocopy.Some(color(v.(int32))))
		}
		return r.Int32(at, f, v.(int32))
	case referee.I64:
		if opt {
			return r.Int64Opt(r.Int64Opt(at, f, nocopy.Opt[int64]{}), f, nocopy.Some(v.(int64)))
		}
		return r.Int64(at, f, v.(int64))
	case referee.Double:
		x := math.Float64frombits(uint64(v.(referee.Float)))
		if opt {
			return r.Float64Opt(r.Float64Opt(at, f, nocopy.Opt[float64]{}), f, nocopy.Some(x))
		}
		return r.Float64(at, f, x)
	case referee.UUID:
		if opt {
			return r.UUIDOpt(r.UUIDOpt(at, f, nocopy.Opt[nocopy.UUID]{}), f, nocopy.Some(nocopy.UUID(v.(thrift.Tuuid))))
		}
		return r.UUID(at, f, nocopy.UUID(v.(thrift.Tuuid)))
	case referee.String:
		if opt {
			return r.TextOpt(r.TextOpt(at, f, nocopy.Opt[string]{}), f, nocopy.Some(v.(string)))
		}
		return r.Text(at, f, v.(string))
	}
	return r.Bytes(r.Bytes(at, f, nil), f, []byte(v.(referee.Bytes)))
}

// all returns the elements as a slice that is not nil.
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

func putLeaves(r *row, at int, f thriftimpl.Field, d *thriftimpl.Desc, t *referee.Type, v []referee.Value) int {
	switch t {
	case referee.Bool:
		return r.Bools(at, f, d, sliceOf[bool](t, v))
	case referee.I8:
		return r.Int8s(at, f, d, sliceOf[int8](t, v))
	case referee.I16:
		return r.Int16s(at, f, d, sliceOf[int16](t, v))
	case referee.I32:
		return r.Int32s(at, f, d, sliceOf[int32](t, v))
	case referee.I64:
		return r.Int64s(at, f, d, sliceOf[int64](t, v))
	case referee.Enum:
		return thriftimpl.PutEnums(r, at, f, d, sliceOf[color](t, v))
	case referee.Double:
		return r.Float64s(at, f, d, sliceOf[float64](t, v))
	case referee.UUID:
		return r.UUIDs(at, f, d, sliceOf[nocopy.UUID](t, v))
	case referee.String:
		return r.Texts(at, f, d, sliceOf[string](t, v))
	}
	return r.ByteSlices(at, f, d, sliceOf[[]byte](t, v))
}

func (x *leafOf[T, L, C]) rowMap(r *row, at int, f thriftimpl.Field, d *thriftimpl.Desc, m *referee.Map) int {
	if m.Type.Key == referee.String && m.Type.Elem == referee.String {
		v := make([]nocopy.Pair[string, string], len(m.Pairs))
		for i, p := range m.Pairs {
			v[i] = nocopy.Pair[string, string]{Key: p.Key.(string), Value: p.Value.(string)}
		}
		return r.TextPairs(at, f, d, v)
	}
	switch m.Type.Elem {
	case referee.Bool:
		return putPairs[T, bool, C, thriftimpl.AsBool](r, at, f, d, m, x.from)
	case referee.I8:
		return putPairs[T, int8, C, thriftimpl.AsInt8](r, at, f, d, m, x.from)
	case referee.I16:
		return putPairs[T, int16, C, thriftimpl.AsInt16](r, at, f, d, m, x.from)
	case referee.I32:
		return putPairs[T, int32, C, thriftimpl.AsInt32](r, at, f, d, m, x.from)
	case referee.I64:
		return putPairs[T, int64, C, thriftimpl.AsInt64](r, at, f, d, m, x.from)
	case referee.Double:
		return putPairs[T, float64, C, thriftimpl.AsFloat64](r, at, f, d, m, x.from)
	case referee.UUID:
		return putPairs[T, nocopy.UUID, C, thriftimpl.AsUUID](r, at, f, d, m, x.from)
	case referee.String:
		return putPairs[T, string, C, thriftimpl.AsString](r, at, f, d, m, x.from)
	case referee.Enum:
		return putPairs[T, color, C, thriftimpl.AsEnum[color]](r, at, f, d, m, x.from)
	}
	return putPairs[T, []byte, C, thriftimpl.AsBytes](r, at, f, d, m, x.from)
}

func putPairs[K, V any, KC thriftimpl.Codec[K], VC thriftimpl.Codec[V]](r *row, at int, f thriftimpl.Field, d *thriftimpl.Desc, m *referee.Map, key func(referee.Value) K) int {
	_, value := leaves[m.Type.Elem].(interface {
		conv() (func(V) any, func(any) V)
	}).conv()
	pairs := make([]nocopy.Pair[K, V], len(m.Pairs))
	for i, p := range m.Pairs {
		pairs[i] = nocopy.Pair[K, V]{Key: key(p.Key), Value: value(p.Value)}
	}
	return thriftimpl.PutPairs[KC, VC](r, at, f, d, pairs)
}
