package nocopy

import "runtime"

// staleUse is the panic of a handle that is used after the Release of its message. Getters are
// inlined and can't afford a call: they panic with the handle, and its text is made when somebody
// reads it.
type staleUse XStruct

// past is what a Message knows of its previous contents. A Message is filled again and again,
// usually with the same type.
type past struct {
	desc  *XDesc // the type of the contents before the current ones
	since uint64 // all contents from this generation to the current one were of that type
}

// end notes that contents of type d end, which have this generation.
func (p *past) end(d *XDesc, gen uint64) {
	if p.desc != d {
		p.desc, p.since = d, gen
	}
}

// Error names the type, if it is still known. The message may belong to another goroutine by now.
//
//go:norace
func (s staleUse) Error() string {
	if s.m == nil { // the zero handle of a list, in which At looks for nothing else
		return "nocopy: index out of range with length 0"
	}
	d, since, gen := s.m.past.desc, s.m.past.since, s.k>>32
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
	if m.home == nil || m.past.desc == nil {
		return panicEmpty
	}
	return m.staleText(m.past.desc.Name(), m.gen-1)
}

// staleText returns the text of a panic for the use of contents of that generation.
func (m *Message) staleText(what string, gen uint64) string {
	text := "nocopy: " + what + " used after Release"
	if where := m.whereEnded(gen); where != "" {
		return text + where
	}
	return text + findWhere
}
