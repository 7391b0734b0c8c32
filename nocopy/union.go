package nocopy

// unionWord is the word of a union's entry that says which arm is set: that field's word, 0 if none.
const unionWord = structWords

// Which returns the word of the arm that is set, 0 if none is. If several came on the wire it is the last.
func (s Struct) Which() int32 {
	s.alive()
	return int32(s.m.idx[s.entry()+unionWord])
}

// Arm makes the field f of a union the one that is set, removing any other. The field's value is to be set
// next. d describes s.
func (s Struct) Arm(f Field, d *Desc) Struct {
	s.changeable()
	for i := range d.fields {
		if other := d.constant(i); other.word() != f.word() && s.word(other) != 0 {
			s.Unset(other)
		}
	}
	s.m.idx[s.entry()+unionWord] = f.word()
	return s
}

// UnsetArm removes the field f of a union.
func (s Struct) UnsetArm(f Field) {
	s.Unset(f)
	e := s.entry()
	if s.m.idx[e+unionWord] != f.word() {
		return
	}
	which := uint32(0)
	for w := uint32(unionWord + 1); w < f.words(); w++ {
		if s.m.idx[e+w] != 0 {
			which = w
		}
	}
	s.m.idx[e+unionWord] = which
}
