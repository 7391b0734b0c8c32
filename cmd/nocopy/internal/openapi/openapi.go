// Package openapi describes Thrift services over HTTP in OpenAPI 3.1: the routes that package
// gateway offers for the same IDL.
//
// routes.go finds routes and where fields are in requests, schemas.go writes types as JSON has
// them, operation.go puts both together, document.go has the types of OpenAPI.
package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Options are the facts that the IDL does not say.
type Options struct {
	Title   string
	Version string   // of the API
	Servers []string // their URLs
	Service []string // the names of services to describe; all if it is empty
}

// Document returns the description of the services in the files that were loaded. leftOut are the
// reasons why routes, or fields of them, are left out, since they can't be offered over HTTP. It
// is an error if nothing is left.
func Document(set *schema.Set, opt Options) (doc *Doc, leftOut []error, err error) {
	d := &Doc{
		OpenAPI: "3.1.0", Info: Info{Title: opt.Title, Version: opt.Version}, Paths: map[string]map[string]*Operation{},
		Components: Components{Schemas: map[string]*Schema{}},
	}
	for _, url := range opt.Servers {
		d.Servers = append(d.Servers, Server{url})
	}
	w := &writer{doc: d, names: namesOf(set), ids: map[string]bool{}, mux: http.NewServeMux(), routes: map[string]route{}}
	known := map[string]bool{}
	for _, p := range set.Roots {
		for _, s := range p.Services {
			known[s.Name] = true
			if len(opt.Service) > 0 && !slices.Contains(opt.Service, s.Name) {
				continue
			}
			w.service(s)
		}
	}
	for _, name := range opt.Service {
		if !known[name] {
			return nil, nil, fmt.Errorf("there is no service %s", name)
		}
	}
	switch {
	case len(d.Paths) == 0 && len(w.leftOut) > 0:
		return nil, nil, errors.Join(w.leftOut...)
	case len(d.Paths) == 0:
		return nil, nil, errors.New("the files have no service with methods")
	}
	w.problem()
	return d, w.leftOut, nil
}

// writer adds to a document.
type writer struct {
	doc   *Doc
	names map[any]string  // of structs and enums in components
	ids   map[string]bool // the operations' ids

	mux     *http.ServeMux   // finds routes that a gateway could not tell from others
	routes  map[string]route // by their patterns for mux
	leftOut []error
}

// namesOf returns the names of structs and enums: with the file's name before it, where a name is
// not the only one.
func namesOf(set *schema.Set) map[any]string {
	count := map[string]int{}
	each := func(f func(any, string, *schema.Program)) {
		for _, p := range set.Programs {
			for _, s := range p.Structs {
				f(s, s.Name, p)
			}
			for _, e := range p.Enums {
				f(e, e.Name, p)
			}
		}
	}
	each(func(_ any, name string, _ *schema.Program) { count[name]++ })
	names, taken := map[any]string{}, map[string]bool{problemName: true}
	each(func(d any, name string, p *schema.Program) {
		base := name
		if count[name] > 1 || taken[name] {
			base = p.Name + "." + name
		}
		base = strings.Map(func(r rune) rune {
			if r < 0x80 && (r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
				return r
			}
			return '_'
		}, base)
		name = base
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s-%d", base, i)
		}
		taken[name], names[d] = true, name
	})
	return names
}

const problemName = "Problem"

// problem adds the schema of answers that no method gives.
func (w *writer) problem() {
	text := &Schema{Type: "string"}
	w.doc.Components.Schemas[problemName] = &Schema{
		Type: "object", Description: "Why there is no result: the status in words, or the name of a declared exception with its fields.",
		Properties: map[string]*Schema{
			"error": text, "message": text, "path": text, "offset": {Type: "integer"}, "exception": {Type: "object"},
		},
		Required: []string{"error"},
	}
}
