package engine

import (
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file builds structs and containers: it opens them, appends at the end of the message, and
// closes them with the fields that they must have.

// someStruct stands in for the type of a reopened struct; only its kind is read.
var someStruct = schema.AnyStruct()

// setOpenHandle lets fields of the innermost struct be appended without further ado, if that is
// what it needs.
func (m *Message) setOpenHandle() {
	m.openHandle = 0
	if n := len(m.open); n > 0 && m.open[n-1].typ.Kind() == schema.Record {
		e := m.open[n-1].e
		if w := m.ix.EndOf(e); !w.IsEdit() || m.edits[w.Edit()].fieldNodes == 0 {
			m.openHandle = m.gen<<32 | uint64(e)
		}
	}
}

// openStruct makes the struct of entry e the innermost frame. It completes all frames nested in
// it. A complete struct is reopened: bytes are then appended to a node before its STOP.
func (m *Message) openStruct(e uint32) {
	if m.closeNested(e) {
		return
	}
	m.closeAll()
	ed := m.edit(e)
	if ed.tailNode == 0 {
		ed.tailNode = m.buf.AddAtStop(ed.end)
	}
	m.buf.OpenContent(ed.tailNode)
	if ed.fieldNodes == 0 {
		m.openHandle = m.gen<<32 | uint64(e)
	}
	m.push(someStruct, e, 0).reopened = true
}

// closeNested completes all frames nested in the frame of entry e, and reports whether e has a
// frame.
func (m *Message) closeNested(e uint32) bool {
	n := m.frameNumber(e) + 1
	if n > 0 && n < len(m.open) {
		m.closeTo(n)
	}
	return n > 0
}

// frameNumber returns the number of the frame of entry e in m.open, -1 if it has none.
func (m *Message) frameNumber(e uint32) int {
	i := len(m.open) - 1
	for i >= 0 && m.open[i].e != e {
		i--
	}
	return i
}

// closeEntry completes the struct or container of entry e, if it has a frame, and all nested in
// it.
func (m *Message) closeEntry(e uint32) {
	if m.closeNested(e) {
		m.closeTo(len(m.open) - 1)
	}
}

// closeAll completes all frames.
func (m *Message) closeAll() { m.closeTo(0) }

// closeTo completes all frames but the outermost n. If positions run out it panics: frames that
// are complete then are gone, and no bytes were added twice.
func (m *Message) closeTo(n int) {
	m.openHandle = 0
	if top := len(m.open); top > n {
		m.startChange()
		for top > n {
			top--
			f := &m.open[top]
			t, e := f.typ, f.e
			switch {
			case t.Kind() != schema.Record:
				m.closeContainer(top)
			case f.reopened:
			case len(t.Struct().AddedIfUnset()) == 0 && m.buf.Fits(0):
				m.setEnd(e, m.buf.AppendFitting(byte(wire.Stop)))
			default:
				m.open = m.open[:top+1]
				m.appendDefaults(t.Struct(), e)
				m.setEnd(e, m.buf.AppendByte(byte(wire.Stop)))
			}
		}
		m.open = m.open[:n]
		m.buf.EndChange()
	}
	if n == 0 {
		m.buf.Close()
	} else {
		m.setOpenHandle()
	}
}

// closeContainer completes the list or map of frame number top; frames nested in it are
// complete.
func (m *Message) closeContainer(top int) {
	f := &m.open[top]
	t, e, reopened := f.typ, f.e, f.reopened
	l := m.ix.List(e)
	if n := l.Count(); f.next != n {
		m.open = m.open[:top+1]
		m.appendZeroElements(e, n)
	}
	if !reopened {
		m.setEnd(e, m.buf.Tail())
	}
	if t.Elem().Kind() == schema.Record {
		l.SetRoom(l.Room().Built())
	}
}

// appendZeroElements appends the texts that were staged, and zero values, to the list of entry
// e, the innermost frame, until it has n elements on the wire.
func (m *Message) appendZeroElements(e, n uint32) {
	f := &m.open[len(m.open)-1]
	for k := f.next; k < n; k = f.next {
		if f.typ.Elem().Kind() == schema.Text { // those that were staged, too
			f.next += uint32(m.buf.AppendStaged(m.ix.List(e).Positions(k, n)))
		} else {
			m.appendZero(e, f)
		}
	}
}

// appendZero appends a struct with only its defaults, or an empty container, to the list of entry
// e and frame f.
func (m *Message) appendZero(e uint32, f *frame) {
	t, k := f.typ.Elem(), f.next
	m.ownSeldom()
	m.scratch = schema.AppendZero(m.scratch[:0], t)
	p, b := m.buf.Extend(len(m.scratch))
	copy(b, m.scratch)
	f.next++ // at once: the index may have no room
	if t.Kind() != schema.Record {
		word := m.indexAt(t, p, 0)
		m.ix.List(e).SetWord(k, word)
		return
	}
	x := m.structEntry(e, k)
	m.indexAt(t, p, x)
	for _, f := range t.Struct().AddedIfUnset() {
		m.noteFilled(x, f)
	}
	if debugging {
		m.noteTemplate(t.Struct(), x)
	}
}

// appendDefaults appends the unset fields of d.AddedIfUnset to the struct of entry e, the
// innermost frame.
func (m *Message) appendDefaults(d *schema.Struct, e uint32) {
	for _, f := range d.AddedIfUnset() {
		// One that was removed has a node
		if m.ix.At(e, f.Ref()) == 0 && m.fieldNode(e, f.Ref()) == 0 {
			m.appendDefault(e, f)
		}
	}
}

// appendDefault appends field f with its default to the struct of entry e, the innermost frame.
func (m *Message) appendDefault(e uint32, f *schema.Field) {
	m.ownSeldom()
	m.scratch = f.AppendDefault(m.scratch[:0])
	p, b := m.buf.Extend(wire.FieldHeader + len(m.scratch))
	wire.PutHeader(b, f.Header())
	copy(b[wire.FieldHeader:], m.scratch)
	word := m.indexAt(f.Type, p+wire.FieldHeader, 0)
	m.ix.Put(e, f.Ref(), word)
	m.noteFilled(e, f)
}

// minPairRoom is the least number of pairs that a map in a field gets room for.
const minPairRoom = 4

// Lists of elements of fixed size: their bytes are always contiguous. A multiplication gives the
// place of element i. basetypes.go has a getter for each size and meaning.

// FixedBytes returns the bytes of all elements, which have the given size.
func (s Struct) FixedBytes(size int) []byte {
	if s.m == nil {
		return nil
	}
	n := s.ListLen() * size
	return s.m.buf.At(s.m.ix.Words[s.entry()+entry.ListStart])[:n:n] // as it is, to be inlined
}

// endFullList completes the list of entry e, which newFullList began and which ends at the
// tail.
func (m *Message) endFullList(e uint32) {
	m.ix.SetEnd(e, index.Word(m.buf.Tail()))
	if len(m.open) == 0 {
		m.buf.Close()
	}
}

// openNode makes the bytes that are appended next the node's contents.
func (m *Message) openNode(node chain.NodeID) {
	m.closeAll()
	m.startChange()
	m.buf.SetEmpty(node)
	m.buf.OpenContent(node)
	m.buf.EndChange()
}

// startChange notes that a change begins, as Buffer.StartChange does, and panics if another one is
// under way.
func (m *Message) startChange() {
	if !m.buf.StartChange() {
		(*owner)(m).PanicChangedAtOnce()
	}
}

// replaceField returns the node that replaces field f of the struct of entry e. The field is
// set, or was. Its value is noted as dead.
func (m *Message) replaceField(e uint32, f schema.Ref) chain.NodeID {
	if word := m.ix.At(e, f); f.Wire() >= wire.Struct && f.Wire() <= wire.List && !word.IsLazy() {
		m.closeEntry(word.Entry())
	}
	if f.Wire() >= wire.Struct && f.Wire() <= wire.List {
		m.noteDeadField(e, f)
	}
	if node := m.fieldNode(e, f); node != 0 {
		return node
	}
	at, end := m.valuePlace(f.Wire(), m.ix.At(e, f))
	node := m.buf.AddReplace(at-wire.FieldHeader, end)
	ed := m.edit(e)
	first := ed.fieldNodes == 0
	ed.fieldNodes = m.ix.SetFieldNode(ed.fieldNodes, f, node)
	if first {
		m.setOpenHandle() // an open struct with nodes is no longer simply appended to
	}
	return node
}

// sizeOf returns how many bytes are appended at once for a new value of type t with n elements. It
// panics if there can't be so many.
func sizeOf(t *schema.Type, n int) int {
	checkCount(t, n)
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Fixed {
		return n * int(t.Elem().Size())
	}
	return 0
}

// checkCount panics if a value of type t can't have n elements.
func checkCount(t *schema.Type, n int) {
	if uint(n) >= safeCount {
		checkLargeCount(t, n)
	}
}

// safeCount is a number of elements that always fit in a message.
const safeCount = 1 << 24

// checkLargeCount panics if a value of type t can't have n elements. n is at least safeCount.
func checkLargeCount(t *schema.Type, n int) {
	if uint(n) > maxCount || t.Kind() == schema.List && uint64(n)*uint64(wire.MinSize[t.Elem().Wire()]) > maxCount {
		panicCount(n)
	}
}

func panicCount(n int) { panic("nocopy: count " + strconv.Itoa(n) + " out of range") }

// beginAt puts an empty struct or container into the place, which is no field, and pushes a frame
// for it. n is the number of elements of a list or set, which are zero values at first, or the
// number of pairs that a map gets room for.
func (m *Message) beginAt(q place, n int) Struct {
	if q.node != 0 {
		m.openNode(q.node)
	}
	var x uint32
	if q.t.Kind() == schema.Record {
		x = m.beginRecord(q.t.Struct(), 0, q.elem)
	} else {
		x = m.beginContainer(q.t, n, 0)
	}
	if q.node != 0 {
		m.edit(x).valueNode = q.node
	}
	m.put(q, index.Word(x))
	return m.handle(x)
}

// beginRecord appends the beginning of a struct, after the header of field f unless that is 0, and
// pushes a frame for it. It returns its entry: e, or a new one if e is 0.
func (m *Message) beginRecord(d *schema.Struct, f schema.Ref, e uint32) uint32 {
	if e == 0 {
		e = m.ix.AllocFor(d.Type(), d.Words())
	}
	m.startStruct(d, e, uint64(f.Header())<<40, leadOf(f))
	return e
}

// beginContainer appends the header of a list, set or map, after the header of field f unless that
// is 0, and pushes a frame for it. It returns its entry, which is new: handles of an earlier value
// go on reading that. n is as in beginAt.
func (m *Message) beginContainer(t *schema.Type, n int, f schema.Ref) uint32 {
	lead := leadOf(f)
	if t.Kind() == schema.Dict {
		n = max(n, minPairRoom)
	}
	e := m.ix.AllocFor(t, listWords+slotWords(t, n))
	count, room := uint32(n), index.Room(n)
	var p, next, end uint32
	switch {
	case t.Kind() == schema.Dict:
		p, count = m.buf.AppendWithHead(containerHeader(f.Header(), t.Key().Wire(), uint32(t.Elem().Wire())<<24), lead+wire.MapHeader-1, "\x00"), 0
	case t.Elem().Kind() == schema.Fixed:
		var b []byte
		p, b = m.buf.Extend(lead + wire.ListHeader + n*int(t.Elem().Size()))
		putLead(b, f)
		b[lead] = byte(t.Elem().Wire())
		wire.PutBE32(b[lead+1:], count)
		clear(b[lead+wire.ListHeader:])
		next = count
	default:
		head, size := containerHeader(f.Header(), t.Elem().Wire(), count), lead+wire.ListHeader
		if m.buf.Fits(0) {
			p = m.buf.AppendHead(head, size)
		} else {
			p = m.buf.AppendWithHead(head, size, "")
		}
		if t.Elem().Kind() == schema.Record {
			d := t.Elem().Struct()
			room = index.Room(d.Words()).Building()
			if len(d.AddedIfUnset()) == 0 && len(d.Template()) <= memory.MaxShort && len(d.WideTemplate()) == 0 {
				end = count
			}
		}
	}
	m.ix.MakeList(e, t, p+uint32(lead)+t.HeaderSize(), 0, count, room)
	frame := m.push(t, e, next)
	frame.lead, frame.end = uint8(lead), end
	m.openHandle = 0
	return e
}

// closeAllUnlessSealed completes all frames, except in a finished message: reading that must
// change nothing.
func (m *Message) closeAllUnlessSealed() {
	if !m.buf.Sealed() {
		m.closeAll()
	}
}

// slotWords returns how many words the slots of n elements or pairs of the type take.
func slotWords(t *schema.Type, n int) int {
	words := int64(n) * int64(t.ElemWords())
	if uint64(words) > index.MaxWords {
		panicWords(t, n)
	}
	return int(words)
}

// panicWords panics because slotWords can't return a number of words.
func panicWords(t *schema.Type, n int) {
	t.Elem().MustBeDefined()
	panicCount(n)
}

// containerHeader returns the bytes that a container begins with, in the high bytes of a number:
// the field header, unless header is 0, then a type and four bytes.
func containerHeader(header uint32, first wire.Type, rest uint32) uint64 {
	head := uint64(first)<<32 | uint64(rest)
	if header == 0 {
		return head << (8 * wire.FieldHeader)
	}
	return uint64(header)<<40 | head
}

// field returns the place of field f, whose type is t. An old value is no longer in the message.
func (s Struct) field(f schema.Ref, t *schema.Type) place {
	e := uint32(s.k)
	return place{t: t, f: f, at: e, node: s.m.nodeFor(e, f)}
}

// nodeFor returns the node that replaces field f of the struct of entry e. It returns 0 if the
// field was never set: the struct is open then, and the field is appended.
func (m *Message) nodeFor(e uint32, f schema.Ref) chain.NodeID {
	if m.ix.At(e, f) == 0 && m.fieldNode(e, f) == 0 {
		m.openStruct(e)
		return 0
	}
	return m.replaceField(e, f)
}

// newField sets field f, a scalar or text, to n bytes, and returns them, contents undefined.
func (s Struct) newField(f schema.Ref, n int) []byte {
	m, e := s.m, uint32(s.k)
	var p uint32
	var b []byte
	if node := m.nodeFor(e, f); node == 0 {
		p, b = m.buf.Extend(wire.FieldHeader + n)
	} else {
		p, b = m.buf.Place(wire.FieldHeader + n)
		m.buf.SetPlaced(node, p, p+uint32(len(b)))
	}
	wire.PutHeader(b, f.Header())
	m.ix.Put(e, f, index.Word(p+wire.FieldHeader))
	return b[wire.FieldHeader:]
}

// newText sets the field to a text of n bytes, and returns them, contents undefined.
func (s Struct) newText(f schema.Ref, n int) []byte {
	b := s.newField(f, wire.TextHeader+n)
	wire.PutBE32(b, uint32(n))
	return b[wire.TextHeader:]
}
