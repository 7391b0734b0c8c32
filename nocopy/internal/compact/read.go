package compact

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// ErrDepth is what is wrong with bytes that have more levels than Limits has.
var ErrDepth = wire.LimitError("nested too deeply")

// Limits bounds what a Reader takes.
type Limits struct {
	Bytes  int // of Thrift Binary
	Levels int // of structs and containers in each other
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
	r.n, r.limits, r.err, r.inside = 0, l, nil, false
	r.w = r.w[:min(cap(r.w), l.Bytes+spaceFor)]
	r.stack = append(r.stack[:0], level{typ: ofKind(t, record), kind: record})
}

// Bytes returns the Thrift Binary that was made. It is good until the next Reset.
func (r *Reader) Bytes() []byte { return r.w[:r.n] }

// Len returns how many bytes of Thrift Binary were made.
func (r *Reader) Len() int { return r.n }

// Memory returns the memory for Thrift Binary; SetMemory gives it other.
func (r *Reader) Memory() []byte { return r.w[:cap(r.w)] }

// SetMemory gives the Reader memory for Thrift Binary. It comes before Reset.
func (r *Reader) SetMemory(w []byte) { r.w = w }

// Fault returns where in the input something is wrong, and what.
func (r *Reader) Fault() (at int, err error) { return r.at, r.err }

// Path calls step for each struct and container that has what is wrong in it, outermost first: for
// a struct with its type and the id of the field, for a container with a nil Type and the number
// of the element or pair. It ends before a struct of which nothing is known, and when step returns
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
// returns the index after what was read. With More that is the beginning of a value of which b has
// only a part, and the next call must have it again.
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
	return r.fail(at, wire.LimitError("message of more than Limits.MaxBytes = "+strconv.Itoa(r.limits.Bytes)+" in Thrift Binary"))
}

// varint returns the varint at b[i] and the index after it. The index is ended if b ends before,
// and tooLong if the varint takes more than 10 bytes or 64 bits.
func varint(b []byte, i int) (v uint64, next int) {
	if i+8 <= len(b) {
		v = binary.LittleEndian.Uint64(b[i:])
		if ends := ^v & (1 << 7 * everyByte); ends != 0 {
			last := ends & -ends // the first bit that ends a varint
			v &= (last<<1 - 1) & (0x7f * everyByte)
			v = v&0x007f007f007f007f | v&0x7f007f007f007f00>>1
			v = v&0x00003fff00003fff | v&0x3fff00003fff0000>>2
			v = v&0x000000000fffffff | v&0x0fffffff00000000>>4
			return v, i + bits.TrailingZeros64(last)/8 + 1
		}
		v = 0
	}
	for shift := 0; shift < 70; shift += 7 {
		if i >= len(b) {
			return 0, ended
		}
		c := b[i]
		i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if shift == 63 && c > 1 {
				return 0, tooWide
			}
			return v, i
		}
	}
	return 0, tooLong
}

// everyByte has 1 in each byte.
const everyByte = 0x0101010101010101

const (
	ended   = -1
	tooLong = -2
	tooWide = -3
)

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

func unzig(v uint64) uint64 { return v>>1 ^ -(v & 1) }

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
				w = r.w
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

// value reads the value of this type at b[i], of type t if that is not nil, of which the header,
// if it has one, was written. It returns the index after it and leave. Of a struct or container
// that is not empty it reads the header, and adds a level. There is room for a token.
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

// list reads the header of a list or set of type t.
func (r *Reader) list(t Type, b []byte, i int) (int, step) {
	if i >= len(b) {
		return i, short
	}
	elem, count, next := b[i]&15, int(b[i]>>4), i+1
	if count == 15 {
		if count, next = r.size(b, next); next < 0 {
			return i, stepOf(next)
		}
	}
	switch {
	case elem > uuid || elem == stop && count > 0:
		return i, r.fail(i, wire.ErrType)
	case r.whole && count > (len(b)-next)/max(1, leastOf[elem]):
		return i, r.fail(i, io.ErrUnexpectedEOF)
	}
	w := r.w[r.n:]
	w[0] = wireOf[elem]
	binary.BigEndian.PutUint32(w[1:], uint32(count))
	r.n += 5
	if count == 0 {
		return next, leave
	}
	l := level{kind: list, left: uint32(count), count: uint32(count), elem: elem}
	if t != nil && elem >= list && elem <= record {
		l.typ = ofKind(t.Elem(), elem)
	}
	return next, r.open(l, i)
}

// dict reads the header of a map of type t.
func (r *Reader) dict(t Type, b []byte, i int) (int, step) {
	count, next := r.size(b, i)
	if next < 0 {
		return i, stepOf(next)
	}
	w := r.w[r.n:]
	w[0], w[1] = 0, 0
	binary.BigEndian.PutUint32(w[2:], uint32(count))
	if count == 0 {
		if t != nil {
			w[0], w[1] = t.Key().Wire(), t.Elem().Wire()
		}
		r.n += 6
		return next, leave
	}
	if next >= len(b) {
		return i, short
	}
	l := level{kind: dict, left: 2 * uint32(count), count: uint32(count), keys: b[next] >> 4, elem: b[next] & 15}
	switch {
	case wireOf[l.keys] == 0 || wireOf[l.elem] == 0:
		return i, r.fail(next, wire.ErrType)
	case r.whole && count > (len(b)-next-1)/(leastOf[l.keys]+leastOf[l.elem]):
		return i, r.fail(i, io.ErrUnexpectedEOF)
	}
	w[0], w[1] = wireOf[l.keys], wireOf[l.elem]
	if t != nil {
		l.key, l.typ = ofKind(t.Key(), l.keys), ofKind(t.Elem(), l.elem)
	}
	r.n += 6
	return next + 1, r.open(l, i)
}

// elements reads elements of a list until it ends, or a struct or container begins.
func (r *Reader) elements(l *level, b []byte, i int) (int, step) {
	switch l.elem {
	case i16, i32, i64:
		return r.numbers(l, b, i)
	case isTrue, isFalse, i8:
		n := min(int(l.left), len(b)-i)
		if !r.room(n, i) {
			return i, wrong
		}
		w := r.w[r.n : r.n+n]
		copy(w, b[i:])
		if l.elem != i8 {
			for k, c := range w {
				if w[k] = 1; c != isTrue {
					w[k] = 0
				}
			}
		}
		r.n += n
		l.left -= uint32(n)
		if l.left > 0 {
			return i + n, short
		}
		return i + n, leave
	}
	depth := len(r.stack)
	for l.left > 0 {
		if r.n+spaceFor > len(r.w) && !r.room(0, i) {
			return i, wrong
		}
		next, s := r.value(l.elem, l.typ, b, i)
		if s != leave {
			return i, s
		}
		i = next
		if len(r.stack) > depth {
			r.stack[depth-1].left-- // adding a level may have moved l
			return i, enter
		}
		l.left--
	}
	return i, leave
}

// numbers reads elements that are numbers.
func (r *Reader) numbers(l *level, b []byte, i int) (int, step) {
	width := bitsOf[l.elem]
	size := width / 8
	for l.left > 0 {
		if !r.room(size, i) {
			return i, wrong
		}
		w := r.w[r.n:]
		k, most := 0, int(min(uint(l.left), uint(len(w)/size)))
		for ; k < most; k++ {
			var u uint64
			next := i + 1
			if uint(i) < uint(len(b)) && b[i] < 0x80 {
				u = uint64(b[i])
			} else if u, next = r.number(b, i, width); next < 0 {
				l.left -= uint32(k)
				r.n += k * size
				return i, stepOf(next)
			}
			i = next
			u = unzig(u)
			switch size {
			case 2:
				binary.BigEndian.PutUint16(w[2*k:], uint16(u))
			case 4:
				binary.BigEndian.PutUint32(w[4*k:], uint32(u))
			default:
				binary.BigEndian.PutUint64(w[8*k:], u)
			}
		}
		l.left -= uint32(k)
		r.n += k * size
	}
	return i, leave
}

// pairs reads keys and values of a map until it ends, or a struct or container begins.
func (r *Reader) pairs(l *level, b []byte, i int) (int, step) {
	depth := len(r.stack)
	for l.left > 0 {
		if r.n+spaceFor > len(r.w) && !r.room(0, i) {
			return i, wrong
		}
		kind, t := l.elem, l.typ
		if l.left%2 == 0 {
			kind, t = l.keys, l.key
		}
		next, s := r.value(kind, t, b, i)
		if s != leave {
			return i, s
		}
		i = next
		if len(r.stack) > depth {
			r.stack[depth-1].left--
			return i, enter
		}
		l.left--
	}
	return i, leave
}
