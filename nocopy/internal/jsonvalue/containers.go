package jsonvalue

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// list reads a list or set of type t after its opening bracket. Of a set it leaves out elements
// that an earlier one equals, as setters of sets do.
func (r *reader) list(t *schema.Type, depth int) bool {
	r.out = append(r.out, byte(t.Elem().Wire()), 0, 0, 0, 0)
	at, distinct, elements, left := len(r.out), t.Wire() == wire.Set, r.beginKeys(), 0
	for n := 0; ; n++ {
		c := r.nextElement(n == 0)
		if c == ']' {
			r.endKeys(&elements)
			return r.count(at, left)
		}
		start := len(r.out)
		if c == 0 || !r.value(t.Elem(), c, depth) {
			return r.atElement(n)
		}
		if left++; distinct && !r.addKey(&elements, start) {
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

// object reads a map of type t after its opening brace.
func (r *reader) object(t *schema.Type, depth int) bool {
	r.out = append(r.out, byte(t.Key().Wire()), byte(t.Elem().Wire()), 0, 0, 0, 0)
	at, keys := len(r.out), r.beginKeys()
	for n := 0; ; n++ {
		c := r.nextName(n == 0)
		if c == '}' {
			r.endKeys(&keys)
			return r.count(at, n)
		}
		if c == 0 {
			return r.atElement(n)
		}
		key := len(r.out)
		if !r.key(t.Key()) || !r.addKey(&keys, key) && !r.fail(r.start, ErrDuplicate) {
			return r.atElement(n)
		}
		if c = r.nextValue(); c == 0 || !r.value(t.Elem(), c, depth) {
			return r.atElement(n)
		}
	}
}

// pairs reads a map of type t as an array of arrays of a key and a value, after its opening
// bracket.
func (r *reader) pairs(t *schema.Type, depth int) bool {
	r.out = append(r.out, byte(t.Key().Wire()), byte(t.Elem().Wire()), 0, 0, 0, 0)
	at, keys := len(r.out), r.beginKeys()
	for n := 0; ; n++ {
		c := r.nextElement(n == 0)
		if c == ']' {
			r.endKeys(&keys)
			return r.count(at, n)
		}
		if c == 0 || !r.pair(t, c, &keys, depth) {
			return r.atElement(n)
		}
	}
}

// pair reads a key and a value that are an array, which begins with the last token, c. keys are
// those of the map.
func (r *reader) pair(t *schema.Type, c byte, keys *keys, depth int) bool {
	if c != '[' {
		return r.wrong(c, "a pair")
	}
	key := len(r.out)
	c = r.nextElement(true)
	if c == ']' {
		return r.badPair("a pair without a key")
	}
	start := r.start
	if c == 0 || !r.value(t.Key(), c, depth) {
		return false
	}
	if !r.addKey(keys, key) {
		return r.fail(start, ErrDuplicate)
	}
	c = r.nextElement(false)
	if c == ']' {
		return r.badPair("a pair without a value")
	}
	if c == 0 || !r.value(t.Elem(), c, depth) {
		return false
	}
	switch r.nextElement(false) {
	case ']':
		return true
	case 0:
		return false
	}
	return r.badPair("more than a key and a value")
}

// badPair fails at the last token because a pair is not one.
func (r *reader) badPair(text string) bool {
	return r.fail(r.start, fmt.Errorf("%w: %s", ErrValue, text))
}
