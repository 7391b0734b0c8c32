package nocopy

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sync"
)

// tables are hash tables over the keys of large maps and the elements of large sets, made when first needed.
// Looking something up is reading, so goroutines that share a message share the lock.
type tables struct {
	mu   sync.RWMutex
	made map[uint32]*table // by entry
	free []*table          // to be used again
	kept int               // the slots that they have

	// While a map is being filled, most keys are new. As long as they are few, its filter knows that without a table.
	filling uint32 // the entry of that map, 0 = none
	filter  filter
	filled  *table // its table, nil if it has none yet
}

// filter has a bit for each of the hashes that keys may have.
type filter [filterBits / 64]uint64

const (
	filterLog  = 12
	filterBits = 1 << filterLog
)

// table finds the last pair or element with a key.
type table struct {
	slots   []uint64 // half a hash <<32 | number+1
	used    int      // slots taken, also by what has been deleted since
	loose   uint32   // pairs or elements before this one are not in it: see wirekey.go
	upTo    uint32   // those before this one are
	dups    uint32   // how many of them have the key of a later one
	clashes int      // how often another key had the same hash
	strong  bool     // hashes are of whole keys: there were too many clashes
}

// linear is the number of elements up to which looking at each is faster than a table.
const linear = 16

var seed = maphash.MakeSeed()

const (
	// keepSlots is how many slots the tables have that are kept for later, all together: 8 MiB.
	keepSlots = 1 << 20
	// keepTables is how many are.
	keepTables = 16
	// fastSlots is the size from which on tables grow to twice theirs only.
	fastSlots = 1 << 15
)

func (ts *tables) reset() {
	ts.filling, ts.filled = 0, nil
	if len(ts.made) == 0 {
		return
	}
	for _, tb := range ts.made {
		ts.keep(tb)
	}
	clear(ts.made)
}

// keep keeps a table that is no longer needed, if it is not too large.
func (ts *tables) keep(tb *table) {
	if ts.kept+cap(tb.slots) <= keepSlots && len(ts.free) < keepTables {
		ts.free = append(ts.free, tb)
		ts.kept += cap(tb.slots)
	}
}

// forget gives up the tables that are kept.
func (ts *tables) forget() { ts.free, ts.kept = nil, 0 }

// newTable returns an empty table of the given size, a power of two.
func (ts *tables) newTable(size int) *table {
	best := -1
	for i, tb := range ts.free {
		if cap(tb.slots) >= size && (best < 0 || cap(tb.slots) < cap(ts.free[best].slots)) {
			best = i
		}
	}
	if best < 0 {
		return &table{slots: make([]uint64, size)}
	}
	tb, last := ts.free[best], len(ts.free)-1
	ts.free[best], ts.free[last] = ts.free[last], nil
	ts.free = ts.free[:last]
	ts.kept -= cap(tb.slots)
	*tb = table{slots: tb.slots[:size]}
	clear(tb.slots)
	return tb
}

// few is the number of pairs up to which the filter of a map that is being filled is better than a table.
const few = 64

// isNew says that a key with these ends is certainly not among those of the map with entry e, which has n pairs, and
// notes that it will be. If n is 0, fill comes first.
func (ts *tables) isNew(e, n uint32, ends uint64) bool {
	return ts.filling == e && n <= few && ts.filter.add(ends)
}

// fill begins with the filter of a map that is empty.
//
//go:noinline
func (ts *tables) fill(e uint32) {
	ts.filling, ts.filled = e, nil
	clear(ts.filter[:])
}

// unknown says that a key is added to the map that is being filled that its filter does not know.
func (ts *tables) unknown() { ts.filling, ts.filled = 0, nil }

// add adds what stands for a key and says that it is certainly new.
func (f *filter) add(x uint64) bool {
	h := x * spread >> (64 - filterLog)
	bit := uint64(1) << (h % 64)
	word := &f[h/64]
	isNew := *word&bit == 0
	*word |= bit
	return isNew
}

func (ts *tables) drop(e uint32) {
	if len(ts.made) > 0 {
		delete(ts.made, e)
		ts.filled = nil
	}
}

// key returns the bytes of a map's key or set's element; nil if it has been deleted.
func (m *Message) key(e uint32, t *Type, i uint32) []byte {
	kt, word := t.key, uint32(0)
	if t.kind == list {
		kt = t.elem
		switch kt.kind {
		case fixed:
			return sameKey(m.buf.At(m.idx[e+listStart]+i*uint32(kt.size)), kt)
		case text:
			if word = m.idx[m.idx[e+listElems]+i]; word == 0 { // not reached yet in building
				return []byte{}
			}
			return m.textBytes(word)
		}
		return m.wire(m.elementEntry(e, kt, i), kt)
	}
	if word = m.idx[m.idx[e+listElems]+i*pairWords]; word == 0 {
		return nil
	}
	switch kt.kind {
	case fixed:
		return sameKey(m.buf.At(word), kt)
	case text:
		return m.textBytes(word)
	}
	return m.wire(word, kt)
}

// sameKey returns the bytes by which a key or element of fixed size is compared: of a bool that is true, those that we write.
func sameKey(b []byte, t *Type) []byte {
	if t.wire == WireBool && b[0] > 1 {
		return trueByte
	}
	return b[:t.size]
}

var trueByte = []byte{1}

// lookup returns the number of the last pair or element with the key, −1 if there is none.
func (m *Message) lookup(e uint32, t *Type, key []byte) int {
	if t.kind == dict && t.key.kind >= record {
		return m.lookupWire(e, t, key)
	}
	n := m.idx[e+listCount]
	f := m.building(e)
	if n <= linear || f != nil && f.next < n { // elements still to come would be in it as zero
		for i := int(n) - 1; i >= 0; i-- {
			if have := m.key(e, t, uint32(i)); have != nil && bytes.Equal(have, key) {
				return i
			}
		}
		return -1
	}
	m.tables.mu.RLock()
	if tb := m.tables.made[e]; tb != nil && tb.upTo == n {
		defer m.tables.mu.RUnlock()
		return tb.find(m, e, t, key)
	}
	m.tables.mu.RUnlock()
	m.tables.mu.Lock()
	defer m.tables.mu.Unlock()
	return m.table(e, t).find(m, e, t, key)
}

// claim enters the key of pair n, which is about to be appended to a map that is being built, into its table, and
// reports whether there was none like it. If there was, nothing has changed.
func (m *Message) claim(e uint32, t *Type, n uint32, key []byte, ends uint64) bool {
	if n <= linear {
		return false // a table would cost more than looking
	}
	tb := m.tables.filled
	if tb == nil || m.tables.filling != e || tb.upTo != n || 2*tb.used > len(tb.slots) || tb.weak() {
		tb = m.table(e, t)
		if m.tables.filling == e {
			m.tables.filled = tb
		}
	}
	hash := weakHash(ends)
	slot, free := tb.freeSlot(hash)
	if tb.strong || !free {
		var clashes int
		if slot, hash, clashes = tb.slot(m, e, t, key); tb.slots[slot] != 0 {
			return false
		}
		tb.clashes += clashes
	}
	tb.slots[slot] = hash<<32 | uint64(n+1)
	tb.used++
	tb.upTo = n + 1
	return true
}

// freeSlot returns the slot where a key with this half hash belongs, and whether no other key there has the same.
func (tb *table) freeSlot(hash uint64) (int, bool) {
	mask := len(tb.slots) - 1
	h := int(hash) & mask
	for tb.slots[h] != 0 {
		if tb.slots[h]>>32 == hash {
			return h, false
		}
		h = (h + 1) & mask
	}
	return h, true
}

// table returns the table of an entry, up to date. Where others may be reading, the lock must be held for writing.
func (m *Message) table(e uint32, t *Type) *table {
	tb := m.tables.made[e]
	n := m.idx[e+listCount]
	if m.tables.made == nil {
		m.tables.made = map[uint32]*table{}
	}
	if tb == nil {
		tb = m.tables.newTable(tableSize(n))
		m.tables.made[e] = tb
	}
	if grown := tableSize(uint32(tb.used) + n - tb.upTo); grown > len(tb.slots) {
		if tb.upTo > 0 && grown < fastSlots {
			grown *= 2 // it will go on growing
		}
		larger := m.tables.newTable(grown)
		tb.moveInto(larger.slots)
		tb.slots, larger.slots = larger.slots, tb.slots
		m.tables.keep(larger)
	}
	if tb.upTo == 0 && t.kind == dict && t.key.kind == text {
		tb.insertTexts(m, m.idx[m.idx[e+listElems]:][:n*pairWords])
	}
	for {
		if tb.weak() {
			clear(tb.slots)
			*tb = table{slots: tb.slots, loose: tb.loose, upTo: tb.loose, strong: true}
		}
		if tb.upTo == n {
			return tb
		}
		tb.insert(m, e, t, tb.upTo)
		tb.upTo++
	}
}

// tableSize returns the size of a table with room for n keys and as many again, a power of two.
func tableSize(n uint32) int {
	size := 64
	for size < 2*int(n) {
		size *= 2
	}
	return size
}

// moveInto puts what the table has into more slots, which are empty.
func (tb *table) moveInto(slots []uint64) {
	mask := len(slots) - 1
	for _, x := range tb.slots {
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

// insertTexts adds pairs whose keys are texts to an empty table, as long as their hashes are new.
func (tb *table) insertTexts(m *Message, pairs []uint32) {
	for ; len(pairs) >= pairWords; pairs = pairs[pairWords:] {
		p := pairs[0]
		if p == 0 || p&inNode != 0 {
			return
		}
		b := m.buf.At(p)
		hash := weakHash(bothEnds(b[textHeader:][:be32(b)]))
		slot, free := tb.freeSlot(hash)
		if !free {
			return
		}
		tb.upTo++
		tb.used++
		tb.slots[slot] = hash<<32 | uint64(tb.upTo)
	}
}

// insert adds pair or element i.
func (tb *table) insert(m *Message, e uint32, t *Type, i uint32) {
	key := m.key(e, t, i)
	if key == nil {
		return
	}
	slot, hash, clashes := tb.slot(m, e, t, key)
	tb.clashes += clashes
	switch uint32(tb.slots[slot]) {
	case 0:
		tb.used++
	case i + 1: // it was deleted and has the same key again
	default:
		tb.dups++
	}
	tb.slots[slot] = hash<<32 | uint64(i+1)
}

// weak says that the table should be made anew with better hashes.
func (tb *table) weak() bool { return tb.clashes > suspects && !tb.strong }

// seeds make hashes unpredictable from outside.
var seeds = [2]uint64{maphash.Comparable(seed, 0), maphash.Comparable(seed, 1) | 1}

// weakHash returns half a hash of what bothEnds returns of a key: keys that differ only in between clash.
func weakHash(ends uint64) uint64 {
	hi, lo := bits.Mul64(ends^seeds[0], seeds[1])
	return (hi ^ lo) >> 32
}

// slot returns the slot that the key is in, or the free one where it belongs, the key's half hash, and how many other keys
// have the same.
func (tb *table) slot(m *Message, e uint32, t *Type, key []byte) (slot int, hash uint64, clashes int) {
	if tb.strong {
		hash = maphash.Bytes(seed, key) >> 32
	} else {
		hash = weakHash(bothEnds(key))
	}
	mask := len(tb.slots) - 1
	for h := int(hash); ; h++ {
		x := tb.slots[h&mask]
		if x == 0 {
			return h & mask, hash, clashes
		}
		if x>>32 == hash {
			if have := m.key(e, t, uint32(x)-1); have != nil && bytes.Equal(have, key) {
				return h & mask, hash, clashes
			}
			clashes++
		}
	}
}

func (tb *table) find(m *Message, e uint32, t *Type, key []byte) int {
	slot, _, _ := tb.slot(m, e, t, key)
	return int(uint32(tb.slots[slot])) - 1
}

// keyAdded tells the tables that pair i has a key now that they have not been asked for before.
func (m *Message) keyAdded(e uint32, t *Type, i uint32) {
	if t.key.kind >= record { // who added it has a handle
		m.loosen(e)
		return
	}
	if len(m.tables.made) > 0 {
		m.reinsert(e, t, i)
	}
	if m.tables.filling == e {
		m.tables.unknown()
	}
}

// reinsert adds pair i again, which has been deleted and has another key now.
func (m *Message) reinsert(e uint32, t *Type, i uint32) {
	if t.key.kind >= record {
		return // it is not in the table yet, or loose
	}
	if tb := m.tables.made[e]; tb != nil && i < tb.upTo {
		last := tb.find(m, e, t, m.key(e, t, i))
		if 2*(tb.used+1) > len(tb.slots) || tb.weak() || last >= 0 && last != int(i) {
			m.tables.drop(e) // by now mostly of keys that are gone, or the key is there already
			return
		}
		tb.insert(m, e, t, i)
	}
}

// repeated returns how many pairs of a map have the key of a later one. Peers go by the last.
func (m *Message) repeated(e uint32, t *Type) int {
	n := m.idx[e+listCount]
	if t.key.kind >= record || n < 2 {
		return 0
	}
	if n <= filtered {
		if t.key.kind == text && m.textKeysDiffer(m.idx[m.idx[e+listElems]:][:n*pairWords]) {
			return 0
		}
		if dups := m.repeatedAmongFew(e, t, n); dups >= 0 {
			return dups
		}
	}
	m.tables.mu.RLock()
	tb := m.tables.made[e]
	upToDate := tb != nil && tb.upTo == n
	m.tables.mu.RUnlock()
	if !upToDate {
		m.tables.mu.Lock()
		tb = m.table(e, t)
		m.tables.mu.Unlock()
	}
	return int(tb.dups)
}

const (
	// filtered is the number of pairs up to which a filter says of nearly all keys that they come once.
	filtered = 256
	// suspects is how many others are looked for one by one, and how many clashes a table may have.
	suspects = 16
)

// repeatedAmongFew is repeated without a table; negative if it would take long.
func (m *Message) repeatedAmongFew(e uint32, t *Type, n uint32) int {
	var seen filter
	dups, looked := 0, 0
	for i := range n {
		key := m.key(e, t, i)
		if key == nil || seen.add(bothEnds(key)) {
			continue
		}
		if looked++; looked > suspects && n > linear {
			return -1
		}
		if m.hasKeyBefore(e, t, i, key) {
			dups++
		}
	}
	return dups
}

// textKeysDiffer says whether the keys of these pairs are certainly all different, as they nearly always are.
func (m *Message) textKeysDiffer(pairs []uint32) bool {
	base := pairs[0]
	if base == 0 || base&inNode != 0 {
		return false
	}
	b := m.buf.At(base)
	if len(pairs) <= fewest*pairWords {
		var seen [fewest]uint64
		for n := 0; len(pairs) >= pairWords; pairs, n = pairs[pairWords:], n+1 {
			x, ok := textEnds(b, pairs[0]-base)
			if !ok {
				return false
			}
			for _, y := range seen[:n] {
				if x == y {
					return false
				}
			}
			seen[n] = x
		}
		return true
	}
	var seen filter
	for ; len(pairs) >= pairWords; pairs = pairs[pairWords:] {
		if x, ok := textEnds(b, pairs[0]-base); !ok || !seen.add(x) {
			return false
		}
	}
	return true
}

// fewest is the number of keys up to which comparing each with each is cheaper than a filter.
const fewest = 8

// textEnds returns a number that depends on the length and both ends of the text at b[at:]; false if it is not where that is
// easily found out.
func textEnds(b []byte, at uint32) (uint64, bool) {
	i := uint64(at)
	if i+8 > uint64(len(b)) {
		return 0, false
	}
	x := bits.ReverseBytes64(load64(b, int(i))) // the length and 4 bytes of the text
	n := x >> 32
	if n < 4 {
		return x &^ (1<<(32-8*n) - 1), true
	}
	if i += n + textHeader; i > uint64(len(b)) {
		return 0, false
	}
	// Neither mixed more: keys that are numbered differ in their last bytes, and then keep apart better than by chance.
	return x ^ bits.RotateLeft64(bits.ReverseBytes64(load64(b, int(i-8))), 32), true
}

// spread is an odd number that multiplying by changes the high bits most.
const spread = 0x9e3779b97f4a7c15

// bothEnds returns a number that depends on the length and both ends of the key.
func bothEnds(key []byte) uint64 {
	var x uint64
	switch n := len(key); {
	case n >= 8:
		x = be64(key)*spread ^ bits.RotateLeft64(be64(key[n-8:]), 32)
	case n >= 4:
		x = uint64(be32(key))<<32 | uint64(be32(key[n-4:]))
	case n > 0:
		x = uint64(key[0])<<16 | uint64(key[n/2])<<8 | uint64(key[n-1])
	}
	return x + uint64(len(key))*spread
}

func (m *Message) hasKeyBefore(e uint32, t *Type, i uint32, key []byte) bool {
	for j := range i {
		if have := m.key(e, t, j); have != nil && bytes.Equal(have, key) {
			return true
		}
	}
	return false
}
