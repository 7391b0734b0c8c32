package engine

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file reads a message by the index in its own bytes, the wire index (package wireindex).
// Parsing goes through the fields of the root and leaves its large values for later, as Lazy does,
// but passes over them by the wire index. A value that is touched is found by the wire index, too,
// and then parsed and checked as ever. Of a long list, the elements between two anchors are parsed
// when one of them is touched: they are a page. A wire index may say anything: only bytes of the
// message are read, and only values of the declared type.
//
// Two kinds of entries: entry k of the wire index says where a value is in the message; entry e
// is one of the index of the message.

// mostRead bounds the work for a message with a wrong wire index, by which values may overlap and
// be read again and again: how many times as many bytes as the message has are read. If the wire
// index fits, as many are read as it takes to parse all of the message.
const mostRead = 8

// landRoot makes the entry of the root of the message b, which is at position base, by its wire
// index. It reports whether the message has one that fits.
func (m *Message) landRoot(b []byte, base uint32) bool {
	m.desc.Type().MustBeDefined()
	x, ok := wireindex.Find(b)
	if x.At+1 < wireindex.MinIndexed && m.flags&AnySize == 0 || // WithIndex adds none
		x.At+1 > wireindex.MostIndexed {
		return false
	}
	limit := m.limits.maxIndex(len(b))
	if !ok || m.desc.IsUnion() || uint64(index.First+m.desc.Words()) > uint64(limit) {
		return false
	}
	l := m.landing
	if l == nil {
		l = new(landing)
		m.ownSeldom()
		m.landing = l
	}
	l.x, l.b, l.base, l.left = x, b, base, mostRead*len(b)
	l.mostUsed = uint32(min(2*uint64(limit), index.MaxWords))
	m.needsBeforeChange, m.pending = true, byIndex
	m.root = m.ix.Alloc(m.desc.Words())
	return m.landFields(m.desc, m.root, 0, len(b), 0, 0) == len(b)
}

// landFields fills in the words of entry e, which are zero, of a struct of type d that begins at
// an offset and ends before stop. It is in a struct that is depth levels deep. Entry k of the wire
// index is the first one of a value in it. landFields returns the offset after the struct, or 0 if
// the struct is not as the wire index says. It may still be valid.
func (m *Message) landFields(d *schema.Struct, e uint32, at, stop, k, depth int) int {
	l, duplicates := m.landing, len(m.duplicates)
	p := m.parserAt(at, stop, depth)
	l.next, l.passedOver = k, 0
	i := p.ByIndex(d, e, 0)
	p.B = nil
	l.left -= stop - at - l.passedOver
	if i < 0 || l.x.Offset(l.next) < at+i {
		m.dropDuplicates(duplicates)
		return 0
	}
	return at + i
}

// parserAt returns the message's parser, ready for the bytes from an offset to stop, in a struct
// that is depth levels deep.
func (m *Message) parserAt(at, stop, depth int) *parse.Parser {
	l := m.landing
	p := m.beginTrusted(l.base + uint32(at))
	p.B = l.b[at:stop:stop]
	p.Trusted, p.UTF8, p.MaxDepth, p.MaxIndex, p.MaxWords = false, m.flags&ValidUTF8 != 0, m.limits.MaxDepth-depth, m.limits.MaxIndex, l.mostUsed
	return p
}

// misfit notes that the wire index does not fit the message at an offset.
func (m *Message) misfit(at int) {
	if l := m.landing; l.err == nil {
		l.err = &wire.Error{Offset: at, Path: m.desc.Name(), Err: wire.ErrIndex}
	}
}

// invalid notes the error for Message.Index that the parser has found in what begins at an offset.
func (m *Message) invalid(at int) {
	if m.p.Err == nil { // it is not of its declared type, which only the wire index has told
		m.p.Fail(0, wire.ErrIndex)
	}
	err := m.p.Finish(m.desc)
	m.p.B = nil
	if l := m.landing; l.err == nil {
		err.Offset += at
		l.err = err
	}
}

// mayAlloc reports whether the index may have n more words.
func (m *Message) mayAlloc(n int) bool {
	return uint64(m.ix.Used)+uint64(n) <= uint64(m.landing.mostUsed)
}

// absentEntry returns the entry that all values of type t that are not valid share: one that reads
// as absent.
func (m *Message) absentEntry(t *schema.Type) uint32 {
	l := m.landing
	e := l.absent.Get(t)
	if e != 0 {
		return e
	}
	if t.Kind() == schema.Record {
		e = m.ix.Alloc(t.Struct().Words())
	} else {
		e = m.ix.Alloc(listWords)
		m.ix.List(e).SetType(t)
	}
	l.absent.Put(t, e)
	return e
}

// isOf reports whether an entry is for a value of this field and its type.
func isOf(f *schema.Field, entry []byte) bool { return f.InEntry() == wireindex.EntryOf(entry) }

// land returns the entry of the value of field f in the struct of entry e. The value was left for
// later at position p.
func (m *Message) land(f *schema.Field, e, p uint32) uint32 {
	l := m.landing
	at, depth, stop := int(p-l.base), 1, int(uint32(m.ix.EndOf(e))-l.base)
	if e != m.root {
		depth = m.ix.Depth(e)
	}
	k := l.x.Seek(0, at)
	if l.x.Offset(k) != at || !isOf(f, l.x.Entry(k)) {
		word, _ := m.parseAt(f.Type, at, stop, depth)
		return word
	}
	// landFields may have passed here by another entry
	if end := int(wireindex.Number(l.x.Entry(k)[wireindex.EntryEndAt:])); end > at && end <= stop {
		if word, to := m.landValue(f.Type, at, end, k, depth); to == end {
			return word
		}
	}
	m.misfit(at)
	return m.absentEntry(f.Type)
}

// landValue makes an entry for the value of type t from an offset to stop, which entry k of the
// wire index is for. It returns the entry and the offset after the value.
func (m *Message) landValue(t *schema.Type, at, stop, k, depth int) (word uint32, end int) {
	switch {
	case t.Kind() == schema.Record && m.landing.x.Offset(k+1) < stop:
		if word, end = m.landStruct(t.Struct(), at, stop, k+1, depth); end > 0 {
			return word, end
		}
	case t.Kind() == schema.List && t.Elem().Kind() == schema.Record:
		if word = m.landList(t, at, stop, k, depth); word > 0 {
			return word, stop
		}
	}
	return m.parseAt(t, at, stop, depth)
}

// parseAt parses the value of type t at an offset, before stop, in a struct that is this deep. It
// returns its entry and the offset after it. If the value is not valid, the error is noted; the
// entry is one that reads as absent, and the offset is 0.
func (m *Message) parseAt(t *schema.Type, at, stop, depth int) (word uint32, end int) {
	if m.landing.left < 0 {
		m.misfit(at)
		return m.absentEntry(t), 0
	}
	p := m.parserAt(at, stop, depth)
	i, word := p.Value(t, 0, 0)
	if i < 0 {
		m.landing.left -= stop - at
		m.invalid(at)
		return m.absentEntry(t), 0
	}
	m.landing.left -= i
	p.B = nil
	return word, at + i
}

// landStruct makes an entry for the struct at an offset, before stop. Entry k of the wire index is
// the first for a value in it. The word before the entry says how deep the struct is. landStruct
// returns the entry and the offset after the struct, or 0 if it is not as the wire index says.
func (m *Message) landStruct(d *schema.Struct, at, stop, k, depth int) (e uint32, end int) {
	if d.IsUnion() || m.landing.left < 0 || !m.mayAlloc(d.Words()+1) {
		return 0, 0
	}
	e = m.ix.AllocDeep(d.Words(), depth+1)
	return e, m.landFields(d, e, at, stop, k, depth)
}

// pages is a list that is read by pages. Its slots have words of another meaning.
type pages struct{ index.List }

// The words at the slots.
const (
	pagesEntry  = iota // the list's entry in the wire index
	pagesDepth         // how deep the struct is that the list is in
	pagesStride        // log₂ of how many elements a page has
	pagesFirst         // from here on, for each page, the entry of its first element; 0: not read yet
)

// begin sets the words before those of the pages.
func (p pages) begin(entry, depth int, stride uint8) {
	p.SetWord(pagesEntry, index.Word(entry))
	p.SetWord(pagesDepth, index.Word(depth))
	p.SetWord(pagesStride, index.Word(stride))
}

func (p pages) entry() int { return int(p.Word(pagesEntry)) }

func (p pages) depth() int { return int(p.Word(pagesDepth)) }

func (p pages) stride() uint32 { return uint32(p.Word(pagesStride)) }

// first returns the entry of the first element of a page; 0 if the page was not read yet.
func (p pages) first(page uint32) uint32 { return p.Word(pagesFirst + page).Entry() }

// setFirst sets that entry.
func (p pages) setFirst(page, e uint32) { p.SetWord(pagesFirst+page, index.Word(e)) }

// unread reports whether no page was read yet.
func (p pages) unread() bool {
	for page := range (p.Count()-1)>>p.stride() + 1 {
		if p.first(page) != 0 {
			return false
		}
	}
	return true
}

// landList makes an entry of the list of type t from an offset to end, in a struct that is depth
// levels deep, and returns it. Its elements will be found by the anchors that entry k of the wire
// index has. It returns 0 if that has none, or they do not fit the list.
func (m *Message) landList(t *schema.Type, at, end, k, depth int) uint32 {
	l := m.landing
	entry, body := l.x.Entry(k), at+wire.ListHeader
	if wireindex.Number(entry[wireindex.EntryAnchorsAt:]) == 0 || body > end || l.b[at] != byte(t.Elem().Wire()) || t.Elem().Struct().IsUnion() {
		return 0
	}
	n := wire.BE32(l.b[at+1:])
	_, stride := wireindex.EntryField(entry)
	if uint64(n) > uint64(end-body) || stride > wireindex.MaxStride || n <= 1<<stride {
		return 0
	}
	count := int(n-1)>>stride + 1
	if _, ok := l.x.Anchor(entry, count-2); !ok || !m.mayAlloc(listWords+pagesFirst+count) {
		return 0
	}
	e := m.ix.Alloc(listWords + pagesFirst + count)
	list := m.ix.MakeList(e, t, l.base+uint32(body), l.base+uint32(end), n, index.ByPages)
	pages{list}.begin(k, depth, stride)
	return e
}

// landElement returns the entry of element i of the list of entry e, which is read by pages.
func (m *Message) landElement(e, i uint32) uint32 {
	list := pages{m.ix.List(e)}
	elem, stride := list.Type().Elem(), list.stride()
	page := i >> stride
	first := list.first(page)
	if first == 0 {
		if first = m.landPage(elem, list, page); first == 0 {
			return m.absentEntry(elem)
		}
		list.setFirst(page, first)
	}
	return first + (i-page<<stride)*uint32(elem.Struct().Words())
}

// landPage parses the elements of a page of a list. It returns the entry of the first
// of them. Elements read as absent if they are not valid, or come after one that is not. landPage
// returns 0 if the anchors do not fit.
func (m *Message) landPage(elem *schema.Type, list pages, page uint32) uint32 {
	l, d := m.landing, elem.Struct()
	entry, depth, k := l.x.Entry(list.entry()), list.depth(), list.entry()+1
	first, after := page<<list.stride(), (page+1)<<list.stride()
	at, end := int(list.Start()-l.base), int(uint32(list.End())-l.base)
	from, stop, n := at, end, list.Count()-first
	if page > 0 {
		from, _ = l.x.Anchor(entry, int(page-1))
	}
	if after-first < n {
		n = after - first
		stop, _ = l.x.Anchor(entry, int(page))
	}
	if from < at || from >= stop || stop > end || !m.mayAlloc(int(n)*d.Words()) || l.left < 0 {
		m.misfit(at)
		return 0
	}
	if n == 1 && l.x.Offset(k) < end {
		if x, to := m.landStruct(d, from, stop, l.x.Seek(k, from), depth); to == stop {
			return x
		}
	}
	l.left -= stop - from
	x := m.ix.Alloc(int(n) * d.Words())
	switch i := m.parserAt(from, stop, depth).Structures(d, x, n, 0); {
	case i < 0:
		m.invalid(from)
		last := x + (n-1)*uint32(d.Words())
		for ; last > x && !m.ix.HasValue(last); last -= uint32(d.Words()) { // not begun
		}
		m.ix.ClearWords(last, uint32(d.Words()))
	case i != stop-from:
		m.misfit(from)
	}
	m.p.B = nil
	return x
}

// fillByIndex parses all pages of the list of entry e, if it is read by pages. It reports whether
// they could be parsed.
func (m *Message) fillByIndex(e uint32) bool {
	if m.pending&byIndex == 0 || m.ix.List(e).Room() != index.ByPages {
		return true
	}
	list := pages{m.ix.List(e)}
	n, at := list.Count(), int(list.Start()-m.landing.base)
	if list.unread() {
		end := int(uint32(list.End()) - m.landing.base)
		if all, to := m.parseAt(list.Type(), at-wire.ListHeader, end, list.depth()); to == end {
			all := m.ix.List(all)
			list.SetSlots(all.Slots(), all.Room())
			return true
		}
	}
	for i := range n {
		if !m.ix.HasValue(m.landElement(e, i)) {
			return false
		}
	}
	if !m.mayAlloc(int(n)) {
		m.misfit(at)
		return false
	}
	table := m.ix.Alloc(int(n))
	for i := range n {
		x := m.landElement(e, i)
		m.ix.SetEntryWord(table, i, index.Word(x))
	}
	list.SetSlots(table, index.Room(0).Table(n))
	return true
}

// structEntry returns the entry of element i of a list of structs.
func (m *Message) structEntry(e, i uint32) uint32 {
	l := m.ix.List(e)
	switch room := l.Room(); {
	case !room.HasTable():
		return l.Slots() + i*room.Len()
	case room == index.ByPages:
		return m.landElement(e, i)
	}
	return l.Word(i).Entry()
}

// elementWord returns the word of element i of a list whose elements, of type t, have no fixed
// size.
func (m *Message) elementWord(e uint32, t *schema.Type, i uint32) index.Word {
	if t.Kind() == schema.Record {
		return index.Word(m.structEntry(e, i))
	}
	return m.ix.List(e).Word(i)
}

// part is a struct or container in a value: in field f, or element, key or value number i.
type part struct {
	t    *schema.Type
	word index.Word
	f    *schema.Field
	i    uint32
	key  bool
}

// parts returns the structs and containers in the value of type t and entry e, but not those in
// them. It leaves out the elements of a list that is read by pages.
func (m *Message) parts(t *schema.Type, e uint32) iter.Seq[part] {
	return func(yield func(part) bool) {
		switch {
		case !m.ix.HasValue(e): // an element that was not begun
		case t.Kind() == schema.Record:
			m.fieldParts(t.Struct(), e, yield)
		case t.Kind() == schema.Dict:
			m.pairParts(t, e, yield)
		case t.Elem().Kind() >= schema.Record && (m.pending&byIndex == 0 || m.ix.List(e).Room() != index.ByPages):
			m.elementParts(t.Elem(), e, yield)
		}
	}
}

// fieldParts is parts for a struct.
func (m *Message) fieldParts(d *schema.Struct, e uint32, yield func(part) bool) {
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		f := &d.Fields()[i]
		if f.Kind() < schema.Record {
			continue
		}
		if word := m.ix.At(e, f.Ref()); word != 0 && !yield(part{t: f.Type, word: word, f: f}) {
			return
		}
	}
}

// pairParts is parts for a map.
func (m *Message) pairParts(t *schema.Type, e uint32, yield func(part) bool) {
	keys, values := t.Key().Kind() >= schema.Record, t.Elem().Kind() >= schema.Record
	for i := range m.ix.List(e).Count() {
		pair := m.ix.List(e).Pair(i)
		key, value := pair.Key(), pair.Value()
		if key == 0 { // it was deleted
			continue
		}
		if keys && !yield(part{t: t.Key(), word: key, i: i, key: true}) {
			return
		}
		if values && value != 0 && !yield(part{t: t.Elem(), word: value, i: i}) {
			return
		}
	}
}

// elementParts is parts for a list or set of elements of type t.
func (m *Message) elementParts(t *schema.Type, e uint32, yield func(part) bool) {
	for i := range m.ix.List(e).Count() {
		if x := m.elementWord(e, t, i); x != 0 && !yield(part{t: t, word: x, i: i}) {
			return
		}
	}
}

// indexLazily indexes the value of field f of the struct of entry e. The value was left for later.
// It returns the value's entry, which is the field's word from now on.
func (m *Message) indexLazily(f *schema.Field, e uint32) uint32 {
	p := m.ix.At(e, f.Ref()).Pos()
	var x uint32
	if m.pending&byIndex != 0 {
		x = m.land(f, e, p)
	} else {
		m.beginTrusted(p).Lazy = true // values in it are left for later
		var i int
		i, x = m.p.Value(f.Type, 0, 0)
		m.p.EndTrusted(i)
	}
	m.ix.Put(e, f.Ref(), index.Word(x))
	return x
}
