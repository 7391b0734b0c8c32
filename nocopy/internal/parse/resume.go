package parse

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// runAll runs a machine to the end of the value that it indexes. Its pc, entry and at are set.
// lead is how many bytes before at belong to the value's header and must stay contiguous with it.
// runAll returns the index after the value, failed, or mismatch.
func (p *Parser) runAll(s *machine, lead int) int {
	s.top, s.bottom = p.top, p.top
	bottom := p.top
	p.load(s)
	i := p.resume(s, p.start(s), lead)
	p.top = bottom
	return i
}

// load gives the machine what may have changed since it last ran: window, index, limits.
func (p *Parser) load(s *machine) {
	s.head, s.after = p.Base+wire.FieldHeader, uint64(p.After)
	s.set(p.B, p.x.Words, program.Cells())
	s.levels, s.most = levelsOf(p.levels)
	s.used, s.room = p.x.Used, min(p.MaxWords, uint32(len(p.x.Words)))
	s.deeper = int32(p.MaxDepth - p.depth)
}

// start lets the machine run, in the mode that the parser's options ask for, and returns why it
// has stopped.
func (p *Parser) start(s *machine) reason {
	switch {
	case p.Lazy:
		return run[lazily](s)
	case p.UTF8:
		return run[checking](s)
	}
	return run[indexing](s)
}

// resume does what the machine has stopped for and lets it run on, until it has come to its end.
// It returns the index there, failed, or mismatch.
func (p *Parser) resume(s *machine, why reason, lead int) int {
	for {
		p.x.Used, p.depth, p.top = s.used, p.MaxDepth-int(s.deeper), s.top
		i := 0
		switch why {
		case finished:
			return int(s.at)
		case indexFull:
			i = p.makeRoom(s, lead)
		case tooManyStructs:
			i = p.tooDeep(s)
		case levelsFull:
			if int(s.height()) == len(p.levels) { // parse has fewer
				p.levels = append(p.levels, p.levels...)
			}
		default:
			i = p.runSlowly(s, lead)
		}
		if i < 0 {
			return i
		}
		p.load(s)
		why = p.start(s)
	}
}

// want returns how many words of the index the struct or container takes that the machine has
// stopped at.
func (s *machine) want() uint64 {
	o, shape := opAt(s.code, uint64(s.pc)), shapeAt(s.code, uint64(s.pc))
	if o.Kind() == program.KindStruct {
		return uint64(shape >> program.ShapeWords)
	}
	return entry.ListWords + uint64(loadBE32(s.mem(), s.at+o.Reach()-4))*uint64(shape>>program.ShapeWords)
}

// makeRoom makes room in the index for the words that the machine wants. It returns 0, or failed
// if that is over the limit.
func (p *Parser) makeRoom(s *machine, lead int) int {
	o, from, i := program.CellAt(s.pc).Op, program.OriginOf(s.pc), int(s.at)
	if s.top == s.bottom && from.Field == nil {
		i -= lead
	}
	if o.Kind() == program.KindContainer {
		t := from.Type
		if from.Field != nil {
			t = from.Field.Type
		}
		if n := wire.BE32(p.B[s.at+o.Reach()-4:]); n >= manyElements {
			p.foresee(t, int(n))
		}
	}
	if p.reserve(s.want(), i) {
		return 0
	}
	return p.addPath(s, from.Field)
}

// tooDeep fails at the struct that the machine may not go into, since it is nested too deeply.
func (p *Parser) tooDeep(s *machine) int {
	o, from := program.CellAt(s.pc).Op, program.OriginOf(s.pc)
	p.Fail(int(s.at+o.Reach()), errDepth)
	if o.Kind() == program.KindStructs {
		p.atElement(0)
	}
	return p.addPath(s, from.Field)
}

// runSlowly lets the slow parser continue where the machine has stopped: at an element, or at a
// field. It returns 0, failed, or mismatch.
func (p *Parser) runSlowly(s *machine, lead int) int {
	from := program.OriginOf(s.pc)
	if from.Desc == nil {
		return p.elementSlowly(s, from.Type, lead)
	}
	i := int(s.at)
	if s.at > uint64(len(p.B)) { // perhaps more than an int can hold
		i = p.overlong(from.Desc, s.entry, s.pc)
	}
	p.clearRest(s, from.Desc)
	return p.structSlowly(s, from.Desc, i)
}

// elementSlowly parses the element of type t that the machine has stopped at. If it is not of type
// t, it parses the rest of the struct that the container is in instead.
func (p *Parser) elementSlowly(s *machine, t *schema.Type, lead int) int {
	o := program.CellAt(s.pc).Op
	if s.top > s.bottom {
		lead = 0
	}
	at, word := p.slowValue(t, int(s.at)-lead, lead)
	switch {
	case at >= 0:
		p.x.SetEntryWord(s.entry, o.Word(), index.Word(word))
		s.at = uint64(at)
		s.pc += o.Cells() * program.CellSize
		return 0
	case at == failed:
		return p.addPath(s, nil)
	}
	f := p.leaveContainers(s)
	if f == nil {
		return mismatch
	}
	i := p.mismatchedContainer(f, int(s.at))
	if i < 0 {
		return p.addPath(s, f)
	}
	d := program.OriginOf(s.pc).Desc
	p.clearRest(s, d)
	if d.IsUnion() {
		i = p.addExtra(s.entry, p.mismatched, p.Base+uint32(i), i)
	}
	return p.structSlowly(s, d, i)
}

// structSlowly parses the rest of the struct that the machine has stopped in, from index i on.
// Then the machine is after the struct.
func (p *Parser) structSlowly(s *machine, d *schema.Struct, i int) int {
	p.top = s.top
	if i >= 0 { // else the parser has failed
		i = p.fields(d, s.entry, i)
	}
	if i < 0 {
		return p.addPath(s, nil)
	}
	s.at, s.pc = uint64(i), program.Of(d).Ended
	return 0
}

// clearRest makes the words of the fields zero that the machine has not come to in a struct of
// type d. Of a union it notes that no arm is set.
func (p *Parser) clearRest(s *machine, d *schema.Struct) {
	for pc := s.pc; ; {
		o := program.CellAt(pc).Op
		if k := o.Kind(); k == program.KindStop || k == program.KindUnionStop {
			break
		}
		p.x.SetEntryWord(s.entry, o.Word(), 0)
		pc += o.Cells() * program.CellSize
	}
	if d.IsUnion() {
		p.x.SetArm(s.entry, 0)
	}
}

// leaveContainers makes the machine go back from an element that is not of its declared type to
// the field that the element is in. It returns the field, nil if the machine began inside the
// field.
func (p *Parser) leaveContainers(s *machine) *schema.Field {
	for s.top > s.bottom {
		s.top--
		f := &p.levels[s.top]
		s.pc, s.entry, s.left = f.pc-2*program.CellSize, f.entry, f.left
		s.at = uint64(p.x.StartOf(f.list)-p.Base) - program.CellAt(s.pc).Op.Reach()
		if from := program.OriginOf(s.pc); from.Field != nil {
			return from.Field
		}
	}
	return nil
}

// overlong returns the index of the field that came last in the struct of entry e: a text that
// ends after the window. Of the entry only the words of ops before pc are defined.
func (p *Parser) overlong(d *schema.Struct, e, pc uint32) int {
	programs, last := program.Of(d), uint32(0)
	at := programs.Start
	if programs.Built > 0 && pc >= programs.Built {
		at = programs.Built
	}
	for at < pc {
		o := program.CellAt(at).Op
		if p.x.EntryWord(e, o.Word()) != 0 {
			last = o.Word()
		}
		at += o.Cells() * program.CellSize
	}
	i := int(uint32(p.x.EntryWord(e, last))-p.Base) - wire.FieldHeader
	p.x.SetEntryWord(e, last, 0)
	return i
}

// addPath adds to the path of a failure the field f, if not nil, and the elements and fields
// around it, which it finds by the machine's levels. It returns failed.
func (p *Parser) addPath(s *machine, f *schema.Field) int {
	left := s.left
	for top := s.top; ; top-- {
		if f != nil {
			p.InField(f.Name)
		}
		if top == s.bottom {
			return failed
		}
		next := &p.levels[top-1]
		if next.list != 0 {
			p.atElement(int(p.x.List(next.list).Count() - 1 - left))
		}
		left, f = next.left, program.OriginOf(next.pc-2*program.CellSize).Field
	}
}

// pass returns the index after the value of type t at i, without indexing it, if it is whole in
// the window and as programs foresee it; else mismatch.
func (p *Parser) pass(t *schema.Type, i int) int {
	var s machine
	s.top, s.bottom = p.top, p.top
	pc := program.OfValue(t)
	p.load(&s)
	if end := s.pass(uint64(pc), uint64(i), 0, 0); end <= uint64(len(p.B)) {
		return int(end)
	}
	return mismatch
}
