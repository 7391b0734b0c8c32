package nocopy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sync"
)

// skip returns the index after the value of type t at b[i:]. On an error it returns the index of
// what is wrong. Every list or map costs listCost of the budget, every struct structCost.
func skip(b []byte, i int, t WireType, budget, listCost int) (int, error) {
	if n := int(fixedSize[t]); n > 0 && n <= len(b)-i {
		return i + n, nil
	}
	if end, _ := flatEnd(b, i, t, math.MaxInt); end > 0 && budget >= 2*structCost {
		return end, nil
	}
	s := takeScanner()
	defer scanners.Put(s)
	return s.skip(b, i, t, nil, budget, listCost)
}

// scanners are where Scanners with memory for levels wait.
var scanners sync.Pool

func takeScanner() *XScanner {
	if s, ok := scanners.Get().(*XScanner); ok {
		return s
	}
	return new(XScanner)
}

// flatEnd returns the index after the value of type t at b[i:] if it is whole and has no structs,
// lists or maps in it, but for the elements of a list that are structs; else 0. It returns how
// many structs there are, too. It looks at no list or map of more than most elements or pairs.
func flatEnd(b []byte, i int, t WireType, most int) (end, structs int) {
	n := int64(fixedSize[t])
	switch {
	case n > 0:
	case t == WireStruct:
		if i = skipPlain(b, i, noID); i < len(b) && b[i] == byte(WireStop) {
			return i + 1, 1
		}
	case t == WireString && len(b)-i >= textHeader:
		n = textHeader + int64(be32(b[i:]))
	case (t == WireList || t == WireSet) && len(b)-i >= listHeader:
		elem, count := WireType(b[i]), int64(int32(be32(b[i+1:])))
		if fixedSize[elem] == 0 {
			if count > int64(most) {
				return 0, 0
			}
			l := scanLevel{left: count, types: [2]WireType{elem, elem}}
			if end = l.flatEnd(b, i+listHeader); elem == WireStruct {
				structs = int(count)
			}
			return end, structs
		}
		if count >= 0 {
			n = listHeader + count*int64(fixedSize[elem])
		}
	case t == WireMap && len(b)-i >= mapHeader:
		l := scanLevel{left: 2 * int64(int32(be32(b[i+2:]))), types: [2]WireType{WireType(b[i]), WireType(b[i+1])}}
		if l.types != [2]WireType{WireStruct, WireStruct} && l.left/2 <= int64(most) {
			return l.flatEnd(b, i+mapHeader), 0
		}
	}
	if n == 0 || n > int64(len(b)-i) {
		return 0, 0
	}
	return i + int(n), 0
}

// flatEnd returns the index after all elements, which begin at b[i:], if they are whole and have
// no structs, lists or maps in them; else 0.
func (l *scanLevel) flatEnd(b []byte, i int) int {
	if l.left > 0 {
		i, _ = l.flat(b, i, structCost)
	}
	if l.left != 0 {
		return 0
	}
	return i
}

// shallow is how many levels of structs shallowEnd looks into for the callers that have none yet.
const shallow = 3

// shallowEnd returns the index after the value of type t at b[i:] if it is whole and flatEnd knows
// the ends of all values in it, but for those in structs that are nested up to levels deep; else
// -1. That takes no state in memory, which for a short value costs more than passing over it.
func shallowEnd(b []byte, i int, t WireType, levels int) int {
	if t != WireStruct {
		if end, _ := flatEnd(b, i, t, math.MaxInt); end > 0 {
			return end
		}
		return -1
	}
	for levels > 0 {
		i = skipPlain(b, i, noID)
		if i >= len(b) {
			return -1
		}
		t = WireType(b[i])
		if t == WireStop {
			return i + 1
		}
		if len(b)-i < fieldHeader {
			return -1
		}
		if i = shallowEnd(b, i+fieldHeader, t, levels-1); i < 0 {
			return -1
		}
	}
	return -1
}

// skip returns the index after the value of type t at b[i:]; on an error, the index of what is
// wrong. It does so by an XScanner, which tells more about the value: typ is its declared type,
// see resetValue.
func (s *XScanner) skip(b []byte, i int, t WireType, typ *XType, budget, listCost int) (int, error) {
	if minSize[t] == 0 {
		return i, typeError(t)
	}
	s.resetValue(t, typ, budget, listCost, len(b)-i)
	need, err := s.scan(b[i:])
	if need > 0 || err == io.ErrUnexpectedEOF {
		return len(b), io.ErrUnexpectedEOF
	}
	return i + s.off, err
}

// noID is a number that is no field's id, see loaded.
const noID = 1

// idMask is where a field's id is in what is loaded, little-endian, from its header on.
const idMask = 0xffff00

// loaded returns an id as it stands there.
func loaded(id int16) uint64 { return uint64(bits.ReverseBytes16(uint16(id))) << 8 }

// skipPlain skips fields of fixed size and texts from i on, as long as there are such, 8 bytes to
// look at, and the field's id, as loaded returns it, is not stop. The types are told apart by
// branches, not by a table: predicted, they let the next field be loaded before this one is done.
func skipPlain(b []byte, i int, stop uint64) int {
	at, size := uint64(i), uint64(len(b))
	for at+8 <= size {
		x := load64(b, int(at))
		if x&idMask == stop {
			break
		}
		end := at
		switch t := WireType(x); {
		case t == WireString:
			end += fieldHeader + textHeader + uint64(lengthIn(x))
		case t == WireI64 || t == WireDouble:
			end += fieldHeader + 8
		case t == WireI32:
			end += fieldHeader + 4
		case t == WireBool || t == WireI8:
			end += fieldHeader + 1
		case t == WireI16:
			end += fieldHeader + 2
		case t == WireUUID:
			end += fieldHeader + 16
		default:
			return int(at)
		}
		if end > size {
			break
		}
		at = end
	}
	return int(at)
}

func typeError(t WireType) error { return fmt.Errorf("%w: %d", ErrType, t) }

// loadHeader is load64 where there may be fewer than 8 bytes: what is after the end of b is zero.
func loadHeader(b []byte, i int) uint64 {
	if len(b)-i >= 8 {
		return load64(b, i)
	}
	var x [8]byte
	copy(x[:], b[i:])
	return binary.LittleEndian.Uint64(x[:])
}

// lengthIn returns the length in the 8 bytes that begin with the header of a text field.
func lengthIn(x uint64) uint32 { return bits.ReverseBytes32(uint32(x >> (8 * fieldHeader))) }

// headerAt returns the field's key at b[i:].
func headerAt(b []byte, i int) uint32 {
	b = b[i : i+fieldHeader]
	return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
}

// headerIn returns the field's key in the 8 bytes that begin with its header.
func headerIn(x uint64) uint32 { return bits.ReverseBytes32(uint32(x)) >> 8 }

// holds reports whether the list or map type t has elements, or keys and elements, of these types.
func (t *XType) holds(key, elem WireType) bool {
	return elem == t.elem.wire && (t.kind == list || key == t.key.wire)
}

// within returns the declared type of a list's elements, or of a map's keys or values, if they are
// lists or maps themselves; else nil.
func (t *XType) within(keys bool) *XType {
	inner := t.elem
	if t.kind == dict && keys {
		inner = t.key
	}
	if inner.kind < list {
		return nil
	}
	return inner
}

// fits reports whether the parser takes the well-formed value at b[i:] for one of type t: whether
// the elements of lists and maps are of their declared types, but for those in structs.
func fits(b []byte, t *XType, i int) bool {
	switch {
	case t.kind < list:
		return true
	case t.nested():
		s := takeScanner()
		defer scanners.Put(s)
		s.skip(b, i, t.wire, t, maxBudget, 1)
		return !s.mismatched
	case t.kind == list:
		return be32(b[i+1:]) == 0 || t.holds(0, WireType(b[i]))
	}
	return be32(b[i+2:]) == 0 || t.holds(WireType(b[i]), WireType(b[i+1]))
}
