package jsonvalue

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"
)

// A keySet has the keys of the maps that are being read, to find duplicates. Keys are equal if
// their wire bytes are.
type keySet struct {
	spans  []span
	levels []level // of nested maps; levels beyond depth are from finished maps
	depth  int
	seed   maphash.Seed
}

// span has the offsets at which a key's wire bytes begin and end.
type span struct{ from, to int }

// level has the keys of one map.
type level struct {
	first int // its first span
	// A hash table with open addressing, whose size is a power of two. An entry is the number of a
	// span, counted from first, and half of its hash. The table is empty if there are few keys.
	table []uint64
}

// keys is the number of a level.
type keys int

// fewKeys is the number of keys up to which comparing all of them is faster than a table.
const fewKeys = 12

func (s *keySet) reset() { s.spans, s.depth = s.spans[:0], 0 }

// large reports whether s has too much memory to be kept.
func (s *keySet) large() bool {
	n := 2 * cap(s.spans)
	for _, l := range s.levels[:cap(s.levels)] {
		n += cap(l.table)
	}
	return n > MostKept/8
}

// begin begins a map. Until it ends, nested maps may begin and end.
func (s *keySet) begin() keys {
	if s.depth == len(s.levels) {
		s.levels = append(s.levels, level{})
	}
	l := &s.levels[s.depth]
	l.first, l.table = len(s.spans), l.table[:0]
	s.depth++
	return keys(s.depth - 1)
}

// end ends the map that began last.
func (s *keySet) end(k keys) {
	s.spans = s.spans[:s.levels[k].first]
	s.depth--
}

// add adds the key b[from:to], or returns false if the map already has it.
func (s *keySet) add(k keys, b []byte, from, to int) bool {
	l := &s.levels[k]
	s.spans = append(s.spans, span{from, to})
	all := s.spans[l.first:]
	last := len(all) - 1
	if last < fewKeys {
		for _, other := range all[:last] {
			if bytes.Equal(b[from:to], b[other.from:other.to]) {
				return false
			}
		}
		return true
	}
	if 2*last >= len(l.table) {
		size := 1 << bits.Len(uint(4*last))
		l.table = slices.Grow(l.table[:0], size)[:size]
		clear(l.table)
		for i := range last {
			l.insert(s.seed, b, all, i)
		}
	}
	return l.insert(s.seed, b, all, last)
}

// drop removes the key that add has found to be there before.
func (s *keySet) drop() { s.spans = s.spans[:len(s.spans)-1] }

// insert puts span number i into the table, or returns false if there is a span with the same key.
func (l *level) insert(seed maphash.Seed, b []byte, all []span, i int) bool {
	key := b[all[i].from:all[i].to]
	hash := maphash.Bytes(seed, key)
	mask := uint64(len(l.table) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		bucket := l.table[at]
		if bucket == 0 {
			l.table[at] = hash>>32<<32 | uint64(uint32(i+1))
			return true
		}
		if bucket>>32 == hash>>32 {
			other := all[uint32(bucket)-1]
			if bytes.Equal(key, b[other.from:other.to]) {
				return false
			}
		}
	}
}
