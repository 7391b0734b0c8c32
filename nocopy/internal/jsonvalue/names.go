package jsonvalue

import (
	"errors"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

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
	fields []schema.JSONName
	writes []writtenField
	err    error                      // two fields have the same name, or one has no UTF-8
	plan   atomic.Pointer[structPlan] // for reading, once needed
}

var errSameKeys = errors.New("two keys of a map are the same in JSON")

func namesOf(d *schema.Struct) *names {
	if known := d.JSON.Load(); known != nil {
		return (*known).(*names)
	}
	fields, err := d.JSONNames()
	names := &names{fields: fields, err: err, writes: make([]writtenField, len(fields))}
	for i, n := range fields {
		if n.Skip {
			continue
		}
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
