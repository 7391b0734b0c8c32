package gateway

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// verbs are the annotations of methods, with the HTTP method of each; "" is any.
var verbs = []struct{ annotation, verb string }{
	{"api.get", "GET"}, {"api.post", "POST"}, {"api.put", "PUT"}, {"api.delete", "DELETE"}, {"api.patch", "PATCH"},
	{"api.options", "OPTIONS"}, {"api.head", "HEAD"}, {"api.any", ""},
}

// A route is a method of a service at a path.
type route struct {
	service string
	method  descriptor.Method
	verb    string // "" is any
	path    string // as the IDL has it
	backend rpc.Caller

	// root is the view of the struct that a request fills. That is the only argument, if it is a
	// struct. Otherwise it is the struct of arguments, and the JSON of the body has their names.
	root *view
	wrap int16 // the id of the argument that root is, 0 if root is the arguments

	places   []place
	jsonOnly string            // a required field that can only be in JSON, "" if none
	hasForm  bool              // a field may be in a form
	hasBody  bool              // the root has fields in the JSON of the body
	result   *view             // of the result, nil if the method is oneway
	answers  map[int16][]place // of the structs in the result, by their ids
	statuses map[int16]int     // of declared exceptions, likewise
}

// A place is a field that is somewhere else than in the JSON of a body.
type place struct {
	ids      []int16 // of the fields from the root to it
	name     string  // such as "Order.trace.request_id"
	typ      descriptor.Type
	required bool
	inJSON   bool // it may be in the JSON, too
	sources  []source
}

// A source is where a field's value may be: "path", "query", "header" and so on, and its name
// there.
type source struct{ in, name string }

// placesOfFields are the annotations of fields, in the order in which values are looked for.
var placesOfFields = []string{
	"api.path", "api.form", "api.query", "api.cookie", "api.header", "api.raw_body", "api.http_code", "api.none",
}

// routesOf returns the routes of all methods with an annotation of a path, and of all methods of
// services that have no such method. backends are the servers of the services, by their names.
func routesOf(schema *dynamic.Schema, backends map[string]rpc.Caller) ([]*route, error) {
	var all []*route
	for _, s := range schema.Services() {
		annotated := len(all)
		for m := range s.AllMethods() {
			for _, v := range verbs {
				for _, path := range valuesOf(m.Annotations(), v.annotation) {
					r, err := newRoute(s.Name(), m, v.verb, path, false)
					if err == nil && backends[s.Name()] == nil {
						err = errors.New("the service has no server")
					}
					if err != nil {
						return nil, fmt.Errorf("%s.%s (%s): %w", s.Name(), m.Name(), v.annotation, err)
					}
					r.backend = backends[s.Name()]
					all = append(all, r)
				}
			}
		}
		if len(all) > annotated || backends[s.Name()] == nil {
			continue
		}
		for m := range s.AllMethods() {
			r, err := newRoute(s.Name(), m, "POST", "/"+s.Name()+"/"+m.Name(), true)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", s.Name(), m.Name(), err)
			}
			r.backend = backends[s.Name()]
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no service has a server and methods")
	}
	return all, nil
}

// valuesOf returns the values of the annotations with a name, which may come several times.
func valuesOf(all iter.Seq[descriptor.Annotation], name string) (values []string) {
	for a := range all {
		if a.Name == name {
			values = append(values, a.Value)
		}
	}
	return values
}

// newRoute returns the route of a method. The body of a plain one has the arguments by their
// names, also if a struct is the only one.
func newRoute(service string, m descriptor.Method, verb, path string, plain bool) (*route, error) {
	r := &route{service: service, method: m, verb: verb, path: path, hasBody: plain, statuses: map[int16]int{}}
	request := m.Args()
	if request.NumFields() == 1 && !plain {
		if arg := request.Field(0); arg.Type().Struct().Valid() {
			request, r.wrap = arg.Type().Struct(), arg.ID()
		}
	}
	r.root = viewOf(request.Desc())
	var err error
	if r.places, err = placesIn(request); err != nil {
		return nil, err
	}
	bodiless := verb == "GET" || verb == "HEAD"
	for f := range request.Fields() {
		r.hasBody = r.hasBody || inJSON(f) && !bodiless
		switch sources := sourcesOf(f); {
		case len(sources) > 0:
		case bodiless && fits(f.Type(), "query"): // fields without an annotation are in the query
			r.places = append(r.places, newPlace(f, nil, request.Name(), []source{{"query", f.Name()}}))
		case f.Requiredness() == descriptor.Required:
			r.jsonOnly = request.Name() + "." + f.Name()
		}
	}
	for _, p := range r.places {
		for _, s := range p.sources {
			r.hasForm = r.hasForm || s.in == "form"
			if s.in == "path" && !slices.Contains(strings.Split(path, "/"), ":"+s.name) && !slices.Contains(strings.Split(path, "/"), "*"+s.name) {
				return nil, fmt.Errorf("%s is in the path, which has no :%s", p.name, s.name)
			}
		}
	}
	if m.Oneway() {
		return r, nil
	}
	r.result = viewOf(m.Result().Desc())
	r.answers = map[int16][]place{}
	for f := range m.Result().Fields() {
		if r.answers[f.ID()], err = placesIn(f.Type().Struct()); err != nil {
			return nil, err
		}
	}
	for f := range m.Throws() {
		status, err := statusOf(f)
		if err != nil {
			return nil, err
		}
		r.statuses[f.ID()] = status
	}
	return r, nil
}

// statusOf returns the status for a declared exception, by the annotation api.http_code of the
// exception or of its place after throws.
func statusOf(f descriptor.Field) (int, error) {
	text, ok := f.Annotation("api.http_code")
	if !ok {
		text, ok = f.Type().Struct().Annotation("api.http_code")
	}
	if !ok {
		return http.StatusInternalServerError, nil
	}
	status, err := strconv.Atoi(text)
	if err != nil || !isFinal(status) {
		return 0, fmt.Errorf("%s: api.http_code = %q is no status from 200 to 599", f.Type(), text)
	}
	return status, nil
}

// isFinal reports whether status is one that ends a request.
func isFinal(status int) bool { return status >= 200 && status <= 599 }

// sourcesOf returns the sources that a field's annotations name.
func sourcesOf(f descriptor.Field) (all []source) {
	for _, annotation := range placesOfFields {
		for _, name := range valuesOf(f.Annotations(), annotation) {
			all = append(all, source{strings.TrimPrefix(annotation, "api."), nameIn(name, f.Name())})
		}
	}
	return all
}

// nameIn returns the name that an annotation's value gives a field, which is the field's own if
// the annotation has no value: then the IDL's front end says 1.
func nameIn(value, field string) string {
	if value == "" || value == "1" {
		return field
	}
	return value
}

// inJSON reports whether a field may be in the JSON of a body.
func inJSON(f descriptor.Field) bool {
	_, ok := f.Annotation("api.body")
	return ok || len(sourcesOf(f)) == 0
}

// fits reports whether values of type t can be in a source: base types, as texts, and lists and
// sets of them, with commas in between.
func fits(t descriptor.Type, in string) bool {
	integer := t.Wire() >= nocopy.WireI8 && t.Wire() <= nocopy.WireI64 && t.Wire() != nocopy.WireDouble
	switch {
	case in == "none":
		return true
	case in == "http_code":
		return integer
	case in == "raw_body":
		return t.Wire() == nocopy.WireString
	case t.Wire() == nocopy.WireList || t.Wire() == nocopy.WireSet:
		return isBase(t.Elem())
	}
	return isBase(t)
}

func isBase(t descriptor.Type) bool {
	switch t.Wire() {
	case nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		return false
	}
	return true
}

// placesIn returns the places of the fields of a struct and of its nested structs.
func placesIn(s descriptor.Struct) ([]place, error) {
	if !s.Valid() {
		return nil, nil
	}
	if _, err := thriftimpl.JSONNames(viewOf(s.Desc()).desc); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), err)
	}
	p := placer{around: map[*thriftimpl.Desc]bool{}}
	if err := p.add(s, nil, s.Name()); err != nil {
		return nil, err
	}
	return p.all, nil
}

// A placer collects the places in a struct.
type placer struct {
	all    []place
	around map[*thriftimpl.Desc]bool // the structs that the present one is in
	fields int                       // that were looked at
}

const maxFields = 10_000

// add adds the places in s, to which path and ids lead from the root. A struct in itself is not
// looked at again.
func (p *placer) add(s descriptor.Struct, ids []int16, path string) error {
	if s.Desc().IsUnion() || p.around[s.Desc()] {
		return nil
	}
	p.around[s.Desc()] = true
	defer delete(p.around, s.Desc())
	for f := range s.Fields() {
		if p.fields++; p.fields > maxFields {
			return fmt.Errorf("%s: more than %d fields in structs in structs", path, maxFields)
		}
		at := newPlace(f, ids, path, sourcesOf(f))
		for _, from := range at.sources {
			if !fits(f.Type(), from.in) {
				return fmt.Errorf("%s is a %v: it can't be in api.%s", at.name, f.Type(), from.in)
			}
		}
		if len(at.sources) > 0 {
			p.all = append(p.all, at)
		} else if nested := f.Type().Struct(); nested.Valid() {
			if err := p.add(nested, at.ids, at.name); err != nil {
				return err
			}
		}
	}
	return nil
}

func newPlace(f descriptor.Field, ids []int16, path string, sources []source) place {
	return place{
		ids: append(slices.Clone(ids), f.ID()), name: path + "." + f.Name(), typ: f.Type(), sources: sources,
		required: f.Requiredness() == descriptor.Required, inJSON: inJSON(f),
	}
}
