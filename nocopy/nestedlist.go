package nocopy

import "iter"

// NestedList is a list or set of lists, sets or maps; C is the type of an element. Swap, Delete
// and SortFunc move elements together with their handles. Handles of deleted or replaced elements
// read the old values.
type NestedList[C View] Struct

// Len returns the number of elements.
func (l NestedList[C]) Len() int { return XStruct(l).count() }

// String returns the elements as compact, readable text.
func (l NestedList[C]) String() string { return XStruct(l).formatContainer("[]") }

// Equal reports whether l and m have equal elements, as messages.Equal does without options. In
// sets the order does not matter.
func (l NestedList[C]) Equal(m NestedList[C]) bool { return XStruct(l).equalContainer(XStruct(m)) }

// For generated code. ThriftStruct returns the handle as an XStruct.
func (l NestedList[C]) ThriftStruct() XStruct { return XStruct(l) }

// At returns element i.
func (l NestedList[C]) At(i int) C { return C(XStruct(l).containerAt(i)) }

// containerAt returns element i, an empty container if it has not been set yet.
func (s XStruct) containerAt(i int) XStruct {
	slot := s.elemSlot(i)
	word := s.m.idx[slot]
	if word == 0 { // not on the wire yet
		return emptyHandle()
	}
	return XStruct{s.m, s.k&^0xffffffff | uint64(word)}
}

// Set sets element i to a copy of v. It links v's bytes if they are many. Later changes of v do
// not show.
func (l NestedList[C]) Set(i int, v C) { XStruct(l).setContainerAt(i, XStruct(v)) }

// Append adds a copy of v at the end. It links v's bytes if they are many. Later changes of v do
// not show.
func (l NestedList[C]) Append(v C) {
	s := XStruct(l)
	s.changeable()
	src := s.m.source(XStruct(v), s.typ().Elem())
	s.changeableBy(src.n)
	slot := s.m.appendSlots(s.entry(), 1)
	word := s.m.appendValue(s.typ().Elem(), 0, src, 0)
	s.m.idx[slot] = word
}

// NewAt sets element i to an empty container of n elements (a map: with room for n pairs) and
// returns it to be filled.
func (l NestedList[C]) NewAt(i, n int) C {
	c := XStruct(l).newContainerAt(i, n)
	c.clearFixed()
	return C(c)
}

// AppendNew adds a container of n elements (a map: with room for n pairs) at the end and
// returns it to be filled.
func (l NestedList[C]) AppendNew(n int) C {
	s := XStruct(l)
	s.changeable()
	t := s.typ().Elem()
	checkCount(t, n)
	s.changeableBy(newSize(t, n))
	slot := s.m.appendSlots(s.entry(), 1)
	word := s.m.beginValue(t, n, 0)
	s.m.idx[slot] = word
	c := s.m.handle(word)
	c.clearFixed()
	return C(c)
}

// Swap exchanges elements i and j without copying their contents. Handles move with their
// elements.
func (l NestedList[C]) Swap(i, j int) { XStruct(l).swap(i, j) }

// Delete removes the elements from i to j-1, as slices.Delete does. It copies no contents. Unless
// i is 0, it moves the elements after them in the index.
func (l NestedList[C]) Delete(i, j int) { XStruct(l).deleteRange(i, j) }

// Truncate removes all elements except the first n.
func (l NestedList[C]) Truncate(n int) { XStruct(l).deleteRange(n, l.Len()) }

// SortFunc sorts the elements by cmp, as slices.SortFunc does. cmp must not change the list.
func (l NestedList[C]) SortFunc(cmp func(a, b C) int) {
	sortElements(XStruct(l), structOf[C], cmp)
}

// All iterates over indices and elements.
func (l NestedList[C]) All() iter.Seq2[int, C] {
	return func(yield func(int, C) bool) {
		for i := range l.Len() {
			if i >= l.Len() || !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Contains reports whether an element has the same wire bytes as v.
func (l NestedList[C]) Contains(v C) bool { return XStruct(l).containsValue(XStruct(v)) }

// Add appends v unless Contains(v) is true.
func (l NestedList[C]) Add(v C) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

// setContainerAt makes element i a copy of v.
func (s XStruct) setContainerAt(i int, v XStruct) {
	s.changeable()
	s.checkIndex(i)
	m, t := s.m, s.typ().Elem()
	src := m.source(v, t)
	s.changeableBy(src.n)
	slot := s.elemSlot(i)
	if s.beforeSet(i) {
		word := m.appendValue(t, 0, src, 0)
		m.idx[slot] = word
		return
	}
	m.noteDead(t, m.idx[slot])
	word := m.replaceValue(t, m.idx[slot], src, 0)
	m.idx[slot] = word
}

// newContainerAt makes element i an empty container and returns it. n is the number of elements of
// a list or set, or of pairs that a map gets room for.
func (s XStruct) newContainerAt(i, n int) XStruct {
	s.changeable()
	s.checkIndex(i)
	m, t := s.m, s.typ().Elem()
	checkCount(t, n)
	s.changeableBy(newSize(t, n))
	slot := s.elemSlot(i)
	if s.beforeSet(i) {
		word := m.beginValue(t, n, 0)
		m.idx[slot] = word
		return m.handle(word)
	}
	word := m.replaceByNew(t, m.idx[slot], n)
	m.idx[slot] = word
	return m.handle(word)
}
