package nocopy

// A kept message is a Message variable of a program's own, which is filled again and again by
// ParseInto and NewInto. No pool knows it: its home is nil.

// Reset empties a Message variable of the program's own; see Message. Its handles end, and panic
// when used. The message drops the bytes that it was parsed from, the bytes that it links, and its
// pooled memory. Strings and bytes that were read from it stay valid, unless it was filled with
// Recycle. Reset does nothing for an empty message. It panics if m was made by NewX, ParseX or the
// like.
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
		panic("nocopy: nil instead of a Message")
	case m.home != 0 || m.frozen:
		panic(panicNotKept)
	case m.own != nil:
		panic(panicCopied)
	}
	m.own = m
	m.init()
}

// ParseInto parses b as an X, the type parameter S, into m, a Message variable of the program's
// own; see Message. Otherwise it is like ParseX. The previous contents of m end in any case; if b
// is invalid, m is empty afterwards.
//
// m refers to b. b must not change until Reset, and while anything read from the message is in
// use. It may be part of m's previous contents, unless these were filled with Recycle. The error
// is an *Error. ParseInto panics if m was made by NewX, ParseX or the like.
func ParseInto[S StructView](m *Message, b []byte, opts ...Option) (S, error) {
	var s S
	root, err := parseInto(s.ThriftDesc(), m, b, opts)
	return S(root), err
}

// NewInto makes a new X, the type parameter S, in m, a Message variable of the program's own; see
// Message. Otherwise it is like NewX. The previous contents of m end. NewInto panics if m was made
// by NewX, ParseX or the like.
func NewInto[S StructView](m *Message, opts ...Option) S {
	var s S
	return S(newInto(s.ThriftDesc(), m, opts))
}

// parseInto parses b, a struct that d describes, into m, a message of the program's own, and
// returns its root. What m holds before ends.
func parseInto(d *XDesc, m *Message, b []byte, opts []Option) (XStruct, error) {
	if m == nil || m.own != m {
		m.adopt()
	}
	if m.words != 0 {
		m.end()
	}
	if len(opts) > 0 || unusual(d, b, 0) {
		return m.parseWith(d, b, opts)
	}
	return m.parse(d, b, 0)
}

// parseWith parses b, a struct that d describes, into m with any options, and returns its root.
func (m *Message) parseWith(d *XDesc, b []byte, opts []Option) (XStruct, error) {
	flags := flagsOf(opts)
	if !unusual(d, b, flags) {
		return m.parse(d, b, flags)
	}
	flags, limits := configOf(opts)
	if len(b) > limits.MaxBytes {
		return XStruct{}, tooLong(d, int64(len(b)), limits.MaxBytes)
	}
	m.expect(d, flags, limits)
	if flags&Compact != 0 {
		m.buf.Reset(flags&Recycle != 0)
		return m.parseCompact(b)
	}
	return m.parseFrom(b, m.buf.Refer(b, flags&Recycle != 0, flags&Own != 0))
}

// newInto begins a struct that d describes in m, a message of the program's own, and returns its
// root. What m holds before ends.
func newInto(d *XDesc, m *Message, opts []Option) XStruct {
	m.Reset()
	flags := builtFlags(opts)
	s := m.begin(d, flags, headroom)
	if flags&limited != 0 {
		m.limits = limitsOf(opts)
	}
	return s
}
