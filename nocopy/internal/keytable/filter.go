package keytable

import (
	"bytes"
	"math/bits"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Most keys differ. What this file holds finds that out without a table, from their lengths and
// ends.

// filter is a set of hashes, as one bit for each. It may hold a hash that was not added, but no
// hash that was added is missing.
type filter [filterBits / 64]uint64

const (
	filterLog  = 12
	filterBits = 1 << filterLog
)

// filterPairs is the number of pairs up to which the filter of a map that is being filled is
// better than a table.
const filterPairs = 64

// IsNew reports whether a key with these ends is certainly not in the map of entry e, which has
// n pairs. It adds the key to the filter. If n is 0, Filter must be called first.
func (f *Finder) IsNew(e, n uint32, ends uint64) bool {
	return f.filterOf == e && n <= filterPairs && f.lookups.Load().filter.add(ends)
}

// Filter starts a filter for the map of entry e, which is empty.
//
//go:noinline
func (f *Finder) Filter(e uint32) {
	l := f.lookups.Load()
	if l == nil || l.filter == nil {
		l = f.ownLookups()
		l.filter = new(filter)
	}
	f.filterOf = e
	clear(l.filter[:])
}

// DropFilter ends the filter: keys are added that it does not learn, or entries change.
func (f *Finder) DropFilter() { f.filterOf = 0 }

// FreeFilter is DropFilter, and gives the filter's memory up.
func (f *Finder) FreeFilter() {
	f.DropFilter()
	if l := f.lookups.Load(); l != nil {
		l.filter = nil
	}
}

// add adds a number that stands for a key, and reports whether it is certainly new.
func (f *filter) add(x uint64) bool {
	h := x * spreadFactor >> (64 - filterLog)
	bit := uint64(1) << (h % 64)
	word := &f[h/64]
	isNew := *word&bit == 0
	*word |= bit
	return isNew
}

const (
	// fewPairs is the number of pairs up to which a filter finds nearly all keys to be new.
	fewPairs = 256
	// maxLooks is how many keys that may not be new are looked for one by one.
	maxLooks = 16
)

// allDiffer reports whether the keys of the n pairs of entry e are certainly all different, as
// they nearly always are. The pairs are 2 to fewPairs.
func allDiffer(k Keys, e uint32, t *schema.Type, n uint32) bool {
	if t.Key().Kind() == schema.Text && textKeysDiffer(k.TextPairs(e, n)) {
		return true
	}
	var seen filter
	looks := 0
	for i := range n {
		key := k.Key(e, t, i)
		if key == nil || seen.add(BothEnds(key)) {
			continue
		}
		if looks++; looks > maxLooks {
			return false
		}
		for j := range i {
			if bytes.Equal(k.Key(e, t, j), key) {
				return false
			}
		}
	}
	return true
}

// textKeysDiffer is allDiffer for texts. The positions in the pairs count from where b begins.
func textKeysDiffer(pairs []uint32, b []byte) bool {
	if pairs == nil {
		return false
	}
	base := pairs[0]
	if len(pairs) <= pairwiseKeys*entry.PairWords {
		var seen [pairwiseKeys]uint64
		for n := 0; len(pairs) >= entry.PairWords; pairs, n = pairs[entry.PairWords:], n+1 {
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
	for ; len(pairs) >= entry.PairWords; pairs = pairs[entry.PairWords:] {
		if x, ok := textEnds(b, pairs[0]-base); !ok || !seen.add(x) {
			return false
		}
	}
	return true
}

// pairwiseKeys is the number of keys up to which comparing each with each is cheaper than a
// filter.
const pairwiseKeys = 8

// textEnds returns a number that depends on the length and both ends of the text at b[at:]. It
// returns false if their bytes are not all in b.
func textEnds(b []byte, at uint32) (uint64, bool) {
	i := uint64(at)
	if i+8 > uint64(len(b)) {
		return 0, false
	}
	x := bits.ReverseBytes64(wire.Load64(b, int(i))) // the length and 4 bytes of the text
	n := x >> 32
	if n < 4 {
		return x &^ (1<<(32-8*n) - 1), true
	}
	if i += n + wire.TextHeader; i > uint64(len(b)) {
		return 0, false
	}
	// This is not mixed more: numbered keys differ in their last bytes, and then have different
	// hashes more often than by chance.
	return x ^ bits.RotateLeft64(bits.ReverseBytes64(wire.Load64(b, int(i-8))), 32), true
}

// spreadFactor is an odd number; multiplying by it changes the high bits most.
const spreadFactor = 0x9e3779b97f4a7c15

// BothEnds returns a number that depends on the key's length and its first and last 8 bytes.
func BothEnds(key []byte) uint64 {
	var x uint64
	switch n := len(key); {
	case n >= 8:
		x = wire.BE64(key)*spreadFactor ^ bits.RotateLeft64(wire.BE64(key[n-8:]), 32)
	case n >= 4:
		x = uint64(wire.BE32(key))<<32 | uint64(wire.BE32(key[n-4:]))
	case n > 0:
		x = uint64(key[0])<<16 | uint64(key[n/2])<<8 | uint64(key[n-1])
	}
	return x + uint64(len(key))*spreadFactor
}
