package invoke

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// rawNames are the names of wire types in JSON without IDL.
var rawNames = map[nocopy.WireType]string{}

func init() {
	for name, t := range rawTypes {
		rawNames[t] = name
	}
}

// errRawDepth has the name that the option has in package nocopy, as its errors do.
var errRawDepth = fmt.Errorf("%w: nested deeper than Limits.MaxDepth", nocopy.ErrLimit)

// rawJSON returns the JSON of a struct that is wire bytes, nested as deep as depth.
func rawJSON(wire []byte, depth int) (json.RawMessage, error) {
	r := rawReader{b: wire}
	v, err := r.value(nocopy.WireStruct, depth)
	if err == nil && r.at != len(wire) {
		err = fmt.Errorf("%d bytes follow", len(wire)-r.at)
	}
	if err != nil {
		return nil, &nocopy.Error{Offset: r.at, Path: "struct", Err: err}
	}
	return json.Marshal(v)
}

// rawReader reads wire bytes.
type rawReader struct {
	b  []byte
	at int
}

// take returns the next n bytes.
func (r *rawReader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.b)-r.at {
		return nil, io.ErrUnexpectedEOF
	}
	r.at += n
	return r.b[r.at-n : r.at], nil
}

// number returns the next integer of some bytes.
func (r *rawReader) number(size int) (n int64, err error) {
	b, err := r.take(size)
	if err != nil {
		return 0, err
	}
	n = int64(int8(b[0]))
	for _, c := range b[1:] {
		n = n<<8 | int64(c)
	}
	return n, nil
}

// value returns the next value, which has type t.
func (r *rawReader) value(t nocopy.WireType, depth int) (any, error) {
	if depth < 0 {
		return nil, errRawDepth
	}
	switch t {
	case nocopy.WireBool:
		n, err := r.number(1)
		return n != 0, err
	case nocopy.WireI8:
		return r.number(1)
	case nocopy.WireI16:
		return r.number(2)
	case nocopy.WireI32:
		return r.number(4)
	case nocopy.WireI64:
		return r.number(8)
	case nocopy.WireDouble:
		b, err := r.take(8)
		if err != nil {
			return nil, err
		}
		return double(math.Float64frombits(binary.BigEndian.Uint64(b))), nil
	case nocopy.WireUUID:
		b, err := r.take(16)
		if err != nil {
			return nil, err
		}
		return nocopy.UUID(b).String(), nil
	case nocopy.WireString:
		n, err := r.number(4)
		if err != nil {
			return nil, err
		}
		b, err := r.take(int(n))
		return string(b), err
	case nocopy.WireStruct:
		return r.fields(depth)
	case nocopy.WireList, nocopy.WireSet:
		return r.list(depth)
	case nocopy.WireMap:
		return r.pairs(depth)
	}
	return nil, fmt.Errorf("%w: no type %d", nocopy.ErrType, t)
}

// double returns what JSON can hold of a number.
func double(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}

func (r *rawReader) fields(depth int) (any, error) {
	fields := map[string]any{}
	for {
		t, err := r.number(1)
		if err != nil || nocopy.WireType(t) == nocopy.WireStop {
			return fields, err
		}
		id, err := r.number(2)
		if err != nil {
			return nil, err
		}
		v, err := r.value(nocopy.WireType(t), depth-1)
		if err != nil {
			return nil, err
		}
		name := rawNames[nocopy.WireType(t)]
		if text, ok := v.(string); ok && !utf8.ValidString(text) {
			name, v = "binary", base64.StdEncoding.EncodeToString([]byte(text))
		}
		fields[strconv.Itoa(int(id))] = map[string]any{name: v}
	}
}

// count returns the number of elements. Each has at least a byte.
func (r *rawReader) count() (int, error) {
	n, err := r.number(4)
	if err == nil && (n < 0 || n > int64(len(r.b)-r.at)) {
		err = io.ErrUnexpectedEOF
	}
	return int(n), err
}

func (r *rawReader) list(depth int) (any, error) {
	t, err := r.number(1)
	if err != nil {
		return nil, err
	}
	n, err := r.count()
	if err != nil {
		return nil, err
	}
	list := []any{rawNames[nocopy.WireType(t)], n}
	for range n {
		v, err := r.value(nocopy.WireType(t), depth-1)
		if err != nil {
			return nil, err
		}
		list = append(list, printable(v))
	}
	return list, nil
}

func (r *rawReader) pairs(depth int) (any, error) {
	key, err := r.number(1)
	if err != nil {
		return nil, err
	}
	elem, err := r.number(1)
	if err != nil {
		return nil, err
	}
	n, err := r.count()
	if err != nil {
		return nil, err
	}
	pairs := map[string]any{}
	for range n {
		k, err := r.value(nocopy.WireType(key), depth-1)
		if err != nil {
			return nil, err
		}
		v, err := r.value(nocopy.WireType(elem), depth-1)
		if err != nil {
			return nil, err
		}
		name, ok := k.(string)
		if !ok {
			text, err := json.Marshal(k)
			if err != nil {
				return nil, err
			}
			name = string(text)
		}
		pairs[name] = printable(v)
	}
	return []any{rawNames[nocopy.WireType(key)], rawNames[nocopy.WireType(elem)], n, pairs}, nil
}

// printable returns v, or base64 of a text that JSON can't hold.
func printable(v any) any {
	if text, ok := v.(string); ok && !utf8.ValidString(text) {
		return "base64:" + base64.StdEncoding.EncodeToString([]byte(text))
	}
	return v
}
