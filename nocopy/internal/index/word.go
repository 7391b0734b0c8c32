package index

// A Word is one word of an entry. 0 stands for a value that is not set. The top bit says which of
// two things the other bits are:
//
//	the word of                   without the top bit           with it
//	a field of fixed size         its position                  -
//	an element, key or value of
//	fixed size in a map           its position                  the node that holds it
//	a string or binary            the position of its length    the node that holds it
//	a struct or container         the number of its entry       its position: it has no entry yet
//	an entry's end (EndOf)        a position; 0 while it is     the number of an edit, which has
//	                              built for the first time      the position
//	a union's arm (Arm)           the number of the field       the entry of the last extra field,
//	                              that is set                   see arm.go
//	a wide struct (Table)         the number of its table       -
//	the third word of a pair      the node that replaces key    -
//	of a map (PairNode)           and value
//	the value of a deleted pair   1 + the number of the next    -
//	                              deleted pair
//
// An edited struct may have a second run of words, one for each field, which its edit knows: the
// node that replaces the field, with its header, or 0. The words of a list that is read by the
// index in the message's bytes are the engine's own (type pages).
//
// Positions, and the numbers of nodes, entries, fields and edits, therefore have 31 bits. The word
// Room of a list has other marks.
type Word uint32

// mark is the top bit.
const mark Word = 1 << 31

// rest returns the other bits.
func (w Word) rest() uint32 { return uint32(w &^ mark) }

// IsNode reports whether a node holds the value, which is a text or of fixed size.
func (w Word) IsNode() bool { return int32(w) < 0 }

// Node returns the node.
func (w Word) Node() uint32 { return w.rest() }

// InNode returns the word of a value that a node holds.
func InNode(node uint32) Word { return mark | Word(node) }

// Entry returns the entry of a struct or container that has one.
func (w Word) Entry() uint32 { return uint32(w) }

// HasEntry reports whether the word is that of a struct or container that is set and has an entry.
func (w Word) HasEntry() bool { return int32(w) > 0 }

// IsLazy reports whether the struct or container has no entry yet. It was left for later by Lazy,
// or is read by the index in the message's bytes.
func (w Word) IsLazy() bool { return int32(w) < 0 }

// LazyAt returns the word of a struct or container at position p that has no entry yet.
func LazyAt(p uint32) Word { return mark | Word(p) }

// Pos returns the position in the word of a struct or container that has no entry yet.
func (w Word) Pos() uint32 { return w.rest() }

// IsEdit reports whether the end of an entry is known to an edit.
func (w Word) IsEdit() bool { return int32(w) < 0 }

// Edit returns the number of the edit.
func (w Word) Edit() uint32 { return w.rest() }

// EditWord returns the end of an entry that edit number n knows.
func EditWord(n int) Word { return mark | Word(n) }

// HasExtra reports whether the union with this arm has extra fields.
func (w Word) HasExtra() bool { return int32(w) < 0 }

// Extra returns the entry of the last extra field.
func (w Word) Extra() uint32 { return w.rest() }

// Room is the word of a container's entry that says how many slots there is room for. In a list
// of structs it is the number of words from one element's entry to the next one's instead, unless
// a table has the numbers of the entries.
type Room uint32

const (
	building Room = 1 << 31 // a list of structs: elements are still to come
	table    Room = 1 << 30 // a list of structs: its slots are a table

	// ByPages is the room of a list of structs that is read by the index in the message's bytes: it
	// has elements, but a table without room.
	ByPages = table
)

// Building returns the room of a list of structs that is being built.
func (r Room) Building() Room { return r | building }

// Built returns the room of a list whose elements have all come.
func (r Room) Built() Room { return r &^ building }

// IsBuilding reports whether At of a list of structs may have to append elements.
func (r Room) IsBuilding() bool { return r&building != 0 }

// HasTable reports whether the slots of a list of structs are a table of entries.
func (r Room) HasTable() bool { return r&table != 0 }

// Table returns the room of a list of structs whose table has room for n elements.
func (r Room) Table(n uint32) Room { return r&building | table | Room(n) }

// Simple reports whether the list is complete and has no table. Then element i of a list of
// structs has its entry at i times the room.
func (r Room) Simple() bool { return r < table }

// Len returns the number of slots, or of words from one element's entry to the next one's.
func (r Room) Len() uint32 { return uint32(r &^ (building | table)) }

// WithLen returns the room with another number of slots.
func (r Room) WithLen(n uint32) Room { return r&(building|table) | Room(n) }

// WordsPerSlot returns how many words a slot of a list of structs has: 1 in a table, else 0, since
// the entries of elements are no slots.
func (r Room) WordsPerSlot() uint32 { return uint32(r & table / table) }
