// Columns of lists of structs, beside getters.

package sessions

import (
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// columns compares the columns of a list of structs with what getters return. In a list that is
// being built, columns begin elements: it is left as it is.
func (c comparer) columns(path string, h thriftimpl.Struct) {
	d := h.ContainerType().Elem().Struct()
	for i := range h.Count() {
		if !h.Element(i).Struct().Valid() {
			return
		}
	}
	for k := range d.NumFields() {
		f := d.Field(k)
		id := d.Fields()[k].ID
		v := engine.Validity{}
		engine.AppendColumn(&v, h, d, id)
		get, n := column(h, d, k)
		if v.N != h.Count() || get != nil && n != h.Count() {
			failf("%s: a column of field %d has %d values, its validity %d", path, id, n, v.N)
		}
		for i := range h.Count() {
			s := h.Element(i).Struct()
			if has := v.Bits[i/8]>>(i%8)&1 != 0; has != s.HasField(f) {
				failf("%s[%d]: the validity of field %d is %v", path, i, id, has)
			}
			if get != nil && !get(i, s.Value(f, d)) {
				failf("%s[%d]: field %d is another in a column", path, i, id)
			}
		}
	}
}

// column makes a column of field number k, and returns a function that reports whether value i of
// it is this one, and how many there are. The function is nil for fields that have no column.
func column(h thriftimpl.Struct, d *thriftimpl.Desc, k int) (get func(i int, v impl.Value) bool, n int) {
	id, t := d.Fields()[k].ID, d.Fields()[k].Type.Wire()
	switch t {
	case nocopy.WireBool:
		return columnOf(h, d, id, impl.Value.Bool)
	case nocopy.WireI8:
		return columnOf(h, d, id, func(v impl.Value) int8 { return int8(v.Int()) })
	case nocopy.WireI16:
		return columnOf(h, d, id, func(v impl.Value) int16 { return int16(v.Int()) })
	case nocopy.WireI32:
		return columnOf(h, d, id, func(v impl.Value) int32 { return int32(v.Int()) })
	case nocopy.WireI64:
		return columnOf(h, d, id, impl.Value.Int)
	case nocopy.WireUUID:
		return columnOf(h, d, id, impl.Value.UUID)
	case nocopy.WireDouble:
		var values []float64
		engine.AppendColumn(&values, h, d, id)
		return func(i int, v impl.Value) bool { return math.Float64bits(values[i]) == math.Float64bits(v.Float()) }, len(values)
	case nocopy.WireString:
		texts := engine.Texts{Offsets: []int32{0}}
		engine.AppendColumn(&texts, h, d, id)
		is, n := columnOf(h, d, id, impl.Value.Text)
		return func(i int, v impl.Value) bool {
			return is(i, v) && string(texts.Data[texts.Offsets[i]:texts.Offsets[i+1]]) == v.Text()
		}, n + len(texts.Offsets) - 1 - h.Count()
	}
	return nil, 0
}

func columnOf[T comparable](h thriftimpl.Struct, d *thriftimpl.Desc, id int16, value func(impl.Value) T) (func(i int, v impl.Value) bool, int) {
	values := []T{*new(T)}[:0]
	engine.AppendColumn(&values, h, d, id)
	return func(i int, v impl.Value) bool { return values[i] == value(v) }, len(values)
}
