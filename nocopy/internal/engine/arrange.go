package engine

import (
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Swapping, deleting and sorting elements of lists moves none of their bytes: they go out in
// the order of the node at the list's end, which has all elements as parts, and the words of
// the index follow that order. (Elements of fixed size are in one piece and moved.)
//
// Texts of a new list that are set out of order are in loose memory until the list is complete.

// BoundsError is the value of the panic when a program deletes elements out of range.
type BoundsError struct{ Low, High, Len int }

// Error describes the bounds as the runtime does for slices.
func (e BoundsError) Error() string {
	return "nocopy: bounds out of range [" + strconv.Itoa(e.Low) + ":" + strconv.Itoa(e.High) + "] with length " + strconv.Itoa(e.Len)
}

// RuntimeError makes it a runtime.Error, like the runtime's own for slice bounds out of range.
func (BoundsError) RuntimeError() {}

// checkBounds panics unless the list may be changed and i and j are bounds of a range of its
// elements, which may be empty.
func (s Struct) checkBounds(i, j int) {
	s.Changeable()
	if n := s.ListLen(); i < 0 || j < i || n < j {
		panic(BoundsError{i, j, n})
	}
}

// arrangeParts completes the list and makes its elements parts of the node at its end, in their
// order. It returns the parts, one for each element, and the elements' words. A caller that
// changes the parts must pass them to setParts.
func (s Struct) arrangeParts() (parts []chain.Part, words []uint32) {
	m, e, t := s.m, s.entry(), s.typ()
	m.closeEntry(e)
	if t.Elem().Kind() == schema.Record {
		m.makeTable(e, t)
	}
	m.startChange()
	ed := m.edit(e)
	if ed.tailNode == 0 {
		ed.tailNode = m.buf.AddGrow(ed.end, m.ix.Words[e+listStart]-t.HeaderSize())
	}
	if start := m.ix.Words[e+listStart]; !ed.arranged {
		ed.arranged = true
		if start < ed.end {
			m.buf.AddVacate(start, ed.end)
		}
	}
	parts = m.buf.Parts(ed.tailNode)
	words = m.ix.Words[m.ix.Words[e+listElems]:][:m.ix.Words[e+listCount]]
	if len(parts) < len(words) { // elements were added since it was arranged last
		for _, word := range words[len(parts):] {
			at, end := m.valuePlace(t.Elem().Wire(), word)
			parts = append(parts, chain.Part{From: at, To: end})
		}
		m.buf.SetParts(ed.tailNode, parts)
	}
	m.buf.EndChange()
	return parts, words
}

// setParts stores the parts of the node at the list's end, in the order in which they are sent.
func (s Struct) setParts(parts []chain.Part) {
	s.m.buf.SetParts(s.m.editOf(s.entry()).tailNode, parts)
}

// Swap exchanges elements i and j of a list whose elements have no fixed size.
func (s Struct) Swap(i, j int) {
	s.Changeable()
	s.checkIndex(i)
	s.checkIndex(j)
	if i == j {
		return
	}
	parts, words := s.arrangeParts()
	if s.m.keys.HasTables() {
		s.m.elementChanges(s.entry(), uint32(i))
		s.m.elementChanges(s.entry(), uint32(j))
	}
	parts[i], parts[j] = parts[j], parts[i]
	words[i], words[j] = words[j], words[i]
	s.setParts(parts)
}

// DeleteRange removes the elements from i to j-1 of a list whose elements have no fixed size.
func (s Struct) DeleteRange(i, j int) {
	s.checkBounds(i, j)
	if i == j {
		return
	}
	parts, words := s.arrangeParts()
	m, e, n := s.m, s.entry(), uint32(j-i)
	m.keys.Clear(e)
	if t := s.typ(); t.Elem().Kind() >= schema.Record {
		for _, x := range words[i:j] {
			if t.Elem().Kind() == schema.Record {
				m.noteDeadElement(e, t, x)
			} else {
				m.noteDead(t.Elem(), x)
			}
		}
	}
	if i == 0 { // nothing moves: doing it again and again is cheap
		parts = parts[j:]
		m.ix.Words[e+listElems] += n
		m.ix.Words[e+listRoom] -= n
		m.edit(e).gap += n
	} else {
		parts = slices.Delete(parts, i, j)
		copy(words[i:], words[j:])
	}
	s.setParts(parts)
	m.ix.Words[e+listCount] -= n
	m.storeCount(e, s.typ())
}

// SortElements sorts a list whose elements have no fixed size. get returns what cmp compares,
// given an element's word.
func SortElements[T any](s Struct, get func(m *Message, word uint32) T, cmp func(a, b T) int) {
	s.Changeable()
	m, n := s.m, s.ListLen()
	if n < 2 {
		return
	}
	s.arrangeParts()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	word := func(i int) uint32 {
		s.CheckSameLen(n)
		if t := s.typ(); t.Elem().Kind() != schema.Text {
			return m.elementEntry(s.entry(), t.Elem(), uint32(i))
		}
		return m.ix.Words[m.ix.Words[s.entry()+listElems]+uint32(i)]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp(get(m, word(a)), get(m, word(b))) })
	s.CheckSameLen(n)
	parts, words := s.arrangeParts()
	m.keys.Clear(s.entry())
	newParts, newWords := make([]chain.Part, n), make([]uint32, n)
	for i, from := range order {
		newParts[i], newWords[i] = parts[from], words[from]
	}
	copy(words, newWords)
	s.setParts(newParts)
}

// CheckSameLen panics unless the list still has n elements: the function that compared them must
// not change it.
func (s Struct) CheckSameLen(n int) {
	if s.alive(); s.ListLen() != n {
		panic("nocopy: list changed while it was sorted")
	}
}

// DeleteFixed removes the elements from i to j-1 of a list whose elements have the given size.
func (s Struct) DeleteFixed(i, j, size int) {
	s.checkBounds(i, j)
	if i == j {
		return
	}
	b := s.ToOwnMemory(size)
	n := (j - i) * size
	copy(b[i*size:], b[j*size:])
	m, e := s.m, s.entry()
	ed := m.edit(e)
	m.buf.ExtendContent(ed.valueNode, -n)
	ed.end -= uint32(n)
	ed.spare += uint32(n)
	m.ix.Words[e+listCount] -= uint32(j - i)
	wire.PutBE32(m.buf.At(m.ix.Words[e+listStart]-4), m.ix.Words[e+listCount])
}

// ToOwnMemory completes a list of elements of the given size, moves it to memory that may be
// stored into, and returns the elements' bytes. All elements are taken out of the list's table.
func (s Struct) ToOwnMemory(size int) []byte {
	m, e := s.m, s.entry()
	m.closeEntry(e)
	own := m.editOf(e).valueNode
	if own == 0 || m.buf.Content(own, 1) != nil || !m.buf.Writable(m.ix.Words[e+listStart]) {
		// The elements are not where moveFixed puts them.
		m.moveFixed(e, size, 0)
	}
	m.keys.Clear(e)
	return s.FixedBytes(size)
}

// A list of texts that is being built turns scattered when an element is set out of order: that
// element and all later ones are loose from then on. Loose elements are in memory of the message,
// but in no run. Their words are positions there; the words of unset elements are 0. When the list
// is completed, they are copied into the run, in their order. They therefore take no node each,
// and nothing has to be sorted.

// scattered is set in the next of a frame whose list is scattered. The rest of next is the number
// of elements that are on the wire.
const scattered = 1 << 31

// scatters reports whether element i of the list of entry e, of texts, is loose or has to be.
// The list is scattered then.
func (m *Message) scatters(e, i uint32) bool {
	n := len(m.open)
	if n == 0 {
		return false
	}
	f := &m.open[n-1]
	if f.e != e || i == f.next || i < f.next&^scattered || f.reopened {
		return false
	}
	f.next |= scattered
	return true
}

// placeLoose returns the position of n loose bytes for element i, whose word is at slot, and the
// bytes, contents undefined. It returns nil if the element can't be loose: the list is not
// scattered then.
func (s Struct) placeLoose(i int, slot uint32, n int) (uint32, []byte) {
	m := s.m
	if !m.scatters(s.entry(), uint32(i)) || m.ix.Words[slot] != 0 && m.buf.LooseWaste() && !m.renewLoose() {
		return 0, nil
	}
	p, b := m.buf.Loose(n)
	if b == nil {
		m.gather()
		return 0, nil
	}
	if m.keys.HasTables() {
		m.elementChanges(s.entry(), uint32(i))
	}
	if old := m.ix.Words[slot]; old != 0 {
		m.forgetLoose(old)
	}
	return p, b
}

// looseTextAt makes element i a loose text of n bytes and returns them, contents undefined. It
// returns nil if the element can't be loose: the list is not scattered then.
func (s Struct) looseTextAt(i, n int) []byte {
	slot := s.elemSlot(i)
	p, b := s.placeLoose(i, slot, wire.TextHeader+n)
	if b == nil {
		return nil
	}
	wire.PutBE32(b, uint32(n))
	s.m.ix.Words[slot] = p
	return b[wire.TextHeader : wire.TextHeader+n : wire.TextHeader+n]
}

// setLooseText makes element i the text v, in the usual case: the list is scattered, f is its
// frame, v is short, and the element was never set. It reports whether that is so.
func (s Struct) setLooseText(f *frame, i int, v []byte) bool {
	m := s.m
	if uint(i) >= uint(s.ListLen()) || uint32(i) < f.next&^scattered {
		return false
	}
	word := &m.ix.Words[m.ix.Words[f.e+listElems]+uint32(i)]
	if *word != 0 || m.keys.HasTables() {
		return false
	}
	p := m.buf.LooseText(v)
	*word = p
	return p != 0
}

// looseRefAt makes element i a loose text that refers to the bytes v. It reports whether it could;
// if not, the list is not scattered.
func (s Struct) looseRefAt(i int, v []byte) bool {
	m, slot := s.m, s.elemSlot(i)
	p, b := s.placeLoose(i, slot, wire.TextHeader)
	if b == nil {
		return false
	}
	wire.PutBE32(b, uint32(len(v)))
	node := uint32(0)
	if k := len(m.looseNodes) - 1; k >= 0 {
		node, m.looseNodes = m.looseNodes[k], m.looseNodes[:k]
	}
	word := m.referText(p, v, node)
	if node != 0 && word != node {
		m.ownSeldom()
		m.looseNodes = append(m.looseNodes, node)
	}
	m.ix.Words[slot] = word
	m.buf.ReferLoose(len(v))
	return true
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

// SetTextAt makes element i of a list of strings v.
func (s Struct) SetTextAt(i int, v string) { s.SetBytesAt(i, chain.StringBytes(v)) }

// forgetLoose notes that the loose text that a word stands for is no longer needed.
func (m *Message) forgetLoose(word uint32) {
	if word&inNode == 0 {
		m.buf.ForgetLoose(wire.TextHeader + len(m.textBytes(word)))
		return
	}
	m.buf.ForgetLoose(wire.TextHeader)
	m.buf.ReferLoose(-len(m.textBytes(word)))
	m.buf.MoveGrow(word&^inNode, 0, 0) // where nothing is sent
	m.ownSeldom()
	m.looseNodes = append(m.looseNodes, word)
	m.ix.More = true
}

// looseWords returns the words of the innermost frame's list, which is scattered, from the first
// loose element on.
func (m *Message) looseWords() []uint32 {
	f := &m.open[len(m.open)-1]
	return m.ix.Words[m.ix.Words[f.e+listElems]:][f.next&^scattered : m.ix.Words[f.e+listCount]]
}

// gather appends the loose elements of the innermost frame's list, in their order, and zero values
// for those that were not set. The list is scattered no more.
func (m *Message) gather() {
	f := &m.open[len(m.open)-1]
	for words := m.looseWords(); ; {
		words = words[m.buf.AppendLoose(words):]
		if len(words) == 0 {
			break
		}
		p, b := m.buf.Extend(wire.TextHeader)
		m.moveReferred(words[0], p, b)
		words = words[1:]
	}
	f.next = m.ix.Words[f.e+listCount]
	if len(m.looseNodes) > 0 {
		m.looseNodes = m.looseNodes[:0]
	}
	m.buf.ClearLoose()
}

// moveReferred moves the text that a word stands for, whose bytes are referred to, to b, which is
// at position p.
func (m *Message) moveReferred(word, p uint32, b []byte) {
	wire.PutBE32(b, uint32(len(m.textBytes(word))))
	m.buf.MoveGrow(word&^inNode, p+wire.TextHeader, p)
}

// renewLoose copies the loose elements of the innermost frame's list to new memory, without
// replaced ones. It reports whether there was room for them; if not, the list is gathered.
func (m *Message) renewLoose() bool {
	old := m.buf.RenewLoose()
	words := m.looseWords()
	for i, word := range words {
		if word == 0 {
			continue
		}
		n := wire.TextHeader
		if word&inNode == 0 {
			n += len(m.textBytes(word))
		}
		p, b := m.buf.Loose(n)
		switch {
		case b == nil:
			m.gather()
			return false
		case word&inNode != 0:
			m.moveReferred(word, p, b)
		default:
			copy(b, m.buf.At(word))
			words[i] = p
		}
	}
	m.buf.DropLoose(old)
	return true
}
