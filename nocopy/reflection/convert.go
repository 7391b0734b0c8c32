package reflection

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// valueFor returns v as a value of type t. The error contains neither v, which may be redacted,
// nor the place of the fault in v, since the keys of maps are values.
func valueFor(t *thriftimpl.Type, v any) (thriftimpl.Value, error) {
	x, err := convert(t, v, 0)
	if e, ok := err.(*ValueError); ok {
		err = e.Err
	}
	return x, err
}

// keyFor is valueFor for a map's key.
func keyFor(t *thriftimpl.Type, key any) (thriftimpl.Value, error) {
	x, err := convertKey(t, key, 0)
	if e, ok := err.(*ValueError); ok {
		err = e.Err
	}
	return x, err
}

// convert is valueFor for a value that is nested depth deep in a Go value. Its error may be a
// *ValueError.
func convert(t *thriftimpl.Type, v any, depth int) (thriftimpl.Value, error) {
	none := thriftimpl.Value{}
	if t == nil {
		return none, fmt.Errorf("%T instead of nothing", v)
	}
	var given thriftimpl.Value
	switch v := v.(type) {
	case Value:
		given = v.v
	case List:
		given = v.v
	case Map:
		given = v.v
	case nocopy.AnyStruct:
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
			return none, mismatch(t, v)
		}
		if t.Struct() == nil || v.ThriftDesc() != t.Struct() {
			return none, mismatch(t, v)
		}
		return thriftimpl.ValueOfStruct(t, v.ThriftStruct()), nil
	case string:
		return valueForText(t, v)
	case json.Number:
		return valueForJSONNumber(t, v)
	default:
		if x, ok := thriftimpl.FromGo(t, v); ok {
			return x, nil
		}
		return convertOther(t, v, depth)
	}
	if given.Type() == nil || !t.Equal(given.Type()) {
		return none, fmt.Errorf("%v instead of %v", given.Type(), t)
	}
	return given, nil
}

func mismatch(t *thriftimpl.Type, v any) error { return fmt.Errorf("%T instead of %v", v, t) }

// convertOther converts numbers, values of named types such as generated enums, and Go maps and
// slices, which become structs or containers.
func convertOther(t *thriftimpl.Type, v any, depth int) (thriftimpl.Value, error) {
	if isHandle(t) {
		return build(t, v, depth)
	}
	x := reflect.ValueOf(v)
	switch {
	case x.CanInt():
		return valueForInt(t, v, x.Int())
	case x.CanUint():
		if x.Uint() > math.MaxInt64 {
			return thriftimpl.Value{}, outOfRange(t)
		}
		return valueForInt(t, v, int64(x.Uint()))
	case x.CanFloat() && thriftimpl.IsInteger(t):
		// encoding/json decodes numbers to float64. Beyond 2⁵³ they may have been rounded.
		if f := x.Float(); f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
			return valueForInt(t, v, int64(f))
		}
	case x.Kind() == reflect.String:
		return valueForText(t, x.String())
	}
	return thriftimpl.Value{}, mismatch(t, v)
}

func outOfRange(t *thriftimpl.Type) error { return fmt.Errorf("a number out of the range of %v", t) }

// valueForText returns v as a string, or as the enum value with that name.
func valueForText(t *thriftimpl.Type, v string) (thriftimpl.Value, error) {
	switch {
	case t.Wire() == nocopy.WireString:
		return thriftimpl.ValueOfBytes(t, []byte(v)), nil
	case t.Enum() != nil:
		n, ok := t.Enum().Value(v)
		if !ok {
			return thriftimpl.Value{}, fmt.Errorf("no value of %v has this name", t)
		}
		return thriftimpl.ValueOfInt(t, int64(n)), nil
	}
	return thriftimpl.Value{}, mismatch(t, v)
}

// valueForInt returns the integer v, which is n, as an integer or a double.
func valueForInt(t *thriftimpl.Type, v any, n int64) (thriftimpl.Value, error) {
	if t.Wire() == nocopy.WireDouble {
		if f := float64(n); f != 1<<63 && int64(f) == n {
			return thriftimpl.ValueOfFloat(f), nil
		}
		return thriftimpl.Value{}, errors.New("an integer that no double is exactly")
	}
	if !thriftimpl.IsInteger(t) {
		return thriftimpl.Value{}, mismatch(t, v)
	}
	x := thriftimpl.ValueOfInt(t, n)
	if x.Int() != n {
		return thriftimpl.Value{}, outOfRange(t)
	}
	return x, nil
}

// valueForJSONNumber returns the number that a json.Number has as text.
func valueForJSONNumber(t *thriftimpl.Type, v json.Number) (thriftimpl.Value, error) {
	switch {
	case t.Wire() == nocopy.WireDouble:
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return thriftimpl.Value{}, outOfRange(t)
		}
		return thriftimpl.ValueOfFloat(f), nil
	case thriftimpl.IsInteger(t):
		n, err := v.Int64()
		if errors.Is(err, strconv.ErrRange) {
			return thriftimpl.Value{}, outOfRange(t)
		} else if err != nil { // 1.0 or 1e3
			f, err := v.Float64()
			if err != nil {
				return thriftimpl.Value{}, mismatch(t, v)
			}
			return convertOther(t, f, 0)
		}
		return valueForInt(t, v, n)
	}
	return thriftimpl.Value{}, mismatch(t, v)
}

// convertKey returns v as a key of type t. Like convert, but it also converts texts to numbers,
// bools and uuids, because keys are texts in JSON.
func convertKey(t *thriftimpl.Type, v any, depth int) (thriftimpl.Value, error) {
	x := reflect.ValueOf(v)
	if x.Kind() != reflect.String || t == nil || t.Wire() == nocopy.WireString || isHandle(t) {
		return convert(t, v, depth)
	}
	text := x.String()
	k, err := thriftimpl.ParseKey(t, text)
	switch {
	case err == nil:
		return k, nil
	case thriftimpl.IsInteger(t) && errors.Is(err, strconv.ErrRange):
		return thriftimpl.Value{}, outOfRange(t)
	case t.Enum() != nil:
		return valueForText(t, text)
	}
	return thriftimpl.Value{}, fmt.Errorf("a text that is no %v", t)
}

// holders maps the type of a container (*thriftimpl.Type) to the descriptor of a struct with one
// field of that type (*thriftimpl.Desc).
var holders sync.Map

// build converts a Go value to a struct or container of type t in a message of its own. The
// message that it will be set in is thus unchanged unless all of it fits.
func build(t *thriftimpl.Type, v any, depth int) (thriftimpl.Value, error) {
	var built thriftimpl.Value
	switch x := reflect.ValueOf(v); {
	case t.Struct() != nil:
		built = thriftimpl.ValueOfStruct(t, thriftimpl.New(t.Struct()))
	case x.Kind() != reflect.Slice && x.Kind() != reflect.Array && x.Kind() != reflect.Map:
		return thriftimpl.Value{}, mismatch(t, v)
	default:
		known, ok := holders.Load(t)
		if !ok {
			d := thriftimpl.NewDesc("")
			d.Define(thriftimpl.FieldDesc{ID: 1, Type: t, Req: thriftimpl.Optional})
			known, _ = holders.LoadOrStore(t, d)
		}
		d := known.(*thriftimpl.Desc)
		built = thriftimpl.New(d).NewValue(d.Field(0), d, 0)
	}
	err := fill(t, v, depth+1, func(int) thriftimpl.Value { return built })
	if err == nil {
		err = built.Struct().Message().Check()
	}
	return built, err
}
