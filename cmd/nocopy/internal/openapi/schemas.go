package openapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// typ returns the schema of a type in JSON. In a view, which the root of a body and the structs in
// it have, fields may be elsewhere than in the JSON.
func (w *writer) typ(t *schema.Type, view bool) *Schema {
	switch t.Kind {
	case schema.List, schema.SetKind:
		return &Schema{Type: "array", Items: w.typ(t.Elem, false)}
	case schema.Map:
		switch t.Key.Kind {
		case schema.StructKind, schema.List, schema.SetKind, schema.Map:
			pair := []*Schema{w.typ(t.Key, false), w.typ(t.Elem, false)}
			return &Schema{Type: "array", Items: &Schema{Type: "array", PrefixItems: pair, MinItems: 2, MaxItems: 2}}
		}
		return &Schema{Type: "object", AdditionalProperties: w.typ(t.Elem, false)}
	case schema.StructKind:
		return w.structRef(t.Struct, view)
	case schema.EnumKind:
		return w.enumRef(t.Enum)
	case schema.Binary:
		return &Schema{Type: "string", ContentEncoding: "base64"}
	case schema.Double:
		return &Schema{AnyOf: []*Schema{{Type: "number", Format: "double"}, {Type: "string", Enum: []string{"NaN", "Infinity", "-Infinity"}}}}
	}
	return text(t)
}

// text returns the schema of a value in a header or the like: a text of a base type, or of a list
// of them. Others are JSON.
func (w *writer) text(t *schema.Type) *Schema {
	if !isText(t) {
		return w.typ(t, true)
	}
	switch t.Kind {
	case schema.List, schema.SetKind:
		return &Schema{Type: "array", Items: w.text(t.Elem)}
	case schema.EnumKind:
		return w.enumRef(t.Enum)
	case schema.Binary:
		return &Schema{Type: "string"}
	case schema.Double:
		return &Schema{Type: "number", Format: "double"}
	}
	return text(t)
}

// text returns the schema of a type that is the same everywhere.
func text(t *schema.Type) *Schema {
	between := func(bits uint) *Schema {
		low, high := -int64(1)<<(bits-1), int64(1)<<(bits-1)-1
		return &Schema{Type: "integer", Minimum: &low, Maximum: &high}
	}
	switch t.Kind {
	case schema.Bool:
		return &Schema{Type: "boolean"}
	case schema.I8:
		return between(8)
	case schema.I16:
		return between(16)
	case schema.I32:
		return &Schema{Type: "integer", Format: "int32"}
	case schema.I64:
		return &Schema{Type: "integer", Format: "int64"}
	case schema.UUID:
		return &Schema{Type: "string", Format: "uuid"}
	}
	return &Schema{Type: "string"}
}

func ref(name string) *Schema { return &Schema{Ref: "#/components/schemas/" + name} }

// enumRef returns a reference to the schema of an enum: names, or numbers that have none.
func (w *writer) enumRef(e *schema.Enum) *Schema {
	name := w.names[e]
	if w.doc.Components.Schemas[name] == nil {
		var names []string
		for _, v := range e.Values {
			names = append(names, v.Name)
		}
		s := &Schema{Description: e.Doc, AnyOf: []*Schema{{Type: "integer", Format: "int32"}}}
		if len(names) > 0 {
			s.AnyOf = slices.Insert(s.AnyOf, 0, &Schema{Type: "string", Enum: names})
		}
		w.doc.Components.Schemas[name] = s
	}
	return ref(name)
}

// structRef returns a reference to the schema of a struct. One that looks different in a view than
// in lists, maps and unions has two.
func (w *writer) structRef(s *schema.Struct, view bool) *Schema {
	name := w.names[s]
	if !view && differs(s, map[*schema.Struct]bool{}) {
		name += ".plain"
	}
	if w.doc.Components.Schemas[name] == nil {
		made := &Schema{}
		w.doc.Components.Schemas[name] = made // before the fields, since one may have it again
		*made = *w.object(s, view)
		made.Description = s.Doc
	}
	return ref(name)
}

// differs reports whether a struct, or one in it, has fields that a view has in other places.
func differs(s *schema.Struct, seen map[*schema.Struct]bool) bool {
	if seen[s] || s.Shape == schema.IsUnion {
		return false
	}
	seen[s] = true
	return slices.ContainsFunc(s.Fields, func(f *schema.Field) bool {
		return slices.ContainsFunc(f.Annotations, func(a schema.Annotation) bool { return strings.HasPrefix(a.Key, "api.") }) ||
			f.Type.Kind == schema.StructKind && differs(f.Type.Struct, seen)
	})
}

// object returns the schema of the fields of a struct.
func (w *writer) object(s *schema.Struct, view bool) *Schema {
	made := &Schema{Type: "object", Properties: map[string]*Schema{}, AdditionalProperties: false}
	view = view && s.Shape != schema.IsUnion
	if s.Shape == schema.IsUnion {
		made.MaxProperties = 1
	}
	for _, f := range s.Fields {
		in := f.JSONName()
		name, quoted, skip := in.Name, in.Quoted, in.Skip
		required := f.Req == schema.Required
		if view {
			placed := len(sourcesOf(f)) > 0
			required = required && !placed
			if called, ok := f.Annotations.Get("api.body"); ok {
				name, skip = nameIn(called, name), false
			} else if placed {
				skip = true
			}
			_, asString := f.Annotations.Get("api.js_conv")
			quoted = quoted || asString
		}
		if skip {
			continue
		}
		typ := w.typ(f.Type, view)
		if quoted && typ.Type == "integer" {
			typ.Type = []string{"string", "integer"}
		}
		typ.Description = joined(f.Doc, typ.Description)
		if f.Default != nil {
			typ.Default = valueJSON(f.Default)
			if n, ok := typ.Default.(int64); ok && quoted {
				typ.Default = strconv.FormatInt(n, 10)
			}
		}
		made.Properties[name] = typ
		if required {
			made.Required = append(made.Required, name)
		}
	}
	return made
}

// joined returns the first text that is not empty.
func joined(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
