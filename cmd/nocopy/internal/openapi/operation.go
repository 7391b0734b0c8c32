package openapi

import (
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

const (
	asJSON   = "application/json"
	asThrift = "application/x-thrift"
)

// operation returns the operation of a route for a method of HTTP, without its id. inPath are the
// names in the path. reasons lists all mistakes, unset says why fields are never set.
func (w *writer) operation(r route, method string, inPath []string) (op *Operation, reasons, unset []error) {
	fn := r.fn
	op = &Operation{Tags: []string{r.Name}, Responses: map[string]*Response{}}
	op.Summary, op.Description, _ = strings.Cut(fn.Doc, "\n")
	op.Description = strings.TrimSpace(op.Description)
	_, op.Deprecated = fn.Annotations.Get("deprecated")
	root, wrapped := fn.Args, false
	if len(root.Fields) == 1 && !r.plain() && root.Fields[0].Type.Kind == schema.StructKind {
		root, wrapped = root.Fields[0].Type.Struct, true
	}
	bodiless := method == "get" || method == "head"
	hasBody, needsBody := r.plain(), false
	for _, f := range root.Fields {
		hasBody = hasBody || inJSON(f) && !bodiless
		needsBody = needsBody || len(sourcesOf(f)) == 0 && !bodiless && f.Req == schema.Required
	}
	all, reasons := placesIn(root, bodiless)
	places, wrong, unset := settablePlaces(all, inPath, hasBody)
	reasons = append(reasons, wrong...)
	form, raw := w.parameters(op, places, inPath)
	body := map[string]Media{}
	if hasBody {
		content := w.structRef
		if !wrapped {
			content = w.object
		}
		body[asJSON], body[asThrift] = Media{Schema: content(root, true)}, Media{}
	}
	if len(form.Schema.Properties) > 0 {
		body["application/x-www-form-urlencoded"], body["multipart/form-data"] = form, form
	}
	if raw && !hasBody {
		body["application/octet-stream"] = Media{}
	}
	setDefaults(op, body, places)
	if len(body) > 0 {
		op.RequestBody = &RequestBody{Required: needsBody, Content: body}
	}
	return op, append(reasons, w.responses(op, fn, method)...), unset
}

// settablePlaces returns the places that requests can set. hasBody says that there is a body. The
// reasons are all that is wrong with other places, and unset those why fields are never set.
func settablePlaces(all []place, inPath []string, hasBody bool) (places []place, reasons, unset []error) {
	for _, p := range all {
		sources, reason := p.settable(inPath)
		switch inBody := inJSON(p.Field) && (hasBody || p.nested); {
		case len(sources) > 0 || inBody:
			p.sources = sources
			places = append(places, p)
		case p.Req == schema.Required:
			reasons = append(reasons, fmt.Errorf("%s is required, but can't be set: %w", p.name, reason))
		case reason != errNeverSet:
			unset = append(unset, fmt.Errorf("%s is never set: %w; the rest is offered", p.name, reason))
		}
	}
	return places, reasons, unset
}

// id returns an id that no other operation has.
func (w *writer) id(id, method string) string {
	if w.ids[id] {
		id += "." + method
	}
	base := id
	for i := 2; w.ids[id]; i++ {
		id = fmt.Sprintf("%s.%d", base, i)
	}
	w.ids[id] = true
	return id
}

// parameters adds the parameters of places and those in the path that no field has. It returns the
// fields of a form, and whether a field is the whole body.
func (w *writer) parameters(op *Operation, places []place, inPath []string) (form Media, raw bool) {
	form = Media{Schema: &Schema{Type: "object", Properties: map[string]*Schema{}}, Encoding: map[string]Encoding{}}
	seen := map[source]bool{}
	for _, p := range places {
		only := len(p.sources) == 1 && p.Req == schema.Required && !inJSON(p.Field)
		for _, from := range p.sources {
			switch {
			case seen[from]:
				continue
			case from.in == "raw_body":
				raw = true
			case from.in == "form":
				form.Schema.Properties[from.name] = w.text(p.Type)
				if !isText(p.Type) {
					form.Encoding[from.name] = Encoding{asJSON}
				}
				if only {
					form.Schema.Required = append(form.Schema.Required, from.name)
				}
			default:
				param := Parameter{Name: from.name, In: from.in, Description: p.Doc, Required: only || from.in == "path"}
				if param.Schema = w.text(p.Type); !isText(p.Type) {
					param.Schema, param.Content = nil, map[string]Media{asJSON: {Schema: param.Schema}}
				} else if param.Schema.Type == "array" && (from.in == "query" || from.in == "cookie") {
					param.Style, param.Explode = "form", new(bool)
				}
				op.Parameters = append(op.Parameters, param)
			}
			seen[from] = true
		}
	}
	for _, name := range inPath {
		if !seen[source{"path", name}] {
			op.Parameters = append(op.Parameters, Parameter{Name: name, In: "path", Required: true, Schema: &Schema{Type: "string"}})
		}
	}
	return form, raw
}

// responses adds the answers of a method. It returns all that is wrong with them.
func (w *writer) responses(op *Operation, fn *schema.Function, method string) (reasons []error) {
	content := func(s *Schema) map[string]Media {
		if method == "head" {
			return nil
		}
		return map[string]Media{asJSON: {Schema: s}}
	}
	op.Responses["default"] = &Response{Description: "There is no result.", Content: content(ref(problemName))}
	if fn.Oneway {
		op.Responses["202"] = &Response{Description: "The call was sent.", Content: content(&Schema{Type: "object"})}
		return nil
	}
	done := &Response{Description: "The method has returned."}
	var places []place
	switch {
	case fn.Returns == nil:
		done.Content = content(&Schema{Type: "object"})
	case fn.Returns.Kind == schema.StructKind:
		places, reasons = placesIn(fn.Returns.Struct, false)
		done.Content = content(w.structRef(fn.Returns.Struct, true))
	default:
		done.Content = content(&Schema{Type: "object", Properties: map[string]*Schema{"success": w.typ(fn.Returns, false)}, Required: []string{"success"}})
	}
	op.Responses["200"] = done
	for _, p := range places {
		if w.answer(done, p) {
			op.Responses["2XX"] = done
		}
	}
	for _, f := range fn.Result.Fields {
		if f.ID == 0 && fn.Returns != nil {
			continue
		}
		reasons = append(reasons, w.exception(op, f, content)...)
	}
	return reasons
}

// exception adds the answer for a declared exception. Several may have the same status. It returns
// all that is wrong.
func (w *writer) exception(op *Operation, f *schema.Field, content func(*Schema) map[string]Media) []error {
	places, reasons := placesIn(f.Type.Struct, false)
	status, err := statusOf(f)
	if err != nil {
		return append(reasons, err)
	}
	s := f.Type.Struct
	thrown := &Schema{
		Type:       "object",
		Properties: map[string]*Schema{"error": {Type: "string", Const: s.Name}, "exception": w.structRef(s, true)},
		Required:   []string{"error", "exception"},
	}
	r := op.Responses[status]
	switch {
	case r == nil:
		r = &Response{Description: s.Name, Content: content(thrown)}
		op.Responses[status] = r
	case r.Content != nil:
		r.Description += ", " + s.Name
		both := r.Content[asJSON].Schema
		if both.AnyOf == nil {
			both = &Schema{AnyOf: []*Schema{both}}
			r.Content[asJSON] = Media{Schema: both}
		}
		both.AnyOf = append(both.AnyOf, thrown)
	}
	for _, p := range places {
		w.answer(r, p)
	}
	return reasons
}

// answer adds a field of a result that is in the header. It reports whether the field is the
// status.
func (w *writer) answer(r *Response, p place) (status bool) {
	for _, to := range p.sources {
		switch to.in {
		case "header":
			if r.Headers == nil {
				r.Headers = map[string]Header{}
			}
			h := Header{Description: p.Doc, Schema: w.text(p.Type)}
			if !isText(p.Type) {
				h.Schema, h.Content = nil, map[string]Media{asJSON: {Schema: h.Schema}}
			}
			r.Headers[to.name] = h
		case "http_code":
			status = true
		}
	}
	return status
}
