package engine

import (
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file has the setters of fields that are texts, what the setters of numbers call, and what
// setters of all fields ask before they change a message.

// SetText sets a string field. It copies a string shorter than 4 KiB and refers to any other.
func (s Struct) SetText(f schema.Ref, v string) {
	if s.m == nil {
		panic(setterOfZero())
	}
	m := s.m
	if f.Wide() || s.k != m.openHandle || !m.buf.Fits(len(v)) || m.ix.Words[uint32(s.k)+f.Word()] != 0 {
		s.setText(f, v)
		return
	}
	m.ix.Words[uint32(s.k)+f.Word()] = m.buf.Tail() + wire.FieldHeader
	m.buf.AppendShort(uint64(f.Header())<<40|uint64(len(v))<<8, wire.FieldHeader+wire.TextHeader, v)
}

// setText sets a string field of a wide struct, or where the text can't simply be appended. A
// small received message is copied with it.
func (s Struct) setText(f schema.Ref, v string) {
	var w *uint32
	if f.Wide() && s.k == s.m.openHandle && s.m.buf.Fits(len(v)) {
		w = s.m.ix.WideSlot(uint32(s.k), f)
	}
	if w == nil || *w != 0 {
		if s.room(len(v)) {
			s.m.setText(s.field(f, schema.TypeString), chain.StringBytes(v), true)
			return
		}
		p := s.m.ix.At(uint32(s.k), f)
		end := s.m.rewritable(p, len(v))
		if end == 0 {
			copy(s.newText(f, len(v)), v)
			return
		}
		copy(s.m.rewriteText(p, end, len(v)), v)
		return
	}
	*w = s.m.buf.Tail() + wire.FieldHeader
	s.m.buf.AppendShort(uint64(f.Header())<<40|uint64(len(v))<<8, wire.FieldHeader+wire.TextHeader, v)
}

// SetBytes sets a binary field. It copies a v shorter than 4 KiB and refers to any other, which
// must not change until the message is released.
func (s Struct) SetBytes(f schema.Ref, v []byte) { s.SetText(f, chain.TextOf(v)) }

// NewBytes sets a binary field to n zero bytes and returns them. They may be filled until the
// message is finished. In an element of a set, or a key of a map, they must be filled before the
// next lookup of an element or key.
func (s Struct) NewBytes(f schema.Ref, n int) []byte {
	s.room(n)
	b := s.newText(f, n)
	clear(b)
	s.m.buf.Lend()
	if n > 0 {
		s.m.ownSeldom()
		s.m.handouts = append(s.m.handouts, handout{s.entry(), f, s.m.ix.At(s.entry(), f), b})
		s.m.ix.More = true
	}
	return b
}

// fixed returns where the n bytes of a fixed-size field are to be stored.
func (s Struct) fixed(f schema.Ref, n int) []byte {
	if s.m == nil {
		panic(setterOfZero())
	}
	s.alive()
	if debugging {
		s.m.noteSet(uint32(s.k), f)
	}
	m := s.m
	p := m.ix.At(uint32(s.k), f)
	if p == 0 && s.k == m.openHandle && !m.guarded {
		return s.appendField(f, n)
	}
	if !m.guarded && m.buf.Writable(p) {
		return m.buf.At(p)[:n:n]
	}
	s.Changeable()
	if b := m.inPlace(m.ix.At(uint32(s.k), f), n); b != nil {
		return b
	}
	return s.newField(f, n)
}

// appendField appends a field of n bytes, which is not set, to the struct, which is the innermost
// one that is open. It returns where the bytes are to be stored.
func (s Struct) appendField(f schema.Ref, n int) []byte {
	p, b := s.m.buf.Extend(wire.FieldHeader + n)
	wire.PutHeader(b, f.Header())
	s.m.ix.Put(uint32(s.k), f, p+wire.FieldHeader)
	return b[wire.FieldHeader : wire.FieldHeader+n]
}

// fewWords is the most words of an index in which rewriteText looks for positions to move.
const fewWords = 256

// rewritable returns where the text that word p stands for ends, if rewriteText can make it one of
// n bytes; else 0. The text must be set and in no node, and the whole message received and small.
// A message that was compacted is not copied: its index may have words that look like positions
// and are none.
func (m *Message) rewritable(p uint32, n int) (end uint32) {
	if int32(p) <= 0 || m.ix.Used > fewWords || m.ix.HasTables || len(m.shadows) > 0 || m.ix.Reuses {
		return 0
	}
	end = p + wire.TextHeader + wire.BE32(m.buf.At(p))
	if wire.TextHeader+n > m.buf.MostRewritten(p, end) {
		return 0
	}
	return end
}

// rewriteText changes the size of the text from position p to end to n bytes by copying the
// message. It returns the new bytes, to be filled.
func (m *Message) rewriteText(p, end uint32, n int) []byte {
	b, moved := m.buf.Rewrite(p, end, wire.TextHeader+n)
	m.movePositions(p, moved, moved+p+uint32(len(b))-end)
	wire.PutBE32(b, uint32(n))
	return b[wire.TextHeader:]
}

// movePositions adds before to all positions in the index up to p, and after to those beyond.
// There must be no node, and the message must be so small that no count, type or entry's number
// is as large as a position.
func (m *Message) movePositions(p, before, after uint32) {
	words := m.ix.Words[index.First:m.ix.Used]
	for i, w := range words {
		if at := w &^ index.NotIndexed; at > p {
			words[i] += after
		} else if at >= chain.FirstPos {
			words[i] += before
		}
	}
}

// room panics unless the struct or container may be changed by a value of n bytes. If there are
// positions for these only then, the message is compacted first. room reports whether texts of
// together n bytes may be referred to instead of copied.
func (s Struct) room(n int) (refer bool) {
	if n < 0 || n > chain.MaxSize {
		panic("nocopy: length " + strconv.Itoa(n) + " out of range")
	}
	s.Changeable()
	if n >= chain.MaxSlabSize {
		s.positions(n)
	}
	return n >= ReferSize && s.m.mayRefer(0, n)
}

// positions panics unless there are positions for a change of n bytes, perhaps after compacting.
func (s Struct) positions(n int) {
	if s.m.buf.RoomToChange(n) {
		return
	}
	if n > s.m.buf.RoomOnceCompacted() {
		panic(panicFull)
	}
	s.m.compact(false)
	if s.gone() {
		panic(panicGone)
	}
}

// openField makes the bytes that are appended next, field header first, the field f. There are n
// of them at first.
func (s Struct) openField(f schema.Ref, n int) {
	s.room(n)
	if node := s.m.nodeFor(uint32(s.k), f); node != 0 {
		s.m.openNode(node)
	}
}
