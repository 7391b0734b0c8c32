package parse

import (
	"io"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Skip returns the index after the value of type t at b[i:]. On an error it returns the index of
// the wrong byte. Every list or map costs listCost of the budget, every struct StructCost.
func Skip(b []byte, i int, t wire.Type, budget, listCost int) (int, error) {
	if end := plainEnd(b, i, t); end >= 0 {
		return end, nil
	}
	if end := wholeEnd(b, i, t, wholeDepth(budget)); end > 0 {
		return end, nil
	}
	s := takeScanner()
	defer scanners.Put(s)
	return s.skip(b, i, t, budget, listCost)
}

// scanners are where Scanners with memory for levels wait.
var scanners sync.Pool

func takeScanner() *Scanner {
	if s, ok := scanners.Get().(*Scanner); ok {
		return s
	}
	return new(Scanner)
}

// mostWhole is how many nested structs, lists and maps wholeEnd looks into for most callers.
// Values that are nested deeper are passed level by level, and looked at up to that often.
const mostWhole = 6

// wholeDepth returns how many it may look into if there is this budget left.
func wholeDepth(budget int) int { return min(budget/StructCost, mostWhole) }

// wholeEnd returns the index after the value of type t at b[i:] if it is whole, well formed and
// has at most depth structs, lists and maps in one another; else -1. That takes no state in
// memory, which for a short value costs more than passing over it.
func wholeEnd(b []byte, i int, t wire.Type, depth int) int {
	left, types := int64(0), [2]wire.Type{}
	switch t {
	case wire.Struct:
		return wholeStruct(b, i, depth)
	case wire.List, wire.Set:
		if len(b)-i < wire.ListHeader {
			return -1
		}
		left, types = int64(int32(wire.BE32(b[i+1:]))), [2]wire.Type{wire.Type(b[i]), wire.Type(b[i])}
		i += wire.ListHeader
	case wire.Map:
		if len(b)-i < wire.MapHeader {
			return -1
		}
		left, types = 2*int64(int32(wire.BE32(b[i+2:]))), [2]wire.Type{wire.Type(b[i]), wire.Type(b[i+1])}
		i += wire.MapHeader
	default:
		return plainEnd(b, i, t)
	}
	key, elem := wire.FixedSize[types[0]], wire.FixedSize[types[1]]
	switch {
	case depth == 0 || left < 0:
		return -1
	case key > 0 && elem > 0:
		n := left * int64(key+elem) / 2
		if n > int64(len(b)-i) {
			return -1
		}
		return i + int(n)
	}
	if i, left = wholeElements(b, i, left, types, depth-1); left > 0 {
		return -1
	}
	return i
}

// plainEnd returns the index after the value of type t at b[i:] if it is a whole text or of fixed
// size; else -1.
func plainEnd(b []byte, i int, t wire.Type) int {
	n := uint64(wire.FixedSize[t])
	if t == wire.String && len(b)-i >= wire.TextHeader {
		n = wire.TextHeader + uint64(wire.BE32(b[i:]))
	}
	if n == 0 || n > uint64(len(b)-i) {
		return -1
	}
	return i + int(n)
}

// wholeStruct does for the rest of a struct what wholeEnd does for a value.
func wholeStruct(b []byte, i, depth int) int {
	for depth > 0 {
		i = skipPlain(b, i, 0)
		if i < len(b) && b[i] == byte(wire.Stop) {
			return i + 1
		}
		if len(b)-i < wire.FieldHeader {
			break
		}
		if i = wholeEnd(b, i+wire.FieldHeader, wire.Type(b[i]), depth-1); i < 0 {
			break
		}
	}
	return -1
}

// wholeElements passes elements at b[i:] as long as wholeEnd passes them. Of left elements those
// that leave an odd number have the second type, the others the first. It returns where the next
// one is, and how many are left then.
func wholeElements(b []byte, i int, left int64, types [2]wire.Type, depth int) (next int, rest int64) {
	if types != [2]wire.Type{wire.Struct, wire.Struct} {
		i, left = leaves(b, i, left, types)
		for left > 0 && depth > 0 {
			end := wholeEnd(b, i, types[left&1], depth)
			if end < 0 {
				break
			}
			i = end
			left--
		}
		return i, left
	}
	if depth > 0 && left >= fewStructs {
		i, left = flatStructs(b, i, left)
	}
	for left > 0 && depth > 0 {
		var at int
		if at, i, left = skipStructs(b, i, 0, left); left > 0 {
			end := wholeStruct(b, at, depth)
			if end < 0 {
				break
			}
			i = end
			left--
		}
	}
	return i, left
}

// skipElements returns the index after n elements of type t at b[i:]. On an error it returns the
// index of the wrong byte.
func skipElements(b []byte, i int, t wire.Type, n int) (int, error) {
	if size := int64(wire.FixedSize[t]); size > 0 {
		if int64(n)*size > int64(len(b)-i) {
			return len(b), io.ErrUnexpectedEOF
		}
		return i + n*int(size), nil
	}
	s := takeScanner()
	defer scanners.Put(s)
	s.start(BudgetOf(MaxDepth)-StructCost, StructCost, int64(len(b)-i),
		scanLevel{left: int64(n), types: [2]wire.Type{t, t}})
	need, err := s.scan(b[i:])
	if need > 0 || err == io.ErrUnexpectedEOF {
		return len(b), io.ErrUnexpectedEOF
	}
	return i + s.off, err
}

// skip returns the index after the value of type t at b[i:]; on an error, the index of the wrong
// byte.
func (s *Scanner) skip(b []byte, i int, t wire.Type, budget, listCost int) (int, error) {
	if wire.MinSize[t] == 0 {
		return i, wire.TypeError(t)
	}
	s.resetValue(t, budget, listCost, len(b)-i)
	need, err := s.scan(b[i:])
	if need > 0 || err == io.ErrUnexpectedEOF {
		return len(b), io.ErrUnexpectedEOF
	}
	return i + s.off, err
}

// skipPlain skips fields of fixed size and texts from i on, as long as there are such, 8 bytes to
// look at, and bit id%64 of the field's id is not in the set stop. The types are told apart by
// branches, not by a table: predicted, they let the next field be loaded before this one is done.
func skipPlain(b []byte, i int, stop uint64) int {
	i, _, _ = skipStructs(b, i, stop, 0)
	return i
}

// skipStructs is skipPlain in consecutive structs. The first one is at b[i:]. It ends
// after left structs, or at the STOP of the first one if left is 0. It returns where it has ended,
// where the struct begins that it has ended in, and how many are left from there on.
func skipStructs(b []byte, i int, stop uint64, left int64) (next, begin int, rest int64) {
	at, size := uint64(i), uint64(len(b))
	for at+8 <= size {
		x := wire.Load64(b, int(at))
		if stop>>(x>>16%64)&1 != 0 {
			break
		}
		end := at
		switch t := wire.Type(x); {
		case t == wire.String:
			end += wire.FieldHeader + wire.TextHeader + uint64(wire.LengthIn(x))
		case t == wire.I64 || t == wire.Double:
			end += wire.FieldHeader + 8
		case t == wire.I32:
			end += wire.FieldHeader + 4
		case t == wire.Bool || t == wire.I8:
			end += wire.FieldHeader + 1
		case t == wire.I16:
			end += wire.FieldHeader + 2
		case t == wire.UUID:
			end += wire.FieldHeader + 16
		case t == wire.Stop && left > 0:
			at++
			i = int(at)
			if left--; left == 0 {
				return i, i, 0
			}
			continue
		default:
			return int(at), i, left
		}
		if end > size {
			break
		}
		at = end
	}
	return int(at), i, left
}

// Fits reports whether the parser takes the well-formed value at b[i:] for one of type t. The
// elements of lists and maps must be of their declared types, except lists and maps in structs.
// Elements are passed over as often as t nests containers.
func Fits(b []byte, t *schema.Type, i int) bool {
	if t.Kind() < schema.List {
		return true
	}
	body := i + int(t.HeaderSize())
	n, types := wire.BE32(b[body-4:]), []*schema.Type{t.Elem()}
	if t.Kind() == schema.Dict {
		types = []*schema.Type{t.Key(), t.Elem()}
	}
	if n == 0 {
		return true
	}
	for k, elem := range types {
		if wire.Type(b[i+k]) != elem.Wire() {
			return false
		}
	}
	for at := body; t.Nested() && n > 0; n-- {
		for _, elem := range types {
			if !Fits(b, elem, at) {
				return false
			}
			at, _ = Skip(b, at, elem.Wire(), MaxBudget, 1)
		}
	}
	return true
}

// Limits for bytes that have been checked already.
const (
	TrustedDepth = 1 << 20
	MaxBudget    = TrustedDepth * StructCost
)
