package gateway

import "github.com/nocopythrift/nocopythrift/nocopy/descriptor"

// Route describes a method at a path, for pages and documents about a Gateway.
type Route struct {
	Service string
	Method  descriptor.Method
	Verb    string // such as "GET"; "" is any
	Path    string // as in the IDL: ":name" is a part of it, "*name" the rest
	Params  []Param
	// Body describes the JSON of the body. Fields that are elsewhere in a request have the annotation
	// go.tag = 'json:"-"'. It is not valid if the request has no such body.
	Body    descriptor.Struct
	RawBody bool // the body is one field's value
	// Returns describes the return value as Body does, if it is a struct; else it is not valid.
	Returns descriptor.Struct
	// Statuses are the HTTP statuses of declared exceptions, by the ids of their fields in the
	// result.
	Statuses map[int16]int
}

// Param is a field of a request that is elsewhere than in the JSON of its body. Structs, maps, and
// lists and sets of them or of lists, sets and maps, are JSON there.
type Param struct {
	In       string // "path", "query", "header", "cookie" or "form"
	Name     string
	Type     descriptor.Type
	Required bool
}

// Routes returns what the Gateway offers at the moment, in the order of the IDL.
func (g *Gateway) Routes() []Route {
	var all []Route
	for _, r := range g.table.Load().routes {
		all = append(all, r.describe())
	}
	return all
}

func (r *route) describe() Route {
	d := Route{Service: r.service, Method: r.method, Verb: r.verb, Path: r.path, Statuses: r.statuses}
	for _, p := range r.places {
		if len(p.sources) == 0 {
			continue
		}
		switch from := p.sources[0]; from.in {
		case "raw_body":
			d.RawBody = true
		case "path", "query", "header", "cookie", "form":
			d.Params = append(d.Params, Param{from.in, from.name, p.typ, p.required || from.in == "path"})
		}
	}
	if r.hasBody {
		d.Body = descriptor.StructOfDesc(r.root.desc)
	}
	if t, ok := r.method.Returns(); ok && t.Struct().Valid() {
		d.Returns = descriptor.StructOfDesc(viewOf(t.Struct().Desc()).desc)
	}
	return d
}
