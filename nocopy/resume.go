package nocopy

// runAll runs a machine of which pc, entry and at are set, to the end of what it indexes. It
// returns the index after that, failed, or mismatch. lead bytes before at belong to the value.
func (p *parser) runAll(s *machine, lead int) int {
	s.top, s.bottom = p.top, p.top
	bottom := p.top
	p.load(s)
	i := p.resume(s, p.start(s), lead)
	p.top = bottom
	return i
}

// load sets what may have changed since the machine last ran: window, index, limits.
func (p *parser) load(s *machine) {
	s.head, s.after = p.base+fieldHeader, uint64(p.after)
	s.set(p.b, p.m.idx, *code.cells.Load(), p.levels)
	s.used, s.room = p.m.words, min(p.maxIndex-uint32(p.promised), uint32(len(p.m.idx)))
	s.deeper = int32(p.maxDepth - p.depth)
	if s.leaves = 0; p.lenient || p.m.limits.MaxIndex <= 0 {
		s.leaves = 1
	}
}

// start lets the machine run, in the mode that the parser's options ask for, and returns why it
// has stopped.
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

// resume does what the machine has stopped for and lets it run on, until it has come to its end.
// It returns the index there, failed, or mismatch.
func (p *parser) resume(s *machine, why reason, lead int) int {
	for {
		p.m.words, p.depth, p.top = s.used, p.maxDepth-int(s.deeper), s.top
		i := 0
		if p.lazy && why != finished && why != levelsFull && p.leaveStructs(s, why) {
			why = unforeseen
		}
		switch why {
		case finished:
			return int(s.at)
		case indexFull:
			i = p.makeRoom(s, lead)
		case tooManyStructs:
			i = p.tooDeep(s)
		case levelsFull:
			p.levels = append(p.levels, p.levels...)
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

// want returns how many words the struct or container takes at which the machine has stopped.
func (s *machine) want() uint64 {
	o, shape := opAt(s.code, uint64(s.pc)), shapeAt(s.code, uint64(s.pc))
	if o.kind() == kindStruct {
		return uint64(shape >> shapeWords)
	}
	return listWords + uint64(loadBE32(s.mem(), s.at+o.reach()-4))*uint64(shape>>shapeWords)
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
	return p.addPath(s, from.field)
}

// tooDeep fails at a struct that the machine may not go into.
func (p *parser) tooDeep(s *machine) int {
	o, from := cellAt(s.pc).op, originOf(s.pc)
	p.fail(int(s.at+o.reach()), errDepth)
	if o.kind() == kindStructs {
		p.atElement(0)
	}
	return p.addPath(s, from.field)
}

// runSlowly does by the slow parser what the machine has stopped at: at a field, the rest of its
// struct, else the element.
func (p *parser) runSlowly(s *machine, lead int) int {
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
			return p.addPath(s, nil)
		}
		f := p.leaveContainers(s)
		if f == nil {
			return mismatch
		}
		from = originOf(s.pc)
		if i = p.mismatchedContainer(f, int(s.at)); i < 0 {
			return p.addPath(s, f)
		}
		after = i
	} else if s.at > uint64(len(p.b)) { // more than an int has, too
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
			i = p.addExtra(s.entry, p.mismatched, p.base+uint32(after), i)
		}
	}
	if i >= 0 {
		i = p.fields(d, s.entry, i)
	}
	if i < 0 {
		return p.addPath(s, nil)
	}
	s.at, s.pc = uint64(i), d.program().ended
	return 0
}

// leaveStructs makes the machine go back to the field of the outermost small struct that it is in,
// which Lazy can leave for later. It reports whether something is to be left so.
func (p *parser) leaveStructs(s *machine, why reason) bool {
	from := originOf(s.pc)
	left := why == tooManyStructs && from.field != nil ||
		why == indexFull && from.field != nil && uint64(p.m.words)+s.want()+p.promised > uint64(p.maxIndex)
	if why != unforeseen && !left {
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

// leaveContainers makes the machine go back to the field that has lists or maps in it that are not
// of their declared types. It returns the field; nil if the machine did not begin at it or around
// it.
func (p *parser) leaveContainers(s *machine) *field {
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

// overlong returns where the field is that came last in the struct of entry e, a text that ends
// after the window. Only the words of what comes before pc in its program are defined.
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

// addPath adds to the path of a failure the field f, if not nil, and the elements and fields
// around it that the machine's levels tell.
func (p *parser) addPath(s *machine, f *field) int {
	left := s.left
	for top := s.top; ; top-- {
		if f != nil {
			p.inField(f.Name)
		}
		if top == s.bottom {
			return failed
		}
		next := &p.levels[top-1]
		if next.list != 0 {
			p.atElement(int(p.m.idx[next.list+listCount] - 1 - left))
		}
		left, f = next.left, originOf(next.pc-2*cellSize).field
	}
}

// pass returns the index after the value of type t at i if it is whole in the window and as
// programs foresee it, else mismatch.
func (p *parser) pass(t *XType, i int) int {
	var s machine
	s.top, s.bottom = p.top, p.top
	program := t.program()
	p.load(&s)
	if end := s.pass(uint64(program), uint64(i), 0, 0); end <= uint64(len(p.b)) {
		return int(end)
	}
	return mismatch
}
