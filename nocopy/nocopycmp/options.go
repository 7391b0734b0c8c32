package nocopycmp

import (
	"reflect"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

var messageType = reflect.TypeFor[Message]()

// inMessage returns the two Messages before the last step of a path, and the key of that step. One
// of the Messages may be nil.
func inMessage(p cmp.Path) (x, y Message, key string, ok bool) {
	mi, ok := p.Index(-1).(cmp.MapIndex)
	if !ok || p.Index(-2).Type() != messageType {
		return nil, nil, "", false
	}
	vx, vy := p.Index(-2).Values()
	if vx.IsValid() {
		x = vx.Interface().(Message)
	}
	if vy.IsValid() {
		y = vy.Interface().(Message)
	}
	return x, y, mi.Key().String(), true
}

// IgnoreUnknown ignores fields that the IDL does not know. Elements of a set, or keys of a map,
// that differ only in such fields still count as two.
func IgnoreUnknown() cmp.Option {
	unknown := func(_ Message, key string) bool { return key[0] == '-' || key[0] >= '0' && key[0] <= '9' }
	o := &option{unknown, true}
	return cmp.FilterPath(func(p cmp.Path) bool {
		o.meets(p)
		_, _, key, ok := inMessage(p)
		return ok && unknown(nil, key)
	}, cmp.Ignore())
}

// fieldsOf returns a function that reports whether a path ends with one of these fields of m's
// type. Another type with the same name does not count. It panics if m's type has no such fields.
func fieldsOf(m nocopy.AnyStruct, names []string, ignored bool) func(cmp.Path) bool {
	d, _ := impl.Parts(m)
	named := map[string]bool{}
	for _, name := range names {
		if d.NumberByName(name) < 0 {
			panic("nocopy: " + d.Name() + " has no field " + name)
		}
		named[name] = true
	}
	of := func(m Message, key string) bool { return named[key] && m.desc() == d }
	o := &option{of, ignored}
	return func(p cmp.Path) bool {
		o.meets(p)
		x, y, key, ok := inMessage(p)
		return ok && (of(x, key) || of(y, key))
	}
}

// IgnoreFields ignores fields in structs of m's type, wherever these are. The names are those of
// the IDL. m may be the zero handle. A type that package dynamic has loaded differs from the
// generated type, but it suffices that one of the compared messages has m's type. IgnoreFields
// panics if the type has no such field.
func IgnoreFields(m nocopy.AnyStruct, names ...string) cmp.Option {
	return cmp.FilterPath(fieldsOf(m, names, true), cmp.Ignore())
}

// FilterField applies opt only to this field in structs of m's type.
func FilterField(m nocopy.AnyStruct, name string, opt cmp.Option) cmp.Option {
	is := fieldsOf(m, []string{name}, false)
	return cmp.FilterPath(func(p cmp.Path) bool {
		here := is(p)
		for !here && len(p) > 1 {
			switch step := p.Last().(type) {
			case cmp.TypeAssertion: // fields are of type any
			case cmp.Transform: // sets of structs have one more step, Arrange
				if step.Name() != arrangeName {
					return false
				}
			default:
				return false
			}
			p = p[:len(p)-1]
			here = is(p)
		}
		return here
	}, opt)
}

// IgnoreDefaults ignores fields that are set in one message only, if their value equals that
// of the other's getter: the IDL's default, zero, an empty value, or a struct that is empty in
// this sense.
func IgnoreDefaults() cmp.Option {
	o := &option{func(m Message, key string) bool { return isDefault(m.desc(), key, m[key]) }, true}
	return cmp.FilterPath(func(p cmp.Path) bool {
		o.meets(p)
		x, y, key, ok := inMessage(p)
		if !ok || key == typeKey || x == nil || y == nil {
			return false
		}
		v, inX := x[key]
		w, inY := y[key]
		switch {
		case inX == inY:
			return false
		case inY:
			x, v = y, w
		}
		return isDefault(x.desc(), key, v)
	}, cmp.Ignore())
}

// isDefault reports whether v is the value that the getter of the unset field returns.
func isDefault(d *thriftimpl.Desc, name string, v any) bool {
	i := d.NumberByName(name)
	if i < 0 || d.IsUnion() {
		return false
	}
	f := d.FieldDesc(i)
	if m, ok := v.(Message); ok && f.Default == "" {
		for key, v := range m {
			if key != typeKey && !isDefault(m.desc(), key, v) {
				return false
			}
		}
		return true
	}
	return text(v, everything) == text(converter{}.value(thriftimpl.Struct{}.Value(d.Field(i), d)), everything)
}

// SortRepeated sorts lists in messages before they are compared. less is a func(T, T) bool; lists
// whose elements have type T are sorted. Message lists the possible types, such as int32, string
// or Message.
func SortRepeated(less any) cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		for _, step := range p {
			if t, ok := step.(cmp.Transform); ok && t.Name() == transformName {
				return true
			}
		}
		return false
	}, cmpopts.SortSlices(less))
}

// SortRepeatedFields sorts the lists in these fields of structs of m's type before they are
// compared. Their order then does not matter.
func SortRepeatedFields(m nocopy.AnyStruct, names ...string) cmp.Option {
	var opts cmp.Options
	less := func(x, y any) bool {
		a, b := text(x, decisive), text(y, decisive)
		return a < b || a == b && text(x, compared) < text(y, compared)
	}
	for _, name := range names {
		opts = append(opts, FilterField(m, name, cmpopts.SortSlices(less)))
	}
	return opts
}
