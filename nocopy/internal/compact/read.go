package compact

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// ErrDepth is what is wrong with bytes that have more levels than Limits has.
var ErrDepth = wire.LimitError("nested too deeply")

// Limits bounds what a Reader takes.
type Limits struct {
	Bytes  int    // of Thrift Binary
	Levels int    // of structs and containers in each other
	Name   string // of the setting that Bytes is from, for errors; "" means Limits.MaxBytes
}

// Status is how far a Reader came.
type Status uint8

// Done: the struct has ended. More: it goes on after the bytes that there are. Failed: the bytes
// are wrong; Fault tells why.
const (
	Done Status = iota
	More
	Failed
)

// Reader turns a struct of the compact protocol into Thrift Binary. Reset begins one.
type Reader struct {
	w []byte // memory for Thrift Binary
	n int    // how many bytes of it are made

	stack  []level
	limits Limits
	whole  bool // the input has no more bytes

	err    error // what is wrong
	at     int   // in the input, where
	inside bool  // in a field of the innermost level, when that is a struct
	large  bool  // it becomes more than Limits.Bytes
}

// level is a struct or container whose end has not come.
type level struct {
	typ   Type   // of a struct; of elements and values
	key   Type   // of keys
	left  uint32 // elements that are still to come; of a map, keys and values
	count uint32
	last  int16 // id of a struct's last field
	kind  byte  // record, list (a set, too) or dict
	elem  byte  // type of elements or values
	keys  byte  // type of keys
}

// spaceFor is how many bytes a token takes at most, except longer texts: the header of a field,
// and a uuid or a text that putText moves at once, with some to spare.
const spaceFor = 64

// Reset begins a struct of type t, which may be nil. The Reader keeps its memory.
func (r *Reader) Reset(t Type, l Limits) {
	r.n, r.limits, r.err, r.inside, r.large = 0, l, nil, false, false
	r.w = r.w[:min(cap(r.w), l.Bytes+spaceFor)]
	r.stack = append(r.stack[:0], level{typ: ofKind(t, record), kind: record})
}

// Bytes returns the Thrift Binary that was made. It is good until the next Reset.
func (r *Reader) Bytes() []byte { return r.w[:r.n] }

// Len returns how many bytes of Thrift Binary were made.
func (r *Reader) Len() int { return r.n }

// Fault returns where in the input something is wrong, and what.
func (r *Reader) Fault() (at int, err error) { return r.at, r.err }

// IsLarge reports whether what is wrong is that it becomes more than Limits.Bytes.
func (r *Reader) IsLarge() bool { return r.large }

// Path calls step for each struct and container that has what is wrong in it, outermost first: for
// a struct with its type and the id of the field, for a container with a nil Type and the number
// of the element or pair. It ends before a struct whose type is not known, and when step returns
// false.
func (r *Reader) Path(step func(t Type, n int) bool) {
	for k := range r.stack {
		l := &r.stack[k]
		innermost := k == len(r.stack)-1
		if l.kind == record {
			if l.typ == nil || innermost && !r.inside || !step(l.typ, int(l.last)) {
				return
			}
			continue
		}
		n := l.count - l.left
		if l.kind == dict {
			n += l.count
		}
		if !innermost { // the value under way counts as read
			n--
		}
		if l.kind == dict {
			n /= 2
		}
		if !step(nil, int(n)) {
			return
		}
	}
}

// Read reads on at b[i], where the call before stopped. whole tells that nothing comes after b. It
// returns the index after what was read. With More, b ends within the value that begins
// there: the next call must have that value from its beginning.
func (r *Reader) Read(b []byte, i int, whole bool) (int, Status) {
	r.whole = whole
	for len(r.stack) > 0 {
		l := &r.stack[len(r.stack)-1]
		var s step
		switch l.kind {
		case record:
			i, s = r.fields(l, b, i)
		case list:
			i, s = r.elements(l, b, i)
		default:
			i, s = r.pairs(l, b, i)
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

// step is what comes after a part of a struct or container.
type step uint8

const (
	enter step = iota // a struct or container in it
	leave             // its end
	short             // the bytes end
	wrong             // they are wrong
)

// fail notes what is wrong.
func (r *Reader) fail(at int, err error) step {
	r.at, r.err = at, err
	return wrong
}

// tooLarge notes that what is at this index of the input becomes too much.
func (r *Reader) tooLarge(at int) step {
	r.large = true
	name := cmp.Or(r.limits.Name, "Limits.MaxBytes")
	return r.fail(at, wire.LimitError("message of more than "+name+" = "+strconv.Itoa(r.limits.Bytes)+" in Thrift Binary"))
}

// number returns the varint at b[i], of at most width bits, and the index after it; or a
// negative index if there is none, having noted why.
func (r *Reader) number(b []byte, i, width int) (v uint64, next int) {
	v, next = varint(b, i)
	switch {
	case next == ended:
		return 0, ended
	case next == tooLong:
		r.fail(i, wire.LimitError("varint of more than 10 bytes"))
		return 0, tooLong
	case next == tooWide || v>>width != 0:
		r.fail(i, wire.LimitError("number with more bits than its type"))
		return 0, tooLong
	}
	return v, next
}

// stepOf returns what a negative index of number means.
func stepOf(next int) step {
	if next == ended {
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

// room makes room for n bytes and a token more. It returns false if that exceeds the limit, having
// noted that what is at index i of the input is too much.
func (r *Reader) room(n, i int) bool {
	if r.n+n+spaceFor <= len(r.w) {
		return true
	}
	if r.n+n > r.limits.Bytes {
		r.tooLarge(i)
		return false
	}
	size := min(max(2*len(r.w), r.n+n+spaceFor, 512), r.limits.Bytes+spaceFor)
	w := takeMemory(size)
	copy(w, r.w[:r.n])
	giveMemory(r.w)
	r.w = w[:size]
	return true
}

// fields reads fields of a struct until it ends, or another struct or container begins.
func (r *Reader) fields(l *level, b []byte, i int) (int, step) {
	w, n, last := r.w, r.n, l.last
	var s step
	var of *level // the list that the struct is an element of
	if k := len(r.stack) - 2; k >= 0 && r.stack[k].kind == list {
		of = &r.stack[k]
	}
fields:
	for {
		if n+spaceFor > len(w) {
			if r.n = n; !r.room(0, i) {
				s = wrong
				break fields
			}
			w = r.w
		}
		if uint(i) >= uint(len(b)) {
			s = short
			break fields
		}
		kind, at := b[i]&15, i+1
		if kind == stop {
			w[n] = 0
			n, i = n+1, at
			if of != nil && of.left > 0 { // the next element
				of.left--
				last = 0
				continue
			}
			s = leave
			break fields
		}
		id := int(last) + int(b[i]>>4)
		if b[i] < 0x10 {
			v, next := r.number(b, at, 16)
			if next < 0 {
				s = stepOf(next)
				break fields
			}
			id, at = int(int16(unzig(v))), next
		}
		if id > math.MaxInt16 {
			s = r.fail(i, wire.LimitError("number with more bits than its type"))
			break fields
		}
		binary.BigEndian.PutUint32(w[n:], uint32(wireOf[kind])<<24|uint32(uint16(id))<<8)
		var u uint64
		if kind >= i16 && kind <= i64 {
			if uint(at) < uint(len(b)) && b[at] < 0x80 {
				u = uint64(b[at])
				at++
			} else if u, at = r.number(b, at, bitsOf[kind]); at < 0 {
				s = r.stopped(l, id, stepOf(at))
				break fields
			}
			u = unzig(u)
		}
		switch kind {
		case isTrue:
			w[n+3] = 1
			n += 4
		case isFalse:
			n += 4
		case i16:
			binary.BigEndian.PutUint16(w[n+3:], uint16(u))
			n += 5
		case i32:
			binary.BigEndian.PutUint32(w[n+3:], uint32(u))
			n += 7
		case i64:
			binary.BigEndian.PutUint64(w[n+3:], u)
			n += 11
		case text:
			if next, to := putText(w, n+3, b, at); next >= 0 {
				at, n = next, to
				break
			}
			fallthrough
		default:
			r.n, l.last = n+3, int16(id)
			var t Type
			if l.typ != nil && kind >= list && kind <= record {
				t = ofKind(l.typ.Field(int16(id)), kind)
			}
			depth := len(r.stack)
			if at, s = r.value(kind, t, b, at); s != leave {
				s = r.stopped(l, id, s)
				break fields
			}
			if len(r.stack) > depth {
				return at, enter
			}
			w, n = r.w, r.n
		}
		i, last = at, int16(id)
	}
	r.n = n
	if !r.inside {
		l.last = last
	}
	return i, s
}

// stopped notes that the value of the field with this id ends too early or is wrong. When more
// bytes come the field is read again.
func (r *Reader) stopped(l *level, id int, s step) step {
	if s == wrong || r.whole {
		l.last, r.inside = int16(id), true
	}
	return s
}

// bitsOf is how many bits a number of the type has.
var bitsOf = [16]int{i16: 16, i32: 32, i64: 64}

// value reads the value of this kind at b[i]; t is its type, nil if that is not known. If it has a
// header in Thrift Binary, that was written. value returns the index after what it has read, and
// leave. Of a struct or of a container that is not empty it reads only the header, and adds a
// level for it. There is room for a token.
func (r *Reader) value(kind byte, t Type, b []byte, i int) (int, step) {
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
		binary.BigEndian.PutUint64(w, binary.LittleEndian.Uint64(b[i:]))
		r.n += 8
		return i + 8, leave
	case uuid:
		if len(b)-i < 16 {
			return i, short
		}
		copy(w[:16], b[i:])
		r.n += 16
		return i + 16, leave
	case text:
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
		w = r.w[r.n:]
		binary.BigEndian.PutUint32(w, uint32(n))
		copy(w[4:], b[next:next+n])
		r.n += 4 + n
		return next + n, leave
	case record:
		return i, r.open(level{typ: t, kind: record}, i)
	case list, set:
		return r.list(t, b, i)
	case dict:
		return r.dict(t, b, i)
	}
	return i, r.fail(i, wire.ErrType)
}

// putText stores a text of less than 128 bytes at w[n], where there is room for a token, and
// returns the indices after it in b and in w; or -1 if it is longer, not whole, or w has no room.
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
