package parquetmeta

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// The types of Thrift's compact protocol. A bool as a field is one of the first two.
const (
	stop    = 0
	isTrue  = 1
	isFalse = 2
	i8      = 3
	i16     = 4
	i32     = 5
	i64     = 6
	double  = 7
	text    = 8
	list    = 9
	set     = 10
	dict    = 11
	record  = 12
	uuid    = 13
)

// bad is the index that a scanner's methods return if the bytes are wrong. The scanner knows
// why.
const bad = -1

// maxLevels is how many structs and containers may nest.
const maxLevels = 128

// scanner passes over a struct in the compact protocol and reads numbers and texts where they
// are. It allocates nothing. Its methods take an index, and return the index after what they
// read.
type scanner struct {
	b   []byte
	at  int // where something is wrong
	err error
}

// fail notes the error and returns bad.
func (s *scanner) fail(at int, err error) int {
	if s.err == nil {
		s.at, s.err = min(at, len(s.b)), err
	}
	return bad
}

// kinds are the names of types.
var kinds = [...]string{"stop", "bool", "bool", "i8", "i16", "i32", "i64", "double", "string", "list", "set", "map", "struct", "uuid"}

// elements notes that the elements of a list have another type than the format says.
func (s *scanner) elements(at int, have, want byte) int {
	return s.fail(at, fmt.Errorf("%w: elements %s where %s belongs", nocopy.ErrType, kinds[have], kinds[want]))
}

// field reads the header of the field after one with the id last. Its kind is stop at the
// struct's end, and if the bytes are wrong.
func (s *scanner) field(i int, last int16) (id int16, kind byte, next int) {
	if uint(i) >= uint(len(s.b)) {
		return 0, stop, s.fail(i, io.ErrUnexpectedEOF)
	}
	c := s.b[i]
	switch {
	case c >= 0x10:
		sum := int(last) + int(c>>4)
		if sum > math.MaxInt16 {
			return 0, stop, s.fail(i, nocopy.ErrLimit)
		}
		return int16(sum), c & 15, i + 1
	case c == stop:
		return 0, stop, i + 1
	}
	v, next := s.number(i+1, 16)
	if next < 0 {
		return 0, stop, bad
	}
	return int16(v), c, next
}

// value passes over a field's value. level counts the structs and containers that it is in.
func (s *scanner) value(kind byte, i, level int) int {
	switch kind {
	case isTrue, isFalse:
		return i
	case i8:
		return s.fixed(i, 1, 1)
	case i16, i32, i64:
		return s.varint(i)
	case double:
		return s.fixed(i, 8, 1)
	case uuid:
		return s.fixed(i, 16, 1)
	case text:
		_, next := s.bytes(i)
		return next
	case list, set:
		return s.list(i, level)
	case dict:
		return s.dict(i, level)
	case record:
		return s.record(i, level)
	}
	return s.fail(i, nocopy.ErrType)
}

// fixed passes over n values of this size.
func (s *scanner) fixed(i, size, n int) int {
	if n > (len(s.b)-i)/size {
		return s.fail(len(s.b), io.ErrUnexpectedEOF)
	}
	return i + size*n
}

// everyByte has 1 in each byte.
const everyByte = 0x0101010101010101

// varint passes over a number.
func (s *scanner) varint(i int) int {
	if i+8 <= len(s.b) {
		if ends := ^binary.LittleEndian.Uint64(s.b[i:]) & (0x80 * everyByte); ends != 0 {
			return i + bits.TrailingZeros64(ends)/8 + 1
		}
	}
	for k := i; k < i+binary.MaxVarintLen64; k++ {
		if k >= len(s.b) {
			return s.fail(k, io.ErrUnexpectedEOF)
		}
		if s.b[k] < 0x80 {
			return k + 1
		}
	}
	return s.fail(i, nocopy.ErrLimit)
}

// number reads a signed number of this many bits.
func (s *scanner) number(i, width int) (int64, int) {
	u := uint64(0)
	for k := range binary.MaxVarintLen64 {
		if uint(i+k) >= uint(len(s.b)) {
			return 0, s.fail(len(s.b), io.ErrUnexpectedEOF)
		}
		c := s.b[i+k]
		u |= uint64(c&0x7f) << (7 * k & 63)
		if c < 0x80 {
			if u>>(width-1)>>1 != 0 || k == 9 && c > 1 {
				break
			}
			return int64(u>>1 ^ -(u & 1)), i + k + 1
		}
	}
	return 0, s.fail(i, nocopy.ErrLimit)
}

// size reads a length or count.
func (s *scanner) size(i int) (int, int) {
	if uint(i) < uint(len(s.b)) && s.b[i] < 0x80 {
		return int(s.b[i]), i + 1
	}
	u, n := binary.Uvarint(s.b[min(uint(i), uint(len(s.b))):])
	switch {
	case n == 0 && len(s.b)-i < binary.MaxVarintLen64:
		return 0, s.fail(len(s.b), io.ErrUnexpectedEOF)
	case n <= 0 || u > math.MaxUint32:
		return 0, s.fail(i, nocopy.ErrLimit)
	case u > math.MaxInt32:
		return 0, s.fail(i, nocopy.ErrNegative)
	}
	return int(u), i + n
}

// bytes reads a string or binary, which aliases the scanner's bytes.
func (s *scanner) bytes(i int) ([]byte, int) {
	n, i := s.size(i)
	if i < 0 {
		return nil, bad
	}
	if n > len(s.b)-i {
		return nil, s.fail(len(s.b), io.ErrUnexpectedEOF)
	}
	return s.b[i : i+n : i+n], i + n
}

// listHeader reads the type and number of a list's elements.
func (s *scanner) listHeader(i int) (elem byte, n, next int) {
	if uint(i) >= uint(len(s.b)) {
		return 0, 0, s.fail(i, io.ErrUnexpectedEOF)
	}
	elem, n, next = s.b[i]&15, int(s.b[i]>>4), i+1
	if n == 15 {
		if n, next = s.size(next); next < 0 {
			return 0, 0, bad
		}
	}
	switch {
	case elem > uuid, elem == stop && n > 0:
		return 0, 0, s.fail(i, nocopy.ErrType)
	case n > len(s.b)-next: // an element has a byte at least
		return 0, 0, s.fail(len(s.b), io.ErrUnexpectedEOF)
	}
	return elem, n, next
}

// list passes over a list or set.
func (s *scanner) list(i, level int) int {
	if level >= maxLevels {
		return s.fail(i, nocopy.ErrLimit)
	}
	elem, n, i := s.listHeader(i)
	if i < 0 {
		return bad
	}
	switch elem {
	case isTrue, isFalse, i8:
		return s.fixed(i, 1, n)
	case double:
		return s.fixed(i, 8, n)
	case uuid:
		return s.fixed(i, 16, n)
	case i16, i32, i64:
		for ; n > 0 && i >= 0; n-- {
			if uint(i) < uint(len(s.b)) && s.b[i] < 0x80 {
				i++
				continue
			}
			i = s.varint(i)
		}
		return i
	}
	for ; n > 0 && i >= 0; n-- {
		switch {
		case elem == record:
			i = s.record(i, level+1)
		case elem == text && uint(i) < uint(len(s.b)) && s.b[i] < 0x80:
			i += int(s.b[i]) + 1 // the next step finds an end beyond the bytes
		default:
			i = s.value(elem, i, level+1)
		}
	}
	return i
}

// dict passes over a map.
func (s *scanner) dict(i, level int) int {
	if level >= maxLevels {
		return s.fail(i, nocopy.ErrLimit)
	}
	n, i := s.size(i)
	if n == 0 || i < 0 {
		return i
	}
	if i >= len(s.b) || n > len(s.b)-i {
		return s.fail(len(s.b), io.ErrUnexpectedEOF)
	}
	kinds := [2]byte{s.b[i] >> 4, s.b[i] & 15}
	if kinds[0] == stop || kinds[0] > uuid || kinds[1] == stop || kinds[1] > uuid {
		return s.fail(i, nocopy.ErrType)
	}
	i++
	for k := range 2 * n {
		if kind := kinds[k%2]; kind == isTrue || kind == isFalse {
			i = s.fixed(i, 1, 1)
		} else {
			i = s.value(kind, i, level+1)
		}
		if i < 0 {
			return bad
		}
	}
	return i
}

// record passes over a struct. Footers consist of numbers, texts, structs and short lists: record
// passes over these without a call for each, except lists. Nested structs only need to be counted,
// since ids don't matter.
func (s *scanner) record(i, level int) int {
	b := s.b
	for outer := level; ; {
		if uint(i) >= uint(len(b)) { // or bad: then the first error stays
			return s.fail(i, io.ErrUnexpectedEOF)
		}
		c := b[i]
		i++
		if c < 0x10 {
			if c == stop {
				if level == outer {
					return i
				}
				level--
				continue
			}
			if i = s.varint(i); i < 0 { // the id
				return bad
			}
		}
		switch c & 15 {
		case isTrue, isFalse:
		case i16, i32, i64:
			if i+8 <= len(b) {
				w := (*[8]byte)(b[i:])
				if w[0] < 0x80 {
					i++
					continue
				}
				if w[1] < 0x80 {
					i += 2
					continue
				}
				if w[2] < 0x80 {
					i += 3
					continue
				}
				if w[3] < 0x80 {
					i += 4
					continue
				}
			}
			i = s.varint(i)
		case text:
			if uint(i) < uint(len(b)) && b[i] < 0x80 {
				i += int(b[i]) + 1 // an end beyond b is found above
				continue
			}
			_, i = s.bytes(i)
		case list:
			i = s.usualList(i, level)
		case record:
			if level++; level >= maxLevels {
				return s.fail(i, nocopy.ErrLimit)
			}
		default:
			i = s.value(c&15, i, level)
		}
	}
}

// usualList is list, faster for those that most columns have: a path of one name, or encodings. An
// end beyond the bytes is left for the caller to find.
func (s *scanner) usualList(i, level int) int {
	b := s.b
	if i+8 <= len(b) && b[i] == 1<<4|text && b[i+1] < 0x80 { // a path
		return i + int(b[i+1]) + 2
	}
	if i+8 <= len(b) && b[i]&15 == i32 && b[i] < 6<<4 { // few encodings
		n := uint(b[i]>>4) * 8
		if binary.LittleEndian.Uint64(b[i:])>>8&(1<<n-1)&(0x80*everyByte) == 0 {
			return i + int(n/8) + 1
		}
	}
	return s.list(i, level)
}
