package engine

import (
	"bytes"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/keytable"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file tells package keytable, which finds keys of maps and elements of sets and lists, what
// they are, and which change when a struct or container is changed.

func (k *messageKeys) Key(e uint32, t *schema.Type, i uint32) []byte {
	return (*Message)(k).keyBytes(e, t, i)
}

func (k *messageKeys) TextPairs(e, n uint32) ([]uint32, []byte) {
	pairs := k.ix.Words[k.ix.Words[e+listElems]:][:n*pairWords]
	if p := pairs[0]; p != 0 && p&inNode == 0 {
		return pairs, k.buf.At(p)
	}
	return nil, nil
}

func (k *messageKeys) Made(ofViews bool) {
	k.ix.More = true
	if ofViews { // from now on every change must call beforeChange
		k.guarded = true
		k.buf.StoreSlowly()
	}
}

func (k *messageKeys) View(e uint32, t *schema.Type, i uint32) {
	m := (*Message)(k)
	if m.keys.KnowsOwners() {
		xt, x := m.keyAt(e, t, i)
		m.register(xt, x, keytable.Element{In: e, Number: i})
	}
}

// keyAt returns the type of key i of a map, or of element i of a list, and the word that stands
// for it. The word is 0 if a pair was deleted, or a text is not on the wire yet.
func (m *Message) keyAt(e uint32, t *schema.Type, i uint32) (*schema.Type, uint32) {
	switch {
	case t.Kind() == schema.Dict:
		return t.Key(), m.ix.Words[m.ix.Words[e+listElems]+i*pairWords]
	case t.Elem().Kind() == schema.Fixed:
		return t.Elem(), m.ix.Words[e+listStart] + i*uint32(t.Elem().Size())
	}
	return t.Elem(), m.elementEntry(e, t.Elem(), i)
}

// keyBytes returns the bytes by which key i of a map, or element i of a set, is compared; nil
// if it was deleted, or is absent since it is not valid, as in a message parsed with ByIndex.
func (m *Message) keyBytes(e uint32, t *schema.Type, i uint32) []byte {
	kt, word := m.keyAt(e, t, i)
	switch {
	case word == 0 && t.Kind() == schema.List && kt.Kind() == schema.Text:
		return []byte{}
	case word == 0:
		return nil
	case kt.Kind() == schema.Fixed:
		return sameKey(m.buf.At(word), kt)
	case kt.Kind() == schema.Text:
		return m.textBytes(word)
	case m.ix.Words[word] == 0:
		return nil
	}
	return m.wire(word, kt)
}

// sameKey returns the bytes by which a value of fixed size is compared. Every true bool has the
// same.
func sameKey(b []byte, t *schema.Type) []byte {
	if t.Wire() == wire.Bool && b[0] > 1 {
		return trueByte
	}
	return b[:t.Size()]
}

var trueByte = []byte{1}

// lookup returns the number of the last pair or element of entry e with the key, −1 if there is
// none.
func (m *Message) lookup(e uint32, t *schema.Type, key []byte) int {
	n := m.ix.Words[e+listCount]
	if f := m.frameOf(e); f != nil && f.aside {
		m.appendZeroElements(e, n)
	} else if f != nil && f.next < n { // the elements from next on are zero
		if bytes.Equal(key, zeroElement(t.Elem())) {
			return int(n) - 1
		}
		n = f.next
	}
	if n <= keytable.Linear {
		for i := int(n) - 1; i >= 0; i-- {
			if have := m.keyBytes(e, t, uint32(i)); have != nil && bytes.Equal(have, key) {
				return i
			}
		}
		return -1
	}
	return m.keys.Find((*messageKeys)(m), e, t, n, key)
}

// zeroElement returns the bytes by which an element that has not been set is compared.
func zeroElement(t *schema.Type) []byte {
	if t.Kind() == schema.Text {
		return nil
	}
	return schema.AppendZero(nil, t)
}

// repeated returns how many pairs of a map have the key of a later one.
func (m *Message) repeated(e uint32, t *schema.Type) int {
	return m.keys.Repeated((*messageKeys)(m), e, t, m.ix.Words[e+listCount])
}

// isRepeated reports whether a later pair has the key of pair i, which was not deleted.
func (m *Message) isRepeated(e uint32, t *schema.Type, i uint32) bool {
	return m.lookup(e, t, m.keyBytes(e, t, i)) != int(i)
}

// elementChanges takes pair or element i, which is about to change, out of the table of entry
// e, if there is one. The next lookup adds it again.
func (m *Message) elementChanges(e, i uint32) { m.keys.Change((*messageKeys)(m), e, i) }

// register notes that the struct or container of entry e, and all in it, belong to the element x.
// Elements and keys in a table of a nested list or map are elements of their own. Entry 0 stands
// for an element that is not on the wire yet.
func (m *Message) register(t *schema.Type, e uint32, x keytable.Element) {
	if e == 0 {
		return
	}
	m.keys.Own(e, x)
	for p := range m.parts(t, e) {
		if p.e&index.NotIndexed != 0 { // else a getter would make its entry, and not register it
			p.e = m.indexLazily(p.f, e)
		}
		if !(p.key || t.Kind() == schema.List) || !m.keys.Has(e, p.i) {
			m.register(p.t, p.e, x)
		}
	}
}

// closeElements completes all frames nested in the list or map of entry e, or all frames if it is
// complete. Its elements or keys can then be compared as bytes. In a finished message there is
// nothing to complete.
func (m *Message) closeElements(e uint32) {
	if !m.buf.Sealed() && !m.closeNested(e) {
		m.closeAll()
	}
}

// ContainsKey reports whether an element has the bytes v.
func (s Struct) ContainsKey(v []byte) bool {
	if s.ListLen() == 0 {
		return false
	}
	return s.m.lookup(s.entry(), s.typ(), v) >= 0
}

// ContainsText reports whether a list of strings has an element v.
func (s Struct) ContainsText(v string) bool { return s.ContainsKey(chain.StringBytes(v)) }
