package gateway

import (
	"slices"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// A view is a struct of the IDL as bodies have it: fields that come from elsewhere in an HTTP
// message are not in its JSON, and need not be; others are called as api.body says.
type view struct {
	desc   *thriftimpl.Desc
	fields map[int16]viewField // nil of a union, which is as the IDL has it
}

// A viewField is a field of a struct that has a view.
type viewField struct {
	name      string // the IDL's
	elsewhere bool   // it can't be in a body
	in        *view  // of a struct, else nil
}

// nested returns the fields of a struct, nil if all of them may be in a body.
func (f viewField) nested() map[int16]viewField {
	if f.in == nil {
		return nil
	}
	return f.in.fields
}

func (v *view) typ() dynamic.Type { return dynamic.Type{Struct: descriptor.StructOfDesc(v.desc)} }

// views has the views of structs. Types are never given back. Each struct therefore keeps one view
// for as long as the program runs, however often the IDL is loaded. Package dynamic bounds how
// many structs there can be.
var views = struct {
	sync.Mutex
	of map[*thriftimpl.Desc]*view
}{of: map[*thriftimpl.Desc]*view{}}

// viewOf returns the view of d and of the structs nested in it. Unions, and structs in lists, sets
// and maps, stay as the IDL has them.
func viewOf(d *thriftimpl.Desc) *view {
	views.Lock()
	defer views.Unlock()
	return makeView(d)
}

func makeView(d *thriftimpl.Desc) *view {
	if d.IsUnion() {
		return &view{desc: d}
	}
	if made := views.of[d]; made != nil {
		return made
	}
	made := thriftimpl.NewDesc
	if d.IsException() {
		made = thriftimpl.NewExceptionDesc
	}
	v := &view{made(d.Name(), *d.Info()), map[int16]viewField{}}
	// Before the fields are made: one of them may have this struct as its type
	views.of[d] = v
	names, _ := thriftimpl.JSONNames(d) // placesIn asks the view for the error
	var fields []thriftimpl.FieldDesc
	for i := range d.NumFields() {
		f, name := *d.FieldDesc(i), names[i]
		in := viewField{name: f.Name}
		if nested := f.Type.Struct(); nested != nil {
			in.in = makeView(nested)
			f.Type = thriftimpl.StructOf(in.in.desc)
		}
		placed := isPlaced(&f.Info)
		if placed && f.Req == thriftimpl.Required {
			f.Req = thriftimpl.Optional
		}
		if called, ok := f.Info.Annotation("api.body"); ok {
			name.Name = nameIn(called, name.Name)
		} else if placed {
			name.Skip = true
		}
		_, asString := f.Info.Annotation("api.js_conv")
		f.Info.Annotations = slices.DeleteFunc(slices.Clone(f.Info.Annotations), isJSONName)
		add := func(name, value string) {
			f.Info.Annotations = append(f.Info.Annotations, thriftimpl.Annotation{Name: name, Value: value})
		}
		switch {
		case name.Skip:
			add("go.tag", `json:"-"`)
		case asString || name.Quoted:
			add("go.tag", `json:",string"`)
			fallthrough
		default:
			add("json.name", name.Name)
		}
		fields = append(fields, f)
		in.elsewhere = name.Skip
		v.fields[f.ID] = in
	}
	v.desc.Define(fields...)
	return v
}

// isPlaced reports whether a field is somewhere else than in the JSON of a body.
func isPlaced(info *thriftimpl.Info) bool {
	return slices.ContainsFunc(info.Annotations, func(a thriftimpl.Annotation) bool {
		return slices.Contains(placesOfFields, a.Name)
	})
}

func isJSONName(a thriftimpl.Annotation) bool { return a.Name == "json.name" || a.Name == "go.tag" }
