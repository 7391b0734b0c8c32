package nocopy

import "github.com/nocopythrift/nocopythrift/internal/entry"

// unionWord is the word of a union's entry that tells which arm is set: it holds that field's word,
// or 0 if none is. The union may have extra fields on the wire, for which there is no word: fields
// that the IDL does not know, and all but the last of those that come again. Then unionWord holds
// the number of an entry for the last extra field, with the top bit set.
const unionWord = entry.Arm

const hasStrange = 1 << 31

// The words of the entry for such a field.
const (
	strangeAt = iota
	strangeEnd
	strangeNext  // what was unionWord before there was this field
	strangeWhich // what is unionWord without any; only the last field's counts
	strangeWords
)

// which returns the index of the word that says which arm of the union of entry e is set.
func (m *Message) which(e uint32) uint32 {
	if w := m.idx[e+unionWord]; w&hasStrange != 0 {
		return w&^hasStrange + strangeWhich
	}
	return e + unionWord
}

// Which returns the word of the arm that is set, 0 if none is. If several came on the wire it is the last.
func (s XStruct) Which() int32 {
	if s.m == nil {
		return 0
	}
	s.alive()
	return int32(s.m.idx[s.m.which(s.entry())])
}

// Arm makes the field f of a union the one that is set, removing any other, also one that the IDL does not know. The field's
// value is to be set next, but by SetChild, which needs no Arm. d describes s.
func (s XStruct) Arm(f XField, d *XDesc) XStruct {
	s.changeable()
	for i := range d.fields {
		if other := d.constant(i); other.word() != f.word() && s.word(other) != 0 {
			s.Unset(other)
		}
	}
	m, e := s.m, s.entry()
	if m.idx[e+unionWord]&hasStrange != 0 {
		m.unsetStrange(e)
	}
	m.idx[e+unionWord] = f.word()
	return s
}

// unsetStrange removes the fields of a union that no word stands for.
func (m *Message) unsetStrange(e uint32) {
	for w := m.idx[e+unionWord]; w&hasStrange != 0; {
		f := m.idx[w&^hasStrange:][:strangeWords]
		m.buf.AddReplace(f[strangeAt], f[strangeEnd])
		w = f[strangeNext]
	}
	m.dead.freeStrange(m, m.idx[e+unionWord])
}

// strange notes that at these positions there is a field of the union of entry e that no word stands for. It returns i, where the
// parser is, or failed.
func (p *parser) strange(e, at, end uint32, i int) int {
	w := uint32(0)
	if p.reuse {
		w = p.m.allocRaw(strangeWords)
	} else if w = p.allot(strangeWords, 0, 0, i); w == 0 {
		return failed
	}
	f := p.m.idx[w:][:strangeWords]
	f[strangeAt], f[strangeEnd] = at, end
	f[strangeNext], f[strangeWhich] = p.m.idx[e+unionWord], 0
	p.m.idx[e+unionWord] = hasStrange | w
	return i
}

// UnsetArm removes the field f of a union.
func (s XStruct) UnsetArm(f XField) {
	s.Unset(f)
	e := s.entry()
	at := s.m.which(e)
	if s.m.idx[at] != f.word() {
		return
	}
	which := uint32(0)
	for w := uint32(unionWords); w < f.words(); w++ {
		if s.m.idx[e+w] != 0 {
			which = w
		}
	}
	s.m.idx[at] = which
}
