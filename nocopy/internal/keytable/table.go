package keytable

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Keys are the keys and elements that a Finder is asked for. What they are is found by the entry e
// of a map or list of type t, and their number.
type Keys interface {
	// Key returns the bytes by which key or element i is compared. It returns nil if that was
	// deleted, or is not valid.
	Key(e uint32, t *schema.Type, i uint32) []byte
	// TextPairs returns the words of the first n pairs of a map whose keys are texts, and the bytes
	// from the first key on. It returns nil if the keys are not there one after the other.
	TextPairs(e, n uint32) (pairs []uint32, b []byte)
	// Made is called when there is a new table. ofViews is whether its keys or elements are structs
	// or containers.
	Made(ofViews bool)
	// View is called for key or element i of a table, a struct or container: when it is added and
	// KnowsOwners, and for all that are there at the first ChangeOwners. View must call Own for the
	// entries in it.
	View(e uint32, t *schema.Type, i uint32)
}

// Table finds the last pair or element with a given key. Those with the same key are a pairing
// heap, whose root is the last of them: senders may repeat a key as often as they like, and
// programs may change keys in any order. Roots whose hashes end with the same bits are in one
// list. Within the table, pairs and elements have the numbers of their links, which stay when
// elements before them are deleted. All that packages call has their numbers in the map or list.
type Table struct {
	e       uint32 // the entry of the map or list
	t       *schema.Type
	heads   []uint32 // by hash: number+1 of the first root in the list, 0 if there is none
	links   []link   // by number
	first   uint32   // the number of the list's first element; those before it were deleted
	dups    uint32   // how many pairs have the key of a later one; 0 if keys are views
	pending []uint32 // numbers of those that have changed, which the next lookup adds again
}

// link is a pair or element in a table. The others are numbers+1, 0 if there is none.
type link struct {
	hash  uint32 // of its key
	next  uint32 // the next root in the list, or the next child of the same link
	prev  uint32 // the previous one; of a first child, its parent
	child uint32 // the first child: children have the same key and come earlier
}

// Values of link.next for pairs and elements that are not linked.
const (
	waiting = math.MaxUint32     // it is in Table.pending
	gone    = math.MaxUint32 - 1 // it had no key when it was last looked at
)

// Linear is the number of pairs or elements up to which comparing each is faster than a
// table.
const Linear = 16

// seed makes hashes unpredictable for senders.
var seed = maphash.MakeSeed()

func hashOf(key []byte) uint32 { return uint32(maphash.Bytes(seed, key)) }

// isCurrent reports whether the table has all of n pairs or elements, as they are now.
func (tb *Table) isCurrent(n uint32) bool {
	return tb != nil && len(tb.links) == int(tb.first+n) && len(tb.pending) == 0
}

// update adds to the table what is missing of the first n pairs or elements.
func (tb *Table) update(k Keys, n uint32) {
	tb.makeRoom(int(n))
	slices.Sort(tb.pending) // in a map, the last one added is then the first in its list at once
	for _, i := range tb.pending {
		if int(i) < len(tb.links) && tb.links[i].next == waiting {
			tb.insert(k, i)
		}
	}
	tb.pending = tb.pending[:0]
	for len(tb.links) < int(tb.first+n) {
		tb.insert(k, uint32(len(tb.links)))
	}
}

// makeRoom makes lists for n links, so that most have one at most.
func (tb *Table) makeRoom(n int) {
	if n <= len(tb.heads) {
		return
	}
	size := max(2*len(tb.heads), 64)
	for size < n {
		size *= 2
	}
	roots := uint32(0) // the first of all
	for _, x := range tb.heads {
		for x != 0 {
			x, tb.links[x-1].next, roots = tb.links[x-1].next, roots, x
		}
	}
	tb.heads = slices.Grow(tb.heads[:0], size)[:size]
	clear(tb.heads)
	for roots != 0 {
		x := roots
		roots = tb.links[x-1].next
		tb.addRoot(x - 1)
	}
}

// key returns the key of pair or element i, which was not removed.
func (tb *Table) key(k Keys, i uint32) []byte { return k.Key(tb.e, tb.t, i-tb.first) }

// insert adds pair or element i, which is not linked. It panics if bytes have changed since they
// were checked; the table is then unchanged.
func (tb *Table) insert(k Keys, i uint32) {
	key := tb.key(k, i)
	hash, last := hashOf(key), -1
	if key != nil {
		last = tb.find(k, hash, key)
	}
	if int(i) == len(tb.links) {
		tb.links = append(tb.links, link{})
	}
	if key == nil {
		tb.links[i].next = gone
		return
	}
	if last >= 0 && tb.t.Kind() == schema.Dict && !tb.t.OfViews() {
		tb.dups++
	}
	tb.link(i, hash, last)
	if tb.t.OfViews() {
		k.View(tb.e, tb.t, i-tb.first)
	}
}

// link puts pair or element i, whose key has this hash, into the table. last is the number of the
// last one that has the key, −1 if there is none.
func (tb *Table) link(i, hash uint32, last int) {
	tb.links[i] = link{hash: hash}
	switch {
	case last < 0:
		tb.addRoot(i)
	case last > int(i):
		tb.addChild(uint32(last), i)
	default:
		tb.replace(uint32(last), i+1)
		tb.addChild(i, uint32(last))
	}
}

// addRoot puts i, the last with its key, into the list that it belongs to.
func (tb *Table) addRoot(i uint32) {
	x := &tb.links[i]
	at := &tb.heads[int(x.hash)&(len(tb.heads)-1)]
	if x.next, x.prev = *at, 0; *at != 0 {
		tb.links[*at-1].prev = i + 1
	}
	*at = i + 1
}

// addChild makes i, which is in no list and has the same key, the first child of parent.
func (tb *Table) addChild(parent, i uint32) {
	x, p := &tb.links[i], &tb.links[parent]
	if x.next, x.prev = p.child, parent+1; p.child != 0 {
		tb.links[p.child-1].prev = i + 1
	}
	p.child = i + 1
}

// replace takes i out of the list that it is in. If by is not 0, the one with number+1 by takes
// its place.
func (tb *Table) replace(i, by uint32) {
	x := tb.links[i]
	before, after := x.prev, x.next // of the neighbours: what is before and after them now
	if by != 0 {
		tb.links[by-1].prev, tb.links[by-1].next = x.prev, x.next
		before, after = by, by
	}
	if x.next != 0 {
		tb.links[x.next-1].prev = before
	}
	switch {
	case x.prev == 0:
		tb.heads[int(x.hash)&(len(tb.heads)-1)] = after
	case tb.links[x.prev-1].child == i+1:
		tb.links[x.prev-1].child = after
	default:
		tb.links[x.prev-1].next = after
	}
}

// merge makes one heap of x and the next ones in its list, which are children, and returns the
// root. These are numbers+1. It merges them in pairs first, as pairing heaps do: then any order of
// changes takes logarithmic time for each.
func (tb *Table) merge(x uint32) uint32 {
	pairs := uint32(0)
	for x != 0 {
		y := tb.links[x-1].next
		after := uint32(0)
		if y != 0 {
			after = tb.links[y-1].next
			x = tb.mergeTwo(x, y)
		}
		tb.links[x-1].next = pairs
		pairs, x = x, after
	}
	for pairs != 0 {
		next := tb.links[pairs-1].next
		x, pairs = tb.mergeTwo(x, pairs), next
	}
	return x
}

// mergeTwo makes one heap of two and returns its root; x may be 0. These are numbers+1.
func (tb *Table) mergeTwo(x, y uint32) uint32 {
	switch {
	case x == 0:
		return y
	case x < y:
		x, y = y, x
	}
	tb.addChild(x-1, y-1)
	return x
}

// change notes that pair or element i changes. It takes the key, which has not changed yet, out of
// the table. The next lookup adds the new one.
func (tb *Table) change(k Keys, i uint32) {
	if i < tb.first || int(i) >= len(tb.links) || tb.links[i].next == waiting {
		return
	}
	hash, linked := tb.links[i].hash, tb.remove(i)
	tb.links[i].next = waiting
	tb.pending = append(tb.pending, i)
	if linked && tb.dups > 0 && tb.find(k, hash, tb.key(k, i)) >= 0 {
		tb.dups--
	}
}

// remove takes pair or element i out of the table. It reports whether it was linked.
func (tb *Table) remove(i uint32) bool {
	x := tb.links[i]
	if x.next >= gone {
		tb.links[i].next = gone
		return false
	}
	tb.replace(i, tb.merge(x.child))
	tb.links[i].next = gone
	return true
}

// delete takes elements i to j-1 of a list, which are about to be deleted, out of the table. It
// returns false if the table can't be used any more, since others change their places in it, or if
// it has more deleted elements than others. Making another then takes at most as many steps as the
// deletions took.
func (tb *Table) delete(i, j uint32) bool {
	n := uint32(len(tb.links))
	last := j >= n
	if !last && (i > tb.first || j > n/2) {
		return false
	}
	for x := i; x < min(j, n); x++ {
		tb.remove(x)
	}
	if last {
		tb.links = tb.links[:min(i, n)]
	} else {
		tb.first = j
	}
	return true
}

// find returns the number of the last pair with the key, or of any element, −1 if there is none.
// hash is the key's.
func (tb *Table) find(k Keys, hash uint32, key []byte) int {
	for x := tb.heads[int(hash)&(len(tb.heads)-1)]; x != 0; x = tb.links[x-1].next {
		if tb.links[x-1].hash != hash {
			continue
		}
		if have := tb.key(k, x-1); have != nil && bytes.Equal(have, key) {
			return int(x - 1)
		}
	}
	return -1
}
