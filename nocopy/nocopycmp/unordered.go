package nocopycmp

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// unordered is a set, or a map, that contains structs in its elements or keys. Its order, and the
// texts of its keys, depend on the fields that the options of the comparison ignore. Transform
// does not know the options, and therefore leaves such sets and maps in this form. When cmp
// reaches one, each option has already seen one of the Messages around it or in it, and has added
// itself to the Message's options.
type unordered struct {
	t       *thriftimpl.Type
	list    []any          // elements or keys, equal ones once
	values  []any          // of a map
	numbers map[string]int // where they are in list, by the bytes that identify them
}

// number returns the index in list of the element or key that encoded identifies, or the length of
// list if it is new: one with a NaN always is.
func (u *unordered) number(encoded []byte, unequal bool) int {
	if i, ok := u.numbers[string(encoded)]; ok && !unequal {
		return i
	}
	if u.numbers == nil {
		u.numbers = map[string]int{}
	}
	u.numbers[string(encoded)] = len(u.list)
	return len(u.list)
}

// arrangeName is the name of the second step of Transform in cmp's paths.
const arrangeName = "nocopycmp.Arrange"

var unorderedType = reflect.TypeFor[unordered]()

// String returns the elements or pairs as text.
func (u unordered) String() string { return text(u, everything) }

// arranged converts u to a slice or map for cmp.
func (u unordered) arranged() any {
	if u.t.Wire() == nocopy.WireMap {
		return u.goMap()
	}
	return slice(u.t.Elem(), inOrder(u.list))
}

// inOrder returns the values in the order of their decisive fields, then of those compared.
func inOrder(values []any) []any {
	if len(values) < 2 {
		return values
	}
	type entry struct {
		v           any
		main, other string
	}
	entries := make([]entry, len(values))
	for i, v := range values {
		entries[i] = entry{v, text(v, decisive), text(v, compared)}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.main, b.main), strings.Compare(a.other, b.other))
	})
	sorted := make([]any, len(entries))
	for i, e := range entries {
		sorted[i] = e.v
	}
	return sorted
}

// goMap converts a map to a Go map. Keys that are equal in their compared fields get a number to
// distinguish them, in the order of their values.
func (u unordered) goMap() any {
	keyIs := keyType(u.t.Key())
	groups := map[any][]any{}
	for i, k := range u.list {
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
		for i, v := range inOrder(values) {
			if i > 0 {
				m.SetMapIndex(reflect.ValueOf(fmt.Sprintf("%s #%d", key, i+1)), reflect.ValueOf(v))
			} else {
				m.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(v))
			}
		}
	}
	return m.Interface()
}

// options has the options of the comparison that affect which fields are compared, as far as they
// are known.
type options struct{ list []*option }

// option has the fields that an option of this package applies to.
type option struct {
	field   func(m Message, key string) bool
	ignored bool // the fields are ignored, not compared in another way
}

// meets adds the option to the Messages that cmp has reached by the path p.
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

// note adds the option to the options of v, a Message or unordered.
func (o *option) note(v any) {
	switch v := v.(type) {
	case Message:
		if all := v.typ().options; all != nil && !slices.Contains(all.list, o) {
			all.list = append(all.list, o)
		}
	case unordered:
		for _, part := range slices.Concat(v.list, v.values) {
			o.note(part) // all Messages of a handle share their options
		}
	default:
		if x := reflect.ValueOf(v); x.Kind() == reflect.Slice && x.Len() > 0 {
			o.note(x.Index(0).Interface())
		}
	}
}

// detail says which fields of structs a text includes.
type detail uint8

const (
	everything detail = iota
	compared          // all except ignored fields
	decisive          // all except ignored fields and fields that are compared in another way
)

// has reports whether a text of m with detail d includes a field.
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

// text returns a text for v. Values that differ in the fields of d have different texts.
func text(v any, d detail) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case float64:
		return strconv.FormatFloat(v+0, 'g', -1, 64) // −0 becomes 0
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
