package engine

import (
	"encoding/binary"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// frame is a struct, list or map that is being built at the tail: a struct without its STOP, or
// a list without all of its elements. Message.open has the frames, each nested in the one
// before it; all are in the same run.
type frame struct {
	typ      *schema.Type
	e        uint32
	next     uint32 // list or map: how many elements or pairs are on the wire
	lead     uint8  // list: how many bytes of a field header come before its header
	reopened bool   // it was complete before: bytes are added to the node at its end
}

// someStruct stands in for the type of a reopened struct; only its kind is read.
var someStruct = schema.AnyStruct()

// push adds a frame for entry e, of type t, which becomes the innermost. next is how many of
// its elements are on the wire.
func (m *Message) push(t *schema.Type, e, next uint32) *frame {
	m.mapFill.handle = 0
	n := len(m.open)
	if n == cap(m.open) {
		m.open = append(m.open, frame{})
	}
	m.open = m.open[:n+1]
	f := &m.open[n]
	if f.typ != t { // often it is the same as last time: that spares a write barrier
		f.typ = t
	}
	f.e, f.next, f.lead, f.reopened = e, next, 0, false
	return f
}

// beginStruct appends the template of a new struct and pushes a frame for it. e is its entry.
func (m *Message) beginStruct(d *schema.Struct, e uint32) {
	m.startStruct(d, e, m.buf.AppendWithHead(0, 0, d.Template()))
}

// startStruct pushes a frame for the struct of entry e, whose template is on the wire at
// position p.
func (m *Message) startStruct(d *schema.Struct, e, p uint32) {
	if d.IsWide() {
		m.ix.PutTemplate(d, e, p)
	}
	m.indexTemplate(d, e, p)
	m.push(d.Type(), e, 0)
	m.openHandle = m.gen<<32 | uint64(e)
}

// indexTemplate sets the start of entry e and the words of the fields of a template at position
// p, which PutTemplate does for a wide struct.
func (m *Message) indexTemplate(d *schema.Struct, e, p uint32) {
	idx := m.ix.Words
	idx[e] = p
	for _, s := range d.TemplateFields() {
		idx[e+s.Word] = p + s.Off
	}
	if debugging {
		m.noteTemplate(d, e)
	}
}

// setOpenHandle lets fields of the innermost struct be appended without further ado, if that is
// what it needs.
func (m *Message) setOpenHandle() {
	m.openHandle = 0
	if n := len(m.open); n > 0 && m.open[n-1].typ.Kind() == schema.Record {
		e := m.open[n-1].e
		if w := m.ix.Words[e+entry.End]; w&edited == 0 || m.edits[w&^edited].fieldNodes == 0 {
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
	for i := len(m.open) - 1; i >= 0; i-- {
		if m.open[i].e == e {
			if n := i + 1; n < len(m.open) {
				m.closeTo(n)
				m.setOpenHandle()
			}
			return true
		}
	}
	return false
}

// closeEntry completes the struct or container of entry e, if it has a frame, and all nested in
// it.
func (m *Message) closeEntry(e uint32) {
	if m.closeNested(e) {
		m.closeTo(len(m.open) - 1)
		m.setOpenHandle()
	}
}

// closeAll completes all frames.
func (m *Message) closeAll() {
	m.closeTo(0)
	m.openHandle = 0
}

// closeTo completes all frames but the outermost n. The caller must set openHandle. If positions
// run out it panics: frames that are complete then are gone, and no bytes were added twice.
func (m *Message) closeTo(n int) {
	m.mapFill.handle, m.openHandle = 0, 0
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
			case len(t.Struct().Owed()) == 0 && m.buf.Fits(0):
				m.setEnd(e, m.buf.AppendFitting(byte(wire.Stop)))
			default:
				m.open = m.open[:top+1]
				m.appendAllOwed(t.Struct(), e)
				m.setEnd(e, m.buf.AppendByte(byte(wire.Stop)))
			}
		}
		m.open = m.open[:n]
		m.buf.EndChange()
	}
	if n == 0 {
		m.buf.Close()
	}
}

// closeContainer completes the list or map of frame number top; frames nested in it are
// complete.
func (m *Message) closeContainer(top int) {
	f := &m.open[top]
	t, e, reopened := f.typ, f.e, f.reopened
	if n := m.ix.Words[e+listCount]; f.next != n {
		m.open = m.open[:top+1]
		m.appendZeroElements(e, n)
	}
	if !reopened {
		m.setEnd(e, m.buf.Tail())
	}
	if t.Elem().Kind() == schema.Record {
		m.ix.Words[e+listRoom] &^= roomBuilding
	}
}

// appendAllOwed appends to the struct of entry e, which is the innermost frame, all fields that
// it must have and that nobody set.
func (m *Message) appendAllOwed(d *schema.Struct, e uint32) {
	for _, owed := range d.Owed() {
		// One that was removed has a node
		if m.ix.At(e, owed.Ref()) == 0 && m.fieldNode(e, owed.Ref()) == 0 {
			m.appendOwed(e, owed)
		}
	}
}

// appendOwed appends field f with its default to the struct of entry e, the innermost frame.
func (m *Message) appendOwed(e uint32, f *schema.Field) {
	m.ownSeldom()
	m.scratch = f.AppendDefault(m.scratch[:0])
	p, b := m.buf.Extend(wire.FieldHeader + len(m.scratch))
	wire.PutHeader(b, f.Header())
	copy(b[wire.FieldHeader:], m.scratch)
	word := m.indexAt(f.Type, p+wire.FieldHeader)
	m.ix.Put(e, f.Ref(), word)
	m.noteFilled(e, f)
}

// Child returns the struct, list, set or map in field f. If the message was parsed with Lazy and
// the field has no entry yet, Child makes one. If the field is not set, Child returns the IDL
// default or an empty value; neither can be changed. d describes the struct s.
func (s Struct) Child(f schema.Ref, d *schema.Struct) Struct {
	if s.m == nil {
		return absentOf(d.FieldOf(f))
	}
	s.alive()
	if word := s.m.ix.At(s.entry(), f); int32(word) > 0 {
		return Struct{s.m, s.k&^0xffffffff | uint64(word)}
	}
	return s.lateChild(f, d)
}

// lateChild returns the struct or container in field f, which is not set or has no entry yet: its
// entry is made, or it is the IDL default or an empty value.
func (s Struct) lateChild(f schema.Ref, d *schema.Struct) Struct {
	word := s.m.ix.At(s.entry(), f)
	if word == 0 {
		return absentOf(d.FieldOf(f))
	}
	word = s.m.indexLazily(d.FieldOf(f), s.entry())
	return Struct{s.m, s.k&^0xffffffff | uint64(word)}
}

// NewChild sets field f to an empty struct or container and returns it to be filled. For a list or
// set, n is the number of elements, which are zero values at first. For a map, n is the number of
// pairs to make room for. d describes the struct s.
func (s Struct) NewChild(f schema.Ref, d *schema.Struct, n int) Struct {
	if s.m == nil {
		panic(setterOfZero())
	}
	m, e := s.m, uint32(s.k)
	t := d.FieldOf(f).Type
	if n != 0 {
		checkCount(t, n)
	}
	if s.k != m.openHandle || m.ix.At(e, f) != 0 {
		s.placeChild(f, newSize(t, n))
	}
	var word uint32
	switch t.Kind() {
	case schema.Record:
		word = m.beginRecord(t.Struct(), f.Header())
	case schema.Dict:
		word = m.beginContainer(t, max(n, minPairRoom), f.Header())
	default:
		word = m.beginContainer(t, n, f.Header())
	}
	m.ix.Put(e, f, word)
	c := m.handle(word)
	if n > 0 {
		c.clearFixed()
	}
	if d.IsUnion() {
		s.Arm(f, d)
	}
	return c
}

// minPairRoom is the least number of pairs that a map in a field gets room for.
const minPairRoom = 4

// clearFixed makes the elements of the innermost frame zero if it is a list of fixed-size
// elements. s must be the handle of that frame.
func (s Struct) clearFixed() {
	if len(s.m.open) == 0 {
		return
	}
	if f := &s.m.open[len(s.m.open)-1]; f.typ.Kind() == schema.List && f.typ.Elem().Kind() == schema.Fixed {
		clear(s.FixedBytes(int(f.typ.Elem().Size())))
	}
}

// newFullList sets field f to a list of n elements without a frame: the caller appends all of
// them at once, and then calls endFullList. It returns the list's entry, which has the given
// number of words for slots, and as many bytes after the list's header as asked for.
func (s Struct) newFullList(f schema.Ref, d *schema.Struct, n, slots, bytes int) (uint32, []byte) {
	if s.m == nil {
		panic(setterOfZero())
	}
	m, e := s.m, uint32(s.k)
	t := d.FieldOf(f).Type
	checkCount(t, n)
	if s.k != m.openHandle || m.ix.At(e, f) != 0 {
		s.placeChild(f, bytes)
	}
	const head = wire.FieldHeader + wire.ListHeader
	c := m.ix.AllocFor(t, listWords+slots)
	p, b := m.buf.Extend(head + bytes)
	binary.BigEndian.PutUint64(b, containerHeader(f.Header(), t.Elem().Wire(), uint32(n)))
	w := (*[listWords]uint32)(m.ix.Words[c:])
	w[listStart] = p + head
	w[listCount], w[listElems], w[listRoom], w[listType] = uint32(n), c+listWords, uint32(n), t.ID()
	m.ix.Put(e, f, c)
	if d.IsUnion() {
		s.Arm(f, d)
	}
	return c, b[head:]
}

// endFullList completes the list of entry e, which newFullList began and which ends at the
// tail.
func (m *Message) endFullList(e uint32) {
	m.ix.Words[e+listEnd] = m.buf.Tail()
	if len(m.open) == 0 {
		m.buf.Close()
	}
}

// placeChild prepares for a new value of field f, of n bytes: the bytes that are appended next,
// field header first, are the field. It opens the struct if the field was never set, else a node
// that replaces the field.
func (s Struct) placeChild(f schema.Ref, n int) {
	s.changeableBy(n)
	m, e := s.m, uint32(s.k)
	if m.ix.At(e, f) == 0 && m.fieldNode(e, f) == 0 {
		m.openStruct(e)
		return
	}
	node := m.replaceField(e, f)
	m.closeAll()
	m.startChange()
	m.buf.SetEmpty(node)
	m.buf.OpenContent(node)
	m.buf.EndChange()
}

// newSize returns how many bytes are appended at once for a new value of type t with n elements.
func newSize(t *schema.Type, n int) int {
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

// beginValue appends the beginning of a struct or container of type t and pushes a frame for it. A
// field header comes first unless header is 0. n is the number of elements of a list or set, which
// are zero values at first, or the number of pairs that a map gets room for. It returns the
// value's entry, which is new: handles of an earlier value go on reading that.
func (m *Message) beginValue(t *schema.Type, n int, header uint32) uint32 {
	if t.Kind() != schema.Record {
		return m.beginContainer(t, n, header)
	}
	return m.beginRecord(t.Struct(), header)
}

// beginRecord appends the beginning of a struct, after a field header unless header is 0, pushes a
// frame for it and returns its entry.
func (m *Message) beginRecord(d *schema.Struct, header uint32) uint32 {
	lead := leadOf(header)
	e := m.ix.AllocFor(d.Type(), d.Words())
	p := m.buf.AppendWithHead(uint64(header)<<40, lead, d.Template())
	m.startStruct(d, e, p+uint32(lead))
	return e
}

// beginContainer appends the header of a list, set or map, after a field header unless header is
// 0, pushes a frame for it and returns its entry. n is the number of elements of a list or set, or
// the number of pairs that a map gets room for.
func (m *Message) beginContainer(t *schema.Type, n int, header uint32) uint32 {
	lead := leadOf(header)
	e := m.ix.AllocFor(t, listWords+slotWords(t, n))
	w := (*[listWords]uint32)(m.ix.Words[e:])
	count, room := uint32(n), uint32(n)
	var p, next uint32
	switch {
	case t.Kind() == schema.Dict:
		p, count = m.buf.AppendWithHead(containerHeader(header, t.Key().Wire(), uint32(t.Elem().Wire())<<24), lead+wire.MapHeader-1, "\x00"), 0
	case t.Elem().Kind() == schema.Fixed:
		var b []byte
		p, b = m.buf.Extend(lead + wire.ListHeader + n*int(t.Elem().Size()))
		putLead(b, header)
		b[lead] = byte(t.Elem().Wire())
		wire.PutBE32(b[lead+1:], count)
		next = count
	default:
		p = m.buf.AppendWithHead(containerHeader(header, t.Elem().Wire(), count), lead+wire.ListHeader, "")
		if t.Elem().Kind() == schema.Record {
			room = uint32(t.Elem().Struct().Words()) | roomBuilding
		}
	}
	w[listStart] = p + uint32(lead) + t.HeaderSize()
	w[listCount], w[listElems], w[listRoom], w[listType] = count, e+listWords, room, t.ID()
	m.push(t, e, next).lead = uint8(lead)
	m.openHandle = 0
	return e
}

// slotWords returns how many words the slots of n elements or pairs of the type take.
func slotWords(t *schema.Type, n int) int {
	words := int64(n) * int64(t.ElemWords())
	if uint64(words) > index.MaxWords {
		t.Elem().MustBeDefined()
		panicCount(n)
	}
	return int(words)
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
