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
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// use passes v as a value of type t to f. The error contains neither v, which may be redacted, nor
// the place of the fault in v, since the keys of maps are values.
func use(t *thriftimpl.Type, v any, f func(impl.Value)) error {
	return reason(useIn(t, v, 0, f))
}

// useKey is use for a map's key.
func useKey(t *thriftimpl.Type, key any, f func(impl.Value)) error {
	return reason(useKeyIn(t, key, 0, f))
}

// reason returns err without the place in a value.
func reason(err error) error {
	if e, ok := err.(*ValueError); ok {
		return e.Err
	}
	return err
}

// useIn is use for a value that is nested depth deep in a Go value. Its error may be a
// *ValueError.
func useIn(t *thriftimpl.Type, v any, depth int, f func(impl.Value)) error {
	return useOf(convert, t, v, depth, f)
}

// useKeyIn is useIn for a map's key.
func useKeyIn(t *thriftimpl.Type, key any, depth int, f func(impl.Value)) error {
	return useOf(convertKey, t, key, depth, f)
}

// converter returns v as a value of type t. If it makes a message for the value, it sets made to
// the root, even if it fails.
type converter func(t *thriftimpl.Type, v any, depth int, made *thriftimpl.Struct) (impl.Value, error)

func useOf(convert converter, t *thriftimpl.Type, v any, depth int, f func(impl.Value)) error {
	var made thriftimpl.Struct
	defer func() { made.Release() }()
	x, err := convert(t, v, depth, &made)
	if err == nil {
		f(x)
	}
	return err
}

// convert is a converter of values. Its error may be a *ValueError.
func convert(t *thriftimpl.Type, v any, depth int, made *thriftimpl.Struct) (impl.Value, error) {
	none := impl.Value{}
	if t == nil {
		return none, fmt.Errorf("%T instead of nothing", v)
	}
	var given impl.Value
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
		d := v.ThriftDesc()
		if d == nil || t.Struct() == nil {
			return none, mismatch(t, v)
		}
		if u := thriftimpl.StructOf(d); !t.Equal(u) {
			return none, fmt.Errorf("%w%s", mismatch(t, v), impl.Apart(u, t))
		}
		return impl.ValueOfStruct(t, v.ThriftStruct()), nil
	case string:
		return valueForText(t, v)
	case json.Number:
		return valueForJSONNumber(t, v)
	default:
		if x, ok := impl.FromGo(t, v); ok {
			return x, nil
		}
		return convertOther(t, v, depth, made)
	}
	if given.Type() == nil || !t.Equal(given.Type()) {
		return none, fmt.Errorf("%v instead of %v%s", given.Type(), t, impl.Apart(given.Type(), t))
	}
	return given, nil
}

func mismatch(t *thriftimpl.Type, v any) error { return fmt.Errorf("%T instead of %v", v, t) }

// convertOther converts numbers, values of named types such as generated enums, and Go maps and
// slices, which become structs or containers.
func convertOther(t *thriftimpl.Type, v any, depth int, made *thriftimpl.Struct) (impl.Value, error) {
	if isHandle(t) {
		return build(t, v, depth, made)
	}
	x := reflect.ValueOf(v)
	switch {
	case x.CanInt():
		return valueForInt(t, v, x.Int())
	case x.CanUint():
		if x.Uint() > math.MaxInt64 {
			return impl.Value{}, outOfRange(t)
		}
		return valueForInt(t, v, int64(x.Uint()))
	case x.CanFloat() && impl.IsInteger(t):
		// encoding/json decodes numbers to float64. Beyond 2⁵³ they may have been rounded.
		if f := x.Float(); f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
			return valueForInt(t, v, int64(f))
		}
	case x.Kind() == reflect.String:
		return valueForText(t, x.String())
	}
	return impl.Value{}, mismatch(t, v)
}

func outOfRange(t *thriftimpl.Type) error { return fmt.Errorf("a number out of the range of %v", t) }

// valueForText returns v as a string, or as the enum value with that name.
func valueForText(t *thriftimpl.Type, v string) (impl.Value, error) {
	switch {
	case t.Wire() == nocopy.WireString:
		return impl.ValueOfBytes(t, []byte(v)), nil
	case t.Enum() != nil:
		n, ok := t.Enum().Value(v)
		if !ok {
			return impl.Value{}, fmt.Errorf("no value of %v has this name", t)
		}
		return impl.ValueOfInt(t, int64(n)), nil
	}
	return impl.Value{}, mismatch(t, v)
}

// valueForInt returns the integer v, which is n, as an integer or a double.
func valueForInt(t *thriftimpl.Type, v any, n int64) (impl.Value, error) {
	if t.Wire() == nocopy.WireDouble {
		if f := float64(n); f != 1<<63 && int64(f) == n {
			return impl.ValueOfFloat(f), nil
		}
		return impl.Value{}, errors.New("an integer that no double is exactly")
	}
	if !impl.IsInteger(t) {
		return impl.Value{}, mismatch(t, v)
	}
	x := impl.ValueOfInt(t, n)
	if x.Int() != n {
		return impl.Value{}, outOfRange(t)
	}
	return x, nil
}

// valueForJSONNumber returns the number that a json.Number has as text.
func valueForJSONNumber(t *thriftimpl.Type, v json.Number) (impl.Value, error) {
	switch {
	case t.Wire() == nocopy.WireDouble:
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return impl.Value{}, outOfRange(t)
		}
		return impl.ValueOfFloat(f), nil
	case impl.IsInteger(t):
		n, err := v.Int64()
		if errors.Is(err, strconv.ErrRange) {
			return impl.Value{}, outOfRange(t)
		} else if err != nil { // 1.0 or 1e3
			f, err := v.Float64()
			if err != nil {
				return impl.Value{}, mismatch(t, v)
			}
			return convertOther(t, f, 0, nil) // t is no struct or container
		}
		return valueForInt(t, v, n)
	}
	return impl.Value{}, mismatch(t, v)
}

// convertKey is a converter of keys. Like convert, but it also converts texts to numbers, bools
// and uuids, because keys are texts in JSON.
func convertKey(t *thriftimpl.Type, v any, depth int, made *thriftimpl.Struct) (impl.Value, error) {
	x := reflect.ValueOf(v)
	if x.Kind() != reflect.String || t == nil || t.Wire() == nocopy.WireString || isHandle(t) {
		return convert(t, v, depth, made)
	}
	text := x.String()
	k, err := impl.ParseKey(t, text)
	switch {
	case err == nil:
		return k, nil
	case impl.IsInteger(t) && errors.Is(err, strconv.ErrRange):
		return impl.Value{}, outOfRange(t)
	case t.Enum() != nil:
		return valueForText(t, text)
	}
	return impl.Value{}, fmt.Errorf("a text that is no %v", t)
}

// holders maps the type of a container (*thriftimpl.Type) to the descriptor of a struct with one
// field of that type (*thriftimpl.Desc).
var holders sync.Map

// build is a converter of Go values to structs and containers, which it makes in a message of
// their own. The message that they will be set in is thus unchanged unless all of it fits.
func build(t *thriftimpl.Type, v any, depth int, made *thriftimpl.Struct) (impl.Value, error) {
	var built impl.Value
	switch x := reflect.ValueOf(v); {
	case t.Struct() != nil:
		*made = thriftimpl.New(t.Struct())
		built = impl.ValueOfStruct(t, *made)
	case x.Kind() != reflect.Slice && x.Kind() != reflect.Array && x.Kind() != reflect.Map:
		return impl.Value{}, mismatch(t, v)
	default:
		known, ok := holders.Load(t)
		if !ok {
			d := thriftimpl.NewDesc("")
			d.Define(thriftimpl.FieldDesc{ID: 1, Type: t, Req: thriftimpl.Optional})
			known, _ = holders.LoadOrStore(t, d)
		}
		d := known.(*thriftimpl.Desc)
		*made = thriftimpl.New(d)
		built = made.NewValue(d.Field(0), d, 0)
	}
	err := fill(t, v, depth+1, func(int) impl.Value { return built })
	if err == nil {
		err = made.Message().Check()
	}
	return built, err
}
