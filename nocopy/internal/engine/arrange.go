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
	s.m.elementChanges(s.entry(), uint32(i))
	s.m.elementChanges(s.entry(), uint32(j))
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
	m.keys.Delete(e, uint32(i), uint32(j))
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
		parts = append(parts[:i], parts[j:]...)
		copy(words[i:], words[j:])
	}
	s.setParts(parts)
	m.ix.Words[e+listCount] -= n
	m.storeCount(e, s.typ())
}

// SortElements sorts a list whose elements have no fixed size. get returns what cmp compares,
// given an element's word.
func SortElements[T any](s Struct, get func(m *Message, word uint32) T, cmp func(a, b T) int) {
	s.Sortable(cmp != nil)
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
		return m.elementEntry(s.entry(), s.typ().Elem(), uint32(i))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp(get(m, word(a)), get(m, word(b))) })
	s.CheckSameLen(n)
	parts, words := s.arrangeParts()
	m.keys.Drop(s.entry())
	newParts, newWords := make([]chain.Part, n), make([]uint32, n)
	for i, from := range order {
		newParts[i], newWords[i] = parts[from], words[from]
	}
	copy(words, newWords)
	s.setParts(newParts)
}

// Sortable panics unless the list may be changed, and there is a function that compares its
// elements.
func (s Struct) Sortable(compares bool) {
	s.Changeable()
	if !compares {
		panic("nocopy: SortFunc of a " + s.typ().String() + ": cmp is nil")
	}
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
	m, e := s.m, s.entry()
	b := s.inOwnMemory(size)
	m.keys.Delete(e, uint32(i), uint32(j))
	n := (j - i) * size
	copy(b[i*size:], b[j*size:])
	ed := m.edit(e)
	m.buf.ExtendContent(ed.valueNode, -n)
	ed.end -= uint32(n)
	ed.spare += uint32(n)
	m.ix.Words[e+listCount] -= uint32(j - i)
	wire.PutBE32(m.buf.At(m.ix.Words[e+listStart]-4), m.ix.Words[e+listCount])
}

// ToOwnMemory is inOwnMemory for callers that change all elements: it takes them out of the list's
// table.
func (s Struct) ToOwnMemory(size int) []byte {
	b := s.inOwnMemory(size)
	s.m.keys.Drop(s.entry())
	return b
}

// inOwnMemory completes a list of elements of the given size, moves it to memory that may be
// stored into, and returns the elements' bytes.
func (s Struct) inOwnMemory(size int) []byte {
	m, e := s.m, s.entry()
	m.closeEntry(e)
	own := m.editOf(e).valueNode
	if own == 0 || m.buf.Content(own, 1) != nil || !m.buf.Writable(m.ix.Words[e+listStart]) {
		// The elements are not where moveFixed puts them.
		m.moveFixed(e, size, 0)
	}
	return s.FixedBytes(size)
}

// Texts of a list that is being built may be set in any order. A text that is set before those
// that precede it is put aside: its word is a position in no run. When the list is completed, such
// texts are copied into the run in their order. They take no nodes, and nothing has to be sorted.
// Elements that are on the wire, and large ones, do take nodes.

// SetBytesAt makes element i the text v, which is referred to if it is large.
func (s Struct) SetBytesAt(i int, v []byte) {
	if s.m == nil {
		s.checkIndex(i)
	}
	m := s.m
	f := s.unset(i)
	if f == nil || len(v) >= ReferSize {
		refer := s.room(len(v))
		m.setText(s.element(i), v, refer)
		return
	}
	var p uint32
	var b []byte
	if uint32(i) == f.next {
		p, b = m.buf.Extend(wire.TextHeader + len(v))
		f.next++
	} else {
		p, b = m.buf.Aside(wire.TextHeader + len(v))
		f.aside = true
	}
	wire.PutBE32(b, uint32(len(v)))
	copy(b[wire.TextHeader:], v)
	m.ix.Words[m.ix.Words[f.e+listElems]+uint32(i)] = p
}

// unset returns the list's frame if that is the innermost one, and element i was not set before
// and may be appended or put aside; else nil.
func (s Struct) unset(i int) *frame {
	m := s.m
	n := len(m.open)
	if n == 0 {
		return nil
	}
	f := &m.open[n-1]
	if f.e != s.entry() || uint(i) >= uint(s.ListLen()) || uint32(i) < f.next ||
		uint32(i) > f.next && (m.ix.Words[m.ix.Words[f.e+listElems]+uint32(i)] != 0 || !m.buf.MayAside()) {
		return nil
	}
	return f
}

// SetTextAt makes element i of a list of strings v.
func (s Struct) SetTextAt(i int, v string) { s.SetBytesAt(i, chain.StringBytes(v)) }

// AppendBytes adds the text v at the end of the list.
func (s Struct) AppendBytes(v []byte) {
	refer := s.room(len(v))
	s.m.setText(s.end(), v, refer)
}

// AppendText adds v at the end of a list of strings.
func (s Struct) AppendText(v string) { s.AppendBytes(chain.StringBytes(v)) }
