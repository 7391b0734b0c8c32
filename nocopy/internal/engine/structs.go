package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file gives handles of structs and containers in fields and in lists: those that are there,
// new ones, and copies of others. Walker is how package render reads entries.

// StructAt returns a handle of the place of element i of a list of structs; see StructList of
// package nocopy.
func (s Struct) StructAt(i int) Struct {
	if s.m == nil {
		s.checkIndex(i)
	}
	m, e := s.m, uint32(s.k)
	if n := len(m.open); n >= 2 {
		// An element of this list is the innermost frame, and element i is next: one comparison
		list := &m.open[n-2]
		if uint32((s.k^m.openHandle)>>32)|(list.e^e)|(list.next^uint32(i)) == 0 && uint(i) < uint(list.end) && m.buf.Fits(memory.MaxShort) {
			return m.nextElement(list, &m.open[n-1])
		}
	}
	if s.k>>32 != m.gen {
		panic(staleUse(s))
	}
	l := m.ix.List(e)
	if uint(i) >= uint(l.Count()) {
		panic(IndexError{i, int(l.Count())})
	}
	if room := l.Room(); room.Simple() {
		return Struct{m, s.k&^0xffffffff | uint64(l.Slots()+uint32(i)*uint32(room))}
	}
	return s.placeAt(i)
}

// First returns the handle of the first element of a list of structs that is not empty, and how
// far apart their handles are: 0 if StructAt has to find each of them.
func (s Struct) First() (Struct, uint32) {
	l := s.m.ix.List(uint32(s.k))
	if !l.Room().Simple() {
		return Struct{}, 0
	}
	return Struct{s.m, s.k&^0xffffffff | uint64(l.Slots())}, l.Room().Len()
}

// Next returns the handle of the element after s, at the distance that First has returned.
func (s Struct) Next(stride uint32) Struct { return Struct{s.m, s.k + uint64(stride)} }

// FillByIndex indexes the elements of a list whose message is read by its own index.
func (s Struct) FillByIndex() { s.m.fillByIndex(s.entry()) }

// HandleOf returns the handle of a struct or container for which word stands.
func HandleOf[S View](m *Message, word index.Word) S { return S(m.handle(word.Entry())) }

// AppendView adds a copy of v at the end of a list of structs or containers.
func (s Struct) AppendView(v Struct) {
	s.Changeable()
	src := s.source(v, s.typ().Elem())
	s.m.setSource(s.end(), src)
}

// AppendNewView adds an empty struct or container at the end of a list, and returns it to be
// filled. n is the number of elements of a list or set, or of pairs that a map gets room for.
func (s Struct) AppendNewView(n int) Struct {
	s.Changeable()
	s.room(sizeOf(s.typ().Elem(), n))
	return s.m.beginAt(s.end(), n)
}

// placeAt returns a handle of the place of element i of a list that is being built or was added
// to. An element that comes next is begun.
func (s Struct) placeAt(i int) Struct {
	m, e := s.m, s.entry()
	k := m.frameNumber(e)
	if k < 0 || m.open[k].next != uint32(i) {
		return s.placeApart(i)
	}
	if k+1 < len(m.open) { // the element before is not complete
		if uint(i) < uint(m.open[k].end) {
			m.closeTo(k + 2)
			if m.openHandle != 0 && m.buf.Fits(memory.MaxShort) {
				return m.nextElement(&m.open[k], &m.open[k+1])
			}
		}
		m.closeTo(k + 1)
		if m.buf.Crowded() && !m.buf.RoomToChange(0) {
			panic(panicFull)
		}
	}
	d := m.open[k].typ.Elem().Struct()
	m.beginStruct(d, m.ix.List(e).Slots()+uint32(i)*uint32(d.Words())) // elements to come: no table
	m.open[k].next++
	return Struct{m, m.openHandle}
}

// placeApart is placeAt for an element that does not come next.
func (s Struct) placeApart(i int) Struct {
	m, e := s.m, s.entry()
	if m.ix.List(e).Room().IsBuilding() && m.appendsAt(e, uint32(i)) {
		m.beginStruct(s.typ().Elem().Struct(), m.structEntry(e, uint32(i)))
	}
	return m.handle(m.structEntry(e, uint32(i)))
}

// nextElement begins the next element of the list whose frame is list, and returns it. It appends
// the STOP of the element before and the template of the next in one go. elem is the frame of the
// element before: the innermost frame, to which fields are simply appended. There are elements to
// begin before list.end, and MaxShort bytes Fit.
func (m *Message) nextElement(list, elem *frame) Struct {
	d := elem.typ.Struct()
	p := m.buf.Tail()
	e := elem.e
	m.ix.SetEnd(e, index.Word(p))
	e += uint32(d.Words())
	m.ix.PutNearTemplate(d, e, p+1)
	if debugging {
		m.noteTemplate(d, e)
	}
	elem.e = e
	list.next++
	key := m.openHandle + uint64(d.Words())
	m.openHandle = key
	if template := d.Template(); template == "" {
		m.buf.AppendFitting(byte(wire.Stop))
	} else {
		m.buf.AppendShort(uint64(wire.Stop)<<56, 1, template)
	}
	return Struct{m, key}
}

// Root returns the handle of the message's root, for conversion to its type.
func (m *Message) Root() Struct {
	m.mustBeFilled()
	if m.own != nil && m.own != m {
		panic(panicCopied)
	}
	return Struct(m.handle(m.root))
}

// Shown returns the root for texts and logs: the zero handle if the message is empty or nil.
func (m *Message) Shown() Struct {
	if m == nil || m.ix.Used == 0 {
		return Struct{}
	}
	return m.Root()
}

// SetViewAt makes element i, a struct or container, a copy of v.
func (s Struct) SetViewAt(i int, v Struct) {
	s.Changeable()
	s.checkIndex(i)
	src := s.source(v, s.typ().Elem())
	s.m.setSource(s.element(i), src)
}

// NewViewAt makes element i an empty container and returns it to be filled. n is the number of
// elements of a list or set, or of pairs that a map gets room for.
func (s Struct) NewViewAt(i, n int) Struct {
	s.Changeable()
	s.checkIndex(i)
	s.room(sizeOf(s.typ().Elem(), n))
	return s.m.beginAt(s.element(i), n)
}

// element returns the place of element i of a list whose elements have no fixed size. It appends
// zero values for all elements before it that are not on the wire yet. An old value is no longer
// in the message.
func (s Struct) element(i int) place {
	m, e, q := s.m, s.entry(), place{t: s.typ().Elem(), at: s.elemSlot(i)}
	if q.t.Kind() == schema.Record {
		q.elem = m.structEntry(e, uint32(i))
	}
	if m.appendsAt(e, uint32(i)) {
		return q
	}
	m.elementChanges(e, uint32(i))
	old := m.ix.Word(q.at)
	if q.elem != 0 {
		old = m.leaveEntry(q)
	}
	q.node = m.replaceElement(q.t, old)
	return q
}

// leaveEntry moves the old value of q, a struct, to an entry of its own. The new value gets its
// former entry, which is among those of the list. leaveEntry returns the word of the old value.
func (m *Message) leaveEntry(q place) index.Word {
	m.closeEntry(q.elem) // the fields that it owes may move its table
	n := uint32(q.t.Struct().Words())
	x := m.ix.AllocFor(q.t, int(n))
	m.ix.MoveWords(x, q.elem, n)
	m.ix.ClearWords(q.elem, n)
	return index.Word(x)
}

// ContainerAt returns element i, an empty container if it has not been set yet.
func (s Struct) ContainerAt(i int) Struct {
	slot := s.elemSlot(i)
	word := s.m.ix.Word(slot)
	if word == 0 { // not on the wire yet
		return Absent()
	}
	return Struct{s.m, s.k&^0xffffffff | uint64(word)}
}

// RootDesc returns the descriptor of s, if it is the root of a message; else nil. It panics if the
// message was released.
func (s Struct) RootDesc() *schema.Struct {
	if s.m == nil || s.m.absent {
		return nil
	}
	if s.alive(); s.k != s.m.handle(s.m.root).k {
		return nil
	}
	return s.m.desc
}

// UnknownText returns the text for a struct for which RootDesc returns nil.
func (s Struct) UnknownText() string {
	switch {
	case s.m == nil:
		return ZeroText
	case s.m.absent:
		return "{}"
	case s.m.desc != nil:
		return "<struct in " + s.m.desc.Name() + ">"
	}
	return "<struct>"
}

// CheckDesc panics if d can't describe s.
func (s Struct) CheckDesc(d *schema.Struct) {
	switch {
	case s.m == nil:
		return
	case d == nil:
		panic("nocopy: nil instead of a descriptor")
	}
	if own := s.m.desc; own != nil && own != d && s.k == s.m.handle(s.m.root).k && !schema.SameLayout(own, d) {
		panic("nocopy: descriptor of " + d.GoName() + " for a handle of " + own.GoName() + schema.Apart(own.Type(), d.Type()))
	}
}

// SetChild sets field f to a copy of v. It links v's bytes if they are many. Later changes of
// either message do not show in the other. An absent v, or the zero handle, sets an empty value.
// In a union f becomes the only field that is set. d describes s.
func (s Struct) SetChild(f schema.Ref, d *schema.Struct, v Struct) {
	s.Changeable()
	t := d.FieldOf(f).Type
	src := s.source(v, t)
	s.m.setSource(s.field(f, t), src)
	if d.IsUnion() {
		s.Arm(f, d)
	}
}

// Reset sets a required field, which can't be removed, to its IDL default, or to zero. d describes
// the struct s.
func (s Struct) Reset(f schema.Ref, d *schema.Struct) {
	fd := d.FieldOf(f)
	value := fd.AppendDefault(nil)
	s.room(len(value))
	s.m.setSource(s.field(f, fd.Type), source{n: len(value), data: value})
	s.m.noteFilled(uint32(s.k), fd)
}

// Child returns the struct, list, set or map in field f. If the message was parsed with Lazy and
// the field has no entry yet, Child makes one. If the field is not set, Child returns the IDL
// default or an empty value; neither can be changed. d describes the struct s.
func (s Struct) Child(f schema.Ref, d *schema.Struct) Struct {
	if s.m == nil {
		return absentOf(d.FieldOf(f))
	}
	s.alive()
	word := s.m.ix.At(s.entry(), f)
	if !word.HasEntry() {
		if word == 0 {
			return absentOf(d.FieldOf(f))
		}
		word = index.Word(s.m.indexLazily(d.FieldOf(f), s.entry()))
	}
	return Struct{s.m, s.k&^0xffffffff | uint64(word)}
}

// NewChild sets field f to an empty struct or container and returns it to be filled. For a list or
// set, n is the number of elements, which are zero values at first. For a map, n is the number of
// pairs to make room for. d describes the struct s.
func (s Struct) NewChild(f schema.Ref, d *schema.Struct, n int) Struct {
	if s.m == nil {
		panic(setterOfZero())
	}
	t := d.FieldOf(f).Type
	m, e := s.m, uint32(s.k)
	if s.k != m.openHandle && s.k>>32 == m.gen && !m.needsBeforeChange {
		m.closeNested(e) // which is all that it takes to append to an open struct
	}
	if s.k != m.openHandle || m.ix.At(e, f) != 0 {
		s.openField(f, sizeOf(t, n))
	} else if n != 0 {
		checkCount(t, n)
	}
	var x uint32
	if t.Kind() == schema.Record {
		x = m.beginRecord(t.Struct(), f, 0)
	} else {
		x = m.beginContainer(t, n, f)
	}
	m.ix.Put(e, f, index.Word(x))
	if d.IsUnion() {
		s.Arm(f, d)
	}
	return m.handle(x)
}

// Release releases the message. s must be its root. Release does nothing if s is absent, or if the
// message is already released. With the build tag nocopydebug a second Release panics.
func (s Struct) Release() {
	switch {
	case s.m == nil:
	case s.released():
		if !debugging || s.m.flags&OfCall == 0 { // one of a call ends with its call
			releasedTwice()
		}
	case s.m.absent || s.gone():
	case uint32(s.k) != s.m.root:
		panic(panicNotRoot)
	default:
		s.m.Release()
	}
}

// describes is the method set of handles of generated types.
type describes interface{ ThriftDesc() *schema.Struct }

// CheckDesc panics unless d is the descriptor of S. Of a type that was not generated, such as
// Struct, it may be any.
func CheckDesc[S View](d *schema.Struct) {
	if d == nil {
		panic("nocopy: nil instead of a descriptor")
	}
	// Asking a nil pointer takes no memory; the answer is kept.
	handle := any((*S)(nil))
	if seen := d.HandleType.Load(); seen != nil && *seen == handle {
		return
	}
	switch handle.(type) {
	case describes:
		var s S
		if own := any(s).(describes).ThriftDesc(); own != d && !schema.SameLayout(own, d) {
			panic("nocopy: descriptor of " + d.GoName() + " for a handle of " + own.GoName() + schema.Apart(d.Type(), own.Type()))
		}
		seen := handle
		d.HandleType.Store(&seen)
	case interface{ Len() int }:
		panic("nocopy: descriptor of " + d.GoName() + " for a handle of a list or map")
	}
}

// Walker is a Message as packages render and nocopyjson go through it: by the words of its index.
// The word of a struct or container is its entry; 0 stands for an absent one.
type Walker Message

// Word is a word of the index.
type Word = index.Word

// WalkerOf returns the message of s and the word of s. It panics if the message was released.
func WalkerOf(s Struct) (*Walker, uint32) {
	if s.m == nil {
		s = Absent()
	}
	s.alive()
	return (*Walker)(s.m), s.entry()
}

// Message returns the message.
func (w *Walker) Message() *Message { return (*Message)(w) }

// Handle returns the handle of a struct or container.
func (w *Walker) Handle(e uint32) Struct { return w.Message().handle(e) }

// Next returns the number of the first field from number i on that may be set.
func (w *Walker) Next(d *schema.Struct, e uint32, i int) int {
	if !d.IsWide() {
		return i
	}
	return (*Message)(w).ix.NextWide(d, e, i)
}

// Arm returns the number of the field that is set of a union; 0 if none is.
func (w *Walker) Arm(e uint32) uint32 { return w.Message().ix.ArmField(e) }

// Word returns the word of a field as the index has it: it may be a struct or container without an
// entry.
func (w *Walker) Word(e uint32, f schema.Ref) index.Word {
	if int32(f) < 0 { // as in at: written so, it is inlined
		return w.wideWord(e, f)
	}
	return index.Word(w.ix.Words[e+uint32(f>>entry.NumberShift)+entry.Displacement]) // to be inlined
}

// wideWord returns the word of a field of a wide struct. It is not inlined, so that Word is.
//
//go:noinline
func (w *Walker) wideWord(e uint32, f schema.Ref) index.Word {
	return w.ix.TableAt(w.ix.Table(e), f)
}

// Field returns the word of a field, having indexed it.
func (w *Walker) Field(e uint32, f *schema.Field) index.Word {
	word := w.Word(e, f.Ref())
	if f.Kind() >= schema.Record && word.IsLazy() {
		word = index.Word(w.Message().indexLazily(f, e))
	}
	return word
}

// Fixed returns the bytes from a value of fixed size on. The caller knows how many are the value.
func (w *Walker) Fixed(word index.Word) []byte { return w.Message().fixedValue(word) }

// Text returns the bytes of a string or binary. They are good until the next change.
func (w *Walker) Text(word index.Word) []byte {
	if s, ok := w.buf.FlatText(uint32(word)); ok {
		return memory.StringBytes(s)
	}
	if word == 0 { // not on the wire yet
		return nil
	}
	return w.Message().textBytes(word)
}

// Wire returns the wire bytes of a struct or container. They are good until the next change.
func (w *Walker) Wire(e uint32, t *schema.Type) []byte { return w.Message().wire(e, t) }

// Len returns the number of elements of a list or set, or of pairs of a map, with those that were
// removed.
func (w *Walker) Len(e uint32) uint32 {
	if e == 0 {
		return 0
	}
	return w.ix.List(e).Count()
}

// Element returns the word of element i of a list or set of type t.
func (w *Walker) Element(t *schema.Type, e, i uint32) index.Word {
	_, word := w.Message().keyAt(e, t, i)
	return word
}

// FixedElement returns the bytes from element i of a list or set on. Each element has size bytes.
func (w *Walker) FixedElement(e, i, size uint32) []byte {
	return w.buf.At(w.ix.List(e).Start() + i*size)
}

// TextElement returns the word of element i of a list or set of strings or binaries.
func (w *Walker) TextElement(e, i uint32) index.Word { return w.ix.List(e).Word(i) }
