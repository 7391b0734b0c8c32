package jsonvalue

import (
	"bytes"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// A keySet has the keys of the maps that are being read, to find duplicates. Keys are equal if
// their wire bytes are.
type keySet struct {
	spans  []span
	levels []level // of nested maps; levels beyond depth are from finished maps
	depth  int
}

// span has the offsets at which a key's wire bytes begin and end.
type span struct{ from, to int }

// level has the keys of one map.
type level struct {
	first int             // its first span
	table map[string]bool // of all keys, in place, if they are many; else it is empty
}

// keys is the number of a level.
type keys int

// fewKeys is the number of keys up to which comparing all of them is faster than a table.
const fewKeys = 12

// mostKeys bounds the keys of a table that is kept for the next map: of the outermost level. Each
// level keeps half as many as the one around it.
const mostKeys = 1 << 14

func (s *keySet) reset() {
	for s.depth > 0 {
		s.end(keys(s.depth - 1))
	}
}

// begin begins a map. Until it ends, nested maps may begin and end.
func (s *keySet) begin() keys {
	if s.depth == len(s.levels) {
		s.levels = append(s.levels, level{table: map[string]bool{}})
	}
	s.levels[s.depth].first = len(s.spans)
	s.depth++
	return keys(s.depth - 1)
}

// end ends the map that began last. Its keys were in memory that may now be used otherwise.
func (s *keySet) end(k keys) {
	l := &s.levels[k]
	if len(l.table) > mostKeys>>k {
		l.table = map[string]bool{}
	}
	clear(l.table)
	s.spans = s.spans[:l.first]
	s.depth--
}

// add adds the key b[from:to], or returns false if the map already has it.
func (s *keySet) add(k keys, b []byte, from, to int) bool {
	l, key := &s.levels[k], b[from:to]
	all := s.spans[l.first:]
	s.spans = append(s.spans, span{from, to})
	if len(all) < fewKeys {
		for _, other := range all {
			if bytes.Equal(key, b[other.from:other.to]) {
				return false
			}
		}
		return true
	}
	if len(l.table) == 0 {
		for _, x := range all {
			l.table[memory.String(b[x.from:x.to])] = true
		}
	}
	if l.table[memory.String(key)] { // first: storing it again would refer to these bytes
		return false
	}
	l.table[memory.String(key)] = true
	return true
}

// drop removes the key that add has found to be there before.
func (s *keySet) drop() { s.spans = s.spans[:len(s.spans)-1] }
