package parse

import (
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Scanner finds the end of a struct while its bytes arrive. It continues where it stopped, and
// looks at each byte once, however many pieces they come in. It checks only what it needs to find
// the end. The zero Scanner is ready for use, also after Reset.
type Scanner struct {
	off     int         // the bytes before it have been passed; on an error, its index
	dropped int64       // bytes before those
	levels  []scanLevel // what has not ended, innermost last
	begun   bool
	err     error

	listCost int   // what a list or map costs of the budget
	total    int64 // bytes there are in all, -1 if that is not known
}

// scanLevel is a struct, list or map whose end has not been found. A list of structs has no level:
// its first struct has one, which becomes that of the next struct.
type scanLevel struct {
	left   int64 // elements to come, in a map keys and values; of a struct, the structs after it
	budget int32 // what is left of it inside, see BudgetOf
	types  elemTypes
}

// elemTypes is the type of a list's elements, twice, or of a map's keys and, above, values.
type elemTypes uint16

func typesOf(key, elem wire.Type) elemTypes { return elemTypes(key) | elemTypes(elem)<<8 }

// next returns the type of the next element and 1, or Stop and 0 if none is left. In a map an even
// number is left when a key comes next.
func (l scanLevel) next() (t wire.Type, taken int64) {
	if l.left <= 0 {
		return wire.Stop, 0
	}
	return wire.Type(l.types >> (l.left & 1 * 8)), 1
}

const (
	texts2   = elemTypes(wire.String)<<8 | elemTypes(wire.String)
	structs2 = elemTypes(wire.Struct)<<8 | elemTypes(wire.Struct)
)

// levelOf returns the level of n elements, n at least 1. The budget is for all of them.
func levelOf(n int64, types elemTypes, budget int) scanLevel {
	if types == structs2 {
		n, budget = n-1, budget-StructCost
	}
	return scanLevel{n, int32(budget), types}
}

// How deep structs may be nested.
const (
	MaxDepth  = wire.DefaultMaxDepth
	MostDepth = wire.MostDepth
)

const (
	keepLevels = 1 << 10 // how many wait for the next struct
	fewLevels  = 8       // as many as most values have
)

// StructCost is what a struct takes of a Scanner's budget, which bounds how deep it goes. A list
// or map takes listCost, which is little if the value's type is known.
const StructCost = 256

// BudgetOf returns the budget for depth nested structs.
func BudgetOf(depth int) int { return depth*StructCost + StructCost - 1 }

// Limits for bytes that have been checked already.
const (
	TrustedDepth = 1 << 20
	MaxBudget    = TrustedDepth * StructCost
)

// Reset prepares for a struct with at most depth levels of nested structs. depth is at most
// 65,536; 0 means 64.
func (s *Scanner) Reset(depth int) {
	if depth <= 0 {
		depth = MaxDepth
	}
	s.start(0, levelOf(1, structs2, BudgetOf(min(depth, MostDepth))), 1, -1)
}

// ResetValue is Reset for a value of type t, which may be any. It may contain depth levels of
// nested structs, 0 too.
func (s *Scanner) ResetValue(t wire.Type, depth int) {
	s.start(0, levelOf(1, typesOf(t, t), BudgetOf(min(max(depth, 0), MostDepth))), 1, -1)
}

// start prepares for the elements of a level, which begin at index i.
func (s *Scanner) start(i int, l scanLevel, listCost int, total int64) {
	s.dropMany()
	s.levels, s.begun, s.err = append(s.levels[:0], l), true, nil
	s.off, s.dropped, s.listCost, s.total = i, 0, listCost, total
}

// dropMany gives up memory for more levels than most structs have.
func (s *Scanner) dropMany() {
	if cap(s.levels) > keepLevels {
		s.levels = nil
	}
}

// Scan looks at b: all bytes of the struct that have arrived so far, without those that Drop
// passed. If b contains the struct's end, Scan returns its offset. Otherwise it returns 0 and the
// number of bytes that the next call needs to get further. The error is an *Error without a path.
// After the end, or an error, Scan returns the same again until Reset.
func (s *Scanner) Scan(b []byte) (end, need int, err error) {
	if !s.begun {
		s.Reset(0)
	}
	switch need, err := s.scan(b[:min(len(b), maxScan)]); {
	case err != nil:
		return 0, 0, &wire.Error{Offset: int(s.dropped) + s.off, Err: err}
	case need > 0:
		return 0, need, nil
	}
	return s.off, 0, nil
}

// Input has the bytes that have arrived of a stream.
type Input interface {
	Bytes() []byte
	Arrived() int    // how many bytes there are, with those that were cut off
	Fits(n int) bool // reports whether n Bytes have room where they are
	Cut(n int)       // cuts the first n Bytes off. They stay where they are
}

// A value of at most keepWhole bytes stays in one piece: it is moved if the block that it began in
// is full.
const keepWhole = 8 << 10

// Receive scans the value that is at index at of the Bytes of in until it finds the end, and
// returns the index after it. It calls fill, which must receive bytes until there are n, unless
// size, the least number of bytes that the value has, is too large. If cuts is true, at is 0, and
// a value of more than keepWhole bytes is cut where blocks end, between values, which avoids
// moving its bytes. fault is an error in the bytes, without a path, err one of fill, after which
// Receive can be called again.
func (s *Scanner) Receive(in Input, at int, cuts bool, fill func(n int, size int64) error) (end int, fault *wire.Error, err error) {
	for {
		b := in.Bytes()
		end, need, err := s.Scan(b[at:])
		if err != nil {
			return 0, err.(*wire.Error), nil
		}
		n, cut := max(end, need), in.Arrived()-len(b)
		size := int64(cut) + int64(n)
		if passed := s.Passed(); cuts && end == 0 && cut+passed > keepWhole && !in.Fits(need) {
			in.Cut(passed)
			s.Drop()
			n -= passed
		}
		if err := fill(at+n, size); err != nil || end > 0 {
			return at + end, nil, err
		}
	}
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

// maxScan bounds the size of a struct, in bytes.
const maxScan = 1<<31 - 1

// scan looks at b, all bytes of the value that have arrived so far and were not dropped, and goes
// on from s.off. It returns how many bytes there must be at least to get any further, 0 at the
// end. It returns errors as they are; s.off is the offset of the error.
func (s *Scanner) scan(b []byte) (need int, err error) {
	if len(s.levels) > 0 && s.err == nil {
		if s.levels, need, s.err = s.walk(b, s.levels); need == 0 { // an idle connection keeps s
			s.dropMany()
		}
	}
	return need, s.err
}

// walk does what scan does, with the levels that have not ended. It returns those that have not
// ended then. It stores no levels, which may therefore be on the caller's stack.
func (s *Scanner) walk(b []byte, levels []scanLevel) (around []scanLevel, need int, err error) {
	m := memoryOf(b, nil)
	mem, i, size := m.mem(), uint64(s.off), m.size
	l, levels := pop(levels)
walk:
	for {
		if l.budget < 0 {
			err = errDepth
			break
		}
		// The type of the next value, where it is, and how many elements it is
		t, at, taken := wire.Stop, i, int64(0)
		if l.types == structs2 {
			if i, l.left = plainFields[[0]byte](b, i, l.left, 0); i >= size {
				need = int(i) + 1
				break
			}
			t, at = wire.Type(load8(mem, i)), i+wire.FieldHeader
			if t == wire.Stop {
				if i++; l.left > 0 {
					l.left--
					continue
				}
			}
		} else {
			if l.types == texts2 {
				i, l.left = plainTexts(b, i, l.left)
			}
			at = i
			t, taken = l.next()
		}
		switch t {
		case wire.Stop: // a struct or container has ended
			if len(levels) == 0 {
				s.off = int(i)
				return levels, 0, nil
			}
			l, levels = pop(levels)
		case wire.Struct:
			if at > size {
				need = int(at) + 1
				break walk
			}
			l.left -= taken
			levels = append(levels, l)
			i, l = at, levelOf(1, structs2, int(l.budget))
		case wire.List, wire.Set, wire.Map:
			var inside scanLevel
			if i, inside, need, err = s.container(b, t, i, at, int(l.budget)); need > 0 || err != nil {
				break walk
			}
			l.left -= taken
			if inside.types != 0 {
				levels = append(levels, l)
				l = inside
			}
		default:
			if i, need, err = s.plain(b, t, i, at); need > 0 || err != nil {
				break walk
			}
			l.left -= taken
		}
	}
	s.off = int(i)
	return append(levels, l), need, err
}

// pop returns the last of the levels, and the others.
func pop(levels []scanLevel) (scanLevel, []scanLevel) {
	n := len(levels) - 1
	return levels[n], levels[:n]
}

// plain looks at the text or value of fixed size, of type t, whose bytes are at index at, in a
// value that begins at index i. It returns the index after it. If it cannot go on, or there is no
// such type, it returns what walk does then.
func (s *Scanner) plain(b []byte, t wire.Type, i, at uint64) (next uint64, need int, err error) {
	size, n := uint64(len(b)), uint64(wire.FixedSize[t])
	if t == wire.String {
		if at+wire.TextHeader > size {
			return i, int(at) + wire.TextHeader, nil
		}
		n = wire.TextHeader + uint64(loadBE32(memoryOf(b, nil).b, at))
	}
	if at+n > size || n == 0 {
		return s.beyond(t, i, at, n)
	}
	return at + n, 0, nil
}

// container looks at the header at index at of a list, set or map, of type t, in a value that
// begins at index i and has this budget. It returns the index of the first element and the level
// of the elements. If they need no look, since there are none or all have a fixed size, it returns
// the index after them and the zero level. If it cannot go on it returns what walk does then.
func (s *Scanner) container(b []byte, t wire.Type, i, at uint64, budget int) (next uint64, l scanLevel, need int, err error) {
	mem, size := memoryOf(b, nil).b, uint64(len(b))
	body := at + wire.ListHeader
	if t == wire.Map {
		body = at + wire.MapHeader
	}
	if body > size {
		return i, l, int(body), nil
	}
	key, n := wire.Type(load8(mem, at)), uint64(loadBE32(mem, body-4))
	elem := key
	budget -= s.listCost
	if t == wire.Map { // n counts keys and values
		elem, n = wire.Type(load8(mem, at+1)), 2*n
	}
	least := n * uint64(wire.MinSize[key]+wire.MinSize[elem]) / 2
	if least-1 >= size-body || wire.MinSize[key] == 0 || wire.MinSize[elem] == 0 || budget < 0 {
		if off, odd := s.odd(b, at, body, least, budget); odd != nil {
			return off, l, 0, odd
		}
	}
	if n == 0 || wire.FixedSize[key] > 0 && wire.FixedSize[elem] > 0 {
		if n = n * uint64(wire.FixedSize[key]+wire.FixedSize[elem]) / 2; n > size-body {
			i, need, err = s.beyond(t, i, body, n)
			return i, l, need, err
		}
		return body + n, l, 0, nil
	}
	return body, levelOf(int64(n), typesOf(key, elem), budget), 0, nil
}

// plainFields passes texts and fields of fixed size at b[i:], and the STOPs of left structs. It
// returns the index of the next field or STOP, and how many structs are left. It may stop earlier,
// near the end of b. If M is seeking, it stops at a field whose id modulo 64 is in a set, too.
//
// Types are told apart by branches, not by a table: predicted, they let the next field be loaded
// before this one is done.
//
//go:noinline
func plainFields[M [0]byte | seeking](b []byte, i uint64, left int64, ids uint64) (uint64, int64) {
	var m M
	last := int64(len(b)) - 8
	if int64(i) > last {
		return i, left
	}
	for {
		x := wire.Load64(b, int(i))
		if len(m) > 0 && ids>>(x>>16%64)&1 != 0 {
			return i, left
		}
		if wire.Type(x) == wire.String {
			end := i + wire.FieldHeader + wire.TextHeader + uint64(wire.LengthIn(x))
			if int64(end) > last {
				return i, left
			}
			i = end
			continue
		}
		end := i
		switch t := wire.Type(x); {
		case t == wire.Stop:
			if left == 0 {
				return i, 0
			}
			left--
			if i++; int64(i) > last {
				return i, left
			}
			continue
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
		default:
			return i, left
		}
		if int64(end) > last {
			return i, left
		}
		i = end
	}
}

// seeking is a mode of plainFields.
type seeking [1]byte

// plainTexts passes texts at b[i:], at most left. It returns the index of the next one, and how
// many are left.
//
//go:noinline
func plainTexts(b []byte, i uint64, left int64) (uint64, int64) {
	last := int64(len(b)) - 8
	if int64(i) > last {
		return i, left
	}
	for ; left > 0; left-- {
		end := i + wire.TextHeader + uint64(bits.ReverseBytes32(uint32(wire.Load64(b, int(i)))))
		if int64(end) > last {
			break
		}
		i = end
	}
	return i, left
}

// odd returns the error in the header at index at of a list or map, if there is one, and its
// index. The elements begin at body, and take least bytes at least.
//
//go:noinline
func (s *Scanner) odd(b []byte, at, body, least uint64, budget int) (off uint64, err error) {
	n, key, elem := int32(wire.BE32(b[body-4:])), wire.Type(b[at]), wire.Type(b[body-5])
	switch {
	case n < 0:
		return body - 4, wire.ErrNegative
	case budget < 0:
		return body, errDepth
	case n == 0: // its element types are anything
	case wire.MinSize[key] == 0:
		return at, wire.TypeError(key)
	case wire.MinSize[elem] == 0:
		return at + 1, wire.TypeError(elem)
	case s.total >= 0 && s.dropped+int64(body+least) > s.total:
		return body, io.ErrUnexpectedEOF
	}
	return 0, nil
}

// beyond returns what walk does with n bytes at index at, of a text or values of fixed size, that
// are not in b or are too many. They belong to a value of type t, and its field, or itself, begins
// at index i.
//
//go:noinline
func (s *Scanner) beyond(t wire.Type, i, at, n uint64) (off uint64, need int, err error) {
	switch end := s.dropped + int64(at+n); {
	case wire.MinSize[t] == 0:
		return i, 0, wire.TypeError(t)
	case t == wire.String && n > math.MaxInt32+wire.TextHeader:
		return at, 0, wire.ErrNegative
	case s.total >= 0 && end > s.total:
		return at, 0, io.ErrUnexpectedEOF
	case end > maxScan:
		return at, 0, wire.LimitError("value of " + strconv.FormatUint(n, 10) + " bytes")
	}
	return i, int(at + n), nil
}
