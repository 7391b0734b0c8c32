package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file finds fields of a message's root by their ids, whether or not its type has them:
// package rpc sends some that no IDL knows. Values are passed over, not looked into; those that
// are indexed cost one step each.

// For package rpc. Cut is a part of a message's wire bytes, from one offset to another.
type Cut struct{ From, To int }

// FindFields finishes the message of s, its root. It returns the value of the first field with
// this id, and the places of all fields with it, in order and including headers. Adjacent fields
// are one Cut. The value aliases the message, or is a copy if it is not in one piece.
func (s Struct) FindFields(id int16) (first WireValue, all []Cut) {
	first = s.findField(id, &all)
	return first, all
}

// CarriesIndex reports whether the finished message of s has a wire index in a field of its root.
// When other fields are added for sending, the index must be left out.
func (s Struct) CarriesIndex() bool {
	return s.m != nil && s.m.pending&(carriesIndex|placedIndex) != 0
}

// FindField finishes the message of s, its root, and returns the value of the first field with
// this id, and whether there is one. It allocates nothing, however many such fields there are.
func (s Struct) FindField(id int16) (first WireValue, ok bool) {
	first = s.findField(id, nil)
	return first, first.Type != wire.Stop
}

// findField returns the value of the first field with this id, and appends all to a list, unless
// that is nil.
func (s Struct) findField(id int16, all *[]Cut) (first WireValue) {
	if s.m == nil || s.m.absent {
		return WireValue{}
	}
	s.alive()
	m := s.m
	if s.entry() != m.root {
		panic(panicNotRoot)
	}
	m.Finish()
	w := rootWalk{m: m}
	var one [1]rootPiece
	if p, mem, ok := m.buf.Whole(); ok {
		one[0] = rootPiece{p, mem}
		w.pieces = one[:]
	} else {
		w.pieces = wirePieces(m)
	}
	for {
		t := wire.Type(w.peek(1)[0])
		if t == wire.Stop {
			return first
		}
		key := wire.HeaderAt(w.peek(wire.FieldHeader), 0)
		from := w.off
		w.pass(wire.FieldHeader)
		n := w.size(m.desc.Find(key), t)
		if int16(key) != id {
			w.pass(n)
			continue
		}
		if first.Type == wire.Stop {
			m.buf.Lend()
			first = WireValue{t, w.peek(n)}
			if all == nil {
				return first
			}
		}
		w.pass(n)
		if k := len(*all) - 1; k >= 0 && (*all)[k].To == from {
			(*all)[k].To = w.off
		} else {
			*all = append(*all, Cut{from, w.off})
		}
	}
}

// rootPiece is a piece of a message's wire bytes; pos is 0 if it is a copy.
type rootPiece struct {
	pos uint32
	mem []byte
}

// wirePieces returns the pieces of a finished message.
func wirePieces(m *Message) (all []rootPiece) {
	m.buf.Pieces(func(p chain.Pos, mem []byte) bool {
		if len(mem) > 0 {
			all = append(all, rootPiece{uint32(p), mem})
		}
		return true
	})
	return all
}

// rootWalk goes through the wire bytes of a finished message.
type rootWalk struct {
	m      *Message
	pieces []rootPiece // those from the next byte on
	at     int         // where that is in the first of them
	off    int         // its offset in the message
}

// pass passes n bytes.
func (w *rootWalk) pass(n int) {
	w.off += n
	w.at += n
	for len(w.pieces) > 1 && w.at >= len(w.pieces[0].mem) {
		w.at -= len(w.pieces[0].mem)
		w.pieces = w.pieces[1:]
	}
}

// peek returns the next n bytes: an alias if they are in one piece, else a copy.
func (w *rootWalk) peek(n int) []byte {
	if mem := w.pieces[0].mem[w.at:]; n <= len(mem) {
		return mem[:n:n]
	}
	b, at := make([]byte, 0, n), w.at
	for _, p := range w.pieces {
		b = append(b, p.mem[at:][:min(n-len(b), len(p.mem)-at)]...)
		at = 0
	}
	return b[:n]
}

// size returns how many bytes the value of type t has that is next. f is the field of the root's
// type that it belongs to, nil if there is none.
func (w *rootWalk) size(f *schema.Field, t wire.Type) int {
	if n := int(wire.FixedSize[t]); n > 0 {
		return n
	}
	if t == wire.String {
		return wire.TextHeader + int(wire.BE32(w.peek(wire.TextHeader)))
	}
	if n := w.indexed(f); n > 0 {
		return n
	}
	if n, err := parse.Skip(w.pieces[0].mem[w.at:], 0, t, parse.MaxBudget, 1); err == nil {
		return n
	}
	// It lies across pieces: the rest of the message is copied together, once
	left := 0
	for _, p := range w.pieces {
		left += len(p.mem)
	}
	w.pieces, w.at = []rootPiece{{0, w.peek(left - w.at)}}, 0
	n, err := parse.Skip(w.pieces[0].mem, 0, t, parse.MaxBudget, 1)
	if err != nil {
		panic("nocopy: internal error: " + err.Error())
	}
	return n
}

// indexed returns how many bytes the value of field f has, if it is the one that is next and has
// an entry in the index; else 0.
func (w *rootWalk) indexed(f *schema.Field) int {
	if f == nil || f.Kind() < schema.Record || w.pieces[0].pos == 0 {
		return 0
	}
	word := w.m.ix.At(w.m.root, f.Ref())
	if word == 0 || word&index.NotIndexed != 0 {
		return 0
	}
	from, to := w.m.extent(word, f.Type)
	if from != w.pieces[0].pos+uint32(w.at) {
		return 0 // it comes again later
	}
	if _, one := w.m.buf.Flat(from, to, w.m.editOf(word).valueNode); one {
		return int(to - from)
	}
	return w.m.buf.Range(from, to, w.m.editOf(word).valueNode).Len()
}

// AddOpen adds the wire bytes of the message of s to a batch, without the parts in cuts and
// without the STOP; fields and a STOP may follow. The message must be finished. It must be neither
// changed nor released before the batch is written.
func (s Struct) AddOpen(b *chain.Batch, cuts []Cut) {
	m := s.m
	end, off := m.buf.Len()-1, 0
	m.buf.Pieces(func(_ chain.Pos, mem []byte) bool {
		for at := 0; at < len(mem); {
			next := min(len(mem), end-off)
			for len(cuts) > 0 && cuts[0].To <= off+at {
				cuts = cuts[1:]
			}
			if len(cuts) > 0 {
				if cuts[0].From <= off+at {
					at = min(cuts[0].To-off, len(mem))
					continue
				}
				next = min(next, cuts[0].From-off)
			}
			if at >= next {
				break // the STOP
			}
			b.AddBytes(mem[at:next])
			at = next
		}
		off += len(mem)
		return true
	})
}

// RemoveFields removes all fields with this id from s, the root of its message, and reports
// whether there were any. The type of s must have no field with that id. The rest stays in its
// place, except that a message in several pieces is compacted first.
func (s Struct) RemoveFields(id int16) bool {
	s.Changeable()
	m := s.m
	if s.entry() != m.root {
		panic(panicNotRoot)
	}
	_, all := s.FindFields(id)
	if len(all) == 0 {
		return false
	}
	from, to := m.extent(m.root, m.desc.Type())
	if _, one := m.buf.Flat(from, to, m.editOf(m.root).valueNode); !one {
		m.compact()
		_, all = s.FindFields(id)
		from, _ = m.extent(m.root, m.desc.Type())
	}
	for _, cut := range all {
		m.buf.AddReplace(from+uint32(cut.From), from+uint32(cut.To))
	}
	return true
}

// HasType reports whether data is exactly one value of type t.
func HasType(t wire.Type, data []byte) bool {
	if wire.MinSize[t] == 0 {
		return false
	}
	n, err := parse.Skip(data, 0, t, parse.BudgetOf(parse.MaxDepth), 1)
	return err == nil && n == len(data)
}

// ValueOfWire returns the value of type t with these wire bytes, and refers to them.
func ValueOfWire(t wire.Type, data []byte) WireValue {
	return WireValue{t, data[:len(data):len(data)]}
}
