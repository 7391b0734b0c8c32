package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// StringMap is a map of strings to strings. If a key comes twice on the wire, the last pair
// counts, as with other Thrift libraries. Strings from it alias the message as those of fields do.
type StringMap Struct

// Len returns the number of keys.
func (p StringMap) Len() int { return XStruct(p).pairs() }

// String returns the pairs as compact, readable text.
func (p StringMap) String() string { return XStruct(p).formatContainer("{}") }

// Equal reports whether p and m have the same keys and equal values, as messages.Equal does
// without options. The order does not matter.
func (p StringMap) Equal(m StringMap) bool { return XStruct(p).equalContainer(XStruct(m)) }

// For generated code. ThriftStruct returns the handle as an XStruct.
func (p StringMap) ThriftStruct() XStruct { return XStruct(p) }

// Get returns the value of key k, and whether there is one.
func (p StringMap) Get(k string) (string, bool) {
	return getPair[string, string, XAsString, XAsString](XStruct(p), k)
}

// Put sets the value of key k, replacing an older one. It copies strings shorter than 4 KiB and
// refers to others.
func (p StringMap) Put(k, v string) {
	if p.m == nil {
		panic(setterOfZero())
	}
	m, e := p.m, uint32(p.k)
	if (p.k == m.mapFill.handle || XStruct(p).beginMapFill()) && len(k)|len(v) < referSize {
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
	putPair[string, string, XAsString, XAsString](XStruct(p), k, v)
}

// Delete removes key k and reports whether it was there.
func (p StringMap) Delete(k string) bool { return deleteKey[string, XAsString](XStruct(p), k) }

// All iterates over keys and values in wire order.
func (p StringMap) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { XStruct(p).eachTextPair(yield) }
}

// AppendNew adds a pair of an empty key and an empty value. It does not look for an equal key.
func (p StringMap) AppendNew() (k, v string) {
	return appendNewPair[string, string, XAsString, XAsString](XStruct(p))
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
func (s XStruct) beginMapFill() bool {
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

// eachTextPair calls yield with the key and the value of every pair of a map of strings to
// strings, until yield returns false.
func (s XStruct) eachTextPair(yield func(key, value string) bool) {
	n := s.count()
	if n == 0 {
		return
	}
	e, t := s.entry(), s.typ()
	repeated := s.m.repeated(e, t) > 0
	s.m.iterations.Add(1)
	defer s.m.iterations.Add(-1)
	for i := s.nextPair(0); i < min(n, s.count()); i = s.nextPair(i + 1) {
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
