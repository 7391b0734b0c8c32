package nocopy

import (
	"math/bits"

	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// A wide struct has more than entry.MaxDirect fields, of which mostly few are set: its index is to
// be in proportion to those. So its entry has no word for each field, but the number of a table: a
// word of the index from which on the table stands.
//
// A table is a bitset and the words of the fields in it. For each group of 32 fields there are a
// set, as 32 bits, and the offset in the table of the words of the fields in the set, which are in
// ascending order. The groups come first. The words of a group are anywhere after them; a group
// that a field is added to moves to the end, unless it is there: so fields that are set in
// ascending order are appended. A table that is full is copied into a larger one.
//
// A struct of more than flatSpan words has tables of two levels. The words in the outer one are
// the numbers of the tables for chunkSpan fields each. So the smallest table for one field takes
// 256 bytes, however many fields the struct has.
//
// No word stays 0: a field that is removed leaves the set.

// What a table begins with.
const (
	tableRoom   = iota // how many words it has
	tableUsed          // how many of them are in use
	tableGroups        // the first group: a set, and an offset
)

const (
	tableWord = entry.Table // the word of an entry with the number of the table
	wideWords = entry.WideWords

	groupLog   = 5
	groupMask  = 1<<groupLog - 1
	groupWords = 2

	flatSpan  = entry.FlatWords
	chunkLog  = 9
	chunkSpan = 1 << chunkLog
	chunkMask = chunkSpan - 1

	// For how many fields a table has room that setters begin to fill: for as many as one needed that
	// was full before, in the same message.
	leastSlots = 8
	mostSlots  = 32
)

// wide reports whether the field is of a wide struct.
func (f XField) wide() bool { return int32(f) < 0 }

// bareTable returns how many words a table has for a struct of span words none of which is set.
func bareTable(span uint32) uint32 {
	return tableGroups + (span+groupMask)>>groupLog*groupWords
}

// at returns the word of field f of the struct of entry e.
func (m *Message) at(e uint32, f XField) uint32 {
	if f&(entry.Far|entry.Wide) != 0 { // written so, put is inlined
		return m.atElsewhere(e, f)
	}
	return m.idx[e+uint32(f>>entry.WordShift)]
}

//go:noinline
func (m *Message) atElsewhere(e uint32, f XField) uint32 {
	if f&entry.Far != 0 {
		return m.idx[e+m.idx[e+awayWord]+uint32(f>>entry.WordShift)]
	}
	return tableAt(m.idx, m.idx[e+tableWord], f)
}

// put sets the word of field f of the struct of entry e.
func (m *Message) put(e uint32, f XField, word uint32) {
	if f&(entry.Far|entry.Wide) != 0 {
		m.putElsewhere(e, f, word)
	} else {
		m.idx[e+uint32(f>>entry.WordShift)] = word
	}
}

//go:noinline
func (m *Message) putElsewhere(e uint32, f XField, word uint32) {
	switch {
	case f.far():
		m.putFar(e, f, word)
	case word == 0:
		removeFromTable(m.idx, m.idx[e+tableWord], f)
	default:
		*m.wideSlot(e, f) = word
	}
}

// slot returns where the word of field f of the struct of entry e is, which is not near; the
// caller puts something other than 0 there. It is good until the index grows.
func (m *Message) slot(e uint32, f XField) *uint32 {
	if f.far() {
		return m.farSlot(e, f)
	}
	return m.wideSlot(e, f)
}

// wideSlot returns where the word of field f of the wide struct of entry e is, having made room
// for it, in which the caller puts something other than 0. It is good until the index grows.
func (m *Message) wideSlot(e uint32, f XField) *uint32 {
	t, at := m.inTable(m.idx[e+tableWord], f)
	m.idx[e+tableWord] = t
	return &m.idx[at]
}

// tableAt returns the word of field f in table t, or 0.
func tableAt(idx []uint32, t uint32, f XField) uint32 {
	n := f.word()
	if t == 0 {
		return 0
	}
	if f.words() > flatSpan {
		if t = inFlat(idx, t, n>>chunkLog); t == 0 {
			return 0
		}
		n &= chunkMask
	}
	return inFlat(idx, t, n)
}

// inFlat returns word n in table t, or 0.
func inFlat(idx []uint32, t, n uint32) uint32 {
	group := idx[t+tableGroups+n>>groupLog*groupWords:][:groupWords]
	set, bit := group[0], uint32(1)<<(n&groupMask)
	if set&bit == 0 {
		return 0
	}
	return idx[t+group[1]+uint32(bits.OnesCount32(set&(bit-1)))]
}

// inTable returns where the word of field f is, having added it to table t if need be, and the
// number of the table then. A t of 0 is an empty table.
func (m *Message) inTable(t uint32, f XField) (table, at uint32) {
	n, span := f.word(), f.words()
	if span <= flatSpan {
		return m.addToFlat(t, n, span)
	}
	t, outer := m.addToFlat(t, n>>chunkLog, chunksOf(span))
	inner, at := m.addToFlat(m.idx[outer], n&chunkMask, chunkSpan)
	m.idx[outer] = inner
	return t, at
}

// chunksOf returns how many words the outer table has for a struct of span words.
func chunksOf(span uint32) uint32 { return (span + chunkMask) >> chunkLog }

// addToFlat returns where word n is in table t of one level, having added it if need be, and the
// number of the table then. A t of 0 is an empty table.
func (m *Message) addToFlat(t, n, span uint32) (table, at uint32) {
	if t != 0 {
		if at := addToSet(m.idx[t:][:m.idx[t+tableRoom]], n); at != 0 {
			return t, t + at
		}
	}
	room := bareTable(span) + max(m.tableSlots, leastSlots)
	if t != 0 {
		room = roomForMore(m.idx[t:], span)
		m.tableSlots = min(room-bareTable(span), mostSlots)
	}
	to := m.allocTable(room)
	fillTable(m.idx, to, t, span)
	if t != 0 {
		m.freeFlat(t)
	}
	return to, to + addToSet(m.idx[to:][:m.idx[to+tableRoom]], n)
}

// addToSet returns the offset of word n of a table of one level, which it adds as 0 if it is not
// in its set; 0 if the table has no room for it.
func addToSet(table []uint32, n uint32) uint32 {
	group := table[tableGroups+n>>groupLog*groupWords:][:groupWords]
	bit := uint32(1) << (n & groupMask)
	set, first := group[0], group[1]
	before := uint32(bits.OnesCount32(set & (bit - 1)))
	if set&bit != 0 {
		return first + before
	}
	count, used, room := uint32(bits.OnesCount32(set)), table[tableUsed], uint32(len(table))
	switch {
	case count == 0:
		first = used
	case first+count != used:
		if used+count >= room {
			return 0
		}
		copy(table[used:], table[first:first+count])
		first, used = used, used+count
	}
	if used >= room {
		return 0
	}
	at := first + before
	copy(table[at+1:used+1], table[at:used])
	table[at] = 0
	group[0], group[1] = set|bit, first
	table[tableUsed] = used + 1
	return at
}

// removeFromTable removes field f from the set of table t, if it is there.
func removeFromTable(idx []uint32, t uint32, f XField) {
	n := f.word()
	if t != 0 && f.words() > flatSpan {
		t = inFlat(idx, t, n>>chunkLog)
		n &= chunkMask
	}
	if t == 0 {
		return
	}
	group := idx[t+tableGroups+n>>groupLog*groupWords:][:groupWords]
	set, bit := group[0], uint32(1)<<(n&groupMask)
	if set&bit == 0 {
		return
	}
	group[0] = set &^ bit
	before, after := bits.OnesCount32(set&(bit-1)), bits.OnesCount32(set&^(bit-1))
	words := idx[t+group[1]+uint32(before):][:after]
	copy(words, words[1:])
}

// roomForMore returns how many words a table has that takes the place of a full one, for a struct
// of span words.
func roomForMore(table []uint32, span uint32) uint32 {
	n := 0
	for i := uint32(tableGroups); i < bareTable(span); i += groupWords {
		n += bits.OnesCount32(table[i])
	}
	return bareTable(span) + max(2*uint32(n), leastSlots)
}

// fillTable copies the words of table t into the table to, which has room for them, and nothing in
// it. A t of 0 is an empty table.
func fillTable(idx []uint32, to, t, span uint32) {
	used := bareTable(span)
	if t == 0 {
		idx[to+tableUsed] = used
		return
	}
	from, table := idx[t:], idx[to:]
	for i := uint32(tableGroups); i < bareTable(span); i += groupWords {
		count := uint32(bits.OnesCount32(from[i]))
		table[i], table[i+1] = from[i], used
		copy(table[used:used+count], from[from[i+1]:])
		used += count
	}
	table[tableUsed] = used
}

// indexWideTemplate sets the words of the fields of a template at position p, if the struct is
// wide.
func (m *Message) indexWideTemplate(d *XDesc, e, p uint32) {
	for _, s := range d.wideTemplate {
		m.putElsewhere(e, d.fields[s.word-d.first].c, p+s.off)
	}
}

// spareTables are the tables that are free, by their sizes' logarithms: the first of each, whose
// tableUsed is the next one.
type spareTables [13]uint32

// allocTable returns the first of at least n zero words for a table, its room set.
func (m *Message) allocTable(n uint32) uint32 {
	m.hasTables = true
	class := bits.Len32(n) - 1
	for c := class; c < len(m.spareTables) && c <= class+1; c++ {
		if t := m.spareTables[c]; t != 0 && m.idx[t+tableRoom] >= n {
			m.spareTables[c] = m.idx[t+tableUsed]
			clear(m.idx[t+tableUsed : t+m.idx[t+tableRoom]])
			return t
		}
	}
	t := m.alloc(int(n))
	m.idx[t+tableRoom] = n
	return t
}

// freeTable frees table t of a struct of span words, whose fields' values are no longer of
// interest. 0 is no table.
func (m *Message) freeTable(t, span uint32) {
	if t == 0 {
		return
	}
	if span > flatSpan {
		for n := m.nextInFlat(t, 0, chunksOf(span)); n < chunksOf(span); n = m.nextInFlat(t, n+1, chunksOf(span)) {
			m.freeFlat(inFlat(m.idx, t, n))
		}
	}
	m.freeFlat(t)
}

func (m *Message) freeFlat(t uint32) {
	m.hasTables = true
	c := bits.Len32(m.idx[t+tableRoom]) - 1
	m.idx[t+tableUsed] = m.spareTables[c]
	m.spareTables[c] = t
}

// forgetTables forgets which tables are free, since the index is no longer in use.
func (m *Message) forgetTables() {
	m.hasTables, m.spareTables, m.tableSlots = false, spareTables{}, 0
}

// next returns the number of the first field from field i on that may be set in the struct of
// entry e, which d describes: i itself unless the struct is wide. There is none if it is
// len(d.fields).
func (m *Message) next(d *XDesc, e uint32, i int) int {
	if !d.wide {
		return i
	}
	return m.nextWide(d, e, i)
}

// NextField returns the number of the first field from field i on that may be set in s, which d
// describes; there is none if it is d.NumFields().
func (s XStruct) NextField(d *XDesc, i int) int {
	if s.m == nil || !d.wide {
		return i
	}
	s.alive()
	return s.m.nextWide(d, s.entry(), i)
}

func (m *Message) nextWide(d *XDesc, e uint32, i int) int {
	if i >= len(d.fields) {
		return len(d.fields)
	}
	span := d.span()
	n := m.nextInTable(m.idx[e+tableWord], d.first+uint32(i), span)
	return int(n - d.first)
}

// nextInTable returns the first word from n on that is in the set of table t of a struct of span
// words; span if there is none.
func (m *Message) nextInTable(t, n, span uint32) uint32 {
	switch {
	case t == 0:
		return span
	case span <= flatSpan:
		return m.nextInFlat(t, n, span)
	}
	for chunk := n >> chunkLog; ; chunk++ {
		if next := m.nextInFlat(t, chunk, chunksOf(span)); next != chunk {
			n = next << chunkLog
			chunk = next
		}
		if n >= span || chunk >= chunksOf(span) {
			return span
		}
		if k := m.nextInFlat(inFlat(m.idx, t, chunk), n&chunkMask, chunkSpan); k < chunkSpan {
			return min(chunk<<chunkLog|k, span)
		}
		n = (chunk + 1) << chunkLog
	}
}

// nextInFlat returns the first word from n on that is in the set of table t, of one level, of a
// struct of span words; span if there is none.
func (m *Message) nextInFlat(t, n, span uint32) uint32 {
	for n < span {
		if set := m.idx[t+tableGroups+n>>groupLog*groupWords] >> (n & groupMask); set != 0 {
			return min(n+uint32(bits.TrailingZeros32(set)), span)
		}
		n = (n | groupMask) + 1
	}
	return span
}

// lastArmIn returns the word of the last field that is set of the wide union of entry e, f being
// one of its fields; 0 if none is.
func (m *Message) lastArmIn(e uint32, f XField) (last uint32) {
	t, span := m.idx[e+tableWord], f.words()
	for n := m.nextInTable(t, 0, span); n < span; n = m.nextInTable(t, n+1, span) {
		last = n
	}
	return last
}
