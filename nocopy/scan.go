package nocopy

// Scanner finds the end of a struct while its bytes arrive: it goes on where it stopped, so that it looks at each
// byte once however many pieces they come in. It checks no more than it must to find the end.
type Scanner struct {
	off    int // what is before has been passed
	budget int
	levels []scanLevel
}

// scanLevel is a struct or container whose end has not been found.
type scanLevel struct {
	left  int64       // elements to come, those of a map being keys and values; of a struct -1
	types [2]WireType // of the elements, in turn
}

// Reset prepares for a struct in which structs may be nested depth levels deep; 0 is 64.
func (s *Scanner) Reset(depth int) {
	if depth <= 0 {
		depth = defaultMaxDepth
	}
	s.off, s.budget, s.levels = 0, budgetOf(depth)-structCost, append(s.levels[:0], scanLevel{left: -1})
}

// Scan looks at b, all bytes of the struct that have arrived so far. It returns the struct's size if its end is
// among them; else 0, and how many bytes there must be at least for the next call to get any further. The error is
// an *Error without a path.
func (s *Scanner) Scan(b []byte) (end, need int, err error) {
	for {
		l := &s.levels[len(s.levels)-1]
		switch {
		case l.left < 0:
			s.off = skipPlain(b, s.off, noID)
			need, err = s.field(b)
		case l.left == 0:
			s.pop(1)
		default:
			need, err = s.element(b, l)
		}
		switch {
		case err != nil:
			return 0, 0, &Error{Offset: s.off, Err: err}
		case need > 0:
			return 0, need, nil
		case len(s.levels) == 0:
			return s.off, 0, nil
		}
	}
}

func (s *Scanner) pop(cost int) {
	s.levels = s.levels[:len(s.levels)-1]
	s.budget += cost
}

// field passes the header of a field and what it can of the value.
func (s *Scanner) field(b []byte) (need int, err error) {
	if s.off >= len(b) {
		return s.off + 1, nil
	}
	t := WireType(b[s.off])
	if t == WireStop {
		s.off++
		s.pop(structCost)
		return 0, nil
	}
	if minSize[t] == 0 {
		return 0, typeError(t)
	}
	return s.value(b, t, fieldHeader)
}

// element passes what it can of the elements that come next.
func (s *Scanner) element(b []byte, l *scanLevel) (need int, err error) {
	for l.left > 0 {
		t := l.types[l.left&1]
		depth := len(s.levels)
		l.left--
		if need, err = s.value(b, t, 0); need > 0 {
			l.left++
			return need, nil
		}
		if err != nil || len(s.levels) != depth {
			return 0, err
		}
	}
	return 0, nil
}

// value passes a value of type t behind lead bytes, or its beginning if it is a struct or container. If there are not enough
// bytes it passes nothing.
func (s *Scanner) value(b []byte, t WireType, lead int) (need int, err error) {
	at := s.off + lead
	head := int(minSize[t]) // what tells the size
	if t == WireStruct {
		head = 0
	}
	if at+head > len(b) {
		return at + head, nil
	}
	switch t {
	case WireStruct:
		s.off = at
		return 0, s.push(scanLevel{left: -1}, structCost)
	case WireString:
		n := int(int32(be32(b[at:])))
		if n < 0 {
			return 0, ErrNegative
		}
		return s.pass(b, at+textHeader, n)
	case WireList, WireSet:
		e := WireType(b[at])
		return s.container(b, at+listHeader, int(int32(be32(b[at+1:]))), 1, [2]WireType{e, e})
	case WireMap:
		// An even number is left when a key comes next.
		return s.container(b, at+mapHeader, int(int32(be32(b[at+2:]))), 2, [2]WireType{WireType(b[at]), WireType(b[at+1])})
	}
	s.off = at + head
	return 0, nil
}

// pass passes n bytes at at if they are there.
func (s *Scanner) pass(b []byte, at, n int) (need int, err error) {
	if n <= len(b)-at {
		s.off = at + n
		return 0, nil
	}
	if int64(at)+int64(n) > maxScan {
		return 0, limitError("value of " + itoa(n) + " bytes")
	}
	return at + n, nil
}

// container passes the header before at of a container of n elements, or pairs.
func (s *Scanner) container(b []byte, at, n, width int, types [2]WireType) (need int, err error) {
	switch {
	case n < 0:
		return 0, ErrNegative
	case n == 0:
		s.off = at
		return 0, nil
	case minSize[types[0]] == 0:
		return 0, typeError(types[0])
	case minSize[types[1]] == 0:
		return 0, typeError(types[1])
	}
	size := int64(fixedSize[types[0]])
	if width == 2 {
		size += int64(fixedSize[types[1]])
	}
	if fixedSize[types[0]] > 0 && fixedSize[types[1]] > 0 {
		total := int64(n) * size
		if total > maxScan {
			return 0, limitError("container of " + itoa(n) + " elements")
		}
		return s.pass(b, at, int(total))
	}
	s.off = at
	return 0, s.push(scanLevel{int64(width) * int64(n), types}, 1)
}

// maxScan is the most bytes that a struct may have.
const maxScan = 1<<31 - 1

func (s *Scanner) push(l scanLevel, cost int) error {
	if s.budget -= cost; s.budget < 0 {
		return errDepth
	}
	s.levels = append(s.levels, l)
	return nil
}
