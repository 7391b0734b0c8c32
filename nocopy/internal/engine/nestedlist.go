package engine

// ContainerAt returns element i, an empty container if it has not been set yet.
func (s Struct) ContainerAt(i int) Struct {
	slot := s.elemSlot(i)
	word := s.m.idx[slot]
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
		m.idx[slot] = word
		return
	}
	m.noteDead(t, m.idx[slot])
	word := m.replaceValue(t, m.idx[slot], src, 0)
	m.idx[slot] = word
}

// NewContainerAt makes element i an empty container and returns it to be filled. n is the number
// of elements of a list or set, or of pairs that a map gets room for.
func (s Struct) NewContainerAt(i, n int) Struct {
	c := s.newContainerAt(i, n)
	c.clearFixed()
	return c
}

// newContainerAt is NewContainerAt without zeros in what has elements of fixed size.
func (s Struct) newContainerAt(i, n int) Struct {
	s.Changeable()
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

// AppendContainer adds a copy of v at the end of a list of containers.
func (s Struct) AppendContainer(v Struct) {
	s.Changeable()
	src := s.m.source(v, s.typ().Elem())
	s.changeableBy(src.n)
	slot := s.m.appendSlots(s.entry(), 1)
	word := s.m.appendValue(s.typ().Elem(), 0, src, 0)
	s.m.idx[slot] = word
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
	s.m.idx[slot] = word
	c := s.m.handle(word)
	c.clearFixed()
	return c
}
