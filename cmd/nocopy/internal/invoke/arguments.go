package invoke

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// pair is an argument as key=value.
type pair struct {
	text   string
	key    []string // the parts of the path
	value  string
	isJSON bool // it was key:=value
}

// index matches an element in a path that is written as lines[0], for lines.0.
var index = regexp.MustCompile(`\[(\d+)\]`)

// parsePair returns the pair that a text is.
func parsePair(text string) (p pair, err error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return p, fmt.Errorf("it is not as key=value")
	}
	p = pair{text: text, value: value, isJSON: strings.HasSuffix(key, ":")}
	p.key = strings.Split(index.ReplaceAllString(strings.TrimSuffix(key, ":"), ".$1"), ".")
	if name, ok := strings.CutPrefix(value, "@"); ok && !p.isJSON {
		b, err := os.ReadFile(name)
		if err != nil {
			return p, err
		}
		p.value = string(b)
	}
	return p, nil
}

// Wire returns the wire bytes of arguments: a JSON object, which may be empty, and key=value
// arguments, which replace what the object has there. What a value means depends on the argument's
// type.
func (m *Method) Wire(text []byte, pairs []string) ([]byte, error) {
	if len(pairs) == 0 {
		return m.Args(text)
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
	var written []pair
	for _, text := range pairs {
		p, err := parsePair(text)
		switch {
		case err != nil:
		case m.idl == nil:
			err = putRaw(all, p)
		default:
			err = p.setField(all, m.desc.Args(), p.key)
		}
		if err != nil {
			return nil, fmt.Errorf("argument %.100s: %w", text, err)
		}
		written = append(written, p)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return m.args(text, written)
}

// setField sets the value in an object that is a struct, at a path.
func (p *pair) setField(into map[string]any, d descriptor.Struct, path []string) error {
	if path[0] == "" {
		return p.nameMissing(path)
	}
	f, name, err := fieldOf(d, path[0])
	if err != nil {
		return err
	}
	v, err := p.set(into[name], f.Type(), path[1:])
	if err == nil {
		into[name] = v
	}
	return err
}

// nameMissing returns the error that path, the rest of the key, begins without a name.
func (p *pair) nameMissing(path []string) error {
	if at := strings.Join(p.key[:len(p.key)-len(path)], "."); at != "" {
		return fmt.Errorf("a name is missing after %s.", at)
	}
	return errors.New("a name is missing at the beginning")
}

// set returns old, a value of a type, with the value set in it at a path.
func (p *pair) set(old any, t descriptor.Type, path []string) (any, error) {
	if len(path) == 0 {
		return p.valueOf(t)
	}
	at := strings.Join(p.key[:len(p.key)-len(path)], ".")
	switch t.WireType() {
	case nocopy.WireStruct:
		fields, err := object(old)
		if err == nil {
			err = p.setField(fields, t.Struct(), path)
		}
		return fields, err
	case nocopy.WireMap:
		return p.setEntry(old, t, at, path)
	case nocopy.WireList, nocopy.WireSet:
		elems, err := array(old)
		if err != nil {
			return nil, err
		}
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i > len(elems) {
			return nil, fmt.Errorf("%s is a %s and has %d elements so far: the next one is %s.%[3]d", at, t, len(elems), at)
		}
		if i == len(elems) {
			elems = append(elems, nil)
		}
		elems[i], err = p.set(elems[i], t.Elem(), path[1:])
		return elems, err
	}
	return nil, fmt.Errorf("%s is a %s and has no fields", at, t)
}

// setEntry is set for a map. Keys may have dots if values have no parts.
func (p *pair) setEntry(old any, t descriptor.Type, at string, path []string) (any, error) {
	if hasParts(t.Key()) {
		return nil, fmt.Errorf("%s is a %s, whose keys can't be part of a path: write %[1]s:=JSON, with a list of pairs, as in '[[KEY, VALUE]]'", at, t)
	}
	entries, err := object(old)
	if err != nil {
		return nil, err
	}
	key, rest := path[0], path[1:]
	if !hasParts(t.Elem()) {
		key, rest = strings.Join(path, "."), nil
	}
	if key == "" { // d:='{"": …}' has it
		return nil, p.nameMissing(path)
	}
	if t.Key().IsBinary() {
		key = base64.StdEncoding.EncodeToString([]byte(key))
	}
	if e := t.Key().Enum(); e.Valid() {
		if _, err := enumValue(e, key); err != nil {
			return nil, err
		}
	}
	entries[key], err = p.set(entries[key], t.Elem(), rest)
	return entries, err
}

// hasParts reports whether a value has fields, elements or keys.
func hasParts(t descriptor.Type) bool {
	switch t.WireType() {
	case nocopy.WireStruct, nocopy.WireMap, nocopy.WireList, nocopy.WireSet:
		return true
	}
	return false
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

// array returns v as an array that can be changed.
func array(v any) ([]any, error) {
	switch v := v.(type) {
	case []any:
		return v, nil
	case json.RawMessage:
		var elems []json.RawMessage
		if err := json.Unmarshal(v, &elems); err != nil {
			return nil, err
		}
		all := []any{}
		for _, e := range elems {
			all = append(all, e)
		}
		return all, nil
	}
	return []any{}, nil
}

// fieldOf returns a field of a struct, and its name in JSON.
func fieldOf(d descriptor.Struct, name string) (descriptor.Field, string, error) {
	names, _ := thriftimpl.JSONNames(d.Desc())
	for i := range d.NumFields() {
		if f := d.Field(i); f.Name() == name || names[i].Name == name {
			return f, names[i].Name, nil
		}
	}
	return descriptor.Field{}, "", fmt.Errorf("no field %s%s", name, fieldsInstead(d, name))
}

// fieldsInstead returns which fields there are instead of one that a struct does not have.
func fieldsInstead(d descriptor.Struct, name string) string {
	var names []string
	for f := range d.Fields() {
		names = append(names, f.Name())
	}
	if len(names) == 0 {
		return ": there are none"
	}
	return meant(name, names) + fieldsText(d)
}

// fieldsText returns the fields of a struct as the IDL has them.
func fieldsText(d descriptor.Struct) string {
	var all []string
	for f := range d.Fields() {
		all = append(all, f.Type().String()+" "+f.Name())
	}
	return strings.Join(all, ", ")
}

// meant returns what comes before a list of names: which of them was perhaps meant.
func meant(name string, names []string) string {
	if near := idlfiles.Nearest(name, names); near != "" {
		return ", did you mean " + near + "? There are "
	}
	return ": there are "
}

// enumValue returns the JSON of a value of an enum: a name or a number.
func enumValue(e descriptor.Enum, text string) (json.RawMessage, error) {
	if _, ok := e.ByName(text); ok {
		return json.Marshal(text)
	}
	if _, err := strconv.ParseInt(text, 10, 32); err == nil {
		return json.RawMessage(text), nil
	}
	return nil, fmt.Errorf("%s", notInEnum(e, text))
}

// notInEnum returns what is wrong with a text that is no name of an enum's value.
func notInEnum(e descriptor.Enum, text string) string {
	var names []string
	for v := range e.Values() {
		names = append(names, v.Name())
	}
	return fmt.Sprintf("%.100q is no %s%s%s", text, e.Name(), meant(text, names), idlfiles.Listed(names))
}

// valueOf returns the JSON of the value, which has type t.
func (p *pair) valueOf(t descriptor.Type) (json.RawMessage, error) {
	if p.isJSON {
		if !json.Valid([]byte(p.value)) {
			return nil, fmt.Errorf("%.100q is not JSON", p.value)
		}
		return json.RawMessage(p.value), nil
	}
	key := strings.Join(p.key, ".")
	text := strings.TrimSpace(p.value)
	isJSON := len(text) > 0 && strings.ContainsRune("[{", rune(text[0])) && json.Valid([]byte(text))
	switch t.WireType() {
	case nocopy.WireStruct:
		if !isJSON {
			return nil, fmt.Errorf("it is a %s: set its fields, as in %s.%s=…, or all of it, as in %[2]s:='{…}'", t, key, firstField(t.Struct()))
		}
		return json.RawMessage(text), nil
	case nocopy.WireMap:
		if !isJSON {
			return nil, fmt.Errorf("it is a %s: set a value, as in %s.KEY=…, or all of it, as in %[2]s:='{\"KEY\": …}'", t, key)
		}
		return json.RawMessage(text), nil
	case nocopy.WireList, nocopy.WireSet:
		if isJSON {
			return json.RawMessage(text), nil
		}
		return p.elements(t, key)
	}
	return scalarJSON(t, p.value)
}

func firstField(d descriptor.Struct) string {
	for f := range d.Fields() {
		return f.Name()
	}
	return "FIELD"
}

// elements returns the JSON of a list or set whose elements are separated by commas.
func (p *pair) elements(t descriptor.Type, key string) (json.RawMessage, error) {
	if hasParts(t.Elem()) {
		return nil, fmt.Errorf("it is a %s: set an element, as in %s.0…=…, or all of them, as in %[2]s:='[…]'", t, key)
	}
	elems := []json.RawMessage{}
	if p.value != "" {
		for part := range strings.SplitSeq(p.value, ",") {
			v, err := scalarJSON(t.Elem(), part)
			if err != nil {
				return nil, err
			}
			elems = append(elems, v)
		}
	}
	return json.Marshal(elems)
}

// scalarJSON returns the JSON of a value without parts that is written as text.
func scalarJSON(t descriptor.Type, value string) (json.RawMessage, error) {
	switch {
	case t.IsBinary():
		return json.Marshal(base64.StdEncoding.EncodeToString([]byte(value)))
	case t.WireType() == nocopy.WireString, t.WireType() == nocopy.WireUUID:
		if !utf8.ValidString(value) {
			return nil, nocopy.ErrUTF8
		}
		return json.Marshal(value)
	case t.Enum().Valid():
		if json.Valid([]byte(value)) { // null, or a name in quotes
			return json.RawMessage(value), nil
		}
		return enumValue(t.Enum(), value)
	case t.WireType() == nocopy.WireDouble && !json.Valid([]byte(value)):
		return json.Marshal(value) // NaN or Infinity
	case !json.Valid([]byte(value)) && t.WireType() == nocopy.WireBool:
		return nil, fmt.Errorf("%.100q is no bool: it is true or false", value)
	case !json.Valid([]byte(value)):
		return nil, fmt.Errorf("%.100q is no %s", value, t)
	}
	return json.RawMessage(value), nil
}

// putRaw sets ID:TYPE=VALUE.
func putRaw(into map[string]any, p pair) error {
	key, _, _ := strings.Cut(p.text, "=")
	id, typ, ok := strings.Cut(strings.TrimSuffix(key, ":"), ":")
	if !ok {
		return fmt.Errorf("without IDL arguments are ID:TYPE=VALUE, such as 1:i32=5")
	}
	t, err := rawType(typ)
	if err != nil {
		return err
	}
	var v any = p.value
	switch {
	case typ == "binary":
		v = base64.StdEncoding.EncodeToString([]byte(p.value))
	case t == nocopy.WireString, t == nocopy.WireUUID:
	case p.isJSON, json.Valid([]byte(p.value)):
		v = json.RawMessage(p.value)
	}
	into[id] = map[string]any{typ: v}
	return nil
}
