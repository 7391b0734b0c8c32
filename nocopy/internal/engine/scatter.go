package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/wire"

// A list of texts that is being built turns scattered when an element is set out of order: its
// elements, but for those before it, are loose from then on. They are in memory of the message,
// but in no run, and their words are positions there, 0 of those that were not set. When the
// list is completed they are copied into the run, in their order. So there is neither a node for
// each of them nor anything to be sorted.

// scattered is set in the next of a frame whose list is scattered. The rest of next is the number
// of elements that are on the wire.
const scattered = 1 << 31

// scatters reports whether element i of the list of entry e, of texts, is loose or has to be.
// The list is scattered then.
func (m *Message) scatters(e, i uint32) bool {
	n := len(m.open)
	if n == 0 {
		return false
	}
	f := &m.open[n-1]
	if f.e != e || i == f.next || i < f.next&^scattered || f.reopened {
		return false
	}
	f.next |= scattered
	return true
}

// placeLoose returns the position of n loose bytes for element i, whose word is at slot, and the
// bytes, contents undefined. It returns nil if the element can't be loose: the list is not
// scattered then.
func (s Struct) placeLoose(i int, slot uint32, n int) (uint32, []byte) {
	m := s.m
	if !m.scatters(s.entry(), uint32(i)) || m.idx[slot] != 0 && m.buf.LooseWaste() && !m.renewLoose() {
		return 0, nil
	}
	p, b := m.buf.Loose(n)
	if b == nil {
		m.gather()
		return 0, nil
	}
	if m.hasKeyTables() {
		m.elementChanges(s.entry(), uint32(i))
	}
	if old := m.idx[slot]; old != 0 {
		m.forgetLoose(old)
	}
	return p, b
}

// looseTextAt makes element i a loose text of n bytes and returns them, contents undefined. It
// returns nil if the element can't be loose: the list is not scattered then.
func (s Struct) looseTextAt(i, n int) []byte {
	slot := s.elemSlot(i)
	p, b := s.placeLoose(i, slot, wire.TextHeader+n)
	if b == nil {
		return nil
	}
	wire.PutBE32(b, uint32(n))
	s.m.idx[slot] = p
	return b[wire.TextHeader : wire.TextHeader+n : wire.TextHeader+n]
}

// setLooseText makes element i the text v, in the usual case: the list is scattered, f is its
// frame, v is short, and the element was never set. It reports whether that is so.
func (s Struct) setLooseText(f *frame, i int, v []byte) bool {
	m := s.m
	if uint(i) >= uint(s.ListLen()) || uint32(i) < f.next&^scattered {
		return false
	}
	word := &m.idx[m.idx[f.e+listElems]+uint32(i)]
	if *word != 0 || m.hasKeyTables() {
		return false
	}
	p := m.buf.LooseText(v)
	*word = p
	return p != 0
}

// looseRefAt makes element i a loose text that refers to the bytes v. It reports whether it could;
// if not, the list is not scattered.
func (s Struct) looseRefAt(i int, v []byte) bool {
	m, slot := s.m, s.elemSlot(i)
	p, b := s.placeLoose(i, slot, wire.TextHeader)
	if b == nil {
		return false
	}
	wire.PutBE32(b, uint32(len(v)))
	node := uint32(0)
	if k := len(m.looseNodes) - 1; k >= 0 {
		node, m.looseNodes = m.looseNodes[k], m.looseNodes[:k]
	}
	word := m.referText(p, v, node)
	if node != 0 && word != node {
		m.ownSeldom()
		m.looseNodes = append(m.looseNodes, node)
	}
	m.idx[slot] = word
	m.buf.ReferLoose(len(v))
	return true
}

// forgetLoose notes that the loose text that a word stands for is no longer needed.
func (m *Message) forgetLoose(word uint32) {
	if word&inNode == 0 {
		m.buf.ForgetLoose(wire.TextHeader + len(m.textBytes(word)))
		return
	}
	m.buf.ForgetLoose(wire.TextHeader)
	m.buf.ReferLoose(-len(m.textBytes(word)))
	m.buf.MoveGrow(word&^inNode, 0, 0) // where nothing is sent
	m.ownSeldom()
	m.looseNodes = append(m.looseNodes, word)
	m.more = true
}

// looseWords returns the words of the innermost frame's list, which is scattered, from the first
// loose element on.
func (m *Message) looseWords() []uint32 {
	f := &m.open[len(m.open)-1]
	return m.idx[m.idx[f.e+listElems]:][f.next&^scattered : m.idx[f.e+listCount]]
}

// gather appends the loose elements of the innermost frame's list, in their order, and zero values
// for those that were not set. The list is scattered no more.
func (m *Message) gather() {
	f := &m.open[len(m.open)-1]
	for words := m.looseWords(); ; {
		words = words[m.buf.AppendLoose(words):]
		if len(words) == 0 {
			break
		}
		p, b := m.buf.Extend(wire.TextHeader)
		m.moveReferred(words[0], p, b)
		words = words[1:]
	}
	f.next = m.idx[f.e+listCount]
	if len(m.looseNodes) > 0 {
		m.looseNodes = m.looseNodes[:0]
	}
	m.buf.ClearLoose()
}

// moveReferred moves the text that a word stands for, whose bytes are referred to, to b, which is
// at position p.
func (m *Message) moveReferred(word, p uint32, b []byte) {
	wire.PutBE32(b, uint32(len(m.textBytes(word))))
	m.buf.MoveGrow(word&^inNode, p+wire.TextHeader, p)
}

// renewLoose copies the loose elements of the innermost frame's list to new memory, without what
// is no longer needed. It reports whether there was room for them; if not, the list is gathered.
func (m *Message) renewLoose() bool {
	old := m.buf.RenewLoose()
	words := m.looseWords()
	for i, word := range words {
		if word == 0 {
			continue
		}
		n := wire.TextHeader
		if word&inNode == 0 {
			n += len(m.textBytes(word))
		}
		p, b := m.buf.Loose(n)
		switch {
		case b == nil:
			m.gather()
			return false
		case word&inNode != 0:
			m.moveReferred(word, p, b)
		default:
			copy(b, m.buf.At(word))
			words[i] = p
		}
	}
	m.buf.DropLoose(old)
	return true
}
