package engine

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// finding is how keys of maps, and elements of sets, are found.
type finding struct {
	lookups atomic.Pointer[lookups] // nil until there is a table or a filter
	// How many calls of All are under way; while there are any, pairs keep their numbers
	iterations atomic.Int32
	filterOf   uint32 // the entry of the map that the filter is of, 0 if there is none
}

// lookups holds hash tables for the keys of large maps and the elements of large sets. A table is
// made by the first lookup that needs it. Lookups count as reading: goroutines that share a
// message may make them at the same time, and share the lock.
type lookups struct {
	mu           sync.RWMutex
	made         hashmap.Map[uint32, *table] // by entry
	spare        []*table                    // no longer in use, for other maps
	spareBuckets int                         // how many buckets the spare ones have
	viewKeys     viewKeys

	// While a map is being filled, most keys are new. Up to filterPairs pairs, a filter finds that
	// out without a table.
	filter      *filter // nil until a map is filled
	filterTable *table  // the table of that map, nil if it has none yet
}

// noLookups is read in messages without lookups.
var noLookups lookups

// keyTables returns the message's lookups, to be read only.
func (m *Message) keyTables() *lookups {
	if l := m.lookups.Load(); l != nil {
		return l
	}
	return &noLookups
}

// ownLookups returns the message's lookups, which it makes if there are none. Any number of
// goroutines may do so.
func (m *Message) ownLookups() *lookups {
	if m.lookups.Load() == nil {
		m.lookups.CompareAndSwap(nil, new(lookups))
	}
	return m.lookups.Load()
}

// hasKeyTables reports whether there are tables.
func (m *Message) hasKeyTables() bool { return m.keyTables().made.Len() > 0 }

// table finds the last pair or element with a given key. A key takes one bucket; earlier pairs
// with the same key are linked with the last one (twins.go).
type table struct {
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

// linearPairs is the number of pairs or elements up to which comparing each is faster than a
// table.
const linearPairs = 16

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
		ts.viewKeys.reset()
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
func (ts *lookups) keepSpare(tb *table) {
	if ts.spareBuckets+cap(tb.buckets) <= keepBuckets && len(ts.spare) < keepTables {
		ts.spare = append(ts.spare, tb)
		ts.spareBuckets += cap(tb.buckets)
	}
}

// dropSpare gives the spare tables up.
func (ts *lookups) dropSpare() { ts.spare, ts.spareBuckets = nil, 0 }

// newTable returns an empty table with this number of buckets, a power of two.
func (ts *lookups) newTable(size int) *table {
	best := -1
	for i, tb := range ts.spare {
		if cap(tb.buckets) >= size && (best < 0 || cap(tb.buckets) < cap(ts.spare[best].buckets)) {
			best = i
		}
	}
	if best < 0 {
		return &table{buckets: make([]uint64, size)}
	}
	tb, last := ts.spare[best], len(ts.spare)-1
	ts.spare[best], ts.spare[last] = ts.spare[last], nil
	ts.spare = ts.spare[:last]
	ts.spareBuckets -= cap(tb.buckets)
	*tb = table{buckets: tb.buckets[:size]}
	clear(tb.buckets)
	return tb
}

// keyBytes returns the bytes by which key i of a map, or element i of a set, is compared; nil
// if it was deleted, or is absent since it is not valid, as in a message parsed with ByIndex.
func (m *Message) keyBytes(e uint32, t *schema.Type, i uint32) []byte {
	kt, word := t.Key(), uint32(0)
	if t.Kind() == schema.List {
		kt = t.Elem()
		switch kt.Kind() {
		case schema.Fixed:
			return sameKey(m.buf.At(m.idx[e+listStart]+i*uint32(kt.Size())), kt)
		case schema.Text:
			if word = m.idx[m.idx[e+listElems]+i]; word == 0 { // not on the wire yet
				return []byte{}
			}
			return m.textBytes(word)
		}
		if word = m.elementEntry(e, kt, i); m.idx[word] == 0 {
			return nil
		}
		return m.wire(word, kt)
	}
	if word = m.idx[m.idx[e+listElems]+i*pairWords]; word == 0 {
		return nil
	}
	switch kt.Kind() {
	case schema.Fixed:
		return sameKey(m.buf.At(word), kt)
	case schema.Text:
		return m.textBytes(word)
	}
	return m.wire(word, kt)
}

// sameKey returns the bytes by which a value of fixed size is compared. Every true bool has the
// same.
func sameKey(b []byte, t *schema.Type) []byte {
	if t.Wire() == wire.Bool && b[0] > 1 {
		return trueByte
	}
	return b[:t.Size()]
}

var trueByte = []byte{1}

// lookup returns the number of the last pair or element of entry e with the key, −1 if there is
// none.
func (m *Message) lookup(e uint32, t *schema.Type, key []byte) int {
	n := m.idx[e+listCount]
	if f := m.frameOf(e); f != nil && f.next < n { // the elements from next on are zero
		if bytes.Equal(key, zeroElement(t.Elem())) {
			return int(n) - 1
		}
		n = f.next
	}
	if n <= linearPairs {
		for i := int(n) - 1; i >= 0; i-- {
			if have := m.keyBytes(e, t, uint32(i)); have != nil && bytes.Equal(have, key) {
				return i
			}
		}
		return -1
	}
	ts := m.ownLookups()
	ts.mu.RLock()
	if tb := ts.made.Get(e); tb.isCurrent(n) {
		defer ts.mu.RUnlock()
		return tb.find(m, e, t, key)
	}
	ts.mu.RUnlock()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return m.table(e, t, n).find(m, e, t, key)
}

// zeroElement returns the bytes by which an element that has not been set is compared.
func zeroElement(t *schema.Type) []byte {
	if t.Kind() == schema.Text {
		return nil
	}
	return schema.AppendZero(nil, t)
}

// isCurrent reports whether the table has all of n pairs or elements, as they are now.
func (tb *table) isCurrent(n uint32) bool { return tb != nil && tb.seen == n && len(tb.pending) == 0 }

// addNewKey adds the key of pair n, which is about to be appended to a map that is being built,
// to the map's table. It reports whether no pair has that key; if one has, nothing has changed.
// It may also return false for a small map. ends is bothEnds of the key.
func (m *Message) addNewKey(e uint32, t *schema.Type, n uint32, key []byte, ends uint64) bool {
	if n <= linearPairs {
		return false // comparing each key costs less than a table
	}
	ts := m.ownLookups()
	tb := ts.filterTable
	if m.filterOf != e || !tb.isCurrent(n) || 2*tb.taken > len(tb.buckets) || tb.needsWholeKeys() {
		tb = m.table(e, t, n)
		if m.filterOf == e {
			ts.filterTable = tb
		}
	}
	hash := hashOfEnds(ends)
	slot, free := tb.freeBucket(hash)
	if tb.wholeKeys || !free {
		var clashes int
		if slot, hash, clashes = tb.bucket(m, e, t, key); tb.buckets[slot] != 0 {
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
func (tb *table) freeBucket(hash uint64) (int, bool) {
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
func (m *Message) table(e uint32, t *schema.Type, n uint32) *table {
	ts := m.ownLookups()
	tb := ts.made.Get(e)
	if tb == nil {
		tb = ts.newTable(tableSize(n))
		ts.made.Put(e, tb)
		m.more = true
		if t.OfViews() {
			m.addViewTable(e)
		}
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
		tb.insertTexts(m, m.idx[m.idx[e+listElems]:][:n*pairWords])
	}
	for {
		if tb.needsWholeKeys() {
			clear(tb.buckets)
			*tb = table{buckets: tb.buckets, wholeKeys: true}
		}
		switch k := len(tb.pending) - 1; {
		case k >= 0:
			i := tb.pending[k]
			tb.pending = tb.pending[:k]
			tb.waiting[i/64] &^= 1 << (i % 64)
			tb.insert(m, e, t, i)
		case tb.seen < n:
			tb.seen++
			tb.insert(m, e, t, tb.seen-1)
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
func (tb *table) moveInto(slots []uint64) {
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
func (tb *table) insertTexts(m *Message, pairs []uint32) {
	for ; len(pairs) >= pairWords; pairs = pairs[pairWords:] {
		p := pairs[0]
		if p == 0 || p&inNode != 0 {
			return
		}
		b := m.buf.At(p)
		hash := hashOfEnds(bothEnds(b[wire.TextHeader:][:wire.BE32(b)]))
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
func (tb *table) insert(m *Message, e uint32, t *schema.Type, i uint32) {
	key := m.keyBytes(e, t, i)
	if key == nil {
		return
	}
	if t.OfViews() {
		m.registerElement(e, t, i)
	}
	slot, hash, clashes := tb.bucket(m, e, t, key)
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

// remove takes pair or element i, whose key has not changed yet, out of the table. It reports
// whether it was in it.
func (tb *table) remove(m *Message, e uint32, t *schema.Type, i uint32) bool {
	if i >= tb.seen || tb.isPending(i) {
		return false
	}
	if tb.hasLater(i) {
		tb.removeEarlier(i)
		return true
	}
	key := m.keyBytes(e, t, i)
	if key == nil {
		return false
	}
	slot, hash, _ := tb.bucket(m, e, t, key)
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
func (tb *table) free(slot int) {
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

// elementChanges takes pair or element i, which is about to change, out of the table of entry
// e, if there is one. The next lookup adds it again.
func (m *Message) elementChanges(e, i uint32) {
	if tb := m.keyTables().made.Get(e); tb != nil && tb.remove(m, e, schema.TypeByID(m.idx[e+listType]), i) {
		tb.reinsertLater(i)
	}
}

// clearTable makes the table of entry e, if it has one, empty. The next lookup adds all pairs
// or elements.
func (m *Message) clearTable(e uint32) {
	if tb := m.keyTables().made.Get(e); tb != nil {
		clear(tb.buckets)
		*tb = table{buckets: tb.buckets, wholeKeys: tb.wholeKeys}
	}
}

// reinsertLater notes that the next lookup must add pair or element i, which is not in the
// table.
func (tb *table) reinsertLater(i uint32) {
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
func (tb *table) isPending(i uint32) bool {
	return int(i/64) < len(tb.waiting) && tb.waiting[i/64]>>(i%64)&1 != 0
}

// needsWholeKeys reports whether so many keys had the same hash that the table must be made
// anew, with hashes of whole keys.
func (tb *table) needsWholeKeys() bool { return tb.clashes > maxClashes && !tb.wholeKeys }

// seeds make hashes unpredictable for senders.
var seeds = [2]uint64{maphash.Comparable(seed, 0), maphash.Comparable(seed, 1) | 1}

// hashOfEnds returns half a hash of what bothEnds returned for a key. Keys that differ only
// between their ends have the same half.
func hashOfEnds(ends uint64) uint64 {
	hi, lo := bits.Mul64(ends^seeds[0], seeds[1])
	return (hi ^ lo) >> 32
}

// bucket returns the bucket that the key is in, or the empty one for it; half of the key's
// hash; and how many other keys with the same hash were passed.
func (tb *table) bucket(m *Message, e uint32, t *schema.Type, key []byte) (slot int, hash uint64, clashes int) {
	if tb.wholeKeys {
		hash = maphash.Bytes(seed, key) >> 32
	} else {
		hash = hashOfEnds(bothEnds(key))
	}
	mask := len(tb.buckets) - 1
	for h := int(hash); ; h++ {
		x := tb.buckets[h&mask]
		if x == 0 {
			return h & mask, hash, clashes
		}
		if x>>32 == hash {
			if have := m.keyBytes(e, t, uint32(x)-1); have != nil && bytes.Equal(have, key) {
				return h & mask, hash, clashes
			}
			clashes++
		}
	}
}

// find returns the number of the last pair or element with the key, −1 if there is none.
func (tb *table) find(m *Message, e uint32, t *schema.Type, key []byte) int {
	slot, _, _ := tb.bucket(m, e, t, key)
	return int(uint32(tb.buckets[slot])) - 1
}

// keyAdded notes that pair i has got a key that nobody has looked for.
func (m *Message) keyAdded(e uint32, t *schema.Type, i uint32) {
	if tb := m.keyTables().made.Get(e); tb != nil {
		tb.reinsertLater(i)
	}
	if m.filterOf == e {
		m.filterOf = 0
	}
}

// repeated returns how many pairs of a map have the key of a later one. Peers use the last.
func (m *Message) repeated(e uint32, t *schema.Type) int {
	n := m.idx[e+listCount]
	if t.Key().Kind() >= schema.Record || n < 2 {
		return 0
	}
	tb, current := m.madeTable(e, n)
	if tb == nil && n <= singlePairs {
		if t.Key().Kind() == schema.Text && m.textKeysDiffer(m.idx[m.idx[e+listElems]:][:n*pairWords]) {
			return 0
		}
		if dups := m.repeatedAmongFew(e, t, n); dups >= 0 {
			return dups
		}
	}
	if !current {
		tb = m.tableLocked(e, t, n)
	}
	return int(tb.dups)
}

// madeTable returns the table of entry e, nil if there is none, and whether it isCurrent.
func (m *Message) madeTable(e, n uint32) (tb *table, current bool) {
	if ts := m.lookups.Load(); ts != nil {
		ts.mu.RLock()
		defer ts.mu.RUnlock()
		tb = ts.made.Get(e)
	}
	return tb, tb.isCurrent(n)
}

// tableLocked is table with the lock held, also if it panics since bytes have changed that were
// checked before, as a trusted peer can change them in shared memory.
func (m *Message) tableLocked(e uint32, t *schema.Type, n uint32) *table {
	ts := m.ownLookups()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return m.table(e, t, n)
}

// isRepeated reports whether a later pair has the key of pair i, which was not deleted.
func (m *Message) isRepeated(e uint32, t *schema.Type, i uint32) bool {
	if tb, current := m.madeTable(e, m.idx[e+listCount]); current {
		return tb.hasLater(i)
	}
	return m.lookup(e, t, m.keyBytes(e, t, i)) != int(i)
}
