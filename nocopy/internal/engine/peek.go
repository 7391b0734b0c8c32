package engine

import (
	"errors"
	"io"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Peek finds one value in the wire bytes of a struct without making a message. Package nocopy
// documents it.
func Peek(b []byte, path ...int) (WireValue, error) {
	b = b[:min(len(b), maxScan)] // then no negative length fits into b
	v := WireValue{wire.Struct, b}
	for k, step := range path {
		at, t, err := 0, wire.Stop, error(nil)
		switch v.Type {
		case wire.Struct:
			at, t, err = findField(v.b, step)
		case wire.List, wire.Set:
			at, t, err = findElement(v.b, step)
		default:
			err = wire.ErrNotFound
		}
		if err != nil {
			return WireValue{}, &wire.Error{Offset: len(b) - len(v.b) + at, Path: pathOf(path[:k+1]), Err: err}
		}
		v = WireValue{t, v.b[at:]}
	}
	end, err := skip(v.b, 0, v.Type, budgetOf(defaultMaxDepth), structCost)
	if err != nil {
		return WireValue{}, &wire.Error{Offset: len(b) - len(v.b) + end, Path: pathOf(path), Err: err}
	}
	v.b = v.b[:end:end]
	return v, nil
}

// Peek finishes the message of s, its root, and finds one
// value in its bytes, like the function Peek. The value aliases the message as Bytes does.
func (s Struct) Peek(path ...int) (WireValue, error) {
	if s.m == nil {
		return Peek(nil, path...)
	}
	s.alive()
	m := s.m
	m.Finish()
	first := m.buf.First()
	m.buf.Lend()
	m.buf.Freeze()
	v, err := Peek(first, path...)
	if errors.Is(err, io.ErrUnexpectedEOF) && len(first) < m.buf.Len() {
		return Peek(m.Bytes(), path...)
	}
	return v, err
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
		if i, _ = wholeEnd(b, at, t, mostWhole); i > 0 { // as skip does, with a call less
			continue
		}
		if i, err = skip(b, at, t, budgetOf(defaultMaxDepth)-structCost, structCost); err != nil {
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
