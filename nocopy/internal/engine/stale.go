package engine

import "runtime"

// staleUse is the panic of a handle that is used after the Release of its message. Getters are
// inlined and can't afford a call: they panic with the handle, and its text is made when somebody
// reads it.
type staleUse Struct

// Error names the type, if it is still known. The message may belong to another goroutine by now.
//
//go:norace
func (s staleUse) Error() string {
	if s.m == nil { // the zero handle of a list, in which At looks for nothing else
		return "nocopy: index out of range with length 0"
	}
	d, since, gen := s.m.past, uint64(s.m.since), s.k>>32
	if now := s.m.gen; d == nil || gen < since || gen >= now {
		return panicStale + findWhere
	}
	what := d.Name()
	if uint32(s.k) != firstEntry {
		what = "part of " + what
	}
	return s.m.staleText(what, gen)
}

// RuntimeError makes it a runtime.Error, as an IndexError is.
func (staleUse) RuntimeError() {}

var _ runtime.Error = staleUse{}

// mustBeFilled panics if m is empty.
func (m *Message) mustBeFilled() {
	if m.words == 0 {
		panic(m.emptyText())
	}
}

// emptyText returns the text of a panic for the use of a Message that is empty.
func (m *Message) emptyText() string {
	if m.home == 0 || m.past == nil {
		return panicEmpty
	}
	return m.staleText(m.past.Name(), m.gen-1)
}

// staleText returns the text of a panic for the use of contents of that generation.
func (m *Message) staleText(what string, gen uint64) string {
	text := "nocopy: " + what + " used after Release"
	if where := m.whereEnded(gen); where != "" {
		return text + where
	}
	return text + findWhere
}
