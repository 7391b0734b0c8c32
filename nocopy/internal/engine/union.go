package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// unionWord is the word of a union's entry that tells which arm is set: it holds that field's
// word, or 0 if none is. The union may have extra fields on the wire, for which there is no word:
// fields that the IDL does not know, and all but the last of those that come again. Then unionWord
// holds the number of an entry for the last extra field, with the top bit set.
const unionWord = entry.Arm

const hasExtra = 1 << 31

// The words of the entry for such a field.
const (
	extraAt = iota
	extraEnd
	extraNext // the value of unionWord before this field was added
	extraArm  // the value of unionWord without such fields; only the last field's counts
	extraWords
)

// armWord returns where in the index it stands which arm of the union of entry e is set.
func (m *Message) armWord(e uint32) uint32 {
	if w := m.idx[e+unionWord]; w&hasExtra != 0 {
		return w&^hasExtra + extraArm
	}
	return e + unionWord
}

// Which returns the word of the field that is set in a union, or 0. If several came on the wire,
// it is the last.
func (s Struct) Which() int32 {
	if s.m == nil {
		return 0
	}
	s.alive()
	return int32(s.m.idx[s.m.armWord(s.entry())])
}

// Arm makes f the only field of a union that is set, and removes any other, known or unknown. It
// is called after the field was set: if the setter panics, the other fields stay. The methods that
// set a field and have a parameter d call Arm themselves. d describes s.
func (s Struct) Arm(f schema.Ref, d *schema.Struct) Struct {
	s.writable() // not changeable: memory that the setter has just returned stays where it is
	m, e := s.m, s.entry()
	for i := m.next(d, e, 0); i < len(d.Fields()); i = m.next(d, e, i+1) {
		if other := d.Field(i); other.Word() != f.Word() && m.at(e, other) != 0 {
			s.Unset(other)
		}
	}
	if m.idx[e+unionWord]&hasExtra != 0 {
		m.unsetExtra(e)
	}
	m.idx[e+unionWord] = f.Word()
	return s
}

// unsetExtra removes the fields of a union that no word stands for.
func (m *Message) unsetExtra(e uint32) {
	for w := m.idx[e+unionWord]; w&hasExtra != 0; {
		f := m.idx[w&^hasExtra:][:extraWords]
		m.buf.AddReplace(f[extraAt], f[extraEnd])
		w = f[extraNext]
	}
	m.dead.freeExtra(m, m.idx[e+unionWord])
}

// addExtra notes that at these positions there is a field of the union of entry e that no word
// stands for. It returns i, where the parser is, or failed.
func (p *parser) addExtra(e, at, end uint32, i int) int {
	w := uint32(0)
	if p.reuse {
		w = p.m.allocRaw(extraWords)
	} else if w = p.allot(extraWords, 0, 0, i); w == 0 {
		return failed
	}
	f := p.m.idx[w:][:extraWords]
	f[extraAt], f[extraEnd] = at, end
	f[extraNext], f[extraArm] = p.m.idx[e+unionWord], 0
	p.m.idx[e+unionWord] = hasExtra | w
	return i
}

// UnsetArm removes the field f of a union.
func (s Struct) UnsetArm(f schema.Ref) {
	s.Unset(f)
	e := s.entry()
	at := s.m.armWord(e)
	if s.m.idx[at] != f.Word() {
		return
	}
	if f.Wide() {
		s.m.idx[at] = s.m.lastArmIn(e, f)
		return
	}
	which := uint32(0)
	for w := uint32(unionWords); w < f.Words(); w++ {
		if s.m.idx[e+w] != 0 {
			which = w
		}
	}
	s.m.idx[at] = which
}
