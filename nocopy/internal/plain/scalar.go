package plain

import (
	"encoding/binary"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/byteorder"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// This file has all of the package that depends on base types of fixed size: fields, the elements
// of containers, and lists of them.

// Bool returns a field and the position after it, or absent and at if the field does not come
// next. The other methods for fields do the same.
func (r *Reader) Bool(at int, f Field, absent bool) (bool, int) {
	if !r.Has(at, f, 1) {
		return absent, at
	}
	return r.b[at+fieldHeader] != 0, at + fieldHeader + 1
}

func (r *Reader) Int8(at int, f Field, absent int8) (int8, int) {
	if !r.Has(at, f, 1) {
		return absent, at
	}
	return int8(r.b[at+fieldHeader]), at + fieldHeader + 1
}

func (r *Reader) Int16(at int, f Field, absent int16) (int16, int) {
	if !r.Has(at, f, 2) {
		return absent, at
	}
	return int16(r.load16(at + fieldHeader)), at + fieldHeader + 2
}

func (r *Reader) Int32(at int, f Field, absent int32) (int32, int) {
	if !r.Has(at, f, 4) {
		return absent, at
	}
	return int32(r.load32(at + fieldHeader)), at + fieldHeader + 4
}

func (r *Reader) Int64(at int, f Field, absent int64) (int64, int) {
	if !r.Has(at, f, 8) {
		return absent, at
	}
	return int64(r.load64(at + fieldHeader)), at + fieldHeader + 8
}

func (r *Reader) Float64(at int, f Field, absent float64) (float64, int) {
	if !r.Has(at, f, 8) {
		return absent, at
	}
	return math.Float64frombits(r.load64(at + fieldHeader)), at + fieldHeader + 8
}

func (r *Reader) UUID(at int, f Field, absent nocopy.UUID) (nocopy.UUID, int) {
	if !r.Has(at, f, 16) {
		return absent, at
	}
	return nocopy.UUID(r.b[at+fieldHeader:]), at + fieldHeader + 16
}

func (r *Reader) BoolValue(at int) (bool, int) {
	if at+1 > len(r.b) {
		return false, Failed
	}
	return r.b[at] != 0, at + 1
}

func (r *Reader) Int8Value(at int) (int8, int) {
	if at+1 > len(r.b) {
		return 0, Failed
	}
	return int8(r.b[at]), at + 1
}

func (r *Reader) Int16Value(at int) (int16, int) {
	if at+2 > len(r.b) {
		return 0, Failed
	}
	return int16(r.load16(at)), at + 2
}

func (r *Reader) Int32Value(at int) (int32, int) {
	if at+4 > len(r.b) {
		return 0, Failed
	}
	return int32(r.load32(at)), at + 4
}

func (r *Reader) Int64Value(at int) (int64, int) {
	if at+8 > len(r.b) {
		return 0, Failed
	}
	return int64(r.load64(at)), at + 8
}

func (r *Reader) Float64Value(at int) (float64, int) {
	v, at := r.Int64Value(at)
	return math.Float64frombits(uint64(v)), at
}

func (r *Reader) UUIDValue(at int) (nocopy.UUID, int) {
	if at+16 > len(r.b) {
		return nocopy.UUID{}, Failed
	}
	return nocopy.UUID(r.b[at:]), at + 16
}

// Bools returns a list or set in the memory of v, or nil if it is absent. The methods for other
// element types do the same.
func (r *Reader) Bools(at int, f Field, v []bool) ([]bool, int) {
	v, at = fixed(r, at, f, v, nocopy.WireBool, 1)
	for i := range v {
		v[i] = r.b[at+i] != 0
	}
	return v, at + len(v)
}

func (r *Reader) Int8s(at int, f Field, v []int8) ([]int8, int) {
	v, at = fixed(r, at, f, v, nocopy.WireI8, 1)
	if len(v) > 0 {
		byteorder.LoadInt8s(v, r.b[at:])
	}
	return v, at + len(v)
}

func (r *Reader) Int16s(at int, f Field, v []int16) ([]int16, int) {
	v, at = fixed(r, at, f, v, nocopy.WireI16, 2)
	if len(v) > 0 {
		byteorder.LoadInt16s(v, r.b[at:])
	}
	return v, at + 2*len(v)
}

func (r *Reader) Int32s(at int, f Field, v []int32) ([]int32, int) { return ReadEnums(r, at, f, v) }

func (r *Reader) Int64s(at int, f Field, v []int64) ([]int64, int) {
	v, at = fixed(r, at, f, v, nocopy.WireI64, 8)
	if len(v) > 0 {
		byteorder.LoadInt64s(v, r.b[at:])
	}
	return v, at + 8*len(v)
}

func (r *Reader) Float64s(at int, f Field, v []float64) ([]float64, int) {
	v, at = fixed(r, at, f, v, nocopy.WireDouble, 8)
	if len(v) > 0 {
		byteorder.LoadFloat64s(v, r.b[at:])
	}
	return v, at + 8*len(v)
}

func (r *Reader) UUIDs(at int, f Field, v []nocopy.UUID) ([]nocopy.UUID, int) {
	v, at = fixed(r, at, f, v, nocopy.WireUUID, 16)
	for i := range v {
		v[i] = nocopy.UUID(r.b[at+16*i:])
	}
	return v, at + 16*len(v)
}

// Bool writes a field without a check.
func (w *Writer) Bool(at int, f Field, v bool) int {
	x := int8(0)
	if v {
		x = 1
	}
	return w.Int8(at, f, x)
}

// Int8 writes a field without a check.
func (w *Writer) Int8(at int, f Field, v int8) int {
	binary.BigEndian.PutUint32(w.room(at)[:], uint32(f)<<8|uint32(uint8(v)))
	return at + fieldHeader + 1
}

// Int16 writes a field without a check.
func (w *Writer) Int16(at int, f Field, v int16) int {
	b := w.room(at)
	binary.BigEndian.PutUint32(b[:], uint32(f)<<8)
	binary.BigEndian.PutUint16(b[fieldHeader:], uint16(v)) // not 8: the caller's may follow
	return at + fieldHeader + 2
}

// Int32 writes a field without a check.
func (w *Writer) Int32(at int, f Field, v int32) int {
	binary.BigEndian.PutUint64(w.room(at)[:], uint64(f)<<40|uint64(uint32(v))<<8)
	return at + fieldHeader + 4
}

// Int64 writes a field without a check.
func (w *Writer) Int64(at int, f Field, v int64) int {
	b := w.room(at)
	binary.BigEndian.PutUint32(b[:], uint32(f)<<8)
	binary.BigEndian.PutUint64(b[fieldHeader:], uint64(v))
	return at + fieldHeader + 8
}

// Float64 writes a field without a check.
func (w *Writer) Float64(at int, f Field, v float64) int {
	return w.Int64(at, f, int64(math.Float64bits(v)))
}

// UUID writes a field without a check.
func (w *Writer) UUID(at int, f Field, v nocopy.UUID) int {
	b := w.room(at)
	binary.BigEndian.PutUint32(b[:], uint32(f)<<8)
	copy(b[fieldHeader:], v[:])
	return at + fieldHeader + len(v)
}

func (w *Writer) BoolValue(at int, v bool) int {
	x := byte(0)
	if v {
		x = 1
	}
	w.room(at)[0] = x
	return at + 1
}

func (w *Writer) Int8Value(at int, v int8) int {
	w.room(at)[0] = byte(v)
	return at + 1
}

func (w *Writer) Int16Value(at int, v int16) int {
	binary.BigEndian.PutUint16(w.room(at)[:], uint16(v))
	return at + 2
}

func (w *Writer) Int32Value(at int, v int32) int {
	binary.BigEndian.PutUint32(w.room(at)[:], uint32(v))
	return at + 4
}

func (w *Writer) Int64Value(at int, v int64) int {
	binary.BigEndian.PutUint64(w.room(at)[:], uint64(v))
	return at + 8
}

func (w *Writer) Float64Value(at int, v float64) int {
	return w.Int64Value(at, int64(math.Float64bits(v)))
}

func (w *Writer) UUIDValue(at int, v nocopy.UUID) int {
	return at + copy(w.room(at)[:], v[:])
}

// Bools writes a list or set and makes room after it. The methods for other element types do the
// same.
func (w *Writer) Bools(at int, f Field, v []bool) int {
	at = w.list(at, f, nocopy.WireBool, len(v), 1)
	b := w.b[at:][:len(v)]
	for i, x := range v {
		b[i] = 0
		if x {
			b[i] = 1
		}
	}
	return at + len(v)
}

func (w *Writer) Int8s(at int, f Field, v []int8) int {
	at = w.list(at, f, nocopy.WireI8, len(v), 1)
	byteorder.StoreInt8s(w.b[at:], v)
	return at + len(v)
}

func (w *Writer) Int16s(at int, f Field, v []int16) int {
	at = w.list(at, f, nocopy.WireI16, len(v), 2)
	byteorder.StoreInt16s(w.b[at:], v)
	return at + 2*len(v)
}

func (w *Writer) Int32s(at int, f Field, v []int32) int { return WriteEnums(w, at, f, v) }

func (w *Writer) Int64s(at int, f Field, v []int64) int {
	at = w.list(at, f, nocopy.WireI64, len(v), 8)
	byteorder.StoreInt64s(w.b[at:], v)
	return at + 8*len(v)
}

func (w *Writer) Float64s(at int, f Field, v []float64) int {
	at = w.list(at, f, nocopy.WireDouble, len(v), 8)
	byteorder.StoreFloat64s(w.b[at:], v)
	return at + 8*len(v)
}

func (w *Writer) UUIDs(at int, f Field, v []nocopy.UUID) int {
	at = w.list(at, f, nocopy.WireUUID, len(v), 16)
	for i := range v {
		at += copy(w.b[at:], v[i][:])
	}
	return at
}
