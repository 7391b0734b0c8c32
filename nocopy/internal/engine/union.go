package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Which returns the word of the field that is set in a union, or 0. If several came on the wire,
// it is the last.
func (s Struct) Which() int32 {
	if s.m == nil {
		return 0
	}
	s.alive()
	return int32(s.m.ix.Words[s.m.ix.ArmWord(s.entry())])
}

// Arm makes f the only field of a union that is set, and removes any other, known or unknown. It
// is called after the field was set: if the setter panics, the other fields stay. The methods that
// set a field and have a parameter d call Arm themselves. d describes s.
func (s Struct) Arm(f schema.Ref, d *schema.Struct) Struct {
	s.writable() // not changeable: memory that the setter has just returned stays where it is
	m, e := s.m, s.entry()
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		if other := d.Field(i); other.Word() != f.Word() && m.ix.At(e, other) != 0 {
			s.Unset(other)
		}
	}
	if m.ix.Words[e+entry.Arm]&index.HasExtra != 0 {
		m.unsetExtra(e)
	}
	m.ix.Words[e+entry.Arm] = f.Word()
	return s
}

// unsetExtra removes the fields of a union that no word stands for.
func (m *Message) unsetExtra(e uint32) {
	for w := m.ix.Words[e+entry.Arm]; w&index.HasExtra != 0; {
		f := m.ix.Words[w&^index.HasExtra:][:index.ExtraWords]
		m.buf.AddReplace(f[index.ExtraAt], f[index.ExtraEnd])
		w = f[index.ExtraNext]
	}
	m.ix.FreeExtra(m.ix.Words[e+entry.Arm])
}

// UnsetArm removes the field f of a union.
func (s Struct) UnsetArm(f schema.Ref) {
	s.Unset(f)
	e := s.entry()
	at := s.m.ix.ArmWord(e)
	if s.m.ix.Words[at] != f.Word() {
		return
	}
	if f.Wide() {
		s.m.ix.Words[at] = s.m.ix.LastArmIn(e, f)
		return
	}
	which := uint32(0)
	for w := uint32(entry.UnionWords); w < f.Words(); w++ {
		if s.m.ix.Words[e+w] != 0 {
			which = w
		}
	}
	s.m.ix.Words[at] = which
}
