package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// StructAt returns a handle of the place of element i of a list of structs; see StructList of
// package nocopy.
func (s Struct) StructAt(i int) Struct {
	if s.m == nil {
		s.checkIndex(i)
	}
	m, e := s.m, uint32(s.k)
	if f := &m.listFill; f.handle == s.k && f.next == uint32(i) && uint(i) < uint(f.end) && f.open == m.openHandle && m.ix.Words[uint32(f.open)+entry.End] == 0 {
		return m.nextElement()
	}
	if s.k>>32 != m.gen {
		panic(panicStale)
	}
	w := m.ix.Words[e : e+listWords]
	if uint(i) >= uint(w[listCount]) {
		panic(IndexError{i, int(w[listCount])})
	}
	if room := w[listRoom]; room < roomTable {
		return Struct{m, s.k&^0xffffffff | uint64(w[listElems]+uint32(i)*room)}
	}
	return s.placeAt(i)
}

// First returns the handle of the first element of a list of structs that is not empty, and how
// far apart their handles are: 0 if StructAt has to find each of them.
func (s Struct) First() (Struct, uint32) {
	w := s.m.ix.Words[uint32(s.k):]
	if w[listRoom] >= roomTable {
		return Struct{}, 0
	}
	return Struct{s.m, s.k&^0xffffffff | uint64(w[listElems])}, w[listRoom]
}

// Next returns the handle of the element after s, at the distance that First has returned.
func (s Struct) Next(stride uint32) Struct { return Struct{s.m, s.k + uint64(stride)} }

// FillByIndex indexes the elements of a list whose message is read by its own index.
func (s Struct) FillByIndex() { s.m.fillByIndex(s.entry()) }

// HandleOf returns the handle of an entry.
func HandleOf[S View](m *Message, entry uint32) S { return S(m.handle(entry)) }

// AppendStructOf adds a copy of v at the end of a list of structs.
func (s Struct) AppendStructOf(v Struct) {
	s.Changeable()
	src := s.m.source(v, s.typ().Elem())
	s.changeableBy(src.n)
	e := s.appendStruct()
	s.m.appendValue(s.typ().Elem(), 0, src, e)
}

// AppendNewStruct adds an empty element at the end of a list of structs and returns it.
func (s Struct) AppendNewStruct() Struct {
	s.Changeable()
	e := s.appendStruct()
	s.m.beginStruct(s.typ().Elem().Struct(), e)
	return s.m.handle(e)
}

// placeAt returns a handle of the place of element i of a list that is being built or was added
// to. An element that comes next is begun.
func (s Struct) placeAt(i int) Struct {
	m, e := s.m, s.entry()
	if m.ix.Words[e+listRoom]&roomBuilding == 0 {
		return m.handle(m.structEntry(e, uint32(i)))
	}
	if f := &m.open[len(m.open)-1]; f.e == e && f.next == uint32(i) {
		d := f.typ.Elem().Struct()
		m.beginStruct(d, m.structEntry(e, uint32(i)))
		m.open[len(m.open)-2].next++
		if len(d.Owed()) == 0 && len(d.Template()) <= chain.MaxShort && m.ix.Words[e+listRoom]&roomTable == 0 {
			m.listFill = listFill{handle: s.k, next: uint32(i) + 1, end: m.ix.Words[e+listCount], open: m.openHandle, desc: d}
		}
		return Struct{m, m.openHandle}
	}
	if m.appendsAt(e, uint32(i)) {
		m.beginStruct(s.typ().Elem().Struct(), m.structEntry(e, uint32(i)))
	}
	return m.handle(m.structEntry(e, uint32(i)))
}

// listFill is a list of structs whose elements are filled one after the other.
type listFill struct {
	handle, open uint64         // the handles of the list and of the element that was begun last
	next, end    uint32         // the number of the element after that, and of all elements
	desc         *schema.Struct // describes the elements, which must have no owed fields
}

// nextElement returns the next element of listFill. It appends the STOP of the element before,
// which must be the innermost frame, and the template of the next in one go.
func (m *Message) nextElement() Struct {
	f := &m.listFill
	d := f.desc
	if !m.buf.Fits(len(d.Template())) {
		m.buf.MakeFit(len(d.Template()))
	}
	p := m.buf.Tail()
	e := uint32(f.open)
	m.ix.Words[e+entry.End] = p
	e += uint32(d.Words())
	m.indexTemplate(d, e, p+1)
	if d.IsWide() {
		m.ix.PutTemplate(d, e, p+1)
	}
	open := m.open
	open[len(open)-1].e = e
	open[len(open)-2].next++
	f.next++
	f.open += uint64(d.Words())
	key := f.open
	m.openHandle = key
	m.buf.AppendShort(uint64(wire.Stop)<<56, 1, d.Template())
	return Struct{m, key}
}

// appendStruct adds a struct to the end of the list and returns its entry. The caller appends its
// bytes next.
func (s Struct) appendStruct() uint32 {
	t := s.typ()
	slot := s.m.appendSlots(s.entry(), 1)
	e := s.m.ix.AllocFor(t.Elem(), t.Elem().Struct().Words())
	s.m.ix.Words[slot] = e
	return e
}

// SetStructAt makes element i a copy of v.
func (s Struct) SetStructAt(i int, v Struct) {
	s.Changeable()
	s.checkIndex(i)
	m, t := s.m, s.typ().Elem()
	src := m.source(v, t)
	s.changeableBy(src.n)
	e := m.structEntry(s.entry(), uint32(i))
	if s.beforeSet(i) {
		m.appendValue(t, 0, src, e)
		return
	}
	m.closeEntry(e) // the fields that it owes may move its table
	m.noteDeadFields(t.Struct(), e)
	fieldNodes, extra, table := m.editOf(e).fieldNodes, uint32(0), uint32(0)
	if t.Struct().IsUnion() {
		extra = m.ix.Words[e+entry.Arm]
	}
	if t.Struct().IsWide() {
		table = m.ix.Words[e+entry.Table]
	}
	m.replaceValue(t, e, src, e)
	m.ix.FreeExtra(extra)
	if fieldNodes != 0 {
		m.ix.FreeNodes(t.Struct(), fieldNodes)
	}
	if t.Struct().IsWide() {
		m.ix.FreeTable(table, t.Struct().Span())
	}
}

// ContainerAt returns element i, an empty container if it has not been set yet.
func (s Struct) ContainerAt(i int) Struct {
	slot := s.elemSlot(i)
	word := s.m.ix.Words[slot]
	if word == 0 { // not on the wire yet
		return Absent()
	}
	return Struct{s.m, s.k&^0xffffffff | uint64(word)}
}

// SetContainerAt makes element i a copy of v.
func (s Struct) SetContainerAt(i int, v Struct) {
	s.Changeable()
	s.checkIndex(i)
	m, t := s.m, s.typ().Elem()
	src := m.source(v, t)
	s.changeableBy(src.n)
	slot := s.elemSlot(i)
	if s.beforeSet(i) {
		word := m.appendValue(t, 0, src, 0)
		m.ix.Words[slot] = word
		return
	}
	m.noteDead(t, m.ix.Words[slot])
	word := m.replaceValue(t, m.ix.Words[slot], src, 0)
	m.ix.Words[slot] = word
}

// NewContainerAt makes element i an empty container and returns it to be filled. n is the number
// of elements of a list or set, or of pairs that a map gets room for.
func (s Struct) NewContainerAt(i, n int) Struct {
	c := s.newContainerAt(i, n)
	c.clearFixed()
	return c
}

// newContainerAt is NewContainerAt, but does not write zeros to elements of fixed size.
func (s Struct) newContainerAt(i, n int) Struct {
	s.Changeable()
	s.checkIndex(i)
	m, t := s.m, s.typ().Elem()
	checkCount(t, n)
	s.changeableBy(newSize(t, n))
	slot := s.elemSlot(i)
	if s.beforeSet(i) {
		word := m.beginValue(t, n, 0)
		m.ix.Words[slot] = word
		return m.handle(word)
	}
	word := m.replaceByNew(t, m.ix.Words[slot], n)
	m.ix.Words[slot] = word
	return m.handle(word)
}

// AppendContainer adds a copy of v at the end of a list of containers.
func (s Struct) AppendContainer(v Struct) {
	s.Changeable()
	src := s.m.source(v, s.typ().Elem())
	s.changeableBy(src.n)
	slot := s.m.appendSlots(s.entry(), 1)
	word := s.m.appendValue(s.typ().Elem(), 0, src, 0)
	s.m.ix.Words[slot] = word
}

// AppendNewContainer adds a container of n elements, or a map with room for n pairs, at the end of
// a list of containers and returns it to be filled.
func (s Struct) AppendNewContainer(n int) Struct {
	s.Changeable()
	t := s.typ().Elem()
	checkCount(t, n)
	s.changeableBy(newSize(t, n))
	slot := s.m.appendSlots(s.entry(), 1)
	word := s.m.beginValue(t, n, 0)
	s.m.ix.Words[slot] = word
	c := s.m.handle(word)
	c.clearFixed()
	return c
}
