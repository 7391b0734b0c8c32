package impl

import (
	"reflect"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Parts returns the descriptor and the handle of a message, for packages that work on messages of
// any type. It panics if v is nil or a nil pointer, or has no type, as the zero
// reflection.Message, or if v is the root of a message whose type is declared differently.
func Parts(v nocopy.AnyStruct) (*Desc, Struct) {
	CheckNil(v)
	d := v.ThriftDesc()
	if d == nil {
		panic("nocopy: a message of no type")
	}
	s := v.ThriftStruct()
	s.CheckDesc(d)
	return d, s
}

// CheckNil panics if v is nil or a nil pointer.
func CheckNil(v nocopy.AnyStruct) {
	if v == nil {
		panic("nocopy: nil instead of a message")
	}
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
		panic("nocopy: a nil " + p.Type().String() + " instead of a message")
	}
}
