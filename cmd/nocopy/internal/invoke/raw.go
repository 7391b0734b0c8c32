package invoke

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// This file turns structs without IDL into JSON and back, in the form of Apache's TJSONProtocol:
// {"1": {"i32": 5}, "2": {"lst": ["str", 2, "a", "b"]}}.

// rawTypes are the names of types in that form. In what users write, the names of the IDL stand
// for them, too.
var rawTypes = map[string]nocopy.WireType{
	"tf": nocopy.WireBool, "i8": nocopy.WireI8, "i16": nocopy.WireI16, "i32": nocopy.WireI32, "i64": nocopy.WireI64,
	"dbl": nocopy.WireDouble, "str": nocopy.WireString, "rec": nocopy.WireStruct, "map": nocopy.WireMap,
	"lst": nocopy.WireList, "set": nocopy.WireSet, "uid": nocopy.WireUUID,
}

var rawAliases = map[string]string{
	"bool": "tf", "byte": "i8", "double": "dbl", "string": "str", "struct": "rec", "list": "lst", "uuid": "uid",
}

// maxRawDepth is how deep structs and containers may nest by default.
const maxRawDepth = 64

// rawDepth returns how deep they may nest.
func (m *Method) rawDepth() int { return cmp.Or(m.depth, maxRawDepth) }

// rawStruct returns the wire bytes of a struct that is JSON, or that is wire bytes already.
func rawStruct(text []byte, depth int) ([]byte, error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] != '{' {
		return text, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more follows after the JSON object")
	}
	return appendRaw(nil, nocopy.WireStruct, v, depth)
}

// appendRaw appends a value of a type, nested as deep as depth.
func appendRaw(b []byte, t nocopy.WireType, v any, depth int) ([]byte, error) {
	if depth < 0 {
		return nil, errRawDepth
	}
	switch t {
	case nocopy.WireStruct:
		return appendRawFields(b, v, depth)
	case nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		return appendRawContainer(b, t, v, depth)
	case nocopy.WireString:
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%v is no text", v)
		}
		return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...), nil
	case nocopy.WireUUID:
		text, _ := v.(string)
		u, err := nocopy.ParseUUID(text)
		return append(b, u[:]...), err
	}
	text := fmt.Sprint(v)
	if t == nocopy.WireBool {
		switch text {
		case "true", "1":
			return append(b, 1), nil
		case "false", "0":
			return append(b, 0), nil
		}
		return nil, fmt.Errorf("%s is no bool", text)
	}
	if t == nocopy.WireDouble {
		f, err := strconv.ParseFloat(text, 64)
		return binary.BigEndian.AppendUint64(b, math.Float64bits(f)), err
	}
	size := map[nocopy.WireType]int{nocopy.WireI8: 1, nocopy.WireI16: 2, nocopy.WireI32: 4, nocopy.WireI64: 8}[t]
	n, err := strconv.ParseInt(text, 10, size*8)
	if err != nil {
		return nil, err
	}
	whole := binary.BigEndian.AppendUint64(nil, uint64(n))
	return append(b, whole[8-size:]...), nil
}

// appendRawFields appends the fields of a struct, by their ids.
func appendRawFields(b []byte, v any, depth int) ([]byte, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%v is no object of fields by id", v)
	}
	ids := map[int16]string{}
	for name := range fields {
		id, err := strconv.ParseInt(name, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%q is no field id: without IDL fields have ids, as in {\"1\": {\"i32\": 5}}", name)
		}
		ids[int16(id)] = name
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		of, _ := fields[ids[id]].(map[string]any)
		if len(of) != 1 {
			return nil, fmt.Errorf("field %d is not a type and a value, as in {\"1\": {\"i32\": 5}}", id)
		}
		for name, v := range of {
			t, err := rawType(name)
			if err != nil {
				return nil, fmt.Errorf("field %d: %w", id, err)
			}
			b = binary.BigEndian.AppendUint16(append(b, byte(t)), uint16(id))
			if name == "binary" {
				text, _ := v.(string)
				bin, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return nil, fmt.Errorf("field %d: %w", id, err)
				}
				v = string(bin)
			}
			if b, err = appendRaw(b, t, v, depth-1); err != nil {
				return nil, fmt.Errorf("field %d: %w", id, err)
			}
		}
	}
	return append(b, byte(nocopy.WireStop)), nil
}

// rawType returns the type of a name.
func rawType(name string) (nocopy.WireType, error) {
	if name == "binary" {
		return nocopy.WireString, nil
	}
	if alias := rawAliases[name]; alias != "" {
		name = alias
	}
	t, ok := rawTypes[name]
	if !ok {
		return 0, fmt.Errorf("%q is no type: known are %s, and the IDL's names", name, strings.Join(slices.Sorted(maps.Keys(rawTypes)), ", "))
	}
	return t, nil
}

// appendRawContainer appends ["str", 2, "a", "b"] or, of a map, ["str", "i32", 1, {"a": 1}].
func appendRawContainer(b []byte, t nocopy.WireType, v any, depth int) ([]byte, error) {
	parts, _ := v.([]any)
	bad := fmt.Errorf("%v is no list or set, as in [\"str\", 2, \"a\", \"b\"], or map, as in [\"str\", \"i32\", 1, {\"a\": 1}]", v)
	if len(parts) < 2 {
		return nil, bad
	}
	name, _ := parts[0].(string)
	elem, err := rawType(name)
	if err != nil {
		return nil, err
	}
	if t != nocopy.WireMap {
		b = binary.BigEndian.AppendUint32(append(b, byte(elem)), uint32(len(parts)-2))
		for _, e := range parts[2:] {
			if b, err = appendRaw(b, elem, e, depth-1); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	name, _ = parts[1].(string)
	value, err := rawType(name)
	if err != nil {
		return nil, err
	}
	pairs, ok := parts[len(parts)-1].(map[string]any)
	if len(parts) != 4 || !ok {
		return nil, bad
	}
	b = binary.BigEndian.AppendUint32(append(b, byte(elem), byte(value)), uint32(len(pairs)))
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		if b, err = appendRaw(b, elem, key, depth-1); err != nil {
			return nil, err
		}
		if b, err = appendRaw(b, value, pairs[key], depth-1); err != nil {
			return nil, err
		}
	}
	return b, nil
}
