package nocopyjson

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// FieldName is the name of a field in JSON.
type FieldName struct {
	Name   string
	Skip   bool // the field is neither written nor read
	Quoted bool // numbers and bools are written as strings
}

// writtenField holds the facts that writing needs of a field.
type writtenField struct {
	label  string // a comma, the name in quotes and a colon; "" if the field is skipped
	field  *schema.Field
	typ    *schema.Type
	ref    schema.Ref
	quoted bool
}

// names are the names of a struct's fields in JSON.
type names struct {
	fields []FieldName
	writes []writtenField
	err    error                      // two fields have the same name, or one has no UTF-8
	plan   atomic.Pointer[structPlan] // for reading, once needed
}

var errSameKeys = errors.New("two keys of a map are the same in JSON")

// Names returns the JSON names of the struct's fields, by field number. It returns an error if
// two fields have the same name.
func Names(d *schema.Struct) ([]FieldName, error) {
	names := namesOf(d)
	return names.fields, names.err
}

func namesOf(d *schema.Struct) *names {
	if known := d.JSON.Load(); known != nil {
		return (*known).(*names)
	}
	names := &names{fields: make([]FieldName, len(d.Fields())), writes: make([]writtenField, len(d.Fields()))}
	numbers := map[string]int{}
	for i := range d.Fields() {
		n := &names.fields[i]
		*n = nameOf(&d.Fields()[i].FieldDesc)
		if n.Skip {
			continue
		}
		if other, ok := numbers[n.Name]; ok {
			names.err = fmt.Errorf("fields %s and %s have the same name in JSON: %s", d.Fields()[other].Name, d.Fields()[i].Name, n.Name)
		}
		numbers[n.Name] = i
		label, ok := appendText([]byte(`,"`), []byte(n.Name), false)
		if !ok {
			names.err = wire.ErrUTF8
		}
		f := &d.Fields()[i]
		names.writes[i] = writtenField{string(append(label, `":`...)), f, f.Type, f.Ref(), n.Quoted}
	}
	kept := any(names)
	d.JSON.Store(&kept)
	return names
}

// nameOf returns how a field is called in JSON: by its annotation json.name, else by the key
// json of its annotation go.tag, as encoding/json takes it, else as in the IDL.
func nameOf(f *schema.FieldDesc) FieldName {
	n := FieldName{Name: f.Name}
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
