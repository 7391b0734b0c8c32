package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// source is the wire bytes of a struct or container that is about to be copied or linked into a
// message.
type source struct {
	from *Message // the message to link memory of; nil if data is a copy
	r    chain.Range
	n    int // bytes
	data []byte
}

// linkPieces is the most pieces that a value may be in to be linked; others are copied.
const linkPieces = 16

// keepPieces is the most pieces of a value for which the memory is kept for the next one.
const keepPieces = 4 << 10

// mustBe panics if s, which is not absent, can't be a value of type t: Go's types do not tell a
// list of sets from a list of lists, and any handle can be converted to any other. A list can be a
// set. Of structs only roots are known.
func (s Struct) mustBe(t *schema.Type) {
	if own := s.m.desc; own != nil && own != t.Struct() && s.entry() == s.m.root {
		panic("nocopy: " + own.Name() + " instead of " + t.String())
	}
	if t.Kind() == schema.Record {
		return
	}
	words := s.m.ix.Words[min(int(s.entry())+listType, len(s.m.ix.Words)):]
	if len(words) > 0 && words[0] == t.ID() {
		return
	}
	types := schema.Types()
	if len(words) == 0 || int(words[0]) >= len(types) { // it is the word of a field
		panic("nocopy: a struct instead of " + t.String())
	}
	if u := types[words[0]]; u.Kind() != t.Kind() || !t.Elem().Equal(u.Elem()) || t.Kind() == schema.Dict && !t.Key().Equal(u.Key()) {
		panic("nocopy: " + u.String() + " instead of " + t.String())
	}
}

// mayLink reports whether a value of n bytes and type t in several pieces is worth linking.
// There must be enough positions, also for values that lie across two pieces.
func (m *Message) mayLink(pieces, n int, t *schema.Type) bool {
	return pieces <= linkPieces && m.buf.Room(2*n+linkRoom) && !nests(t)
}

// linkRoom is for how many bytes there must be positions besides a linked value's own.
const linkRoom = 64 << 20

// rangeOf returns the wire bytes of the struct or container of entry e. It uses the memory of
// old.
func (m *Message) rangeOf(e uint32, t *schema.Type, old chain.Range) chain.Range {
	from, to := m.extent(e, t)
	return m.buf.RangeAgain(from, to, m.editOf(e).valueNode, old)
}

// extent returns the positions where the struct or container of entry e begins and ends.
func (m *Message) extent(e uint32, t *schema.Type) (from, to uint32) {
	from, to = m.ix.Words[e+entry.Start], m.editOf(e).end
	if t.Kind() == schema.Record {
		return from, to + 1
	}
	return from - t.HeaderSize(), to
}

// appendValue appends src, a value of type t, to the innermost frame and returns its word. A
// field header comes first unless header is 0. e is the entry of a struct that is an element, 0
// if it gets a new one.
func (m *Message) appendValue(t *schema.Type, header uint32, src source, e uint32) uint32 {
	lead := leadOf(header)
	if src.from == nil {
		p, b := m.buf.Extend(lead + src.n)
		putLead(b, header)
		copy(b[lead:], src.data)
		return m.indexValue(t, p+uint32(lead), e)
	}
	p, b := m.buf.Extend(lead + 1) // the node replaces the last byte
	putLead(b, header)
	node := m.buf.AddReplace(p+uint32(lead), p+uint32(lead)+1)
	word := m.indexShared(node, t, src, e)
	m.edit(word).valueNode = node
	return word
}

// placeValue makes src, a value of type t, the contents of a node and returns its word. A field
// header comes first unless header is 0. e is the entry of a struct that is an element, 0 if it
// gets a new one.
func (m *Message) placeValue(node chain.NodeID, t *schema.Type, header uint32, src source, e uint32) uint32 {
	lead := leadOf(header)
	if src.from == nil {
		p, b := m.buf.Place(lead + src.n)
		m.buf.SetPlaced(node, p, p+uint32(len(b)))
		putLead(b, header)
		copy(b[lead:], src.data)
		return m.indexValue(t, p+uint32(lead), e)
	}
	m.buf.SetEmpty(node)
	if lead > 0 {
		p, b := m.buf.Place(lead)
		m.buf.SetPlaced(node, p, p+uint32(lead))
		putLead(b, header)
	}
	return m.indexShared(node, t, src, e)
}

// leadOf returns how many bytes come before a value: the size of a field header, or 0 if header is
// 0.
func leadOf(header uint32) int {
	if header != 0 {
		return wire.FieldHeader
	}
	return 0
}

// putLead stores a field header in b unless header is 0.
func putLead(b []byte, header uint32) {
	if header != 0 {
		wire.PutHeader(b, header)
	}
}

// indexValue indexes the value of type t at position p, which must be valid and contiguous, and
// returns its word. e is the entry of a struct that is an element, 0 if it gets a new one.
func (m *Message) indexValue(t *schema.Type, p, e uint32) uint32 {
	if e == 0 {
		return m.indexAt(t, p)
	}
	m.indexInto(t, p, e)
	return e
}

// indexShared adds memory of another message, src, to the node's contents, indexes it as a value
// of type t, and returns its word. e is the entry of a struct that is an element, 0 if it gets a
// new one.
func (m *Message) indexShared(node chain.NodeID, t *schema.Type, src source, e uint32) uint32 {
	m.beginTrusted(0)
	p := m.p
	p.Node = node
	src.r.Pieces(func(pos uint32, mem []byte) bool {
		p.Windows = append(p.Windows, parse.Window{Chunk: chain.Chunk{Mem: mem}, Src: &src.from.buf, Pos: pos})
		return true
	})
	p.After = src.n
	p.Enter()
	i, word := 0, e
	if e == 0 {
		i, word = p.Value(t, 0, 0)
	} else {
		i = p.Structure(t.Struct(), e, 0)
	}
	if i >= 0 {
		p.EndWindow(i)
	}
	p.Node = 0
	p.DropWindows()
	m.p.EndTrusted(i)
	return word
}

// nests reports whether a value of type t may have lists or maps in it whose elements, keys or
// values are lists or maps: parsing looks into these to find out whether they are of their
// declared types.
func nests(t *schema.Type) bool {
	if t.Kind() == schema.Record {
		program.Of(t.Struct())
		return t.Struct().Nests()
	}
	if t.NestedInside() {
		return true
	}
	for _, d := range t.Structs(nil) {
		if program.Of(d); d.Nests() {
			return true
		}
	}
	return false
}
