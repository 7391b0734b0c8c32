package engine

import (
	"math/bits"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// A wide struct has more than entry.MaxDirect fields. Mostly few of them are set, and the index
// should be in proportion to the set ones. Its entry therefore does not have a word for each
// field, but the number of a table, or 0 for an empty one. That is the number of the word of the
// index at which the table begins.
//
// A table has the words of the fields that are set. It begins with a group for each 32 fields: a
// set of fields, as 32 bits, and the offset in the table of the words of these, which are in
// ascending order. The words of a group are anywhere after the groups; when a field is added they
// move to the end of the table, unless they are there already. Fields that are set in ascending
// order are therefore appended. A table that is full is copied into a larger one.
//
// A struct of more than flatSpan words has tables of two levels. The words in the outer table are
// the numbers of inner tables, for chunkSpan fields each. The smallest table for one field
// therefore takes 256 bytes, however many fields the struct has. A flat table has one level: the
// table of a smaller struct, an outer table and an inner table are flat.
//
// A word in a table is not 0: a field that is unset leaves the set.

// What a table begins with.
const (
	tableRoom   = entry.TableRoom
	tableUsed   = entry.TableUsed
	tableGroups = entry.TableGroups
)

const (
	tableWord = entry.Table // the word of an entry with the number of the table
	wideWords = entry.WideWords

	groupLog   = entry.GroupLog
	groupMask  = entry.GroupMask
	groupWords = entry.GroupWords

	flatSpan  = entry.FlatWords
	chunkLog  = entry.ChunkLog
	chunkSpan = entry.ChunkSpan
	chunkMask = entry.ChunkMask

	// A new table has room for as many fields as the one that last took the place of a full one in
	// the same message (Message.tableSlots), within these bounds.
	leastSlots = 8
	mostSlots  = 32
)

// at returns the word of field f of the struct of entry e.
func (m *Message) at(e uint32, f schema.Ref) uint32 {
	if int32(f) < 0 { // written so, put is inlined
		return m.atWide(e, f)
	}
	return m.idx[e+uint32(f>>entry.WordShift)]
}

//go:noinline
func (m *Message) atWide(e uint32, f schema.Ref) uint32 { return tableAt(m.idx, m.idx[e+tableWord], f) }

// put sets the word of field f of the struct of entry e.
func (m *Message) put(e uint32, f schema.Ref, word uint32) {
	if int32(f) < 0 {
		m.putWide(e, f, word)
	} else {
		m.idx[e+uint32(f>>entry.WordShift)] = word
	}
}

// putWide does the work of put for a wide struct.
//
//go:noinline
func (m *Message) putWide(e uint32, f schema.Ref, word uint32) {
	if word == 0 {
		removeFromTable(m.idx, m.idx[e+tableWord], f)
	} else {
		*m.wideSlot(e, f) = word
	}
}

// wideSlot returns a pointer to the word of field f of the wide struct of entry e, for which it
// makes room if need be. The caller sets it to something other than 0. It is good until the index
// grows.
func (m *Message) wideSlot(e uint32, f schema.Ref) *uint32 {
	t, at := m.inTable(m.idx[e+tableWord], f)
	m.idx[e+tableWord] = t
	return &m.idx[at]
}

// tableAt returns the word of field f in table t, of one or two levels; 0 if the field is not set.
func tableAt(idx []uint32, t uint32, f schema.Ref) uint32 {
	n := f.Word()
	if t == 0 {
		return 0
	}
	if f.Words() > flatSpan {
		if t = inFlat(idx, t, n>>chunkLog); t == 0 {
			return 0
		}
		n &= chunkMask
	}
	return inFlat(idx, t, n)
}

// inFlat returns word n in the flat table t, 0 if it is not in the table's set.
func inFlat(idx []uint32, t, n uint32) uint32 {
	group := idx[t+tableGroups+n>>groupLog*groupWords:][:groupWords]
	set, bit := group[0], uint32(1)<<(n&groupMask)
	if set&bit == 0 {
		return 0
	}
	return idx[t+group[1]+uint32(bits.OnesCount32(set&(bit-1)))]
}

// inTable adds field f to table t if it is not in it. It returns the number of the table, which is
// another one if t had no room, and the number of the field's word in the index. A t of 0 is an
// empty table.
func (m *Message) inTable(t uint32, f schema.Ref) (table, at uint32) {
	n, span := f.Word(), f.Words()
	if span <= flatSpan {
		return m.addToFlat(t, n, span)
	}
	t, outer := m.addToFlat(t, n>>chunkLog, entry.Chunks(span))
	inner, at := m.addToFlat(m.idx[outer], n&chunkMask, chunkSpan)
	m.idx[outer] = inner
	return t, at
}

// addToFlat adds word n to the flat table t of a struct of span words if it is not in it. It
// returns what inTable returns.
func (m *Message) addToFlat(t, n, span uint32) (table, at uint32) {
	if t != 0 {
		if at := addToSet(m.idx[t:][:m.idx[t+tableRoom]], n); at != 0 {
			return t, t + at
		}
	}
	room := entry.BareTable(span) + max(m.tableSlots, leastSlots)
	if t != 0 {
		room = roomForMore(m.idx[t:], span)
		m.tableSlots = min(room-entry.BareTable(span), mostSlots)
	}
	to := m.allocTable(room)
	fillTable(m.idx, to, t, span)
	if t != 0 {
		m.freeFlat(t)
	}
	return to, to + addToSet(m.idx[to:][:m.idx[to+tableRoom]], n)
}

// addToSet adds word n, as 0, to a flat table that does not have it. It returns the word's offset
// in the table; 0 if there is no room for it.
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
func removeFromTable(idx []uint32, t uint32, f schema.Ref) {
	n := f.Word()
	if t != 0 && f.Words() > flatSpan {
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

// roomForMore returns how many words to allocate for a table that takes the place of table, which
// is full, of a struct of span words: there is room for twice as many fields then.
func roomForMore(table []uint32, span uint32) uint32 {
	n := 0
	for i := uint32(tableGroups); i < entry.BareTable(span); i += groupWords {
		n += bits.OnesCount32(table[i])
	}
	return entry.BareTable(span) + max(2*uint32(n), leastSlots)
}

// fillTable copies the flat table t of a struct of span words into the new table to, which has
// room for it. All words of to are zero, except tableRoom. A t of 0 is an empty table.
func fillTable(idx []uint32, to, t, span uint32) {
	used := entry.BareTable(span)
	if t == 0 {
		idx[to+tableUsed] = used
		return
	}
	from, table := idx[t:], idx[to:]
	for i := uint32(tableGroups); i < entry.BareTable(span); i += groupWords {
		count := uint32(bits.OnesCount32(from[i]))
		table[i], table[i+1] = from[i], used
		copy(table[used:used+count], from[from[i+1]:])
		used += count
	}
	table[tableUsed] = used
}

// indexWideTemplate sets the words of the fields that the template of d sets, whose copy is at
// position p, in entry e. It does nothing if the struct is not wide.
func (m *Message) indexWideTemplate(d *schema.Struct, e, p uint32) {
	for _, s := range d.WideTemplate() {
		m.putWide(e, d.Fields()[s.Word-d.First()].Ref(), p+s.Off)
	}
}

// spareTables are the free tables. Item c is the first table of 1<<c to 1<<(c+1)-1 words, 0 if
// there is none. The word tableUsed of each is the number of the next one.
type spareTables [13]uint32

// allocTable returns the number of a new table of at least n words. They are zero, except
// tableRoom.
func (m *Message) allocTable(n uint32) uint32 {
	m.hasTables, m.more = true, true
	m.ownSeldom()
	class, spare := bits.Len32(n)-1, &m.spareTables
	for c := class; c < len(spare) && c <= class+1; c++ {
		if t := spare[c]; t != 0 && m.idx[t+tableRoom] >= n {
			spare[c] = m.idx[t+tableUsed]
			clear(m.idx[t+tableUsed : t+m.idx[t+tableRoom]])
			return t
		}
	}
	t := m.alloc(int(n))
	m.idx[t+tableRoom] = n
	return t
}

// freeTable frees table t, of one or two levels, of a struct of span words. It does not look at
// the fields' values. 0 is no table.
func (m *Message) freeTable(t, span uint32) {
	if t == 0 {
		return
	}
	if span > flatSpan {
		for n := m.nextInFlat(t, 0, entry.Chunks(span)); n < entry.Chunks(span); n = m.nextInFlat(t, n+1, entry.Chunks(span)) {
			m.freeFlat(inFlat(m.idx, t, n))
		}
	}
	m.freeFlat(t)
}

// freeFlat frees the flat table t. Code that makes tables has made seldom the message's own.
func (m *Message) freeFlat(t uint32) {
	s, c := m.seldom, bits.Len32(m.idx[t+tableRoom])-1
	m.idx[t+tableUsed] = s.spareTables[c]
	s.spareTables[c] = t
}

// forgetTables forgets which tables are free, since the index is no longer in use.
func (m *Message) forgetTables() {
	m.hasTables, m.tableSlots = false, 0
	if m.seldom != &noSeldom {
		m.spareTables = spareTables{}
	}
}

// next returns the number of the first field from field i on that may be set in the struct of
// entry e, which d describes; len(d.fields) if there is none. If the struct is not wide it returns
// i itself.
func (m *Message) next(d *schema.Struct, e uint32, i int) int {
	if !d.IsWide() {
		return i
	}
	return m.nextWide(d, e, i)
}

// NextField returns the number of the first field from field i on that may be set in s, or
// d.NumFields(). d describes s.
func (s Struct) NextField(d *schema.Struct, i int) int {
	if s.m == nil {
		return i
	}
	s.alive()
	if d.IsWide() {
		return s.m.nextWide(d, s.entry(), i)
	}
	words := s.m.idx[s.entry()+d.First():][:len(d.Fields())]
	for i < len(words) && words[i] == 0 {
		i++
	}
	return i
}

// nextWide does the work of next for a wide struct.
func (m *Message) nextWide(d *schema.Struct, e uint32, i int) int {
	if i >= len(d.Fields()) {
		return len(d.Fields())
	}
	span := d.Span()
	n := m.nextInTable(m.idx[e+tableWord], d.First()+uint32(i), span)
	return int(n - d.First())
}

// nextInTable returns the number of the first word from word n on that is in table t, of one or
// two levels, of a struct of span words; span if there is none.
func (m *Message) nextInTable(t, n, span uint32) uint32 {
	switch {
	case t == 0:
		return span
	case span <= flatSpan:
		return m.nextInFlat(t, n, span)
	}
	for chunk := n >> chunkLog; ; chunk++ {
		if next := m.nextInFlat(t, chunk, entry.Chunks(span)); next != chunk {
			n = next << chunkLog
			chunk = next
		}
		if n >= span || chunk >= entry.Chunks(span) {
			return span
		}
		if k := m.nextInFlat(inFlat(m.idx, t, chunk), n&chunkMask, chunkSpan); k < chunkSpan {
			return min(chunk<<chunkLog|k, span)
		}
		n = (chunk + 1) << chunkLog
	}
}

// nextInFlat returns the number of the first word from word n on that is in the flat table t of a
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
func (m *Message) lastArmIn(e uint32, f schema.Ref) (last uint32) {
	t, span := m.idx[e+tableWord], f.Words()
	for n := m.nextInTable(t, 0, span); n < span; n = m.nextInTable(t, n+1, span) {
		last = n
	}
	return last
}
