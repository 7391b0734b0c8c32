package compact

import (
	"encoding/binary"
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// list reads the header of a list or set of type t.
func (r *Reader) list(t *schema.Type, b []byte, i int) (int, step) {
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
	case !isKind(elem) && (elem != stop || count > 0):
		return i, r.fail(i, wire.ErrType)
	case r.whole && count > (len(b)-next)/max(1, leastOf[elem]):
		return i, r.fail(i, io.ErrUnexpectedEOF)
	}
	w := r.w[r.n:]
	w[0] = byte(wireOf[elem])
	binary.BigEndian.PutUint32(w[1:], uint32(count))
	r.n += 5
	if count == 0 {
		return next, leave
	}
	l := level{kind: list, left: uint32(count), count: uint32(count), keys: elem, elem: elem}
	if t != nil && elem >= list && elem <= record {
		l.typ = ofKind(t.Elem(), elem)
		l.key = l.typ
	}
	return next, r.open(l, i)
}

// dict reads the header of a map of type t.
func (r *Reader) dict(t *schema.Type, b []byte, i int) (int, step) {
	count, next := r.size(b, i)
	if next < 0 {
		return i, stepOf(next)
	}
	w := r.w[r.n:]
	w[0], w[1] = 0, 0
	binary.BigEndian.PutUint32(w[2:], uint32(count))
	if count == 0 {
		if t != nil {
			w[0], w[1] = byte(t.Key().Wire()), byte(t.Elem().Wire())
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
	w[0], w[1] = byte(wireOf[l.keys]), byte(wireOf[l.elem])
	if t != nil {
		l.key, l.typ = ofKind(t.Key(), l.keys), ofKind(t.Elem(), l.elem)
	}
	r.n += 6
	return next + 1, r.open(l, i)
}

// elements reads elements of a list, or keys and values of a map, until it ends, or a nested
// struct or container begins.
func (r *Reader) elements(l *level, b []byte, i int) (int, step) {
	if l.kind == list && l.elem >= i16 && l.elem <= i64 {
		return r.numbers(l, b, i)
	}
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
			r.stack[depth-1].left-- // not l: adding a level may have moved it
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
