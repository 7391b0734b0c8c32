package plain

import (
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Failed is the position that reports bytes without the usual form. It is larger than any other:
// all fields read as absent there.
const Failed = math.MaxInt / 2

// Without Limits, plain values may take 16 MiB of memory plus 64 bytes per byte of the message.
const (
	perByte    = 64
	memoryLess = 16 << 20
)

// Reader reads the fields of structs.
type Reader struct {
	b     []byte
	depth int
	room  int64 // how many more bytes slices and pointers may take

	// If functions take the elements of lists, everything is read twice: first to check it
	calls bool  // the second time: the functions are called
	err   error // the error of one of these functions
}

// Read makes r, which is zero, read b. It returns the first position, or Failed if the options
// need a message. [Writer.Append] says why it does not return a Reader.
func (r *Reader) Read(b []byte, opts []nocopy.Option) int {
	r.b, r.room = b, roomFor(b, nil)
	if len(opts) > 0 || len(b) > wire.DefaultMaxBytes {
		return Failed
	}
	return 0
}

// Has reports whether field f comes next, with at least n bytes after its header. n is not 0.
func (r *Reader) Has(at int, f Field, n int) bool {
	return at+fieldHeader+n <= len(r.b) && r.load32(at)>>8 == uint32(f)&0xffffff
}

// Enter begins a nested struct, or a nested list of structs.
func (r *Reader) Enter(at int) int {
	if r.depth++; r.depth >= wire.DefaultMaxDepth {
		return Failed
	}
	return at
}

// Leave ends what Enter began.
func (r *Reader) Leave() { r.depth-- }

// Stop ends a struct.
func (r *Reader) Stop(at int) int {
	if at < len(r.b) && r.b[at] == byte(nocopy.WireStop) {
		return at + 1
	}
	return Failed
}

// Text returns a field. It aliases the bytes that are read.
func (r *Reader) Text(at int, f Field, absent string) (string, int) {
	if !r.Has(at, f, textHeader) {
		return absent, at
	}
	return r.TextValue(at + fieldHeader)
}

// Binary returns a field, which aliases the bytes that are read, or nil if it is absent.
func (r *Reader) Binary(at int, f Field) ([]byte, int) {
	if !r.Has(at, f, textHeader) {
		return nil, at
	}
	return r.BinaryValue(at + fieldHeader)
}

// TextValue returns a text without a field header.
func (r *Reader) TextValue(at int) (string, int) {
	b, at := r.BinaryValue(at)
	return memory.String(b), at
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

// List begins field f, a list or set whose elements have the given wire type and take at least
// size bytes each. It returns the number of elements, or -1 if the field is absent.
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

// Map begins field f, a map whose pairs take at least size bytes each. It returns the number of
// pairs, or -1 if the field is absent.
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

// Slice returns v with n elements, and at. Elements keep their contents: slices in them can be
// reused. v grows if it has too few. At Failed, or if the slices of the message take too much
// memory, Slice returns nil and Failed.
//
// The memory of v counts like new memory, and is given up if there is no room for it. Elements of
// v beyond n become zero. Otherwise many messages could each fill another element with a large
// slice, and all slices would stay.
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
		if k := int64(cap(v)) * size; k <= r.room {
			kept = k // as when the same memory is used again
		} else {
			v = make([]T, n)
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

// Texts returns a list or set in the memory of v, or nil if it is absent. The texts alias the
// bytes that are read.
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

// New returns p, or a new T if p is nil, and at. It fails as Slice does.
func New[T any](r *Reader, at int, p *T) (*T, int) {
	if r.room -= int64(sizeOf[T]()); r.room < 0 {
		return nil, Failed
	}
	if p == nil {
		p = new(T)
	}
	return p, at
}

// Must returns at if field f comes next, and Failed otherwise, since a message says which
// required field is missing.
func (r *Reader) Must(at int, f Field) int {
	if !r.Has(at, f, 1) {
		return Failed
	}
	return at
}
