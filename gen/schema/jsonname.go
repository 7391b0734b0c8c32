package schema

import (
	"reflect"
	"slices"
	"strings"
)

// JSONName is how a field is called in JSON, as package nocopyjson has it.
type JSONName struct {
	Name   string
	Skip   bool // the field is not there
	Quoted bool // numbers and bools are strings
}

// String returns the name in the form for messages.
func (n JSONName) String() string {
	switch {
	case n.Skip:
		return "none"
	case n.Quoted:
		return n.Name + ", numbers as strings"
	}
	return n.Name
}

// JSONName returns the field's name in JSON: that of its annotation json.name, else of the key
// json of its annotation go.tag, as encoding/json takes it, else the one in the IDL.
func (f *Field) JSONName() JSONName {
	n := JSONName{Name: f.Name}
	tag, _ := f.Annotations.Get("go.tag")
	tag = reflect.StructTag(strings.ReplaceAll(tag, `\"`, `"`)).Get("json")
	name, options, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-":
		n.Skip = true
	case name != "":
		n.Name = name
	}
	n.Quoted = slices.Contains(strings.Split(options, ","), "string")
	if name, ok := f.Annotations.Get("json.name"); ok {
		n.Name, n.Skip = name, false
	}
	return n
}
