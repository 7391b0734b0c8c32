package index

import (
	"fmt"
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
// A word in a table is not 0: a field that is unset leaves the set.

const (
	// A new table has as many slots as the table that last replaced a full one in the same index
	// (Index.tableSlots), within these bounds.
	leastSlots = 8
	mostSlots  = 32
)

// At returns the word of field f of the struct of entry e.
func (x *Index) At(e uint32, f schema.Ref) Word {
	if int32(f) < 0 { // written so, Put is inlined
		return x.AtWide(e, f)
	}
	return Word(x.Words[e+uint32(f>>entry.NumberShift)+entry.Displacement])
}

// AtWide returns the word of field f of the wide struct of entry e.
//
//go:noinline
func (x *Index) AtWide(e uint32, f schema.Ref) Word { return x.TableAt(x.Table(e), f) }

// Near returns the word of field f of the struct of entry e, which is not wide.
func (x *Index) Near(e uint32, f schema.Ref) Word {
	return Word(x.Words[e+uint32(f>>entry.NumberShift)+entry.Displacement])
}

// PutNear sets the word of field f of the struct of entry e, which is not wide.
func (x *Index) PutNear(e uint32, f schema.Ref, w Word) {
	x.Words[e+uint32(f>>entry.NumberShift)+entry.Displacement] = uint32(w)
}

// Put sets the word of field f of the struct of entry e.
func (x *Index) Put(e uint32, f schema.Ref, word Word) {
	if int32(f) < 0 {
		x.putWide(e, f, word)
	} else {
		x.Words[e+uint32(f>>entry.NumberShift)+entry.Displacement] = uint32(word)
	}
}

// putWide does the work of Put for a wide struct.
//
//go:noinline
func (x *Index) putWide(e uint32, f schema.Ref, word Word) {
	if word == 0 {
		removeFromTable(x.Words, x.Words[e+entry.Table], f)
	} else {
		*x.wideSlot(e, f) = uint32(word)
	}
}

// PutNew sets the word of field f of the wide struct of entry e, unless the field is set, and
// reports whether it did. word is not 0.
func (x *Index) PutNew(e uint32, f schema.Ref, word Word) bool {
	slot := x.wideSlot(e, f)
	if *slot != 0 {
		return false
	}
	*slot = uint32(word)
	return true
}

// wideSlot returns a pointer to the word of field f of the wide struct of entry e, for which it
// makes room if need be. The caller sets it to something other than 0. It is good until the index
// grows.
func (x *Index) wideSlot(e uint32, f schema.Ref) *uint32 {
	t, at := x.InTable(x.Words[e+entry.Table], f)
	x.Words[e+entry.Table] = t
	return &x.Words[at]
}

// TableAt returns the word of field f in table t; 0 if the field is not set.
func (x *Index) TableAt(t uint32, f schema.Ref) Word {
	if t == 0 {
		return 0
	}
	n, words := uint32(f>>entry.NumberShift)+entry.Displacement, x.Words // to be inlined
	group := words[t+entry.TableGroups+n>>entry.GroupLog*entry.GroupWords:][:entry.GroupWords]
	set, bit := group[0], uint32(1)<<(n&entry.GroupMask)
	if set&bit == 0 {
		return 0
	}
	return Word(words[t+group[1]+uint32(bits.OnesCount32(set&(bit-1)))])
}

// Present is a field that is set in a wide struct: the number of its word in an entry, and the
// word.
type Present uint64

// PresentAt returns the field whose word has this number in an entry.
func PresentAt(number uint32, word Word) Present { return Present(number)<<32 | Present(word) }

// Number returns the number of the field's word in an entry.
func (p Present) Number() uint32 { return uint32(p >> 32) }

// Word returns the field's word.
func (p Present) Word() Word { return Word(p) }

// FillTable makes the words from number t on the table of a struct of span words that has these
// fields, in ascending order. They take entry.BareTable(span) words and one for each field.
func (x *Index) FillTable(t, span uint32, fields []Present) {
	bare := entry.BareTable(span)
	n := bare + uint32(len(fields))
	table := x.Words[t:][:n]
	table[entry.TableRoom], table[entry.TableUsed] = n, n
	groups, words := table[entry.TableGroups:bare], table[bare:]
	clear(groups)
	for k, f := range fields {
		number := f.Number()
		groups[number>>entry.GroupLog*entry.GroupWords] |= 1 << (number & entry.GroupMask)
		words[k] = uint32(f.Word())
	}
	at := bare
	for ; len(groups) >= entry.GroupWords; groups = groups[entry.GroupWords:] {
		groups[1] = at
		at += uint32(bits.OnesCount32(groups[0]))
	}
}

// CheckTable returns the number of words of table t of a struct of span words, or what is wrong in
// it, for tests.
func (x *Index) CheckTable(t, span uint32) (words uint32, err error) {
	table := x.Words[t:][:x.Words[t+entry.TableRoom]]
	taken := map[uint32]bool{}
	for n := range span {
		group := table[entry.TableGroups+n>>entry.GroupLog*entry.GroupWords:]
		if group[0]>>(n&entry.GroupMask)&1 == 0 {
			continue
		}
		at := group[1] + uint32(bits.OnesCount32(group[0]&(1<<(n&entry.GroupMask)-1)))
		if at < entry.BareTable(span) || at >= table[entry.TableUsed] || taken[at] {
			return 0, fmt.Errorf("word %d is at %d, of %d, or twice", n, at, table[entry.TableUsed])
		}
		if table[at] == 0 {
			return 0, fmt.Errorf("word %d is in the set, and 0", n)
		}
		taken[at] = true
	}
	return uint32(len(table)), nil
}

// InTable adds field f to table t if it is not in it. It returns the number of the table, which is
// another one if t had no room, and the number of the field's word in the index. A t of 0 is an
// empty table.
func (x *Index) InTable(t uint32, f schema.Ref) (table, at uint32) {
	n, span := f.Word(), f.Words()
	if t != 0 {
		if at := addToSet(x.Words[t:][:x.Words[t+entry.TableRoom]], n); at != 0 {
			return t, t + at
		}
	}
	room := entry.BareTable(span) + max(x.tableSlots, leastSlots)
	if t != 0 {
		room = roomForMore(x.Words[t:], span)
		x.tableSlots = min(room-entry.BareTable(span), mostSlots)
	}
	to := x.AllocTable(room)
	fillTable(x.Words, to, t, span)
	x.FreeTable(t)
	return to, to + addToSet(x.Words[to:][:x.Words[to+entry.TableRoom]], n)
}

// addToSet returns the offset of word n in a table. If the table does not have the word, it is
// added, as 0. addToSet returns 0 if there is no room for it.
func addToSet(table []uint32, n uint32) uint32 {
	group := table[entry.TableGroups+n>>entry.GroupLog*entry.GroupWords:][:entry.GroupWords]
	bit := uint32(1) << (n & entry.GroupMask)
	set, first := group[0], group[1]
	before := uint32(bits.OnesCount32(set & (bit - 1)))
	if set&bit != 0 {
		return first + before
	}
	count, used, room := uint32(bits.OnesCount32(set)), table[entry.TableUsed], uint32(len(table))
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
	table[entry.TableUsed] = used + 1
	return at
}

// removeFromTable removes field f from the set of table t, if it is there.
func removeFromTable(idx []uint32, t uint32, f schema.Ref) {
	if t == 0 {
		return
	}
	n := f.Word()
	group := idx[t+entry.TableGroups+n>>entry.GroupLog*entry.GroupWords:][:entry.GroupWords]
	set, bit := group[0], uint32(1)<<(n&entry.GroupMask)
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
	for i := uint32(entry.TableGroups); i < entry.BareTable(span); i += entry.GroupWords {
		n += bits.OnesCount32(table[i])
	}
	return entry.BareTable(span) + max(2*uint32(n), leastSlots)
}

// fillTable copies the table t of a struct of span words into the new table to, which has
// room for it. All words of to are zero, except entry.TableRoom. A t of 0 is an empty table.
func fillTable(idx []uint32, to, t, span uint32) {
	used := entry.BareTable(span)
	if t == 0 {
		idx[to+entry.TableUsed] = used
		return
	}
	from, table := idx[t:], idx[to:]
	for i := uint32(entry.TableGroups); i < entry.BareTable(span); i += entry.GroupWords {
		count := uint32(bits.OnesCount32(from[i]))
		table[i], table[i+1] = from[i], used
		copy(table[used:used+count], from[from[i+1]:])
		used += count
	}
	table[entry.TableUsed] = used
}

// FieldNode returns the node that replaces field f, by the second run of words of a struct.
func (x *Index) FieldNode(run uint32, f schema.Ref) uint32 {
	if f.Wide() {
		return uint32(x.TableAt(run, f))
	}
	return x.Words[run+f.Word()]
}

// SetFieldNode sets the node that replaces field f in the second run of words of a struct, and
// returns the number of the run. It makes one if run is 0.
func (x *Index) SetFieldNode(run uint32, f schema.Ref, node uint32) uint32 {
	if f.Wide() {
		t, at := x.InTable(run, f)
		x.Words[at] = node
		return t
	}
	if run == 0 {
		run = x.AllocRaw(int(f.Words()))
	}
	x.Words[run+f.Word()] = node
	return run
}

// FreeNodes frees slots, the words or the table for the nodes of the fields of a struct that d
// describes.
func (x *Index) FreeNodes(d *schema.Struct, slots uint32) {
	if d.IsWide() {
		x.FreeTable(slots)
		return
	}
	x.FreeRaw(slots, uint32(d.Words()))
}

// PutTemplate sets the words of the fields that the template of d sets, whose copy is at
// position p, in entry e. It does nothing if the struct is not wide.
func (x *Index) PutTemplate(d *schema.Struct, e, p uint32) {
	for _, s := range d.WideTemplate() {
		x.putWide(e, d.Fields()[s.Word-d.First()].Ref(), Word(p+s.Off))
	}
}

// spareTables are the free tables. Item c is the first table of 1<<c to 1<<(c+1)-1 words, 0 if
// there is none. The word entry.TableUsed of each is the number of the next one.
type spareTables [18]uint32

// AllocTable returns the number of a new table of at least n words. They are zero, except
// entry.TableRoom.
func (x *Index) AllocTable(n uint32) uint32 {
	x.HasTables = true
	class, spare := bits.Len32(n)-1, &x.ownRare().spareTables
	for c := class; c < len(spare) && c <= class+1; c++ {
		if t := spare[c]; t != 0 && x.Words[t+entry.TableRoom] >= n {
			spare[c] = x.Words[t+entry.TableUsed]
			clear(x.Words[t+entry.TableUsed : t+x.Words[t+entry.TableRoom]])
			return t
		}
	}
	t := x.Alloc(int(n))
	x.Words[t+entry.TableRoom] = n
	return t
}

// FreeTable frees table t. It does not look at the fields' values. 0 is no table.
func (x *Index) FreeTable(t uint32) {
	if t == 0 {
		return
	}
	r, c := x.ownRare(), bits.Len32(x.Words[t+entry.TableRoom])-1
	x.Words[t+entry.TableUsed] = r.spareTables[c]
	r.spareTables[c] = t
}

// Next returns the number of the first field from field i on that may be set in the struct of
// entry e, which d describes; len(d.fields) if there is none. If the struct is not wide it returns
// i itself.
func (x *Index) Next(d *schema.Struct, e uint32, i int) int {
	if !d.IsWide() {
		return i
	}
	return x.NextWide(d, e, i)
}

// NextWide does the work of Next for a wide struct.
func (x *Index) NextWide(d *schema.Struct, e uint32, i int) int {
	if i >= len(d.Fields()) {
		return len(d.Fields())
	}
	return int(x.nextInTable(x.Words[e+entry.Table], d.First()+uint32(i), d.Span()) - d.First())
}

// nextInTable returns the number of the first word from word n on that is in table t of a struct
// of span words; span if there is none.
func (x *Index) nextInTable(t, n, span uint32) uint32 {
	if t == 0 {
		return span
	}
	for n < span {
		if set := x.Words[t+entry.TableGroups+n>>entry.GroupLog*entry.GroupWords] >> (n & entry.GroupMask); set != 0 {
			return min(n+uint32(bits.TrailingZeros32(set)), span)
		}
		n = (n | entry.GroupMask) + 1
	}
	return span
}
