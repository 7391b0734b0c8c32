package keytable

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
	"sync/atomic"

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
	// KnowsOwners, and for all that are there when a change asks for an Owner first. View must call
	// Own for the entries in it.
	View(e uint32, t *schema.Type, i uint32)
}

// Table finds the last pair or element with a given key. Those whose hashes end with the same
// bits are linked with one another. In a map the last of them comes first.
type Table struct {
	e       uint32 // the entry of the map or list
	t       *schema.Type
	heads   []uint32      // by hash: number+1 of the first link, 0 if there is none
	links   []link        // by number
	dups    uint32        // how many pairs have the key of a later one; 0 if keys are views
	pending []uint32      // numbers of those that have changed, which the next lookup adds again
	first   atomic.Uint32 // see Finder.First
}

// link is a pair or element in a table.
type link struct {
	hash       uint32 // of its key
	next, prev uint32 // number+1 of the links beside it, 0 if there is none
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
	return tb != nil && len(tb.links) == int(n) && len(tb.pending) == 0
}

// update adds to the table what is missing of the first n pairs or elements.
func (tb *Table) update(k Keys, n uint32) {
	tb.makeRoom(int(n))
	slices.Sort(tb.pending) // in a map, the last one added is then the first in its list at once
	for _, i := range tb.pending {
		if tb.links[i].next == waiting {
			tb.insert(k, i)
		}
	}
	tb.pending = tb.pending[:0]
	for len(tb.links) < int(n) {
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
	tb.heads = slices.Grow(tb.heads[:0], size)[:size]
	clear(tb.heads)
	for i := range tb.links {
		if x := tb.links[i]; x.next < gone {
			tb.link(uint32(i), x.hash)
		}
	}
}

// insert adds pair or element i, which is not linked.
func (tb *Table) insert(k Keys, i uint32) {
	key := k.Key(tb.e, tb.t, i)
	hash := hashOf(key)
	ofViews := tb.t.OfViews()
	if key != nil && tb.t.Kind() == schema.Dict && !ofViews && tb.find(k, hash, key) >= 0 {
		tb.dups++
	}
	if int(i) == len(tb.links) {
		tb.links = append(tb.links, link{})
	}
	if key == nil {
		tb.links[i].next = gone
		return
	}
	tb.link(i, hash)
	if ofViews {
		k.View(tb.e, tb.t, i)
	}
}

// link puts pair or element i, whose key has this hash, into its list.
func (tb *Table) link(i, hash uint32) {
	prev, at := uint32(0), &tb.heads[int(hash)&(len(tb.heads)-1)]
	for tb.t.Kind() == schema.Dict && *at > i+1 {
		prev, at = *at, &tb.links[*at-1].next
	}
	tb.links[i] = link{hash, *at, prev}
	if *at != 0 {
		tb.links[*at-1].prev = i + 1
	}
	*at = i + 1
}

// change notes that pair or element i changes. It takes the key, which has not changed yet, out of
// the table. The next lookup adds the new one.
func (tb *Table) change(k Keys, i uint32) {
	if int(i) >= len(tb.links) || tb.links[i].next == waiting {
		return
	}
	if x := tb.links[i]; x.next != gone {
		if x.prev != 0 {
			tb.links[x.prev-1].next = x.next
		} else {
			tb.heads[int(x.hash)&(len(tb.heads)-1)] = x.next
		}
		if x.next != 0 {
			tb.links[x.next-1].prev = x.prev
		}
		if tb.dups > 0 && tb.find(k, x.hash, k.Key(tb.e, tb.t, i)) >= 0 {
			tb.dups--
		}
	}
	tb.links[i].next = waiting
	tb.pending = append(tb.pending, i)
}

// find returns the number of the last pair with the key, or of any element, −1 if there is none.
// hash is the key's.
func (tb *Table) find(k Keys, hash uint32, key []byte) int {
	for x := tb.heads[int(hash)&(len(tb.heads)-1)]; x != 0; x = tb.links[x-1].next {
		if tb.links[x-1].hash != hash {
			continue
		}
		if have := k.Key(tb.e, tb.t, x-1); have != nil && bytes.Equal(have, key) {
			return int(x - 1)
		}
	}
	return -1
}
