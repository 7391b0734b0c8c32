package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file reads lists of structs by a message's wire index (landing.go): a few elements by the
// anchors, the offsets of some elements, and all of them once many have been read.

// entryOf returns the entry of element i if it has been read, else 0.
func (l *landedList) entryOf(i uint32) uint32 {
	for _, t := range l.few[:min(l.n, len(l.few))] {
		if t.number == i {
			return t.entry
		}
	}
	return l.touched.Get(i)
}

// touch notes that element i of a list has been read.
func (l *landing) touch(list *landedList, i, entry uint32) {
	switch {
	case list.n < len(list.few):
		list.few[list.n] = touched{i, entry}
	case list.touched.Len() == 0:
		list.touched = l.takeMap()
		fallthrough
	default:
		list.touched.Put(i, entry)
	}
	list.n++
}

// takeMap returns an empty map.
func (l *landing) takeMap() touchedMap {
	k := len(l.maps) - 1
	if k < 0 {
		return touchedMap{}
	}
	m := l.maps[k]
	l.maps = l.maps[:k]
	return m
}

// mostTouched returns how many of n elements of a list may be read one by one: when more are, all
// are parsed.
func mostTouched(n uint32) int { return 64 + int(n/8) }

// spent reports whether looking up elements has passed over so many bytes that the list had better
// be parsed as a whole: wrong anchors may be far apart.
func (l *landedList) spent() bool { return l.passed > mostPassed*(l.end-l.at) }

// landList makes an entry of the list of type t from offset at to end, in a struct that is depth
// levels deep, and returns it. Its elements will be found by the anchors that entry k of the wire
// index has. It returns 0 if that has none, or they do not fit the list.
func (m *Message) landList(t *schema.Type, at, end, k, depth int) uint32 {
	l := m.landing
	entry, body := l.x.Entry(k), at+wire.ListHeader
	if wireindex.Number(entry[wireindex.EntryAnchorsAt:]) == 0 || body > end || l.b[at] != byte(t.Elem().Wire()) || !m.mayAlloc(listWords) {
		return 0
	}
	n := wire.BE32(l.b[at+1:])
	_, stride := wireindex.EntryField(entry)
	if uint64(n) > uint64(end-body) || stride > wireindex.MaxStride || n <= 1<<stride {
		return 0
	}
	if _, ok := l.x.Anchor(entry, int(n-1)>>stride-1); !ok {
		return 0
	}
	e := m.ix.Alloc(listWords)
	w := (*[listWords]uint32)(m.ix.Words[e:])
	w[listStart], w[listEnd] = l.base+uint32(body), l.base+uint32(end)
	w[listCount], w[listElems], w[listRoom], w[listType] = n, uint32(len(l.lists)), roomByIndex, t.ID()
	l.lists = append(l.lists, landedList{e: e, typ: t, depth: depth, at: at, end: end, k: k, inner: l.x.Offset(k+1) < end})
	return e
}

// landElement returns the entry of element i of a list in landing.lists.
func (m *Message) landElement(number, i uint32) uint32 {
	l := &m.landing.lists[number]
	if e := l.entryOf(i); e != 0 {
		return e
	}
	spent := l.spent()
	if (spent || l.n >= mostTouched(m.ix.Words[l.e+listCount])) && m.fillList(l) {
		return m.structEntry(l.e, i)
	}
	e := uint32(0)
	if !spent {
		e = m.landOne(l, i)
	}
	if e == 0 {
		m.landing.misfit(m.desc, l.at)
		if m.flags&RequireIndex == 0 && m.fillList(l) {
			return m.structEntry(l.e, i)
		}
		return m.absentEntry(l.typ.Elem())
	}
	m.landing.touch(l, i, e)
	return e
}

// landOne returns the entry of element i of a list, which has none; 0 if it is not valid or the
// index does not fit.
func (m *Message) landOne(l *landedList, i uint32) (e uint32) {
	at, limit, ok := m.findElement(l, int(i))
	if ok && l.inner {
		e, _ = m.landStruct(l.typ.Elem().Struct(), at, limit, m.landing.x.Seek(l.k+1, at), l.depth+1)
	}
	if ok && e == 0 {
		e, _, _ = m.parseAt(l.typ.Elem(), at, limit, l.depth)
	}
	return e
}

// findElement returns the offset of element i of a list, and limit, the offset that the element
// ends at or before: the offset of the next anchor, or of the list's end. It reports whether the
// anchors fit.
func (m *Message) findElement(l *landedList, i int) (at, limit int, ok bool) {
	x := &m.landing.x
	entry := x.Entry(l.k)
	_, stride := wireindex.EntryField(entry)
	from := i >> stride
	at, limit = l.at+wire.ListHeader, l.end
	if from > 0 {
		before := at
		if from > 1 {
			anchor, _ := x.Anchor(entry, from-2)
			before = max(before, anchor)
		}
		if at, _ = x.Anchor(entry, from-1); at <= before {
			return 0, 0, false
		}
	}
	if (from+1)<<stride < int(m.ix.Words[l.e+listCount]) {
		limit, _ = x.Anchor(entry, from)
	}
	if at >= limit || limit > l.end || !m.landing.affords(l.depth, limit-at) {
		return 0, 0, false
	}
	l.passed += limit - at
	for range i - from<<stride {
		if l.inner {
			at, ok = m.landing.passStruct(at, limit, l.k+1)
		} else {
			at, ok = m.landing.pass(at, limit, wire.Struct)
		}
		if !ok {
			return 0, 0, false
		}
	}
	return at, limit, at < limit
}

// passStruct returns the offset after the struct at offset i, and whether it is whole before stop.
// It passes over large values by the entries of the wire index from entry k on.
func (l *landing) passStruct(i, stop, k int) (int, bool) {
	for k = l.x.Seek(k, i); stop-i > wire.FieldHeader && l.b[i] != byte(wire.Stop); {
		at, end, ok := i+wire.FieldHeader, 0, false
		if l.x.Offset(k) == at {
			entry := l.x.Entry(k)
			end = int(wireindex.Number(entry[wireindex.EntryEndAt:]))
			header, _ := wireindex.EntryField(entry)
			ok = wire.HeaderAt(l.b, i) == header && end > at && end <= stop
		}
		if !ok {
			if end, ok = l.pass(at, stop, wire.Type(l.b[i])); !ok {
				return 0, false
			}
		}
		i, k = end, l.x.Seek(k, end)
	}
	return i + 1, i < stop && l.b[i] == byte(wire.Stop)
}

// fillByIndex parses all of the list of entry e, if its elements are found by anchors. It reports
// whether it is valid.
func (m *Message) fillByIndex(e uint32) bool {
	return m.ix.Words[e+listRoom] != roomByIndex || m.fillList(&m.landing.lists[m.ix.Words[e+listElems]])
}

// fillList parses all of a list, and reports whether it is valid. Elements that have been read
// keep their entries.
func (m *Message) fillList(l *landedList) bool {
	if m.ix.Words[l.e+listRoom] != roomByIndex {
		return true
	}
	if l.failed {
		return false
	}
	defer m.moreIndex()()
	var full uint32
	end, ok, n := 0, m.landing.affords(l.depth, l.end-l.at), m.ix.Words[l.e+listCount]
	if ok {
		full, end, ok = m.parseAt(l.typ, l.at, l.end, l.depth)
	}
	if !ok || end != l.end || l.n > 0 && !m.mayAlloc(int(n)) {
		m.landing.misfit(m.desc, l.at)
		l.failed = true
		return false
	}
	elems, room := m.ix.Words[full+listElems], m.ix.Words[full+listRoom]
	if l.n > 0 {
		table := m.ix.Alloc(int(n))
		for i := range n {
			m.ix.Words[table+i] = m.structEntry(full, i)
		}
		for _, t := range l.few[:min(l.n, len(l.few))] {
			m.ix.Words[table+t.number] = t.entry
		}
		for i, e := range l.touched.All() {
			m.ix.Words[table+i] = e
		}
		elems, room = table, roomTable|n
	}
	m.ix.Words[l.e+listElems], m.ix.Words[l.e+listRoom] = elems, room
	return true
}

// structEntry returns the entry of element i of a list of structs.
func (m *Message) structEntry(e, i uint32) uint32 {
	elems := m.ix.Words[e+listElems]
	switch room := m.ix.Words[e+listRoom]; {
	case room&roomTable == 0:
		return elems + i*(room&roomMask)
	case room == roomByIndex:
		return m.landElement(elems, i)
	}
	return m.ix.Words[elems+i]
}

// land returns the entry of the value of field f in the struct of entry e: it was left for later
// at position p.
func (m *Message) land(f *schema.Field, e, p uint32) uint32 {
	l := m.landing
	at, depth, stop := int(p-l.base), 1, int(m.ix.Words[e+entry.End]-l.base)
	if e != m.root {
		depth = int(m.ix.Words[e-1])
	}
	k := l.x.Seek(0, at)
	if l.x.Offset(k) != at || !isOf(f, l.x.Entry(k)) {
		if word, _, ok := m.parseAt(f.Type, at, stop, depth); ok {
			return word
		}
		return m.absentEntry(f.Type)
	}
	if wire.HeaderAt(l.b, at-wire.FieldHeader) == f.Header() {
		if word := m.landValue(f.Type, at, stop, k, depth); word != 0 {
			return word
		}
	}
	l.misfit(m.desc, at)
	if m.flags&RequireIndex == 0 {
		if at := l.scanFor(f, int(m.ix.Words[e+entry.Start]-l.base)); at > 0 {
			if word, _, ok := m.parseAt(f.Type, at, len(l.b), depth); ok {
				return word
			}
		}
	}
	return m.absentEntry(f.Type)
}

// landValue returns the entry of the value of type t at an offset, before stop, which entry k of
// the wire index is for; 0 if the value is not as that entry tells.
func (m *Message) landValue(t *schema.Type, at, stop, k, depth int) uint32 {
	l := m.landing
	end := int(wireindex.Number(l.x.Entry(k)[wireindex.EntryEndAt:]))
	// landFields may have passed here by another entry
	if end <= at || end > stop || !l.affords(depth, end-at) {
		return 0
	}
	inner := l.x.Offset(k+1) < end
	if t.Kind() == schema.Record && !t.Struct().IsUnion() && (inner || end-at <= smallStruct) {
		if e, to := m.landStruct(t.Struct(), at, end, k+1, depth+1); to == end {
			return e
		}
	}
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record && !t.Elem().Struct().IsUnion() {
		if e := m.landList(t, at, end, k, depth); e != 0 {
			return e
		}
	}
	if word, to, ok := m.parseAt(t, at, end, depth); ok && to == end {
		return word
	}
	return 0
}

// indexRest indexes the values that were left for later, without using the index. It reports
// whether it could; if not, landing.err has the error.
func (m *Message) indexRest() bool {
	l := m.landing
	defer m.moreIndex()()
	for _, s := range l.structs {
		depth := 1
		if s.e != m.root {
			depth = int(m.ix.Words[s.e-1])
		}
		for i := m.ix.Next(s.desc, s.e, 0); i < len(s.desc.Fields()); i = m.ix.Next(s.desc, s.e, i+1) {
			f := &s.desc.Fields()[i]
			word := m.ix.At(s.e, f.Ref())
			if f.Kind() < schema.Record || word&index.NotIndexed == 0 {
				continue
			}
			word, _, ok := m.parseAt(f.Type, int(word&^index.NotIndexed-l.base), len(l.b), depth)
			if !ok {
				return false
			}
			m.ix.Put(s.e, f.Ref(), word)
		}
	}
	for i := range l.lists {
		l.lists[i].failed = false
		if !m.fillList(&l.lists[i]) {
			return false
		}
	}
	return true
}

// elementEntry returns the entry of element i of a list whose elements are structs or
// containers of type t.
func (m *Message) elementEntry(e uint32, t *schema.Type, i uint32) uint32 {
	if t.Kind() == schema.Record {
		return m.structEntry(e, i)
	}
	return m.ix.Words[m.ix.Words[e+listElems]+i]
}

// indexCheck compares an index with all of a message that is known to be valid. It knows no types:
// there may be entries for fields that the root's type does not have.
type indexCheck struct {
	x *wireindex.Index
	b []byte
	k int // the next entry
}

// structure compares the entries of the values in the struct at offset i. It returns the offset
// after the struct; or the offset of the value that does not fit, and false.
func (c *indexCheck) structure(i int) (int, bool) {
	for c.b[i] != byte(wire.Stop) {
		header, at := wire.HeaderAt(c.b, i), i+wire.FieldHeader
		if c.x.Offset(c.k) != at {
			i = c.pass(at, wire.Type(header>>16))
			continue
		}
		entry := c.x.Entry(c.k)
		c.k++
		end := int(wireindex.Number(entry[wireindex.EntryEndAt:]))
		if h, _ := wireindex.EntryField(entry); h != header || end > len(c.b) {
			return i, false
		}
		next, ok := c.value(wire.Type(header>>16), at, end, entry)
		if !ok || next != end {
			return i, false
		}
		i = end
	}
	return i + 1, true
}

// value does as structure, for the value of type t at an offset that this entry is for.
func (c *indexCheck) value(t wire.Type, at, end int, entry []byte) (int, bool) {
	inner := c.x.Offset(c.k) < end
	anchors := wireindex.Number(entry[wireindex.EntryAnchorsAt:]) != 0
	switch {
	case t == wire.Struct && inner:
		return c.structure(at)
	case t != wire.List && t != wire.Set || !anchors && !inner:
		return c.pass(at, t), true
	}
	elem, n, stride := wire.Type(c.b[at]), int(wire.BE32(c.b[at+1:])), uint8(0)
	_, stride = wireindex.EntryField(entry)
	if stride > wireindex.MaxStride {
		return at, false
	}
	at += wire.ListHeader
	ok := true
	for i := range n {
		if anchors && i > 0 && i&(1<<stride-1) == 0 {
			if a, found := c.x.Anchor(entry, i>>stride-1); !found || a != at {
				return at, false
			}
		}
		if elem == wire.Struct && c.x.Offset(c.k) < end {
			if at, ok = c.structure(at); !ok {
				return at, false
			}
			continue
		}
		at = c.pass(at, elem)
	}
	return at, true
}

func (c *indexCheck) pass(at int, t wire.Type) int {
	end, err := parse.Skip(c.b, at, t, parse.MaxBudget, 1)
	if err != nil {
		panic("nocopy: internal error: " + err.Error())
	}
	return end
}
