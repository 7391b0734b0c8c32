package jsonvalue

import (
	"math"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// fixed appends the value of type t in b; with quoted as a string also if it is a number or bool.
func (w *writer) fixed(dst []byte, t *schema.Type, b []byte, quoted bool) []byte {
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
		quoted = quoted || w.int64Strings
	case wire.Double:
		return appendFloat(dst, math.Float64frombits(wire.BE64(b)), quoted)
	default:
		dst = render.AppendUUID(append(dst, '"'), [16]byte(b[:16]))
		return append(dst, '"')
	}
	if !quoted {
		return appendInt(dst, v)
	}
	return append(appendInt(append(dst, '"'), v), '"')
}

// exactInts bounds the whole numbers whose shortest form as a float is the form of an integer.
const exactInts = 1 << 53

// appendFloat appends a number as encoding/json does, or the string that stands for one that
// JSON has not.
func appendFloat(dst []byte, f float64, quoted bool) []byte {
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
		dst = appendInt(dst, i)
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
