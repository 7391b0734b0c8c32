package parse

import (
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Scanner finds the end of a struct while its bytes arrive. It continues where it stopped, and
// looks at each byte once, however many pieces they come in. It checks only what it needs to find
// the end. The zero Scanner is ready for use, also after Reset.
//
// It passes over nested values by recursion. If bytes are missing, each function adds its struct
// or container to levels and returns; the next Scan goes on with the innermost of them.
type Scanner struct {
	off     int         // the bytes before it have been passed; on an error, its index
	dropped int64       // bytes before those
	levels  []scanLevel // what has not ended, innermost last
	budget  int         // what is left of it inside the innermost, see BudgetOf
	begun   bool
	need    int // how many bytes there must be to get any further; 0: the recursion got too deep
	err     error

	listCost int   // what a list or map costs of the budget
	total    int64 // bytes there are in all, -1 if that is not known
}

// scanLevel is a struct, list or map whose end has not been found.
type scanLevel struct {
	left  int64 // elements to come, in a map keys and values; -1 for a struct
	types elemTypes
}

// elemTypes is the type of a list's elements, twice, or of a map's keys and, above, values.
type elemTypes uint16

func typesOf(key, elem wire.Type) elemTypes { return elemTypes(key) | elemTypes(elem)<<8 }

// next returns the type of the element that is next if so many are left: in a map an even number
// is left when a key comes next.
func (t elemTypes) next(left int64) wire.Type {
	if left&1 == 0 {
		return wire.Type(t)
	}
	return wire.Type(t >> 8)
}

const (
	texts2   = elemTypes(wire.String)<<8 | elemTypes(wire.String)
	structs2 = elemTypes(wire.Struct)<<8 | elemTypes(wire.Struct)
)

// How deep structs may be nested.
const (
	MaxDepth  = 64
	MostDepth = 1 << 16 // more takes too much stack
)

const (
	keepLevels = 1 << 10 // how many wait for the next struct
	mostFrames = 64      // how deep the recursion may go before it returns and continues
)

// How deep a Scanner may go is a budget: a struct costs StructCost of it, a list or map in a
// value whose type is known next to nothing.
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
	s.start(1, -1)
	s.levels, s.budget = append(s.levels, scanLevel{left: -1}), BudgetOf(min(depth, MostDepth))-StructCost
}

// start prepares for any value. The caller adds the outermost level, or calls begin.
func (s *Scanner) start(listCost int, total int64) {
	if cap(s.levels) > keepLevels {
		s.levels = nil
	}
	s.levels, s.begun, s.err = s.levels[:0], true, nil
	s.off, s.dropped, s.listCost, s.total = 0, 0, listCost, total
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

// Passed returns how many bytes of the last Scan need not be passed to it again: whole values, and
// the beginnings of structs, lists and maps.
func (s *Scanner) Passed() int { return s.off }

// Drop passes over the bytes that Passed counts. The next Scan takes the bytes after them, and its
// results count from there.
func (s *Scanner) Drop() {
	s.dropped += int64(s.off)
	s.off = 0
}

// maxScan is the most bytes that a struct may have.
const maxScan = 1<<31 - 1

// scan looks at b, all bytes of the value that have arrived so far and were not dropped, and goes
// on from s.off. It returns how many bytes there must be at least to get any further, 0 at the
// end. It returns errors as they are; s.off is the offset of the error.
func (s *Scanner) scan(b []byte) (need int, err error) {
	for len(s.levels) > 0 && s.err == nil {
		n := len(s.levels) - 1
		l, cost, end := s.levels[n], s.listCost, 0
		s.levels = s.levels[:n]
		if l.left < 0 {
			cost, end = StructCost, s.fields(b, s.off, s.budget, mostFrames)
		} else {
			end = s.elements(b, s.off, l.left, l.types, s.budget, mostFrames)
		}
		if end >= 0 {
			s.off = end
			s.budget += cost
			continue
		}
		slices.Reverse(s.levels[n:])
		if s.need > 0 && s.err == nil {
			return s.need, nil
		}
	}
	return 0, s.err
}

// begin starts with the value of type t, which must be a type, at b[i:]. It returns what scan
// returns.
func (s *Scanner) begin(b []byte, i int, t wire.Type, budget int) (need int, err error) {
	end := s.value(b, i, t, budget, mostFrames)
	if end == again {
		s.stop(i, budget, scanLevel{1, typesOf(t, t)})
	}
	return s.goOn(b, end)
}

// goOn goes on where value, fields or elements has returned end. It returns what scan returns.
func (s *Scanner) goOn(b []byte, end int) (need int, err error) {
	if end >= 0 {
		s.off = end
		return 0, nil
	}
	slices.Reverse(s.levels)
	if s.need == 0 || s.err != nil {
		return s.scan(b)
	}
	return s.need, nil
}

// What value, fields and elements return instead of an index if they have not come to the end.
const (
	again  = -1 // the value has not begun. s.need is set
	inside = -2 // the value has begun, and what has not ended is in s.levels; or there is an error
)

// value returns the index after the value of type t, which must be a type, at b[i:]; or again or
// inside. The value may use this budget and go this many frames deeper.
func (s *Scanner) value(b []byte, i int, t wire.Type, budget, frames int) int {
	at, n, key, elem := i, int64(0), wire.Type(0), wire.Type(0)
	switch t {
	case wire.Struct:
		switch budget -= StructCost; {
		case budget < 0:
			return s.fail(i, errDepth)
		case frames == 0:
			return s.waitFor(0)
		}
		return s.fields(b, i, budget, frames-1)
	case wire.List, wire.Set:
		if i += wire.ListHeader; i > len(b) {
			return s.waitFor(i)
		}
		key = wire.Type(b[at])
		elem, n = key, int64(int32(wire.BE32(b[at+1:])))
	case wire.Map:
		if i += wire.MapHeader; i > len(b) {
			return s.waitFor(i)
		}
		key, elem, n = wire.Type(b[at]), wire.Type(b[at+1]), 2*int64(int32(wire.BE32(b[at+2:])))
	default:
		return s.plain(b, i, t)
	}
	least := n * int64(wire.MinSize[key]+wire.MinSize[elem]) / 2
	if budget -= s.listCost; budget < 0 || uint64(least-1) >= uint64(len(b)-i) || frames == 0 ||
		wire.MinSize[key] == 0 || wire.MinSize[elem] == 0 {
		if end := s.odd(at, i, n, least, key, elem, budget, frames); end != 0 {
			return end
		}
	}
	if key == wire.Struct && elem == wire.Struct {
		return s.structs(b, i, n, budget, frames-1)
	}
	if wire.FixedSize[key] == 0 || wire.FixedSize[elem] == 0 {
		return s.elements(b, i, n, typesOf(key, elem), budget, frames-1)
	}
	if n *= int64(wire.FixedSize[key] + wire.FixedSize[elem]); n/2 > int64(len(b)-i) {
		return s.beyond(i, n/2)
	}
	return i + int(n/2)
}

// odd returns what value returns for the list or map at index at if it is empty or wrong, or there
// is no frame for it; else 0. i is the index after its header, and it has n elements, or keys and
// values, which take least bytes at least.
//
//go:noinline
func (s *Scanner) odd(at, i int, n, least int64, key, elem wire.Type, budget, frames int) int {
	switch {
	case n < 0:
		return s.fail(i-4, wire.ErrNegative)
	case budget < 0:
		return s.fail(i, errDepth)
	case n == 0: // its element types are anything
		return i
	case wire.MinSize[key] == 0:
		return s.fail(at, wire.TypeError(key))
	case wire.MinSize[elem] == 0:
		return s.fail(at+1, wire.TypeError(elem))
	case s.total >= 0 && s.dropped+int64(i)+least > s.total:
		return s.fail(i, io.ErrUnexpectedEOF)
	case frames == 0:
		return s.waitFor(0)
	}
	return 0
}

// plain does for a text or value of fixed size what value does.
func (s *Scanner) plain(b []byte, i int, t wire.Type) int {
	n := int64(wire.FixedSize[t])
	if t == wire.String {
		if len(b)-i < wire.TextHeader {
			return s.waitFor(i + wire.TextHeader)
		}
		if n = int64(int32(wire.BE32(b[i:]))); n < 0 {
			return s.fail(i, wire.ErrNegative)
		}
		n += wire.TextHeader
	}
	if n > int64(len(b)-i) {
		return s.beyond(i, n)
	}
	return i + int(n)
}

// beyond returns what value returns if n bytes at i are not in b, or are too many.
//
//go:noinline
func (s *Scanner) beyond(i int, n int64) int {
	switch end := s.dropped + int64(i) + n; {
	case s.total >= 0 && end > s.total:
		return s.fail(i, io.ErrUnexpectedEOF)
	case end > maxScan:
		return s.fail(i, wire.LimitError("value of "+strconv.FormatInt(n, 10)+" bytes"))
	}
	return s.waitFor(i + int(n))
}

// waitFor notes how many bytes there must be to get any further, and returns again.
func (s *Scanner) waitFor(need int) int {
	s.need = need
	return again
}

// fail notes an error at i, and returns inside.
func (s *Scanner) fail(i int, err error) int {
	s.off, s.err = i, err
	return inside
}

// stop notes that the parts of a struct or container before i have been passed, the value at i not
// yet, and returns inside. l is the struct or container, and budget what is left inside it.
//
//go:noinline
func (s *Scanner) stop(i, budget int, l scanLevel) int {
	s.off, s.budget = i, budget
	return s.around(l)
}

// around adds the struct or container around what has stopped, and returns inside.
//
//go:noinline
func (s *Scanner) around(l scanLevel) int {
	s.levels = append(s.levels, l)
	return inside
}

// fields returns the index after the rest of a struct, which begins at b[i:], or inside.
func (s *Scanner) fields(b []byte, i, budget, frames int) int {
	for {
		if i = skipPlain(b, i, 0); i >= len(b) {
			s.need = i + 1
			return s.stop(i, budget, scanLevel{left: -1})
		}
		t, end := wire.Type(b[i]), again
		switch at := i + wire.FieldHeader; {
		case t == wire.Stop:
			return i + 1
		case wire.MinSize[t] == 0:
			return s.fail(i, wire.TypeError(t))
		case at > len(b):
			s.need = at + int(wire.MinSize[t])
		default:
			end = s.value(b, at, t, budget, frames)
		}
		switch {
		case end >= 0:
			i = end
		case end == again:
			return s.stop(i, budget, scanLevel{left: -1})
		default:
			return s.around(scanLevel{left: -1})
		}
	}
}

// elements returns the index after left elements, which begin at b[i:], or inside. Elements that
// leave an odd number have the second type, the others the first.
func (s *Scanner) elements(b []byte, i int, left int64, types elemTypes, budget, frames int) int {
	if types == structs2 {
		return s.structs(b, i, left, budget, frames)
	}
	for i, left = leaves(b, i, left, types); left > 0; left-- {
		switch end := s.value(b, i, types.next(left), budget, frames); {
		case end >= 0:
			i = end
		case end == again:
			return s.stop(i, budget, scanLevel{left, types})
		default:
			return s.around(scanLevel{left - 1, types})
		}
	}
	return i
}

// structs does what elements does for structs.
func (s *Scanner) structs(b []byte, i int, left int64, budget, frames int) int {
	if budget < StructCost && left > 0 {
		return s.fail(i, errDepth)
	}
	if left >= fewStructs {
		i, left = flatStructs(b, i, left)
	}
	for ; left > 0; left-- {
		at := 0
		if at, i, left = skipStructs(b, i, 0, left); left == 0 {
			break
		}
		if frames == 0 {
			s.need = 0
			return s.stop(i, budget, scanLevel{left, structs2})
		}
		if i = s.fields(b, at, budget-StructCost, frames-1); i < 0 {
			return s.around(scanLevel{left - 1, structs2})
		}
	}
	return i
}

// leaves passes elements at b[i:], at most left, as long as they are texts or of fixed size. It
// returns the index of the next one, and how many are left then.
func leaves(b []byte, i int, left int64, types elemTypes) (int, int64) {
	if types == texts2 {
		for ; left > 0 && len(b)-i >= wire.TextHeader; left-- {
			n := uint64(wire.BE32(b[i:]))
			if n > uint64(len(b)-i-wire.TextHeader) {
				break
			}
			i += wire.TextHeader + int(n)
		}
		return i, left
	}
	for of := [...]wire.Type{types.next(0), types.next(1)}; left > 0; {
		t := of[left&1]
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
