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
// written as text and in logs.

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
