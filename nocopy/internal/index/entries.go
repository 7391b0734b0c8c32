package index

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// This file reads and changes the words of entries. Package entry has their numbers, and word.go
// the meaning of their bits. A view, such as List, stays good when the index grows.

// StartOf returns where the value of entry e begins: the position of the first field header,
// element or pair.
func (x *Index) StartOf(e uint32) uint32 { return x.Words[e+entry.Start] }

// SetStart sets where the value of entry e begins.
func (x *Index) SetStart(e, p uint32) { x.Words[e+entry.Start] = p }

// EndOf returns the second word of entry e: where the value ends, or an edit that knows.
func (x *Index) EndOf(e uint32) Word { return Word(x.Words[e+entry.End]) }

// SetEnd sets the second word of entry e.
func (x *Index) SetEnd(e uint32, w Word) { x.Words[e+entry.End] = uint32(w) }

// Word returns word number at of the index.
func (x *Index) Word(at uint32) Word { return Word(x.Words[at]) }

// SetWord sets word number at of the index.
func (x *Index) SetWord(at uint32, w Word) { x.Words[at] = uint32(w) }

// EntryWord returns word number n of entry e, or of other words that begin at number e.
func (x *Index) EntryWord(e, n uint32) Word { return Word(x.Words[e+n]) }

// SetEntryWord sets word number n of entry e, or of other words that begin at number e.
func (x *Index) SetEntryWord(e, n uint32, w Word) { x.Words[e+n] = uint32(w) }

// AllocDeep returns the entry of a struct of n words, which are zero, that is this deep in others.
// Depth returns that number: it is in the word before the entry.
func (x *Index) AllocDeep(n, depth int) uint32 {
	e := x.Alloc(n+1) + 1
	x.Words[e-1] = uint32(depth)
	return e
}

// Depth returns the depth of the struct of an entry from AllocDeep.
func (x *Index) Depth(e uint32) int { return int(x.Words[e-1]) }

// MovePositions adds before to all positions from first up to p, and after to those beyond. There
// must be no node, and no count, type or entry's number as large as first.
func (x *Index) MovePositions(first, p, before, after uint32) {
	words := x.Words[First:x.Used]
	for i, w := range words {
		if at := w &^ uint32(mark); at > p { // as Word.rest, which takes 3 instructions more
			words[i] += after
		} else if at >= first {
			words[i] += before
		}
	}
}

// HasValue reports whether entry e stands for a value. It does not if an element was not begun, or
// if the value was removed and its message compacted since.
func (x *Index) HasValue(e uint32) bool { return x.Words[e+entry.Start] != 0 }

// ClearWords makes n words from number at on zero.
func (x *Index) ClearWords(at, n uint32) { clear(x.Words[at:][:n]) }

// MoveWords copies n words from number from on to number to on. The ranges may overlap.
func (x *Index) MoveWords(to, from, n uint32) { copy(x.Words[to:], x.Words[from:][:n]) }

// BeginValue prepares the index for a program that indexes a single value. The program stores the
// value's entry in word 0, since no entry has that. EndValue returns it, and needs what BeginValue
// has returned.
func (x *Index) BeginValue() Word { return Word(x.Words[0]) }

// EndValue returns the entry that the program has stored.
func (x *Index) EndValue(before Word) uint32 {
	e := x.Words[0]
	x.Words[0] = uint32(before)
	return e
}

// NextNear returns the number of the first field from field i on that is set in the struct of
// entry e, which d describes and which is not wide; len(d.fields) if there is none.
func (x *Index) NextNear(d *schema.Struct, e uint32, i int) int {
	words := x.Words[e+d.First():][:len(d.Fields())]
	for i < len(words) && words[i] == 0 {
		i++
	}
	return i
}

// PutNearTemplate sets the start of entry e to position p, where the template of d was copied, and
// the words of the fields that the template sets. The struct is not wide, or they are none:
// PutTemplate sets those of a wide one.
func (x *Index) PutNearTemplate(d *schema.Struct, e, p uint32) {
	words := x.Words
	words[e+entry.Start] = p
	for _, s := range d.TemplateFields() {
		words[e+s.Word] = p + s.Off
	}
}

// Arm returns the word of a union that stands for the last of its extra fields or, if it has none,
// for the field that is set. ArmField returns that field in any case.
func (x *Index) Arm(e uint32) Word { return Word(x.Words[e+entry.Arm]) }

// SetArm sets the word entry.Arm of the union of entry e, which Arm returns.
func (x *Index) SetArm(e uint32, w Word) { x.Words[e+entry.Arm] = uint32(w) }

// Table returns the number of the table of the wide struct of entry e; 0 if no field is set.
func (x *Index) Table(e uint32) uint32 { return x.Words[e+entry.Table] }

// SetTable sets the number of the table of the wide struct of entry e.
func (x *Index) SetTable(e, t uint32) { x.Words[e+entry.Table] = t }

// List is a view of the entry of a list, set or map.
//
// Its slots are the words that stand for its elements: none if their size is fixed, one for each
// text or container, three for each pair. The slots of a list of structs are the elements' entries
// one after another, or a table of their numbers: Room says which.
type List struct {
	x *Index
	e uint32
}

// List returns a view of entry e, which is that of a list, set or map.
func (x *Index) List(e uint32) List { return List{x, e} }

// MakeList fills in entry e, of a list, set or map of type t whose elements are from position p to
// end; end is 0 if they are still to come. Its slots follow the entry.
func (x *Index) MakeList(e uint32, t *schema.Type, p, end, count uint32, r Room) List {
	w := (*[entry.ListWords]uint32)(x.Words[e:])
	w[entry.ListStart], w[entry.ListEnd], w[entry.ListCount] = p, end, count
	w[entry.ListElems], w[entry.ListRoom], w[entry.ListType] = e+entry.ListWords, uint32(r), t.ID()
	return List{x, e}
}

// Start returns the position of the first element or pair.
func (l List) Start() uint32 { return l.x.Words[l.e+entry.ListStart] }

// SetStart sets the position of the first element or pair.
func (l List) SetStart(p uint32) { l.x.Words[l.e+entry.ListStart] = p }

// End returns the position after the last element or pair, or an edit that knows it; 0 if the
// list was never complete.
func (l List) End() Word { return Word(l.x.Words[l.e+entry.ListEnd]) }

// Count returns the number of elements, or of pairs including deleted ones.
func (l List) Count() uint32 { return l.x.Words[l.e+entry.ListCount] }

// SetCount sets the number of elements, or of pairs including deleted ones.
func (l List) SetCount(n uint32) { l.x.Words[l.e+entry.ListCount] = n }

// Slots returns the number of the first word of the slots.
func (l List) Slots() uint32 { return l.x.Words[l.e+entry.ListElems] }

// SetSlots makes the slots begin at word number at, and sets the room.
func (l List) SetSlots(at uint32, r Room) {
	l.x.Words[l.e+entry.ListElems], l.x.Words[l.e+entry.ListRoom] = at, uint32(r)
}

// Room returns how many slots there is room for.
func (l List) Room() Room { return Room(l.x.Words[l.e+entry.ListRoom]) }

// SetRoom sets how many slots there is room for.
func (l List) SetRoom(r Room) { l.x.Words[l.e+entry.ListRoom] = uint32(r) }

// Type returns the type of the list, set or map.
func (l List) Type() *schema.Type { return schema.TypeByID(l.x.Words[l.e+entry.ListType]) }

// TypeAt returns the type of the container of entry e; nil if the entry is that of a struct, whose
// words are no type's number. It may be that by chance.
func (x *Index) TypeAt(e uint32) *schema.Type {
	types := schema.Types()
	if at := int(e) + entry.ListType; at < len(x.Words) && int(x.Words[at]) < len(types) {
		return types[x.Words[at]]
	}
	return nil
}

// SetType sets the type of the list, set or map.
func (l List) SetType(t *schema.Type) { l.x.Words[l.e+entry.ListType] = t.ID() }

// SlotsFollow reports whether the slots come right after the entry, with gap free words between.
func (l List) SlotsFollow(gap uint32) bool { return l.Slots()-gap == l.e+entry.ListWords }

// Slot returns the number of the word of element i, if each has one.
func (l List) Slot(i uint32) uint32 { return l.Slots() + i }

// Word returns the word of element i, if each has one.
func (l List) Word(i uint32) Word { return Word(l.x.Words[l.Slots()+i]) }

// SetWord sets the word of element i, if each has one.
func (l List) SetWord(i uint32, w Word) { l.x.Words[l.Slots()+i] = uint32(w) }

// Positions returns the words of elements from to to-1 of a list of texts, which are positions.
// Package memory stores them. They are good until the index grows.
func (l List) Positions(from, to uint32) []uint32 { return l.x.Words[l.Slots():][from:to] }

// Swap exchanges the words of elements i and j, if each has one.
func (l List) Swap(i, j uint32) {
	words := l.x.Words[l.Slots():]
	words[i], words[j] = words[j], words[i]
}

// Column is a view of words at equal distances, such as those of a field in entries that follow
// one another. It is good until the index grows. It is kept in registers, since it has 4 words.
type Column struct {
	words  []uint32 // from the first to the last
	stride int
}

// Column returns a view of n words that are stride apart. The first is word number at.
func (x *Index) Column(at, stride uint32, n int) Column {
	return Column{x.Words[at:][:uint32(n-1)*stride+1], int(stride)}
}

// Len returns the number of words.
func (c Column) Len() int { return (len(c.words)-1)/c.stride + 1 }

// At returns word i.
func (c Column) At(i int) Word { return Word(c.words[i*c.stride]) }

// Collected is memory for words that are at no equal distances.
type Collected [64]uint32

// Set sets word i.
func (c *Collected) Set(i int, w Word) { c[i] = uint32(w) }

// Column returns a view of the first n words.
func (c *Collected) Column(n int) Column { return Column{c[:n], 1} }

// ClearPairs makes the slots of pairs from to to-1 of a map zero.
func (l List) ClearPairs(from, to uint32) {
	clear(l.x.Words[l.Slots():][from*entry.PairWords : to*entry.PairWords])
}

// PairWords returns the words of the first n pairs of a map. They are good until the index grows.
func (l List) PairWords(n uint32) []uint32 { return l.x.Words[l.Slots():][:n*entry.PairWords] }

// Pair returns a view of pair i of a map.
func (l List) Pair(i uint32) Pair { return Pair{l.x, l.Slots() + i*entry.PairWords} }

// Pair is a view of the slot of a pair of a map.
type Pair struct {
	x  *Index
	at uint32
}

// Pair returns a view of the slot at word number at.
func (x *Index) Pair(at uint32) Pair { return Pair{x, at} }

// Key returns the key's word; 0 if the pair was deleted.
func (p Pair) Key() Word { return Word(p.x.Words[p.at+entry.PairKey]) }

// Value returns the value's word. In a deleted pair it is one more than the number of the next
// deleted pair, or 0.
func (p Pair) Value() Word { return Word(p.x.Words[p.at+entry.PairValue]) }

// Node returns the node that replaces both key and value, or 0.
func (p Pair) Node() uint32 { return p.x.Words[p.at+entry.PairNode] }

// Set sets the words of the key and the value.
func (p Pair) Set(key, value Word) {
	p.x.Words[p.at+entry.PairKey], p.x.Words[p.at+entry.PairValue] = uint32(key), uint32(value)
}

// Fill sets the positions of a key and a value that have no node.
func (p Pair) Fill(key, value uint32) {
	slot := (*[entry.PairWords]uint32)(p.x.Words[p.at:])
	slot[entry.PairKey], slot[entry.PairValue], slot[entry.PairNode] = key, value, 0
}

// SetNode sets the node that replaces key and value.
func (p Pair) SetNode(node uint32) { p.x.Words[p.at+entry.PairNode] = node }

// KeySlot returns the number of the key's word.
func (p Pair) KeySlot() uint32 { return p.at + entry.PairKey }

// ValueSlot returns the number of the value's word.
func (p Pair) ValueSlot() uint32 { return p.at + entry.PairValue }
