package nocopycmp

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// unordered is a set, or a map. Its order, and the texts of its keys, depend on what the options
// of the comparison ignore in the structs that are in it. Transform does not know them. So it
// leaves sets and keys with structs in them like this; when cmp comes to one, each option has seen
// one of the Messages around or in it, and has told the options that these have.
type unordered struct {
	t      *thriftimpl.Type
	list   []any // elements or keys
	values []any // of a map
}

// arrangeName is by what the paths of cmp name the second step of Transform.
const arrangeName = "nocopycmp.Arrange"

var unorderedType = reflect.TypeFor[unordered]()

// String returns the elements or pairs as text.
func (u unordered) String() string { return text(u, everything) }

// arranged returns a slice or map for cmp.
func (u unordered) arranged() any {
	if u.t.Wire() == nocopy.WireMap {
		return u.goMap()
	}
	seen := map[string]bool{}
	type element struct {
		v           any
		main, other string
	}
	var kept []element
	for _, v := range u.list {
		if all := text(v, everything); !seen[all] || hasNaN(v) {
			seen[all] = true
			kept = append(kept, element{v, text(v, decisive), text(v, compared)})
		}
	}
	slices.SortFunc(kept, func(a, b element) int {
		return cmp.Or(strings.Compare(a.main, b.main), strings.Compare(a.other, b.other))
	})
	list := make([]any, len(kept))
	for i, e := range kept {
		list[i] = e.v
	}
	return slice(u.t.Elem(), list)
}

// goMap returns a map as one of Go's. Keys that are the same in what is compared are told apart by
// a number, in the order of their values.
func (u unordered) goMap() any {
	last := map[string]int{} // the pair of each key that may not come twice
	for i, k := range u.list {
		if !hasNaN(k) {
			last[text(k, everything)] = i
		}
	}
	keyIs := keyType(u.t.Key())
	groups := map[any][]any{}
	for i, k := range u.list {
		if !hasNaN(k) && last[text(k, everything)] != i {
			continue
		}
		var key any
		switch k := k.(type) {
		case []byte:
			key = string(k)
		case float64:
			key = strconv.FormatFloat(k, 'g', -1, 64)
		default:
			if key = any(k); keyIs.Kind() == reflect.String && u.t.Key().Wire() != nocopy.WireString {
				key = text(k, compared)
			}
		}
		groups[key] = append(groups[key], u.values[i])
	}
	m := reflect.MakeMap(reflect.MapOf(keyIs, goType(u.t.Elem())))
	for key, values := range groups {
		slices.SortFunc(values, func(a, b any) int {
			return cmp.Or(strings.Compare(text(a, decisive), text(b, decisive)), strings.Compare(text(a, compared), text(b, compared)))
		})
		for i, v := range values {
			if i > 0 {
				m.SetMapIndex(reflect.ValueOf(fmt.Sprintf("%s #%d", key, i+1)), reflect.ValueOf(v))
			} else {
				m.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(v))
			}
		}
	}
	return m.Interface()
}

// hasNaN reports whether a value is NaN, or has one in it: such equals nothing.
func hasNaN(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.IsNaN(v)
	case unordered:
		return slices.ContainsFunc(v.list, hasNaN) || slices.ContainsFunc(v.values, hasNaN)
	}
	switch x := reflect.ValueOf(v); x.Kind() {
	case reflect.Slice:
		for i := range x.Len() {
			if hasNaN(x.Index(i).Interface()) {
				return true
			}
		}
	case reflect.Map:
		for i := x.MapRange(); i.Next(); {
			if hasNaN(i.Value().Interface()) {
				return true
			}
		}
	}
	return false
}

// options are those of the comparison that change which fields are compared, as far as they are
// known.
type options struct{ list []*option }

// option says which fields an option of this package is about.
type option struct {
	field   func(m Message, key string) bool
	ignored bool // the field is ignored, rather than compared in another way
}

// meets tells the Messages that cmp has come to, by the path p, of the option.
func (o *option) meets(p gocmp.Path) {
	if t := p.Last().Type(); t != messageType && t != unorderedType {
		return
	}
	x, y := p.Last().Values()
	for _, v := range []reflect.Value{x, y} {
		if v.IsValid() {
			o.note(v.Interface())
		}
	}
}

// note adds the option to those of v, a Message or unordered.
func (o *option) note(v any) {
	switch v := v.(type) {
	case Message:
		if all := v.typ().options; all != nil && !slices.Contains(all.list, o) {
			all.list = append(all.list, o)
		}
	case unordered:
		for _, part := range slices.Concat(v.list, v.values) {
			o.note(part) // all Messages of a handle have the same options
		}
	default:
		if x := reflect.ValueOf(v); x.Kind() == reflect.Slice && x.Len() > 0 {
			o.note(x.Index(0).Interface())
		}
	}
}

// detail is which fields of structs a text has.
type detail uint8

const (
	everything detail = iota
	compared          // without those that are ignored
	decisive          // without those that are compared in another way, too
)

// has reports whether a text of m with detail d has a field.
func (d detail) has(m Message, key string) bool {
	if d == everything || m.typ().options == nil {
		return true
	}
	for _, o := range m.typ().options.list {
		if (o.ignored || d == decisive) && o.field(m, key) {
			return false
		}
	}
	return true
}

// text returns a text that is the same for the same values only, in the fields that d has.
func text(v any, d detail) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case float64:
		return strconv.FormatFloat(v+0, 'g', -1, 64) // 0, not −0
	case unordered:
		return text(v.arranged(), d)
	case fmt.Stringer: // an Enum, a uuid, or a type's name
		return v.String()
	}
	x := reflect.ValueOf(v)
	var parts []string
	switch x.Kind() {
	case reflect.Slice:
		for i := range x.Len() {
			parts = append(parts, text(x.Index(i).Interface(), d))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		m, isMessage := v.(Message)
		for _, k := range x.MapKeys() {
			key, isName := k.Interface().(string)
			if !isMessage || !isName {
				key = text(k.Interface(), d)
			} else if key == typeKey || !d.has(m, key) {
				continue
			}
			parts = append(parts, key+": "+text(x.MapIndex(k).Interface(), d))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprintf("%+v", v)
}
