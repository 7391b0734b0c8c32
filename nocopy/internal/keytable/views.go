package keytable

import "slices"

// Elements of sets and keys of maps that are structs or containers are equal if their wire bytes
// are. They may be changed through handles at any time. So once a message has a table of them,
// every change of a struct or container takes the elements and keys that it belongs to out of
// their tables, until the next lookup. The first change finds out which entries belong to which
// element or key.

// Views holds what is known of the elements and keys in tables that are structs or containers:
// which entries belong to which of them.
type Views struct {
	tables int    // how many tables of structs or containers there are
	first  uint32 // the entry of the list or map with the first of these tables
	known  bool   // owner and elements are filled
	// By entry: the number of the innermost element that it is or belongs to, 0 if there is none
	owner    []uint32
	elements []Element // by that number
}

// noViews are the views of a Finder without tables. They are only read.
var noViews Views

// Element is an element of a list, or a key of a map, that has a table: the list's or map's
// entry, and the element's number in it.
type Element struct{ In, Number uint32 }

// keepOwners is the largest capacity of owner that is kept for the next message.
const keepOwners = 64 << 10

// reset makes v ready for the next message.
func (v *Views) reset() {
	if cap(v.owner) > keepOwners {
		*v = Views{}
	}
	*v = Views{owner: v.owner[:0], elements: v.elements[:0]}
}

// Invalidate forgets which entries belong to which elements. The next change finds it out anew.
func (v *Views) Invalidate() {
	if v.known {
		v.known = false
		v.owner, v.elements = v.owner[:0], v.elements[:0]
	}
}

// growTo makes owner n words long.
func (v *Views) growTo(n uint32) {
	from := len(v.owner)
	v.owner = slices.Grow(v.owner, int(n)-from)[:n]
	clear(v.owner[from:])
}

// add notes that entry e has a table.
func (v *Views) add(e uint32) {
	if v.tables++; v.tables == 1 {
		v.first = e
	}
}

// Concerns reports whether a change of entry e may change an element or key in a table. If e has
// the only table, it can't be one of its own elements.
func (v *Views) Concerns(e uint32) bool { return v.tables > 0 && (v.tables > 1 || v.first != e) }

// IsKnown reports whether it is known which entries belong to which elements.
func (v *Views) IsKnown() bool { return v.known }

// Begin notes that Own will be called for all elements of all tables. The index has n words.
func (v *Views) Begin(n uint32) {
	v.known = true
	v.growTo(n)
	v.elements = append(v.elements[:0], Element{})
}

// Number returns a number for an element that is entry e, for Own. The index has n words. There is
// none if it is not known which entries belong to which elements, or no longer.
func (v *Views) Number(x Element, e, n uint32) (number uint32, ok bool) {
	if int(e) < len(v.owner) {
		number = v.owner[e]
	}
	if v.elements[number] == x {
		return number, true
	}
	if len(v.elements) > int(n) { // most are of elements that have changed since
		v.Invalidate()
		return 0, false
	}
	v.elements = append(v.elements, x)
	return uint32(len(v.elements) - 1), true
}

// Own notes that entry e belongs to the element with this number. The index has n words.
func (v *Views) Own(e, number, n uint32) {
	if int(e) >= len(v.owner) {
		v.growTo(n)
	}
	v.owner[e] = number
}

// Owner returns the innermost element that entry e is or belongs to, and whether there is one.
func (v *Views) Owner(e uint32) (Element, bool) {
	if int(e) >= len(v.owner) || v.owner[e] == 0 {
		return Element{}, false
	}
	return v.elements[v.owner[e]], true
}

// Footprint is about how many bytes v takes, for tests.
func (v *Views) Footprint() int { return 4*cap(v.owner) + 8*cap(v.elements) }
