package compact

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"strconv"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// ErrDepth reports bytes with more levels than Limits allows.
var ErrDepth = wire.LimitError("nested too deeply")

// Limits bounds what a Reader accepts.
type Limits struct {
	Bytes  int    // of Thrift Binary
	Levels int    // of nested structs and containers
	Name   string // the setting that Bytes comes from, for errors; "" means Limits.MaxBytes
}

// LimitsFor returns the limits for the bytes of a parser that accepts structs of at most depth
// levels; 0 means 64. Levels include containers of known types, which such a depth does not count,
// and which a type nests a few times. The parser counts again.
func LimitsFor(bytes, depth int) Limits {
	const most = 16 // containers in each other, and the struct that they are in
	if depth <= 0 {
		depth = 64
	}
	return Limits{Bytes: bytes, Levels: most*depth + most}
}

// Status says how far a Reader has come.
type Status uint8

// Done: the struct has ended. More: it continues after the bytes so far. Failed: the bytes are
// invalid, and Fault says why.
const (
	Done Status = iota
	More
	Failed
)

// Reader turns a struct of the compact protocol into Thrift Binary. Reset begins one.
type Reader struct {
	memory // for Thrift Binary

	limits Limits
	whole  bool // the input has no more bytes

	passed int64 // bytes of the struct that Receive has skipped
	next   int   // where Receive goes on in the input after those

	err    error // what is wrong
	at     int   // offset of err in the input, after the bytes that were skipped
	inside bool  // in a field of the innermost level, if that is a struct
	large  bool  // the result exceeds Limits.Bytes
	second bool  // the input is of version 2 of the protocol
}

var readers = sync.Pool{New: func() any { return new(Reader) }}

// TakeReader returns a Reader with memory for the result of n bytes of input.
func TakeReader(n int) *Reader {
	r := readers.Get().(*Reader)
	r.fit(2 * n)
	return r
}

// Free gives the Reader and its memory back.
func (r *Reader) Free() {
	r.free()
	readers.Put(r)
}

// spaceFor bounds the bytes of a token, except long texts: the header of a field, and a uuid or a
// text that putText moves at once, with some to spare.
const spaceFor = 64

// Reset begins a struct of type t, which may be nil. The Reader keeps its memory.
func (r *Reader) Reset(t *schema.Type, l Limits) {
	r.n, r.limits, r.err, r.inside, r.large, r.second = 0, l, nil, false, false, false
	r.passed, r.next = 0, 0
	r.w = r.w[:min(cap(r.w), l.Bytes+spaceFor)]
	r.stack = append(r.stack[:0], level{typ: ofKind(t, record), kind: record})
}

// Version2 makes the struct that Reset has begun one of the protocol's version 2, which fbthrift
// writes. Its doubles are big-endian. The type that uuids have in version 1 is for numbers that
// Thrift Binary has no type for.
func (r *Reader) Version2() { r.second = true }

// Len returns the number of bytes of Thrift Binary that were made.
func (r *Reader) Len() int { return r.n }

// Fault returns the error and its offset in the input.
func (r *Reader) Fault() (at int, err error) { return r.at, r.err }

// IsLarge reports whether the error is that the result exceeds Limits.Bytes.
func (r *Reader) IsLarge() bool { return r.large }

// Error returns the error of a struct with this name, with its path of at most most steps. The
// path ends before a struct whose type is unknown.
func (r *Reader) Error(name string, most int) *wire.Error {
	return &wire.Error{Offset: r.Offset(r.at), Path: string(r.appendPath([]byte(name), most)), Err: r.err}
}

// appendPath appends the steps to the error: fields of structs, and numbers of elements and pairs.
func (r *Reader) appendPath(path []byte, most int) []byte {
	for k := range r.stack[:min(len(r.stack), most)] {
		l := &r.stack[k]
		innermost := k == len(r.stack)-1
		if l.kind == record {
			if l.typ == nil || innermost && !r.inside {
				return path
			}
			f := fieldOf(l.typ, l.last)
			if f == nil {
				return strconv.AppendInt(append(path, '.'), int64(l.last), 10)
			}
			path = append(append(path, '.'), f.Name...)
			continue
		}
		n := l.count - l.left
		if l.kind == dict {
			n += l.count
		}
		if !innermost { // the current value counts as read
			n--
		}
		if l.kind == dict {
			n /= 2
		}
		path = append(strconv.AppendUint(append(path, '['), uint64(n), 10), ']')
	}
	return path
}

// fieldOf returns the field of a struct of type t with this id, or nil.
func fieldOf(t *schema.Type, id int16) *schema.FieldDesc {
	d := t.Struct()
	if k := d.NumberByID(id); k >= 0 {
		return d.FieldDesc(k)
	}
	return nil
}

// Convert continues at b[i], where the previous call stopped. whole says that nothing comes after
// b. It returns the index after the bytes that it has read. With More, b ends within the value
// that begins at this index: the next call must get that value from its beginning.
func (r *Reader) Convert(b []byte, i int, whole bool) (int, Status) {
	r.whole = whole
	for len(r.stack) > 0 {
		l := &r.stack[len(r.stack)-1]
		var s step
		if l.kind == record {
			i, s = r.fields(l, b, i)
		} else {
			i, s = r.elements(l, b, i)
		}
		switch s {
		case leave:
			r.stack = r.stack[:len(r.stack)-1]
		case short:
			if !whole {
				return i, More
			}
			r.fail(i, io.ErrUnexpectedEOF)
			return i, Failed
		case wrong:
			return i, Failed
		}
	}
	if r.n > r.limits.Bytes {
		r.tooLarge(i - 1)
		return i, Failed
	}
	return i, Done
}

// OffsetIn converts an offset in Thrift Binary to the offset of the same value in b, a struct of
// type t. To do so it converts b again, value by value near the offset.
func (r *Reader) OffsetIn(b []byte, t *schema.Type, l Limits, offset int) int {
	at, end := 0, 0 // the last value begins and ends there
	from := 0       // the value of interest ends after so many bytes of b
	for _, step := range [...]int{4 << 10, 1} {
		r.Reset(t, l)
		var status Status
		end, status = r.Convert(b[:from], 0, false)
		for upTo := from; status == More && upTo < len(b); {
			upTo, at = min(upTo+step, len(b)), end
			if end, status = r.Convert(b[:upTo], end, false); r.n > offset {
				break
			}
			from = upTo
		}
	}
	if r.n <= offset {
		return end
	}
	return max(at, end-(r.n-offset)) // from the value's end, as in a text
}

// step says what comes after a part of a struct or container.
type step uint8

const (
	enter step = iota // a nested struct or container
	leave             // its end
	short             // the bytes end
	wrong             // an error
)

// fail notes an error.
func (r *Reader) fail(at int, err error) step {
	r.at, r.err = at, err
	return wrong
}

// tooLarge notes that the input up to this index becomes more than the limit.
func (r *Reader) tooLarge(at int) step {
	r.large = true
	name := cmp.Or(r.limits.Name, "Limits.MaxBytes")
	return r.fail(at, wire.LimitError("message of more than "+name+" = "+strconv.Itoa(r.limits.Bytes)+" in Thrift Binary"))
}

// number returns the varint at b[i], of at most width bits, and the index after it. If there is
// none, it notes why and returns a negative index.
func (r *Reader) number(b []byte, i, width int) (v uint64, next int) {
	v, next = Number(b, i)
	switch {
	case next == Ended:
		return 0, Ended
	case next == tooLong:
		r.fail(i, wire.LimitError("varint of more than 10 bytes"))
		return 0, tooLong
	case next == tooWide || v>>width != 0:
		r.fail(i, wire.LimitError("number with more bits than its type"))
		return 0, tooLong
	}
	return v, next
}

// stepOf returns the meaning of a negative index of number.
func stepOf(next int) step {
	if next == Ended {
		return short
	}
	return wrong
}

// size returns the length or count at b[i], and the index after it, as number does.
func (r *Reader) size(b []byte, i int) (n, next int) {
	v, next := r.number(b, i, 32)
	if next >= 0 && v > math.MaxInt32 {
		r.fail(i, wire.ErrNegative)
		return 0, tooLong
	}
	return int(v), next
}

// room makes room for n bytes and one more token. If that exceeds the limit, it notes the error at
// index i of the input and returns false.
func (r *Reader) room(n, i int) bool {
	if r.n+n+spaceFor <= len(r.w) {
		return true
	}
	if r.n+n > r.limits.Bytes {
		r.tooLarge(i)
		return false
	}
	size := min(max(2*len(r.w), r.n+n+spaceFor, 512), r.limits.Bytes+spaceFor)
	r.grow(size)
	r.w = r.w[:size]
	return true
}

// fields reads fields of a struct until the struct ends, or a nested struct or container begins.
func (r *Reader) fields(l *level, b []byte, i int) (int, step) {
	w, n, last := r.w, r.n, l.last
	for {
		if n+spaceFor > len(w) {
			if r.n = n; !r.room(0, i) {
				return i, r.pause(l, n, last, wrong)
			}
			w = r.w
		}
		if uint(i) >= uint(len(b)) {
			return i, r.pause(l, n, last, short)
		}
		kind, at := b[i]&15, i+1
		if kind == stop {
			w[n] = 0
			n, i = n+1, at
			if r.nextElement() {
				last = 0
				continue
			}
			return i, r.pause(l, n, last, leave)
		}
		id := int(last) + int(b[i]>>4)
		if b[i] < 0x10 {
			if id, at = r.longID(b, at); at < 0 {
				return i, r.pause(l, n, last, stepOf(at))
			}
		}
		if id > math.MaxInt16 {
			return i, r.pause(l, n, last, r.fail(i, wire.LimitError("number with more bits than its type")))
		}
		to := (*[spaceFor]byte)(w[n:])
		binary.BigEndian.PutUint32(to[:], uint32(wireOf[kind])<<24|uint32(uint16(id))<<8)
		switch kind {
		case isTrue, isFalse:
			to[wire.FieldHeader] = kind & isTrue // the only bit of isTrue, which isFalse lacks
			n += wire.FieldHeader + 1
		case i16, i32, i64:
			u, size := shortNumber(b[at:])
			if at += size; size == 0 || size == 3 && kind == i16 {
				if u, at = r.number(b, at-size, bitsOf[kind]); at < 0 {
					return i, r.pause(l, n, last, r.stopped(l, id, stepOf(at)))
				}
			}
			n += wire.FieldHeader + putNumber(to[wire.FieldHeader:], kind, unzig(u))
		default:
			if kind == text {
				if next, end := putText(w, n+wire.FieldHeader, b, at); next >= 0 {
					at, n = next, end
					break
				}
			}
			r.n, l.last = n+wire.FieldHeader, int16(id)
			depth := len(r.stack)
			var s step
			if at, s = r.value(kind, typeIn(l, kind), b, at); s != leave {
				return i, r.pause(l, n, last, r.stopped(l, id, s))
			}
			if len(r.stack) > depth {
				return at, enter
			}
			w, n = r.w, r.n
		}
		i, last = at, int16(id)
	}
}

// pause ends fields: the last complete field has this id, and the result has n bytes. It returns
// s.
func (r *Reader) pause(l *level, n int, last int16, s step) step {
	r.n = n
	if !r.inside {
		l.last = last
	}
	return s
}

// longID returns the field id at b[i], which is not a difference to the previous one, and the
// index after it, or a negative index as number does.
func (r *Reader) longID(b []byte, i int) (id, next int) {
	v, next := r.number(b, i, 16)
	return int(int16(unzig(v))), next
}

// shortNumber returns the varint of 3 bytes at most that b begins with, and its size; size 0 if
// there is none, or b has fewer than 3 bytes.
func shortNumber(b []byte) (u uint64, size int) {
	if len(b) < 3 {
		return 0, 0
	}
	u = uint64(b[0] & 0x7f)
	if b[0] < 0x80 {
		return u, 1
	}
	if u |= uint64(b[1]&0x7f) << 7; b[1] < 0x80 {
		return u, 2
	}
	if b[2] < 0x80 {
		return u | uint64(b[2])<<14, 3
	}
	return 0, 0
}

// typeIn returns the type of the field l.last of the struct l, if that is known and the field's
// value is of this kind; else nil. Only structs and containers have types.
func typeIn(l *level, kind byte) *schema.Type {
	if l.typ == nil || kind < list || kind > record {
		return nil
	}
	f := fieldOf(l.typ, l.last)
	if f == nil {
		return nil
	}
	return ofKind(f.Type, kind)
}

// stopped notes that the value of the field with this id ends too early or is invalid. When more
// bytes come, the field is read again.
func (r *Reader) stopped(l *level, id int, s step) step {
	if s == wrong || r.whole {
		l.last, r.inside = int16(id), true
	}
	return s
}

// bitsOf is the number of bits of each integer type.
var bitsOf = [16]int{i16: 16, i32: 32, i64: 64}

// value reads the value of this kind at b[i]. t is its type, or nil if that is unknown. The caller
// has written the value's field header, if it has one, and made room for a token. value returns
// the index after the bytes that it has read, and leave. For a struct or a non-empty container, it
// reads only the header, and adds a level.
func (r *Reader) value(kind byte, t *schema.Type, b []byte, i int) (int, step) {
	w := r.w[r.n:]
	switch kind {
	case isTrue, isFalse, i8:
		if i >= len(b) {
			return i, short
		}
		w[0] = b[i]
		if kind != i8 && b[i] != isTrue {
			w[0] = 0
		}
		r.n++
		return i + 1, leave
	case i16, i32, i64:
		v, next := r.number(b, i, bitsOf[kind])
		if next < 0 {
			return i, stepOf(next)
		}
		r.n += putNumber(w, kind, unzig(v))
		return next, leave
	case double:
		if len(b)-i < 8 {
			return i, short
		}
		u := binary.LittleEndian.Uint64(b[i:])
		if r.second {
			u = bits.ReverseBytes64(u)
		}
		binary.BigEndian.PutUint64(w, u)
		r.n += 8
		return i + 8, leave
	case text:
		return r.text(b, i)
	case record:
		return i, r.open(level{typ: t, kind: record}, i)
	case list, set:
		return r.list(t, b, i)
	case dict:
		return r.dict(t, b, i)
	}
	const size = 16
	switch {
	case kind != uuid || r.second:
		return i, r.fail(i, wire.ErrType)
	case len(b)-i < size:
		return i, short
	}
	r.n += copy(w[:size], b[i:])
	return i + size, leave
}

// text reads the text at b[i], as value does.
func (r *Reader) text(b []byte, i int) (int, step) {
	if next, to := putText(r.w, r.n, b, i); next >= 0 {
		r.n = to
		return next, leave
	}
	n, next := r.size(b, i)
	switch {
	case next < 0:
		return i, stepOf(next)
	case n > r.limits.Bytes-r.n:
		return i, r.tooLarge(i)
	case n > len(b)-next:
		return i, short
	case !r.room(4+n, i):
		return i, wrong
	}
	w := r.w[r.n:]
	binary.BigEndian.PutUint32(w, uint32(n))
	copy(w[4:], b[next:next+n])
	r.n += 4 + n
	return next + n, leave
}

// putText copies a text of fewer than 128 bytes from b[i] to w[n] and returns the indices after it
// in b and w. It returns -1 if the text is longer or incomplete, or if w lacks room for a token.
func putText(w []byte, n int, b []byte, i int) (next, to int) {
	if uint(i) >= uint(len(b)) || b[i] >= 0x80 {
		return -1, 0
	}
	size := int(b[i])
	i++
	next, to = i+size, n+4+size
	switch {
	case size <= 16 && i+16 <= len(b):
		binary.BigEndian.PutUint32(w[n:], uint32(size))
		*(*[16]byte)(w[n+4:]) = *(*[16]byte)(b[i:])
	case size <= 32 && i+32 <= len(b):
		binary.BigEndian.PutUint32(w[n:], uint32(size))
		*(*[32]byte)(w[n+4:]) = *(*[32]byte)(b[i:])
	case next > len(b) || to+spaceFor > len(w):
		return -1, 0
	default:
		binary.BigEndian.PutUint32(w[n:], uint32(size))
		copy(w[n+4:], b[i:next])
	}
	return next, to
}

// putNumber stores a number of the type and returns its size.
func putNumber(w []byte, kind byte, u uint64) int {
	switch kind {
	case i16:
		binary.BigEndian.PutUint16(w, uint16(u))
		return 2
	case i32:
		binary.BigEndian.PutUint32(w, uint32(u))
		return 4
	}
	binary.BigEndian.PutUint64(w, u)
	return 8
}

// open adds a level.
func (r *Reader) open(l level, i int) step {
	if len(r.stack) >= r.limits.Levels {
		return r.fail(i, ErrDepth)
	}
	r.stack = append(r.stack, l)
	return leave
}
