package render

import (
	"encoding/hex"
	"log/slog"
	"math"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file has all of the package that depends on base types: how values of fixed size are
// written as text, in logs and in JSON.

// Scalar returns a value of a base type, or an enum, as text: a string or binary as it is.
func Scalar(v engine.Value) string {
	if v.Type().Kind() == schema.Text {
		return v.Text()
	}
	return string(formatter{}.fixed(nil, v.Type(), v.AppendWire(nil)))
}

func (p formatter) fixed(dst []byte, t *schema.Type, b []byte) []byte {
	switch t.Wire() {
	case wire.Bool:
		return strconv.AppendBool(dst, b[0] != 0)
	case wire.I8, wire.I16, wire.I32, wire.I64:
		v := engine.FixedOf(t, b).Int()
		if t.Enum() != nil {
			if name := t.Enum().Name(int32(v)); name != "" {
				return append(dst, name...)
			}
		}
		return strconv.AppendInt(dst, v, 10)
	case wire.Double:
		return strconv.AppendFloat(dst, math.Float64frombits(wire.BE64(b)), 'g', -1, 64)
	}
	return AppendUUID(dst, [16]byte(b[:16]))
}

// AppendUUID appends a uuid as text.
func AppendUUID(dst []byte, u [16]byte) []byte {
	for i, v := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, []byte{v})
	}
	return dst
}

func (w *logWriter) fixed(t *schema.Type, b []byte) slog.Value {
	w.spend(0)
	switch t.Wire() {
	case wire.Bool:
		return slog.BoolValue(b[0] != 0)
	case wire.Double:
		if v := math.Float64frombits(wire.BE64(b)); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return slog.Float64Value(v)
		}
	case wire.I8, wire.I16, wire.I32, wire.I64:
		v := engine.FixedOf(t, b).Int()
		if t.Enum() == nil || t.Enum().Name(int32(v)) == "" {
			return slog.Int64Value(v)
		}
	}
	return slog.StringValue(string(formatter{}.fixed(nil, t, b))) // JSON has no number for NaN
}

// fixed appends the value of type t in b; with quoted as a string also if it is a number or bool.
func (w *jsonWriter) fixed(dst []byte, t *schema.Type, b []byte, quoted bool) []byte {
	v := int64(0)
	switch t.Wire() {
	case wire.Bool:
		name := "false"
		if b[0] != 0 {
			name = "true"
		}
		if quoted {
			return append(append(append(dst, '"'), name...), '"')
		}
		return append(dst, name...)
	case wire.I8, wire.I16:
		v = engine.FixedOf(t, b).Int()
	case wire.I32:
		v = int64(int32(wire.BE32(b)))
		if t.Enum() != nil {
			if name := t.Enum().Name(int32(v)); name != "" {
				dst = append(append(dst, '"'), name...)
				return append(dst, '"')
			}
		}
	case wire.I64:
		v = int64(wire.BE64(b))
		quoted = quoted || w.Int64Strings
	case wire.Double:
		return appendJSONFloat(dst, math.Float64frombits(wire.BE64(b)), quoted)
	default:
		dst = AppendUUID(append(dst, '"'), [16]byte(b[:16]))
		return append(dst, '"')
	}
	if !quoted {
		return appendJSONInt(dst, v)
	}
	return append(appendJSONInt(append(dst, '"'), v), '"')
}

// exactInts bounds the whole numbers whose shortest form as a float is the form of an integer.
const exactInts = 1 << 53

// appendJSONFloat appends a number as encoding/json does, or the string that stands for one that
// JSON has not.
func appendJSONFloat(dst []byte, f float64, quoted bool) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	if quoted {
		dst = append(dst, '"')
	}
	if i := int64(f); float64(i) == f && i != 0 && i < exactInts && i > -exactInts {
		dst = appendJSONInt(dst, i)
	} else if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
	} else {
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	if quoted {
		dst = append(dst, '"')
	}
	return dst
}
