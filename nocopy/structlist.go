package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// StructList is a list or set of structs. In a list that is being built, At returns the element to
// be filled.
//
// A handle from At stands for the element's place: after Set(i, v) it reads the copy of v. For
// example, take x := l.At(0): after l.Set(0, l.At(1)), the call l.Set(1, x) makes both elements
// the same; Swap exchanges them. Swap, SortFunc and Delete move elements together with their
// handles. Handles of deleted elements read the old values.
type StructList[S View] Struct

// Len returns the number of elements.
func (l StructList[S]) Len() int { return XStruct(l).count() }

// String returns the elements as compact, readable text.
func (l StructList[S]) String() string { return XStruct(l).formatContainer("[]") }

// Equal reports whether l and m have equal elements, as messages.Equal does without options. In
// sets the order does not matter.
func (l StructList[S]) Equal(m StructList[S]) bool { return XStruct(l).equalContainer(XStruct(m)) }

// For generated code. ThriftStruct returns the handle as an XStruct.
func (l StructList[S]) ThriftStruct() XStruct { return XStruct(l) }

// At returns a handle of the place of element i; see StructList. The elements of a list made with
// NewX(n) may be filled in any order; ascending order is cheapest.
func (l StructList[S]) At(i int) S {
	if l.m == nil {
		XStruct(l).checkIndex(i)
	}
	m, e := l.m, uint32(l.k)
	if f := &m.listFill; f.handle == l.k && f.next == uint32(i) && uint(i) < uint(f.end) && f.open == m.openHandle && m.idx[uint32(f.open)+entryEnd] == 0 {
		return S(m.nextElement())
	}
	if l.k>>32 != m.gen {
		panic(panicStale)
	}
	w := m.idx[e : e+listWords]
	if uint(i) >= uint(w[listCount]) {
		panic(IndexError{i, int(w[listCount])})
	}
	if room := w[listRoom]; room < roomTable {
		return S(XStruct{m, l.k&^0xffffffff | uint64(w[listElems]+uint32(i)*room)})
	}
	return S(XStruct(l).structAt(i))
}

// structAt returns a handle of the place of element i of a list that is being built or was added
// to. An element that comes next is begun.
func (s XStruct) structAt(i int) XStruct {
	m, e := s.m, s.entry()
	if m.idx[e+listRoom]&roomBuilding == 0 {
		return m.handle(m.structEntry(e, uint32(i)))
	}
	if f := &m.open[len(m.open)-1]; f.e == e && f.next == uint32(i) {
		d := f.typ.Elem().Struct()
		m.beginStruct(d, m.structEntry(e, uint32(i)))
		m.open[len(m.open)-2].next++
		if len(d.Owed()) == 0 && len(d.Template()) <= chain.MaxShort && m.idx[e+listRoom]&roomTable == 0 {
			m.listFill = listFill{handle: s.k, next: uint32(i) + 1, end: m.idx[e+listCount], open: m.openHandle, desc: d}
		}
		return XStruct{m, m.openHandle}
	}
	if m.appendsAt(e, uint32(i)) {
		m.beginStruct(s.typ().Elem().Struct(), m.structEntry(e, uint32(i)))
	}
	return m.handle(m.structEntry(e, uint32(i)))
}

// listFill is a list of structs whose elements are filled one after the other.
type listFill struct {
	handle, open uint64 // the handles of the list and of the element that was begun last
	next, end    uint32 // the number of the element after that, and how many elements there are
	desc         *XDesc // describes the elements, which must have no owed fields
}

// nextElement returns the next element of listFill. It appends the STOP of the element before,
// which must be the innermost frame, and the template of the next in one go.
func (m *Message) nextElement() XStruct {
	f := &m.listFill
	d := f.desc
	if !m.buf.Fits(len(d.Template())) {
		m.buf.MakeFit(len(d.Template()))
	}
	p := m.buf.Tail()
	e := uint32(f.open)
	m.idx[e+entryEnd] = p
	e += uint32(d.Words())
	m.indexTemplate(d, e, p+1)
	if d.IsWide() {
		m.indexWideTemplate(d, e, p+1)
	}
	open := m.open
	open[len(open)-1].e = e
	open[len(open)-2].next++
	f.next++
	f.open += uint64(d.Words())
	key := f.open
	m.openHandle = key
	m.buf.AppendShort(uint64(WireStop)<<56, 1, d.Template())
	return XStruct{m, key}
}

// Set sets element i to a copy of v. It links v's bytes if they are many. Later changes of v do
// not show. Older handles of the element read the new one.
func (l StructList[S]) Set(i int, v S) { XStruct(l).setStructAt(i, XStruct(v)) }

// Append adds a copy of v at the end. It links v's bytes if they are many. Later changes of v do
// not show.
func (l StructList[S]) Append(v S) {
	s := XStruct(l)
	s.changeable()
	src := s.m.source(XStruct(v), s.typ().Elem())
	s.changeableBy(src.n)
	e := s.appendStruct()
	s.m.appendValue(s.typ().Elem(), 0, src, e)
}

// AppendNew adds an empty element at the end and returns it to be filled.
func (l StructList[S]) AppendNew() S {
	s := XStruct(l)
	s.changeable()
	e := s.appendStruct()
	s.m.beginStruct(s.typ().Elem().Struct(), e)
	return S(s.m.handle(e))
}

// Swap exchanges elements i and j without copying their contents. Handles move with their
// elements.
func (l StructList[S]) Swap(i, j int) { XStruct(l).swap(i, j) }

// Delete removes the elements from i to j-1, as slices.Delete does. It copies no contents. Unless
// i is 0, it moves the elements after them in the index.
func (l StructList[S]) Delete(i, j int) { XStruct(l).deleteRange(i, j) }

// Truncate removes all elements except the first n.
func (l StructList[S]) Truncate(n int) { XStruct(l).deleteRange(n, l.Len()) }

// SortFunc sorts the elements by cmp, as slices.SortFunc does. cmp must not change the list.
func (l StructList[S]) SortFunc(cmp func(a, b S) int) {
	sortElements(XStruct(l), structOf[S], cmp)
}

// structOf returns the handle of an entry.
func structOf[S View](m *Message, entry uint32) S { return S(m.handle(entry)) }

// All iterates over indices and elements.
func (l StructList[S]) All() iter.Seq2[int, S] { return l.each }

// each calls yield with every element. (All is not more than its name, so that loop bodies
// remain functions of their own: what they call is inlined there, which it is not in a body
// that is inlined into another one's loop.)
//
//go:noinline
func (l StructList[S]) each(yield func(int, S) bool) {
	n := l.Len()
	if n == 0 {
		return
	}
	stride := l.m.idx[uint32(l.k)+listRoom]
	if stride >= roomTable {
		l.eachByAt(yield)
		return
	}
	s := XStruct{l.m, l.k&^0xffffffff | uint64(l.m.idx[uint32(l.k)+listElems])}
	for i := range n {
		if !yield(i, S(s)) {
			return
		}
		s.k += uint64(stride)
	}
}

// eachByAt calls yield with every element of a list that is being built or was added to.
func (l StructList[S]) eachByAt(yield func(int, S) bool) {
	l.m.fillByIndex(uint32(l.k))
	for i := range l.Len() {
		if i >= l.Len() || !yield(i, l.At(i)) {
			return
		}
	}
}

// Contains reports whether an element has the same wire bytes as v.
func (l StructList[S]) Contains(v S) bool { return XStruct(l).containsValue(XStruct(v)) }

// Add appends v unless Contains(v) is true.
func (l StructList[S]) Add(v S) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

// appendStruct adds a struct to the end of the list, so that its bytes can be appended next,
// and returns its entry.
func (s XStruct) appendStruct() uint32 {
	t := s.typ()
	slot := s.m.appendSlots(s.entry(), 1)
	e := s.m.allocFor(t.Elem(), t.Elem().Struct().Words())
	s.m.idx[slot] = e
	return e
}

// setStructAt makes element i a copy of v.
func (s XStruct) setStructAt(i int, v XStruct) {
	s.changeable()
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
		extra = m.idx[e+unionWord]
	}
	if t.Struct().IsWide() {
		table = m.idx[e+tableWord]
	}
	m.replaceValue(t, e, src, e)
	m.dead.freeExtra(m, extra)
	if fieldNodes != 0 {
		m.dead.freeNodes(m, t.Struct(), fieldNodes)
	}
	if t.Struct().IsWide() {
		m.freeTable(table, t.Struct().Span())
	}
}
