package render

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// JSONName is the name of a field in JSON.
type JSONName struct {
	Name   string
	Skip   bool // the field is neither written nor read
	Quoted bool // numbers and bools are written as strings
}

// jsonField holds the facts that writing needs of a field.
type jsonField struct {
	label  string // a comma, the name in quotes and a colon; "" if the field is skipped
	field  *schema.Field
	typ    *schema.Type
	ref    schema.Ref
	quoted bool
}

// jsonNames are the names of a struct's fields in JSON.
type jsonNames struct {
	fields []JSONName
	writes []jsonField
	err    error // two fields have the same name, or one has no UTF-8
	plan   atomic.Pointer[any]
}

// JSONPlan returns the value that package nocopyjson stores with a descriptor. If there is none
// yet, it stores the result of newPlan.
func JSONPlan(d *schema.Struct, newPlan func() any) any {
	names := jsonNamesOf(d)
	if p := names.plan.Load(); p != nil {
		return *p
	}
	p := newPlan()
	names.plan.Store(&p)
	return p
}

var errSameKeys = errors.New("two keys of a map are the same in JSON")

// JSONNames returns the JSON names of the struct's fields, by field number. It returns an error if
// two fields have the same name.
func JSONNames(d *schema.Struct) ([]JSONName, error) {
	names := jsonNamesOf(d)
	return names.fields, names.err
}

func jsonNamesOf(d *schema.Struct) *jsonNames {
	if names := d.JSON.Load(); names != nil {
		return (*names).(*jsonNames)
	}
	names := &jsonNames{fields: make([]JSONName, len(d.Fields())), writes: make([]jsonField, len(d.Fields()))}
	numbers := map[string]int{}
	for i := range d.Fields() {
		n := &names.fields[i]
		*n = jsonName(&d.Fields()[i].FieldDesc)
		if n.Skip {
			continue
		}
		if other, ok := numbers[n.Name]; ok {
			names.err = fmt.Errorf("fields %s and %s have the same name in JSON: %s", d.Fields()[other].Name, d.Fields()[i].Name, n.Name)
		}
		numbers[n.Name] = i
		label, ok := appendJSONText([]byte(`,"`), []byte(n.Name), false)
		if !ok {
			names.err = wire.ErrUTF8
		}
		f := &d.Fields()[i]
		names.writes[i] = jsonField{string(append(label, `":`...)), f, f.Type, f.Ref(), n.Quoted}
	}
	kept := any(names)
	d.JSON.Store(&kept)
	return names
}

// jsonName returns how a field is called in JSON: by its annotation json.name, else by the key
// json of its annotation go.tag, as encoding/json takes it, else as in the IDL.
func jsonName(f *schema.FieldDesc) JSONName {
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
