package main

import (
	"slices"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// views are the structs of the IDL as their JSON is: fields that come from elsewhere in an HTTP
// message are not in it, and need not be; others are called as api.body says. Types are never
// given back, so each struct has one view for as long as the program runs, however often the IDL
// is loaded. Package dynamic bounds how many structs there can be.
var views = struct {
	sync.Mutex
	of map[*thriftimpl.Desc]*thriftimpl.Desc
}{of: map[*thriftimpl.Desc]*thriftimpl.Desc{}}

// viewOf returns the view of d and of the structs nested in it, but for those in lists, sets, maps
// and unions, which are as the IDL has them.
func viewOf(d *thriftimpl.Desc) *thriftimpl.Desc {
	views.Lock()
	defer views.Unlock()
	return makeView(d)
}

func makeView(d *thriftimpl.Desc) *thriftimpl.Desc {
	if d.IsUnion() {
		return d
	}
	if made := views.of[d]; made != nil {
		return made
	}
	made := thriftimpl.NewDesc
	if d.IsException() {
		made = thriftimpl.NewExceptionDesc
	}
	view := made(d.Name(), *d.Info())
	// Before the fields, of which one may have the struct as its type again
	views.of[d] = view
	names, _ := thriftimpl.JSONNames(d) // placesIn asks the view for the error
	var fields []thriftimpl.FieldDesc
	for i := range d.NumFields() {
		f, name := *d.FieldDesc(i), names[i]
		if nested := f.Type.Struct(); nested != nil {
			f.Type = thriftimpl.StructOf(makeView(nested))
		}
		if called, ok := f.Info.Annotation("api.body"); ok {
			name.Name = nameIn(called, name.Name)
		} else if isPlaced(&f.Info) {
			name.Skip = true
			if f.Req == thriftimpl.Required {
				f.Req = thriftimpl.Optional
			}
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
	}
	view.Define(fields...)
	return view
}

// isPlaced reports whether a field is somewhere else than in the JSON of a body.
func isPlaced(info *thriftimpl.Info) bool {
	return slices.ContainsFunc(info.Annotations, func(a thriftimpl.Annotation) bool {
		return slices.Contains(placesOfFields, a.Name)
	})
}

func isJSONName(a thriftimpl.Annotation) bool { return a.Name == "json.name" || a.Name == "go.tag" }
