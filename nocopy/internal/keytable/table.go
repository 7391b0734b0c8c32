package keytable

import (
	"bytes"
	"hash/maphash"
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Keys are the keys and elements that a Finder is asked for. What they are is found by the entry e
// of a map or list of type t, and their number.
type Keys interface {
	// Key returns the bytes by which key or element i is compared. It returns nil if that was
	// deleted, or is not valid.
	Key(e uint32, t *schema.Type, i uint32) []byte
	// TextPairs returns the words of the first n pairs of a map whose keys are texts, and what the
	// words are positions in.
	TextPairs(e, n uint32) ([]uint32, *chain.Buffer)
	// Made is called when there is a new table. ofViews is whether its keys or elements are structs
	// or containers.
	Made(ofViews bool)
	// ViewAdded is called when key or element i, a struct or container, is added to a table.
	ViewAdded(e uint32, t *schema.Type, i uint32)
}

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
	mu           sync.RWMutex
	made         hashmap.Map[uint32, *Table] // by entry
	spare        []*Table                    // no longer in use, for other maps
	spareBuckets int                         // how many buckets the spare ones have
	views        Views

	// While a map is being filled, most keys are new. Up to filterPairs pairs, a filter finds that
	// out without a table.
	filter      *filter // nil until a map is filled
	filterTable *Table  // the table of that map, nil if it has none yet
}

// ownLookups returns the lookups, which it makes if there are none. Any number of
// goroutines may do so.
func (f *Finder) ownLookups() *lookups {
	if f.lookups.Load() == nil {
		f.lookups.CompareAndSwap(nil, new(lookups))
	}
	return f.lookups.Load()
}

// Table returns the table of entry e, nil if it has none.
func (f *Finder) Table(e uint32) *Table {
	if ts := f.lookups.Load(); ts != nil {
		return ts.made.Get(e)
	}
	return nil
}

// HasTables reports whether there are tables.
func (f *Finder) HasTables() bool {
	ts := f.lookups.Load()
	return ts != nil && ts.made.Len() > 0
}

// Tables iterates over all tables and their entries.
func (f *Finder) Tables() iter.Seq2[uint32, *Table] {
	return func(yield func(uint32, *Table) bool) {
		if ts := f.lookups.Load(); ts != nil {
			ts.made.All()(yield)
		}
	}
}

// Views returns what is known of elements and keys that are structs or containers.
func (f *Finder) Views() *Views {
	if ts := f.lookups.Load(); ts != nil {
		return &ts.views
	}
	return &noViews
}

// Find returns the number of the last of the first n pairs or elements of entry e that has the
// key, −1 if none has it.
func (f *Finder) Find(k Keys, e uint32, t *schema.Type, n uint32, key []byte) int {
	ts := f.ownLookups()
	ts.mu.RLock()
	if tb := ts.made.Get(e); tb.isCurrent(n) {
		defer ts.mu.RUnlock()
		return tb.find(k, e, t, key)
	}
	ts.mu.RUnlock()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return f.table(k, e, t, n).find(k, e, t, key)
}

// End makes f ready for the next message. Some memory is kept for that. guarded is whether
// elements or keys may be structs or containers.
func (f *Finder) End(guarded bool) {
	if ts := f.lookups.Load(); ts != nil {
		ts.end(guarded)
	}
	f.filterOf = 0
}

// DropSpare gives the memory up that is kept for the next tables.
func (f *Finder) DropSpare() {
	if ts := f.lookups.Load(); ts != nil {
		ts.spare, ts.spareBuckets = nil, 0
	}
}

// Table finds the last pair or element with a given key. A key takes one bucket; earlier pairs
// with the same key are linked with the last one (twins.go).
type Table struct {
	buckets []uint64 // half a hash <<32 | number+1
	taken   int      // how many buckets are not empty
	// How many pairs or elements were added, including those that were deleted since
	seen      uint32
	twins     []twin   // by number; numbers beyond its length have none
	dups      uint32   // how many pairs or elements have the key of a later one
	pending   []uint32 // numbers of those that have changed, which the next lookup adds again
	waiting   []uint64 // a bitmap of the numbers in pending
	clashes   int      // how often two different keys had the same hash
	wholeKeys bool     // hashes are of whole keys, since there were too many clashes
}

// Linear is the number of pairs or elements up to which comparing each is faster than a
// table.
const Linear = 16

var seed = maphash.MakeSeed()

const (
	// keepBuckets is the most buckets that the spare tables have together: 8 MiB.
	keepBuckets = 1 << 20
	// keepTables is the most spare tables.
	keepTables = 16
	// slowGrowth is the number of buckets from which on a table only doubles when it grows.
	slowGrowth = 1 << 15
)

// end makes ts ready for the next message. Some tables are kept for its maps. guarded is whether
// keys may have been watched.
func (ts *lookups) end(guarded bool) {
	ts.filterTable = nil
	if guarded {
		ts.views.reset()
	}
	if ts.made.Len() == 0 {
		return
	}
	for _, tb := range ts.made.All() {
		ts.keepSpare(tb)
	}
	ts.made.Clear()
}

// keepSpare keeps a table that is no longer used for another map, unless it is too large.
func (ts *lookups) keepSpare(tb *Table) {
	if ts.spareBuckets+cap(tb.buckets) <= keepBuckets && len(ts.spare) < keepTables {
		ts.spare = append(ts.spare, tb)
		ts.spareBuckets += cap(tb.buckets)
	}
}

// newTable returns an empty table with this number of buckets, a power of two.
func (ts *lookups) newTable(size int) *Table {
	best := -1
	for i, tb := range ts.spare {
		if cap(tb.buckets) >= size && (best < 0 || cap(tb.buckets) < cap(ts.spare[best].buckets)) {
			best = i
		}
	}
	if best < 0 {
		return &Table{buckets: make([]uint64, size)}
	}
	tb, last := ts.spare[best], len(ts.spare)-1
	ts.spare[best], ts.spare[last] = ts.spare[last], nil
	ts.spare = ts.spare[:last]
	ts.spareBuckets -= cap(tb.buckets)
	*tb = Table{buckets: tb.buckets[:size]}
	clear(tb.buckets)
	return tb
}

// isCurrent reports whether the table has all of n pairs or elements, as they are now.
func (tb *Table) isCurrent(n uint32) bool { return tb != nil && tb.seen == n && len(tb.pending) == 0 }

// AddNew adds the key of pair n, which is about to be appended to a map that is being built,
// to the map's table. It reports whether no pair has that key; if one has, nothing has changed.
// It may also return false for a small map. ends is BothEnds of the key.
func (f *Finder) AddNew(k Keys, e uint32, t *schema.Type, n uint32, key []byte, ends uint64) bool {
	if n <= Linear {
		return false // comparing each key costs less than a table
	}
	ts := f.ownLookups()
	tb := ts.filterTable
	if f.filterOf != e || !tb.isCurrent(n) || 2*tb.taken > len(tb.buckets) || tb.needsWholeKeys() {
		tb = f.table(k, e, t, n)
		if f.filterOf == e {
			ts.filterTable = tb
		}
	}
	hash := hashOfEnds(ends)
	slot, free := tb.freeBucket(hash)
	if tb.wholeKeys || !free {
		var clashes int
		if slot, hash, clashes = tb.bucket(k, e, t, key); tb.buckets[slot] != 0 {
			return false
		}
		tb.clashes += clashes
	}
	tb.buckets[slot] = hash<<32 | uint64(n+1)
	tb.taken++
	tb.seen = n + 1
	return true
}

// freeBucket returns the bucket for a key with this hash, and whether no other key has the
// hash.
func (tb *Table) freeBucket(hash uint64) (int, bool) {
	mask := len(tb.buckets) - 1
	h := int(hash) & mask
	for tb.buckets[h] != 0 {
		if tb.buckets[h]>>32 == hash {
			return h, false
		}
		h = (h + 1) & mask
	}
	return h, true
}

// table returns the table of entry e with its first n pairs or elements in it. If other
// goroutines may be reading the message, the lock must be held for writing.
func (f *Finder) table(k Keys, e uint32, t *schema.Type, n uint32) *Table {
	ts := f.ownLookups()
	tb := ts.made.Get(e)
	if tb == nil {
		tb = ts.newTable(tableSize(n))
		ts.made.Put(e, tb)
		if t.OfViews() {
			ts.views.add(e)
		}
		k.Made(t.OfViews())
	}
	if grown := tableSize(uint32(tb.taken+len(tb.pending)) + n - tb.seen); grown > len(tb.buckets) {
		if tb.seen > 0 && grown < slowGrowth {
			grown *= 2 // it will go on growing
		}
		larger := ts.newTable(grown)
		tb.moveInto(larger.buckets)
		tb.buckets, larger.buckets = larger.buckets, tb.buckets
		ts.keepSpare(larger)
	}
	if tb.seen == 0 && t.Kind() == schema.Dict && t.Key().Kind() == schema.Text {
		tb.insertTexts(k.TextPairs(e, n))
	}
	for {
		if tb.needsWholeKeys() {
			clear(tb.buckets)
			*tb = Table{buckets: tb.buckets, wholeKeys: true}
		}
		switch last := len(tb.pending) - 1; {
		case last >= 0:
			i := tb.pending[last]
			tb.pending = tb.pending[:last]
			tb.waiting[i/64] &^= 1 << (i % 64)
			tb.insert(k, e, t, i)
		case tb.seen < n:
			tb.seen++
			tb.insert(k, e, t, tb.seen-1)
		default:
			return tb
		}
	}
}

// tableSize returns how many buckets a table for n keys and as many again has, a power of two.
func tableSize(n uint32) int {
	size := 64
	for size < 2*int(n) {
		size *= 2
	}
	return size
}

// moveInto copies the table's buckets into slots, which are more and empty.
func (tb *Table) moveInto(slots []uint64) {
	mask := len(slots) - 1
	for _, x := range tb.buckets {
		if x == 0 {
			continue
		}
		h := int(x>>32) & mask
		for slots[h] != 0 {
			h = (h + 1) & mask
		}
		slots[h] = x
	}
}

// insertTexts adds pairs whose keys are texts to an empty table. It stops at the first pair
// that has the hash of another.
func (tb *Table) insertTexts(pairs []uint32, buf *chain.Buffer) {
	for ; len(pairs) >= entry.PairWords; pairs = pairs[entry.PairWords:] {
		p := pairs[0]
		if p == 0 || p&entry.InNode != 0 {
			return
		}
		b := buf.At(p)
		hash := hashOfEnds(BothEnds(b[wire.TextHeader:][:wire.BE32(b)]))
		slot, free := tb.freeBucket(hash)
		if !free {
			return
		}
		tb.seen++
		tb.taken++
		tb.buckets[slot] = hash<<32 | uint64(tb.seen)
	}
}

// insert adds pair or element i, which is not in the table.
func (tb *Table) insert(k Keys, e uint32, t *schema.Type, i uint32) {
	key := k.Key(e, t, i)
	if key == nil {
		return
	}
	if t.OfViews() {
		k.ViewAdded(e, t, i)
	}
	slot, hash, clashes := tb.bucket(k, e, t, key)
	tb.clashes += clashes
	switch head := uint32(tb.buckets[slot]); {
	case head == 0:
		tb.taken++
	case head > i+1:
		tb.addEarlier(head-1, i)
		return
	default:
		tb.addLater(head-1, i)
	}
	tb.buckets[slot] = hash<<32 | uint64(i+1)
}

// Remove takes pair or element i, whose key has not changed yet, out of the table. It reports
// whether it was in it.
func (tb *Table) Remove(k Keys, e uint32, t *schema.Type, i uint32) bool {
	if i >= tb.seen || tb.isPending(i) {
		return false
	}
	if tb.HasLater(i) {
		tb.removeEarlier(i)
		return true
	}
	key := k.Key(e, t, i)
	if key == nil {
		return false
	}
	slot, hash, _ := tb.bucket(k, e, t, key)
	if uint32(tb.buckets[slot]) != i+1 {
		return false
	}
	if next := tb.removeLast(i, t.Kind() == schema.Dict); next != 0 {
		tb.buckets[slot] = hash<<32 | uint64(next)
		return true
	}
	tb.free(slot)
	return true
}

// free empties a bucket. The contents of the buckets after it, up to an empty one, move closer to
// where they belong: they are then found without passing an empty bucket.
func (tb *Table) free(slot int) {
	tb.taken--
	mask := len(tb.buckets) - 1
	for h := (slot + 1) & mask; tb.buckets[h] != 0; h = (h + 1) & mask {
		if x := tb.buckets[h]; (h-int(x>>32))&mask >= (h-slot)&mask {
			tb.buckets[slot] = x
			slot = h
		}
	}
	tb.buckets[slot] = 0
}

// InsertLater notes that the next lookup must add pair or element i, which is not in the
// table.
func (tb *Table) InsertLater(i uint32) {
	if i >= tb.seen || tb.isPending(i) {
		return
	}
	for int(i/64) >= len(tb.waiting) {
		tb.waiting = append(tb.waiting, 0)
	}
	tb.waiting[i/64] |= 1 << (i % 64)
	tb.pending = append(tb.pending, i)
}

// isPending reports whether the next lookup must add pair or element i.
func (tb *Table) isPending(i uint32) bool {
	return int(i/64) < len(tb.waiting) && tb.waiting[i/64]>>(i%64)&1 != 0
}

// needsWholeKeys reports whether so many keys had the same hash that the table must be made
// anew, with hashes of whole keys.
func (tb *Table) needsWholeKeys() bool { return tb.clashes > maxClashes && !tb.wholeKeys }

// seeds make hashes unpredictable for senders.
var seeds = [2]uint64{maphash.Comparable(seed, 0), maphash.Comparable(seed, 1) | 1}

// hashOfEnds returns half a hash of what BothEnds returned for a key. Keys that differ only
// between their ends have the same half.
func hashOfEnds(ends uint64) uint64 {
	hi, lo := bits.Mul64(ends^seeds[0], seeds[1])
	return (hi ^ lo) >> 32
}

// bucket returns the bucket that the key is in, or the empty one for it; half of the key's
// hash; and how many other keys with the same hash were passed.
func (tb *Table) bucket(k Keys, e uint32, t *schema.Type, key []byte) (slot int, hash uint64, clashes int) {
	if tb.wholeKeys {
		hash = maphash.Bytes(seed, key) >> 32
	} else {
		hash = hashOfEnds(BothEnds(key))
	}
	mask := len(tb.buckets) - 1
	for h := int(hash); ; h++ {
		x := tb.buckets[h&mask]
		if x == 0 {
			return h & mask, hash, clashes
		}
		if x>>32 == hash {
			if have := k.Key(e, t, uint32(x)-1); have != nil && bytes.Equal(have, key) {
				return h & mask, hash, clashes
			}
			clashes++
		}
	}
}

// find returns the number of the last pair or element with the key, −1 if there is none.
func (tb *Table) find(k Keys, e uint32, t *schema.Type, key []byte) int {
	slot, _, _ := tb.bucket(k, e, t, key)
	return int(uint32(tb.buckets[slot])) - 1
}

// madeTable returns the table of entry e, nil if there is none, and whether it isCurrent.
func (f *Finder) madeTable(e, n uint32) (tb *Table, current bool) {
	if ts := f.lookups.Load(); ts != nil {
		ts.mu.RLock()
		defer ts.mu.RUnlock()
		tb = ts.made.Get(e)
	}
	return tb, tb.isCurrent(n)
}

// tableLocked is table with the lock held, also if it panics since bytes have changed that were
// checked before, as a trusted peer can change them in shared memory.
func (f *Finder) tableLocked(k Keys, e uint32, t *schema.Type, n uint32) *Table {
	ts := f.ownLookups()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return f.table(k, e, t, n)
}

// KeyAdded notes that pair i of entry e has got a key that nobody has looked for.
func (f *Finder) KeyAdded(e, i uint32) {
	if tb := f.Table(e); tb != nil {
		tb.InsertLater(i)
	}
	if f.filterOf == e {
		f.filterOf = 0
	}
}

// Clear makes the table of entry e, if it has one, empty. The next lookup adds all pairs or
// elements.
func (f *Finder) Clear(e uint32) {
	if tb := f.Table(e); tb != nil {
		clear(tb.buckets)
		*tb = Table{buckets: tb.buckets, wholeKeys: tb.wholeKeys}
	}
}

// Forget empties the table of entry e, if it has one, and forgets what the entries from e to e+n-1
// belong to.
func (f *Finder) Forget(e, n uint32) {
	f.Clear(e)
	if v := f.Views(); int(e) < len(v.owner) {
		clear(v.owner[e:min(int(e+n), len(v.owner))])
	}
}

// Repeated returns how many of the n pairs of entry e have the key of a later one. Peers use the
// last.
func (f *Finder) Repeated(k Keys, e uint32, t *schema.Type, n uint32) int {
	if t.Key().Kind() >= schema.Record || n < 2 {
		return 0
	}
	tb, current := f.madeTable(e, n)
	if tb == nil && n <= singlePairs {
		if t.Key().Kind() == schema.Text && textKeysDiffer(k.TextPairs(e, n)) {
			return 0
		}
		if dups := repeatedAmongFew(k, e, t, n); dups >= 0 {
			return dups
		}
	}
	if !current {
		tb = f.tableLocked(k, e, t, n)
	}
	return int(tb.dups)
}

// HasLater reports whether a later one of the n pairs of entry e has the key of pair i. known is
// false if only a lookup can tell.
func (f *Finder) HasLater(e, n, i uint32) (later, known bool) {
	tb, known := f.madeTable(e, n)
	return known && tb.HasLater(i), known
}

// Seen returns how many pairs or elements were added, including those that were deleted since.
func (tb *Table) Seen() uint32 { return tb.seen }

// Stats returns, for tests, how many buckets there are and how many of them are not empty; whether
// hashes are of whole keys, and whether they should be.
func (tb *Table) Stats() (buckets, taken int, wholeKeys, mustRehash bool) {
	return len(tb.buckets), tb.taken, tb.wholeKeys, tb.needsWholeKeys()
}
