package parse

import (
	"io"
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Skip returns the index after the value of type t at b[i:]. On an error it returns the index of
// the wrong byte. Every list or map costs listCost of the budget, every struct StructCost.
func Skip(b []byte, i int, t wire.Type, budget, listCost int) (int, error) {
	if end := plainEnd(b, i, t); end >= 0 {
		return end, nil
	}
	if wire.MinSize[t] == 0 {
		return i, wire.TypeError(t)
	}
	return skipElements(b, i, t, 1, budget, listCost)
}

// SkipValid returns the index after the value of type t at b[i:], which was checked before.
func SkipValid(b []byte, i int, t wire.Type) int {
	end, err := Skip(b, i, t, MaxBudget, 1)
	if err != nil {
		panic("nocopy: internal error: " + err.Error())
	}
	return end
}

// Field is a field in the bytes of a struct: its header is at From, its value from At to End.
type Field struct {
	Header        uint32
	From, At, End int
}

// Fields returns the fields of the struct that b begins with, which was checked before.
func Fields(b []byte) iter.Seq[Field] {
	return FieldsBy(b, func(uint32, int) int { return 0 })
}

// FieldsBy is Fields with a function that returns the size of the value at an index if it is known
// without looking at its bytes, else 0.
func FieldsBy(b []byte, known func(header uint32, at int) int) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for i := 0; b[i] != byte(wire.Stop); {
			f := Field{wire.HeaderAt(b, i), i, i + wire.FieldHeader, 0}
			if f.End = f.At + known(f.Header, f.At); f.End == f.At {
				f.End = SkipValid(b, f.At, wire.Type(b[i]))
			}
			if !yield(f) {
				return
			}
			i = f.End
		}
	}
}

// skipElements returns the index after n elements of type t at b[i:]. On an error it returns the
// index of the wrong byte.
func skipElements(b []byte, i int, t wire.Type, n, budget, listCost int) (int, error) {
	if size := int64(wire.FixedSize[t]); size > 0 {
		if int64(n)*size > int64(len(b)-i) {
			return len(b), io.ErrUnexpectedEOF
		}
		return i + n*int(size), nil
	}
	var few [fewLevels]scanLevel
	few[0] = levelOf(int64(n), typesOf(t, t), budget)
	s := Scanner{off: i, listCost: listCost, total: int64(len(b))}
	_, need, err := s.walk(b, few[:1])
	if need > 0 || err == io.ErrUnexpectedEOF {
		return len(b), io.ErrUnexpectedEOF
	}
	return s.off, err
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

// Takes reports whether the parser takes the well-formed value at b[i:] for one of type t. The
// elements of lists and maps must be of their declared types, except lists and maps in structs.
// Elements are passed over as often as t nests containers.
func Takes(b []byte, t *schema.Type, i int) bool {
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
			if !Takes(b, elem, at) {
				return false
			}
			at, _ = Skip(b, at, elem.Wire(), MaxBudget, 1)
		}
	}
	return true
}
