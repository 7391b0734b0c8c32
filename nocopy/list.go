package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// The words of a list's, set's or map's entry. The words of its elements stand elsewhere in the index: none
// for elements of fixed size, one for texts and containers, a whole entry or one for structs, three for pairs.
const (
	listStart = iota // position of the first element
	listEnd          // position behind the last element, or the number of an edit
	listCount        // elements, or pairs including deleted ones
	listElems        // index of the elements' words
	listRoom         // how many of them there is room for; structs: see below
	listType         // number of the type
	listWords
)

// Of a list of structs, listRoom is the number of words from one element's entry to that of the next. With
// roomTable the words are entries' numbers instead, and the rest of listRoom is how many there is room for.
const (
	roomBuilding = 1 << 31 // elements are still to come: At appends them
	roomTable    = 1 << 30
	roomMask     = roomTable - 1
)

const (
	pairWords = 3 // key, value, the node that stands in the place of both
	pairNode  = 2

	maxCount = linkbuf.MaxSize
)

// elemWords is how many words of the index an element takes.
func (t *Type) elemWords() int {
	switch {
	case t.kind == dict:
		return pairWords
	case t.elem.kind == fixed:
		return 0
	case t.elem.kind == record:
		return t.elem.desc.words
	}
	return 1
}

// IndexError is what using an index out of range panics with.
type IndexError struct{ Index, Len int }

// Error describes the index as the runtime does for slices.
func (e IndexError) Error() string {
	return "nocopy: index out of range [" + itoa(e.Index) + "] with length " + itoa(e.Len)
}

// RuntimeError makes it a runtime.Error, as an index out of range is.
func (IndexError) RuntimeError() {}

func (s Struct) entry() uint32 { return uint32(s.k) }

// count returns the number of elements.
func (s Struct) count() int {
	if uint32(s.k>>32) != s.m.gen {
		panic(panicStale)
	}
	return int(s.m.idx[uint32(s.k)+listCount])
}

func (s Struct) checkIndex(i int) {
	if n := s.count(); uint(i) >= uint(n) {
		panic(IndexError{i, n})
	}
}

func (s Struct) typ() *Type { return typeByID(s.m.idx[uint32(s.k)+listType]) }

// slot returns the index of the words of element i.
func (s Struct) slot(i int) uint32 {
	s.checkIndex(i)
	return s.m.idx[uint32(s.k)+listElems] + uint32(i)
}

// openList makes the list or map the innermost thing that is being built, ready to append behind its last element.
func (m *Message) openList(e uint32) {
	if !m.closeInside(e) {
		m.closeAll()
		t := typeByID(m.idx[e+listType])
		if m.edit(e).tail == 0 {
			tail := m.buf.AddGrow(m.edit(e).end, m.idx[e+listStart]-t.header())
			m.edit(e).tail = tail
		}
		m.buf.OpenContent(m.edit(e).tail)
		m.push(t, e, m.idx[e+listCount]).reopened = true
		m.openKey = 0
	}
	m.fillUp(e, m.idx[e+listCount])
}

// building returns the frame of a list that is not complete, nil if it is.
func (m *Message) building(e uint32) *frame {
	for i := len(m.open) - 1; i >= 0; i-- {
		if m.open[i].e == e {
			return &m.open[i]
		}
	}
	return nil
}

// fillUp appends zero values until the list, which is innermost, has n elements on the wire.
func (m *Message) fillUp(e, n uint32) {
	top := len(m.open) - 1
	t := m.open[top].typ
	next := m.open[top].next
	if next >= n {
		return
	}
	for k := next; k < n; k++ {
		switch t.elem.kind {
		case text:
			p, b := m.buf.Extend(textHeader)
			putBE32(b, 0)
			m.idx[m.idx[e+listElems]+k] = p
		case record:
			m.appendZeroStruct(t.elem, m.structEntry(e, k))
		default:
			word := m.beginContainer(t.elem, 0, 0, 0)
			m.closeFrame()
			m.idx[m.idx[e+listElems]+k] = word
		}
	}
	m.open[top].next = n
}

func (m *Message) appendZeroStruct(t *Type, e uint32) {
	m.scratch = appendZero(m.scratch[:0], t)
	p, b := m.buf.Extend(len(m.scratch))
	copy(b, m.scratch)
	m.indexInto(t, p, e)
}

// indexInto indexes the struct at p, known to be valid and contiguous, into an entry that exists.
func (m *Message) indexInto(t *Type, p, e uint32) {
	clear(m.idx[e : e+uint32(t.desc.words)])
	m.trust(p)
	i := m.p.structure(t.desc, e, 0)
	m.trusted(i)
}

// appendSlots makes room for n more elements of the list or map, opens it to append them, and returns the
// index of the first one's words. Of a list of structs these are entries' numbers.
func (m *Message) appendSlots(e uint32, n int) uint32 {
	m.openList(e)
	t := m.open[len(m.open)-1].typ
	per := t.elemWords()
	if t.kind == list && t.elem.kind == record {
		m.makeTable(e, t)
		per = 1
	}
	count := m.idx[e+listCount]
	if count+uint32(n) > maxCount {
		panic("nocopy: too many elements")
	}
	if flags, room := m.idx[e+listRoom]&^roomMask, m.idx[e+listRoom]&roomMask; count+uint32(n) > room {
		room = max(2*room, count+uint32(n), 4)
		elems := m.alloc(int(room) * per)
		old := m.idx[e+listElems]
		copy(m.idx[elems:], m.idx[old:old+count*uint32(per)])
		m.idx[e+listElems], m.idx[e+listRoom] = elems, flags|room
	}
	if count == 0 {
		m.storeTypes(e, t)
	}
	m.idx[e+listCount] = count + uint32(n)
	m.open[len(m.open)-1].next = count + uint32(n)
	m.storeCount(e, t)
	return m.idx[e+listElems] + count*uint32(per)
}

// makeTable changes a list of structs from entries at a constant stride to a table of entries.
func (m *Message) makeTable(e uint32, t *Type) {
	room := m.idx[e+listRoom]
	if room&roomTable != 0 {
		return
	}
	n, first, stride := m.idx[e+listCount], m.idx[e+listElems], uint32(t.elem.desc.words)
	table := m.alloc(int(2*n + 2))
	for k := range n {
		m.idx[table+k] = first + k*stride
	}
	m.idx[e+listElems] = table
	m.idx[e+listRoom] = room&roomBuilding | roomTable | (2*n + 2)
}

// structEntry returns the entry of element i of a list of structs.
func (m *Message) structEntry(e, i uint32) uint32 {
	elems := m.idx[e+listElems]
	if room := m.idx[e+listRoom]; room&roomTable == 0 {
		return elems + i*(room&roomMask)
	}
	return m.idx[elems+i]
}

// storeCount brings the count on the wire up to date.
func (m *Message) storeCount(e uint32, t *Type) {
	if m.idx[e+listEnd] == 0 { // being built for the first time
		putBE32(m.buf.At(m.idx[e+listStart]-4), m.idx[e+listCount])
		return
	}
	ed := m.editOf(e)
	n := m.idx[e+listCount] - ed.dead
	at := m.idx[e+listStart] - 4
	p := at
	if ed.count != 0 {
		p = m.buf.NodeStart(ed.count)
	}
	if m.buf.Writable(p) {
		putBE32(m.buf.At(p), n)
		return
	}
	if ed.count == 0 {
		ed.count = m.buf.AddReplace(at, at+4)
		m.edit(e).count = ed.count
	}
	p, b := m.buf.Place(4)
	putBE32(b, n)
	m.buf.SetPlaced(ed.count, p, p+4)
}

// storeTypes sees to it that the header of a container that was empty, where it may hold any types, holds its own.
func (m *Message) storeTypes(e uint32, t *Type) {
	var types [2]byte
	n := t.putTypes(types[:])
	at := m.idx[e+listStart] - t.header()
	switch have := m.buf.At(at)[:n]; {
	case string(have) == string(types[:n]):
	case m.buf.Writable(at):
		copy(have, types[:n])
	default:
		p, b := m.buf.Place(n)
		copy(b, types[:n])
		m.buf.SetPlaced(m.buf.AddReplace(at, at+uint32(n)), p, p+uint32(n))
	}
}

// putTypes stores the types that a container's header begins with, and returns how many bytes they are.
func (t *Type) putTypes(b []byte) int {
	if t.kind == dict {
		b[0], b[1] = byte(t.key.wire), byte(t.elem.wire)
		return 2
	}
	b[0] = byte(t.elem.wire)
	return 1
}

// replaceElement returns a node in the place of the element that a word stands for; own is the node of the
// element itself if it has one.
func (m *Message) replaceElement(t *Type, word uint32) linkbuf.NodeID {
	switch {
	case t.kind >= record:
		m.closeEntry(word)
		if own := m.editOf(word).own; own != 0 {
			return own
		}
	case word&inNode != 0:
		if at, end := m.buf.NodePlace(word &^ inNode); at != end {
			return word &^ inNode
		}
	}
	return m.buf.AddReplace(m.valuePlace(t.wire, word))
}

// --- elements that are texts

func (s Struct) textAt(i int) []byte { return s.m.textBytes(s.m.idx[s.slot(i)]) }

// setTextAt makes element i a text of n bytes and returns them, contents undefined.
func (s Struct) setTextAt(i, n int) []byte {
	s.changeable()
	checkLen(n)
	slot := s.slot(i)
	m := s.m
	if m.appendsAt(s.entry(), uint32(i)) {
		p, b := m.buf.Extend(textHeader + n)
		putBE32(b, uint32(n))
		m.idx[slot] = p
		return b[textHeader : textHeader+n : textHeader+n]
	}
	m.tables.drop(s.entry())
	b, word := m.replaceText(m.idx[slot], n)
	m.idx[slot] = word
	return b
}

// replaceText puts a text of n bytes in the place of the one that word stands for.
func (m *Message) replaceText(word uint32, n int) ([]byte, uint32) {
	node := m.replaceElement(TypeString, word)
	p, b := m.buf.Place(textHeader + n)
	putBE32(b, uint32(n))
	m.buf.SetPlaced(node, p, p+uint32(textHeader+n))
	return b[textHeader : textHeader+n : textHeader+n], inNode | node
}

// replaceTextByRef is replaceText with bytes that stay where they are.
func (m *Message) replaceTextByRef(word uint32, v []byte) uint32 {
	node := m.replaceElement(TypeString, word)
	p, b := m.buf.Place(textHeader)
	putBE32(b, uint32(len(v)))
	m.buf.SetPlaced(node, p, p+textHeader)
	far := m.buf.AddForeign(v, false)
	m.buf.AddContent(node, far, far+uint32(len(v)))
	return inNode | node
}

// appendsAt says whether element i of the list is the next to be appended or one behind it; then all before
// it are filled up, and it counts as appended.
func (m *Message) appendsAt(e, i uint32) bool {
	f := m.building(e)
	if f == nil || i < f.next {
		return false
	}
	m.closeInside(e)
	m.fillUp(e, i)
	m.open[len(m.open)-1].next = i + 1
	return true
}

// putTextAt sets element i.
func (s Struct) putTextAt(i int, v []byte) {
	if n := len(s.m.open); n > 0 && len(v) < refer {
		// The usual case: the list is innermost, one element after the other.
		if f := &s.m.open[n-1]; f.e == s.entry() && f.next == uint32(i) && uint(i) < uint(s.count()) {
			f.next++
			p, b := s.m.buf.Extend(textHeader + len(v))
			putBE32(b, uint32(len(v)))
			copy(b[textHeader:], v)
			s.m.idx[s.m.idx[f.e+listElems]+uint32(i)] = p
			return
		}
	}
	if len(v) < refer || !s.m.mayRefer(len(v)) {
		copy(s.setTextAt(i, len(v)), v)
		return
	}
	s.changeable()
	checkLen(len(v))
	slot := s.slot(i)
	if s.m.appendsAt(s.entry(), uint32(i)) {
		s.m.idx[slot] = s.m.appendRef(v)
		return
	}
	s.m.tables.drop(s.entry())
	s.m.idx[slot] = s.m.replaceTextByRef(s.m.idx[slot], v)
}

// appendRef appends a text whose bytes stay where they are and returns its word.
func (m *Message) appendRef(v []byte) uint32 {
	p, b := m.buf.Extend(textHeader)
	putBE32(b, uint32(len(v)))
	return m.refer(p, v, 0)
}

// appendText appends an element.
func (s Struct) appendText(v []byte) {
	s.changeable()
	checkLen(len(v))
	slot := s.m.appendSlots(s.entry(), 1)
	s.m.idx[slot] = s.m.extendText(v)
}

// extendText appends a text to what is being built and returns its word.
func (m *Message) extendText(v []byte) uint32 {
	if len(v) >= refer && m.mayRefer(len(v)) {
		return m.appendRef(v)
	}
	p, b := m.buf.Extend(textHeader + len(v))
	putBE32(b, uint32(len(v)))
	copy(b[textHeader:], v)
	return p
}

// --- elements that are structs

// StructList is a list or set of structs. At of a list that is being built is the element to be filled.
type StructList[S View] Struct

// Len returns the number of elements.
func (l StructList[S]) Len() int { return Struct(l).count() }

// At returns element i. In a list made with NewX(n) the elements may be filled in any order; in ascending
// order is cheapest.
func (l StructList[S]) At(i int) S {
	m, e := l.m, uint32(l.k)
	if uint32(l.k>>32) != m.gen {
		panic(panicStale)
	}
	w := m.idx[e : e+listWords]
	if uint(i) >= uint(w[listCount]) {
		panic(IndexError{i, int(w[listCount])})
	}
	if room := w[listRoom]; room < roomTable {
		return S(Struct{m, l.k&^0xffffffff | uint64(w[listElems]+uint32(i)*room)})
	}
	return S(Struct(l).structAt(i))
}

// structAt returns element i of a list of structs that is being built or was added to.
func (s Struct) structAt(i int) Struct {
	m, e := s.m, s.entry()
	if m.idx[e+listRoom]&roomBuilding == 0 {
		return m.handle(m.structEntry(e, uint32(i)))
	}
	if n := len(m.open); n >= 2 && m.open[n-2].e == e && m.open[n-2].next == uint32(i) {
		if el := m.nextStruct(&m.open[n-2], &m.open[n-1]); el != 0 {
			return Struct{m, m.openKey}
		}
	}
	if f := &m.open[len(m.open)-1]; f.e == e && f.next == uint32(i) {
		f.next++
		m.beginStruct(f.typ.elem.desc, m.structEntry(e, uint32(i)))
		return Struct{m, m.openKey}
	}
	if m.appendsAt(e, uint32(i)) {
		m.beginStruct(s.typ().elem.desc, m.structEntry(e, uint32(i)))
	}
	return m.handle(m.structEntry(e, uint32(i)))
}

// nextStruct goes from one element of a list that is being built to the next, the usual case: the end of
// the one and the beginning of the other are appended in one go. It returns the new one's entry, 0 if the
// element has more to it than a STOP.
func (m *Message) nextStruct(l, f *frame) uint32 {
	d := f.typ.desc
	if f.typ != l.typ.elem || len(d.owed) > 0 {
		return 0
	}
	p, b := m.buf.Extend(1 + len(d.template))
	b[0] = byte(WireStop)
	m.setEnd(f.e, p)
	if len(d.template) > 0 {
		copy(b[1:], d.template)
	}
	e := m.structEntry(l.e, l.next)
	words := m.idx[e : e+uint32(d.words)]
	words[0] = p + 1
	for _, s := range d.templateSlots {
		words[s.word] = p + 1 + s.off
	}
	l.next++
	f.e = e
	m.openKey = uint64(m.gen)<<32 | uint64(e)
	return e
}

// Set makes element i a copy of v, linking its bytes when they are large. Later changes of v are not seen.
func (l StructList[S]) Set(i int, v S) { Struct(l).setStructAt(i, Struct(v)) }

// Append adds a copy of v at the end, as Set does.
func (l StructList[S]) Append(v S) {
	s := Struct(l)
	s.changeable()
	src := s.m.source(Struct(v), s.typ().elem)
	e := s.appendStruct()
	s.m.appendValue(s.typ().elem, 0, src, e)
}

// AppendNew adds an empty element at the end and returns it to be filled.
func (l StructList[S]) AppendNew() S {
	s := Struct(l)
	s.changeable()
	e := s.appendStruct()
	s.m.beginStruct(s.typ().elem.desc, e)
	return S(s.m.handle(e))
}

// All iterates over indices and elements.
func (l StructList[S]) All() iter.Seq2[int, S] {
	return func(yield func(int, S) bool) {
		n := l.Len()
		stride := l.m.idx[uint32(l.k)+listRoom]
		if n == 0 || stride >= roomTable {
			l.eachByAt(yield)
			return
		}
		s := Struct{l.m, l.k&^0xffffffff | uint64(l.m.idx[uint32(l.k)+listElems])}
		for i := range n {
			if !yield(i, S(s)) {
				return
			}
			s.k += uint64(stride)
		}
	}
}

// eachByAt calls yield with every element of a list that is being built or was added to.
func (l StructList[S]) eachByAt(yield func(int, S) bool) {
	for i := range l.Len() {
		if !yield(i, l.At(i)) {
			return
		}
	}
}

// Contains says whether an element has the same wire bytes as v.
func (l StructList[S]) Contains(v S) bool { return Struct(l).containsValue(Struct(v)) }

// Add appends v unless Contains(v).
func (l StructList[S]) Add(v S) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

// appendStruct makes room for one more struct and returns its entry.
func (s Struct) appendStruct() uint32 {
	t := s.typ()
	slot := s.m.appendSlots(s.entry(), 1)
	e := s.m.alloc(t.elem.desc.words)
	s.m.idx[slot] = e
	return e
}

func (s Struct) setStructAt(i int, v Struct) {
	s.changeable()
	s.checkIndex(i)
	m, t := s.m, s.typ().elem
	src := m.source(v, t)
	e := m.structEntry(s.entry(), uint32(i))
	if m.appendsAt(s.entry(), uint32(i)) {
		m.appendValue(t, 0, src, e)
		return
	}
	node := m.replaceElement(t, e)
	m.placeValue(node, t, 0, src, e)
	m.edit(e).own = node
}

// --- elements that are containers

// NestedList is a list or set of lists, sets or maps; C is the type of an element.
type NestedList[C View] Struct

// Len returns the number of elements.
func (l NestedList[C]) Len() int { return Struct(l).count() }

// At returns element i.
func (l NestedList[C]) At(i int) C { return C(Struct(l).containerAt(i)) }

func (s Struct) containerAt(i int) Struct {
	word := s.m.idx[s.slot(i)]
	if word == 0 { // not reached yet in building
		return emptyHandle()
	}
	return Struct{s.m, s.k&^0xffffffff | uint64(word)}
}

// Set makes element i a copy of v, linking its bytes when they are large. Later changes of v are not seen.
func (l NestedList[C]) Set(i int, v C) { Struct(l).setContainerAt(i, Struct(v)) }

// Append adds a copy of v at the end, as Set does.
func (l NestedList[C]) Append(v C) {
	s := Struct(l)
	s.changeable()
	src := s.m.source(Struct(v), s.typ().elem)
	slot := s.m.appendSlots(s.entry(), 1)
	word := s.m.appendValue(s.typ().elem, 0, src, 0)
	s.m.idx[slot] = word
}

// NewAt makes element i an empty container of n elements (a map: with room for n pairs) and returns it to be filled.
func (l NestedList[C]) NewAt(i, n int) C {
	c := Struct(l).newContainerAt(i, n)
	c.clearFixed()
	return C(c)
}

// AppendNew adds a container of n elements (a map: with room for n pairs) at the end and returns it to be filled.
func (l NestedList[C]) AppendNew(n int) C {
	s := Struct(l)
	s.changeable()
	t := s.typ().elem
	checkCount(t, n)
	slot := s.m.appendSlots(s.entry(), 1)
	word := s.m.beginValue(t, n, 0, 0)
	s.m.idx[slot] = word
	c := s.m.handle(word)
	c.clearFixed()
	return C(c)
}

// All iterates over indices and elements.
func (l NestedList[C]) All() iter.Seq2[int, C] {
	return func(yield func(int, C) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Contains says whether an element has the same wire bytes as v.
func (l NestedList[C]) Contains(v C) bool { return Struct(l).containsValue(Struct(v)) }

// Add appends v unless Contains(v).
func (l NestedList[C]) Add(v C) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

func (s Struct) setContainerAt(i int, v Struct) {
	s.changeable()
	slot := s.slot(i)
	m, t := s.m, s.typ().elem
	src := m.source(v, t)
	if m.appendsAt(s.entry(), uint32(i)) {
		word := m.appendValue(t, 0, src, 0)
		m.idx[slot] = word
		return
	}
	node := m.replaceElement(t, m.idx[slot])
	word := m.placeValue(node, t, 0, src, 0)
	m.edit(word).own = node
	m.idx[slot] = word
}

func (s Struct) newContainerAt(i, n int) Struct {
	s.changeable()
	slot := s.slot(i)
	m, t := s.m, s.typ().elem
	checkCount(t, n)
	if m.appendsAt(s.entry(), uint32(i)) {
		word := m.beginValue(t, n, 0, 0)
		m.idx[slot] = word
		return m.handle(word)
	}
	node := m.replaceElement(t, m.idx[slot])
	m.closeAll()
	m.buf.SetEmpty(node)
	m.buf.OpenContent(node)
	word := m.beginValue(t, n, 0, 0)
	m.edit(word).own = node
	m.idx[slot] = word
	return m.handle(word)
}
