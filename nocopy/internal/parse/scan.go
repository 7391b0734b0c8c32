package parse

import (
	"io"
	"math"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// For package rpc. Scanner finds the end of a struct while its bytes arrive. It continues where
// it stopped, and looks at each byte once, however many pieces they come in. It checks only what
// it needs to find the end. The zero Scanner is ready for use, also after Reset.
type Scanner struct {
	off     int   // the bytes before it have been passed
	dropped int64 // bytes before those
	budget  int   // see BudgetOf
	levels  []scanLevel
	begun   bool
	err     error // the error of the last Scan, and of all later ones

	// What only this package asks of a Scanner, see start.
	listCost int   // what a list or map costs of the budget
	total    int64 // bytes there are in all, -1 if that is not known
}

// scanLevel is a struct, list or map whose end has not been found.
type scanLevel struct {
	left  int64        // elements to come, in a map keys and values; -1 for a struct
	types [2]wire.Type // of the elements; of a map's keys and values
}

// How deep structs may be nested.
const (
	MaxDepth  = 64
	MostDepth = 1 << 16 // more takes too much stack
)

const (
	fewLevels  = 8            // how many levels there is room for at first
	mostLevels = MaxDepth + 8 // as many as there mostly may be
	keepLevels = 1 << 10      // how many wait for the next struct
)

// How deep a Scanner may go is a budget: a struct costs StructCost of it, a list or map in a
// value whose type is known next to nothing.
const StructCost = 256

// BudgetOf returns the budget for depth nested structs.
func BudgetOf(depth int) int { return depth*StructCost + StructCost - 1 }

// Reset prepares for a struct with at most depth levels of nested structs. depth is at most
// 65,536; 0 means 64.
func (s *Scanner) Reset(depth int) {
	if depth <= 0 {
		depth = MaxDepth
	}
	s.start(BudgetOf(min(depth, MostDepth))-StructCost, 1, -1, scanLevel{left: -1})
}

// resetValue prepares for a value of type t, which must be a type, in total bytes.
func (s *Scanner) resetValue(t wire.Type, budget, listCost, total int) {
	s.start(budget, listCost, int64(total), scanLevel{left: 1, types: [2]wire.Type{t, t}})
}

// start prepares for the rest of a struct, or for elements.
func (s *Scanner) start(budget, listCost int, total int64, outermost scanLevel) {
	if cap(s.levels) > keepLevels {
		s.levels = nil
	}
	s.levels = append(s.levels[:0], outermost)
	s.begun, s.err = true, nil
	s.off, s.dropped, s.total = 0, 0, total
	s.budget, s.listCost = budget, listCost
}

// Scan looks at b: all bytes of the struct that have arrived so far, without those that Drop
// passed. If b contains the struct's end, Scan returns its offset. Otherwise it returns 0 and the
// number of bytes that the next call needs to get further. The error is an *Error without a path.
// After the end, or an error, Scan returns the same again until Reset.
func (s *Scanner) Scan(b []byte) (end, need int, err error) {
	if !s.begun {
		s.Reset(0)
	}
	if s.err == nil {
		if need, err = s.scan(b[:min(len(b), maxScan)]); need > 0 {
			return 0, need, nil
		}
		if err != nil {
			s.err = &wire.Error{Offset: int(s.dropped) + s.off, Err: err}
		}
	}
	if s.err != nil {
		return 0, 0, s.err
	}
	return s.off, 0, nil
}

// Passed returns how many bytes of the last Scan need not be passed to it again: whole values, and
// the beginnings of structs, lists and maps.
func (s *Scanner) Passed() int { return s.off }

// Drop passes over the bytes that Passed counts. The next Scan takes the bytes after them, and its
// results count from there.
func (s *Scanner) Drop() {
	s.dropped += int64(s.off)
	s.off = 0
}

// scan looks at b, all bytes of the value that have arrived so far and were not dropped, and goes
// on from s.off. It returns how many bytes there must be at least to get any further, 0 at the
// end. It returns errors as they are; s.off is the offset of the error.
//
// The innermost level stands in l, those around it in s.levels.
func (s *Scanner) scan(b []byte) (need int, err error) {
	if len(s.levels) == 0 {
		return 0, nil
	}
	i, budget := s.off, s.budget
	l := s.levels[len(s.levels)-1]
	s.levels = s.levels[:len(s.levels)-1]
loop:
	for {
		var t wire.Type
		at, taken := i, int64(0) // where the next value is, and how many of the elements left it is
		switch {
		case l.left < 0:
			if i = skipPlain(b, i, 0); i >= len(b) {
				need = i + 1
				break loop
			}
			t, at = wire.Type(b[i]), i+wire.FieldHeader
			if t == wire.Stop {
				i++
				budget += StructCost
				if len(s.levels) == 0 {
					l.left = 0
					break loop
				}
				l = s.levels[len(s.levels)-1]
				s.levels = s.levels[:len(s.levels)-1]
				continue
			}
			if wire.MinSize[t] == 0 {
				err = wire.TypeError(t)
				break loop
			}
		case l.left == 0:
			budget += s.listCost
			if len(s.levels) == 0 {
				break loop
			}
			l = s.levels[len(s.levels)-1]
			s.levels = s.levels[:len(s.levels)-1]
			continue
		default:
			if i, l.left = wholeElements(b, i, l.left, l.types, wholeDepth(budget)); l.left == 0 {
				continue
			}
			t, at, taken = l.types[l.left&1], i, 1
		}
		head := int(wire.MinSize[t]) // the bytes that tell the size
		if t == wire.Struct {
			head = 0
		}
		if head > len(b)-at {
			need = at + head
			break
		}
		switch t {
		case wire.Struct:
			if end := wholeStruct(b, at, wholeDepth(budget)); end > 0 {
				i = end
				l.left -= taken
				continue
			}
			i = at
			if budget -= StructCost; budget < 0 {
				err = errDepth
				break loop
			}
			l.left -= taken
			s.push(l)
			l = scanLevel{left: -1}
		case wire.String:
			n := int(int32(wire.BE32(b[at:])))
			if uint(n) > uint(len(b)-at-wire.TextHeader) {
				i, need, err = s.beyond(i, at+wire.TextHeader, n)
				break loop
			}
			i = at + wire.TextHeader + n
			l.left -= taken
		case wire.List, wire.Set, wire.Map:
			var inner scanLevel
			var size int64
			if at, size, err = s.container(b, at, t == wire.Map, &inner, budget); err != nil {
				i = at
				break loop
			}
			if inner.left == 0 {
				if size > int64(len(b)-at) {
					i, need, err = s.beyond(i, at, int(size))
					break loop
				}
				i = at + int(size)
				l.left -= taken
				continue
			}
			l.left -= taken
			i, inner.left = wholeElements(b, at, inner.left, inner.types, wholeDepth(budget-s.listCost))
			if inner.left > 0 { // mostly nothing is left
				budget -= s.listCost
				s.push(l)
				l = inner
			}
		default:
			i = at + head
			l.left -= taken
		}
	}
	s.off, s.budget = i, budget
	if need > 0 {
		s.push(l)
	}
	return need, err
}

// push adds a level around the innermost one.
func (s *Scanner) push(l scanLevel) {
	if n := len(s.levels); n == cap(s.levels) && n < mostLevels {
		s.levels = append(make([]scanLevel, 0, max(fewLevels, min(n, 1)*mostLevels)), s.levels...)
	}
	s.levels = append(s.levels, l)
}

// beyond returns scan's results at i for a value that ends beyond the bytes: the n bytes from at
// on are still to be passed.
func (s *Scanner) beyond(i, at, n int) (off, need int, err error) {
	switch end := s.dropped + int64(at) + int64(n); {
	case n < 0:
		return at - wire.TextHeader, 0, wire.ErrNegative
	case s.total >= 0 && end > s.total:
		return i, 0, io.ErrUnexpectedEOF
	case end > maxScan:
		return i, 0, wire.LimitError("value of " + strconv.Itoa(n) + " bytes")
	}
	return i, at + n, nil
}

// maxScan is the most bytes that a struct may have.
const maxScan = 1<<31 - 1

// container reads the header at at of a list or map. It returns where its elements begin, and
// fills in their level; or how many bytes they take, if all are of the same size. On an error it
// returns where that is.
func (s *Scanner) container(b []byte, at int, pairs bool, l *scanLevel, budget int) (next int, size int64, err error) {
	key, width := wire.Type(b[at]), int64(1)
	elem := key
	least := int64(wire.MinSize[elem])
	size = int64(wire.FixedSize[elem])
	next = at + wire.ListHeader
	if pairs {
		elem, width, next = wire.Type(b[at+1]), 2, at+wire.MapHeader
		least, size = least+int64(wire.MinSize[elem]), size+int64(wire.FixedSize[elem])
	}
	n := int64(int32(wire.BE32(b[next-4:])))
	switch {
	case n < 0:
		return next - 4, 0, wire.ErrNegative
	case budget < s.listCost:
		return next, 0, errDepth
	case n == 0: // its element types are anything
		return next, 0, nil
	case wire.MinSize[key] == 0:
		return at, 0, wire.TypeError(key)
	case wire.MinSize[elem] == 0:
		return at + 1, 0, wire.TypeError(elem)
	case s.total >= 0 && s.dropped+int64(next)+n*least > s.total:
		return next, 0, io.ErrUnexpectedEOF
	}
	if wire.FixedSize[key] > 0 && wire.FixedSize[elem] > 0 {
		if n*size > maxScan {
			return next, 0, wire.LimitError("container of " + strconv.Itoa(int(n)) + " elements")
		}
		return next, n * size, nil
	}
	// An even number of them is left when a key comes next
	l.left, l.types = n*width, [2]wire.Type{key, elem}
	return next, 0, nil
}

// leaves passes elements at b[i:], at most left, as long as they are texts or of fixed size. It
// returns the index of the next one, and how many are left then.
func leaves(b []byte, i int, left int64, types [2]wire.Type) (int, int64) {
	for types == [2]wire.Type{wire.String, wire.String} && left > 0 && len(b)-i >= wire.TextHeader {
		n := uint64(wire.BE32(b[i:]))
		if n > uint64(len(b)-i-wire.TextHeader) {
			return i, left
		}
		i += wire.TextHeader + int(n)
		left--
	}
	for left > 0 {
		t := types[left&1]
		n := uint64(wire.FixedSize[t])
		if t == wire.String && len(b)-i >= wire.TextHeader {
			n = wire.TextHeader + uint64(wire.BE32(b[i:]))
		}
		if n == 0 || n > uint64(len(b)-i) {
			break
		}
		i += int(n)
		left--
	}
	return i, left
}

// flatStructs passes structs at b[i:], at most left, as long as they have only texts and fields of
// fixed size, mostly the same ones. It returns the index of the next one, and how many are left
// then.
func flatStructs(b []byte, i int, left int64) (int, int64) {
	var like [scanFields + 1]program.Cell
	for misses := 0; left > 1 && misses < maxMisses; left-- {
		cells := programOf(b, i, like[:0])
		if len(cells) < 2 {
			break
		}
		m := machine{memory: memoryOf(b, cells)}
		n := uint32(min(left, math.MaxInt32))
		at, rest := flatsIn[passing](&m, 0, m.idx, uint32(entry.StructWords+len(cells)-1), n, uint64(i))
		if misses++; rest+4 < n {
			misses = 0
		}
		i = int(at)
		if left -= int64(n - rest); left == 0 {
			break
		}
		j := skipPlain(b, i, 0)
		if j >= len(b) || b[j] != byte(wire.Stop) {
			break
		}
		i = j + 1
	}
	return i, left
}

const (
	fewStructs = 32 // of fewer it is not asked whether they are flat
	scanFields = 16 // the most fields of a flat struct
	// After so many structs, each unlike the next few, they are passed one at a time
	maxMisses = 3
)

// programOf returns the program of the struct at b[i:], none if it has others than texts and
// fields of fixed size, too many, or is not whole.
func programOf(b []byte, i int, cells []program.Cell) []program.Cell {
	for len(b)-i >= 8 && len(cells) < scanFields {
		x := wire.Load64(b, i)
		t := wire.Type(x)
		if t == wire.Stop {
			return append(cells, program.Cell{Op: program.Special(program.KindStop)})
		}
		o := program.Op(x&program.HeaderMask) | wire.FieldHeader<<program.OpReach
		n := uint64(wire.FixedSize[t])
		switch {
		case t == wire.String:
			n = wire.TextHeader + uint64(wire.LengthIn(x))
			o |= program.OpText
			o += wire.TextHeader << program.OpReach
		case n > 0:
			o += program.Op(n) << program.OpReach
		default:
			return nil
		}
		if n += wire.FieldHeader; n > uint64(len(b)-i) {
			return nil
		}
		i += int(n)
		cells = append(cells, program.Cell{Op: o})
	}
	return nil
}
