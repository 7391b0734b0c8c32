package nocopy

// A kept message is a Message variable of a program's own, which is filled again and again by
// ParseInto and NewInto. No pool knows it: its home is nil.

// Reset empties a message that is the program's own, see Message: every handle of what it holds
// is dead from now on and panics when used, and the bytes that it was parsed from, what it links
// and what it has from pools are given up. Of an empty one it does nothing. Strings and bytes
// read from it stay valid, unless it was filled with Recycle. It panics if m was made by NewX,
// ParseX and the like.
func (m *Message) Reset() {
	if m == nil || m.own != m {
		m.adopt()
	}
	if m.words != 0 {
		m.end()
	}
}

// adopt makes a Message that is zero a kept one. It panics if m can't be one.
func (m *Message) adopt() {
	switch {
	case m == nil:
		panic("nocopy: nil in the place of a Message")
	case m.home != nil || m.frozen:
		panic(panicNotKept)
	case m.own != nil:
		panic(panicCopied)
	}
	m.own = m
	m.init()
}

// ParseInto is ParseX for a type X, the type parameter S, into m, a message that is the program's
// own, see Message. What m holds before ends, also if b is not an X: then m is empty afterwards.
// m refers to b, which must stay as it is until Reset, and for as long as anything read from the
// message is in use; b may be bytes of what m holds before unless that was filled with Recycle.
// The error is an *Error. ParseInto panics if m was made by NewX, ParseX and the like.
func ParseInto[S StructView](m *Message, b []byte, opts ...Option) (S, error) {
	var s S
	root, err := s.ThriftDesc().parseInto(m, b, opts)
	return S(root), err
}

// NewInto is NewX for a type X, the type parameter S, in m, a message that is the program's own,
// see Message. What m holds before ends. NewInto panics if m was made by NewX, ParseX and the
// like.
func NewInto[S StructView](m *Message, opts ...Option) S {
	var s S
	return S(s.ThriftDesc().newInto(m, opts))
}

// parseInto parses b, a struct that d describes, into m, a message of the program's own, and
// returns its root. What m holds before ends.
func (d *XDesc) parseInto(m *Message, b []byte, opts []Option) (XStruct, error) {
	if m == nil || m.own != m {
		m.adopt()
	}
	if m.words != 0 {
		m.end()
	}
	if len(opts) > 0 || d.unusual(b, 0) {
		return m.parseWith(d, b, opts)
	}
	return m.parse(d, b, 0)
}

// parseWith parses b, a struct that d describes, into m with any options, and returns its root.
func (m *Message) parseWith(d *XDesc, b []byte, opts []Option) (XStruct, error) {
	flags := flagsOf(opts)
	if !d.unusual(b, flags) {
		return m.parse(d, b, flags)
	}
	flags, limits := configOf(opts)
	if len(b) > limits.MaxBytes {
		return XStruct{}, tooLong(d, int64(len(b)), limits.MaxBytes)
	}
	m.expect(d, flags, limits)
	return m.parseFrom(b, m.buf.Refer(b, flags&Recycle != 0, flags&Own != 0))
}

// newInto begins a struct that d describes in m, a message of the program's own, and returns its
// root. What m holds before ends.
func (d *XDesc) newInto(m *Message, opts []Option) XStruct {
	m.Reset()
	flags := builtFlags(opts)
	s := m.begin(d, flags, headroom)
	if flags&limited != 0 {
		m.limits = limitsOf(opts)
	}
	return s
}
