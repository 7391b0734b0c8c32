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
	box      *thriftimpl.Desc // of values whose text is JSON, else nil
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
// services that have no such method. leftOut are the reasons why routes or fields are left out.
// backends are the servers of the services, by their names. A service that others extend needs
// none.
func routesOf(schema *dynamic.Schema, backends map[string]rpc.Caller) (all []*route, leftOut []error, err error) {
	c := collector{backends: backends, bases: map[string]bool{}}
	for _, s := range schema.Services() {
		if base, ok := s.Base(); ok {
			c.bases[base.Name()] = true
		}
	}
	for _, s := range schema.Services() {
		if c.annotated(s) || backends[s.Name()] == nil {
			continue
		}
		for m := range s.AllMethods() {
			c.add(s, m, "", "POST", "/"+s.Name()+"/"+m.Name())
		}
	}
	return c.all, c.leftOut, errors.Join(c.unserved...)
}

// collector collects the routes of services.
type collector struct {
	backends map[string]rpc.Caller // of the services, by their names
	bases    map[string]bool       // services that others extend
	all      []*route
	leftOut  []error // why routes or fields are left out
	unserved []error // routes of services that need a server and have none
}

// annotated adds the routes that annotations of the service's methods declare, and reports whether
// there are any.
func (c *collector) annotated(s dynamic.Service) (found bool) {
	for m := range s.AllMethods() {
		for _, v := range verbs {
			for _, path := range valuesOf(m.Annotations(), v.annotation) {
				found = true
				if c.backends[s.Name()] != nil {
					c.add(s, m, v.annotation, v.verb, path)
				} else if !c.bases[s.Name()] {
					c.unserved = append(c.unserved, reasonOf(s.Name(), m, v.annotation, errors.New("the service has no server")))
				}
			}
		}
	}
	return found
}

// add adds a route of method m. annotation is the name of the annotation that declares it, or "".
func (c *collector) add(s dynamic.Service, m descriptor.Method, annotation, verb, path string) {
	r, reasons := newRoute(s.Name(), m, verb, path, annotation == "")
	for _, reason := range reasons {
		c.leftOut = append(c.leftOut, reasonOf(s.Name(), m, annotation, reason))
	}
	if r != nil {
		r.backend = c.backends[s.Name()]
		c.all = append(c.all, r)
	}
}

// reasonOf returns the error that says why a route is left out.
func reasonOf(service string, m descriptor.Method, annotation string, reason error) error {
	if annotation == "" {
		return fmt.Errorf("%s.%s: %w", service, m.Name(), reason)
	}
	return fmt.Errorf("%s.%s (%s): %w", service, m.Name(), annotation, reason)
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

// newRoute returns the route of a method. The body of a plain route has the arguments by their
// names, even if a struct is the only one. If the route is nil, the reasons list all its mistakes.
// Otherwise they say why some fields are never set.
func newRoute(service string, m descriptor.Method, verb, path string, plain bool) (r *route, reasons []error) {
	r = &route{service: service, method: m, verb: verb, path: path, hasBody: plain, statuses: map[int16]int{}}
	request := m.Args()
	if request.NumFields() == 1 && !plain {
		if arg := request.Field(0); arg.Type().Struct().Valid() {
			request, r.wrap = arg.Type().Struct(), arg.ID()
		}
	}
	r.root = viewOf(request.Desc())
	bodiless := verb == "GET" || verb == "HEAD"
	if !bodiless {
		r.addBody(request)
	}
	if _, err := patternOf(path); err != nil {
		reasons = append(reasons, err)
	}
	all, wrong := placesIn(request, bodiless)
	reasons = append(reasons, wrong...)
	wrong, unset := r.addPlaces(all)
	reasons = append(reasons, wrong...)
	if !m.Oneway() {
		reasons = append(reasons, r.addAnswers()...)
	}
	if len(reasons) > 0 {
		return nil, reasons
	}
	return r, unset
}

// addBody adds what the fields of a request say about bodies.
func (r *route) addBody(request descriptor.Struct) {
	for f := range request.Fields() {
		r.hasBody = r.hasBody || inJSON(f)
		if len(sourcesOf(f)) == 0 && f.Requiredness() == descriptor.Required {
			r.jsonOnly = request.Name() + "." + f.Name()
		}
	}
}

// addPlaces adds the places that requests can set. reasons lists the mistakes in the others, unset
// says why fields are never set.
func (r *route) addPlaces(all []place) (reasons, unset []error) {
	for _, p := range all {
		sources, reason := p.settable(r.path)
		switch inBody := p.inJSON && (r.hasBody || len(p.ids) > 1); {
		case len(sources) > 0 || inBody:
			p.sources = sources
			r.places = append(r.places, p)
		case p.required:
			reasons = append(reasons, fmt.Errorf("%s is required, but can't be set: %w", p.name, reason))
		case reason != errNeverSet:
			unset = append(unset, fmt.Errorf("%s is never set: %w; the rest is offered", p.name, reason))
		}
	}
	for _, p := range r.places {
		for _, s := range p.sources {
			r.hasForm = r.hasForm || s.in == "form"
		}
	}
	return reasons, unset
}

// addAnswers adds what answers need. reasons lists the mistakes in the types of the result and the
// exceptions.
func (r *route) addAnswers() (reasons []error) {
	r.result = viewOf(r.method.Result().Desc())
	r.answers = map[int16][]place{}
	for f := range r.method.Result().Fields() {
		places, wrong := placesIn(f.Type().Struct(), false)
		r.answers[f.ID()] = places
		reasons = append(reasons, wrong...)
	}
	for f := range r.method.Throws() {
		status, err := statusOf(f)
		if err != nil {
			reasons = append(reasons, err)
		}
		r.statuses[f.ID()] = status
	}
	return reasons
}

// errNeverSet is the reason why no request sets a field, if that is what the IDL asks for.
var errNeverSet = errors.New("api.none and api.http_code are not for requests")

// settable returns the sources that requests at a path can have. If there are none, the reason
// says why.
func (p *place) settable(path string) (sources []source, reason error) {
	reason = errNeverSet
	parts := strings.Split(path, "/")
	for _, s := range p.sources {
		switch {
		case s.in == "none" || s.in == "http_code":
		case s.in == "path" && !slices.Contains(parts, ":"+s.name) && !slices.Contains(parts, "*"+s.name):
			reason = fmt.Errorf("it is in the path, which has no %q", ":"+s.name)
		default:
			sources = append(sources, s)
		}
	}
	return sources, reason
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

// fits reports whether values of type t can be in a source. Where texts are, all can.
func fits(t descriptor.Type, in string) bool {
	switch in {
	case "http_code":
		return t.WireType() >= nocopy.WireI8 && t.WireType() <= nocopy.WireI64 && t.WireType() != nocopy.WireDouble
	case "raw_body":
		return t.WireType() == nocopy.WireString
	}
	return true
}

// isText reports whether the texts of values of type t are not JSON: those of base types, and of
// lists and sets of them, which have commas in between.
func isText(t descriptor.Type) bool {
	if t.WireType() == nocopy.WireList || t.WireType() == nocopy.WireSet {
		t = t.Elem()
	}
	switch t.WireType() {
	case nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		return false
	}
	return true
}

// placesIn returns the places of the fields of a struct and of its nested structs. In a request
// without a body, the fields of the struct that have no annotation are in the query. The reasons
// are all that is wrong.
func placesIn(s descriptor.Struct, bodiless bool) (all []place, reasons []error) {
	if !s.Valid() {
		return nil, nil
	}
	if _, err := thriftimpl.JSONNames(viewOf(s.Desc()).desc); err != nil {
		reasons = append(reasons, fmt.Errorf("%s: %w", s.Name(), err))
	}
	p := placer{bodiless: bodiless, around: map[*thriftimpl.Desc]bool{}, reasons: reasons}
	p.add(s, nil, s.Name())
	return p.all, p.reasons
}

// A placer collects the places in a struct.
type placer struct {
	bodiless bool
	all      []place
	reasons  []error
	around   map[*thriftimpl.Desc]bool // the structs that the present one is in
	fields   int                       // that were looked at
}

const maxFields = 10_000

// add adds the places in s, to which path and ids lead from the root. A struct in itself is not
// looked at again. The place of a struct comes before those in it: they are set in the struct that
// is there.
func (p *placer) add(s descriptor.Struct, ids []int16, path string) {
	if s.Desc().IsUnion() || p.around[s.Desc()] || p.fields > maxFields {
		return
	}
	p.around[s.Desc()] = true
	defer delete(p.around, s.Desc())
	for f := range s.Fields() {
		if p.fields++; p.fields > maxFields {
			p.reasons = append(p.reasons, fmt.Errorf("%s: more than %d fields in structs in structs", path, maxFields))
			return
		}
		at := place{
			ids: append(slices.Clone(ids), f.ID()), name: path + "." + f.Name(), typ: f.Type(), sources: sourcesOf(f),
			required: f.Requiredness() == descriptor.Required, inJSON: inJSON(f),
		}
		if len(at.sources) == 0 && p.bodiless && ids == nil {
			at.sources = []source{{"query", f.Name()}}
		}
		isNone := false
		for _, from := range at.sources {
			isNone = isNone || from.in == "none"
			if !fits(f.Type(), from.in) {
				p.reasons = append(p.reasons, fmt.Errorf("%s is of type %v: it can't be in api.%s", at.name, f.Type(), from.in))
			}
		}
		if len(at.sources) > 0 {
			if !isText(f.Type()) {
				at.box = boxOf(s.Desc(), f.ID())
			}
			p.all = append(p.all, at)
		}
		if nested := f.Type().Struct(); nested.Valid() && !isNone {
			p.add(nested, at.ids, at.name)
		}
	}
}
