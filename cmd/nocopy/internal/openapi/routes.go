package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// verbs are the annotations of methods, with the methods of HTTP of each.
var verbs = []struct {
	annotation string
	methods    []string
}{
	{"api.get", []string{"get"}}, {"api.post", []string{"post"}}, {"api.put", []string{"put"}}, {"api.delete", []string{"delete"}},
	{"api.patch", []string{"patch"}}, {"api.options", []string{"options"}}, {"api.head", []string{"head"}},
	{"api.any", []string{"get", "post", "put", "delete", "patch", "options", "head"}},
}

// service adds the routes of a service: those of its methods' annotations or, if there are none,
// POST /Service/method for each. A route that package gateway leaves out is left out here, too.
func (w *writer) service(s *schema.Service) {
	w.doc.Tags = append(w.doc.Tags, Tag{s.Name, s.Doc})
	var functions []*schema.Function
	for b := s; b != nil; b = b.Extends {
		functions = slices.Concat(b.Functions, functions)
	}
	annotated := false
	for _, fn := range functions {
		for _, v := range verbs {
			for _, a := range fn.Annotations {
				if a.Key == v.annotation {
					annotated = true
					w.route(route{s, fn, v.annotation, a.Value}, v.methods)
				}
			}
		}
	}
	if annotated {
		return
	}
	for _, fn := range functions {
		w.route(route{s, fn, "", "/" + s.Name + "/" + fn.Name}, []string{"post"})
	}
}

// route is a method of a service at a path. Without an annotation, the body has the arguments by
// their names, also if a struct is the only one.
type route struct {
	*schema.Service
	fn         *schema.Function
	annotation string
	path       string
}

func (r *route) plain() bool { return r.annotation == "" }

// leaveOut notes why a route, or a field of it, is left out.
func (w *writer) leaveOut(r route, reasons ...error) {
	name := r.Name + "." + r.fn.Name
	if r.annotation != "" {
		name += " (" + r.annotation + ")"
	}
	for _, reason := range reasons {
		w.leftOut = append(w.leftOut, fmt.Errorf("%s: %w", name, reason))
	}
}

// route adds the operations of a route, one for each method of HTTP.
func (w *writer) route(r route, methods []string) {
	template, inPath, err := templateOf(r.path)
	var all []*Operation
	for i, method := range methods {
		op, reasons, unset := w.operation(r, method, inPath)
		if err != nil {
			reasons = slices.Insert(reasons, 0, err)
		}
		if len(reasons) > 0 {
			w.leaveOut(r, reasons...)
			return
		}
		if i == 0 {
			w.leaveOut(r, unset...)
		}
		all = append(all, op)
	}
	verb := strings.ToUpper(methods[0])
	if len(methods) > 1 {
		verb = ""
	}
	isNew, err := w.reserve(r, verb, template)
	if err != nil {
		r.annotation = ""
		w.leaveOut(r, err)
	}
	if !isNew {
		return
	}
	if w.doc.Paths[template] == nil {
		w.doc.Paths[template] = map[string]*Operation{}
	}
	for i, method := range methods {
		if other := w.doc.Paths[template][method]; other == nil || verb != "" { // api.any is for others
			all[i].OperationID = w.id(r.Name+"."+r.fn.Name, method)
			w.doc.Paths[template][method] = all[i]
		}
	}
}

// reserve reports whether a route is new: a method that several services inherit is that of the
// first. It returns an error if the mux of a gateway could not tell the route from another one.
func (w *writer) reserve(r route, verb, template string) (isNew bool, err error) {
	pattern := template
	if last := r.path[strings.LastIndexByte(r.path, '/')+1:]; strings.HasPrefix(last, "*") {
		pattern = strings.TrimSuffix(pattern, "}") + "...}"
	} else if last == "" {
		pattern += "{$}"
	}
	pattern = strings.TrimSpace(verb + " " + pattern)
	if other, ok := w.routes[pattern]; ok {
		if other.fn == r.fn {
			return false, nil
		}
		return false, fmt.Errorf("%s.%s is at %s, too", other.Name, other.fn.Name, strings.TrimSpace(verb+" "+r.path))
	}
	defer func() {
		if p := recover(); p != nil { // of the mux
			text, _, _ := strings.Cut(registered.ReplaceAllString(fmt.Sprint(p), ""), ":\n")
			isNew, err = false, errors.New(text)
		}
	}()
	w.mux.HandleFunc(pattern, http.NotFound)
	w.routes[pattern] = r
	return true, nil
}

// registered is the part of the mux's texts that names a line of this file.
var registered = regexp.MustCompile(` \(registered at [^)]*\)`)

// templateOf returns a path such as /v1/keys/:key or /files/*name as OpenAPI has it, and the names
// in it.
func templateOf(path string) (template string, names []string, err error) {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "{} \t\r\n?#") {
		return "", nil, fmt.Errorf("path %q does not begin with a slash, or has one of the characters {} ?#", path)
	}
	parts := strings.Split(path[1:], "/")
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case strings.HasPrefix(part, ":"), strings.HasPrefix(part, "*") && last:
			names = append(names, part[1:])
			parts[i] = "{" + part[1:] + "}"
		case part == "" && !last, strings.HasPrefix(part, "*"), part == ".", part == "..":
			return "", nil, fmt.Errorf("path %q can't have a part %q here", path, part)
		}
	}
	return "/" + strings.Join(parts, "/"), names, nil
}

// placesOfFields are the annotations of fields, in the order in which values are looked for.
var placesOfFields = []string{
	"api.path", "api.form", "api.query", "api.cookie", "api.header", "api.raw_body", "api.http_code", "api.none",
}

// source is where a field's value may be: "path", "query", "header" and so on, and its name there.
type source struct{ in, name string }

// sourcesOf returns the sources that a field's annotations name.
func sourcesOf(f *schema.Field) (all []source) {
	for _, key := range placesOfFields {
		for _, a := range f.Annotations {
			if a.Key == key {
				all = append(all, source{strings.TrimPrefix(key, "api."), nameIn(a.Value, f.Name)})
			}
		}
	}
	return all
}

// nameIn returns the name that an annotation's value gives a field: the field's own, if the
// annotation has no value, which then is 1.
func nameIn(value, field string) string {
	if value == "" || value == "1" {
		return field
	}
	return value
}

// inJSON reports whether a field may be in the JSON of a body.
func inJSON(f *schema.Field) bool {
	_, ok := f.Annotations.Get("api.body")
	return ok || len(sourcesOf(f)) == 0
}

// fits reports whether values of a type can be in a source. Where texts are, all can.
func fits(t *schema.Type, in string) bool {
	switch in {
	case "http_code":
		return t.Kind >= schema.I8 && t.Kind <= schema.I64 || t.Kind == schema.EnumKind
	case "raw_body":
		return t.Kind == schema.String || t.Kind == schema.Binary
	}
	return true
}

// isText reports whether the texts of values of a type are not JSON.
func isText(t *schema.Type) bool {
	if t.Kind == schema.List || t.Kind == schema.SetKind {
		t = t.Elem
	}
	return t.Kind <= schema.EnumKind
}

// place is a field that is elsewhere than in JSON.
type place struct {
	*schema.Field
	name    string // such as "Order.trace.request_id"
	nested  bool   // in a struct of the root
	sources []source
}

// errNeverSet is the reason why no request sets a field, if that is what the IDL asks for.
var errNeverSet = errors.New("api.none and api.http_code are not for requests")

// settable returns the possible sources of requests to a path with these names. If there are none,
// reason says why.
func (p *place) settable(inPath []string) (sources []source, reason error) {
	reason = errNeverSet
	for _, s := range p.sources {
		switch {
		case s.in == "none" || s.in == "http_code":
		case s.in == "path" && !slices.Contains(inPath, s.name):
			reason = fmt.Errorf("it is in the path, which has no %q", ":"+s.name)
		default:
			sources = append(sources, s)
		}
	}
	return sources, reason
}

// placer collects the places in a struct and in those nested in it.
type placer struct {
	bodiless bool
	all      []place
	reasons  []error
	around   map[*schema.Struct]bool
	fields   int
}

// maxFields is how many fields of nested structs are looked at, as in package gateway.
const maxFields = 10_000

// placesIn returns the places in a struct. In a request without a body, the fields of the struct
// that have no annotation are in the query. The reasons are all that is wrong.
func placesIn(s *schema.Struct, bodiless bool) (all []place, reasons []error) {
	p := placer{bodiless: bodiless, around: map[*schema.Struct]bool{}}
	p.add(s, s.Name, false)
	return p.all, p.reasons
}

func (p *placer) add(s *schema.Struct, path string, nested bool) {
	if s.Shape == schema.IsUnion || p.around[s] || p.fields > maxFields {
		return
	}
	p.around[s] = true
	defer delete(p.around, s)
	for _, f := range s.Fields {
		if p.fields++; p.fields > maxFields {
			p.reasons = append(p.reasons, fmt.Errorf("%s: more than %d fields in structs in structs", path, maxFields))
			return
		}
		at := place{f, path + "." + f.Name, nested, sourcesOf(f)}
		if len(at.sources) == 0 && p.bodiless && !nested {
			at.sources = []source{{"query", f.Name}}
		}
		isNone := false
		for _, from := range at.sources {
			isNone = isNone || from.in == "none"
			if !fits(f.Type, from.in) {
				p.reasons = append(p.reasons, fmt.Errorf("%s is of type %v: it can't be in api.%s", at.name, f.Type, from.in))
			}
		}
		if len(at.sources) > 0 {
			p.all = append(p.all, at)
		}
		if f.Type.Kind == schema.StructKind && !isNone {
			p.add(f.Type.Struct, at.name, true)
		}
	}
}

// statusOf returns the status for a declared exception.
func statusOf(f *schema.Field) (string, error) {
	text, ok := f.Annotations.Get("api.http_code")
	if !ok {
		text, ok = f.Type.Struct.Annotations.Get("api.http_code")
	}
	if !ok {
		return "500", nil
	}
	if n, err := strconv.Atoi(text); err != nil || n < 200 || n > 599 {
		return "", fmt.Errorf("%s: api.http_code = %q is no status from 200 to 599", f.Type, text)
	}
	return text, nil
}
