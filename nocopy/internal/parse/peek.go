package parse

import (
	"io"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Peek finds the value at this path in the struct b, and returns its type and its bytes, which
// alias b. The error is a *wire.Error.
func Peek(b []byte, path []int) (t wire.Type, value []byte, err error) {
	b = b[:min(len(b), maxScan)] // then no negative length fits into b
	t, value = wire.Struct, b
	for k, step := range path {
		at := 0
		switch t {
		case wire.Struct:
			at, t, err = findField(value, step)
		case wire.List, wire.Set:
			at, t, err = findElement(value, step)
		default:
			err = wire.ErrNotFound
		}
		if err != nil {
			return 0, nil, &wire.Error{Offset: len(b) - len(value) + at, Path: pathOf(path[:k+1]), Err: err}
		}
		value = value[at:]
	}
	end, err := Skip(value, 0, t, BudgetOf(MaxDepth), StructCost)
	if err != nil {
		return 0, nil, &wire.Error{Offset: len(b) - len(value) + end, Path: pathOf(path), Err: err}
	}
	return t, value[:end:end], nil
}

// pathOf writes a path of ids and indices.
func pathOf(path []int) string {
	s := ""
	for _, step := range path {
		s += "." + strconv.Itoa(step)
	}
	return s
}

// findField returns where the value of a field of the struct b begins, and its type.
func findField(b []byte, id int) (int, wire.Type, error) {
	if int(int16(id)) != id {
		return 0, 0, wire.ErrNotFound
	}
	for i := 0; ; {
		if i = skipPlain(b, i, 1<<(uint(id)%64)); !isField(b, i) {
			at, err := stopAt(b, i)
			if err == nil {
				err = wire.ErrNotFound
			}
			return at, 0, err
		}
		header, at := wire.HeaderAt(b, i), i+wire.FieldHeader
		t, err := wire.Type(header>>16), error(nil)
		if int(int16(header)) == id {
			return at, t, nil
		}
		if i = wholeEnd(b, at, t, mostWhole); i > 0 { // as skip does, with a call less
			continue
		}
		if i, err = Skip(b, at, t, BudgetOf(MaxDepth)-StructCost, StructCost); err != nil {
			return i, 0, err
		}
	}
}

// isField reports whether the header of a field is at b[i:].
func isField(b []byte, i int) bool { return len(b)-i >= wire.FieldHeader && wire.MinSize[b[i]] > 0 }

// stopAt returns i if the STOP of a struct is at b[i:], where no field is. Otherwise it returns
// the error there, and its index.
func stopAt(b []byte, i int) (int, error) {
	switch {
	case i < len(b) && b[i] == byte(wire.Stop):
		return i, nil
	case i < len(b) && wire.MinSize[b[i]] == 0:
		return i, wire.TypeError(wire.Type(b[i]))
	}
	return len(b), io.ErrUnexpectedEOF
}

// findElement returns where element i of the list or set b begins, and its type.
func findElement(b []byte, i int) (int, wire.Type, error) {
	if len(b) < wire.ListHeader {
		return len(b), 0, io.ErrUnexpectedEOF
	}
	t, n := wire.Type(b[0]), int(int32(wire.BE32(b[1:])))
	switch {
	case n < 0:
		return 1, 0, wire.ErrNegative
	case i < 0 || i >= n:
		return wire.ListHeader, 0, wire.ErrNotFound
	case wire.MinSize[t] == 0:
		return 0, 0, wire.TypeError(t)
	}
	at, err := skipElements(b, wire.ListHeader, t, i)
	return at, t, err
}
