package engine

import (
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The words of a list's, set's or map's entry. The slots of its elements stand elsewhere in the
// index. A slot is the words that stand for one element or pair: none if its size is fixed, one
// for a text or container, an entry or the number of one for a struct, three for a pair.
const (
	listStart = entry.Start
	listEnd   = entry.End
	listCount = entry.ListCount
	listElems = entry.ListElems
	listRoom  = entry.ListRoom // of a list of structs: see below
	listType  = entry.ListType
	listWords = entry.ListWords
)

// In a list of structs, listRoom is the number of words from one element's entry to the next
// one's. With roomTable the words are entries' numbers instead, and the rest of listRoom is how
// many there is room for.
const (
	roomBuilding = 1 << 31 // elements are still to come: At appends them
	roomTable    = 1 << 30
	roomMask     = roomTable - 1
	// There is an element, but no table: elements are found by the message's index, and listElems is
	// a number in landing.lists
	roomByIndex = roomTable
)

const (
	pairKey   = entry.PairKey
	pairValue = entry.PairValue
	pairNode  = entry.PairNode
	pairWords = entry.PairWords

	maxCount = chain.MaxSize
)

// IndexError is the value of the panic when a program uses an index out of range.
type IndexError struct{ Index, Len int }

// Error describes the index as the runtime does for slices.
func (e IndexError) Error() string {
	return "nocopy: index out of range [" + strconv.Itoa(e.Index) + "] with length " + strconv.Itoa(e.Len)
}

// RuntimeError makes it a runtime.Error, like the runtime's own for an index out of range.
func (IndexError) RuntimeError() {}

// lateIndex is the panic of a list of doubles for an index out of range. The compiler would not
// inline At if it made an IndexError, which is therefore made when somebody asks.
type lateIndex struct {
	s Struct
	i int
}

// Unwrap returns the IndexError.
func (e lateIndex) Unwrap() error {
	if e.s.released() {
		return IndexError{Index: e.i}
	}
	return IndexError{e.i, e.s.ListLen()}
}

// Error returns the text of the IndexError.
func (e lateIndex) Error() string { return e.Unwrap().Error() }

// RuntimeError makes it a runtime.Error, as an IndexError is.
func (lateIndex) RuntimeError() {}

// entry returns the handle's entry.
func (s Struct) entry() uint32 { return uint32(s.k) }

// ListLen returns the number of elements.
func (s Struct) ListLen() (n int) {
	if s.m != nil {
		if s.k>>32 != s.m.gen {
			panic(staleUse(s))
		}
		n = int(s.m.ix.Words[uint32(s.k)+listCount])
	}
	return
}

// checkIndex panics unless there is an element i.
func (s Struct) checkIndex(i int) {
	if n := s.ListLen(); uint(i) >= uint(n) {
		panic(IndexError{i, n})
	}
}

// typ returns the type of a list, set or map.
func (s Struct) typ() *schema.Type { return schema.TypeByID(s.m.ix.Words[uint32(s.k)+listType]) }

// elemSlot returns the slot of element i: the index of its word. It panics if there is no
// element i.
func (s Struct) elemSlot(i int) uint32 {
	s.checkIndex(i)
	return s.m.ix.Words[uint32(s.k)+listElems] + uint32(i)
}

// openList makes the list or map of entry e the innermost frame, ready to append after its last
// element.
func (m *Message) openList(e uint32) {
	if !m.closeNested(e) {
		m.closeAll()
		t := schema.TypeByID(m.ix.Words[e+listType])
		if m.edit(e).tailNode == 0 {
			tail := m.buf.AddGrow(m.edit(e).end, m.ix.Words[e+listStart]-t.HeaderSize())
			m.edit(e).tailNode = tail
		}
		m.buf.OpenContent(m.edit(e).tailNode)
		m.push(t, e, m.ix.Words[e+listCount]).reopened = true
		m.openHandle = 0
	}
	m.appendZeroElements(e, m.ix.Words[e+listCount])
}

// frameOf returns the frame of the list or map of entry e, nil if it is complete.
func (m *Message) frameOf(e uint32) *frame {
	for i := len(m.open) - 1; i >= 0; i-- {
		if m.open[i].e == e {
			return &m.open[i]
		}
	}
	return nil
}

// appendZeroElements appends zero values to the list of entry e, the innermost frame, until it
// has n elements on the wire.
func (m *Message) appendZeroElements(e, n uint32) {
	top := len(m.open) - 1
	t := m.open[top].typ
	next := m.open[top].next
	if next >= n {
		if next&scattered != 0 {
			m.gather()
		}
		return
	}
	for k := next; k < n; k++ {
		switch t.Elem().Kind() {
		case schema.Text:
			p, b := m.buf.Extend(wire.TextHeader)
			wire.PutBE32(b, 0)
			m.ix.Words[m.ix.Words[e+listElems]+k] = p
		case schema.Record:
			m.appendZeroStruct(t.Elem(), m.structEntry(e, k))
		default:
			word := m.beginContainer(t.Elem(), 0, 0)
			m.closeContainer(len(m.open) - 1)
			m.open = m.open[:len(m.open)-1]
			m.ix.Words[m.ix.Words[e+listElems]+k] = word
		}
		m.open[top].next = k + 1 // at once: positions may run out
	}
}

// appendZeroStruct appends a struct with only its defaults. Its entry is e.
func (m *Message) appendZeroStruct(t *schema.Type, e uint32) {
	if d := t.Struct(); len(d.Owed()) == 0 {
		if !m.buf.Fits(len(d.Template())) && len(d.Template()) < chain.MaxSlabSize {
			m.buf.Reserve(len(d.Template()) + 2) // with the STOP: positions may run out
		}
		p := m.buf.AppendWithHead(0, 0, d.Template())
		m.ix.PutTemplate(d, e, p)
		m.indexTemplate(d, e, p)
		m.setEnd(e, m.buf.AppendByte(byte(wire.Stop)))
		return
	}
	m.ownSeldom()
	m.scratch = schema.AppendZero(m.scratch[:0], t)
	p, b := m.buf.Extend(len(m.scratch))
	copy(b, m.scratch)
	m.indexInto(t, p, e)
	for _, f := range t.Struct().Owed() {
		m.noteFilled(e, f)
	}
	if debugging {
		m.noteTemplate(t.Struct(), e)
	}
}

// indexInto indexes the struct at position p, which must be valid and contiguous, into entry e.
func (m *Message) indexInto(t *schema.Type, p, e uint32) {
	m.beginTrusted(p)
	m.p.EndTrusted(m.p.Structure(t.Struct(), e, 0))
}

// appendSlots adds n elements or pairs to the count of the list or map. The caller appends their
// bytes next. It returns the slot of the first one; the caller sets the words. The slots of a list
// of structs are numbers of entries then.
func (m *Message) appendSlots(e uint32, n int) uint32 {
	m.openList(e)
	m.mapFill.handle = 0
	t := m.open[len(m.open)-1].typ
	per := t.ElemWords()
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record {
		m.makeTable(e, t)
		per = 1
	}
	count := m.ix.Words[e+listCount]
	if count+uint32(n) > maxCount {
		panic("nocopy: too many elements")
	}
	m.startChange()
	if count+uint32(n) > m.ix.Words[e+listRoom]&roomMask {
		m.growSlots(e, count, uint32(n), per)
	}
	if count == 0 {
		m.storeTypes(e, t)
	}
	m.ix.Words[e+listCount] = count + uint32(n)
	m.open[len(m.open)-1].next = count + uint32(n)
	m.storeCount(e, t)
	m.buf.EndChange()
	return m.ix.Words[e+listElems] + count*uint32(per)
}

// growSlots makes room for n more slots than the count that there are; each has per words.
func (m *Message) growSlots(e, count, n uint32, per int) {
	if gap := m.editOf(e).gap; gap > count && gap >= n {
		m.moveSlots(e, gap, count)
		return
	}
	flags, had := m.ix.Words[e+listRoom]&^roomMask, m.ix.Words[e+listRoom]&roomMask
	room := index.RoundUp(max(2*had, count+n, 4)) // few sizes: freed words are used again
	if uint64(room)*uint64(per) > index.MaxWords {
		m.buf.EndChange()
		panicCount(int(count + n))
	}
	elems := m.ix.AllocRaw(int(room) * per)
	old := m.ix.Words[e+listElems]
	copy(m.ix.Words[elems:], m.ix.Words[old:old+count*uint32(per)])
	if m.ix.Reuses {
		m.leaveSlots(e, old, had, uint32(per))
	}
	m.ix.Words[e+listElems], m.ix.Words[e+listRoom] = elems, flags|room
	if w := m.ix.Words[e+entry.End]; w&edited != 0 {
		m.edits[w&^edited].gap = 0
	}
}

// leaveSlots frees the slots of a container, which have moved elsewhere; or notes how large its
// block is, if they are a part of that.
func (m *Message) leaveSlots(e, at, room, per uint32) {
	if gap := m.editOf(e).gap; at-gap != e+listWords {
		m.ix.FreeRaw(at-gap*per, (room+gap)*per)
	} else {
		m.ix.SetBlockRoom(e, listWords+(room+gap)*per)
	}
}

// moveSlots moves the n slots of a list back by gap words, which are free, to where the room
// for them begins.
func (m *Message) moveSlots(e, gap, n uint32) {
	at := m.ix.Words[e+listElems]
	copy(m.ix.Words[at-gap:], m.ix.Words[at:at+n])
	m.ix.Words[e+listElems] -= gap
	m.ix.Words[e+listRoom] += gap
	m.edit(e).gap = 0
}

// makeTable changes a list of structs whose entries follow one another to one with a table of
// entries.
func (m *Message) makeTable(e uint32, t *schema.Type) {
	room := m.ix.Words[e+listRoom]
	if room&roomTable != 0 {
		return
	}
	m.listFill.handle = 0 // another list may be filled next
	n, first, stride := m.ix.Words[e+listCount], m.ix.Words[e+listElems], uint32(t.Elem().Struct().Words())
	if m.ix.Reuses && n > 0 && m.elementsFollow(e) {
		m.ix.SetBlockRoom(e, listWords+n*stride)
	}
	size := index.RoundUp(2*n + 2)
	table := m.ix.AllocRaw(int(size))
	for k := range n {
		m.ix.Words[table+k] = first + k*stride
	}
	m.ix.Words[e+listElems] = table
	m.ix.Words[e+listRoom] = room&roomBuilding | roomTable | size
}

// structEntry returns the entry of element i of a list of structs.
func (m *Message) structEntry(e, i uint32) uint32 {
	elems := m.ix.Words[e+listElems]
	switch room := m.ix.Words[e+listRoom]; {
	case room&roomTable == 0:
		return elems + i*(room&roomMask)
	case room == roomByIndex:
		return m.landElement(elems, i)
	}
	return m.ix.Words[elems+i]
}

// elementsFollow reports whether the entries of the elements of a list of structs follow the
// list's own, e. They do unless there is a table of them, or the list was filled by fillList.
func (m *Message) elementsFollow(e uint32) bool {
	return m.ix.Words[e+listRoom]&roomTable == 0 && m.ix.Words[e+listElems] == e+listWords
}

// storeCount stores the count of the list or map of entry e on the wire.
func (m *Message) storeCount(e uint32, t *schema.Type) {
	if m.ix.Words[e+listEnd] == 0 { // never complete before
		wire.PutBE32(m.buf.At(m.ix.Words[e+listStart]-4), m.ix.Words[e+listCount])
		return
	}
	ed := m.editOf(e)
	n := m.ix.Words[e+listCount] - ed.dead
	at := m.ix.Words[e+listStart] - 4
	p := at
	if ed.countNode != 0 {
		p = m.buf.NodeStart(ed.countNode)
	}
	if m.buf.Writable(p) {
		wire.PutBE32(m.buf.At(p), n)
		return
	}
	if ed.countNode == 0 {
		ed.countNode = m.buf.AddReplace(at, at+4)
		m.edit(e).countNode = ed.countNode
	}
	p, b := m.buf.Place(4)
	wire.PutBE32(b, n)
	m.buf.SetPlaced(ed.countNode, p, p+4)
}

// storeTypes stores the types of a container's elements in its header. An empty container that
// was received may have had any.
func (m *Message) storeTypes(e uint32, t *schema.Type) {
	var types [2]byte
	n := putTypes(t, types[:])
	at := m.ix.Words[e+listStart] - t.HeaderSize()
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

// putTypes stores the types that a container's header begins with in b, and returns how many
// bytes they take.
func putTypes(t *schema.Type, b []byte) int {
	if t.Kind() == schema.Dict {
		b[0], b[1] = byte(t.Key().Wire()), byte(t.Elem().Wire())
		return 2
	}
	b[0] = byte(t.Elem().Wire())
	return 1
}

// replaceElement returns a node that replaces the element, key or value that a word stands for.
// If it has a node already, it is that.
func (m *Message) replaceElement(t *schema.Type, word uint32) chain.NodeID {
	switch {
	case t.Kind() >= schema.Record:
		m.closeEntry(word)
		if own := m.editOf(word).valueNode; own != 0 {
			ed := m.edit(word)
			ed.valueNode, ed.spare = 0, 0 // its handles no longer change the sent bytes
			return own
		}
	case word&inNode != 0:
		if at, end := m.buf.NodePlace(word &^ inNode); at != end {
			return word &^ inNode
		}
	}
	return m.buf.AddReplace(m.valuePlace(t.Wire(), word))
}

// BytesAt returns the bytes of element i, which alias the message.
func (s Struct) BytesAt(i int) []byte {
	slot := s.elemSlot(i)
	s.m.buf.Lend()
	return s.m.textBytes(s.m.ix.Words[slot])
}

// newTextAt makes element i a text of n bytes and returns them, contents undefined.
func (s Struct) newTextAt(i, n int) []byte {
	checkLen(n)
	s.changeableBy(n)
	slot := s.elemSlot(i)
	m := s.m
	if b := s.looseTextAt(i, n); b != nil {
		return b
	}
	if s.beforeSet(i) {
		p, b := m.buf.Extend(wire.TextHeader + n)
		wire.PutBE32(b, uint32(n))
		m.ix.Words[slot] = p
		return b[wire.TextHeader : wire.TextHeader+n : wire.TextHeader+n]
	}
	b, word := m.replaceText(m.ix.Words[slot], n)
	m.ix.Words[slot] = word
	return b
}

// replaceText replaces the text that a word stands for by one of n bytes. It returns these,
// contents undefined, and the new word.
func (m *Message) replaceText(word uint32, n int) ([]byte, uint32) {
	if b, at := m.rewriteText(word, n); b != nil {
		return b, at
	}
	node := m.replaceElement(schema.TypeString, word)
	p, b := m.buf.Place(wire.TextHeader + n)
	wire.PutBE32(b, uint32(n))
	m.buf.SetPlaced(node, p, p+uint32(wire.TextHeader+n))
	return b[wire.TextHeader : wire.TextHeader+n : wire.TextHeader+n], inNode | node
}

// replaceTextByRef replaces the text that a word stands for by the bytes v, which are referred to.
// It returns the new word.
func (m *Message) replaceTextByRef(word uint32, v []byte) uint32 {
	node := m.replaceElement(schema.TypeString, word)
	p, b := m.buf.Place(wire.TextHeader)
	wire.PutBE32(b, uint32(len(v)))
	m.buf.SetPlaced(node, p, p+wire.TextHeader)
	far := m.buf.AddForeign(v, false)
	m.buf.AddContent(node, far, far+uint32(len(v)))
	return inNode | node
}

// appendsAt reports whether element i of the list of entry e is not on the wire yet. Then the
// caller must append it: appendsAt has appended all elements before it, and counts it as appended.
func (m *Message) appendsAt(e, i uint32) bool {
	f := m.frameOf(e)
	if f == nil || i < f.next {
		return false
	}
	m.closeNested(e)
	m.appendZeroElements(e, i)
	if m.buf.Crowded() && !m.buf.RoomToChange(0) {
		panic(panicFull)
	}
	m.open[len(m.open)-1].next = i + 1
	return true
}

// beforeSet must be called before element i is set, unless it is of fixed size. It reports whether
// the element is not on the wire yet. Then the caller must append it. Otherwise the caller
// replaces it, and it is taken out of the list's table until the next lookup.
func (s Struct) beforeSet(i int) bool {
	if s.m.appendsAt(s.entry(), uint32(i)) {
		return true
	}
	if s.m.keys.HasTables() {
		s.m.elementChanges(s.entry(), uint32(i))
	}
	return false
}

// replaceValue replaces the struct or container that a word stands for by a copy of src, of type
// t, and returns the new word. e is the entry of a struct that is an element, 0 if it gets a new
// one.
func (m *Message) replaceValue(t *schema.Type, word uint32, src source, e uint32) uint32 {
	node := m.replaceElement(t, word)
	word = m.placeValue(node, t, 0, src, e)
	m.edit(word).valueNode = node
	return word
}

// replaceByNew replaces the struct or container that a word stands for by an empty one of type t,
// which becomes the only frame, and returns the new word. n is the number of elements of a list or
// set, or of pairs that a map gets room for.
func (m *Message) replaceByNew(t *schema.Type, word uint32, n int) uint32 {
	m.noteDead(t, word)
	node := m.replaceElement(t, word)
	m.closeAll()
	m.buf.SetEmpty(node)
	m.buf.OpenContent(node)
	word = m.beginValue(t, n, 0)
	m.edit(word).valueNode = node
	return word
}

// SetBytesAt makes element i the text v, which is referred to if it is large.
func (s Struct) SetBytesAt(i int, v []byte) {
	if s.m == nil {
		s.checkIndex(i)
	}
	if n := len(s.m.open); n > 0 && len(v) < ReferSize {
		// The usual case: the list is the innermost frame, and its elements are set in order.
		if f := &s.m.open[n-1]; f.e == s.entry() && f.next == uint32(i) && uint(i) < uint(s.ListLen()) {
			p, b := s.m.buf.Extend(wire.TextHeader + len(v))
			f.next++
			wire.PutBE32(b, uint32(len(v)))
			copy(b[wire.TextHeader:], v)
			s.m.ix.Words[s.m.ix.Words[f.e+listElems]+uint32(i)] = p
			return
		} else if f.next >= scattered && f.e == s.entry() && s.setLooseText(f, i, v) {
			return
		}
	}
	if len(v) < ReferSize || !s.m.mayRefer(len(v)) {
		copy(s.newTextAt(i, len(v)), v)
		return
	}
	checkLen(len(v))
	s.changeableBy(len(v))
	slot := s.elemSlot(i)
	if s.looseRefAt(i, v) {
		return
	}
	if s.beforeSet(i) {
		s.m.ix.Words[slot] = s.m.appendRef(v)
		return
	}
	s.m.ix.Words[slot] = s.m.replaceTextByRef(s.m.ix.Words[slot], v)
}

// appendRef appends the text v, whose bytes are referred to, and returns its word.
func (m *Message) appendRef(v []byte) uint32 {
	p, b := m.buf.Extend(wire.TextHeader)
	wire.PutBE32(b, uint32(len(v)))
	return m.referText(p, v, 0)
}

// AppendBytes adds the text v at the end of the list.
func (s Struct) AppendBytes(v []byte) {
	checkLen(len(v))
	s.changeableBy(len(v))
	slot := s.m.appendSlots(s.entry(), 1)
	s.m.ix.Words[slot] = s.m.extendText(v)
}

// extendText appends the text v to the innermost frame and returns its word.
func (m *Message) extendText(v []byte) uint32 {
	if len(v) >= ReferSize && m.mayRefer(len(v)) {
		return m.appendRef(v)
	}
	p, b := m.buf.Extend(wire.TextHeader + len(v))
	wire.PutBE32(b, uint32(len(v)))
	copy(b[wire.TextHeader:], v)
	return p
}

// TextAt returns element i of a list of strings.
func (s Struct) TextAt(i int) string {
	slot := s.elemSlot(i)
	word := s.m.ix.Words[slot]
	if text, ok := s.m.buf.FlatText(word); ok {
		return text
	}
	return s.m.lendText(word)
}

// TextOf returns element i of a list of strings that has so many.
func (s Struct) TextOf(i int) string {
	return s.m.TextString(s.m.ix.Words[s.m.ix.Words[uint32(s.k)+listElems]+uint32(i)])
}

// SetTextAt makes element i of a list of strings v.
func (s Struct) SetTextAt(i int, v string) { s.SetBytesAt(i, chain.StringBytes(v)) }

// AppendText adds v at the end of a list of strings.
func (s Struct) AppendText(v string) { s.AppendBytes(chain.StringBytes(v)) }

// ContainsText reports whether a list of strings has an element v.
func (s Struct) ContainsText(v string) bool { return s.ContainsKey(chain.StringBytes(v)) }

// LentBytes returns the bytes of a binary, which the caller may keep.
func (m *Message) LentBytes(word uint32) []byte {
	m.buf.Lend()
	return m.textBytes(word)
}
