package nocopy

import (
	"math/bits"
	"slices"
	"sync"
)

// What a message of a type looks like if it comes from a program that writes all fields in the IDL's order, as most do, or from
// this library, which writes the fields of a template first.

// step is what is expected next. The low 24 bits are a field's header as it is loaded, little-endian. Above them: how many
// bytes the step reaches, but for a text's or a list's own; flags; the word of the index that it fills, counted from the
// struct's entry; of a struct or list inside, its entry, counted likewise.
type step uint64

const (
	stepReach = 24 // shift

	stepText  = 1 << 32 // a text: its length follows
	stepOpen  = 1 << 33 // a plain struct: its steps follow
	stepStop  = 1 << 34 // its end, or that of the whole
	stepOther = 1 << 35 // something that is not so simple
	stepLast  = 1 << 36 // the end of the whole
	stepEdge  = 1 << 37 // goes into a struct inside of the whole, or out of it
	stepList  = 1 << 38 // a list of elements of fixed size: what they are follows as a listStep
	stepApart = 1 << 63 // none of a text or of fixed size: the sign, which is asked for first

	stepWord    = 40 // shift
	stepWords   = 1<<12 - 1
	stepEntry   = 52 // shift
	stepEntries = 1<<11 - 1
)

// is says whether the 4 bytes x begin with the header.
func (s step) is(x uint32) bool { return (x^uint32(s))&(1<<stepReach-1) == 0 }

func (s step) reach() uint64 { return uint64(uint32(s) >> stepReach) }
func (s step) word() uint32  { return uint32(s>>stepWord) & stepWords }
func (s step) entry() uint32 { return uint32(s>>stepEntry) & stepEntries }

// listStep is what the elements of a stepList are: their size, wire type, and the number of the list's type.
type listStep uint64

func listStepOf(t *Type) listStep {
	return listStep(t.elem.size) | listStep(t.elem.wire)<<8 | listStep(t.id)<<32
}

func (l listStep) size() uint64   { return uint64(l & 0xff) }
func (l listStep) wire() WireType { return WireType(l >> 8) }
func (l listStep) typeID() uint32 { return uint32(l >> 32) }

// stepOf returns the step of field f, which fills this word.
func stepOf(f *field, word int) step {
	s := step(bits.ReverseBytes32(f.key << 8))
	switch {
	case word > stepWords:
		return s | stepApart | stepOther
	case f.kind == text:
		return s | step(word)<<stepWord | stepText | (fieldHeader+textHeader)<<stepReach
	case f.kind == fixed:
		return s | step(word)<<stepWord | (fieldHeader+step(f.size))<<stepReach
	}
	return s | step(word)<<stepWord | stepApart | stepOther | fieldHeader<<stepReach
}

// plan is a struct's fields in the order in which they are expected, with the steps of structs inside among them. The first field in
// that order has place 0.
type plan struct {
	steps  []step      // the last one is the struct's own end
	place  []uint16    // which place each step is of
	starts []planStart // of each place, and of the end
	order  []uint16    // the number of the field at each place
	places []uint16    // the place of each field
	built  bool        // the order is New's, not the IDL's
	other  *plan       // the one for what was built by New, nil if that is this one
	fork   int         // the first place where that is different
	rows   []rowType   // of each field: what is in it if it is a list of flat structs, else nothing
	depth  int         // how many structs inside are in one another
	inside bool        // there are structs or lists inside
	whole  bool        // it has a step for all that may be in the struct
	leads  bool        // a message begins with it: within the index that every message may have
	shelf  bool        // there are lists of flat structs inside, and texts and fixed-size fields, but nothing else
	end    uint32      // where their entries end, counted from the struct's own
}

// planStart is where a field begins.
type planStart struct {
	step    uint32
	entries uint32 // where entries of what is inside begin that comes from here on, counted from the struct's own
	later   *Type  // its type, if Lazy leaves it for later whatever is in it
}

// rowType is what a list of flat structs and its elements are.
type rowType struct {
	steps  []step // of an element
	words  uint32 // of an element's entry
	typeID uint32 // number of the list's type
}

// rest returns how many words the entries of what is inside take, from field next on.
func (p *plan) rest(next int) uint32 { return p.end - p.starts[next].entries }

// planOf returns the plan of d. It is made when it is first asked for: when d is defined, structs inside need not be yet.
func planOf(d *Desc) *plan {
	p := d.plan.Load()
	if p == nil {
		p = makePlan(d)
	}
	return p
}

// planning is held while a plan is made.
var planning sync.Mutex

func makePlan(d *Desc) *plan {
	planning.Lock()
	defer planning.Unlock()
	if p := d.plan.Load(); p != nil {
		return p
	}
	d.self.mustBeDefined()
	for i := range d.fields {
		d.fields[i].widest = widest(d.fields[i].typ, map[*Desc]bool{})
		d.nests = d.nests || anyNested(d.fields[i].typ, map[*Desc]bool{})
	}
	p, other := layOut(d, false), layOut(d, true)
	p.rows = make([]rowType, len(d.fields))
	for i := range d.fields {
		if f := &d.fields[i]; f.rows() {
			elem := f.typ.elem.desc
			p.rows[i] = rowType{elem.steps, uint32(elem.words), f.typ.id}
		}
	}
	other.rows = p.rows
	for p.fork < len(p.order) && slices.Equal(p.stepsOf(p.fork), other.stepsOf(p.fork)) {
		p.fork++
	}
	if p.fork < len(p.order) && p.end == other.end {
		p.other = other
	}
	d.plan.Store(p)
	return p
}

// stepsOf returns the steps of the field at a place.
func (p *plan) stepsOf(place int) []step {
	return p.steps[p.starts[place].step:p.starts[place+1].step]
}

// order returns the numbers of the fields in the order of the IDL, or in that of what New makes when they are set in the IDL's.
func (d *Desc) order(built bool) []uint16 {
	if !built {
		return d.natural
	}
	order := make([]uint16, 0, len(d.fields))
	for _, first := range []bool{true, false} {
		for i := range d.fields {
			if d.fields[i].inTemplate(d) == first {
				order = append(order, uint16(i))
			}
		}
	}
	return order
}

// layOut makes the plan for fields in one of the orders.
func layOut(d *Desc, built bool) *plan {
	p := &planner{entries: d.words}
	p.built, p.order, p.places = built, d.order(built), make([]uint16, len(d.fields))
	p.whole = !d.union
	for place, i := range p.order {
		f := &d.fields[i]
		p.places[i] = uint16(place)
		p.start()
		p.add(f, 0, 1)
		s := &p.starts[place]
		if p.steps[s.step]&stepOther != 0 && f.kind >= record && !f.fixedList() && f.widest <= narrow && f.word <= stepWords {
			s.later = f.typ
		}
		for len(p.place) < len(p.steps) {
			p.place = append(p.place, uint16(place))
		}
	}
	p.start()
	p.steps = append(p.steps, 1<<stepWord|stepApart|stepStop|stepLast)
	p.place = append(p.place, uint16(len(d.fields)))
	p.inside, p.end = p.entries > d.words, uint32(p.entries)
	p.leads = !d.union && p.steps[0]&stepOther == 0 && firstEntry+p.end <= mostLeading
	p.shelf = !d.union && d.words <= stepWords
	for i := range d.fields {
		p.shelf = p.shelf && (d.fields[i].kind <= text || d.fields[i].rows())
	}
	return &p.plan
}

// mostLeading is the most words of a plan that Parse begins with: they are taken before a byte is looked at.
const mostLeading = 32 << 10

// planner makes a plan.
type planner struct {
	plan
	entries int // where the next entry of a struct or list inside begins
}

func (p *planner) start() {
	p.starts = append(p.starts, planStart{uint32(len(p.steps)), uint32(p.entries), nil})
}

// add adds the steps of a field of the struct whose entry is at this word, counted from that of the plan's struct.
func (p *planner) add(f *field, entry, depth int) {
	word := entry + int(f.word)
	room := p.entries+maxPlain <= stepEntries
	switch {
	case room && f.fixedList():
		s := stepOf(f, word)&^stepOther | stepList | step(p.entries)<<stepEntry
		p.steps = append(p.steps, s+listHeader<<stepReach, step(listStepOf(f.typ)))
		p.entries += listWords
		return
	case !room || f.kind != record || !plain(f.typ.desc):
		s := stepOf(f, word)
		p.whole = p.whole && s&stepOther == 0
		p.steps = append(p.steps, s)
		return
	}
	entry = p.entries
	p.entries += f.typ.desc.words
	p.depth = max(p.depth, depth)
	edge := step(0)
	if depth == 1 {
		edge = stepEdge
	}
	p.steps = append(p.steps, stepOf(f, word)&^stepOther|stepOpen|edge|step(entry)<<stepEntry)
	for _, i := range f.typ.desc.order(p.built) {
		p.add(&f.typ.desc.fields[i], entry, depth+1)
	}
	p.steps = append(p.steps, step(entry+1)<<stepWord|stepApart|stepStop|edge)
}

// maxPlain is the most words that the entry of a plain struct may have, with those of the structs inside.
const maxPlain = 64

// fixedList says whether the field is a list or set of elements of fixed size.
func (f *field) fixedList() bool { return f.kind == list && f.typ.elem.kind == fixed }

// rows says whether the field is a list or set of flat structs.
func (f *field) rows() bool {
	return f.kind == list && f.typ.elem.kind == record && f.typ.elem.desc.flat
}

// plain says whether the struct is small and has nothing but fields of fixed size, lists of such, texts and plain structs:
// then its entries, with those inside, always take as many words.
func plain(d *Desc) bool {
	n := plainWords(d, maxPlain)
	return n <= maxPlain
}

// plainWords returns how many words the entries take, more than most if the struct is not plain.
func plainWords(d *Desc, most int) int {
	if n := d.words; d.union || n > most {
		return most + 1
	}
	n := d.words
	for i := range d.fields {
		switch f := &d.fields[i]; {
		case f.fixedList():
			n += listWords
		case f.kind > record:
			return most + 1
		case f.kind == record && n <= most:
			n += plainWords(f.typ.desc, most-n)
		}
	}
	return n
}
