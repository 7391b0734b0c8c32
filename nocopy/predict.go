package nocopy

import (
	"math"
	"math/bits"
)

// Most messages come from programs that write all fields in the IDL's order, or in New's. Where that holds, the parser need
// not ask which field comes next, only whether it is the expected one. Where it does not, it gives up without harm.

// planned indexes the fields of the struct of entry e as long as they come as planned or are absent, from place next on. Neither
// that nor any field behind it may have been indexed before, unless follow has begun with it: then k and shift are the step at
// which it stopped and its shift, else k is notBegun. It returns the plan, which may have changed to the other one, where it stopped,
// and the place behind the last one that it has done: more than there are if the struct's end has come.
func (p *parser) planned(pl *plan, d *Desc, e uint32, i, next, k int, shift uint32) (*plan, int, int) {
	m := p.m
	for {
		if k == notBegun {
			k, shift = int(pl.starts[next].step), nothingInside
			if pl.steps[k]&stepOther == 0 {
				shift = p.shiftOf(pl, e, next)
				i, k = m.follow(pl, k, p.b, i, e, shift, p.base)
			}
		}
		if k == len(pl.steps) {
			m.words += pl.rest(next)
			return pl, i, len(d.fields) + 1
		}
		from := next
		next = int(pl.place[k])
		if shift != nothingInside {
			m.words += pl.starts[next].entries - pl.starts[from].entries
		}
		s := pl.steps[k]
		if start := pl.starts[next].step; int(start) != k { // in the middle of a struct inside: something there is not as planned
			s = pl.steps[start]
			i = int(m.idx[e+shift+s.entry()]-p.base) - fieldHeader
			m.idx[e+s.word()] = 0
		}
		if pl.other != nil && next == pl.fork {
			if at, step, sh := p.turn(pl.other, e, i, next); step != notBegun {
				pl, i, k, shift = pl.other, at, step, sh
				continue
			}
		}
		// The header of a container must be in one piece with the field's: see fill.
		if len(p.b)-i < fieldHeader+mapHeader {
			return pl, i, next
		}
		if x := load64(p.b, i); !s.is(uint32(x)) {
			behind := p.absent(pl, d, e, next, keyIn(x))
			if behind == next {
				return pl, i, next
			}
			next, k = behind, notBegun
			continue
		}
		if s&(stepOther|stepOpen|stepList) == 0 {
			return pl, i, next
		}
		if p.lazy && m.limits.MaxIndex <= 0 {
			if end, behind := m.later(pl, p.b, i, next, e, p.base, p.maxDepth-p.depth); behind > next {
				i, next, k = end, behind, notBegun
				continue
			}
		}
		number := pl.order[next]
		f := &d.fields[number]
		if f.kind < record { // too far behind in the index for the plan
			return pl, i, next
		}
		var word uint32
		if r := &pl.rows[number]; r.words != 0 {
			i, word = p.rows(r, f, i)
		} else {
			i, word = p.container(f, i)
		}
		if i < 0 {
			return pl, p.in(f.Name), next
		}
		if word == 0 { // not of its type after all
			return pl, i, next
		}
		m.idx[e+f.word] = word
		next++
		k = notBegun
	}
}

// absent passes over fields that have not come, from place next on, where the header of another one has that may come instead. It
// returns the place of that, or next if there is none, or one that is required would be passed over.
func (p *parser) absent(pl *plan, d *Desc, e uint32, next int, key uint32) int {
	place := len(d.fields)
	if key>>16 != uint32(WireStop) {
		n := d.step(key)
		if n < 0 {
			return next
		}
		place = int(pl.places[n])
	}
	for q := next; q < place; q++ {
		f := &d.fields[pl.order[q]]
		if f.Req == Required {
			return next
		}
		p.m.idx[e+f.word] = 0
	}
	return max(place, next)
}

// turn begins with the other plan at the place where it differs. It is the right one if two steps are as it has them: one alone may
// be so because a field is absent. It returns where follow stopped, and its shift, or notBegun.
func (p *parser) turn(other *plan, e uint32, i, next int) (int, int, uint32) {
	start := int(other.starts[next].step)
	if other.steps[start]&stepOther != 0 {
		return i, notBegun, 0
	}
	shift := p.shiftOf(other, e, next)
	i, k := p.m.follow(other, start, p.b, i, e, shift, p.base)
	if k > start+1 || k == start+1 && len(p.b)-i >= 8 && other.steps[k].is(uint32(load64(p.b, i))) {
		return i, k, shift
	}
	p.m.idx[e+other.steps[start].word()] = 0 // it has not come after all
	return i, notBegun, 0
}

// notBegun stands for a step: follow has not been tried.
const notBegun = -1

// rows is container of a list of structs with nothing but fixed-size fields and texts.
func (p *parser) rows(r *rowType, f *field, i int) (int, uint32) {
	if p.lazy || p.depth >= p.maxDepth {
		return p.container(f, i)
	}
	e, n := p.rowsEntry(r, i, load64(p.b, i))
	if e == 0 {
		return p.container(f, i)
	}
	if i = p.structs(f.typ.elem.desc, e+listWords, i+fieldHeader+listHeader, int(n)); i < 0 {
		return i, 0
	}
	p.m.idx[e+listEnd] = p.base + uint32(i)
	return i, e
}

// rowsEntry makes the entry of the list of flat structs in the field at i, whose first 8 bytes are x, with room for all elements.
// It returns the entry and how many they are; no entry if they are not structs, too many, or there is no room in the index.
func (p *parser) rowsEntry(r *rowType, i int, x uint64) (e, n uint32) {
	m := p.m
	e, n = m.words, bits.ReverseBytes32(uint32(x>>32))
	end := uint64(e) + listWords + uint64(n)*uint64(r.words)
	const head = fieldHeader + listHeader
	if WireType(x>>24) != WireStruct || uint64(n) > uint64(len(p.b)-i-head) || end > uint64(p.maxIndex) || end > uint64(len(m.idx)) {
		return 0, 0
	}
	m.words = uint32(end)
	w := (*[listWords]uint32)(m.idx[e:])
	w[listStart], w[listEnd] = p.base+uint32(i)+head, 0
	w[listCount], w[listElems], w[listRoom], w[listType] = n, e+listWords, r.words, r.typeID
	return e, n
}

// wholes indexes structs of a type for which there are steps from beginning to end, at a constant stride from first on, as long
// as they come as planned and there is room. It returns where it stopped and how many it has done.
func (p *parser) wholes(pl *plan, d *Desc, first uint32, i, n int) (int, int) {
	m, inside := p.m, pl.end-uint32(d.words)
	if p.depth+1+pl.depth > p.maxDepth {
		return i, 0
	}
	for k := range n {
		if end := uint64(m.words) + uint64(inside); end > uint64(p.maxIndex) || end > uint64(len(m.idx)) {
			return i, k
		}
		m.idx[first] = p.base + uint32(i)
		at, step := m.follow(pl, 0, p.b, i, first, m.words-uint32(d.words)-first, p.base)
		if step != len(pl.steps) {
			return i, k
		}
		i = at
		m.words += inside
		first += uint32(d.words)
	}
	return i, n
}

// shelves indexes structs with all fields in order, none but texts, fixed-size ones and lists of flat structs, into entries at a
// constant stride from first on, as long as they come. It returns where it stopped and how many it has done.
func (p *parser) shelves(pl *plan, d *Desc, first uint32, i, n int) (int, int) {
	for k := range n {
		words := p.m.words
		end := p.shelf(pl, d, first, i)
		if end < 0 {
			p.m.words = words
			return i, k
		}
		i = end
		first += uint32(d.words)
	}
	return i, n
}

// shelf is shelves of one struct. It returns the index behind it, or unusual.
func (p *parser) shelf(pl *plan, d *Desc, first uint32, i int) int {
	m, b, base := p.m, p.b, p.base
	m.idx[first] = base + uint32(i)
	for q, s := range d.steps {
		if len(b)-i < 8 {
			return unusual
		}
		x := load64(b, i)
		if !s.is(uint32(x)) {
			return unusual
		}
		word, end := base+uint32(i)+fieldHeader, uint64(i)+s.reach()
		switch {
		case s&stepText != 0:
			end += uint64(lengthIn(x))
		case s&stepOther != 0:
			end, word = p.usualRows(&pl.rows[q], i, x)
		}
		if end > uint64(len(b)) {
			return unusual
		}
		m.idx[first+structWords+uint32(q)] = word
		i = int(end)
	}
	if i >= len(b) || b[i] != byte(WireStop) {
		return unusual
	}
	m.idx[first+1] = base + uint32(i)
	return i + 1
}

// usualRows indexes the list of flat structs in the field at i, whose first 8 bytes are x, if all of them have all fields in
// order. It returns the index behind the list, beyond all bytes if it is otherwise, and its entry.
func (p *parser) usualRows(r *rowType, i int, x uint64) (uint64, uint32) {
	e, _ := p.rowsEntry(r, i, x)
	if e == 0 {
		return math.MaxUint64, 0
	}
	end := p.m.words
	i, done := p.usualStructs(r.steps, e+listWords, end, i+fieldHeader+listHeader)
	if done != end {
		return math.MaxUint64, 0
	}
	p.m.idx[e+listEnd] = p.base + uint32(i)
	return uint64(i), e
}

// nothingInside is the shift that says that structs and lists inside are not to be indexed as planned.
const nothingInside = math.MaxUint32

// shiftOf returns how far from where the plan has them the entries of what is inside will be, from field next on;
// nothingInside if there is nothing, structs are nested too deeply or there is no room in the index.
func (p *parser) shiftOf(pl *plan, e uint32, next int) uint32 {
	if !pl.inside {
		return nothingInside
	}
	end := uint64(p.m.words) + uint64(pl.rest(next))
	if end > uint64(p.maxIndex) || end > uint64(len(p.m.idx)) || p.depth+pl.depth > p.maxDepth {
		return nothingInside
	}
	return p.m.words - pl.starts[next].entries - e
}

// structs indexes n structs of a type without containers, at a constant stride from first on. The words need
// not be zero.
func (p *parser) structs(d *Desc, first uint32, i, n int) int {
	stride := uint32(d.words)
	for end := first + uint32(n)*stride; ; first += stride {
		if i, first = p.usualStructs(d.steps, first, end, i); first == end {
			return i
		}
		if other := planOf(d).other; other != nil {
			var done int
			i, done = p.wholes(other, d, first, i, int((end-first)/stride))
			if first += uint32(done) * stride; first == end {
				return i
			}
		}
		if i = p.structure(d, first, i); i < 0 {
			return p.at(n - int((end-first)/stride))
		}
	}
}
