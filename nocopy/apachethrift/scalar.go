package apachethrift

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// This file has all of the package that depends on base types.

// isType reports whether t is a wire type.
func isType(t thrift.TType) bool {
	return t == thrift.BOOL || t == thrift.BYTE || t == thrift.DOUBLE || t == thrift.I16 || t == thrift.I32 ||
		t == thrift.I64 || t >= thrift.STRING && t <= thrift.UUID
}

// scalar writes the next value, of type t, if that is a base type, and reports whether it is. typ
// is its declared type, or nil.
func (w *writer) scalar(t thrift.TType, typ *thriftimpl.Type) (is bool, err error) {
	switch t {
	case thrift.BOOL:
		return true, w.p.WriteBool(w.ctx, w.next(1)[0] != 0)
	case thrift.BYTE:
		return true, w.p.WriteByte(w.ctx, int8(w.next(1)[0]))
	case thrift.I16:
		return true, w.p.WriteI16(w.ctx, int16(binary.BigEndian.Uint16(w.next(2))))
	case thrift.I32:
		return true, w.p.WriteI32(w.ctx, int32(binary.BigEndian.Uint32(w.next(4))))
	case thrift.I64:
		return true, w.p.WriteI64(w.ctx, int64(binary.BigEndian.Uint64(w.next(8))))
	case thrift.DOUBLE:
		return true, w.p.WriteDouble(w.ctx, math.Float64frombits(binary.BigEndian.Uint64(w.next(8))))
	case thrift.UUID:
		return true, w.p.WriteUUID(w.ctx, thrift.Tuuid(w.next(16)))
	case thrift.STRING:
		b := w.next(w.count())
		if w.plain || typ != nil && typ.Binary() || typ == nil && !utf8.Valid(b) {
			return true, w.p.WriteBinary(w.ctx, b)
		}
		return true, w.p.WriteString(w.ctx, string(b))
	}
	return false, nil
}

// scalar reads a value of type t, if that is a base type, and appends its wire bytes. It reports
// whether it is. typ is its declared type, or nil.
func (r *reader) scalar(t thrift.TType, typ *thriftimpl.Type) (is bool, err error) {
	switch t {
	case thrift.BOOL:
		var v bool
		v, err = r.p.ReadBool(r.ctx)
		r.b = append(r.b, 0)
		if v {
			r.b[len(r.b)-1] = 1
		}
	case thrift.BYTE:
		var v int8
		v, err = r.p.ReadByte(r.ctx)
		r.b = append(r.b, byte(v))
	case thrift.I16:
		var v int16
		v, err = r.p.ReadI16(r.ctx)
		r.b = binary.BigEndian.AppendUint16(r.b, uint16(v))
	case thrift.I32:
		var v int32
		v, err = r.p.ReadI32(r.ctx)
		r.b = binary.BigEndian.AppendUint32(r.b, uint32(v))
	case thrift.I64:
		var v int64
		v, err = r.p.ReadI64(r.ctx)
		r.b = binary.BigEndian.AppendUint64(r.b, uint64(v))
	case thrift.DOUBLE:
		var v float64
		v, err = r.p.ReadDouble(r.ctx)
		r.b = binary.BigEndian.AppendUint64(r.b, math.Float64bits(v))
	case thrift.UUID:
		var v thrift.Tuuid
		v, err = r.p.ReadUUID(r.ctx)
		r.b = append(r.b, v[:]...)
	case thrift.STRING:
		if r.plain || typ != nil && typ.Binary() {
			var v []byte
			v, err = r.p.ReadBinary(r.ctx)
			r.b = append(binary.BigEndian.AppendUint32(r.b, uint32(len(v))), v...)
		} else {
			var v string
			v, err = r.p.ReadString(r.ctx)
			r.b = append(binary.BigEndian.AppendUint32(r.b, uint32(len(v))), v...)
		}
	default:
		return false, nil
	}
	return true, err
}
