package keytable

import (
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Finder is how keys of a message's maps, and elements of its sets, are found. The zero Finder is
// ready.
type Finder struct {
	lookups atomic.Pointer[lookups] // nil until there is a table or a filter
	// Iterations is how many iterations over maps are under way. While there are any, pairs keep
	// their numbers.
	Iterations atomic.Int32
	filterOf   uint32 // the entry of the map that the filter is of, 0 if there is none
}

// lookups holds hash tables for the keys of large maps and the elements of large sets. A table is
// made by the first lookup that needs it. Lookups count as reading: goroutines that share a
// message may make them at the same time, and share the lock.
type lookups struct {
	mu    sync.RWMutex
	made  hashmap.Map[uint32, *Table] // by entry; nil if there is none any more
	spare []*Table                    // no longer in use, for other maps

	// Elements of sets and keys of maps that are structs or containers are equal if their wire bytes
	// are. They may be changed through handles at any time. Once there is a table of them, every
	// change of a struct or container takes the elements and keys that it belongs to out of their
	// tables, until the next lookup. The first change finds out which entries belong to which.
	ofViews bool // there is such a table
	known   bool // owners is filled
	// By entry: the innermost element or key that it is or belongs to, by its number in the table
	owners []Element

	// While a map is being filled, most keys are new. Up to filterPairs pairs, a filter finds that
	// out without a table.
	filter *filter // nil until a map is filled
}

// Element is an element of a list, or a key of a map, that has a table: the list's or map's
// entry, and the element's number in it.
type Element struct{ In, Number uint32 }

const (
	keepTables = 16      // the most spare tables
	keepPairs  = 1 << 15 // bounds the pairs of a spare table: 790 KB
)

// ownLookups returns the lookups, which it makes if there are none. Any number of
// goroutines may do so.
func (f *Finder) ownLookups() *lookups {
	if f.lookups.Load() == nil {
		f.lookups.CompareAndSwap(nil, new(lookups))
	}
	return f.lookups.Load()
}

// HasTables reports whether there are or were tables.
func (f *Finder) HasTables() bool {
	ts := f.lookups.Load()
	return ts != nil && ts.made.Len() > 0
}

// Has reports whether pair or element i of entry e is in its table. It is not if there is no
// table, or if it was added or has changed since the last lookup.
func (f *Finder) Has(e, i uint32) bool {
	tb := f.table(e)
	return tb != nil && int(tb.first+i) < len(tb.links) && tb.links[tb.first+i].next < gone
}

// table returns the table of entry e, nil if it has none.
func (f *Finder) table(e uint32) *Table {
	if ts := f.lookups.Load(); ts != nil {
		return ts.made.Get(e)
	}
	return nil
}

// Find returns the number of the last of the first n pairs or elements of entry e that has the
// key, −1 if none has it.
func (f *Finder) Find(k Keys, e uint32, t *schema.Type, n uint32, key []byte) int {
	tb, ts := f.current(k, e, t, n)
	defer ts.mu.RUnlock()
	if i := tb.find(k, hashOf(key), key); i >= 0 {
		return i - int(tb.first)
	}
	return -1
}

// Repeated returns how many of the n pairs of entry e have the key of a later one. Peers use the
// last.
func (f *Finder) Repeated(k Keys, e uint32, t *schema.Type, n uint32) int {
	if t.Key().Kind() >= schema.Record || n < 2 || n <= fewPairs && allDiffer(k, e, t, n) {
		return 0
	}
	tb, ts := f.current(k, e, t, n)
	defer ts.mu.RUnlock()
	return int(tb.dups)
}

// current returns the table of entry e with its first n pairs or elements in it. The lock is held
// for reading.
func (f *Finder) current(k Keys, e uint32, t *schema.Type, n uint32) (*Table, *lookups) {
	ts := f.ownLookups()
	ts.mu.RLock()
	tb := ts.made.Get(e)
	if !tb.isCurrent(n) {
		ts.mu.RUnlock()
		tb = ts.update(k, e, t, n)
		ts.mu.RLock()
	}
	return tb, ts
}

// update returns the table of entry e, having added to it what is missing of the first n pairs or
// elements. The lock is free afterwards, also if it panics since bytes have changed that were
// checked before, as a trusted peer can change them in shared memory.
func (ts *lookups) update(k Keys, e uint32, t *schema.Type, n uint32) *Table {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	tb := ts.made.Get(e)
	if tb == nil {
		if last := len(ts.spare) - 1; last >= 0 {
			tb, ts.spare = ts.spare[last], ts.spare[:last]
		} else {
			tb = new(Table)
		}
		*tb = Table{e: e, t: t, heads: tb.heads[:0], links: tb.links[:0], pending: tb.pending[:0]}
		ts.made.Put(e, tb)
		ts.ofViews = ts.ofViews || t.OfViews()
		k.Made(t.OfViews())
	}
	tb.update(k, n)
	return tb
}

// AddNew adds the key of pair n, which is about to be appended to a map that is being built,
// to the map's table. It reports whether no pair has that key; if one has, nothing has changed.
// It may also return false for a small map.
func (f *Finder) AddNew(k Keys, e uint32, t *schema.Type, n uint32, key []byte) bool {
	if n <= Linear {
		return false // comparing each key costs less than a table
	}
	ts := f.ownLookups()
	tb := ts.made.Get(e)
	if !tb.isCurrent(n) {
		tb = ts.update(k, e, t, n)
	}
	hash := hashOf(key)
	if tb.find(k, hash, key) >= 0 {
		return false
	}
	tb.makeRoom(int(n) + 1)
	tb.links = append(tb.links, link{})
	tb.link(n, hash, -1)
	return true
}

// Change notes that pair or element i of entry e is about to change, to be added or to be deleted,
// or that it was added. If there is a table, the next lookup adds it again.
func (f *Finder) Change(k Keys, e, i uint32) {
	if tb := f.table(e); tb != nil {
		tb.change(k, tb.first+i)
	}
}

// Delete notes that elements i to j-1 of the list of entry e are about to be deleted. If they are
// the first or the last ones, its table can still be used.
func (f *Finder) Delete(e, i, j uint32) {
	if tb := f.table(e); tb != nil && !tb.delete(tb.first+i, tb.first+j) {
		f.Drop(e)
	}
}

// Drop gives up the table of entry e, if it has one. The next lookup makes one.
func (f *Finder) Drop(e uint32) {
	if tb := f.table(e); tb != nil {
		ts := f.lookups.Load()
		ts.made.Put(e, nil)
		ts.keepSpare(tb)
	}
}

// keepSpare keeps a table that is no longer used for another map, unless it is too large.
func (ts *lookups) keepSpare(tb *Table) {
	if cap(tb.links) <= keepPairs && len(ts.spare) < keepTables {
		ts.spare = append(ts.spare, tb)
	}
}

// End makes f ready for the next message. Some memory is kept for that.
func (f *Finder) End() {
	f.filterOf = 0
	if ts := f.lookups.Load(); ts != nil {
		ts.end()
	}
}

// end gives up all tables.
func (ts *lookups) end() {
	if ts.made.Len() == 0 {
		return
	}
	for _, tb := range ts.made.All() {
		if tb != nil {
			ts.keepSpare(tb)
		}
	}
	ts.made.Clear()
	ts.ofViews = false
	ts.forgetOwners()
}

// DropSpare gives the memory up that is kept for the next tables.
func (f *Finder) DropSpare() {
	if ts := f.lookups.Load(); ts != nil {
		ts.spare = nil
	}
}

// ChangeOwners is Change for all elements and keys that entry e is or belongs to, from the
// innermost one on: e is about to be changed.
func (f *Finder) ChangeOwners(k Keys, e uint32) {
	ts := f.lookups.Load()
	if ts == nil || !ts.ofViews {
		return
	}
	if !ts.known {
		ts.known = true
		for e, tb := range ts.made.All() {
			if tb != nil && tb.t.OfViews() {
				for i := range uint32(len(tb.links)) - tb.first {
					k.View(e, tb.t, i)
				}
			}
		}
	}
	for int(e) < len(ts.owners) && ts.owners[e].In != 0 {
		x := ts.owners[e]
		if tb := ts.made.Get(x.In); tb != nil {
			tb.change(k, x.Number)
		}
		e = x.In
	}
}

// KnowsOwners reports whether it is known which entries belong to which elements and keys. Then
// Own must be called for those that are added.
func (f *Finder) KnowsOwners() bool {
	ts := f.lookups.Load()
	return ts != nil && ts.known
}

// Own records x as the innermost element or key that contains entry e. x must be in a table.
func (f *Finder) Own(e uint32, x Element) {
	ts := f.lookups.Load()
	if more := int(e) + 1 - len(ts.owners); more > 0 {
		ts.owners = append(ts.owners, make([]Element, more)...)
	}
	x.Number += ts.made.Get(x.In).first
	ts.owners[e] = x
}

// ForgetOwners forgets which entries belong to which elements and keys. The next change finds it
// out anew.
func (f *Finder) ForgetOwners() {
	if ts := f.lookups.Load(); ts != nil {
		ts.forgetOwners()
	}
}

func (ts *lookups) forgetOwners() {
	ts.known = false
	ts.owners = ts.owners[:0]
	if cap(ts.owners) > keepPairs {
		ts.owners = nil
	}
}

// Stats returns, for tests, how many lists entry e's table has, and how many pairs or elements are
// in them.
func (f *Finder) Stats(e uint32) (lists, linked int) {
	tb := f.table(e)
	if tb == nil {
		return 0, 0
	}
	for i := range tb.links {
		if tb.links[i].next < gone {
			linked++
		}
	}
	return len(tb.heads), linked
}
