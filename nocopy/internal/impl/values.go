package impl

import (
	"reflect"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// ValueOfInt returns v as a value of type t, an i8, i16, i32, i64 or enum. It cuts off bits that t
// does not have.
func ValueOfInt(t *Type, v int64) Value { return engine.ValueOfInt(t, v) }

// ValueOfFloat returns a value of type double.
func ValueOfFloat(v float64) Value { return engine.ValueOfFloat(v) }

// BaseType returns the type of a bool, number, string or uuid.
func BaseType(t nocopy.WireType) *Type { return schema.BaseType(t) }

// IsInteger reports whether t is i8, i16, i32, i64 or an enum.
func IsInteger(t *Type) bool {
	switch t.Wire() {
	case nocopy.WireI8, nocopy.WireI16, nocopy.WireI32, nocopy.WireI64:
		return true
	}
	return false
}

// GoValue returns a scalar as a Go value: a bool, int8, int16, int32, int64, float64, string,
// []byte or nocopy.UUID, and an enum as an int32. Strings and bytes alias the message.
func GoValue(v Value) any {
	switch t := v.Type(); t.Wire() {
	case nocopy.WireBool:
		return v.Bool()
	case nocopy.WireI8:
		return int8(v.Int())
	case nocopy.WireI16:
		return int16(v.Int())
	case nocopy.WireI32:
		return int32(v.Int())
	case nocopy.WireI64:
		return v.Int()
	case nocopy.WireDouble:
		return v.Float()
	case nocopy.WireUUID:
		return nocopy.UUID(v.UUID())
	default:
		if t.Binary() {
			return v.Bytes()
		}
		return v.Text()
	}
}

// FromGo returns a Go value as a value of type t, and whether it can be one: a bool, float, uuid,
// string or []byte, or one of a named type.
func FromGo(t *Type, v any) (x Value, ok bool) {
	r := reflect.ValueOf(v)
	switch t.Wire() {
	case nocopy.WireBool:
		if r.Kind() == reflect.Bool {
			return engine.ValueOfBool(r.Bool()), true
		}
	case nocopy.WireDouble:
		if r.CanFloat() {
			return ValueOfFloat(r.Float()), true
		}
	case nocopy.WireUUID:
		if u, ok := v.(nocopy.UUID); ok {
			return engine.ValueOfUUID(u), true
		}
	case nocopy.WireString:
		switch {
		case r.Kind() == reflect.String:
			return ValueOfBytes(t, []byte(r.String())), true
		case r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8:
			return ValueOfBytes(t, r.Bytes()), true
		}
	}
	return x, false
}

// IsQuoted reports whether keys of type t are in quotation marks in paths.
func IsQuoted(t *Type) bool { return t.Wire() == nocopy.WireString || t.Wire() == nocopy.WireUUID }

// KeyText returns a map's key, a scalar, as text; of an enum the name.
func KeyText(v Value) string { return render.Scalar(v) }

// ParseKey returns the key of type t, a scalar, that KeyText returns text for. If there is none,
// it returns an error in which errors.Is may find strconv.ErrRange.
func ParseKey(t *Type, text string) (Value, error) {
	switch t.Wire() {
	case nocopy.WireString:
		return ValueOfBytes(t, []byte(text)), nil
	case nocopy.WireUUID:
		u, err := nocopy.ParseUUID(text)
		return engine.ValueOfUUID(u), err
	case nocopy.WireBool:
		if text != "true" && text != "false" {
			return Value{}, strconv.ErrSyntax
		}
		return engine.ValueOfBool(text == "true"), nil
	case nocopy.WireDouble:
		f, err := strconv.ParseFloat(text, 64)
		return ValueOfFloat(f), err
	}
	if e := t.Enum(); e != nil {
		if n, ok := e.Value(text); ok {
			return ValueOfInt(t, int64(n)), nil
		}
	}
	n, err := strconv.ParseInt(text, 10, 8*int(t.Size()))
	return ValueOfInt(t, n), err
}

// Value is a value of any type.
type Value = engine.Value

// ValueOfBytes returns v as a value of type t, string or binary, and refers to v.
func ValueOfBytes(t *Type, v []byte) Value { return engine.ValueOfBytes(t, v) }

// ValueOfStruct returns the handle s as a value. t is its type: a struct, list, set or map.
func ValueOfStruct(t *Type, s Struct) Value { return engine.ValueOfStruct(t, s) }

// ValueOf returns the value with these wire bytes. Its type t is neither a struct nor a container.
func ValueOf(t *Type, wire string) Value { return engine.ValueOf(t, wire) }

// DeleteElementsFunc removes the elements of a list or set for which del returns true. hasDel is
// false if the program gave no function.
func DeleteElementsFunc(s Struct, hasDel bool, del func(Value) bool) {
	engine.DeleteElementsFunc(s, hasDel, del)
}

// DeletePairsFunc removes the pairs of a map for which del returns true. hasDel is false if the
// program gave no function.
func DeletePairsFunc(s Struct, hasDel bool, del func(k, v Value) bool) {
	engine.DeletePairsFunc(s, hasDel, del)
}
