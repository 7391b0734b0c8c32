package nocopy

import (
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

// unknown skips a field of the struct of entry e that its descriptor does not have, or has with another type.
func (p *parser) unknown(d *Desc, e uint32, i int, key uint32) int {
	t := WireType(key >> 16)
	if minSize[t] == 0 {
		return p.fail(i, typeError(t))
	}
	if i = p.need(i, fieldHeader); i < 0 {
		return i
	}
	at := p.base + uint32(i)
	end := p.skip(i, fieldHeader, t, p.maxDepth, structCost)
	if end < 0 {
		return p.in(itoa(int(int16(key))))
	}
	if d.union {
		return p.strange(e, at, p.base+uint32(end), end)
	}
	return end
}

// skip returns the index after the value of type t that stands after lead bytes at i, or failed. It may lie in several windows.
func (p *parser) skip(i, lead int, t WireType, depth, listCost int) int {
	i += lead
	if p.rest > 0 {
		return p.skipWindows(i, t, depth, listCost)
	}
	end, err := skip(p.b, i, t, budgetOf(depth), listCost)
	if err == nil {
		return end
	}
	if err == ErrType {
		err = typeError(WireType(p.b[end]))
	}
	return p.fail(end, err)
}

// skipWindows is skip where windows follow. It looks at each byte once: what it has passed over need not be contiguous.
func (p *parser) skipWindows(i int, t WireType, depth, listCost int) int {
	s := &p.scan
	s.resetValue(t, budgetOf(depth), listCost, len(p.b)-i+p.rest)
	for {
		end, need, err := s.Scan(p.b[i:])
		switch {
		case err == nil && need == 0:
			return i + end
		case err != nil:
			err = s.err.(*Error).Err
			if err == io.ErrUnexpectedEOF {
				return p.short()
			}
			return p.fail(i+s.off, err)
		}
		passed := s.Passed()
		s.Drop()
		if i = p.need(i+passed, need-passed); i < 0 {
			return failed
		}
	}
}

func typeError(t WireType) error { return fmt.Errorf("%w: %d", ErrType, t) }
