package nocopy

import (
	"fmt"
	"slices"
	"strings"
)

var errDepth = fmt.Errorf("%w: nested deeper than Limits.MaxDepth", ErrLimit)

// parser validates a message and indexes it in one pass. It sees the bytes through a window that is contiguous:
// the whole message when that is in one piece. Where a value crosses from one block into the next, both parts
// are stitched: copied into a piece of their own, which takes the place of the originals in the chain.
//
// Methods take and return an index into the window; a negative one says that the parse has failed, or (mismatch)
// that the value is not of its declared type. Whoever calls a method that may move the window reads p.b again.
type parser struct {
	m *Message
	stitches

	levels []level // of all machines: each has those from the top of the one that it serves
	top    uint32
	few    [16]level

	mismatched uint32   // position of a field that turned out not to be of its type
	scan       XScanner // for what is skipped across windows

	growth   growth
	depth    int
	maxDepth int
	maxIndex uint32 // words
	lazy     bool
	promised uint64 // words that indexing what was left for later may take
	utf8     bool
	lenient  bool // what is indexed has been accepted before
	reuse    bool // entries that are free are used again
	slow     bool // no program is run: one takes words one after the other

	err  *Error
	path []string // innermost first
}

const (
	failed   = -1
	mismatch = -2
)

// reset prepares the parser for n bytes, which are not in b yet.
func (p *parser) reset(n int) {
	m := p.m
	p.err, p.node = nil, 0
	p.off, p.from, p.copied, p.rest, p.depth, p.top = 0, 0, 0, 0, 0, 0
	p.growth = growth{}
	p.windows, p.path, p.next = p.windows[:0], p.path[:0], place{}
	p.lenient, p.reuse, p.slow, p.promised = false, false, false, 0
	p.maxDepth = m.limits.MaxDepth
	p.lazy = m.flags&Lazy != 0
	p.utf8 = m.flags&ValidUTF8 != 0
	p.maxIndex = m.limits.maxIndex(n)
}

// structure indexes the struct at i into the entry e, whose words hold anything.
func (p *parser) structure(d *XDesc, e uint32, i int) int {
	if p.depth++; p.depth > p.maxDepth {
		return p.fail(i, errDepth)
	}
	p.m.idx[e] = p.base + uint32(i)
	if p.slow {
		clear(p.m.idx[e+1 : e+uint32(d.words)])
		i = p.fields(d, e, i)
		p.depth--
		return i
	}
	var s machine
	s.pc, s.entry, s.at = d.program().start, e, uint64(i)
	return p.finishRun(&s, 0)
}

// value indexes the struct or container that stands after lead bytes at i. It returns the index after it and its entry.
func (p *parser) value(t *XType, i, lead int) (int, uint32) {
	if p.slow {
		return p.slowValue(t, i, lead)
	}
	head := lead
	if t.kind > record {
		head += int(t.header())
	}
	if i = p.need(i, head); i < 0 {
		return i, 0
	}
	if len(p.m.idx) == 0 {
		p.m.growIndex(firstEntry, maxWords)
	}
	var s machine
	s.pc, s.at = t.program(), uint64(i+lead)
	before := p.m.idx[0] // which is nobody's: the entry's number goes there
	end := p.finishRun(&s, lead)
	word := p.m.idx[0]
	p.m.idx[0] = before
	return end, word
}

// finishRun runs the program of a machine that says where it is but nothing else.
func (p *parser) finishRun(s *machine, lead int) int {
	s.top, s.bottom = p.top, p.top
	bottom := p.top
	p.supply(s)
	i := p.goOn(s, p.start(s), lead)
	p.top = bottom
	return i
}

// supply gives a machine what may have changed since it last ran.
func (p *parser) supply(s *machine) {
	s.head, s.rest = p.base+fieldHeader, uint64(p.rest)
	s.set(p.b, p.m.idx, *code.cells.Load(), p.levels)
	s.used, s.room = p.m.words, min(p.maxIndex, uint32(len(p.m.idx)))
	s.deeper = int32(p.maxDepth - p.depth)
	if s.leaves = 0; p.lenient || p.m.limits.MaxIndex <= 0 {
		s.leaves = 1
	}
}

// start lets the machine run.
func (p *parser) start(s *machine) reason {
	switch {
	case p.lazy && p.utf8:
		return run[lazilyChecking](s)
	case p.lazy:
		return run[lazily](s)
	case p.utf8:
		return run[checking](s)
	}
	return run[indexing](s)
}

// goOn lets the machine, which has stopped for this reason, run to the end, doing what it can't. It returns the index at
// which it has ended, failed, or mismatch.
func (p *parser) goOn(s *machine, why reason, lead int) int {
	for {
		p.m.words, p.depth, p.top = s.used, p.maxDepth-int(s.deeper), s.top
		i := 0
		if p.lazy && why != finished && why != stacked && p.leaveStructs(s, why) {
			why = odd
		}
		switch why {
		case finished:
			return int(s.at)
		case full:
			i = p.makeRoom(s, lead)
		case deep:
			i = p.tooDeep(s)
		case stacked:
			p.levels = append(p.levels, p.levels...)
		default:
			i = p.slowly(s, lead)
		}
		if i < 0 {
			return i
		}
		p.supply(s)
		why = p.start(s)
	}
}

// makeRoom makes the index as large as the machine wants it.
func (p *parser) makeRoom(s *machine, lead int) int {
	o, from := cellAt(s.pc).op, originOf(s.pc)
	i := int(s.at)
	switch {
	case o&opMap != 0:
		i += int(o.reach())
	case s.top == s.bottom && from.field == nil:
		i -= lead
	}
	if o.kind() == kindContainer {
		t := from.typ
		if from.field != nil {
			t = from.field.typ
		}
		if n := be32(p.b[s.at+o.reach()-4:]); n >= manyElements {
			p.foresee(t, int(n))
		}
	}
	if p.reserve(s.want(), i) {
		return 0
	}
	return p.inRun(s, from.field)
}

// tooDeep fails at a struct that the machine may not go into.
func (p *parser) tooDeep(s *machine) int {
	o, from := cellAt(s.pc).op, originOf(s.pc)
	p.fail(int(s.at+o.reach()), errDepth)
	if o.kind() == kindStructs {
		p.at(0)
	}
	return p.inRun(s, from.field)
}

// slowly does what the machine has stopped at: of a field the rest of its struct, else the element.
func (p *parser) slowly(s *machine, lead int) int {
	from := originOf(s.pc)
	i, after := int(s.at), 0
	if from.desc == nil {
		o := cellAt(s.pc).op
		if s.top > s.bottom {
			lead = 0
		}
		at, word := p.slowValue(from.typ, i-lead, lead)
		switch {
		case at >= 0:
			p.m.idx[s.entry+o.word()] = word
			s.at = uint64(at)
			s.pc += o.cells() * cellSize
			return 0
		case at == failed:
			return p.inRun(s, nil)
		}
		f := p.outOf(s)
		if f == nil {
			return mismatch
		}
		from = originOf(s.pc)
		if i = p.mismatchedContainer(f, int(s.at)); i < 0 {
			return p.inRun(s, f)
		}
		after = i
	} else if i > len(p.b) {
		i = p.overlong(from.desc, s.entry, s.pc)
	}
	d := from.desc
	for pc := s.pc; ; { // what the machine would have come to
		o := cellAt(pc).op
		if k := o.kind(); k == kindStop || k == kindUnionStop {
			break
		}
		p.m.idx[s.entry+o.word()] = 0
		pc += o.cells() * cellSize
	}
	p.top = s.top
	if d.union {
		p.m.idx[s.entry+unionWord] = 0
		if after > 0 {
			i = p.strange(s.entry, p.mismatched, p.base+uint32(after), i)
		}
	}
	if i >= 0 {
		i = p.fields(d, s.entry, i)
	}
	if i < 0 {
		return p.inRun(s, nil)
	}
	s.at, s.pc = uint64(i), d.program().ended
	return 0
}

// leaveStructs makes the machine go back to the field of the outermost small struct that it is in, which Lazy can leave
// for later. It reports whether something is to be left so.
func (p *parser) leaveStructs(s *machine, why reason) bool {
	from := originOf(s.pc)
	left := why == deep && from.field != nil ||
		why == full && from.field != nil && uint64(p.m.words)+s.want() > uint64(p.maxIndex)
	if why != odd && !left {
		return false
	}
	for s.top > s.bottom && p.levels[s.top-1].list == 0 && originOf(p.levels[s.top-1].pc-2*cellSize).field != nil {
		s.top--
		f := &p.levels[s.top]
		s.at = uint64(p.m.idx[s.entry]-p.base) - fieldHeader
		s.pc, s.entry, s.left = f.pc-2*cellSize, f.entry, f.left
		s.deeper++
		left = true
	}
	p.depth = p.maxDepth - int(s.deeper)
	return left
}

// outOf makes the machine go back to the field in which containers of containers are not of their type. It returns the field;
// nil if they are in none that the machine has come to.
func (p *parser) outOf(s *machine) *field {
	for s.top > s.bottom {
		s.top--
		f := &p.levels[s.top]
		s.pc, s.entry, s.left = f.pc-2*cellSize, f.entry, f.left
		s.at = uint64(p.m.idx[f.list+listStart]-p.base) - cellAt(s.pc).op.reach()
		if from := originOf(s.pc); from.field != nil {
			return from.field
		}
	}
	return nil
}

// overlong returns where the field is that came last in the struct of entry e, a text that ends after the window. Only the words
// of what comes before pc in its program are defined.
func (p *parser) overlong(d *XDesc, e, pc uint32) int {
	programs, last := d.program(), uint32(0)
	at := programs.start
	if programs.built > 0 && pc >= programs.built {
		at = programs.built
	}
	for at < pc {
		o := cellAt(at).op
		if p.m.idx[e+o.word()] != 0 {
			last = e + o.word()
		}
		at += o.cells() * cellSize
	}
	i := int(p.m.idx[last]-p.base) - fieldHeader
	p.m.idx[last] = 0
	return i
}

// inRun adds to the path of a failure where the machine is: in a field, if not nil, in what its levels say.
func (p *parser) inRun(s *machine, f *field) int {
	left := s.left
	for top := s.top; ; top-- {
		if f != nil {
			p.in(f.Name)
		}
		if top == s.bottom {
			return failed
		}
		next := &p.levels[top-1]
		if next.list != 0 {
			p.at(int(p.m.idx[next.list+listCount] - 1 - left))
		}
		left, f = next.left, originOf(next.pc-2*cellSize).field
	}
}

// pass returns the index after the value of type t at i if it is whole in the window and as programs foresee it, else mismatch.
func (p *parser) pass(t *XType, i int) int {
	var s machine
	s.top, s.bottom = p.top, p.top
	program := t.program()
	p.supply(&s)
	if end := s.pass(uint64(program), uint64(i), 0, 0); end <= uint64(len(p.b)) {
		return int(end)
	}
	return mismatch
}

// take takes words of the index for a head and n elements of per words each, contents undefined; 0 if that is
// over the limit, which i is where it is exceeded.
func (p *parser) take(head, n, per, i int) uint32 {
	words := uint64(head) + uint64(n)*uint64(per) // below 1<<48
	if !p.reserve(words, i) {
		return 0
	}
	e := p.m.words
	p.m.words += uint32(words)
	return e
}

// takeFor is take for a value of the type.
func (p *parser) takeFor(t *XType, head, n, per, i int) uint32 {
	if p.reuse {
		return p.m.reuse(t, uint32(head+n*per))
	}
	return p.take(head, n, per, i)
}

// reserve makes sure that the index has room for words more, if it may have.
func (p *parser) reserve(words uint64, i int) bool {
	end := uint64(p.m.words) + words
	if end > uint64(p.maxIndex) {
		p.fail(i, fmt.Errorf("%w: index of more than Limits.MaxIndex = %d bytes", ErrLimit, 4*uint64(p.maxIndex)))
		return false
	}
	if end > uint64(len(p.m.idx)) {
		p.growIndex(int(end), p.off+i, p.off+len(p.b)+p.rest)
	}
	return true
}

// fail notes what is wrong at i, unless something was before.
//
//go:noinline
func (p *parser) fail(i int, err error) int {
	if p.err == nil {
		p.err = &Error{Offset: p.off + i, Err: err}
	}
	return failed
}

// in adds the name of a field to the path of the failure.
func (p *parser) in(name string) int {
	p.path = append(p.path, "."+name)
	return failed
}

// at adds the number of an element.
func (p *parser) at(k int) int {
	p.path = append(p.path, "["+itoa(k)+"]")
	return failed
}

// finish returns the error of a failed parse, with its path.
func (p *parser) finish(d *XDesc) error {
	p.path = append(p.path, d.name)
	slices.Reverse(p.path)
	p.err.Path = strings.Join(p.path, "")
	err := p.err
	if err.Err == errDepth {
		err.Err = depthError(p.maxDepth)
	}
	p.path, p.err = p.path[:0], nil
	return err
}
