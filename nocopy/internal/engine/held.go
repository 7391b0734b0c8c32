package engine

import (
	"errors"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// A held message belongs to package rpc, which shows it to handlers and interceptors: the
// arguments and results of a server's calls. Release does not give its memory back; it ends the
// handles and is noted. So a handler that uses the message too late can't harm another message.

// What is noted of a held message.
const (
	shown    = 1 << iota // a *Message was handed out and may be kept: it is not used again
	disowned             // Release was called
)

// NewHeld is like NewWithRoom, but makes a held message, to which the limits apply. Its Root is
// the only handle.
func NewHeld(d *schema.Struct, n int, l Limits, recycle bool) *Message {
	checkRoom(n)
	m := beginMessage(d, held|flagIf(recycle, Recycle), n).m
	if l != (Limits{}) {
		m.flags |= limited
		m.limit(l.orElse(usualLimits))
	}
	return m
}

// ParseHeld is like ParseChunk, but makes a held message.
func ParseHeld(d *schema.Struct, c chain.Chunk, l Limits, recycle, lazy bool) (*Message, error) {
	s, err := parseChunk(d, c, l, Own|held|flagIf(recycle, Recycle)|flagIf(lazy, Lazy))
	return s.m, err
}

// CopyHeld returns a held message with what v is now and room for n bytes before it: it can be
// sent, and nothing else. v may be a part of any message and is read only, but for finishing it.
// The error tells why v can't be sent as a struct of type d.
func CopyHeld(d *schema.Struct, v Struct, n int, l Limits, recycle bool) (*Message, error) {
	checkRoom(n)
	if err := v.Sendable(); err != nil {
		return nil, err
	}
	limits := l.orElse(usualLimits)
	if v.Is(d) && v.m.maxNesting() <= limits.MaxDepth {
		return v.toSend(held|limited|flagIf(recycle, Recycle), limits, n), nil
	}
	if v.gone() {
		return nil, errAbsent
	}
	r := v.m.rangeOf(v.entry(), d.Type(), chain.Range{})
	m := takeParsed(d, held|limited|flagIf(recycle, Recycle), limits)
	m.buf.Begin(recycle, n)
	p, b := m.buf.Extend(r.Len())
	r.AppendTo(b[:0])
	m.buf.Close()
	m.beginTrusted(p)
	m.p.b, m.p.trusted, m.p.maxDepth = b, false, m.limits.MaxDepth // the bytes may be of another type
	if _, err := m.parsed(m.p, m.indexFrom(m.p)); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		m.EndHeld()
		return nil, err
	}
	return m, nil
}

// finishing is held while a message is finished that several goroutines may be about to send.
var finishing sync.Mutex

var errAbsent = errors.New("absent struct")

// Sendable finishes the message of s, before any number of goroutines send it. It returns an error
// if the message can't be sent: s is absent, the message was released, structs are nested too
// deeply (see Message.Check), or it was parsed with ByIndex and is invalid.
func (s Struct) Sendable() error {
	switch {
	case s.m == nil || s.m.absent:
		return errAbsent
	case s.k>>32 != s.m.gen:
		return errors.New("struct used after Release")
	}
	finishing.Lock()
	defer finishing.Unlock()
	if s.m.pending&byIndex != 0 {
		if err := s.m.Index(); err != nil {
			return err
		}
	}
	return s.m.Check()
}

// disown is Release of a held message, called by a program to which it was shown.
func (m *Message) disown() {
	if m.words != 0 {
		m.noted.Or(disowned)
		m.EndHandles()
	}
}

// IsDisowned reports whether Release was called for a held message.
func (m *Message) IsDisowned() bool { return m.noted.Load()&disowned != 0 }

// EndHeld releases the memory of a held message.
func (m *Message) EndHeld() {
	m.end()
	noted := m.noted.Load()
	switch {
	case debugging:
		return
	case noted&shown != 0:
		m.buf.Retire()
		return
	}
	if noted != 0 {
		m.noted.Store(0)
	}
	pools[m.home].Put(m)
}

// Abandon leaves a held message to the garbage collector, since handlers may still be using it.
func (m *Message) Abandon() {
	if debugging {
		m.untrack()
	}
}

// discard gives up a message that could not be parsed.
func (m *Message) discard() {
	if m.flags&held != 0 {
		m.EndHeld()
		return
	}
	m.Release()
}

// OwnPiece finishes the message and returns its place in the memory that NewIn was given: n bytes
// from byte at, and the owner of that memory. It returns nil if part of the message is elsewhere.
func OwnPiece(m *Message) (owner chain.Owner, at, n int) {
	m.Finish()
	return m.buf.OwnPiece()
}
