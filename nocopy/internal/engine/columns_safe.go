//go:build nounsafe

package engine

import (
	"reflect"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// ColumnOf is AppendColumn for a slice of any of these types. AppendColumn itself knows enums only
// as int32, and UUID of package nocopy as an array. Their values are converted one by one.
func ColumnOf[T columnType](dst []T, l Struct, d *schema.Struct, id int16) []T {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int32:
		var v []int32
		AppendColumn(&v, l, d, id)
		return appendConverted(dst, v)
	case reflect.Array:
		var v [][16]byte
		AppendColumn(&v, l, d, id)
		return appendConverted(dst, v)
	}
	AppendColumn(&dst, l, d, id)
	return dst
}

// appendConverted appends v, whose elements have the same kind.
func appendConverted[T, U any](dst []T, v []U) []T {
	for _, x := range v {
		dst = append(dst, reflect.ValueOf(x).Convert(reflect.TypeFor[T]()).Interface().(T))
	}
	return dst
}
