package engine

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// pending tells what must be done before a message is changed: its wire index, which a change
// would make wrong, must be removed.
type pending uint8

const (
	carriesIndex pending = 1 << iota // the root has a wire index among its unknown fields
	placedIndex                      // finishing has added a wire index, in Message.indexNode
	byIndex                          // the message is read by its wire index, see landing

	// innerIndex: other structs than the root have one among theirs, since each was a message. It
	// stays there, whatever is changed. What is copied from such a struct, and may become a message,
	// goes without it.
	innerIndex
)

// noteIndex notes that the struct of entry e has a wire index among its unknown fields.
func (m *Message) noteIndex(e uint32) {
	m.guarded = true
	if e == m.root {
		m.pending |= carriesIndex
	} else {
		m.pending |= innerIndex
	}
}

// settle does what is pending. It panics if the message was parsed with ByIndex and is not valid.
func (m *Message) settle() {
	if m.pending&byIndex != 0 {
		m.mustIndex()
	}
	if m.pending&placedIndex != 0 {
		m.buf.SetEmpty(m.indexNode)
	}
	carries := m.pending&carriesIndex != 0
	m.pending &= innerIndex
	if carries { // which may finish the message: not with another index
		with := m.flags & WithIndex
		m.flags &^= with
		m.handle(m.root).RemoveFields(entry.IndexID)
		m.flags |= with
	}
}

// mustIndex checks and indexes everything in a message that was parsed with ByIndex and is about
// to be changed or copied from. It panics if that fails.
func (m *Message) mustIndex() {
	if err := m.Index(); err != nil {
		panic("nocopy: message can't be changed or copied from: " + strings.TrimPrefix(err.Error(), "nocopy: "))
	}
}

// withoutIndex returns a copy of the wire bytes of the value of type t and entry e, without the
// wire index that it has as a field, and true; or false if it has none. If the message was parsed
// with ByIndex it first checks everything in it, see mustIndex.
func (m *Message) withoutIndex(e uint32, t *schema.Type) ([]byte, bool) {
	if m.pending == 0 {
		return nil, false
	}
	return m.appendWithoutIndex(nil, e, t)
}

// appendWithoutIndex does the work of withoutIndex. It appends the wire bytes to dst and returns
// that; dst and false if the value has no wire index.
func (m *Message) appendWithoutIndex(dst []byte, e uint32, t *schema.Type) ([]byte, bool) {
	if m.pending&byIndex != 0 {
		m.mustIndex()
	}
	if e != m.root {
		return m.appendInner(dst, e, t)
	}
	if m.pending&^innerIndex == 0 || !m.buf.Sealed() {
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

// appendInner appends to dst the wire bytes of a value that is not the root, without the wire
// index that it has as a field. It returns false if no struct of the message but the root has a
// wire index, or the value is no struct.
func (m *Message) appendInner(dst []byte, e uint32, t *schema.Type) ([]byte, bool) {
	if m.pending&innerIndex == 0 || t.Kind() != schema.Record {
		return dst, false
	}
	all := m.rangeOf(e, t, chain.Range{}).AppendTo(dst)
	kept, i := all[:len(dst)], len(dst)
	for all[i] != byte(WireStop) {
		header := wire.HeaderAt(all, i)
		end, err := skip(all, i+wire.FieldHeader, WireType(header>>16), maxBudget, 1)
		if err != nil {
			panic("nocopy: internal error: " + err.Error())
		}
		if int16(header) != entry.IndexID {
			kept = append(kept, all[i:end]...)
		}
		i = end
	}
	return append(kept, byte(WireStop)), true
}
