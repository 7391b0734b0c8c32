package nocopy

import "encoding/binary"

// frame is something that is being built at the tail: a struct without its STOP, a list without all of its
// elements. Frames lie in one another; all are in the same run.
type frame struct {
	typ      *XType
	e        uint32
	next     uint32 // container: elements that are on the wire
	lead     uint8  // list: bytes in front of its header that must stay with it
	reopened bool   // it was complete: what is added stands in the node at its end
}

// someStruct is the type of a struct that is open again, of which nothing but that is asked.
var someStruct = &XType{wire: WireStruct, kind: record}

// push makes the struct or container of entry e the innermost one that is being built.
func (m *Message) push(t *XType, e, next uint32) *frame {
	m.mapFill.handle = 0
	n := len(m.open)
	if n == cap(m.open) {
		m.open = append(m.open, frame{})
	}
	m.open = m.open[:n+1]
	f := &m.open[n]
	if f.typ != t { // often it is the same as last time: spare the write barrier
		f.typ = t
	}
	f.e, f.next, f.lead, f.reopened = e, next, 0, false
	return f
}

// beginStruct appends what the struct of entry e begins with and opens it.
func (m *Message) beginStruct(d *XDesc, e uint32) {
	m.startStruct(d, e, m.buf.AppendWithHead(0, 0, d.template))
}

// startStruct opens the struct of entry e, whose template stands at p.
func (m *Message) startStruct(d *XDesc, e, p uint32) {
	m.indexTemplate(d, e, p)
	m.push(d.self, e, 0)
	m.openHandle = uint64(m.gen)<<32 | uint64(e)
}

// indexTemplate fills in the words of the fields in a struct's template, which stands at p.
func (m *Message) indexTemplate(d *XDesc, e, p uint32) {
	idx := m.idx
	idx[e] = p
	for _, s := range d.templateFields {
		idx[e+s.word] = p + s.off
	}
}

// setOpenKey lets fields of the innermost struct be appended without further ado, if that is what it needs.
func (m *Message) setOpenKey() {
	m.openHandle = 0
	if n := len(m.open); n > 0 && m.open[n-1].typ.kind == record {
		e := m.open[n-1].e
		if w := m.idx[e+entryEnd]; w&edited == 0 || m.edits[w&^edited].fieldNodes == 0 {
			m.openHandle = uint64(m.gen)<<32 | uint64(e)
		}
	}
}

// openStruct makes the struct the innermost one that is being built, completing what is inside of it, or
// opening it again if it was complete.
func (m *Message) openStruct(e uint32) {
	if m.closeNested(e) {
		return
	}
	m.closeAll()
	if m.edit(e).tailNode == 0 {
		tail := m.buf.AddAtStop(m.edit(e).end)
		m.edit(e).tailNode = tail
	}
	m.buf.OpenContent(m.edit(e).tailNode)
	m.push(someStruct, e, 0).reopened = true
	m.setOpenKey()
}

// closeNested completes what is being built inside of the entry, and reports whether the entry is being built.
func (m *Message) closeNested(e uint32) bool {
	for i := len(m.open) - 1; i >= 0; i-- {
		if m.open[i].e == e {
			if n := i + 1; n < len(m.open) {
				m.closeTo(n)
				m.setOpenKey()
			}
			return true
		}
	}
	return false
}

// closeEntry completes the struct or container if it is being built.
func (m *Message) closeEntry(e uint32) {
	if m.closeNested(e) {
		m.closeTo(len(m.open) - 1)
		m.setOpenKey()
	}
}

// closeAll completes everything.
func (m *Message) closeAll() {
	m.closeTo(0)
	m.openHandle = 0
}

// closeTo completes what is being built but for the outermost n. Who calls it sets openKey.
func (m *Message) closeTo(n int) {
	m.mapFill.handle = 0
	for top := len(m.open); top > n; {
		top--
		f := &m.open[top]
		t, e := f.typ, f.e
		switch {
		case t.kind != record:
			m.closeContainer(top)
		case f.reopened:
		case len(t.desc.owed) == 0 && m.buf.Fits(0):
			m.setEnd(e, m.buf.AppendFitting(byte(WireStop)))
		default:
			m.appendAllOwed(t.desc, e)
			m.setEnd(e, m.buf.AppendByte(byte(WireStop)))
		}
	}
	m.open = m.open[:n]
	if n == 0 {
		m.buf.Close()
	}
}

// closeContainer completes the list or map of this frame, of which those behind it are done.
func (m *Message) closeContainer(top int) {
	f := &m.open[top]
	t, e, reopened := f.typ, f.e, f.reopened
	if n := m.idx[e+listCount]; f.next < n {
		m.open = m.open[:top+1]
		m.appendZeroElements(e, n)
	}
	if !reopened {
		m.setEnd(e, m.buf.Tail())
	}
	if t.elem.kind == record {
		m.idx[e+listRoom] &^= roomBuilding
	}
}

// appendAllOwed gives the innermost struct what it must have and nobody set.
func (m *Message) appendAllOwed(d *XDesc, e uint32) {
	for _, owed := range d.owed {
		if m.idx[e+owed.word] == 0 && !m.hadField(e, owed.word) {
			m.appendOwed(e, owed)
		}
	}
}

// hadField says whether the field was set once and then removed, so that it is no longer owed. Required
// fields are never removed.
func (m *Message) hadField(e, word uint32) bool {
	slots := m.editOf(e).fieldNodes
	return slots != 0 && m.idx[slots+word] != 0
}

// appendOwed gives the innermost struct a field that it must have and that nobody set.
func (m *Message) appendOwed(e uint32, f *field) {
	m.scratch = f.appendDefault(m.scratch[:0])
	p, b := m.buf.Extend(fieldHeader + len(m.scratch))
	putHeader(b, f.header)
	copy(b[fieldHeader:], m.scratch)
	word := m.indexAt(f.typ, p+fieldHeader)
	m.idx[e+f.word] = word
}

// Child returns the struct, list, set or map in field f, indexing it if that has not been done yet. If the
// field is not set it returns the IDL default or an empty one, neither of which can be changed. d describes the struct s.
func (s XStruct) Child(f XField, d *XDesc) XStruct {
	if s.m == nil {
		return d.field(f).absent()
	}
	if word := s.word(f); int32(word) > 0 {
		return XStruct{s.m, s.k&^0xffffffff | uint64(word)}
	}
	return s.lateChild(f, d)
}

// lateChild is Child of a field that is not set or not indexed.
func (s XStruct) lateChild(f XField, d *XDesc) XStruct {
	word := s.word(f)
	if word == 0 {
		return d.field(f).absent()
	}
	word = s.m.indexLazily(d.field(f).typ, word&^notIndexed)
	s.setWord(f, word)
	return XStruct{s.m, s.k&^0xffffffff | uint64(word)}
}

// NewChild sets field f to an empty struct or container and returns it to be filled. Of a list or set, n
// is the number of elements, zero values at first; of a map, a number of pairs to make room for.
func (s XStruct) NewChild(f XField, d *XDesc, n int) XStruct {
	if s.m == nil {
		panic(panicAbsent)
	}
	m, e := s.m, uint32(s.k)
	t := d.field(f).typ
	if n != 0 {
		checkCount(t, n)
	}
	if s.k != m.openHandle || m.idx[e+f.word()] != 0 {
		s.placeChild(f)
	}
	var word uint32
	switch t.kind {
	case record:
		word = m.beginRecord(t.desc, f.header())
	case dict:
		word = m.beginContainer(t, max(n, minPairRoom), f.header())
	default:
		word = m.beginContainer(t, n, f.header())
	}
	m.idx[e+f.word()] = word
	c := m.handle(word)
	if n > 0 {
		c.clearFixed()
	}
	return c
}

// minPairRoom is how many pairs a map in a field has room for at least.
const minPairRoom = 4

// clearFixed makes the elements zero if they are of fixed size.
func (s XStruct) clearFixed() {
	if len(s.m.open) == 0 {
		return
	}
	if f := &s.m.open[len(s.m.open)-1]; f.typ.kind == list && f.typ.elem.kind == fixed {
		clear(s.fixedBytes(int(f.typ.elem.size)))
	}
}

// newFullList sets field f to a list of n elements that the caller appends at once, so that it need not be opened: it is complete
// after endFullList. It returns its entry, with room for as many words behind it as slots, and the bytes that follow its header.
func (s XStruct) newFullList(f XField, d *XDesc, n, slots, bytes int) (uint32, []byte) {
	if s.m == nil {
		panic(panicAbsent)
	}
	m, e := s.m, uint32(s.k)
	t := d.field(f).typ
	checkCount(t, n)
	if s.k != m.openHandle || m.idx[e+f.word()] != 0 {
		s.placeChild(f)
	}
	const head = fieldHeader + listHeader
	c := m.allocFor(t, listWords+slots)
	p, b := m.buf.Extend(head + bytes)
	binary.BigEndian.PutUint64(b, containerHeader(f.header(), t.elem.wire, uint32(n)))
	w := (*[listWords]uint32)(m.idx[c:])
	w[listStart] = p + head
	w[listCount], w[listElems], w[listRoom], w[listType] = uint32(n), c+listWords, uint32(n), t.id
	m.idx[e+f.word()] = c
	return c, b[head:]
}

// endFullList ends the list of entry e, which ends at the tail.
func (m *Message) endFullList(e uint32) {
	m.idx[e+listEnd] = m.buf.Tail()
	if len(m.open) == 0 {
		m.buf.Close()
	}
}

// placeChild sees to it that what is appended next is the value of field f.
func (s XStruct) placeChild(f XField) {
	s.changeable()
	m, e := s.m, uint32(s.k)
	if m.idx[e+f.word()] == 0 && m.fieldNode(e, f) == 0 {
		m.openStruct(e)
		return
	}
	node := m.replaceField(e, f)
	m.closeAll()
	m.buf.SetEmpty(node)
	m.buf.OpenContent(node)
}

// checkCount panics if nothing of the type may have n elements.
func checkCount(t *XType, n int) {
	if uint(n) >= safeCount {
		checkLargeCount(t, n)
	}
}

// safeCount is less than how many elements there may be of any size.
const safeCount = 1 << 24

func checkLargeCount(t *XType, n int) {
	if uint(n) > maxCount || t.kind == list && uint64(n)*uint64(minSize[t.elem.wire]) > maxCount {
		panicCount(n)
	}
}

func panicCount(n int) { panic("nocopy: count " + itoa(n) + " out of range") }

// beginValue appends the beginning of a struct or container and opens it; with a key, a field's header comes first.
// Its entry is new: handles of what was there before go on reading that.
func (m *Message) beginValue(t *XType, n int, key uint32) uint32 {
	if t.kind != record {
		return m.beginContainer(t, n, key)
	}
	return m.beginRecord(t.desc, key)
}

// beginRecord is beginValue of a struct.
func (m *Message) beginRecord(d *XDesc, key uint32) uint32 {
	lead := leadOf(key)
	e := m.allocFor(d.self, d.words)
	p := m.buf.AppendWithHead(uint64(key)<<40, lead, d.template)
	m.startStruct(d, e, p+uint32(lead))
	return e
}

func (m *Message) beginContainer(t *XType, n int, key uint32) uint32 {
	lead := leadOf(key)
	e := m.allocFor(t, listWords+wordsOf(t, n))
	w := (*[listWords]uint32)(m.idx[e:])
	count, room := uint32(n), uint32(n)
	var p, next uint32
	switch {
	case t.kind == dict:
		p, count = m.buf.AppendWithHead(containerHeader(key, t.key.wire, uint32(t.elem.wire)<<24), lead+mapHeader-1, "\x00"), 0
	case t.elem.kind == fixed:
		var b []byte
		p, b = m.buf.Extend(lead + listHeader + n*int(t.elem.size))
		putLead(b, key)
		b[lead] = byte(t.elem.wire)
		putBE32(b[lead+1:], count)
		next = count
	default:
		p = m.buf.AppendWithHead(containerHeader(key, t.elem.wire, count), lead+listHeader, "")
		if t.elem.kind == record {
			room = uint32(t.elem.desc.words) | roomBuilding
		}
	}
	w[listStart] = p + uint32(lead) + t.headerSize()
	w[listCount], w[listElems], w[listRoom], w[listType] = count, e+listWords, room, t.id
	m.push(t, e, next).lead = uint8(lead)
	m.openHandle = 0
	return e
}

// wordsOf returns how many words n elements or pairs of the type take.
func wordsOf(t *XType, n int) int {
	words := int64(n) * int64(t.elemWords())
	if uint64(words) > maxWords {
		t.elem.mustBeDefined()
		panicCount(n)
	}
	return int(words)
}

// containerHeader returns what AppendWithHead makes a container's header of: after a field's header, if there is one, the first
// type and four bytes.
func containerHeader(key uint32, first WireType, rest uint32) uint64 {
	head := uint64(first)<<32 | uint64(rest)
	if key == 0 {
		return head << (8 * fieldHeader)
	}
	return uint64(key)<<40 | head
}
