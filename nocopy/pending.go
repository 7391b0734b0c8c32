package nocopy

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// pending tells what must be done before a message is changed: an index of its bytes, which a
// change would make wrong, must go.
type pending uint8

const (
	carriesIndex pending = 1 << iota // the root has one among its unknown fields
	placedIndex                      // finishing has added one, in Message.indexNode
	byIndex                          // the message is read by one, see landing
)

// settle does what is pending. It panics if the message was parsed with ByIndex and is not valid.
func (m *Message) settle() {
	if m.pending&byIndex != 0 {
		m.mustIndex()
	}
	if m.pending&placedIndex != 0 {
		m.buf.SetEmpty(m.indexNode)
	}
	carries := m.pending&carriesIndex != 0
	m.pending = 0
	if carries { // which may finish the message: not with another index
		with := m.flags & WithIndex
		m.flags &^= with
		m.handle(m.root).RemoveFields(entry.IndexID)
		m.flags |= with
	}
}

// mustIndex is Index of a message that is about to be changed or copied from. It panics if that
// returns an error.
func (m *Message) mustIndex() {
	if err := m.Index(); err != nil {
		panic("nocopy: message can't be changed or copied from: " + strings.TrimPrefix(err.Error(), "nocopy: "))
	}
}

// endLanding forgets what was pending, since the message ends.
func (m *Message) endLanding() {
	m.pending, m.indexNode = 0, 0
	if m.landing != nil {
		m.landing.reset()
	}
}

// plainRoot returns the wire bytes of the message without its index, as a copy, if e is the root's
// entry and there is one. Of a message parsed with ByIndex it checks everything, see settle.
func (m *Message) plainRoot(e uint32) ([]byte, bool) {
	if m.pending == 0 {
		return nil, false
	}
	return m.appendPlainRoot(nil, e)
}

// appendPlainRoot appends to dst what plainRoot returns.
func (m *Message) appendPlainRoot(dst []byte, e uint32) ([]byte, bool) {
	if m.pending&byIndex != 0 {
		m.mustIndex()
	}
	if e != m.root || m.pending == 0 || !m.buf.Sealed() {
		return dst, false
	}
	_, cuts := m.handle(m.root).FindFields(entry.IndexID)
	all := m.buf.AppendTo(dst)
	kept, from := all[:len(dst)], len(dst)
	for _, cut := range cuts {
		kept = append(kept, all[from:len(dst)+cut.From]...)
		from = len(dst) + cut.To
	}
	return append(kept, all[from:]...), true
}
