package engine

import (
	"bytes"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// This file removes the elements of lists and the pairs of maps that a function of the program
// chooses. The function sees all of them before any is removed. So it can't see a list that is
// half done, and if it panics nothing has changed.

// chosen has a bit for each element of a list, or pair of a map, that is to be removed.
type chosen []byte

// newChosen returns an empty choice among n elements. It uses the memory that the message has for
// copies, until giveBack returns it.
func (m *Message) newChosen(n int) chosen {
	m.ownSeldom()
	c := m.copied
	m.copied = nil // the function may copy something
	if n = (n + 7) / 8; n > cap(c) {
		c = make([]byte, n)
	}
	c = c[:n]
	clear(c)
	return c
}

// giveBack returns the memory of c, which is no longer used.
func (m *Message) giveBack(c chosen) {
	m.copied = c[:0]
	m.ix.More = true
}

// add chooses element i.
func (c chosen) add(i int) { c[i/8] |= 1 << (i % 8) }

// has reports whether element i is chosen.
func (c chosen) has(i int) bool { return c[uint(i)/8]>>(uint(i)%8)&1 != 0 }

// without moves those of n elements of the given size that are not chosen to the beginning of b.
// It returns how many bytes they have.
func (c chosen) without(b []byte, n, size int) int {
	to := 0
	for i := 0; i < n; i++ {
		if from := i; !c.has(i) {
			for i++; i < n && !c.has(i); i++ {
			}
			to += copy(b[to:], b[from*size:i*size])
		}
	}
	return to
}

// DeleteFunc removes the elements of a list for which del returns true. del gets the elements'
// numbers. hasDel is whether the program's function, which del calls, is not nil.
func DeleteFunc(s Struct, hasDel bool, del func(i int) bool) {
	s.filterable(hasDel)
	n := s.ListLen()
	if n == 0 {
		return
	}
	m := s.m
	m.closeEntry(s.entry())
	c, left := m.newChosen(n), n
	for i := range n {
		if del(i) {
			c.add(i)
			left--
		}
		if s.ListLen() != n {
			panic("nocopy: list changed by the function of its DeleteFunc")
		}
	}
	if left < n {
		s.Changeable() // again: del may have changed or finished the message
		m.closeEntry(s.entry())
		m.keys.Drop(s.entry())
		if size := int(s.typ().Elem().Size()); size > 0 {
			s.cutFixed(c.without(s.inOwnMemory(size), n, size), size)
		} else {
			s.removeElements(c, left)
		}
	}
	m.giveBack(c)
}

// filterable panics unless the list or map may be changed, and there is a function that chooses.
func (s Struct) filterable(hasDel bool) {
	s.Changeable()
	if !hasDel {
		panic("nocopy: DeleteFunc of a " + s.typ().String() + ": del is nil")
	}
}

// removeElements removes the chosen elements, which have no fixed size, so that some are left. If
// the list was arranged, its parts say what is sent. Otherwise nodes without contents replace the
// elements: one node those that are next to each other.
func (s Struct) removeElements(c chosen, left int) {
	m, e, t := s.m, s.entry(), s.typ()
	if t.Elem().Kind() == schema.Record {
		m.makeTable(e, t)
	}
	var parts []chain.Part
	arranged := m.editOf(e).arranged
	if arranged {
		parts, _ = s.arrangeParts()
	}
	m.startChange()
	l := m.ix.List(e)
	n, to := l.Count(), uint32(0)
	l.SetCount(uint32(left))
	m.storeCount(e) // first: positions may run out, and nodes in order need not be sorted
	notes, gap := m.noteDeadIn(e, t.Elem()), omission{m: m, t: t.Elem()}
	for i := range n {
		x := l.Word(i)
		switch {
		case c.has(int(i)):
			notes.add(x)
			if !arranged {
				gap.add(x)
			}
			continue
		case arranged:
			parts[to] = parts[i]
		}
		l.SetWord(to, x)
		to++
	}
	gap.omit()
	if arranged {
		s.setParts(parts[:left])
	}
	m.buf.EndChange()
}

// omission is elements of type t, one after the other in the message, that are about to be
// omitted.
type omission struct {
	m       *Message
	t       *schema.Type
	last    index.Word // the last one
	n       int        // how many they are
	at, end uint32     // where they are
}

// add adds the element that a word stands for. If it is not next to the others, it ends these.
func (o *omission) add(word index.Word) {
	at, end := o.m.valuePlace(o.t.Wire(), word)
	if o.n > 0 && at == o.end {
		o.last, o.end = word, end
		o.n++
		return
	}
	o.omit()
	o.last, o.n, o.at, o.end = word, 1, at, end
}

// omit makes a node by which the elements are not sent. An element alone may have one already: of
// two nodes that replace the same bytes, the older one counts.
func (o *omission) omit() {
	if o.n == 1 {
		if node := o.m.takeNode(o.t, o.last); node != 0 {
			o.m.buf.SetEmpty(node)
			return
		}
	}
	if o.n > 0 {
		o.m.buf.AddReplace(o.at, o.end)
	}
}

// DeletePairs removes the pairs of a map for which del returns true.
func DeletePairs[K, V any, KC Codec[K], VC Codec[V]](s Struct, del func(K, V) bool) {
	var kc KC
	var vc VC
	s.filterable(del != nil)
	s.deletePairs(func(k, v index.Word) bool { return del(kc.get(s.m, k), vc.get(s.m, v)) })
}

// deletePairs removes the pairs of a map for which del returns true. del gets the words of the key
// and the value of every pair that All yields. With a pair go those before it that have its key.
func (s Struct) deletePairs(del func(key, value index.Word) bool) {
	n := s.ListLen()
	if n == 0 {
		return
	}
	m, e, t := s.m, s.entry(), s.typ()
	repeated := m.repeated(e, t) > 0
	m.keys.Iterations.Add(1) // until the end: pairs keep their numbers
	defer m.keys.Iterations.Add(-1)
	c, left := m.newChosen(n), n-int(m.editOf(e).dead)
	for i := 0; i < n; i++ {
		pair := s.pairAt(i)
		if pair.Key() == 0 || repeated && m.isRepeated(e, t, uint32(i)) {
			i = s.nextPair(i+1) - 1
			continue
		}
		if del(pair.Key(), pair.Value()) {
			c.add(i)
		}
		if s.ListLen() != n || n-int(m.editOf(e).dead) != left {
			panic("nocopy: map changed by the function of its DeleteFunc")
		}
	}
	s.Changeable() // again: del may have changed or finished the message
	for i := range n {
		switch {
		case !c.has(i):
		case repeated:
			s.deleteRepeated(i)
		default:
			s.deletePair(i)
		}
	}
	m.giveBack(c)
}

// deleteRepeated removes pair i and all other pairs with its key.
func (s Struct) deleteRepeated(i int) {
	m, e, t := s.m, s.entry(), s.typ()
	key := bytes.Clone(m.keyBytes(e, t, uint32(i)))
	for ; i >= 0; i = m.lookup(e, t, key) {
		s.deletePair(i)
	}
}
