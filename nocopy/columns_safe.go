//go:build nounsafe

package nocopy

import (
	"reflect"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// appendColumn is engine.AppendColumn, which knows the types of enums as int32 and UUID as an
// array. Those take longer here than without the tag nounsafe.
func appendColumn[T ColumnType](dst []T, l engine.Struct, d *Desc, id int16) []T {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int32:
		var v []int32
		engine.AppendColumn(&v, l, d, id)
		return appendConverted(dst, v)
	case reflect.Array:
		var v [][16]byte
		engine.AppendColumn(&v, l, d, id)
		return appendConverted(dst, v)
	}
	engine.AppendColumn(&dst, l, d, id)
	return dst
}

// appendConverted appends v, whose elements have the same kind.
func appendConverted[T ColumnType, U any](dst []T, v []U) []T {
	for _, x := range v {
		dst = append(dst, reflect.ValueOf(x).Convert(reflect.TypeFor[T]()).Interface().(T))
	}
	return dst
}
