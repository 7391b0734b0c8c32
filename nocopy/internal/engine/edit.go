package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file changes what is complete: a new value is stored into the old one's bytes, or becomes a
// node.

// edit returns the edit of the struct or container of entry e, which it makes if there is none.
// The pointer is good until the next call.
func (m *Message) edit(e uint32) *edit {
	w := m.ix.EndOf(e)
	if !w.IsEdit() {
		m.edits = append(m.edits, edit{end: uint32(w)})
		w = index.EditWord(len(m.edits) - 1)
		m.ix.SetEnd(e, w)
	}
	return &m.edits[w.Edit()]
}

// editOf returns a copy of the edit of entry e. If there is none, all but end is zero.
func (m *Message) editOf(e uint32) edit {
	if w := m.ix.EndOf(e); w.IsEdit() {
		return m.edits[w.Edit()]
	} else {
		return edit{end: uint32(w)}
	}
}

// setEnd stores the position at which the struct or container of entry e, which is now
// complete, ends.
func (m *Message) setEnd(e, end uint32) {
	if w := m.ix.EndOf(e); w.IsEdit() {
		m.edits[w.Edit()].end = end
		return
	}
	m.ix.SetEnd(e, index.Word(end))
}

// place is where a new value goes: a field of a struct, an element of a list, or the key or value
// of a pair. It is good for one value, which is put into it before anything else changes the
// message.
type place struct {
	t    *schema.Type // of the value; not needed for a scalar or text in a field
	f    schema.Ref   // the field, or 0
	at   uint32       // the entry of the field's struct; else the slot
	elem uint32       // the entry of an element that keeps it; 0: the value gets its own
	node chain.NodeID // which replaces the old value; 0: the new one is appended at the tail
}

// put stores the word of the value that is now in the place.
func (m *Message) put(q place, word index.Word) {
	switch {
	case q.f != 0:
		m.ix.Put(q.at, q.f, word)
	case q.elem == 0:
		m.ix.SetWord(q.at, word)
	}
}

// bytesAt puts n bytes, contents undefined, into the place, after the field's header. It returns
// them, their position, and the word for them.
func (m *Message) bytesAt(q place, n int) (b []byte, p uint32, word index.Word) {
	lead := leadOf(q.f)
	if q.node == 0 {
		p, b = m.buf.Extend(lead + n)
	} else {
		p, b = m.buf.Place(lead + n)
		m.buf.SetPlaced(q.node, p, p+uint32(lead+n))
		word = index.InNode(q.node)
	}
	if p += uint32(lead); q.f != 0 || q.node == 0 {
		word = index.Word(p)
	}
	putLead(b, q.f)
	return b[lead : lead+n : lead+n], p, word
}

// inPlace returns the n bytes at position p if they may be stored into, else nil. Small memory of
// the caller's is copied to make it so.
func (m *Message) inPlace(p uint32, n int) []byte {
	if m.buf.Writable(p) || p != 0 && m.buf.Adopt(p) {
		return m.buf.At(p)[:n:n]
	}
	return nil
}

// newFixed puts n bytes into the place, and returns them, contents undefined.
func (m *Message) newFixed(q place, n int) []byte {
	b, _, word := m.bytesAt(q, n)
	m.put(q, word)
	return b
}

// fieldNode returns the node that replaces field f of the struct of entry e, 0 if there is
// none.
func (m *Message) fieldNode(e uint32, f schema.Ref) chain.NodeID {
	if w := m.ix.EndOf(e); w.IsEdit() {
		if slots := m.edits[w.Edit()].fieldNodes; slots != 0 {
			return m.ix.FieldNode(slots, f)
		}
	}
	return 0
}

// valuePlace returns where the value that a word stands for begins and ends, or did before it
// was replaced, in the run that it is in.
func (m *Message) valuePlace(t wire.Type, word index.Word) (at, end uint32) {
	if n := wire.FixedSize[t]; n != 0 {
		if word.IsNode() {
			return m.buf.NodePlace(word.Node())
		}
		return uint32(word), uint32(word) + uint32(n)
	}
	if t == wire.String {
		return m.textPlace(word)
	}
	if word.IsLazy() {
		p := word.Pos()
		return p, p + uint32(parse.SkipValid(m.buf.At(p), 0, t))
	}
	at, w := m.ix.StartOf(word.Entry()), m.ix.EndOf(word.Entry())
	end = uint32(w)
	if w.IsEdit() {
		ed := &m.edits[w.Edit()]
		if ed.valueNode != 0 {
			return m.buf.NodePlace(ed.valueNode)
		}
		end = ed.end
	}
	switch t {
	case wire.Struct:
		return at, end + 1
	case wire.Map:
		return at - wire.MapHeader, end
	}
	return at - wire.ListHeader, end
}

// textPlace returns where the text of a word begins, with its length, and where it ends, in its
// run. If the text was replaced, this is its former place.
func (m *Message) textPlace(word index.Word) (at, end uint32) {
	if !word.IsNode() {
		at = uint32(word)
		return at, at + wire.TextHeader + m.buf.Load4(at)
	}
	node := word.Node()
	at, end = m.buf.NodePlace(node)
	if at == end { // the node holds the bytes only, which are referred to
		return at - wire.TextHeader, at
	}
	return at, end
}

// textBytes returns the bytes of the string or binary value that a word of the index stands for.
// Callers that expose them must call Lend.
func (m *Message) textBytes(word index.Word) []byte {
	p := uint32(word)
	if word.IsNode() {
		var foreign []byte
		if p, foreign = m.textInNode(word.Node()); foreign != nil {
			return foreign
		}
	}
	b := m.buf.At(p)
	n := wire.TextHeader + wire.BE32(b)
	return b[wire.TextHeader:n:n]
}

// textInNode returns where the length of a text is that a node holds or belongs to, and its bytes
// if they are not after the length but elsewhere.
func (m *Message) textInNode(node chain.NodeID) (p uint32, foreign []byte) {
	if at, end := m.buf.NodePlace(node); at == end {
		return at - wire.TextHeader, m.buf.Content(node, 0)
	}
	return m.buf.NodeStart(node), m.buf.Content(node, 1)
}

// mayRefer reports whether there will be enough positions to refer to n bytes, instead of copying
// them, when a number of segments has been taken before. When half of all positions are used up,
// only large pieces are worth it.
func (m *Message) mayRefer(segments, n int) bool {
	return m.buf.RoomAfter(segments, chain.MaxSize+n) || n >= memory.MaxSlabSize && m.buf.RoomAfter(segments, n)
}

// referText makes the bytes v the contents of the text whose length is at position p, and returns
// the text's word.
func (m *Message) referText(p uint32, v []byte) index.Word {
	at := p + wire.TextHeader
	node := m.buf.AddGrow(at, p)
	foreign := m.buf.AddForeign(v, false)
	m.buf.SetPlaced(node, foreign, foreign+uint32(len(v)))
	return index.InNode(node)
}

// indexAt indexes the value of type t at position p, which must be valid and contiguous, and
// returns its word. e is the entry of a struct that has one, else 0.
func (m *Message) indexAt(t *schema.Type, p, e uint32) index.Word {
	if t.Kind() < schema.Record {
		return index.Word(p)
	}
	m.beginTrusted(p)
	i, e := m.indexInto(t, e)
	m.p.EndTrusted(i)
	return index.Word(e)
}

// indexInto has the parser index its window, a struct or container of type t. It returns the index
// after it, or failed, and the entry: e, or a new one if e is 0.
func (m *Message) indexInto(t *schema.Type, e uint32) (int, uint32) {
	if e == 0 {
		return m.p.Value(t, 0, 0)
	}
	return m.p.Structure(t.Struct(), e, 0), e
}

// rangeOf returns the wire bytes of the struct or container of entry e.
func (m *Message) rangeOf(e uint32, t *schema.Type) chain.Range {
	from, to := m.extent(e, t)
	return m.buf.Range(from, to, m.editOf(e).valueNode)
}

// flat returns the wire bytes of the struct or container of entry e, and true, if they are in one
// piece.
func (m *Message) flat(e uint32, t *schema.Type) ([]byte, bool) {
	from, to := m.extent(e, t)
	return m.buf.Flat(from, to, m.editOf(e).valueNode)
}

// extent returns the positions where the struct or container of entry e begins and ends.
func (m *Message) extent(e uint32, t *schema.Type) (from, to uint32) {
	from, to = m.ix.StartOf(e), m.editOf(e).end
	if t.Kind() == schema.Record {
		return from, to + 1
	}
	return from - t.HeaderSize(), to
}

// indexed returns how many bytes the value at position p has, if it is field f of the struct of
// entry e and has an entry in the index; else 0. f may be nil.
func (m *Message) indexed(e uint32, f *schema.Field, p uint32) int {
	if f == nil || f.Kind() < schema.Record {
		return 0
	}
	word := m.ix.At(e, f.Ref())
	if !word.HasEntry() {
		return 0
	}
	if from, _ := m.extent(word.Entry(), f.Type); from != p {
		return 0 // it comes again later
	}
	if b, one := m.flat(word.Entry(), f.Type); one {
		return len(b)
	}
	return m.rangeOf(word.Entry(), f.Type).Len()
}

const (
	listWords = entry.ListWords
	pairWords = entry.PairWords

	maxCount = chain.MaxSize
)

// putLead stores the header of field f in b unless f is 0.
func putLead(b []byte, f schema.Ref) {
	if f != 0 {
		wire.PutHeader(b, f.Header())
	}
}

// leadOf returns how many bytes come before a value: the size of a field's header, or 0 if f is 0.
func leadOf(f schema.Ref) int {
	if f != 0 {
		return wire.FieldHeader
	}
	return 0
}

// setText puts the text v into the place. With refer it refers to v, else it copies v.
func (m *Message) setText(q place, v []byte, refer bool) {
	size := wire.TextHeader
	if !refer {
		size += len(v)
	}
	again := uint32(0) // the positions of the old text, if v can have them
	if q.node != 0 && refer {
		again = m.exchange(q, v)
	}
	b, p, word := m.bytesAt(q, size)
	wire.PutBE32(b, uint32(len(v)))
	switch {
	case !refer:
		copy(b[wire.TextHeader:], v)
	case q.node == 0:
		word = m.referText(p, v)
	default:
		foreign := again
		if foreign == 0 {
			foreign = m.buf.AddForeign(v, false)
		}
		m.buf.AddContent(q.node, foreign, foreign+uint32(len(v)))
		word = index.InNode(q.node)
	}
	m.put(q, word)
}

// exchange gives v the positions of the text in the place, which is in a node and about to be
// replaced, if they suffice. It returns the first one, or 0.
func (m *Message) exchange(q place, v []byte) uint32 {
	word := m.wordIn(q)
	if !word.IsNode() || !m.buf.Exchangeable(word.Node(), len(v)) {
		return 0
	}
	return m.buf.Exchange(word.Node(), v)
}

// wordIn returns the word of the value in the place.
func (m *Message) wordIn(q place) index.Word {
	if q.f != 0 {
		return m.ix.At(q.at, q.f)
	}
	return m.ix.Word(q.at)
}

// LentBytes returns the bytes of a binary, which the caller may keep.
func (m *Message) LentBytes(word index.Word) []byte {
	m.buf.Lend()
	return m.textBytes(word)
}

// ReferSize is the size from which on strings and binaries are referred to instead of copied.
const ReferSize = 4 << 10
