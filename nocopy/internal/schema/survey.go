package schema

import (
	"math"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// facts say what a struct, or a value of a type, may contain at any depth.
type facts struct {
	nests   bool // containers of containers
	doubles bool
	widest  int // the number of words of the widest struct
	nesting int // how deep structs are nested, the outermost included; unbounded if in themselves
}

const unbounded = math.MaxInt16

// with returns the facts of a value that has the contents of both f and g.
func (f facts) with(g facts) facts {
	return facts{f.nests || g.nests, f.doubles || g.doubles, max(f.widest, g.widest), max(f.nesting, g.nesting)}
}

// Nests reports whether a value of the type may contain containers of containers.
func (t *Type) Nests() bool { return t.facts().nests }

// HasDoubles reports whether values of the type may contain doubles.
func (t *Type) HasDoubles() bool { return t.facts().doubles }

// Widest returns the number of words of the widest struct that a value of the type may contain.
func (t *Type) Widest() int { return t.facts().widest }

// Nesting returns how deep structs may be nested in a value of the type, the outermost included.
// It is unbounded if one of them may contain itself.
func (t *Type) Nesting() int { return t.facts().nesting }

// Nesting is the Nesting of the struct's type.
func (d *Struct) Nesting() int {
	if known := d.facts.Load(); known != nil {
		return known.nesting
	}
	return d.self.Nesting()
}

// facts panics if the type contains a struct without Define.
func (t *Type) facts() facts {
	var s survey
	f, _ := s.value(t)
	return f
}

// survey finds the facts of structs in time proportional to their fields, by Tarjan's algorithm:
// structs that contain each other have the same facts. An IDL of thousands of them may come from
// an untrusted source. Several goroutines may survey the same structs, with the same results.
type survey struct {
	numbers map[*Struct]int // of the structs that were visited, in that order
	stack   []*Struct       // those that may turn out to contain each other
}

// none is the number of no struct.
const none = math.MaxInt

// structure returns the facts of d, and the lowest number of the structs on the stack that d may
// contain. The facts are complete if that is not less than d's own number.
func (s *survey) structure(d *Struct) (facts, int) {
	if known := d.facts.Load(); known != nil {
		return *known, none
	}
	if n, visited := s.numbers[d]; visited {
		return facts{nesting: unbounded}, n
	}
	d.self.MustBeDefined()
	if s.numbers == nil {
		s.numbers = map[*Struct]int{}
	}
	number, at := len(s.numbers), len(s.stack)
	s.numbers[d] = number
	s.stack = append(s.stack, d)
	f, lowest := facts{widest: d.mostWords()}, number
	for i := range d.fields {
		inside, n := s.value(d.fields[i].Type)
		f, lowest = f.with(inside), min(lowest, n)
	}
	f.nesting = min(f.nesting+1, unbounded)
	if lowest == number {
		whole := f // not f itself, which would then be on the heap for each struct
		for _, same := range s.stack[at:] {
			same.facts.Store(&whole)
		}
		s.stack = s.stack[:at]
		lowest = none
	}
	return f, lowest
}

// value returns for a type what structure returns for a struct.
func (s *survey) value(t *Type) (facts, int) {
	switch t.kind {
	case Record:
		return s.structure(t.desc)
	case List, Dict:
		f, lowest := s.value(t.elem)
		if t.kind == Dict {
			key, n := s.value(t.key)
			f, lowest = f.with(key), min(lowest, n)
		}
		f.nests = f.nests || t.Nested()
		return f, lowest
	}
	return facts{doubles: t.wire == wire.Double}, none
}

// mostWords returns the largest number of words of a struct's entry, its table included. It does
// not count the words that each byte of the message allows.
func (d *Struct) mostWords() int {
	n := d.words
	if d.wide {
		n += int(entry.BareTable(d.Span()))
	}
	return n
}
