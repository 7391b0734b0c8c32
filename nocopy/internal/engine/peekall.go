package engine

import (
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// PeekAll finds the values at several paths in one pass over the struct b. It notes in sought,
// which is zero, where they are. It finds the same values as Peek. d describes the struct, or is
// nil. The error is an *Error for the first wrong byte up to the last value.
//
// PeekAll returns no values, because it would have to be generic to return values of package
// nocopy. In other packages the compiler does not know that a generic function does not keep the
// paths, and allocates them.
func PeekAll(d *schema.Struct, b []byte, paths [][]int, sought []Sought) error {
	if len(paths) == 0 {
		return nil
	}
	b = b[:min(len(b), maxScan)] // so no length is negative and yet that of what is there
	s := seeker{b: b, paths: paths, sought: sought[:len(paths)]}
	var levels [parseLevels]level
	typ := (*schema.Type)(nil)
	if d != nil {
		program.Of(d)
		s.machine.memory = memoryOf(b, program.Cells())
		s.machine.levels, s.machine.most = levelsOf(levels[:])
		s.machine.deeper = defaultMaxDepth
		typ = d.Type()
	}
	at := 0
	for _, path := range paths {
		if len(path) == 0 {
			at++
		}
	}
	if at, err := s.value(typ, wire.Struct, 0, 0, at, len(paths)-at, false); err != nil {
		return &wire.Error{Offset: at, Path: s.path(), Err: err}
	}
	return nil
}

// Sought is how far PeekAll has got with a path.
type Sought struct {
	steps   int // so many steps of the path lead to where the seeker is; done at the end
	at, end int // the value, once it is found
	typ     wire.Type
}

// done is Sought.steps of a path whose value has been found, or is not there.
const done = -1

// Value returns the value that was found in b, or a zero one.
func (s *Sought) Value(b []byte) WireValue {
	if s.typ == wire.Stop {
		return WireValue{}
	}
	return WireValue{s.typ, b[s.at:s.end:s.end]}
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
		budget := budgetOf(defaultMaxDepth)
		if at == 0 {
			budget -= structCost
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
	case toEnd:
		next, err = s.pass(typ, t, i, budgetOf(defaultMaxDepth)-structCost)
	}
	if err == nil {
		s.found(k, 0, 0, wire.Stop) // values that were not found are absent
	}
	return max(next, end), err
}

// found notes the value of the paths that end after k steps, or with wire.Stop that what all paths
// lead to, of those that k steps led here, is not there.
func (s *seeker) found(k, at, end int, t wire.Type) {
	for n := range s.sought {
		if v := &s.sought[n]; v.steps == k && (t == wire.Stop || len(s.paths[n]) == k) {
			v.steps, v.at, v.end, v.typ = done, at, end, t
		}
	}
}

// fields does what value does for a struct, which begins at i.
func (s *seeker) fields(typ *schema.Type, i, k int, toEnd bool) (int, error) {
	b := s.b
	wanted, hits := s.ids(k)
	for hits > 0 || toEnd {
		i = skipOthers(b, i, wanted)
		if i >= len(b) {
			return len(b), io.ErrUnexpectedEOF
		}
		t := wire.Type(b[i])
		switch {
		case t == wire.Stop:
			return i + 1, nil
		case wire.MinSize[t] == 0:
			return i, wire.TypeError(t)
		case len(b)-i < wire.FieldHeader:
			return len(b), io.ErrUnexpectedEOF
		}
		key := wire.HeaderAt(b, i)
		i += wire.FieldHeader
		at, deeper := 0, 0
		if wanted>>(key%64)&1 != 0 {
			if at, deeper = s.step(k, int(int16(key))); at+deeper > 0 {
				if hits -= at + deeper; hits == 0 {
					wanted = 0
				}
				if n := int(wire.FixedSize[t]); deeper == 0 && n > 0 && n <= len(b)-i { // the usual case
					s.found(k+1, i, i+n, t)
					i += n
					continue
				}
			}
		}
		var inner *schema.Type
		if typ != nil && t != wire.String {
			if f := typ.Struct().Find(key); f != nil {
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

// ids returns how many paths lead to a field of the struct to which k steps led, and a set with
// bit id%64 for each of their ids.
func (s *seeker) ids(k int) (set uint64, hits int) {
	for n := range s.sought {
		if s.sought[n].steps == k {
			if id := s.paths[n][k]; int(int16(id)) == id {
				set |= 1 << (uint(id) % 64)
				hits++
			}
		}
	}
	return set, hits
}

// skipOthers skips fields of fixed size and texts from i on, as skipPlain does, whose ids are not
// in the set wanted.
func skipOthers(b []byte, i int, wanted uint64) int {
	at, size := uint64(i), uint64(len(b))
	for at+8 <= size {
		x := wire.Load64(b, int(at))
		if wanted>>(x>>16%64)&1 != 0 {
			break
		}
		end := at
		switch t := wire.Type(x); {
		case t == wire.String:
			end += wire.FieldHeader + wire.TextHeader + uint64(wire.LengthIn(x))
		case wire.FixedSize[t] > 0:
			end += wire.FieldHeader + uint64(wire.FixedSize[t])
		default:
			return int(at)
		}
		if end > size {
			break
		}
		at = end
	}
	return int(at)
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
	for passed := 0; ; passed++ {
		next := s.next(k, passed, n)
		if next == n && (!toEnd || passed == n) {
			return at, nil
		}
		if wire.MinSize[t] == 0 {
			return i, wire.TypeError(t)
		}
		var err error
		if at, err = s.passElements(typ, t, at, next-passed); err != nil || next == n {
			return at, err
		}
		ends, deeper := s.step(k, next)
		if at, err = s.value(elem, t, at, k+1, ends, deeper, toEnd || s.next(k, next+1, n) < n); err != nil {
			return at, err
		}
		passed = next
	}
}

// step notes that the value of this field or element is next. It returns how many paths end with
// it, and how many lead into it, of those that k steps led here.
func (s *seeker) step(k, to int) (at, deeper int) {
	for n := range s.sought {
		if v := &s.sought[n]; v.steps == k && s.paths[n][k] == to {
			v.steps = k + 1
			if len(s.paths[n]) == k+1 {
				at++
			} else {
				deeper++
			}
		}
	}
	return at, deeper
}

// next returns the least index of an element, from this one on, that a path leads to; n if that
// is not below n.
func (s *seeker) next(k, from, n int) int {
	for i, path := range s.paths {
		if s.sought[i].steps == k && path[k] >= from {
			n = min(n, path[k])
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
	return skip(s.b, i, t, budget, structCost)
}

// passElements returns the index after n elements of wire type t. The first one is at i. typ is
// the type of their list, or nil.
func (s *seeker) passElements(typ *schema.Type, t wire.Type, i, n int) (int, error) {
	if n == 0 {
		return i, nil
	}
	if size := int64(wire.FixedSize[t]); size > 0 {
		if int64(n)*size > int64(len(s.b)-i) {
			return len(s.b), io.ErrUnexpectedEOF
		}
		return i + n*int(size), nil
	}
	if typ != nil {
		m := &s.machine
		pc := uint64(program.OfValue(typ))
		if end := m.passElements(opAt(m.code, pc), pc, uint64(i), uint32(n)); end <= m.size {
			return int(end), nil
		}
	}
	sc := takeScanner()
	defer scanners.Put(sc)
	sc.start(budgetOf(defaultMaxDepth)-structCost, structCost, int64(len(s.b)-i),
		scanLevel{left: int64(n), types: [2]wire.Type{t, t}})
	need, err := sc.scan(s.b[i:])
	if need > 0 || err == io.ErrUnexpectedEOF {
		return len(s.b), io.ErrUnexpectedEOF
	}
	return i + sc.off, err
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
