package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// TextMap is a map of strings to strings. Where a key came twice on the wire, the last pair counts, as it does for all
// peers. Strings that are read alias the message as Struct.Text does.
type TextMap Struct

// Len returns the number of keys.
func (p TextMap) Len() int { return Struct(p).pairs() }

// Get returns the value of key k, and whether there is one.
func (p TextMap) Get(k string) (string, bool) {
	return getPair[string, string, AsString, AsString](Struct(p), k)
}

// Put sets the value of key k, replacing any before. Strings of 4 KiB and more are referred to.
func (p TextMap) Put(k, v string) {
	m := p.m
	if q := &m.putting; p.k == q.dict && m.buf.Fits(len(k)+textHeader+len(v)) {
		key := linkbuf.StringBytes(k)
		ends := bothEnds(key)
		if m.tables.isNew(uint32(p.k), q.n, ends) || m.claim(uint32(p.k), m.open[len(m.open)-1].typ, q.n, key, ends) {
			m.putNext(k, v)
			return
		}
	}
	if !Struct(p).putNewTexts(k, v) {
		putPair[string, string, AsString, AsString](Struct(p), k, v)
	}
}

// Delete removes key k and reports whether it was there.
func (p TextMap) Delete(k string) bool { return deleteKey[string, AsString](Struct(p), k) }

// All iterates over keys and values in wire order.
func (p TextMap) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { Struct(p).eachTextPair(yield) }
}

// AppendNew adds a pair of an empty key and an empty value without looking for a key like it.
func (p TextMap) AppendNew() (k, v string) {
	return appendNewPair[string, string, AsString, AsString](Struct(p))
}

// putting is a map of texts that is being filled: it is what is being built, innermost, nothing has been deleted from it, and
// there is room in its index for a pair more.
type putting struct {
	dict      uint64 // its handle, 0 if there is none
	n         uint32 // how many pairs it has
	slot, end uint32 // where the next one's words are, and where the room for them ends
}

// putNext puts the next pair, whose texts fit and whose key is new.
func (m *Message) putNext(k, v string) {
	q := &m.putting
	e, slot, n := uint32(q.dict), q.slot, q.n+1
	q.slot, q.n = slot+pairWords, n
	if q.slot >= q.end {
		q.dict = 0
	}
	at := m.buf.Tail()
	words := m.idx
	words[slot], words[slot+1], words[slot+pairNode] = at, at+uint32(textHeader+len(k)), 0
	words[e+listCount] = n
	m.open[len(m.open)-1].next = n
	m.putCount(words[e+listStart]-4, n)
	m.buf.AppendShort(uint64(len(k))<<32, textHeader, k)
	m.buf.AppendShort(uint64(len(v))<<32, textHeader, v)
}

// putCount stores the count of a map that is being built, at position p.
func (m *Message) putCount(p, n uint32) {
	if m.buf.InTail(p, 4) {
		m.buf.Put4(p, n)
		return
	}
	putBE32(m.buf.At(p), n)
}

// putNewTexts puts a pair of texts in the usual case: the map is what is being built, innermost, and the key is new.
func (s Struct) putNewTexts(k, v string) bool {
	key := linkbuf.StringBytes(k)
	ends := bothEnds(key) // first, as long as there is nothing to be kept meanwhile
	m, e := s.m, uint32(s.k)
	top := len(m.open) - 1
	if top < 0 || uint32(s.k>>32) != m.gen || len(k)|len(v) >= refer {
		return false
	}
	f := &m.open[top]
	n := m.idx[e+listCount]
	// An end that is not 0: pairs were deleted.
	if f.e != e || f.reopened || m.idx[e+listEnd] != 0 || n >= maxCount {
		return false
	}
	if n == 0 {
		m.tables.fill(e)
	}
	if !m.tables.isNew(e, n, ends) && !m.claim(e, f.typ, n, key, ends) {
		return false
	}
	f.next = n + 1
	m.appendTextPair(e, n, k, v)
	m.putting.dict = 0
	if first, room := m.idx[e+listElems], m.idx[e+listRoom]; n+1 < room {
		m.putting = putting{dict: s.k, n: n + 1, slot: first + (n+1)*pairWords, end: first + room*pairWords}
	}
	return true
}

// appendTextPair appends pair n to a map, of which only the filter and the tables know yet.
func (m *Message) appendTextPair(e, n uint32, k, v string) {
	if n >= m.idx[e+listRoom] {
		m.growSlots(e, n, 1, pairWords)
	}
	w := m.idx[e:][:listWords]
	w[listCount] = n + 1
	m.putCount(w[listStart]-4, n+1)
	pair := m.idx[w[listElems]+n*pairWords:][:pairWords]
	pair[pairNode] = 0
	if m.buf.Fits(len(k) + textHeader + len(v)) {
		at := m.buf.Tail()
		pair[0], pair[1] = at, at+uint32(textHeader+len(k))
		m.buf.AppendShort(uint64(len(k))<<32, textHeader, k)
		m.buf.AppendShort(uint64(len(v))<<32, textHeader, v)
		return
	}
	pair[0] = m.buf.AppendBehind(uint64(len(k))<<32, textHeader, k)
	pair[1] = m.buf.AppendBehind(uint64(len(v))<<32, textHeader, v)
}

// eachTextPair is eachPair for a map of texts.
func (s Struct) eachTextPair(yield func(key, value string) bool) {
	n := s.count()
	if n == 0 {
		return
	}
	s.m.buf.Lend()
	repeated := s.m.repeated(s.entry(), s.typ()) > 0
	for i := range n {
		s.alive()
		words := s.m.idx[s.pair(i):][:pairWords]
		k, v := words[0], words[1]
		if k == 0 || repeated && s.isRepeated(i) {
			continue
		}
		if int32(k|v) < 0 { // not both in line
			if !yield(s.m.textString(k), s.m.textString(v)) {
				return
			}
			continue
		}
		if !yield(s.m.buf.Text(k), s.m.buf.Text(v)) {
			return
		}
	}
}
