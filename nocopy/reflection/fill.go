package reflection

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Pair is a pair of a map whose keys can't be keys of a Go map.
type Pair struct{ Key, Value any }

// A ValueError reports a Go value that does not fit a message: its place, such as
// "Order.lines[2].price", and the reason, but not the value. The path stops at a redacted field
// (nocopy.redact).
type ValueError struct {
	Path string
	Err  error
}

// Error returns the path and the reason.
func (e *ValueError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ValueError) Unwrap() error { return e.Err }

// within converts err, an error in a part of a value, to an error of the whole value.
func within(part string, err error) error {
	if e, ok := err.(*ValueError); ok {
		return &ValueError{part + e.Path, e.Err}
	}
	return &ValueError{part, err}
}

// withinField converts err, an error in field f, to an error of the struct, which d describes. If
// the field is redacted, the path stops there, because keys of maps in a path are values.
func withinField(d *thriftimpl.Desc, f *thriftimpl.FieldDesc, err error) error {
	if e, ok := err.(*ValueError); ok && (f.Info.Redacted() || d.Info().Redacted()) {
		return e.Err
	}
	return err
}

// maxDepth bounds how deep Go values are followed: they may contain themselves. Messages must be
// nested less deep.
const maxDepth = 1000

// Fill sets the fields of m that are keys of a Go map, as FromMap of package dynamic does. The
// error is a *ValueError, whose path begins with the type; some fields may then have been set. It
// is for packages that make messages from descriptors.
func Fill(m Message, fields map[string]any) error {
	if err := fillStruct(m.s, m.desc(), fields, 0); err != nil {
		return within(m.desc().Name(), err)
	}
	return nil
}

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
		err := place(f.Type, v, depth, func(x impl.Value) { s.SetValue(d.Field(i), d, x) },
			func(n int) impl.Value { return s.NewValue(d.Field(i), d, n) })
		if err != nil {
			return within("."+f.Name, withinField(d, f, err))
		}
	}
	if given == len(fields) {
		return nil
	}
	if d.Info().Redacted() {
		return descriptor.ErrNotFound // does not quote the name: it may be a value
	}
	unknown := ""
	for name := range fields {
		if d.NumberByName(name) < 0 && (unknown == "" || name < unknown) {
			unknown = name
		}
	}
	return within("."+unknown, noField(d, unknown))
}

// place puts v into a place of type t. It calls set with the converted value, or, to fill a struct
// or container part by part, calls fresh to make it.
func place(t *thriftimpl.Type, v any, depth int, set func(impl.Value), fresh func(n int) impl.Value) error {
	if isHandle(t) {
		switch v.(type) {
		case nocopy.AnyStruct, Value, List, Map:
		default:
			return fill(t, v, depth+1, fresh)
		}
	}
	return useIn(t, v, depth, set)
}

// fill fills the struct or container of type t that fresh returns with the parts of v.
func fill(t *thriftimpl.Type, v any, depth int, fresh func(n int) impl.Value) error {
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
			func(e impl.Value) {
				if t.Wire() != nocopy.WireSet || !list.HasElement(e) {
					list.AppendElement(e)
				}
			}, func(n int) impl.Value { return list.AppendNewElement(n) })
		if err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

// fillMap fills a map of type t with the pairs of x, a Go map or a []Pair. fresh makes the map
// with room for n pairs.
func fillMap(t *thriftimpl.Type, x reflect.Value, depth int, fresh func(n int) impl.Value) error {
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
		// Sorted by the keys' text, so that equal maps have equal bytes
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
	var placed error
	err := useKeyIn(t.Key(), p.Key, depth, func(key impl.Value) {
		placed = place(t.Elem(), p.Value, depth, func(v impl.Value) { m.PutPair(key, v) },
			func(n int) impl.Value { return m.PutNewPair(key, n) })
	})
	return cmp.Or(err, placed)
}

// shortText returns a key in the form for error messages.
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
