package nocopykitex

import (
	"fmt"
	"reflect"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// First returns the getter of a method's first argument. For generated code.
func First[A nocopy.View, T any](get func(A) T) func(nocopy.Struct) any {
	return func(s nocopy.Struct) any {
		v := get(A(s))
		if _, ok := any(v).(nocopy.AnyStruct); ok {
			return &v
		}
		return v
	}
}

// Value gets and sets a method's return value. For generated code.
type Value struct {
	get   func(result nocopy.Struct, there bool) any // returns a pointer, nil if there is no value
	value func(v any) (any, bool)                    // the value that v is or points to
}

// Success returns the Value whose getter is get. For generated code.
func Success[R nocopy.View, T any](get func(R) T) *Value {
	return &Value{
		get: func(s nocopy.Struct, there bool) any {
			if !there {
				return (*T)(nil)
			}
			v := get(R(s))
			return &v
		},
		value: func(v any) (any, bool) {
			switch v := v.(type) {
			case nil:
				return nil, false
			case T:
				return v, true
			case *T:
				if v == nil {
					return nil, false
				}
				return *v, true
			}
			panic(fmt.Sprintf("nocopy: SetSuccess of a %T; the method returns a %v", v, reflect.TypeFor[T]()))
		},
	}
}

// setSuccess makes v the return value in s, an empty result.
func (m *Method) setSuccess(s thriftimpl.Struct, v any) {
	setField(s, m.rpc.Result, m.rpc.Success, v)
}

// setField sets field f of s, which d describes, to v, a value of the field's type.
func setField(s thriftimpl.Struct, d *thriftimpl.Desc, f thriftimpl.Field, v any) {
	switch v := v.(type) {
	case bool:
		s.SetBool(f, v)
	case int8:
		s.SetInt8(f, v)
	case int16:
		s.SetInt16(f, v)
	case int64:
		s.SetInt64(f, v)
	case float64:
		s.SetFloat64(f, v)
	case nocopy.UUID:
		s.SetUUID(f, v)
	case string:
		s.SetText(f, v)
	case []byte:
		s.SetBytes(f, v)
	case nocopy.AnyHandle:
		s.SetChild(f, d, v.ThriftStruct())
	default: // int32 or an enum
		s.SetInt32(f, int32(reflect.ValueOf(v).Int()))
	}
}

// wholeResult returns the received result whose return value is v, or a zero Struct if there is
// none.
func (m *Method) wholeResult(v any) nocopy.Struct {
	h, ok := v.(nocopy.AnyHandle)
	if !ok || !nocopy.Struct(h.ThriftStruct()).Valid() {
		return nocopy.Struct{}
	}
	root := thriftimpl.Struct(nocopy.Struct(h.ThriftStruct()).Message().Root())
	if !root.Is(m.rpc.Result) || root.Child(m.rpc.Success, m.rpc.Result) != h.ThriftStruct() {
		return nocopy.Struct{}
	}
	return nocopy.Struct(root)
}
