package nocopy

import "io"

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
		if len(b)-i < 8 {
			return skipStructEnd(b, i, budget, listCost)
		}
		x := be64(b[i:])
		t := WireType(x >> 56)
		if n := int(fixedSize[t]); n != 0 {
			i += fieldHeader + n
			if i > len(b) {
				return len(b), io.ErrUnexpectedEOF
			}
			continue
		}
		if t == WireString {
			n := uint32(x >> 8)
			if uint64(n) <= uint64(len(b)-i-7) {
				i += 7 + int(n)
				continue
			}
		}
		if t == WireStop {
			return i + 1, nil
		}
		var err error
		if i, err = skipField(b, i, t, budget, listCost); err != nil {
			return i, err
		}
	}
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

// skipStructEnd is skipStruct where fewer than 8 bytes are left.
func skipStructEnd(b []byte, i, budget, listCost int) (int, error) {
	for {
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
	case n > (len(b)-i)/int(minSize[t]):
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
	case n > (len(b)-i)/int(minSize[k]+minSize[v]):
		return len(b), io.ErrUnexpectedEOF
	}
	if s := int(fixedSize[k]); s != 0 && fixedSize[v] != 0 {
		return i + n*(s+int(fixedSize[v])), nil
	}
	var err error
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
