package jsonvalue

import (
	"encoding/binary"
	"fmt"
	"math"
)

// list reads a list after its opening bracket.
func (r *reader) list(p *plan, depth int) bool {
	r.out = append(r.out, byte(p.elem.wire), 0, 0, 0, 0)
	at := len(r.out)
	for n := 0; ; n++ {
		c := r.nextElement(n == 0)
		if c == ']' {
			return r.count(at, n)
		}
		if c == 0 || !r.value(p.elem, c, depth) {
			return r.atElement(n)
		}
	}
}

// set reads a set after its opening bracket. It leaves out elements that an earlier one equals, as
// setters of sets do.
func (r *reader) set(p *plan, depth int) bool {
	r.out = append(r.out, byte(p.elem.wire), 0, 0, 0, 0)
	at, elements, left := len(r.out), r.keys.begin(), 0
	for n := 0; ; n++ {
		c := r.nextElement(n == 0)
		if c == ']' {
			r.keys.end(elements)
			return r.count(at, left)
		}
		start := len(r.out)
		if c == 0 || !r.value(p.elem, c, depth) {
			return r.atElement(n)
		}
		if left++; !r.keys.add(elements, r.out, start, len(r.out)) {
			r.keys.drop()
			r.out, left = r.out[:start], left-1
		}
	}
}

// count stores the number of elements or pairs in the four bytes before at.
func (r *reader) count(at, n int) bool {
	if n > math.MaxInt32 {
		return r.fail(r.start, limitError("more elements than Thrift has numbers for"))
	}
	binary.BigEndian.PutUint32(r.out[at-4:], uint32(n))
	return true
}

// object reads a map after its opening brace.
func (r *reader) object(p *plan, depth int) bool {
	r.out = append(r.out, byte(p.key.wire), byte(p.elem.wire), 0, 0, 0, 0)
	at, keys := len(r.out), r.keys.begin()
	for n := 0; ; n++ {
		c := r.nextName(n == 0)
		if c == '}' {
			r.keys.end(keys)
			return r.count(at, n)
		}
		if c == 0 {
			return r.atElement(n)
		}
		key := len(r.out)
		if !r.key(p.key) || !r.newKey(keys, key) {
			return r.atElement(n)
		}
		if c = r.nextValue(); c == 0 || !r.value(p.elem, c, depth) {
			return r.atElement(n)
		}
	}
}

// newKey checks that no earlier key of the map has the same bytes as the key from offset key to
// the end of out. Otherwise it fails.
func (r *reader) newKey(keys keys, key int) bool {
	return r.keys.add(keys, r.out, key, len(r.out)) || r.fail(r.start, ErrDuplicate)
}

// pairs reads a map as an array of arrays of a key and a value, after its opening bracket.
func (r *reader) pairs(p *plan, depth int) bool {
	r.out = append(r.out, byte(p.key.wire), byte(p.elem.wire), 0, 0, 0, 0)
	at, keys := len(r.out), r.keys.begin()
	for n := 0; ; n++ {
		c := r.nextElement(n == 0)
		switch c {
		case ']':
			r.keys.end(keys)
			return r.count(at, n)
		case 0:
			return r.atElement(n)
		case '[':
		default:
			r.wrong(c, "a pair")
			return r.atElement(n)
		}
		key, start := len(r.out), 0
		if c = r.nextElement(true); c == ']' {
			r.fail(r.start, fmt.Errorf("%w: a pair without a key", ErrValue))
		} else if start = r.start; c != 0 && r.value(p.key, c, depth) {
			if !r.keys.add(keys, r.out, key, len(r.out)) {
				r.fail(start, ErrDuplicate)
			} else if c = r.nextElement(false); c == ']' {
				r.fail(r.start, fmt.Errorf("%w: a pair without a value", ErrValue))
			} else if c != 0 && r.value(p.elem, c, depth) {
				if c = r.nextElement(false); c == ']' {
					continue
				} else if c != 0 {
					r.fail(r.start, fmt.Errorf("%w: more than a key and a value", ErrValue))
				}
			}
		}
		return r.atElement(n)
	}
}
