package nocopy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// How deep skip may go is a budget: one struct costs structCost of it, a list or map in a value whose type is
// known next to nothing.
const structCost = 256

// budgetOf is the budget for so many structs inside of one another.
func budgetOf(depth int) int { return depth*structCost + structCost - 1 }

// skip returns the index behind the value of type t at b[i:]. On an error it returns the index of what is
// wrong. Every container costs listCost of the budget, every struct structCost.
func skip(b []byte, i int, t WireType, budget, listCost int) (int, error) {
	switch t {
	case WireBool, WireI8, WireDouble, WireI16, WireI32, WireI64, WireUUID:
		if n := int(fixedSize[t]); n <= len(b)-i {
			return i + n, nil
		}
		return len(b), io.ErrUnexpectedEOF
	case WireString:
		return skipText(b, i)
	case WireStruct:
		return skipStruct(b, i, budget-structCost, listCost)
	case WireList, WireSet:
		if len(b)-i < listHeader {
			return len(b), io.ErrUnexpectedEOF
		}
		return skipElements(b, i+listHeader, WireType(b[i]), int(int32(be32(b[i+1:]))), budget-listCost, listCost)
	case WireMap:
		return skipMap(b, i, budget-listCost, listCost)
	}
	return i, ErrType
}

func skipText(b []byte, i int) (int, error) {
	if len(b)-i < textHeader {
		return len(b), io.ErrUnexpectedEOF
	}
	n := int32(be32(b[i:]))
	if n < 0 {
		return i, ErrNegative
	}
	if int(n) > len(b)-i-textHeader {
		return len(b), io.ErrUnexpectedEOF
	}
	return i + textHeader + int(n), nil
}

func skipStruct(b []byte, i, budget, listCost int) (int, error) {
	if budget < 0 {
		return i, errDepth
	}
	for {
		i = skipPlain(b, i, noID)
		if i >= len(b) {
			return len(b), io.ErrUnexpectedEOF
		}
		t := WireType(b[i])
		if t == WireStop {
			return i + 1, nil
		}
		var err error
		if i, err = skipField(b, i, t, budget, listCost); err != nil {
			return i, err
		}
	}
}

// noID is none of the ids that a field may have.
const noID = 1 << 16

// loaded is an id as it stands on the wire, loaded little-endian.
func loaded(id int16) uint32 { return uint32(bits.ReverseBytes16(uint16(id))) }

// skipPlain skips fields of fixed size and texts from i on, as long as there are such, 8 bytes to look at, and
// the field's id, as it is loaded, is not stop.
// The types are told apart by branches, not by a table: predicted, they let the next field be loaded
// before this one is done.
func skipPlain(b []byte, i int, stop uint32) int {
	for len(b)-i >= 8 {
		x := load64(b, i)
		if uint32(x>>8)&0xffff == stop {
			return i
		}
		n := fieldHeader
		switch t := WireType(x); {
		case t == WireString:
			n += textHeader + int(int32(lengthIn(x)))
			if n < fieldHeader+textHeader {
				return i
			}
		case t == WireI64 || t == WireDouble:
			n += 8
		case t == WireI32:
			n += 4
		case t == WireBool || t == WireI8:
			n++
		case t == WireI16:
			n += 2
		case t == WireUUID:
			n += 16
		default:
			return i
		}
		if n > len(b)-i {
			return i
		}
		i += n
	}
	return i
}

// skipField skips a field whose header is at i.
func skipField(b []byte, i int, t WireType, budget, listCost int) (int, error) {
	if minSize[t] == 0 {
		return i, ErrType
	}
	if len(b)-i < fieldHeader {
		return len(b), io.ErrUnexpectedEOF
	}
	return skip(b, i+fieldHeader, t, budget, listCost)
}

// skipElements skips n elements of type t.
func skipElements(b []byte, i int, t WireType, n, budget, listCost int) (int, error) {
	switch {
	case n < 0:
		return i - 4, ErrNegative
	case budget < 0:
		return i, errDepth
	case n == 0:
		return i, nil // the element type of an empty container is anything
	case minSize[t] == 0:
		return i - listHeader, ErrType
	case uint64(n)*uint64(minSize[t]) > uint64(len(b)-i):
		return len(b), io.ErrUnexpectedEOF
	}
	if s := int(fixedSize[t]); s != 0 {
		return i + n*s, nil
	}
	var err error
	switch t {
	case WireString:
		for ; n > 0; n-- {
			if len(b)-i < textHeader {
				return len(b), io.ErrUnexpectedEOF
			}
			l := be32(b[i:])
			if uint64(l) > uint64(len(b)-i-textHeader) {
				return skipText(b, i)
			}
			i += textHeader + int(l)
		}
	case WireStruct:
		for ; n > 0; n-- {
			i = skipPlain(b, i, noID)
			if i < len(b) && b[i] == byte(WireStop) && budget >= structCost {
				i++
				continue
			}
			if i, err = skipStruct(b, i, budget-structCost, listCost); err != nil {
				return i, err
			}
		}
	default:
		for ; n > 0; n-- {
			if i, err = skip(b, i, t, budget, listCost); err != nil {
				return i, err
			}
		}
	}
	return i, nil
}

func skipMap(b []byte, i, budget, listCost int) (int, error) {
	if len(b)-i < mapHeader {
		return len(b), io.ErrUnexpectedEOF
	}
	k, v := WireType(b[i]), WireType(b[i+1])
	n := int(int32(be32(b[i+2:])))
	start := i
	i += mapHeader
	switch {
	case n < 0:
		return i - 4, ErrNegative
	case budget < 0:
		return i, errDepth
	case n == 0:
		return i, nil
	case minSize[k] == 0:
		return start, ErrType
	case minSize[v] == 0:
		return start + 1, ErrType
	case uint64(n)*uint64(minSize[k]+minSize[v]) > uint64(len(b)-i):
		return len(b), io.ErrUnexpectedEOF
	}
	if s := int(fixedSize[k]); s != 0 && fixedSize[v] != 0 {
		return i + n*(s+int(fixedSize[v])), nil
	}
	var err error
	for ; n > 0 && k == WireString && v == WireString; n-- {
		if i, err = skipText(b, i); err != nil {
			return i, err
		}
		if i, err = skipText(b, i); err != nil {
			return i, err
		}
	}
	for ; n > 0; n-- {
		if i, err = skip(b, i, k, budget, listCost); err != nil {
			return i, err
		}
		if i, err = skip(b, i, v, budget, listCost); err != nil {
			return i, err
		}
	}
	return i, nil
}

func typeError(t WireType) error { return fmt.Errorf("%w: %d", ErrType, t) }

// head is load64 where there may be fewer than 8 bytes: what is after the end of b is zero.
func head(b []byte, i int) uint64 {
	if len(b)-i >= 8 {
		return load64(b, i)
	}
	var x [8]byte
	copy(x[:], b[i:])
	return binary.LittleEndian.Uint64(x[:])
}

// lengthIn returns the length in the 8 bytes that begin with the header of a text field.
func lengthIn(x uint64) uint32 { return bits.ReverseBytes32(uint32(x >> (8 * fieldHeader))) }

// matches says whether the elements of the container at i have their declared type, all the way down.
func (p *parser) matches(t *XType, i int) bool {
	if t.kind < list {
		return true
	}
	ok, _ := matches(p.b, t, i, t.nested())
	return ok
}

// matches is parser.matches of the value at b[i:], which is known to be well formed. With deep it looks at
// the elements of elements too, and returns the index behind the value.
func matches(b []byte, t *XType, i int, deep bool) (bool, int) {
	ok := true
	end := i
	switch t.kind {
	case list:
		n := be32(b[i+1:])
		ok = n == 0 || WireType(b[i]) == t.elem.wire
		end = i + listHeader
		for ; ok && deep && n > 0; n-- {
			ok, end = matches(b, t.elem, end, true)
		}
	case dict:
		n := be32(b[i+2:])
		ok = n == 0 || WireType(b[i]) == t.key.wire && WireType(b[i+1]) == t.elem.wire
		end = i + mapHeader
		for ; ok && deep && n > 0; n-- {
			if ok, end = matches(b, t.key, end, true); ok {
				ok, end = matches(b, t.elem, end, true)
			}
		}
	default:
		end, _ = skip(b, i, t.wire, maxBudget, 1)
	}
	return ok, end
}
