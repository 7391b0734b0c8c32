package openapi

import (
	"fmt"
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
// POST /Service/method for each.
func (w *writer) service(s *schema.Service) error {
	w.doc.Tags = append(w.doc.Tags, Tag{s.Name, s.Doc})
	var functions []*schema.Function
	for b := s; b != nil; b = b.Extends {
		functions = slices.Concat(b.Functions, functions)
	}
	annotated := false
	for _, fn := range functions {
		for _, v := range verbs {
			for _, a := range fn.Annotations {
				if a.Key != v.annotation {
					continue
				}
				annotated = true
				for _, method := range v.methods {
					if err := w.route(s, fn, method, a.Value, false); err != nil {
						return fmt.Errorf("%s.%s (%s): %w", s.Name, fn.Name, v.annotation, err)
					}
				}
			}
		}
	}
	if annotated {
		return nil
	}
	for _, fn := range functions {
		if err := w.route(s, fn, "post", "/"+s.Name+"/"+fn.Name, true); err != nil {
			return fmt.Errorf("%s.%s: %w", s.Name, fn.Name, err)
		}
	}
	return nil
}

// route adds an operation.
func (w *writer) route(s *schema.Service, fn *schema.Function, method, path string, plain bool) error {
	template, inPath, err := templateOf(path)
	if err != nil {
		return err
	}
	op, err := w.operation(s, fn, method, inPath, plain)
	if err != nil {
		return err
	}
	if w.doc.Paths[template] == nil {
		w.doc.Paths[template] = map[string]*Operation{}
	}
	at := method + " " + template
	if other := w.doc.Paths[template][method]; other != nil && w.routes[at] != fn {
		return fmt.Errorf("%s is at %s %s, too", other.OperationID, strings.ToUpper(method), path)
	} else if other != nil {
		return nil // another service inherits it, too
	}
	w.routes[at] = fn
	w.doc.Paths[template][method] = op
	return nil
}

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
		case strings.HasPrefix(part, ":") && len(part) > 1, strings.HasPrefix(part, "*") && len(part) > 1 && last:
			if slices.Contains(names, part[1:]) {
				return "", nil, fmt.Errorf("path %q has two parts %q", path, part)
			}
			names = append(names, part[1:])
			parts[i] = "{" + part[1:] + "}"
		case part == "" && !last, strings.HasPrefix(part, ":"), strings.HasPrefix(part, "*"), part == ".", part == "..":
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

// fits reports whether values of a type can be in a source.
func fits(t *schema.Type, in string) bool {
	switch in {
	case "none":
		return true
	case "http_code":
		return t.Kind >= schema.I8 && t.Kind <= schema.I64 || t.Kind == schema.EnumKind
	case "raw_body":
		return t.Kind == schema.String || t.Kind == schema.Binary
	}
	if t.Kind == schema.List || t.Kind == schema.SetKind {
		t = t.Elem
	}
	return t.Kind <= schema.EnumKind
}

// place is a field that is elsewhere than in JSON.
type place struct {
	*schema.Field
	sources []source
}

// placer collects the places in a struct and in those nested in it.
type placer struct {
	all    []place
	around map[*schema.Struct]bool
	fields int
}

// maxFields is how many fields of nested structs are looked at, as in package gateway.
const maxFields = 10_000

func placesIn(s *schema.Struct) ([]place, error) {
	p := placer{around: map[*schema.Struct]bool{}}
	err := p.add(s, s.Name)
	return p.all, err
}

func (p *placer) add(s *schema.Struct, path string) error {
	if s.Shape == schema.IsUnion || p.around[s] {
		return nil
	}
	p.around[s] = true
	defer delete(p.around, s)
	for _, f := range s.Fields {
		if p.fields++; p.fields > maxFields {
			return fmt.Errorf("%s: more than %d fields in structs in structs", path, maxFields)
		}
		sources := sourcesOf(f)
		for _, from := range sources {
			if !fits(f.Type, from.in) {
				return fmt.Errorf("%s.%s is a %v: it can't be in api.%s", path, f.Name, f.Type, from.in)
			}
		}
		if len(sources) > 0 {
			p.all = append(p.all, place{f, sources})
		} else if f.Type.Kind == schema.StructKind {
			if err := p.add(f.Type.Struct, path+"."+f.Name); err != nil {
				return err
			}
		}
	}
	return nil
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
