package capture

import (
	"encoding/binary"
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// This file finds where a struct ends that has no frame, and appends its bytes to the body.

// fixedSizes has the sizes of types whose values all have the same; 0 for others.
var fixedSizes = [256]int{
	nocopy.WireBool: 1, nocopy.WireI8: 1, nocopy.WireI16: 2, nocopy.WireI32: 4,
	nocopy.WireI64: 8, nocopy.WireDouble: 8, nocopy.WireUUID: 16,
}

// errDeep returns an error if a value is nested too deeply.
func errDeep(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: more than %d levels", errMalformed, maxDepth)
	}
	return nil
}

// next appends n bytes and returns them.
func (s *stream) next(n int) ([]byte, error) {
	if err := s.grow(n); err != nil {
		return nil, err
	}
	return s.body[len(s.body)-n:], nil
}

// binaryStruct passes a struct in Thrift Binary.
func (s *stream) binaryStruct(depth int) error {
	if err := errDeep(depth); err != nil {
		return err
	}
	for {
		b, err := s.next(1)
		if err != nil || nocopy.WireType(b[0]) == nocopy.WireStop {
			return err
		}
		t := nocopy.WireType(b[0])
		if _, err := s.next(2); err != nil { // the id
			return err
		}
		if err := s.binaryValue(t, depth+1); err != nil {
			return err
		}
	}
}

// binaryValue passes a value of a type.
func (s *stream) binaryValue(t nocopy.WireType, depth int) error {
	if n := fixedSizes[t]; n > 0 {
		return s.grow(n)
	}
	if err := errDeep(depth); err != nil {
		return err
	}
	switch t {
	case nocopy.WireString:
		n, err := s.length()
		if err != nil {
			return err
		}
		return s.grow(n)
	case nocopy.WireStruct:
		return s.binaryStruct(depth)
	case nocopy.WireList, nocopy.WireSet:
		b, err := s.next(1)
		if err != nil {
			return err
		}
		return s.binaryElements(depth+1, nocopy.WireType(b[0]))
	case nocopy.WireMap:
		b, err := s.next(2)
		if err != nil {
			return err
		}
		return s.binaryElements(depth+1, nocopy.WireType(b[0]), nocopy.WireType(b[1]))
	}
	return fmt.Errorf("%w: no type %d", errMalformed, t)
}

// length passes a length, and returns it.
func (s *stream) length() (int, error) {
	b, err := s.next(4)
	if err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(b)
	if n > maxMessage {
		return 0, fmt.Errorf("%w: a length of %d", errMalformed, n)
	}
	return int(n), nil
}

// binaryElements passes the number of elements, then the elements. Each has a value of each of
// these types.
func (s *stream) binaryElements(depth int, types ...nocopy.WireType) error {
	n, err := s.length()
	if size := fixedSizes[types[0]]; err == nil && size > 0 && len(types) == 1 {
		return s.grow(n * size)
	}
	for ; err == nil && n > 0; n-- {
		for _, t := range types {
			if err = s.binaryValue(t, depth); err != nil {
				break
			}
		}
	}
	return err
}

// The types of the compact protocol.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactI8     = 3
	compactI16    = 4
	compactI64    = 6
	compactDouble = 7
	compactText   = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12
	compactUUID   = 13
)

// compactStruct passes a struct in the compact protocol.
func (s *stream) compactStruct(depth int) error {
	if err := errDeep(depth); err != nil {
		return err
	}
	for {
		b, err := s.next(1)
		if err != nil || b[0] == 0 {
			return err
		}
		t, delta := b[0]&15, b[0]>>4
		if delta == 0 { // the id follows
			if _, err := s.number(); err != nil {
				return err
			}
		}
		if t == compactTrue || t == compactFalse {
			continue
		}
		if err := s.compactValue(t, depth+1); err != nil {
			return err
		}
	}
}

// number passes a varint, and returns it.
func (s *stream) number() (uint64, error) {
	const most = 10 // bytes
	v := uint64(0)
	for i := range most {
		b, err := s.next(1)
		if err != nil {
			return 0, err
		}
		v |= uint64(b[0]&0x7f) << (7 * i)
		if b[0] < 0x80 {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%w: a number of more than %d bytes", errMalformed, most)
}

// compactValue passes a value of a type. A bool is an element: fields have none.
func (s *stream) compactValue(t byte, depth int) error {
	if err := errDeep(depth); err != nil {
		return err
	}
	switch t {
	case compactTrue, compactFalse, compactI8:
		return s.grow(1)
	case compactDouble:
		return s.grow(8)
	case compactUUID:
		return s.grow(16)
	case compactStruct:
		return s.compactStruct(depth)
	case compactText:
		n, err := s.count()
		if err != nil {
			return err
		}
		return s.grow(n)
	case compactList, compactSet:
		return s.compactElements(depth + 1)
	case compactMap:
		return s.compactPairs(depth + 1)
	}
	if t >= compactI16 && t <= compactI64 {
		_, err := s.number()
		return err
	}
	return fmt.Errorf("%w: no type %d", errMalformed, t)
}

// count passes a number that is a length.
func (s *stream) count() (int, error) {
	n, err := s.number()
	if err == nil && n > maxMessage {
		err = fmt.Errorf("%w: a length of %d", errMalformed, n)
	}
	return int(n), err
}

// compactElements passes a list or set.
func (s *stream) compactElements(depth int) error {
	b, err := s.next(1)
	if err != nil {
		return err
	}
	t, n := b[0]&15, int(b[0]>>4)
	if n == 15 { // the number follows
		n, err = s.count()
	}
	for ; err == nil && n > 0; n-- {
		err = s.compactValue(t, depth)
	}
	return err
}

// compactPairs passes a map.
func (s *stream) compactPairs(depth int) error {
	n, err := s.count()
	if err != nil || n == 0 {
		return err
	}
	b, err := s.next(1)
	if err != nil {
		return err
	}
	key, value := b[0]>>4, b[0]&15
	for ; err == nil && n > 0; n-- {
		if err = s.compactValue(key, depth); err == nil {
			err = s.compactValue(value, depth)
		}
	}
	return err
}
