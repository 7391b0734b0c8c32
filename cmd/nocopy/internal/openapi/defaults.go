package openapi

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// setDefaults sets the defaults of fields that are parameters, or in a form.
func setDefaults(op *Operation, body map[string]Media, places []place) {
	form := body["application/x-www-form-urlencoded"].Schema
	for _, p := range places {
		if p.Default == nil {
			continue
		}
		value := valueJSON(p.Default)
		if p.Type.Kind == schema.Binary && utf8.ValidString(p.Default.Text) { // not base64 here
			value = p.Default.Text
		}
		for _, from := range p.sources {
			for _, param := range op.Parameters {
				if param.Name == from.name && param.In == from.in && param.Schema != nil {
					param.Schema.Default = value
				}
			}
			if form != nil && from.in == "form" && form.Properties[from.name] != nil {
				form.Properties[from.name].Default = value
			}
		}
	}
}

// valueJSON returns a value as package nocopyjson writes it.
func valueJSON(v *schema.Value) any {
	switch v.Type.Kind {
	case schema.Bool:
		return v.Int != 0
	case schema.EnumKind:
		for _, e := range v.Type.Enum.Values {
			if int64(e.Value) == v.Int {
				return e.Name
			}
		}
		return v.Int
	case schema.Double:
		switch {
		case math.IsNaN(v.Double):
			return "NaN"
		case math.IsInf(v.Double, 1):
			return "Infinity"
		case math.IsInf(v.Double, -1):
			return "-Infinity"
		}
		return v.Double
	case schema.String:
		return v.Text
	case schema.Binary:
		return base64.StdEncoding.EncodeToString([]byte(v.Text))
	case schema.UUID:
		return nocopy.UUID([]byte(v.Text)).String()
	case schema.List, schema.SetKind:
		elems := []any{}
		for _, e := range v.Elems {
			elems = append(elems, valueJSON(e))
		}
		return elems
	case schema.Map:
		return mapJSON(v)
	case schema.StructKind:
		fields := map[string]any{}
		for _, f := range v.Fields {
			if in := f.Field.JSONName(); !in.Skip {
				fields[in.Name] = valueJSON(f.Value)
				if n, ok := fields[in.Name].(int64); ok && in.Quoted {
					fields[in.Name] = strconv.FormatInt(n, 10)
				}
			}
		}
		return fields
	}
	return v.Int
}

// mapJSON returns a map as an object, or as a list of pairs if its keys are structs or containers.
func mapJSON(v *schema.Value) any {
	switch v.Type.Key.Kind {
	case schema.StructKind, schema.List, schema.SetKind, schema.Map:
		pairs := []any{}
		for i, key := range v.Keys {
			pairs = append(pairs, []any{valueJSON(key), valueJSON(v.Elems[i])})
		}
		return pairs
	}
	entries := map[string]any{}
	for i, key := range v.Keys {
		name, ok := valueJSON(key).(string)
		if !ok {
			text, _ := json.Marshal(valueJSON(key))
			name = string(text)
		}
		entries[name] = valueJSON(v.Elems[i])
	}
	return entries
}
