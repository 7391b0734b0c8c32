package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// PutText sets the value of key k of a map of strings to strings, replacing an older one.
func (s Struct) PutText(k, v string) {
	if s.m == nil {
		panic(setterOfZero())
	}
	m, e := s.m, uint32(s.k)
	if (s.k == m.mapFill.handle || s.beginMapFill()) && len(k)|len(v) < ReferSize {
		key := chain.StringBytes(k)
		n, ends, short := m.mapFill.n, bothEnds(key), m.buf.Fits(len(k)+wire.TextHeader+len(v))
		if !short {
			m.buf.Reserve(len(k) + len(v) + 3*wire.TextHeader) // now: positions may run out
		}
		if m.isNew(e, n, ends) || m.addNewKey(e, m.open[len(m.open)-1].typ, n, key, ends) {
			m.putNext(k, v, short)
			return
		}
	}
	PutPair[string, string, AsString, AsString](s, k, v)
}

// mapFill is a StringMap that is being filled: it is the innermost frame, no pair was deleted
// from it, and there is room for one more slot.
type mapFill struct {
	handle    uint64 // the map's handle, 0 if there is none
	n         uint32 // how many pairs the map has
	slot, end uint32 // the slot of the next pair, and where the room for slots ends
}

// beginMapFill sets Message.mapFill to the map, and reports whether the map may be filled that
// way.
func (s Struct) beginMapFill() bool {
	m, e := s.m, uint32(s.k)
	top := len(m.open) - 1
	if top < 0 || s.k>>32 != m.gen {
		return false
	}
	n := m.idx[e+listCount]
	// An end that is not 0: pairs were deleted.
	if f := &m.open[top]; f.e != e || f.reopened || m.idx[e+listEnd] != 0 || n >= maxCount {
		return false
	}
	if n == 0 {
		m.clearFilter(e)
	}
	if n >= m.idx[e+listRoom] {
		m.growSlots(e, n, 1, pairWords)
	}
	first := m.idx[e+listElems]
	m.mapFill = mapFill{handle: s.k, n: n, slot: first + n*pairWords, end: first + m.idx[e+listRoom]*pairWords}
	return true
}

// putNext adds a pair to the map of mapFill. Its key must be new, its texts too short to be
// referred to, and there must be room for them at the tail. With short they fit there, as
// AppendShort has it.
func (m *Message) putNext(k, v string, short bool) {
	q := &m.mapFill
	e, slot, n := uint32(q.handle), q.slot, q.n+1
	q.slot, q.n = slot+pairWords, n
	if q.slot >= q.end {
		q.handle = 0
	}
	words := m.idx
	words[e+listCount] = n
	m.open[len(m.open)-1].next = n
	if at := words[e+listStart] - 4; m.buf.InTail(at, 4) {
		m.buf.Put4(at, n)
	} else {
		wire.PutBE32(m.buf.At(at), n)
	}
	words[slot+pairNode] = 0
	if short {
		at := m.buf.Tail()
		words[slot], words[slot+pairValue] = at, at+uint32(wire.TextHeader+len(k))
		m.buf.AppendShort(uint64(len(k))<<32, wire.TextHeader, k)
		m.buf.AppendShort(uint64(len(v))<<32, wire.TextHeader, v)
		return
	}
	words[slot] = m.buf.AppendWithHead(uint64(len(k))<<32, wire.TextHeader, k)
	words[slot+pairValue] = m.buf.AppendWithHead(uint64(len(v))<<32, wire.TextHeader, v)
}

// EachTextPair calls yield with the key and the value of every pair of a map of strings to
// strings, until yield returns false.
func (s Struct) EachTextPair(yield func(key, value string) bool) {
	n := s.ListLen()
	if n == 0 {
		return
	}
	e, t := s.entry(), s.typ()
	repeated := s.m.repeated(e, t) > 0
	s.m.iterations.Add(1)
	defer s.m.iterations.Add(-1)
	for i := s.nextPair(0); i < min(n, s.ListLen()); i = s.nextPair(i + 1) {
		slot := s.pairSlot(i)
		k, v := s.m.idx[slot], s.m.idx[slot+pairValue]
		if k == 0 {
			continue
		}
		if repeated && s.m.isRepeated(e, t, uint32(i)) {
			continue
		}
		key, ok := s.m.buf.FlatText(k)
		if !ok {
			key = s.m.lendText(k)
		}
		value, ok := s.m.buf.FlatText(v)
		if !ok {
			value = s.m.lendText(v)
		}
		if !yield(key, value) {
			return
		}
	}
}
