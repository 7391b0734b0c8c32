//go:build !nounsafe

package nocopy

import (
	"reflect"
	"unsafe"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// appendColumn is engine.AppendColumn, which knows the types of enums as int32 and UUID as an
// array.
func appendColumn[T ColumnType](dst []T, l engine.Struct, d *Desc, id int16) []T {
	// SAFETY: a type of kind Int32 has the memory of an int32. The constraint has one array type.
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int32:
		engine.AppendColumn((*[]int32)(unsafe.Pointer(&dst)), l, d, id)
	case reflect.Array:
		engine.AppendColumn((*[][16]byte)(unsafe.Pointer(&dst)), l, d, id)
	default:
		engine.AppendColumn(&dst, l, d, id)
	}
	return dst
}
