package describe

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// defaultOf returns the default of a field, if it has one.
func defaultOf(f descriptor.Field) (v reflection.Value, ok bool) {
	if !f.HasDefault() {
		return v, false
	}
	c := &thriftimpl.ConstDesc{Name: f.Name(), Type: f.Type().Type(), Wire: f.DefaultWire()}
	return dynamic.Const{Const: descriptor.ConstOf(c)}.Value(), true
}

// longest is how many bytes of a value are shown in a list of them.
const longest = 400

// short returns the beginning of a text.
func short(text string) string {
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + " …"
	}
	return text
}

// valueText returns a value as text on one line.
func valueText(v reflection.Value) string {
	text := v.String()
	if t := v.Type(); t.WireType() == nocopy.WireUUID || t.WireType() == nocopy.WireString && !t.IsBinary() {
		text = strconv.Quote(text)
	}
	return shell.OneLine(text)
}

// jsonOf returns a value as package nocopyjson writes it.
func jsonOf(v reflection.Value) any {
	switch t := v.Type(); t.WireType() {
	case nocopy.WireStruct:
		text, err := nocopyjson.Marshal(v.Message())
		if err != nil {
			return err.Error()
		}
		return json.RawMessage(text)
	case nocopy.WireList, nocopy.WireSet:
		elems := []any{}
		for _, e := range v.List().All() {
			elems = append(elems, jsonOf(e))
		}
		return elems
	case nocopy.WireMap:
		return mapJSON(t, v.Map())
	case nocopy.WireBool:
		return v.Bool()
	case nocopy.WireDouble:
		if text := v.String(); !json.Valid([]byte(text)) { // NaN or Infinity
			return text
		}
		return v.Float()
	case nocopy.WireString, nocopy.WireUUID:
		switch {
		case t.IsBinary():
			return v.Bytes()
		case t.WireType() == nocopy.WireUUID:
			return v.UUID().String()
		}
		return v.Text()
	}
	if name := v.EnumName(); name != "" {
		return name
	}
	return v.Int()
}

// mapJSON returns a map as an object, or as a list of pairs if its keys are structs or containers.
func mapJSON(t descriptor.Type, m reflection.Map) any {
	pairs, entries := [][2]any{}, map[string]any{}
	for k, v := range m.All() {
		key, value := jsonOf(k), jsonOf(v)
		pairs = append(pairs, [2]any{key, value})
		name, ok := key.(string)
		if !ok {
			text, _ := json.Marshal(key)
			name = strings.Trim(string(text), `"`) // of a binary
		}
		entries[name] = value
	}
	switch t.Key().WireType() {
	case nocopy.WireStruct, nocopy.WireMap, nocopy.WireList, nocopy.WireSet:
		return pairs
	}
	return entries
}

// typedefOf returns the typedef of a name, which may have its file before a dot.
func typedefOf(idl *idlfiles.IDL, name string) *schema.Typedef {
	for _, p := range programs(idl) {
		for _, t := range p.Typedefs {
			if t.Name == name || p.Name+"."+t.Name == name {
				return t
			}
		}
	}
	return nil
}

// programs returns the files of IDL, those that were named first.
func programs(idl *idlfiles.IDL) []*schema.Program {
	set := idl.Set()
	all := slices.Clone(set.Roots)
	for _, p := range set.Programs {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// typedefText returns a typedef as the IDL has it.
func typedefText(t *schema.Typedef) string { return "typedef " + t.Type.String() + " " + t.Name }

// constText returns a constant as the IDL has it.
func constText(c dynamic.Const) string {
	return "const " + c.Type().String() + " " + c.Name() + " = " + valueText(c.Value())
}

// names returns all names that can be described.
func names(idl *idlfiles.IDL) (all []string) {
	for _, p := range programs(idl) {
		for _, t := range p.Typedefs {
			all = append(all, t.Name)
		}
		for _, c := range p.Consts {
			all = append(all, c.Name)
		}
		for _, e := range p.Enums {
			all = append(all, e.Name)
		}
		for _, s := range p.Structs {
			all = append(all, s.Name)
		}
	}
	for _, s := range idl.Services {
		all = append(all, s.Name())
		for m := range s.AllMethods() {
			all = append(all, m.Name())
		}
	}
	return all
}
