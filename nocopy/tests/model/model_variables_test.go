// Message variables of TestModel's session, which are filled again and again.

package model_test

// fillOwn puts m into one of the session's own messages by calling fill, which ends its previous
// contents.
func (s *session) fillOwn(m *message, fill func()) {
	k := s.Intn(len(s.own))
	m.own = &s.own[k]
	s.logf("// into own[%d]:", k)
	var before *message
	for _, old := range s.msgs {
		if old.own == m.own {
			before = old
		}
	}
	if before != nil {
		s.check(before)
		s.forget(before)
	}
	switch s.Intn(4) {
	case 0:
		s.logf("own[%d].Reset()", k)
		m.own.Reset()
	case 1:
		s.logf("ParseInto(&own[%d], nil) // fails", k)
		if _, err := parseInto(m.own, m.b.desc, nil); err == nil {
			failf("no bytes are a message")
		}
	}
	fill()
	if before != nil {
		s.logf("// %s has ended", before.name)
		s.stale(before)
	}
}

// endOwn ends the contents of one of the session's own messages, in one of the possible ways.
func (s *session) endOwn(m *message) {
	switch s.Intn(3) {
	case 0:
		m.h.Release()
	case 1:
		m.own.Release()
	default:
		m.own.Reset()
		m.own.Reset()
	}
}
