package engine

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// owner is a message as its index knows it.
type owner Message

// EndChange implements index.Owner.
func (m *owner) EndChange() { m.buf.EndChange() }

// PanicChangedAtOnce implements index.Owner.
func (m *owner) PanicChangedAtOnce() { (*Message)(m).panicChangedAtOnce() }

// MostWords implements index.Owner. If the message is read by its own index, its index may have
// twice as many words as the limit, where so many are enough.
func (m *owner) MostWords(n int) int {
	if m.pending&byIndex != 0 && n <= int(m.landing.mostIndex) {
		return int(m.landing.mostIndex)
	}
	return index.MaxWords
}

// startChange notes that a change begins, as Buffer.StartChange does, and panics if another one is
// under way.
func (m *Message) startChange() {
	if !m.buf.StartChange() {
		m.panicChangedAtOnce()
	}
}

//go:noinline
func (m *Message) panicChangedAtOnce() {
	name := "message"
	if m.desc != nil {
		name = m.desc.Name()
	}
	panic("nocopy: " + name + " was changed by several goroutines at once")
}

// Parser implements user.
func (m *owner) Parser(b []byte, base uint32) *parse.Parser { return (*Message)(m).parserOf(b, base) }

// NoteIndex implements host.
func (m *owner) NoteIndex(e uint32) { (*Message)(m).noteIndex(e) }

// NoteShadow implements host.
func (m *owner) NoteShadow(e, field uint32, t wire.Type, word uint32) (at, end uint32) {
	at, end = (*Message)(m).valuePlace(t, word)
	at -= wire.FieldHeader
	(*Message)(m).ownSeldom()
	m.shadows.all = append(m.shadows.all, shadow{e: e, word: field, at: at, end: end})
	m.ix.More = true
	return at, end
}
