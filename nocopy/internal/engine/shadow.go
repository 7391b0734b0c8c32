package engine

import "github.com/nocopythrift/nocopythrift/internal/hashmap"

// shadow is an occurrence of a field on the wire that does not count, since the same field
// comes again later in the struct.
type shadow struct {
	e, word uint32 // the struct's entry, and the field's word in it
	at, end uint32
}

// shadows holds the shadows of a message.
type shadows struct {
	all []shadow
	// By struct and field: the number+1 of the last shadow; empty before the first lookup
	found hashmap.Map[uint64, uint32]
	// By number: the number+1 of the shadow before it of the same field, 0 if there is none
	before []uint32
}

// field returns the struct and the field, as one number.
func (s shadow) field() uint64 { return uint64(s.e)<<32 | uint64(s.word) }

// Detach returns the number+1 of the last shadow of a field, 0 if it has none, and forgets that it
// has any.
func (ss *shadows) detach(e, word uint32) uint32 {
	for i := len(ss.before); i < len(ss.all); i++ {
		key := ss.all[i].field()
		ss.before = append(ss.before, ss.found.Get(key))
		ss.found.Put(key, uint32(i+1))
	}
	key := shadow{e: e, word: word}.field()
	last := ss.found.Get(key)
	if last != 0 {
		ss.found.Put(key, 0)
	}
	return last
}

// dropShadows forgets all shadows but the first n.
func (m *Message) dropShadows(n int) {
	if len(m.shadows.all) > n {
		m.shadows.all = m.shadows.all[:n]
	}
}

// unsetShadows removes all shadows of a field from the wire: if only its last occurrence were
// removed, the one before would count again.
func (m *Message) unsetShadows(e, word uint32) {
	for k := m.shadows.detach(e, word); k != 0; {
		s := m.shadows.all[k-1]
		m.buf.AddReplace(s.at, s.end)
		k = m.shadows.before[k-1]
	}
}
