package jsonvalue

import (
	"bytes"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// keys are the keys of a map, or the elements of a set, that is being read. They are equal if
// their wire bytes are.
type keys struct {
	first int             // the first of them in reader.spans
	table map[string]bool // of all, in place, if they are many; else nil
}

// span has the offsets at which a key's wire bytes begin and end.
type span struct{ from, to int }

// fewKeys is the number of keys up to which comparing all of them is faster than a table.
const fewKeys = 12

// mostKeys bounds the keys of a table that is kept for the next map.
const mostKeys = 1 << 14

// beginKeys begins a map or set. Until it ends, nested ones may begin and end.
func (r *reader) beginKeys() keys { return keys{first: len(r.spans)} }

// endKeys ends the map or set that began last.
func (r *reader) endKeys(k *keys) {
	r.spans = r.spans[:k.first]
	if k.table != nil && len(k.table) <= mostKeys {
		clear(k.table) // its keys are in memory that may now be used otherwise
		r.table = k.table
	}
}

// addKey adds the key from offset from to the end of out, or returns false if k already has it.
func (r *reader) addKey(k *keys, from int) bool {
	key, all := r.out[from:], r.spans[k.first:]
	if len(all) < fewKeys {
		for _, other := range all {
			if bytes.Equal(key, r.out[other.from:other.to]) {
				return false
			}
		}
		r.spans = append(r.spans, span{from, len(r.out)})
		return true
	}
	if k.table == nil {
		if k.table, r.table = r.table, nil; k.table == nil {
			k.table = map[string]bool{}
		}
		for _, x := range all {
			k.table[memory.String(r.out[x.from:x.to])] = true
		}
	}
	if k.table[memory.String(key)] { // first: storing it again would refer to these bytes
		return false
	}
	k.table[memory.String(key)] = true
	return true
}
