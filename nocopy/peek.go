package nocopy

import "io"

// Peek finds one value in the wire bytes of a struct without making a message: path leads there by field
// ids, and inside of a list or set by the index of an element. It looks at no more bytes than it needs, so
// what is behind the value is not checked. A field that comes twice counts the first time.
// The value aliases b. The error is an *Error: ErrNotFound if there is no such field or element.
func Peek(b []byte, path ...int) (Value, error) {
	v := Value{WireStruct, b}
	for k, step := range path {
		at, t, err := 0, WireStop, error(nil)
		switch v.Type {
		case WireStruct:
			at, t, err = peekField(v.b, step)
		case WireList, WireSet:
			at, t, err = peekElement(v.b, step)
		default:
			err = ErrNotFound
		}
		if err != nil {
			return Value{}, &Error{len(b) - len(v.b) + at, pathOf(path[:k+1]), err}
		}
		v = Value{t, v.b[at:]}
	}
	end, err := skip(v.b, 0, v.Type, budgetOf(defaultMaxDepth), structCost)
	if err != nil {
		return Value{}, &Error{len(b) - len(v.b) + end, pathOf(path), err}
	}
	v.b = v.b[:end:end]
	return v, nil
}

// pathOf writes a path of ids and indices.
func pathOf(path []int) string {
	s := ""
	for _, step := range path {
		s += "." + itoa(step)
	}
	return s
}

// peekField returns where the value of a field begins, and its type.
func peekField(b []byte, id int) (int, WireType, error) {
	want := int16(id)
	if int(want) != id {
		return 0, 0, ErrNotFound
	}
	for i := 0; ; {
		i = skipPlain(b, i, loaded(want))
		key := keyIn(head(b, i))
		t := WireType(key >> 16)
		if t == WireStop {
			if i >= len(b) {
				return i, 0, io.ErrUnexpectedEOF
			}
			return i, 0, ErrNotFound
		}
		if int16(key) == want {
			if minSize[t] == 0 {
				return i, 0, ErrType
			}
			if len(b)-i < fieldHeader {
				return len(b), 0, io.ErrUnexpectedEOF
			}
			return i + fieldHeader, t, nil
		}
		var err error
		if i, err = skipField(b, i, t, budgetOf(defaultMaxDepth-1), structCost); err != nil {
			return i, 0, err
		}
	}
}

// peekElement returns where element i of a list or set begins, and its type.
func peekElement(b []byte, i int) (int, WireType, error) {
	if len(b) < listHeader {
		return len(b), 0, io.ErrUnexpectedEOF
	}
	t, n := WireType(b[0]), int(int32(be32(b[1:])))
	switch {
	case n < 0:
		return 1, 0, ErrNegative
	case i < 0 || i >= n:
		return listHeader, 0, ErrNotFound
	case minSize[t] == 0:
		return 0, 0, ErrType
	}
	at, err := skipElements(b, listHeader, t, i, budgetOf(defaultMaxDepth-1), structCost)
	return at, t, err
}
