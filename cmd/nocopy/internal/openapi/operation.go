package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

const (
	asJSON   = "application/json"
	asThrift = "application/x-thrift"
)

// operation returns the operation of a method for a method of HTTP. inPath are the names in the
// path. The body of a plain one has the arguments by their names, also if a struct is the only
// one.
func (w *writer) operation(s *schema.Service, fn *schema.Function, method string, inPath []string, plain bool) (*Operation, error) {
	op := &Operation{OperationID: w.id(s.Name+"."+fn.Name, method), Tags: []string{s.Name}, Responses: map[string]*Response{}}
	op.Summary, op.Description, _ = strings.Cut(fn.Doc, "\n")
	op.Description = strings.TrimSpace(op.Description)
	_, op.Deprecated = fn.Annotations.Get("deprecated")
	root, wrapped := fn.Args, false
	if len(root.Fields) == 1 && !plain && root.Fields[0].Type.Kind == schema.StructKind {
		root, wrapped = root.Fields[0].Type.Struct, true
	}
	places, err := placesIn(root)
	if err != nil {
		return nil, err
	}
	bodiless := method == "get" || method == "head"
	hasBody, needsBody := plain, false
	for _, f := range root.Fields {
		hasBody = hasBody || inJSON(f) && !bodiless
		switch {
		case len(sourcesOf(f)) > 0:
		case bodiless && fits(f.Type, "query"):
			places = append(places, place{f, []source{{"query", f.Name}}})
		case f.Req == schema.Required:
			needsBody = true
		}
	}
	for _, p := range places {
		for _, from := range p.sources {
			if from.in == "path" && !slices.Contains(inPath, from.name) {
				return nil, fmt.Errorf("%s is in the path, which has no :%s", p.Name, from.name)
			}
		}
	}
	form, raw := w.parameters(op, places, inPath)
	body := map[string]Media{}
	if hasBody {
		content := w.structRef
		if !wrapped {
			content = w.object
		}
		body[asJSON], body[asThrift] = Media{content(root, true)}, Media{}
	}
	if len(form.Properties) > 0 {
		body["application/x-www-form-urlencoded"], body["multipart/form-data"] = Media{form}, Media{form}
	}
	if raw && !hasBody {
		body["application/octet-stream"] = Media{}
	}
	if len(body) > 0 {
		op.RequestBody = &RequestBody{Required: needsBody, Content: body}
	}
	return op, w.responses(op, fn, method)
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
func (w *writer) parameters(op *Operation, places []place, inPath []string) (form *Schema, raw bool) {
	form = &Schema{Type: "object", Properties: map[string]*Schema{}}
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
				form.Properties[from.name] = w.text(p.Type)
				if only {
					form.Required = append(form.Required, from.name)
				}
			case from.in == "http_code" || from.in == "none":
			default:
				param := Parameter{Name: from.name, In: from.in, Description: p.Doc, Required: only || from.in == "path", Schema: w.text(p.Type)}
				if param.Schema.Type == "array" && (from.in == "query" || from.in == "cookie") {
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

// responses adds the answers of a method.
func (w *writer) responses(op *Operation, fn *schema.Function, method string) error {
	content := func(s *Schema) map[string]Media {
		if method == "head" {
			return nil
		}
		return map[string]Media{asJSON: {s}}
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
		var err error
		if places, err = placesIn(fn.Returns.Struct); err != nil {
			return err
		}
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
		if err := w.exception(op, f, content); err != nil {
			return err
		}
	}
	return nil
}

// exception adds the answer for a declared exception. Several may have the same status.
func (w *writer) exception(op *Operation, f *schema.Field, content func(*Schema) map[string]Media) error {
	status, err := statusOf(f)
	if err != nil {
		return err
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
			r.Content[asJSON] = Media{both}
		}
		both.AnyOf = append(both.AnyOf, thrown)
	}
	places, err := placesIn(s)
	for _, p := range places {
		w.answer(r, p)
	}
	return err
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
			r.Headers[to.name] = Header{p.Doc, w.text(p.Type)}
		case "http_code":
			status = true
		}
	}
	return status
}
