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
	i := 0
	for next := 0; next >= 0; {
		i = skipPlain(b, next, loaded(int16(id)))
		next = -1
		if len(b)-i >= wire.FieldHeader {
			if int16(wire.HeaderAt(b, i)) == int16(id) && wire.MinSize[b[i]] > 0 {
				return i + wire.FieldHeader, wire.Type(b[i]), nil
			}
			next, _ = wholeEnd(b, i+wire.FieldHeader, wire.Type(b[i]), mostWhole)
		}
	}
	s := takeScanner()
	defer scanners.Put(s)
	s.start(budgetOf(defaultMaxDepth)-structCost, structCost, int64(len(b)), scanLevel{left: -1})
	s.off, s.wanted = i, loaded(int16(id))
	need, err := s.scan(b)
	switch {
	case need > 0 || err == io.ErrUnexpectedEOF:
		return len(b), 0, io.ErrUnexpectedEOF
	case err == nil && s.found == wire.Stop:
		return s.off - 1, 0, wire.ErrNotFound
	}
	return s.off, s.found, err
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
	if size := uint64(wire.FixedSize[t]); size > 0 {
		at := wire.ListHeader + uint64(i)*size
		if at > uint64(len(b)) {
			return len(b), 0, io.ErrUnexpectedEOF
		}
		return int(at), t, nil
	}
	s := takeScanner()
	defer scanners.Put(s)
	s.start(budgetOf(defaultMaxDepth)-structCost, structCost, int64(len(b)),
		scanLevel{left: int64(i), types: [2]wire.Type{t, t}})
	s.off = wire.ListHeader
	if need, err := s.scan(b); need > 0 || err == io.ErrUnexpectedEOF {
		return len(b), 0, io.ErrUnexpectedEOF
	} else if err != nil {
		return s.off, 0, err
	}
	return s.off, t, nil
}
