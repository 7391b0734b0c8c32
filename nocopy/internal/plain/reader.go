package plain

import (
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/byteorder"
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Failed is a position that says that the bytes have not the usual form. It is larger than any
// other, so that whatever is read there is absent.
const Failed = math.MaxInt / 2

// What a message may have if nothing else is said: see nocopy.Limits.
const (
	maxBytes   = 100 << 20
	maxDepth   = 64
	perByte    = 64
	memoryLess = 16 << 20
)

// Reader reads the fields of structs.
type Reader struct {
	b     []byte
	depth int
	room  int64 // bytes of memory that slices and pointers may still take

	// When functions take the elements of lists, everything is read twice: first to check it
	calls bool  // the functions are called
	err   error // that of one of them
}

// NewReader returns a Reader of b, and the position to read at: Failed if the options ask for
// something that only a message can do.
func NewReader(b []byte, opts []nocopy.Option) (Reader, int) {
	r := Reader{b: b, room: roomFor(b, nil)}
	if len(opts) > 0 || len(b) > maxBytes {
		return r, Failed
	}
	return r, 0
}

// Has reports whether field f comes next, with n bytes at least after its header. n is not 0.
func (r *Reader) Has(at int, f Field, n int) bool {
	return at+fieldHeader+n <= len(r.b) && r.load32(at)>>8 == uint32(f)&0xffffff
}

// Enter begins a struct, or a list of structs, in a struct.
func (r *Reader) Enter(at int) int {
	if r.depth++; r.depth >= maxDepth {
		return Failed
	}
	return at
}

// Leave ends it.
func (r *Reader) Leave() { r.depth-- }

// Stop ends a struct.
func (r *Reader) Stop(at int) int {
	if at < len(r.b) && r.b[at] == byte(nocopy.WireStop) {
		return at + 1
	}
	return Failed
}

// Bool returns a field and where the next one begins, or absent and at. The other methods for
// fields do the same.
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

// Text returns a field, whose bytes are those of the message.
func (r *Reader) Text(at int, f Field, absent string) (string, int) {
	if !r.Has(at, f, textHeader) {
		return absent, at
	}
	return r.TextValue(at + fieldHeader)
}

// Binary returns a field, whose bytes are those of the message, or nil if it is absent.
func (r *Reader) Binary(at int, f Field) ([]byte, int) {
	if !r.Has(at, f, textHeader) {
		return nil, at
	}
	return r.BinaryValue(at + fieldHeader)
}

// TextValue returns a text without a field header.
func (r *Reader) TextValue(at int) (string, int) {
	b, at := r.BinaryValue(at)
	return chain.String(b), at
}

// BinaryValue returns a binary without a field header.
func (r *Reader) BinaryValue(at int) ([]byte, int) {
	if at+textHeader > len(r.b) {
		return nil, Failed
	}
	n := int(r.load32(at))
	at += textHeader
	if uint(n) > uint(len(r.b)-at) {
		return nil, Failed
	}
	end := at + n
	return r.b[at:end:end], end
}

// The values of maps: without field headers.

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

// List begins field f, a list or set whose elements have the given wire type and take size bytes
// at least. It returns the number of elements, or -1 if the field is absent.
func (r *Reader) List(at int, f Field, elem nocopy.WireType, size int) (int, int) {
	if !r.Has(at, f, listHeader) {
		return -1, at
	}
	n := int(r.load32(at + fieldHeader + 1))
	at += fieldHeader + listHeader
	if r.b[at-listHeader] != byte(elem) || uint(n) > uint(len(r.b)-at)/uint(size) {
		return 0, Failed
	}
	return n, at
}

// Map begins field f, a map whose pairs take size bytes at least. It returns the number of pairs,
// or -1 if the field is absent.
func (r *Reader) Map(at int, f Field, key, elem nocopy.WireType, size int) (int, int) {
	if !r.Has(at, f, mapHeader) {
		return -1, at
	}
	b := r.b[at+fieldHeader:]
	n := int(r.load32(at + fieldHeader + 2))
	at += fieldHeader + mapHeader
	if b[0] != byte(key) || b[1] != byte(elem) || uint(n) > uint(len(r.b)-at)/uint(size) {
		return 0, Failed
	}
	return n, at
}

// Slice returns v with n elements, and at. Elements keep what they were, for the slices in them; a
// v that has too few grows. At Failed, and if the slices of the message take too much memory, it
// returns nil, and Failed.
//
// Memory that v has counts like new memory, and is given up if there is no room for it. Elements
// that v had beyond n become zero. Otherwise many messages could each fill another element with a
// large slice, and all of them would stay.
func Slice[T any](r *Reader, at int, v []T, n int) ([]T, int) {
	if at == Failed {
		return nil, at
	}
	size := int64(sizeOf[T]())
	kept := int64(cap(v)) * size
	if kept > r.room {
		v = nil
	}
	if n > cap(v) || v == nil {
		if kept = int64(n) * size; kept > r.room {
			r.room = -1
			return nil, Failed
		}
		v = slices.Grow(v[:cap(v)], n-cap(v))
		if v == nil {
			v = []T{}
		}
	}
	r.room -= kept
	if len(v) > n {
		clear(v[n:])
	}
	return v[:n], at
}

// fixed begins a list of elements of a fixed size.
func fixed[T any](r *Reader, at int, f Field, v []T, elem nocopy.WireType, size int) ([]T, int) {
	n, at := r.List(at, f, elem, size)
	if n < 0 {
		return nil, at
	}
	return Slice(r, at, v, n)
}

// Bools returns a list or set in the memory of v, or nil if it is absent. The methods for other
// elements do the same.
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

// ReadEnums returns a list or set in the memory of v, or nil if it is absent.
func ReadEnums[E ~int32](r *Reader, at int, f Field, v []E) ([]E, int) {
	v, at = fixed(r, at, f, v, nocopy.WireI32, 4)
	if len(v) > 0 {
		byteorder.LoadInt32s(v, r.b[at:])
	}
	return v, at + 4*len(v)
}

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

// Texts returns a list or set in the memory of v, or nil if it is absent. The bytes of the texts
// are those of the message.
func (r *Reader) Texts(at int, f Field, v []string) ([]string, int) {
	v, at = fixed(r, at, f, v, nocopy.WireString, textHeader)
	for i := range v {
		v[i], at = r.TextValue(at)
	}
	return v, at
}

func (r *Reader) ByteSlices(at int, f Field, v [][]byte) ([][]byte, int) {
	v, at = fixed(r, at, f, v, nocopy.WireString, textHeader)
	for i := range v {
		v[i], at = r.BinaryValue(at)
	}
	return v, at
}

// New returns p, or new memory for one if it is nil, and at. It fails as Slice does.
func New[T any](r *Reader, at int, p *T) (*T, int) {
	if r.room -= int64(sizeOf[T]()); r.room < 0 {
		return nil, Failed
	}
	if p == nil {
		p = new(T)
	}
	return p, at
}

// Must returns at if field f comes next, and Failed otherwise: a message tells which required
// field is missing.
func (r *Reader) Must(at int, f Field) int {
	if !r.Has(at, f, 1) {
		return Failed
	}
	return at
}

// ReadEnum is Int32 for an enum.
func ReadEnum[E ~int32](r *Reader, at int, f Field, absent E) (E, int) {
	v, at := r.Int32(at, f, int32(absent))
	return E(v), at
}

// ReadEnumValue is Int32Value for an enum.
func ReadEnumValue[E ~int32](r *Reader, at int) (E, int) {
	v, at := r.Int32Value(at)
	return E(v), at
}
