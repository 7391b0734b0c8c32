package engine

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/keytable"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file has the pairs of maps.

// MapLen returns the number of keys.
func (s Struct) MapLen() int {
	n := s.ListLen()
	if n == 0 {
		return 0
	}
	return n - int(s.m.editOf(s.entry()).dead) - s.m.repeated(s.entry(), s.typ())
}

// key returns k with its bytes.
func (s Struct) key(k encoded) encoded {
	// An absent map does not know its type, and has no keys
	if k.view.m != nil && s.m != nil && !s.m.isEmpty() {
		s.alive()
		k.text = k.view.wireAs(s.typ().Key())
		if k.view.m == s.m {
			k.text = bytes.Clone(k.text) // the message may change before they are used
		}
	}
	return k
}

// keyToPut is key for a pair that may be added. It panics if k can't be a key of the map.
func (s Struct) keyToPut(k encoded) encoded {
	if k.view.m != nil && !k.view.m.isEmpty() {
		k.view.alive()
		k.view.mustBe(s.typ().Key())
	}
	return s.key(k)
}

// find returns the number of the pair with the key, −1 if there is none.
func (s Struct) find(k encoded) int {
	if s.ListLen() == 0 {
		return -1
	}
	if k.view.m != nil {
		s.m.closeElements(s.entry())
	}
	return s.m.lookup(s.entry(), s.typ(), k.bytes())
}

// clearFilter starts a filter for the map of entry e, which is empty.
func (m *Message) clearFilter(e uint32) {
	m.keys.Filter(e)
	m.ix.More = true
}

// findToPut returns the number of the pair with the key, −1 if there is none. The key will be
// added then: the filter learns it, and can tell later keys that are new. Keys that are structs or
// containers are not in the filter, since they may change.
func (s Struct) findToPut(k encoded) int {
	if k.view.m == nil {
		n := s.m.ix.List(s.entry()).Count()
		if n == 0 {
			s.m.clearFilter(s.entry())
		}
		if s.m.keys.IsNew(s.entry(), n, keytable.BothEnds(k.bytes())) {
			return -1
		}
	}
	return s.find(k)
}

// pairAt returns the words of pair i.
func (s Struct) pairAt(i int) index.Pair {
	return s.m.ix.List(s.entry()).Pair(uint32(i))
}

// GetPair returns the value of key k and true, or a zero value and false.
func GetPair[K, V any, KC Codec[K], VC Codec[V]](s Struct, k K) (V, bool) {
	var kc KC
	var vc VC
	i := s.find(s.key(kc.encode(k)))
	if i < 0 {
		return vc.get(empty, 0), false // zero
	}
	return vc.get(s.m, s.pairAt(i).Value()), true
}

// PutPair sets the value of key k to v, which is a scalar or text.
func PutPair[K, V any, KC Codec[K], VC Codec[V]](s Struct, k K, v V) {
	var kc KC
	var vc VC
	s.putEncoded(kc.encode(k), vc.encode(v))
}

// putEncoded sets the value of a key to value, which is a scalar or text.
func (s Struct) putEncoded(k, value encoded) {
	if len(value.text) >= memory.MaxSlabSize && s.replaceableOf(k, len(value.text)) {
		s.put(s.keyToPut(k), value, true)
		return
	}
	s.Changeable()
	k = s.keyToPut(k)
	s.put(k, value, s.room(len(k.text)+len(value.text)))
}

// replaceableOf is replaceable for the value of key k.
func (s Struct) replaceableOf(k encoded, n int) bool {
	s.writable()
	i := s.find(s.keyToPut(k))
	return i >= 0 && s.m.exchangeable(s.pairAt(i).Value(), n)
}

// put sets the value of a key to value, which is a scalar or text. There is room for both.
func (s Struct) put(k, value encoded, refer bool) {
	m, t, i := s.m, s.typ().Elem(), s.findToPut(k)
	if i >= 0 && t.Kind() == schema.Fixed {
		word := s.pairAt(i).Value()
		p := uint32(word)
		if word.IsNode() {
			p = m.buf.NodeStart(word.Node())
		}
		if b := m.inPlace(p, int(t.Size())); b != nil {
			copy(b, value.fixed[:])
			return
		}
	}
	m.setEncoded(s.pair(i, k, refer), value, refer)
}

// pair returns the place of the value of pair i, whose key is k. If i is negative, it adds a pair.
// An old value is no longer in the message.
func (s Struct) pair(i int, k encoded, refer bool) place {
	m, t := s.m, s.typ()
	if i >= 0 {
		pair := s.pairAt(i)
		return place{t: t.Elem(), at: pair.ValueSlot(), node: m.replaceElement(t.Elem(), pair.Value())}
	}
	pair := s.newPair()
	m.setEncoded(place{t: t.Key(), at: pair.KeySlot()}, k, refer)
	return place{t: t.Elem(), at: pair.ValueSlot()}
}

// setEncoded puts a value into the place.
func (m *Message) setEncoded(q place, k encoded, refer bool) {
	switch q.t.Kind() {
	case schema.Fixed:
		copy(m.newFixed(q, int(q.t.Size())), k.fixed[:])
	case schema.Text:
		m.setText(q, k.text, refer && len(k.text) >= ReferSize)
	default:
		m.setSource(q, source{n: len(k.text), data: k.text})
	}
}

// PutView sets the value of a key to a copy of v, a struct or container.
func PutView[K any, KC Codec[K]](s Struct, k K, v Struct) {
	var kc KC
	s.putView(kc.encode(k), v)
}

// PutNew sets the value of a key to an empty struct or container and returns it. n is the number
// of elements of a list or set, or of pairs that a map gets room for.
func PutNew[K any, KC Codec[K]](s Struct, k K, n int) Struct {
	var kc KC
	return s.putNew(kc.encode(k), n)
}

// AppendPair adds a pair of an empty key and the value v, and returns the key to be filled.
func AppendPair[K, V any, KC Codec[K], VC Codec[V]](s Struct, v V) K {
	var kc KC
	var vc VC
	return kc.get(s.m, s.pairOf(vc.encode(v)))
}

// zeroKey adds a pair with a zero key, and returns the pair and the place of its value, which the
// caller appends next.
func (s Struct) zeroKey() (pair index.Pair, value place) {
	pair = s.newPair()
	s.m.setZero(place{t: s.typ().Key(), at: pair.KeySlot()})
	return pair, place{t: s.typ().Elem(), at: pair.ValueSlot()}
}

// pairOf adds a pair of a zero key and v, which is a scalar or text, and returns the key's word.
func (s Struct) pairOf(v encoded) index.Word {
	refer := s.room(len(v.text))
	pair, value := s.zeroKey()
	s.m.setEncoded(value, v, refer)
	return pair.Key()
}

// pairOfZeros adds a pair of a zero key and a zero value, and returns their words.
func (s Struct) pairOfZeros() (key, value index.Word) {
	s.Changeable()
	pair, q := s.zeroKey()
	s.m.setZero(q)
	return pair.Key(), pair.Value()
}

// putView sets the value of the key to a copy of v, a struct or container.
func (s Struct) putView(k encoded, v Struct) {
	s.Changeable()
	k = s.keyToPut(k)
	src := s.m.source(v, s.typ().Elem())
	refer := s.room(len(k.text) + src.n)
	s.m.setSource(s.pair(s.findToPut(k), k, refer), src)
}

// putNew sets the value of the key to an empty struct or container and returns it. n is the number
// of elements of a list or set, or of pairs that a map gets room for.
func (s Struct) putNew(k encoded, n int) Struct {
	s.Changeable()
	k = s.keyToPut(k)
	refer := s.room(len(k.text) + sizeOf(s.typ().Elem(), n))
	return s.m.beginAt(s.pair(s.findToPut(k), k, refer), n)
}

// AppendNewPair adds a pair of an empty key and a zero value and returns both.
func AppendNewPair[K, V any, KC Codec[K], VC Codec[V]](s Struct) (K, V) {
	var kc KC
	var vc VC
	k, v := s.pairOfZeros()
	return kc.get(s.m, k), vc.get(s.m, v)
}

// AllPairs returns an iterator over the keys and values of a map.
func AllPairs[K, V any, KC Codec[K], VC Codec[V]](s Struct) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		var kc KC
		var vc VC
		s.eachPair(func(k, v index.Word) bool { return yield(kc.get(s.m, k), vc.get(s.m, v)) })
	}
}

// eachPair calls yield with the words of the key and the value of every pair, until yield
// returns false. It panics if the message was released meanwhile.
func (s Struct) eachPair(yield func(key, value index.Word) bool) {
	n := s.ListLen()
	if n == 0 {
		return
	}
	e, t := s.entry(), s.typ()
	repeated := s.m.repeated(e, t) > 0
	s.m.keys.Iterations.Add(1)
	defer s.m.keys.Iterations.Add(-1)
	for i := 0; i < min(n, s.ListLen()); i++ {
		pair := s.pairAt(i)
		k, v := pair.Key(), pair.Value()
		if k == 0 || repeated && s.m.isRepeated(e, t, uint32(i)) {
			i = s.nextPair(i+1) - 1
		} else if !yield(k, v) {
			return
		}
	}
}

// Pairs iterates over the words of the keys and values of a map. If a key comes more than once,
// only its last pair counts, unless keys are structs or containers.
func (w *Walker) Pairs(e uint32) iter.Seq2[index.Word, index.Word] {
	return func(yield func(key, value index.Word) bool) {
		if e != 0 {
			w.Handle(e).eachPair(yield)
		}
	}
}

// nextPair returns the number of the first pair from i on that All may yield.
func (s Struct) nextPair(i int) int {
	ed := s.m.editOf(s.entry())
	if ed.liveSet == 0 {
		return i
	}
	if i = s.m.liveSets[ed.liveSet].Next(i); i < 0 {
		return maxCount
	}
	return i
}

// fewDead is the number of pairs up to which passing over deleted ones costs little.
const fewDead = 64

// livePairs returns the set of the pairs that All yields: those that were not deleted and whose
// key does not come again. It returns nil for a map so small that it needs none.
func (s Struct) livePairs() *keytable.Set {
	m, e, t := s.m, s.entry(), s.typ()
	n := m.ix.List(e).Count()
	ed := m.edit(e)
	if ed.liveSet == 0 {
		if n <= fewDead {
			return nil
		}
		m.ownSeldom()
		if len(m.liveSets) == 0 {
			m.liveSets = append(m.liveSets, keytable.Set{}) // 0 is none
		}
		ed.liveSet = uint32(len(m.liveSets))
		m.liveSets = append(m.liveSets, keytable.Set{})
		m.ix.More = true
		repeated := m.repeated(e, t) > 0
		for i := range n {
			if s.pairAt(int(i)).Key() != 0 && !(repeated && m.isRepeated(e, t, i)) {
				m.liveSets[ed.liveSet].Add(int(i))
			}
		}
	}
	return &m.liveSets[ed.liveSet]
}

// DeleteKey removes all pairs with key k and reports whether there were any.
func DeleteKey[K any, KC Codec[K]](s Struct, k K) bool {
	var kc KC
	return s.deleteEncoded(kc.encode(k))
}

// deleteEncoded removes all pairs with a key and reports whether there were any.
func (s Struct) deleteEncoded(k encoded) bool {
	s.Changeable()
	found := false
	key := s.key(k)
	for i := s.find(key); i >= 0; i = s.find(key) { // a key may have come more than once
		s.deletePair(i)
		found = true
	}
	return found
}

// deletePair removes pair i. Its slot and its place on the wire are kept for a new pair.
func (s Struct) deletePair(i int) {
	m, e, t := s.m, s.entry(), s.typ()
	m.elementChanges(e, uint32(i))
	pair := s.pairAt(i)
	if t.Key().Kind() >= schema.Record {
		m.closeEntry(pair.Key().Entry())
		m.noteDead(t.Key(), pair.Key())
	}
	if t.Elem().Kind() >= schema.Record {
		m.closeEntry(pair.Value().Entry())
		m.noteDead(t.Elem(), pair.Value())
	}
	node := pair.Node()
	if node == 0 {
		at, _ := m.valuePlace(t.Key().Wire(), pair.Key())
		_, end := m.valuePlace(t.Elem().Wire(), pair.Value())
		node = m.buf.AddReplace(at, end)
		pair.SetNode(node)
	}
	m.buf.SetEmpty(node)
	ed := m.edit(e)
	pair.Set(0, index.Word(ed.free))
	ed.free = uint32(i) + 1
	ed.dead++
	if live := s.livePairs(); live != nil {
		live.Remove(i)
	}
	m.storeCount(e)
}

// newPair adds a pair and returns it. The caller appends its key and value next, and sets their
// words.
func (s Struct) newPair() index.Pair {
	m, e := s.m, s.entry()
	ed := m.editOf(e)
	if ed.free == 0 {
		pair := m.ix.Pair(m.appendSlot(e))
		if ed.liveSet != 0 {
			m.liveSets[ed.liveSet].Add(int(m.ix.List(e).Count()) - 1)
		}
		return pair
	}
	pair := s.pairAt(int(ed.free) - 1)
	m.closeAll()
	now := m.edit(e)
	now.free = uint32(pair.Value())
	now.dead--
	m.elementChanges(e, ed.free-1)
	if ed.liveSet != 0 {
		m.liveSets[ed.liveSet].Add(int(ed.free) - 1)
	}
	m.storeCount(e)
	m.buf.SetEmpty(pair.Node())
	m.buf.OpenContent(pair.Node())
	return pair
}

// setZero puts the zero value, which is complete, into the place.
func (m *Message) setZero(q place) {
	m.keys.DropFilter()
	m.ownSeldom()
	m.copied = schema.AppendZero(m.copied[:0], q.t)
	m.setSource(q, source{n: len(m.copied), data: m.copied})
}

// NewMap sets field f to an empty map and returns it to be filled. n has at most one number: for
// how many pairs to make room. NewMap makes room for at most mostRoom pairs at once.
func (s Struct) NewMap(f schema.Ref, d *schema.Struct, n []int) Struct {
	room := 0
	if len(n) > 0 {
		room = n[0]
	}
	if len(n) > 1 || room < 0 {
		panic(fmt.Sprintf("nocopy: room for %d pairs of a map", n))
	}
	return s.NewChild(f, d, min(room, mostRoom))
}

// mostRoom bounds the room of a new map, in pairs.
const mostRoom = 1 << 16

// Pairs are pairs for a map.
type Pairs[K comparable, V any, KC Codec[K], VC Codec[V]] map[K]V

// SetIn sets field f of s, a map, to copies of these pairs, in the order of the keys' wire bytes.
// Of several keys with the same wire bytes, such as NaNs, one is kept.
func (v Pairs[K, V, KC, VC]) SetIn(s Struct, f schema.Ref, d *schema.Struct) {
	type pair struct{ key, value encoded }
	var kc KC
	var vc VC
	s.Changeable()
	pairs, room := make([]pair, 0, len(v)), textRoom{}
	for key, value := range v {
		p := pair{kc.encode(key), vc.encode(value)}
		room.add(len(p.key.text))
		room.add(len(p.value.text))
		pairs = append(pairs, p)
	}
	refer := s.roomFor(room)
	slices.SortFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key.bytes(), b.key.bytes()) })
	c := s.NewChild(f, d, len(pairs))
	for i := range pairs {
		c.put(pairs[i].key, pairs[i].value, refer)
	}
}

// PutText sets the value of key k of a map of strings to strings, replacing an older one.
func (s Struct) PutText(k, v string) {
	if s.m == nil {
		panic(setterOfZero())
	}
	// The usual case: the map is the innermost frame, and was never complete.
	m, e, top := s.m, uint32(s.k), len(s.m.open)-1
	if top >= 0 && m.gen<<32|uint64(m.open[top].e) == s.k && m.ix.List(e).End() == 0 && len(k)|len(v) < ReferSize {
		f, l := &m.open[top], m.ix.List(e)
		n := l.Count()
		if n == 0 {
			m.clearFilter(e)
		}
		if index.Room(n) >= l.Room() {
			m.growSlots(e, n, pairWords)
		}
		short := m.buf.Fits(len(k) + wire.TextHeader + len(v))
		if !short {
			m.buf.Reserve(len(k) + len(v) + 3*wire.TextHeader) // now: positions may run out
		}
		key := memory.StringBytes(k)
		if m.keys.IsNew(e, n, keytable.BothEnds(key)) || m.keys.AddNew((*owner)(m), e, f.typ, n, key) {
			f.next = n + 1
			l.SetCount(n + 1)
			if at := l.Start() - 4; m.buf.InTail(at, 4) {
				m.buf.Put4(at, n+1)
			} else {
				wire.PutBE32(m.buf.At(at), n+1)
			}
			pair := m.ix.Pair(l.Slots() + n*pairWords)
			if short {
				p := m.buf.Tail()
				pair.Fill(p, p+uint32(wire.TextHeader+len(k)))
				m.buf.AppendShort(uint64(len(k))<<32, wire.TextHeader, k)
				m.buf.AppendShort(uint64(len(v))<<32, wire.TextHeader, v)
				return
			}
			p := m.buf.AppendWithHead(uint64(len(k))<<32, wire.TextHeader, k)
			pair.Fill(p, m.buf.AppendWithHead(uint64(len(v))<<32, wire.TextHeader, v))
			return
		}
	}
	PutPair[string, string, AsString, AsString](s, k, v)
}

// EachTextPair calls yield with the key and the value of every pair of a map of strings to
// strings, until yield returns false.
func (s Struct) EachTextPair(yield func(key, value string) bool) {
	s.eachPair(func(k, v index.Word) bool { return yield(s.m.TextString(k), s.m.TextString(v)) })
}
