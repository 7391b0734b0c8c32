package invoke

import (
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Suggestion is an argument, or the beginning of one that ends with "=" or ".", and what it is.
type Suggestion struct{ Text, About string }

// Suggest returns the arguments key=value that begin with a text. given are those that a command
// line already has.
func (m *Method) Suggest(text string, given []string) (all []Suggestion) {
	if m.Raw() {
		return nil
	}
	key, _, hasValue := strings.Cut(text, "=")
	if hasValue {
		t, ok := typeAt(m.desc.Args(), strings.Split(key, "."))
		if !ok {
			return nil
		}
		for _, value := range valuesOf(t) {
			all = append(all, Suggestion{key + "=" + value, t.String()})
		}
		return all
	}
	of, at := m.desc.Args(), strings.LastIndexByte(key, '.')
	if at >= 0 {
		t, ok := typeAt(of, strings.Split(key[:at], "."))
		if !ok || t.WireType() != nocopy.WireStruct {
			return nil
		}
		of = t.Struct()
	}
	names, _ := thriftimpl.JSONNames(of.Desc())
	for i := range of.NumFields() {
		f, path := of.Field(i), key[:at+1]+names[i].Name
		if names[i].Skip || slices.ContainsFunc(given, func(arg string) bool { return strings.HasPrefix(arg, path+"=") || strings.HasPrefix(arg, path+":=") }) {
			continue
		}
		about := f.Type().String()
		if f.Requiredness() == descriptor.Required {
			about = "required " + about
		}
		all = append(all, Suggestion{path + next(f.Type()), about})
	}
	return all
}

// next returns what follows the key of a value: "=" or, if parts of the value have keys of their
// own, ".".
func next(t descriptor.Type) string {
	switch t.WireType() {
	case nocopy.WireStruct, nocopy.WireMap:
		return "."
	case nocopy.WireList, nocopy.WireSet:
		if end := next(t.Elem()); end != "=" {
			return ".0" + end
		}
	}
	return "="
}

// typeAt returns the type at a path in a struct.
func typeAt(d descriptor.Struct, path []string) (t descriptor.Type, ok bool) {
	f, _, err := fieldOf(d, path[0])
	if err != nil {
		return t, false
	}
	t = f.Type()
	for i, part := range path[1:] {
		switch t.WireType() {
		case nocopy.WireStruct:
			return typeAt(t.Struct(), path[1+i:])
		case nocopy.WireMap, nocopy.WireList, nocopy.WireSet:
			t = t.Elem()
		default:
			return t, part == ""
		}
	}
	return t, true
}

// valuesOf returns the values of a type that has few.
func valuesOf(t descriptor.Type) (all []string) {
	switch {
	case t.WireType() == nocopy.WireBool:
		return []string{"true", "false"}
	case t.Enum().Valid():
		for v := range t.Enum().Values() {
			all = append(all, v.Name())
		}
	}
	return all
}
