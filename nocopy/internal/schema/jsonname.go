package schema

import (
	"fmt"
	"reflect"
	"strings"
)

// JSONName is the name of a field in JSON.
type JSONName struct {
	Name   string
	Skip   bool // the field is neither written nor read
	Quoted bool // numbers and bools are written as strings
}

// JSONNames returns the JSON names of the struct's fields, by field number. It returns an error if
// two fields have the same name.
func (d *Struct) JSONNames() (names []JSONName, err error) {
	numbers := map[string]int{}
	for i := range d.Fields() {
		n := d.Fields()[i].jsonName()
		names = append(names, n)
		if n.Skip {
			continue
		}
		if other, ok := numbers[n.Name]; ok {
			err = fmt.Errorf("fields %s and %s have the same name in JSON: %s", d.Fields()[other].Name, d.Fields()[i].Name, n.Name)
		}
		numbers[n.Name] = i
	}
	return names, err
}

// jsonName returns how a field is called in JSON: by its annotation json.name, else by the key
// json of its annotation go.tag, as encoding/json takes it, else as in the IDL.
func (f *FieldDesc) jsonName() JSONName {
	n := JSONName{Name: f.Name}
	tag, _ := f.Info.Annotation("go.tag")
	tag = strings.ReplaceAll(tag, `\"`, `"`)
	tag = reflect.StructTag(tag).Get("json")
	name, options, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-":
		n.Skip = true
	case name != "":
		n.Name = name
	}
	for option := range strings.SplitSeq(options, ",") {
		n.Quoted = n.Quoted || option == "string"
	}
	if name, ok := f.Info.Annotation("json.name"); ok {
		n.Name, n.Skip = name, false
	}
	return n
}
