package nocopy

import "bytes"

// Elements of sets and keys of maps that are structs or containers are the same if their wire bytes are. They may be changed through
// handles at any time, without notice. So a table knows only those that nobody has had a handle of; the others, which are called
// loose, are looked at one by one.

// watched says whether there is such a table for the list or map of entry e.
func (m *Message) watched(e uint32) bool {
	w := m.idx[e+1]
	return w&edited != 0 && m.edits[w&^edited].slots != 0
}

// watch makes a table for what is added to the list or map from now on, if it is large enough.
func (m *Message) watch(e uint32) {
	n := m.idx[e+listCount]
	if n < linear || m.watched(e) {
		return
	}
	m.edit(e).slots = 1
	if m.tables.made == nil {
		m.tables.made = map[uint32]*table{}
	}
	tb := m.tables.newTable(tableSize(0))
	tb.loose, tb.upTo = n, n
	m.tables.made[e] = tb
}

// loosen notes that there may be handles of all elements or keys that there are.
func (m *Message) loosen(e uint32) {
	if !m.watched(e) {
		return
	}
	m.tables.mu.Lock() // handles are given to readers, too
	defer m.tables.mu.Unlock()
	tb, n := m.tables.made[e], m.idx[e+listCount]
	if tb.used > 0 {
		tb.slots = tb.slots[:tableSize(0)]
		clear(tb.slots)
	}
	*tb = table{slots: tb.slots, loose: n, upTo: n}
}

// lookupWire is lookup of an element or key that is a struct or container.
func (m *Message) lookupWire(e uint32, t *Type, key []byte) int {
	loose := m.idx[e+listCount]
	if m.watched(e) {
		var i int
		if i, loose = m.lookupWatched(e, t, key); i >= 0 {
			return i
		}
	}
	for i := int(loose) - 1; i >= 0; i-- {
		if have := m.key(e, t, uint32(i)); have != nil && bytes.Equal(have, key) {
			return i
		}
	}
	return -1
}

// lookupWatched is lookupWire in the table; it also returns how many are loose.
func (m *Message) lookupWatched(e uint32, t *Type, key []byte) (int, uint32) {
	ts := &m.tables
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	tb := ts.made[e] // it stays as long as the message
	if tb.upTo != m.idx[e+listCount] {
		ts.mu.RUnlock()
		ts.mu.Lock()
		m.table(e, t)
		ts.mu.Unlock()
		ts.mu.RLock()
	}
	return tb.find(m, e, t, key), tb.loose
}

// containsValue says whether an element of a list has the same wire bytes as v.
func (s Struct) containsValue(v Struct) bool {
	if s.count() == 0 {
		return false
	}
	t := s.typ()
	key := v.wireAs(t.elem)
	s.m.closeAllUnlessSealed()
	return s.m.lookupWire(s.entry(), t, key) >= 0
}

// lacks is !containsValue(v), to be followed by appending v.
func (s Struct) lacks(v Struct) bool {
	if s.containsValue(v) {
		return false
	}
	s.changeable()
	s.m.watch(s.entry())
	return true
}

// elementEntry returns the entry of element i of a list of structs or containers, which are of type t.
func (m *Message) elementEntry(e uint32, t *Type, i uint32) uint32 {
	if t.kind == record {
		return m.structEntry(e, i)
	}
	return m.idx[m.idx[e+listElems]+i]
}

// wire returns the wire bytes of the struct or container of entry e: a copy, or if they are in one piece an alias, good until the
// next change.
func (m *Message) wire(e uint32, t *Type) []byte {
	if m == empty {
		return appendZero([]byte{}, t)
	}
	from, to := m.extent(e, t)
	if b, ok := m.buf.Flat(from, to); ok {
		return b
	}
	return m.buf.Range(from, to).AppendTo([]byte{})
}

// wireAs returns the wire bytes of a struct or container of type t as wire does, having completed it.
func (s Struct) wireAs(t *Type) []byte {
	s.alive()
	s.m.closeAllUnlessSealed()
	return s.m.wire(s.entry(), t)
}
