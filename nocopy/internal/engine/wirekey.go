package engine

import (
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Elements of sets and keys of maps that are structs or containers are equal if their wire bytes
// are. They may be changed through handles at any time. So once the message has a table of them,
// every change of a struct or container takes the elements and keys that it belongs to out of
// their tables, until the next lookup. The first change finds out which entries belong to which
// element or key.

// viewKeys holds what a message knows of the elements and keys in its tables that are structs
// or containers: which entries belong to which of them.
type viewKeys struct {
	tables int    // how many tables of structs or containers there are
	first  uint32 // the entry of the list or map with the first of these tables
	known  bool   // owner and elements are filled
	// By entry: the number of the innermost element that it is or belongs to, 0 if there is none
	owner    []uint32
	elements []element // by that number
}

// keepOwners is the largest capacity of owner that is kept for the next message.
const keepOwners = 64 << 10

// reset makes w ready for the next message.
func (w *viewKeys) reset() {
	if cap(w.owner) > keepOwners {
		*w = viewKeys{}
	}
	*w = viewKeys{owner: w.owner[:0], elements: w.elements[:0]}
}

// invalidate forgets which entries belong to which elements. The next change finds it out anew.
func (w *viewKeys) invalidate() {
	w.known = false
	w.owner, w.elements = w.owner[:0], w.elements[:0]
}

// growTo makes owner n words long.
func (w *viewKeys) growTo(n uint32) {
	from := len(w.owner)
	w.owner = slices.Grow(w.owner, int(n)-from)[:n]
	clear(w.owner[from:])
}

// element is an element of a list, or a key of a map, that has a table: the list's or map's
// entry, and the element's number in it.
type element struct{ in, number uint32 }

// addViewTable notes that the list or map of entry e, whose elements or keys are structs or
// containers, has a table. From now on every change must call beforeChange.
func (m *Message) addViewTable(e uint32) {
	w := &m.ownLookups().viewKeys
	if w.tables++; w.tables == 1 {
		w.first = e
	}
	m.guarded = true
	m.buf.StoreSlowly()
}

// beforeChange must be called before the struct or container of entry e is changed, if the
// message is guarded. It panics if that is not allowed. The elements and keys that e belongs to
// are taken out of their tables until the next lookup.
func (m *Message) beforeChange(e uint32) {
	if m.frozen {
		panic(m.notThere())
	}
	if m.idx[e+entryStart] == 0 {
		if m.pending&byIndex != 0 { // it is absent since it is not valid
			m.mustIndex()
		}
		panic(panicGone)
	}
	if m.pending != 0 {
		m.settle()
	}
	w := &m.keyTables().viewKeys
	if w.tables == 0 {
		return
	}
	if w.tables == 1 && w.first == e {
		return // e itself has the only table; it can't be one of its own elements
	}
	if !w.known {
		m.registerAll()
	}
	for int(e) < len(w.owner) && w.owner[e] != 0 {
		x := w.elements[w.owner[e]]
		m.elementChanges(x.in, x.number)
		e = x.in
	}
}

// registerAll finds out which entries belong to which elements and keys, for all tables.
func (m *Message) registerAll() {
	w := &m.keyTables().viewKeys
	w.known = true
	w.growTo(m.words)
	w.elements = append(w.elements[:0], element{})
	for e, tb := range m.keyTables().made.All() {
		t := schema.TypeByID(m.idx[e+listType])
		if !t.OfViews() {
			continue
		}
		for i := range tb.seen {
			m.registerElement(e, t, i)
		}
	}
}

// registerElement registers the entries of element or key i of entry e, unless registerAll will
// do that.
func (m *Message) registerElement(e uint32, t *schema.Type, i uint32) {
	w := &m.keyTables().viewKeys
	if !w.known {
		return
	}
	x, xt := uint32(0), t.Key()
	if t.Kind() == schema.List {
		xt = t.Elem()
		x = m.elementEntry(e, xt, i)
	} else {
		x = m.idx[m.idx[e+listElems]+i*pairWords]
	}
	if x == 0 {
		return
	}
	number := uint32(0)
	if int(x) < len(w.owner) {
		number = w.owner[x]
	}
	if w.elements[number] != (element{e, i}) {
		if len(w.elements) > int(m.words) { // most are of elements that have changed since
			w.invalidate()
			return
		}
		number = uint32(len(w.elements))
		w.elements = append(w.elements, element{e, i})
	}
	m.register(xt, x, number)
}

// register notes that the struct or container of entry e, and all in it, belong to the element
// with this number. Elements of a nested list or map that has a table itself belong to elements
// of their own. Entry 0 stands for an element that is not on the wire yet.
func (m *Message) register(t *schema.Type, e, number uint32) {
	if e == 0 {
		return
	}
	w := &m.keyTables().viewKeys
	if int(e) >= len(w.owner) {
		w.growTo(m.words)
	}
	w.owner[e] = number
	switch {
	case t.Kind() == schema.Record:
		d := t.Struct()
		for i := m.next(d, e, 0); i < len(d.Fields()); i = m.next(d, e, i+1) {
			f := &d.Fields()[i]
			word := m.at(e, f.Ref())
			if f.Kind() < schema.Record || word == 0 {
				continue
			}
			if word&notIndexed != 0 { // else its entry would be made by a getter, which registers nothing
				word = m.indexLazily(f, e)
			}
			m.register(f.Type, word, number)
		}
	case t.Kind() == schema.Dict:
		own := m.keyTables().made.Get(e) != nil && t.OfViews()
		for i := range m.idx[e+listCount] {
			slot := m.idx[e+listElems] + i*pairWords
			if m.idx[slot] == 0 {
				continue
			}
			if t.Key().Kind() >= schema.Record && !own {
				m.register(t.Key(), m.idx[slot], number)
			}
			if t.Elem().Kind() >= schema.Record {
				m.register(t.Elem(), m.idx[slot+pairValue], number)
			}
		}
	case t.Elem().Kind() >= schema.Record && m.keyTables().made.Get(e) == nil:
		for i := range m.idx[e+listCount] {
			m.register(t.Elem(), m.elementEntry(e, t.Elem(), i), number)
		}
	}
}

// closeElements completes all frames nested in the list or map of entry e, or all frames if it is
// complete. Its elements or keys can then be compared as bytes. In a finished message there is
// nothing to complete.
func (m *Message) closeElements(e uint32) {
	if !m.buf.Sealed() && !m.closeNested(e) {
		m.closeAll()
	}
}

// ContainsValue reports whether an element of a list has the same wire bytes as v.
func (s Struct) ContainsValue(v Struct) bool {
	if s.ListLen() == 0 {
		return false
	}
	t := s.typ()
	key := v.wireAs(t.Elem())
	s.m.closeElements(s.entry())
	return s.m.lookup(s.entry(), t, key) >= 0
}

// elementEntry returns the entry of element i of a list whose elements are structs or
// containers of type t.
func (m *Message) elementEntry(e uint32, t *schema.Type, i uint32) uint32 {
	if t.Kind() == schema.Record {
		return m.structEntry(e, i)
	}
	return m.idx[m.idx[e+listElems]+i]
}

// wire returns the wire bytes of the struct or container of entry e: an alias if they are in
// one piece, which is good until the next change, else a copy.
func (m *Message) wire(e uint32, t *schema.Type) []byte {
	if m.isEmpty() {
		return schema.AppendZero([]byte{}, t)
	}
	from, to := m.extent(e, t)
	if b, ok := m.buf.Flat(from, to, m.editOf(e).valueNode); ok {
		return b
	}
	return m.buf.Range(from, to, m.editOf(e).valueNode).AppendTo([]byte{})
}

// wireAs completes a struct or container of type t and returns its wire bytes: an alias if they
// are in one piece, which is good until the next change, else a copy.
func (s Struct) wireAs(t *schema.Type) []byte {
	s = s.orAbsent()
	s.alive()
	s.m.closeAllUnlessSealed()
	if b, ok := s.m.withoutIndex(s.entry(), t); ok {
		return b
	}
	return s.m.wire(s.entry(), t)
}
