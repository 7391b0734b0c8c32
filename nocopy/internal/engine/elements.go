package engine

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file changes the elements of lists: those of fixed size, which lie in one piece, and
// others, which Swap, DeleteRange and SortElements arrange. It also sets lists from Go slices.

// SetFixedAt returns the bytes of element i, to be stored into.
func (s Struct) SetFixedAt(i, size int) []byte {
	s.checkIndex(i)
	s.Changeable()
	m, e := s.m, s.entry()
	if !m.buf.Writable(m.ix.List(e).Start()) {
		m.moveFixed(e, size, 0)
	}
	m.elementChanges(e, uint32(i))
	return m.buf.At(m.ix.List(e).Start() + uint32(i*size))[:size]
}

// GrowFixed adds n elements at the end and returns their bytes, contents undefined.
func (s Struct) GrowFixed(n, size int) []byte {
	s.Changeable()
	m, e := s.m, s.entry()
	count := int(m.ix.List(e).Count())
	if n > maxCount/size-count {
		panic("nocopy: too many elements")
	}
	start := m.ix.List(e).Start()
	if f := m.frameOf(e); f != nil {
		m.closeNested(e)
		if start+uint32(count*size) == m.buf.Tail() {
			return m.growAtTail(&m.open[len(m.open)-1], n, size)
		}
		m.closeTo(len(m.open) - 1)
	}
	if ed := m.editOf(e); int(ed.spare) < n*size || !m.buf.Writable(start) {
		room := min(int64(count+2*n+8)*int64(size), maxCount/2)
		m.moveFixed(e, size, max(int(room), n*size))
	}
	ed := m.edit(e)
	b := m.buf.At(ed.end)[:n*size]
	m.buf.ExtendContent(ed.valueNode, n*size)
	ed.end += uint32(n * size)
	ed.spare -= uint32(n * size)
	m.ix.List(e).SetCount(m.ix.List(e).Count() + uint32(n))
	wire.PutBE32(m.buf.At(m.ix.List(e).Start()-4), m.ix.List(e).Count())
	return b
}

// growAtTail adds n elements of the given size to the list of frame f, which ends at the tail, and
// returns their bytes, contents undefined.
func (m *Message) growAtTail(f *frame, n, size int) []byte {
	e := f.e
	head := uint32(f.lead) + wire.ListHeader
	from, b := m.buf.Grow(m.ix.List(e).Start()-head, n*size)
	m.ix.List(e).SetStart(from + head)
	m.ix.List(e).SetCount(m.ix.List(e).Count() + uint32(n))
	f.next = m.ix.List(e).Count()
	wire.PutBE32(b[head-4:], f.next)
	return b[len(b)-n*size:]
}

// moveFixed completes a list and copies it to memory that may be stored into, with room for
// more bytes after it.
func (m *Message) moveFixed(e uint32, size, more int) {
	m.closeEntry(e)
	count := int(m.ix.List(e).Count())
	start := m.ix.List(e).Start()
	n := wire.ListHeader + count*size
	p, b := m.buf.Place(n + more) // first: positions may run out
	ed := m.editOf(e)
	if ed.valueNode == 0 {
		ed.valueNode = m.buf.AddReplace(start-wire.ListHeader, ed.end)
	}
	copy(b, m.buf.At(start - wire.ListHeader)[:n])
	// An empty list may have been received with any type
	putTypes(m.ix.List(e).Type(), b)
	m.buf.SetPlaced(ed.valueNode, p, p+uint32(n))
	m.ix.List(e).SetStart(p + wire.ListHeader)
	ed.spare, ed.end = uint32(more), p+uint32(n)
	*m.edit(e) = ed
}

// addFixed adds an element with these bytes unless there is one.
func (s Struct) addFixed(b []byte) {
	if !s.ContainsKey(b) {
		copy(s.GrowFixed(1, len(b)), b)
	}
}

// newFixed sets field f to a list of n elements of the given size and returns their bytes,
// contents undefined.
func (s Struct) newFixed(f schema.Ref, d *schema.Struct, n, size int) []byte {
	m, bytes := s.m, n*size
	if m == nil || s.k != m.openHandle || d.IsUnion() || d.IsWide() || m.ix.Near(uint32(s.k), f) != 0 {
		e, b := s.newFullList(f, d, n, 0, bytes)
		m.endFullList(e)
		return b
	}
	t := d.FieldOf(f).Type
	checkCount(t, n)
	e := m.ix.AllocFor(t, listWords)
	p, b := m.buf.Extend(wire.FieldHeader + wire.ListHeader + bytes)
	binary.BigEndian.PutUint64(b, containerHeader(f.Header(), t.Elem().Wire(), uint32(n)))
	b = b[wire.FieldHeader+wire.ListHeader:]
	p += wire.FieldHeader + wire.ListHeader
	m.ix.MakeList(e, t, p, p+uint32(len(b)), uint32(n), index.Room(n))
	m.ix.PutNear(uint32(s.k), f, index.Word(e))
	return b
}

// SetTexts sets field f, a list or set, to these strings. It copies strings shorter than 4 KiB and
// refers to others. Duplicates in a set are left out. d describes s.
func (s Struct) SetTexts(f schema.Ref, d *schema.Struct, v []string) {
	setTexts(s, f, d, v)
}

// SetByteSlices sets field f, a list or set, to these binaries. It copies binaries shorter than 4
// KiB and refers to others, which must not change until the message is released. Duplicates
// in a set are left out. d describes s.
func (s Struct) SetByteSlices(f schema.Ref, d *schema.Struct, v [][]byte) {
	setTexts(s, f, d, v)
}

// setTexts sets field f to a list or set of these texts.
func setTexts[T string | []byte](s Struct, f schema.Ref, d *schema.Struct, v []T) {
	size, refer := roomForTexts(s, v)
	if f.Wire() == wire.Set {
		addTexts(s.NewChild(f, d, 0), v, refer)
		return
	}
	m := s.m
	e, _ := s.newFullList(f, d, len(v), len(v), 0)
	if uint(size) <= memory.MaxSlabSize {
		m.buf.Reserve(size)
	}
	l := m.ix.List(e)
	for i := 0; ; i++ {
		i += memory.AppendTexts(&m.buf.Space, v[i:], l.Positions(uint32(i), uint32(len(v))))
		if i == len(v) {
			break
		}
		// AppendTexts leaves texts of other sizes, and those without room at the tail.
		if x := memory.TextOf(v[i]); len(x) < ReferSize {
			l.SetWord(uint32(i), index.Word(m.buf.AppendWithHead(uint64(len(x))<<32, wire.TextHeader, x)))
		} else {
			m.setText(place{at: l.Slot(uint32(i))}, memory.StringBytes(x), refer)
		}
	}
	m.endFullList(e)
}

// roomForTexts panics unless s may be changed by a list of these texts. It returns how many bytes
// they take, and whether the long ones may be referred to.
func roomForTexts[T string | []byte](s Struct, v []T) (size int, refer bool) {
	size = wire.TextHeader * len(v)
	for _, x := range v {
		size += len(x)
	}
	if uint(size) < memory.MaxSlabSize {
		return size, s.room(size)
	}
	var room textRoom
	for _, x := range v {
		room.add(len(x))
	}
	return size, s.roomFor(room)
}

// addTexts adds to a set the texts that it does not have.
func addTexts[T string | []byte](set Struct, v []T, refer bool) {
	for _, x := range v {
		if x := memory.StringBytes(memory.TextOf(x)); !set.ContainsKey(x) {
			q := set.end()
			set.m.setText(q, x, refer && len(x) >= ReferSize)
		}
	}
}

// newFullList sets field f to a list of n elements without a frame: the caller appends all of
// them at once, and then calls endFullList. It returns the list's entry, which has the given
// number of words for slots, and as many bytes after the list's header as asked for.
func (s Struct) newFullList(f schema.Ref, d *schema.Struct, n, slots, bytes int) (uint32, []byte) {
	if s.m == nil {
		panic(setterOfZero())
	}
	m, t := s.m, d.FieldOf(f).Type
	checkCount(t, n)
	e := uint32(s.k)
	if s.k != m.openHandle || m.ix.At(e, f) != 0 {
		s.openField(f, bytes)
	}
	const head = wire.FieldHeader + wire.ListHeader
	c := m.ix.AllocFor(t, listWords+slots)
	p, b := m.buf.Extend(head + bytes)
	binary.BigEndian.PutUint64(b, containerHeader(f.Header(), t.Elem().Wire(), uint32(n)))
	m.ix.MakeList(c, t, p+head, 0, uint32(n), index.Room(n))
	m.ix.Put(e, f, index.Word(c))
	if d.IsUnion() {
		s.Arm(f, d)
	}
	return c, b[head:]
}

// textRoom counts texts that are added one after the other.
type textRoom struct {
	size, short int64 // bytes of all texts, and of those shorter than ReferSize, with lengths
	long        int64 // the number of others
}

// add counts a text of n bytes.
func (r *textRoom) add(n int) {
	r.size += wire.TextHeader + int64(n)
	if n < ReferSize {
		r.short += wire.TextHeader + int64(n)
	} else {
		r.long++
	}
}

// roomFor is room for all of the texts: either all long ones are referred to, or none.
func (s Struct) roomFor(r textRoom) (refer bool) {
	s.room(int(min(r.size, math.MaxInt32)))
	segments, large := int(r.size/memory.MaxSlabSize+2*r.long), r.size-r.short >= r.long*memory.MaxSlabSize
	refer = s.m.mayRefer(segments, 0) || large && s.m.buf.RoomAfter(segments, int(r.short))
	// The rest of a block stays unused when the next text needs a new one: short texts take at most
	// twice their size, others four times.
	n := 4 * r.size
	if refer || r.long == 0 {
		n = r.size + r.short + r.long*perText
	}
	if n >= memory.MaxSlabSize {
		s.positions(int(min(n+firstBlocks, math.MaxInt32)))
	}
	return refer
}

// Positions for which roomFor makes room besides those of the bytes.
const (
	perText     = 2 * memory.MaxSlabSize // of each text that is referred to
	firstBlocks = 8 * memory.MaxSlabSize
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
// order. It returns the parts, one for each element, and the list. A caller that changes the parts
// must pass them to setParts.
func (s Struct) arrangeParts() (parts []chain.Part, l index.List) {
	m, e, t := s.m, s.entry(), s.typ()
	m.closeEntry(e)
	if t.Elem().Kind() == schema.Record {
		m.makeTable(e, t)
	}
	m.startChange()
	ed := m.edit(e)
	if ed.tailNode == 0 {
		ed.tailNode = m.buf.AddGrow(ed.end, m.ix.List(e).Start()-t.HeaderSize())
	}
	if start := m.ix.List(e).Start(); !ed.arranged {
		ed.arranged = true
		if start < ed.end {
			m.buf.AddVacate(start, ed.end)
		}
	}
	parts = m.buf.Parts(ed.tailNode)
	l = m.ix.List(e)
	if n := int(l.Count()); len(parts) < n { // elements were added since it was arranged last
		for i := len(parts); i < n; i++ {
			at, end := m.valuePlace(t.Elem().Wire(), l.Word(uint32(i)))
			parts = append(parts, chain.Part{From: at, To: end})
		}
		m.buf.SetParts(ed.tailNode, parts)
	}
	m.buf.EndChange()
	return parts, l
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
	parts, l := s.arrangeParts()
	s.m.elementChanges(s.entry(), uint32(i))
	s.m.elementChanges(s.entry(), uint32(j))
	parts[i], parts[j] = parts[j], parts[i]
	l.Swap(uint32(i), uint32(j))
	s.setParts(parts)
}

// DeleteRange removes the elements from i to j-1 of a list whose elements have no fixed size.
func (s Struct) DeleteRange(i, j int) {
	s.checkBounds(i, j)
	if i == j {
		return
	}
	parts, l := s.arrangeParts()
	m, e, n := s.m, s.entry(), uint32(j-i)
	m.keys.Delete(e, uint32(i), uint32(j))
	dead := m.noteDeadIn(e, s.typ().Elem())
	for k := i; k < j; k++ {
		dead.add(l.Word(uint32(k)))
	}
	if i == 0 { // nothing moves: doing it again and again is cheap
		parts = parts[j:]
		l.SetSlots(l.Slots()+n, l.Room()-index.Room(n))
		m.edit(e).gap += n
	} else {
		parts = append(parts[:i], parts[j:]...)
		m.ix.MoveWords(l.Slot(uint32(i)), l.Slot(uint32(j)), l.Count()-uint32(j))
	}
	s.setParts(parts)
	l.SetCount(l.Count() - n)
	m.storeCount(e)
}

// SortElements sorts a list whose elements have no fixed size. get returns what cmp compares,
// given an element's word.
func SortElements[T any](s Struct, get func(m *Message, word index.Word) T, cmp func(a, b T) int) {
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
	word := func(i int) index.Word {
		s.CheckSameLen(n)
		return m.elementWord(s.entry(), s.typ().Elem(), uint32(i))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp(get(m, word(a)), get(m, word(b))) })
	s.CheckSameLen(n)
	parts, l := s.arrangeParts()
	m.keys.Drop(s.entry())
	newParts, newWords := make([]chain.Part, n), make([]index.Word, n)
	for i, from := range order {
		newParts[i], newWords[i] = parts[from], l.Word(uint32(from))
	}
	for i, w := range newWords {
		l.SetWord(uint32(i), w)
	}
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
	b := s.inOwnMemory(size)
	s.m.keys.Delete(s.entry(), uint32(i), uint32(j))
	copy(b[i*size:], b[j*size:])
	s.cutFixed(len(b)-(j-i)*size, size)
}

// cutFixed removes all but the first n bytes from a list of elements of the given size, which is
// in its own memory.
func (s Struct) cutFixed(n, size int) {
	m, e := s.m, s.entry()
	l, ed := m.ix.List(e), m.edit(e)
	cut := int(l.Count())*size - n
	m.buf.ExtendContent(ed.valueNode, -cut)
	ed.end -= uint32(cut)
	ed.spare += uint32(cut)
	l.SetCount(uint32(n / size))
	wire.PutBE32(m.buf.At(l.Start()-4), l.Count())
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
	if own == 0 || m.buf.Content(own, 1) != nil || !m.buf.Writable(m.ix.List(e).Start()) {
		// The elements are not where moveFixed puts them.
		m.moveFixed(e, size, 0)
	}
	return s.FixedBytes(size)
}

// Texts of a list that is being built may be set in any order. A text that is set before those
// that precede it is staged: its word is a position in no run. When the list is completed, such
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
		refer := len(v) >= memory.MaxSlabSize && s.replaceableAt(i, len(v)) || s.room(len(v))
		m.setText(s.element(i), v, refer)
		return
	}
	var p uint32
	var b []byte
	if uint32(i) == f.next {
		p, b = m.buf.Extend(wire.TextHeader + len(v))
		f.next++
	} else {
		p, b = m.buf.Stage(wire.TextHeader + len(v))
		f.staged = true
	}
	wire.PutBE32(b, uint32(len(v)))
	copy(b[wire.TextHeader:], v)
	m.ix.List(f.e).SetWord(uint32(i), index.Word(p))
}

// replaceableAt is replaceable for element i.
func (s Struct) replaceableAt(i, n int) bool {
	s.writable()
	return s.m.exchangeable(s.m.ix.Word(s.elemSlot(i)), n)
}

// unset returns the list's frame if that is the innermost one, and element i was not set before
// and may be appended or staged; else nil.
func (s Struct) unset(i int) *frame {
	m := s.m
	n := len(m.open)
	if n == 0 {
		return nil
	}
	f := &m.open[n-1]
	if f.e != s.entry() || uint(i) >= uint(s.ListLen()) || uint32(i) < f.next ||
		uint32(i) > f.next && (m.ix.List(f.e).Word(uint32(i)) != 0 || !m.buf.MayStage()) {
		return nil
	}
	return f
}

// SetTextAt makes element i of a list of strings v.
func (s Struct) SetTextAt(i int, v string) { s.SetBytesAt(i, memory.StringBytes(v)) }

// AppendBytes adds the text v at the end of the list.
func (s Struct) AppendBytes(v []byte) {
	refer := s.room(len(v))
	s.m.setText(s.end(), v, refer)
}

// AppendText adds v at the end of a list of strings.
func (s Struct) AppendText(v string) { s.AppendBytes(memory.StringBytes(v)) }
