//go:build !nounsafe

package engine

import (
	"reflect"
	"unsafe"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// ColumnOf is AppendColumn for a slice of any of these types. AppendColumn itself knows enums only
// as int32, and UUID of package nocopy as an array.
func ColumnOf[T columnType](dst []T, l Struct, d *schema.Struct, id int16) []T {
	// SAFETY: the constraint's types of kind Int32 have the memory of an int32, and those of kind
	// Array that of 16 bytes.
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int32:
		AppendColumn((*[]int32)(unsafe.Pointer(&dst)), l, d, id)
	case reflect.Array:
		AppendColumn((*[][16]byte)(unsafe.Pointer(&dst)), l, d, id)
	default:
		AppendColumn(&dst, l, d, id)
	}
	return dst
}
