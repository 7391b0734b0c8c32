package engine

import (
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file has what all lists, sets and maps share, and the elements of lists of texts.

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

// checkIndex panics unless there is an element i.
func (s Struct) checkIndex(i int) {
	if n := s.ListLen(); uint(i) >= uint(n) {
		panic(IndexError{i, n})
	}
}

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

// appendSlots adds n elements or pairs to the count of the list or map. The caller appends their
// bytes next. It returns the slot of the first one; the caller sets the words. The slots of a list
// of structs are numbers of entries then.
func (m *Message) appendSlots(e uint32, n int) uint32 {
	m.openList(e)
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

// makeTable changes a list of structs whose entries follow one another to one with a table of
// entries.
func (m *Message) makeTable(e uint32, t *schema.Type) {
	room := m.ix.Words[e+listRoom]
	if room&roomTable != 0 {
		return
	}
	m.listFill.handle = 0 // another list may be filled next
	n, first, stride := m.ix.Words[e+listCount], m.ix.Words[e+listElems], uint32(t.Elem().Struct().Words())
	if m.ix.Reuses && n > 0 && m.slotsFollow(e) {
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

// replaceElement returns a node that replaces the element or value that a word stands for. If it
// has a node already, it is that.
func (m *Message) replaceElement(t *schema.Type, word uint32) chain.NodeID {
	switch {
	case t.Kind() >= schema.Record:
		m.closeEntry(word)
		m.noteDead(t, word)
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
	return s.m.LentBytes(s.m.ix.Words[slot])
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

// end adds an element to a list, and returns its place.
func (s Struct) end() place {
	return place{t: s.typ().Elem(), at: s.m.appendSlots(s.entry(), 1)}
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
