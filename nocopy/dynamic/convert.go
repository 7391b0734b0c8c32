package dynamic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Pair is a pair of a map whose keys can't be those of a Go map.
type Pair struct{ Key, Value any }

// ToMap returns the fields of a message that are set and that the IDL knows as Go values, by their
// names: structs as map[string]any, lists and sets as []any, enums as int32, others as Get's
// Interface returns them. Maps with keys of type string are map[string]any; those with other
// keys map[any]any, or []Pair if the keys are binaries, structs or containers. All is copied. Of
// an absent struct it returns nil.
func ToMap(m nocopy.AnyStruct) map[string]any {
	r := reflection.Of(m)
	if !r.Valid() {
		return nil
	}
	fields := map[string]any{}
	for f, v := range r.Range() {
		fields[f.Name()] = toGo(v)
	}
	return fields
}

// toGo returns a value as ToMap does.
func toGo(v reflection.Value) any {
	switch x := v.Interface().(type) {
	case string:
		return strings.Clone(x)
	case []byte:
		return slices.Clone(x)
	case reflection.Message:
		return ToMap(x)
	case reflection.List:
		list := make([]any, 0, x.Len())
		for _, e := range x.All() {
			list = append(list, toGo(e))
		}
		return list
	case reflection.Map:
		return toGoMap(v.Type().Key().Type(), x)
	default:
		return x
	}
}

func toGoMap(key *thriftimpl.Type, m reflection.Map) any {
	switch {
	case isHandle(key) || key.Binary():
		pairs := make([]Pair, 0, m.Len())
		for k, v := range m.All() {
			pairs = append(pairs, Pair{toGo(k), toGo(v)})
		}
		return pairs
	case key.Wire() == nocopy.WireString:
		all := make(map[string]any, m.Len())
		for k, v := range m.All() {
			all[strings.Clone(k.Text())] = toGo(v)
		}
		return all
	}
	all := make(map[any]any, m.Len())
	for k, v := range m.All() {
		all[toGo(k)] = toGo(v)
	}
	return all
}

// A ValueError tells where a Go value does not fit a message, such as "Order.lines[2].price", and
// why, but not the value. The path ends with a field that is redacted (nocopy.redact).
type ValueError struct {
	Path string
	Err  error
}

// Error returns the path and the reason.
func (e *ValueError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ValueError) Unwrap() error { return e.Err }

// FromMap returns a new message with these fields: what ToMap returns, messages of the fields'
// types, any slices and maps of such, and all that Message's Set takes; whole numbers also as
// float64, as package encoding/json has them. Fields that are nil are not set. Of elements of sets
// that come twice one is left, and of keys the last, unless they are structs or containers: these
// must differ. The error is a
// *ValueError; then there is no message.
func (t Type) FromMap(fields map[string]any, opts ...nocopy.Option) (Message, error) {
	m := t.New(opts...)
	err := fillStruct(m.ThriftStruct(), m.ThriftDesc(), fields, 0)
	if err == nil {
		err = m.Message().Check()
	}
	if err != nil {
		m.Release()
		return Message{}, within(t.Name(), err)
	}
	return m, nil
}

// within returns the error err of a part of a value as one of the value.
func within(part string, err error) error {
	var e *ValueError
	if errors.As(err, &e) {
		return &ValueError{part + e.Path, e.Err}
	}
	return &ValueError{part, err}
}

func mismatch(t *thriftimpl.Type, v any) error { return fmt.Errorf("%T in the place of %v", v, t) }

// maxDepth bounds how deep Go values are followed, which may contain themselves. Messages may be
// nested less.
const maxDepth = 1000

// fillStruct sets fields of s, which d describes.
func fillStruct(s thriftimpl.Struct, d *thriftimpl.Desc, fields map[string]any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: nested more than %d deep", nocopy.ErrLimit, maxDepth)
	}
	given, set := 0, 0
	for i := range d.NumFields() {
		f := d.FieldDesc(i)
		v, ok := fields[f.Name]
		if !ok {
			continue
		}
		given++
		if v == nil {
			continue
		}
		if set++; set > 1 && d.IsUnion() {
			return errors.New("more than one field of a union")
		}
		err := place(f.Type, v, depth, func(x thriftimpl.Value) { s.SetValue(d.Field(i), d, x) },
			func(n int) thriftimpl.Value { return s.NewValue(d.Field(i), d, n) })
		if err != nil {
			if e, ok := err.(*ValueError); ok && (f.Info.Redacted() || d.Info().Redacted()) {
				err = e.Err // the keys of maps in the path are values
			}
			return within("."+f.Name, err)
		}
	}
	if given == len(fields) {
		return nil
	}
	if d.Info().Redacted() {
		return descriptor.ErrNotFound // what it has in the place of names may be values
	}
	unknown := ""
	for name := range fields {
		if d.NumberByName(name) < 0 && (unknown == "" || name < unknown) {
			unknown = name
		}
	}
	return within("."+unknown, descriptor.ErrNotFound)
}

// place puts v where a value of type t is: with set, or, where v's parts are to be put into a
// struct or container, into the one that fresh returns.
func place(t *thriftimpl.Type, v any, depth int, set func(thriftimpl.Value), fresh func(n int) thriftimpl.Value) error {
	if isHandle(t) {
		switch v.(type) {
		case nocopy.AnyStruct, reflection.Value, reflection.List, reflection.Map:
		default:
			return fill(t, v, depth+1, fresh)
		}
	}
	if f, ok := v.(float64); ok && t.Wire() != nocopy.WireDouble && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
		v = int64(f)
	}
	x, err := reflection.ValueFor(t, v)
	if err == nil {
		set(x)
	}
	return err
}

// fill fills the struct or container of type t that fresh returns with the parts of v.
func fill(t *thriftimpl.Type, v any, depth int, fresh func(n int) thriftimpl.Value) error {
	x := reflect.ValueOf(v)
	switch t.Wire() {
	case nocopy.WireStruct:
		if x.Kind() != reflect.Map || x.Type().Key().Kind() != reflect.String {
			return mismatch(t, v)
		}
		fields, ok := v.(map[string]any)
		if !ok {
			fields = make(map[string]any, x.Len())
			for _, k := range x.MapKeys() {
				fields[k.String()] = x.MapIndex(k).Interface()
			}
		}
		return fillStruct(fresh(0).Struct(), t.Struct(), fields, depth)
	case nocopy.WireMap:
		return fillMap(t, x, depth, fresh)
	}
	if k := x.Kind(); k != reflect.Slice && k != reflect.Array {
		return mismatch(t, v)
	}
	list := fresh(0).Struct()
	for i := range x.Len() {
		err := place(t.Elem(), x.Index(i).Interface(), depth,
			func(e thriftimpl.Value) {
				if t.Wire() != nocopy.WireSet || !list.HasElement(e) {
					list.AppendElement(e)
				}
			}, func(n int) thriftimpl.Value { return list.AppendNewElement(n) })
		if err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

// fillMap fills a map of type t, which fresh makes with room for n pairs, with what x holds: a Go
// map, or a []Pair.
func fillMap(t *thriftimpl.Type, x reflect.Value, depth int, fresh func(n int) thriftimpl.Value) error {
	var pairs []Pair
	switch {
	case !x.IsValid():
		return mismatch(t, nil)
	case x.Type() == reflect.TypeFor[[]Pair]():
		pairs = x.Interface().([]Pair)
	case x.Kind() != reflect.Map:
		return mismatch(t, x.Interface())
	default:
		for i := x.MapRange(); i.Next(); { // MapIndex does not find NaN
			pairs = append(pairs, Pair{i.Key().Interface(), i.Value().Interface()})
		}
		// In the order of the keys as text, so that equal maps have equal bytes
		slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Compare(fmt.Sprint(a.Key), fmt.Sprint(b.Key)) })
	}
	m := fresh(0).Struct()
	for _, p := range pairs {
		if err := fillPair(m, t, p, depth); err != nil {
			return within("["+shortText(p.Key)+"]", err)
		}
	}
	return nil
}

// fillPair adds a pair to a map of type t.
func fillPair(m thriftimpl.Struct, t *thriftimpl.Type, p Pair, depth int) error {
	var key, value thriftimpl.Value
	setKey := func(k thriftimpl.Value) { key = k }
	if !isHandle(t.Key()) {
		if err := place(t.Key(), p.Key, depth, setKey, nil); err != nil {
			return err
		}
		return place(t.Elem(), p.Value, depth, func(v thriftimpl.Value) { m.PutPair(key, v) },
			func(n int) thriftimpl.Value { return m.PutNewPair(key, n) })
	}
	if isHandle(t.Elem()) {
		key, value = m.AppendNewPair()
		if err := refill(t.Elem(), value, p.Value, depth); err != nil {
			return err
		}
	} else if err := place(t.Elem(), p.Value, depth, func(v thriftimpl.Value) { key = m.AppendPair(v) }, nil); err != nil {
		return err
	}
	return refill(t.Key(), key, p.Key, depth)
}

// refill fills the empty struct or container at with the parts of v.
func refill(t *thriftimpl.Type, at thriftimpl.Value, v any, depth int) error {
	switch x := v.(type) {
	case nocopy.AnyStruct:
		v = ToMap(x)
	case reflection.Value:
		v = toGo(x)
	case reflection.List, reflection.Map:
		return mismatch(t, v)
	}
	return fill(t, v, depth+1, func(int) thriftimpl.Value { return at })
}

// shortText returns a key as error messages show it.
func shortText(key any) string {
	text := fmt.Sprint(key)
	if s, ok := key.(string); ok {
		text = strconv.Quote(s[:min(len(s), 200)])
	}
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return text
}
