package engine

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/keytable"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file has what all lists, sets and maps share: their slots and counts, how an element or key
// is found, the codecs of keys and values, and the getters of lists of texts.

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
	return s.m.ix.List(uint32(s.k)).Slot(uint32(i))
}

// openList makes the list or map of entry e the innermost frame, ready to append after its last
// element.
func (m *Message) openList(e uint32) {
	if !m.closeNested(e) {
		m.closeAll()
		t := m.ix.List(e).Type()
		if m.edit(e).tailNode == 0 {
			tail := m.buf.AddGrow(m.edit(e).end, m.ix.List(e).Start()-t.HeaderSize())
			m.edit(e).tailNode = tail
		}
		m.buf.OpenContent(m.edit(e).tailNode)
		m.push(t, e, m.ix.List(e).Count()).reopened = true
		m.openHandle = 0
	}
	m.appendZeroElements(e, m.ix.List(e).Count())
}

// frameOf returns the frame of the list or map of entry e, nil if it is complete.
func (m *Message) frameOf(e uint32) *frame {
	if i := m.frameNumber(e); i >= 0 {
		return &m.open[i]
	}
	return nil
}

// appendSlot adds an element or pair to the count of the list or map. The caller appends its bytes
// next. It returns the slot; the caller sets the words. The slots of a list of structs are numbers
// of entries then.
func (m *Message) appendSlot(e uint32) uint32 {
	m.openList(e)
	t := m.open[len(m.open)-1].typ
	per := t.ElemWords()
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record {
		m.makeTable(e, t)
		per = 1
	}
	count := m.ix.List(e).Count()
	if count == maxCount {
		panic("nocopy: too many elements")
	}
	m.startChange()
	if count == m.ix.List(e).Room().Len() {
		m.growSlots(e, count, per)
	}
	if count == 0 {
		m.storeTypes(e, t)
	}
	m.ix.List(e).SetCount(count + 1)
	m.open[len(m.open)-1].next = count + 1
	m.storeCount(e)
	m.buf.EndChange()
	return m.ix.List(e).Slots() + count*uint32(per)
}

// growSlots makes room for more slots than the count that there are; each has per words.
func (m *Message) growSlots(e, count uint32, per int) {
	if gap := m.editOf(e).gap; gap > count {
		m.moveSlots(e, gap, count)
		return
	}
	l := m.ix.List(e)
	had := l.Room().Len()
	room := index.RoundUp(max(2*had, count+1, 4)) // few sizes: freed words are used again
	if uint64(room)*uint64(per) > index.MaxWords {
		m.buf.EndChange()
		panicCount(int(count + 1))
	}
	elems := m.ix.AllocRaw(int(room) * per)
	old := l.Slots()
	m.ix.MoveWords(elems, old, count*uint32(per))
	if m.ix.Reuses {
		m.leaveSlots(e, old, had, uint32(per))
	}
	l.SetSlots(elems, l.Room().WithLen(room))
	if w := m.ix.EndOf(e); w.IsEdit() {
		m.edits[w.Edit()].gap = 0
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
	l := m.ix.List(e)
	if l.Room().HasTable() {
		return
	}
	n, first, stride := l.Count(), l.Slots(), uint32(t.Elem().Struct().Words())
	if m.ix.Reuses && n > 0 && m.slotsFollow(e) {
		m.ix.SetBlockRoom(e, listWords+n*stride)
	}
	size := index.RoundUp(2*n + 2)
	table := m.ix.AllocRaw(int(size))
	for k := range n {
		m.ix.SetEntryWord(table, k, index.Word(first+k*stride))
	}
	l.SetSlots(table, l.Room().Table(size))
}

// storeCount stores the count of the list or map of entry e on the wire.
func (m *Message) storeCount(e uint32) {
	if m.ix.List(e).End() == 0 { // never complete before
		wire.PutBE32(m.buf.At(m.ix.List(e).Start()-4), m.ix.List(e).Count())
		return
	}
	ed := m.editOf(e)
	n := m.ix.List(e).Count() - ed.dead
	at := m.ix.List(e).Start() - 4
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
	at := m.ix.List(e).Start() - t.HeaderSize()
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
func (m *Message) replaceElement(t *schema.Type, word index.Word) chain.NodeID {
	if t.Kind() >= schema.Record {
		m.closeEntry(word.Entry())
		m.noteDead(t, word)
	}
	if own := m.takeNode(t, word); own != 0 {
		return own
	}
	return m.buf.AddReplace(m.valuePlace(t.Wire(), word))
}

// takeNode returns the node that holds all of the element or value that a word stands for, 0 if
// there is none. Handles of the value no longer change what the node sends.
func (m *Message) takeNode(t *schema.Type, word index.Word) chain.NodeID {
	switch {
	case t.Kind() >= schema.Record:
		if w := m.ix.EndOf(word.Entry()); w.IsEdit() {
			ed := &m.edits[w.Edit()]
			own := ed.valueNode
			ed.valueNode, ed.spare = 0, 0
			return own
		}
	case word.IsNode():
		if at, end := m.buf.NodePlace(word.Node()); at != end {
			return word.Node()
		}
	}
	return 0
}

// BytesAt returns the bytes of element i, which alias the message.
func (s Struct) BytesAt(i int) []byte {
	slot := s.elemSlot(i)
	return s.m.LentBytes(s.m.ix.Word(slot))
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
	return place{t: s.typ().Elem(), at: s.m.appendSlot(s.entry())}
}

// TextAt returns element i of a list of strings.
func (s Struct) TextAt(i int) string {
	slot := s.elemSlot(i)
	word := s.m.ix.Word(slot)
	if text, ok := s.m.buf.FlatText(uint32(word)); ok {
		return text
	}
	return s.m.lendText(word)
}

// TextOf returns element i of a list of strings. The caller has checked that there is one.
func (s Struct) TextOf(i int) string {
	// As they are, to be inlined
	return s.m.TextString(index.Word(s.m.ix.Words[s.m.ix.Words[uint32(s.k)+entry.ListElems]+uint32(i)]))
}

// Package keytable finds keys of maps and elements of sets and lists. It is told what they are,
// and which change when a struct or container is changed.

func (k *owner) Key(e uint32, t *schema.Type, i uint32) []byte {
	return (*Message)(k).keyBytes(e, t, i)
}

func (k *owner) TextPairs(e, n uint32) ([]uint32, []byte) {
	l := k.ix.List(e)
	if p := l.Pair(0).Key(); p != 0 && !p.IsNode() {
		return l.PairWords(n), k.buf.At(uint32(p))
	}
	return nil, nil
}

func (k *owner) Made(ofViews bool) {
	k.ix.More = true
	if ofViews { // from now on every change must call beforeChange
		k.needsBeforeChange = true
		k.buf.StoreSlowly()
	}
}

func (k *owner) View(e uint32, t *schema.Type, i uint32) {
	m := (*Message)(k)
	if m.keys.KnowsOwners() {
		xt, x := m.keyAt(e, t, i)
		m.register(xt, x.Entry(), keytable.Element{In: e, Number: i})
	}
}

// keyAt returns the type of key i of a map, or of element i of a list, and the word that stands
// for it. The word is 0 if a pair was deleted, or a text is not on the wire yet.
func (m *Message) keyAt(e uint32, t *schema.Type, i uint32) (*schema.Type, index.Word) {
	switch {
	case t.Kind() == schema.Dict:
		return t.Key(), m.ix.List(e).Pair(i).Key()
	case t.Elem().Kind() == schema.Fixed:
		return t.Elem(), index.Word(m.ix.List(e).Start() + i*uint32(t.Elem().Size()))
	}
	return t.Elem(), m.elementWord(e, t.Elem(), i)
}

// keyBytes returns the bytes by which key i of a map, or element i of a set, is compared; nil
// if it was deleted, or is absent since it is not valid, as in a message parsed with ByIndex.
func (m *Message) keyBytes(e uint32, t *schema.Type, i uint32) []byte {
	kt, word := m.keyAt(e, t, i)
	switch {
	case word == 0 && t.Kind() == schema.List && kt.Kind() == schema.Text:
		return []byte{}
	case word == 0:
		return nil
	case kt.Kind() == schema.Fixed:
		return sameKey(m.buf.At(uint32(word)), kt)
	case kt.Kind() == schema.Text:
		return m.textBytes(word)
	case !m.ix.HasValue(word.Entry()):
		return nil
	}
	return m.wire(word.Entry(), kt)
}

// sameKey returns the bytes by which a value of fixed size is compared. Every true bool has the
// same.
func sameKey(b []byte, t *schema.Type) []byte {
	if t.Wire() == wire.Bool && b[0] > 1 {
		return trueByte
	}
	return b[:t.Size()]
}

var trueByte = []byte{1}

// lookup returns the number of the last pair or element of entry e with the key, −1 if there is
// none.
func (m *Message) lookup(e uint32, t *schema.Type, key []byte) int {
	n := m.ix.List(e).Count()
	if f := m.frameOf(e); f != nil && f.staged {
		m.appendZeroElements(e, n)
	} else if f != nil && f.next < n { // the elements from next on are zero
		if bytes.Equal(key, zeroElement(t.Elem())) {
			return int(n) - 1
		}
		n = f.next
	}
	if n <= keytable.Linear {
		for i := int(n) - 1; i >= 0; i-- {
			if have := m.keyBytes(e, t, uint32(i)); have != nil && bytes.Equal(have, key) {
				return i
			}
		}
		return -1
	}
	return m.keys.Find((*owner)(m), e, t, n, key)
}

// zeroElement returns the bytes by which an element that has not been set is compared.
func zeroElement(t *schema.Type) []byte {
	if t.Kind() == schema.Text {
		return nil
	}
	return schema.AppendZero(nil, t)
}

// repeated returns how many pairs of a map have the key of a later one.
func (m *Message) repeated(e uint32, t *schema.Type) int {
	return m.keys.Repeated((*owner)(m), e, t, m.ix.List(e).Count())
}

// isRepeated reports whether a later pair has the key of pair i, which was not deleted.
func (m *Message) isRepeated(e uint32, t *schema.Type, i uint32) bool {
	return m.lookup(e, t, m.keyBytes(e, t, i)) != int(i)
}

// elementChanges takes pair or element i, which is about to change, out of the table of entry
// e, if there is one. The next lookup adds it again.
func (m *Message) elementChanges(e, i uint32) { m.keys.Change((*owner)(m), e, i) }

// register notes that the struct or container of entry e, and all in it, belong to the element x.
// Elements and keys in a table of a nested list or map are elements of their own. Entry 0 stands
// for an element that is not on the wire yet.
func (m *Message) register(t *schema.Type, e uint32, x keytable.Element) {
	if e == 0 {
		return
	}
	m.keys.Own(e, x)
	for p := range m.parts(t, e) {
		if p.word.IsLazy() { // else a getter would make its entry, and not register it
			p.word = index.Word(m.indexLazily(p.f, e))
		}
		if !(p.key || t.Kind() == schema.List) || !m.keys.Has(e, p.i) {
			m.register(p.t, p.word.Entry(), x)
		}
	}
}

// closeElements completes all frames nested in the list or map of entry e, or all frames if it is
// complete. Its elements or keys can then be compared as bytes. In a finished message there is
// nothing to complete.
func (m *Message) closeElements(e uint32) {
	if !m.buf.Sealed() && !m.closeNested(e) {
		m.closeAll()
	}
}

// ContainsKey reports whether an element has the bytes v.
func (s Struct) ContainsKey(v []byte) bool {
	if s.ListLen() == 0 {
		return false
	}
	return s.m.lookup(s.entry(), s.typ(), v) >= 0
}

// ContainsText reports whether a list of strings has an element v.
func (s Struct) ContainsText(v string) bool { return s.ContainsKey(memory.StringBytes(v)) }

// The codecs of keys and values of maps follow. Those of values of fixed size are in basetypes.go.

// Codecs of values without a fixed size, one for each Go type.
type (
	// AsString is the codec of strings.
	AsString struct{}
	// AsBytes is the codec of binaries.
	AsBytes struct{}
	// AsView is the codec of structs and containers.
	AsView[S View] struct{}
)

func (AsString) get(m *Message, w index.Word) string { return m.TextString(w) }

func (AsBytes) get(m *Message, w index.Word) []byte { m.buf.Lend(); return m.textBytes(w) }

func (AsView[S]) get(m *Message, w index.Word) S { return S(m.handle(w.Entry())) }

func (AsString) encode(v string) encoded { return encoded{text: memory.StringBytes(v)} }

func (AsBytes) encode(v []byte) encoded { return encoded{text: v} }

func (AsView[S]) encode(v S) encoded { return encoded{view: Struct(v).orAbsent()} }

// Codec encodes and decodes keys or values of Go type T in a map. The As…
// types implement it.
type Codec[T any] interface {
	// get returns the value that an index word stands for.
	get(m *Message, word index.Word) T
	// encode returns the wire bytes of v.
	encode(v T) encoded
}

// encoded is the wire bytes of a map's key or value. If text is not nil, it is a text without its
// length. Otherwise the bytes are the first n of fixed, or the bytes of view.
type encoded struct {
	fixed [16]byte
	n     int
	text  []byte
	view  Struct // a struct, list or map whose bytes are still to be read
}

func (k *encoded) bytes() []byte {
	if k.text != nil {
		return k.text
	}
	return k.fixed[:k.n]
}

func encodeFixed(n int, v uint64) encoded {
	k := encoded{n: n}
	binary.BigEndian.PutUint64(k.fixed[:], v<<(64-8*n))
	return k
}

// fixedValue returns where the fixed-size value is that a word of a map stands for.
func (m *Message) fixedValue(word index.Word) []byte {
	if word.IsNode() {
		return m.buf.At(m.buf.NodeStart(word.Node()))
	}
	return m.buf.At(uint32(word))
}

// BoolByte returns v as the byte that stands for it on the wire.
func BoolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}
