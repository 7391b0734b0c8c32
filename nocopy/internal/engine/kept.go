package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/schema"

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

// ParseInto parses b, a struct that d describes, into m, a message of the program's own, and
// returns its root. What m holds before ends.
func ParseInto(d *schema.Struct, m *Message, b []byte, opts []Option) (Struct, error) {
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
func (m *Message) parseWith(d *schema.Struct, b []byte, opts []Option) (Struct, error) {
	flags := flagsOf(opts)
	if !unusual(d, b, flags) {
		return m.parse(d, b, flags)
	}
	flags, limits := configOf(opts)
	if len(b) > limits.MaxBytes {
		return Struct{}, tooLong(d, int64(len(b)), limits.MaxBytes)
	}
	m.expect(d, flags, limits)
	if flags&Compact != 0 {
		m.buf.Reset(flags&Recycle != 0)
		return m.parseCompact(b)
	}
	return m.parseFrom(b, m.buf.Refer(b, flags&Recycle != 0, flags&Own != 0))
}

// NewInto begins a struct that d describes in m, a message of the program's own, and returns its
// root. What m holds before ends.
func NewInto(d *schema.Struct, m *Message, opts []Option) Struct {
	m.Reset()
	flags := builtFlags(opts)
	s := m.begin(d, flags, headroom)
	if flags&limited != 0 {
		m.limit(limitsOf(opts))
	}
	return s
}
