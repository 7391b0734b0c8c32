package nocopy

import (
	"io"
	"math"
)

// For package rpc. XScanner finds the end of a struct while its bytes arrive: it goes on where it stopped, so that
// it looks at each byte once however many pieces they come in. It checks no more than it must to find the end. The zero XScanner is ready for
// use; Reset makes it so again.
type XScanner struct {
	off     int   // what is before has been passed
	dropped int64 // bytes before those
	budget  int
	levels  []scanLevel
	begun   bool
	// crossing is set during Scan once an element was not whole: what it has in it, which is where the bytes end, is looked
	// at value by value, so that Scan can go on there.
	crossing bool
	err      error // that of the last Scan, and of all later ones

	listCost int   // what a container costs of the budget
	total    int64 // bytes there are in all, -1 if that is not known
}

// scanLevel is a struct or container whose end has not been found.
type scanLevel struct {
	left  int64       // elements to come, those of a map being keys and values; of a struct -1
	types [2]WireType // of the elements, in turn
}

// keepLevels is how many levels wait for the next struct.
const keepLevels = 1 << 10

// Reset prepares for a struct in which structs may be nested depth levels deep; 0 is 64.
func (s *XScanner) Reset(depth int) {
	if depth <= 0 {
		depth = defaultMaxDepth
	}
	s.start(budgetOf(depth)-structCost, 1, -1, scanLevel{left: -1})
}

// resetValue prepares for a value of type t, which must be a type, in total bytes. What is wrong with it is found as by skip.
func (s *XScanner) resetValue(t WireType, budget, listCost, total int) {
	s.start(budget, listCost, int64(total), scanLevel{1, [2]WireType{t, t}})
}

func (s *XScanner) start(budget, listCost int, total int64, outermost scanLevel) {
	levels := s.levels
	if cap(levels) > keepLevels {
		levels = nil
	}
	*s = XScanner{budget: budget, listCost: listCost, total: total, begun: true, levels: append(levels[:0], outermost)}
}

// Scan looks at b, all bytes of the struct that have arrived so far but for those that Drop has passed over. It returns the struct's
// end if that is among them; else 0, and how many bytes there must be at least for the next call to get any further. The error is
// an *Error without a path. After the end, or an error, the same is returned again until Reset.
func (s *XScanner) Scan(b []byte) (end, need int, err error) {
	if !s.begun {
		s.Reset(0)
	}
	s.crossing = false
	for s.err == nil && len(s.levels) > 0 {
		l := &s.levels[len(s.levels)-1]
		switch {
		case l.left < 0:
			s.off = skipPlain(b, s.off, noID)
			need, err = s.field(b)
		case l.left == 0:
			s.pop(s.listCost)
		default:
			need, err = s.element(b, l)
		}
		if need > 0 {
			return 0, need, nil
		}
		if err != nil {
			s.err = &Error{Offset: int(s.dropped) + s.off, Err: err}
		}
	}
	if s.err != nil {
		return 0, 0, s.err
	}
	return s.off, 0, nil
}

// Passed returns how many of the bytes that Scan was given last it need not be given again: whole values, and the beginnings
// of structs and containers.
func (s *XScanner) Passed() int { return s.off }

// Drop passes over those: from now on Scan takes the bytes after them, and what it returns counts from there.
func (s *XScanner) Drop() {
	s.dropped += int64(s.off)
	s.off = 0
}

func (s *XScanner) pop(cost int) {
	s.levels = s.levels[:len(s.levels)-1]
	s.budget += cost
}

// wrong is an error at b[at:].
func (s *XScanner) wrong(at int, err error) error {
	s.off = at
	return err
}

// field passes the header of a field and what it can of the value.
func (s *XScanner) field(b []byte) (need int, err error) {
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

// wholeAhead is how many bytes there must be for an element to be expected to be among them.
const wholeAhead = 1 << 10

// element passes what it can of the elements that come next.
func (s *XScanner) element(b []byte, l *scanLevel) (need int, err error) {
	for {
		if l.types[0] == WireStruct && l.types[1] == WireStruct {
			s.plainStructs(b, l)
		} else {
			s.leaves(b, l)
		}
		if l.left == 0 {
			return 0, nil
		}
		t := l.types[l.left&1]
		if !s.crossing && len(b)-s.off >= wholeAhead {
			end, err := skip(b, s.off, t, s.budget, s.listCost)
			if err == nil {
				s.off = end
				l.left--
				continue
			}
			s.crossing = true
		}
		depth := len(s.levels)
		l.left--
		if need, err = s.value(b, t, 0); need > 0 {
			l.left++
			return need, nil
		}
		if err != nil || len(s.levels) != depth {
			return 0, err
		}
		l = &s.levels[depth-1] // they may have moved
	}
}

// leaves passes the elements that come next as long as they are texts or of fixed size.
func (s *XScanner) leaves(b []byte, l *scanLevel) {
	i, left := s.off, l.left
	for left > 0 {
		t := l.types[left&1]
		n := uint64(fixedSize[t])
		if t == WireString && len(b)-i >= textHeader {
			n = textHeader + uint64(be32(b[i:]))
		}
		if n == 0 || n > uint64(len(b)-i) {
			break
		}
		i += int(n)
		left--
	}
	s.off, l.left = i, left
}

// plainStructs passes the structs that come next as long as they have nothing but texts and fields of fixed size. Mostly all have
// the same fields.
func (s *XScanner) plainStructs(b []byte, l *scanLevel) {
	if s.budget < structCost {
		return
	}
	var like [scanSteps + 1]cell
	for misses := 0; l.left > 0; l.left-- {
		if misses < maxMisses && l.left > 1 {
			if cells := programOf(b, s.off, like[:0]); len(cells) > 1 {
				m := machine{memory: memoryOf(b, cells)}
				n := uint32(min(l.left, math.MaxInt32))
				at, left := flatsIn[passing](&m, 0, m.idx, uint32(structWords+len(cells)-1), n, uint64(s.off))
				if misses++; left+4 < n {
					misses = 0
				}
				s.off = int(at)
				if l.left -= int64(n - left); l.left == 0 {
					return
				}
			}
		}
		i := skipPlain(b, s.off, noID)
		if i >= len(b) || b[i] != byte(WireStop) {
			return // value passes its beginning once more
		}
		s.off = i + 1
	}
}

const (
	scanSteps = 16 // the most fields of a struct that are foreseen
	maxMisses = 8  // after so many structs in a row that were like none of the next few, none is foreseen
)

// programOf returns the program of the struct at b[i:], none if it has others than texts and fields of fixed size, too many, or is
// not whole.
func programOf(b []byte, i int, cells []cell) []cell {
	for len(b)-i >= 8 && len(cells) < scanSteps {
		x := load64(b, i)
		t := WireType(x)
		if t == WireStop {
			return append(cells, cell{op: special(kindStop)})
		}
		o := op(x&headerMask) | fieldHeader<<opReach
		n := uint64(fixedSize[t])
		switch {
		case t == WireString:
			n = textHeader + uint64(lengthIn(x))
			o |= opText
			o += textHeader << opReach
		case n > 0:
			o += op(n) << opReach
		default:
			return nil
		}
		if n += fieldHeader; n > uint64(len(b)-i) {
			return nil
		}
		i += int(n)
		cells = append(cells, cell{op: o})
	}
	return nil
}

// value passes a value of type t behind lead bytes, or its beginning if it is a struct or container. If there are not enough
// bytes it passes nothing.
func (s *XScanner) value(b []byte, t WireType, lead int) (need int, err error) {
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
		if s.budget >= structCost {
			if s.off = skipPlain(b, at, noID); s.off < len(b) && b[s.off] == byte(WireStop) {
				s.off++
				return 0, nil
			}
		}
		return 0, s.push(scanLevel{left: -1}, structCost)
	case WireString:
		n := int(int32(be32(b[at:])))
		if n < 0 {
			return 0, s.wrong(at, ErrNegative)
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
func (s *XScanner) pass(b []byte, at, n int) (need int, err error) {
	if n <= len(b)-at {
		s.off = at + n
		return 0, nil
	}
	switch end := s.dropped + int64(at) + int64(n); {
	case s.total >= 0 && end > s.total:
		return 0, io.ErrUnexpectedEOF
	case end > maxScan:
		return 0, limitError("value of " + itoa(n) + " bytes")
	}
	return at + n, nil
}

// container passes the header before at of a container of n elements, or pairs.
func (s *XScanner) container(b []byte, at, n, width int, types [2]WireType) (need int, err error) {
	size, least := int64(0), int64(0)
	for _, t := range types[:width] {
		size += int64(fixedSize[t])
		least += int64(minSize[t])
	}
	switch {
	case n < 0:
		return 0, s.wrong(at-4, ErrNegative)
	case s.budget < s.listCost:
		return 0, s.wrong(at, errDepth)
	case n == 0: // its element types are anything
		s.off = at
		return 0, nil
	case minSize[types[0]] == 0:
		return 0, s.wrong(at-4-width, typeError(types[0]))
	case minSize[types[1]] == 0:
		return 0, s.wrong(at-4-1, typeError(types[1]))
	case s.total >= 0 && s.dropped+int64(at)+int64(n)*least > s.total:
		return 0, io.ErrUnexpectedEOF
	}
	if fixedSize[types[0]] > 0 && fixedSize[types[1]] > 0 {
		total := int64(n) * size
		if total > maxScan {
			return 0, limitError("container of " + itoa(n) + " elements")
		}
		return s.pass(b, at, int(total))
	}
	s.off = at
	return 0, s.push(scanLevel{int64(width) * int64(n), types}, s.listCost)
}

// maxScan is the most bytes that a struct may have.
const maxScan = 1<<31 - 1

func (s *XScanner) push(l scanLevel, cost int) error {
	if s.budget -= cost; s.budget < 0 {
		return errDepth
	}
	s.levels = append(s.levels, l)
	return nil
}
