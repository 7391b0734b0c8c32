package invoke

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Pairs adds key=value arguments to a JSON object, which may be empty, and returns it. They
// replace what the object has there. What a value means depends on the argument's type.
func (m *Method) Pairs(text []byte, pairs []string) ([]byte, error) {
	if len(pairs) == 0 {
		return text, nil
	}
	all := map[string]any{}
	if len(strings.TrimSpace(string(text))) > 0 {
		var given map[string]json.RawMessage
		if err := json.Unmarshal(text, &given); err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", m, err)
		}
		for k, v := range given {
			all[k] = v
		}
	}
	for _, pair := range pairs {
		if err := m.put(all, pair); err != nil {
			return nil, fmt.Errorf("argument %.100s: %w", pair, err)
		}
	}
	return json.Marshal(all)
}

// put sets what key=value says in an object.
func (m *Method) put(into map[string]any, pair string) error {
	key, value, ok := strings.Cut(pair, "=")
	if !ok {
		return fmt.Errorf("it is not as key=value")
	}
	isJSON := strings.HasSuffix(key, ":")
	key = strings.TrimSuffix(key, ":")
	if name, ok := strings.CutPrefix(value, "@"); ok && !isJSON {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		value = string(b)
	}
	if m.idl == nil {
		return putRaw(into, key, value, isJSON)
	}
	d := m.desc.Args()
	path := strings.Split(key, ".")
	for i, part := range path {
		f, name, err := fieldOf(d, part)
		if err != nil {
			return err
		}
		if i == len(path)-1 {
			v, err := valueJSON(f.Type(), value, isJSON)
			into[name] = v
			return err
		}
		if d = f.Type().Struct(); !d.Valid() {
			return fmt.Errorf("%s is a %s and has no fields", part, f.Type())
		}
		inner, err := object(into[name])
		if err != nil {
			return err
		}
		into[name], into = inner, inner
	}
	return nil
}

// object returns v as an object that can be changed.
func object(v any) (map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case json.RawMessage:
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(v, &fields); err != nil {
			return nil, err
		}
		all := map[string]any{}
		for k, f := range fields {
			all[k] = f
		}
		return all, nil
	}
	return map[string]any{}, nil
}

// fieldOf returns a field of a struct, and its name in JSON.
func fieldOf(d descriptor.Struct, name string) (descriptor.Field, string, error) {
	names, _ := thriftimpl.JSONNames(d.Desc())
	for i := range d.NumFields() {
		if f := d.Field(i); f.Name() == name || names[i].Name == name {
			return f, names[i].Name, nil
		}
	}
	var known []string
	for f := range d.Fields() {
		known = append(known, f.Type().String()+" "+f.Name())
	}
	if len(known) == 0 {
		return descriptor.Field{}, "", fmt.Errorf("there are no arguments")
	}
	return descriptor.Field{}, "", fmt.Errorf("no field %s: there are %s", name, strings.Join(known, ", "))
}

// valueJSON returns the JSON of a value that is written as text.
func valueJSON(t descriptor.Type, value string, isJSON bool) (json.RawMessage, error) {
	switch {
	case isJSON:
		if !json.Valid([]byte(value)) {
			return nil, fmt.Errorf("%.100q is not JSON", value)
		}
		return json.RawMessage(value), nil
	case t.IsBinary():
		return json.Marshal(base64.StdEncoding.EncodeToString([]byte(value)))
	case t.Wire() == nocopy.WireString, t.Wire() == nocopy.WireUUID:
		if !utf8.ValidString(value) {
			return nil, nocopy.ErrUTF8
		}
		return json.Marshal(value)
	case t.Enum().Valid() && !json.Valid([]byte(value)), t.Wire() == nocopy.WireDouble && !json.Valid([]byte(value)):
		return json.Marshal(value) // a name, NaN or Infinity
	case !json.Valid([]byte(value)):
		return nil, fmt.Errorf("%.100q is no %s", value, t)
	}
	return json.RawMessage(value), nil
}

// putRaw sets ID:TYPE=VALUE.
func putRaw(into map[string]any, key, value string, isJSON bool) error {
	id, typ, ok := strings.Cut(key, ":")
	if !ok {
		return fmt.Errorf("without IDL arguments are ID:TYPE=VALUE, such as 1:i32=5")
	}
	t, err := rawType(typ)
	if err != nil {
		return err
	}
	var v any = value
	switch {
	case typ == "binary":
		v = base64.StdEncoding.EncodeToString([]byte(value))
	case t == nocopy.WireString, t == nocopy.WireUUID:
	case isJSON, json.Valid([]byte(value)):
		v = json.RawMessage(value)
	}
	into[id] = map[string]any{typ: v}
	return nil
}
