package parse

import (
	"io"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Peek finds the value at this path in the struct b, and returns its type and its bytes, which
// alias b. The error is a *wire.Error.
func Peek(b []byte, path []int) (t wire.Type, value []byte, err error) {
	var v [1]Sought
	if err := PeekAll(nil, b, [][]int{path}, v[:]); err != nil {
		return 0, nil, err
	}
	if t, value = v[0].Value(b); t == 0 {
		return 0, nil, &wire.Error{Offset: v[0].at, Path: pathOf(path[:v[0].end]), Err: wire.ErrNotFound}
	}
	return t, value, nil
}

// PeekAll finds the values at several paths in one pass over the struct b. It notes in sought,
// which is zero, where they are. It finds the same values as Peek. d describes the struct, or is
// nil. The error is an *Error for the first wrong byte up to the last value.
func PeekAll(d *schema.Struct, b []byte, paths [][]int, sought []Sought) error {
	if len(paths) == 0 {
		return nil
	}
	long := len(b) > maxScan
	b = b[:min(len(b), maxScan)] // a length within these bytes is not negative as an int32
	s := seeker{b: b, paths: paths, sought: sought[:len(paths)]}
	var levels [parseLevels]level
	typ := (*schema.Type)(nil)
	if d != nil {
		program.Of(d)
		s.machine.memory = memoryOf(b, program.Cells())
		s.machine.levels, s.machine.most = levelsOf(levels[:])
		s.machine.deeper = MaxDepth
		typ = d.Type()
	}
	at := 0
	for n := range paths {
		if s.enter(n, 0) {
			at++
		}
	}
	if at, err := s.value(typ, wire.Struct, 0, 0, at, len(paths)-at, false); err != nil {
		switch {
		case err != io.ErrUnexpectedEOF:
		case long:
			err = wire.LimitError("a value that ends beyond 2 GiB")
		case len(b) == 0:
			err = wire.ErrNoBytes
		}
		return &wire.Error{Offset: at, Path: s.path(), Err: err}
	}
	return nil
}

// Sought is how far PeekAll has got with a path.
type Sought struct {
	steps   int  // so many steps of the path lead to where the seeker is; done at the end
	next    int  // the step after these
	ends    bool // there is none
	typ     wire.Type
	at, end int // the value, once it is found; if it is absent, see seeker.absent
}

// done is Sought.steps of a path whose value has been found, or is not there.
const done = -1

// Value returns the type and the bytes of the value that was found in b. The type is 0 if there is
// none.
func (s *Sought) Value(b []byte) (wire.Type, []byte) {
	if s.typ == wire.Stop {
		return 0, nil
	}
	return s.typ, b[s.at:s.end:s.end]
}

// seeker finds the values at several paths. Its methods take and return indexes of b; with an
// error, the index of the wrong byte.
type seeker struct {
	b       []byte
	paths   [][]int
	sought  []Sought // of each path
	machine machine  // passes values of known types
}

// value finds the values that paths lead to, in the value of wire type t at i. The first k steps
// of some paths lead here: at of these paths end with this value, and deeper of them lead into it.
// typ is its declared type, or nil. value returns the index after the value, if toEnd is set or
// deeper is 0.
func (s *seeker) value(typ *schema.Type, t wire.Type, i, k, at, deeper int, toEnd bool) (int, error) {
	end, err := i, error(nil)
	if at > 0 || deeper == 0 {
		budget := BudgetOf(MaxDepth)
		if at == 0 {
			budget -= StructCost
		}
		if end, err = s.pass(typ, t, i, budget); err != nil {
			return end, err
		}
		toEnd = false
	}
	if at > 0 {
		s.found(k, i, end, t)
	}
	if deeper == 0 {
		return end, nil
	}
	next := i
	switch {
	case t == wire.Struct:
		next, err = s.fields(typ, i, k, toEnd)
	case t == wire.List || t == wire.Set:
		next, err = s.elements(typ, i, k, toEnd)
	default:
		s.absent(k, i)
		if toEnd {
			next, err = s.pass(typ, t, i, BudgetOf(MaxDepth)-StructCost)
		}
	}
	return max(next, end), err
}

// enter notes that k steps of path n lead to where the seeker is. It reports whether the path ends
// there.
func (s *seeker) enter(n, k int) bool {
	v, path := &s.sought[n], s.paths[n]
	v.steps, v.ends = k, k == len(path)
	if k < len(path) {
		v.next = path[k]
	}
	return v.ends
}

// found notes the value of the paths that end after k steps.
func (s *seeker) found(k, at, end int, t wire.Type) {
	all := s.sought
	for n := range all {
		if v := &all[n]; v.steps == k && v.ends {
			v.steps, v.at, v.end, v.typ = done, at, end, t
		}
	}
}

// absent notes that paths end here, after k of their steps. This is known at index at.
func (s *seeker) absent(k, at int) {
	all := s.sought
	for n := range all {
		if v := &all[n]; v.steps == k {
			v.steps, v.at, v.end = done, at, k+1
		}
	}
}

// fields does what value does for a struct, which begins at i.
func (s *seeker) fields(typ *schema.Type, i, k int, toEnd bool) (int, error) {
	b := s.b
	wanted, hits := s.ids(k, i)
	for hits > 0 || toEnd {
		next, _ := plainFields[seeking](b, uint64(i), 0, wanted)
		if i = int(next); !isField(b, i) {
			at, err := stopAt(b, i)
			if err == nil {
				s.absent(k, at)
				at++
			}
			return at, err
		}
		header, t := wire.HeaderAt(b, i), wire.Type(b[i])
		i += wire.FieldHeader
		at, deeper := 0, 0
		if wanted>>(header%64)&1 != 0 {
			if at, deeper = s.step(k, int(int16(header))); at+deeper > 0 {
				if hits -= at + deeper; hits == 0 {
					wanted = 0
				}
				if deeper == 0 { // the usual case
					if end := plainEnd(b, i, t); end > 0 {
						s.found(k+1, i, end, t)
						i = end
						continue
					}
				}
			}
		}
		var inner *schema.Type
		if typ != nil && t != wire.String {
			if f := typ.Struct().Find(header); f != nil {
				inner = f.Type
			}
		}
		var err error
		if i, err = s.value(inner, t, i, k+1, at, deeper, toEnd || hits > 0); err != nil {
			return i, err
		}
	}
	return i, nil
}

// ids returns how many paths lead to a field of the struct at index i, to which k steps led, and a
// set with bit id%64 for each of their ids.
func (s *seeker) ids(k, i int) (set uint64, hits int) {
	all := s.sought
	for n := range all {
		v := &all[n]
		switch {
		case v.steps != k:
		case int(int16(v.next)) == v.next:
			set |= 1 << (uint(v.next) % 64)
			hits++
		default: // no id
			v.steps, v.at, v.end = done, i, k+1
		}
	}
	return set, hits
}

// elements does what value does for a list or set.
func (s *seeker) elements(typ *schema.Type, i, k int, toEnd bool) (int, error) {
	if len(s.b)-i < wire.ListHeader {
		return len(s.b), io.ErrUnexpectedEOF
	}
	t, n := wire.Type(s.b[i]), int(int32(wire.BE32(s.b[i+1:])))
	if n < 0 {
		return i + 1, wire.ErrNegative
	}
	var elem *schema.Type
	if typ != nil && typ.Elem().Wire() == t {
		elem = typ.Elem()
	} else {
		typ = nil
	}
	at := i + wire.ListHeader
	for passed := 0; passed < n; passed++ {
		next := s.next(k, passed, n)
		if next == n && !toEnd {
			break
		}
		if wire.MinSize[t] == 0 {
			return i, wire.TypeError(t)
		}
		var err error
		if at, err = s.passElements(typ, t, at, next-passed); err != nil {
			return at, err
		}
		if passed = next; next == n {
			break
		}
		ends, deeper := s.step(k, next)
		if at, err = s.value(elem, t, at, k+1, ends, deeper, toEnd || s.next(k, next+1, n) < n); err != nil {
			return at, err
		}
	}
	s.absent(k, i+wire.ListHeader)
	return at, nil
}

// step notes that the value of this field or element is next. It looks at the paths whose first k
// steps have led here, and returns how many end with that value, and how many lead into it.
func (s *seeker) step(k, to int) (at, deeper int) {
	all := s.sought
	for n := range all {
		if v := &all[n]; v.steps != k || v.next != to {
			continue
		}
		if s.enter(n, k+1) {
			at++
		} else {
			deeper++
		}
	}
	return at, deeper
}

// next returns the least index of an element, from this one on, that a path leads to; n if that
// is not below n.
func (s *seeker) next(k, from, n int) int {
	all := s.sought
	for i := range all {
		if v := &all[i]; v.steps == k && v.next >= from {
			n = min(n, v.next)
		}
	}
	return n
}

// pass returns the index after the value at i.
func (s *seeker) pass(typ *schema.Type, t wire.Type, i, budget int) (int, error) {
	if typ != nil && typ.Kind() >= schema.Record {
		m := &s.machine
		pc := uint64(program.OfValue(typ))
		o := opAt(m.code, pc)
		if end := uint64(i) + o.Reach(); end <= m.size {
			if end = m.passOp(o, pc, end); end <= m.size {
				return int(end), nil
			}
		}
	}
	return Skip(s.b, i, t, budget, StructCost)
}

// passElements returns the index after n elements of wire type t. The first one is at i. typ is
// the type of their list, or nil.
func (s *seeker) passElements(typ *schema.Type, t wire.Type, i, n int) (int, error) {
	if n == 0 {
		return i, nil
	}
	if typ != nil {
		m := &s.machine
		pc := uint64(program.OfValue(typ))
		if end := m.passElements(opAt(m.code, pc), pc, uint64(i), uint32(n)); end <= m.size {
			return int(end), nil
		}
	}
	return skipElements(s.b, i, t, n, BudgetOf(MaxDepth)-StructCost, StructCost)
}

// path returns the path of an error: the path of a sought value where the error happened.
func (s *seeker) path() string {
	best := 0
	for n := range s.paths {
		if s.sought[n].steps > s.sought[best].steps {
			best = n
		}
	}
	path := s.paths[best]
	return pathOf(path[:min(s.sought[best].steps+1, len(path))])
}

// pathOf writes a path of ids and indices.
func pathOf(path []int) string {
	s := ""
	for i, step := range path {
		if i > 0 {
			s += "."
		}
		s += strconv.Itoa(step)
	}
	return s
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
