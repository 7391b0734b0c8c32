package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file passes over the fields of a finished root, to find those with an id; see FindFields.

// rootPiece is a piece of a message's wire bytes; pos is 0 if it is a copy.
type rootPiece struct {
	pos uint32
	mem []byte
}

// rootWalk goes through the wire bytes of a finished message.
type rootWalk struct {
	m      *Message
	pieces []rootPiece // those from the next byte on
	at     int         // where that is in the first of them
	off    int         // its offset in the message

	// The field that was found last. Its value, of type t and n bytes, is next.
	t       wire.Type
	from, n int // from is the offset of its header
}

// appendPieces appends the pieces of a sealed message.
func appendPieces(to []rootPiece, b *chain.Buffer) []rootPiece {
	b.Pieces(func(p chain.Pos, mem []byte) bool {
		to = append(to, rootPiece{p, mem})
		return true
	})
	return to
}

// find goes to the value of the next field with this id. It returns false if there is none.
func (w *rootWalk) find(id int16) bool {
	for {
		if w.t = wire.Type(w.peek(1)[0]); w.t == wire.Stop {
			return false
		}
		key := wire.HeaderAt(w.peek(wire.FieldHeader), 0)
		w.from = w.off
		w.pass(wire.FieldHeader)
		if w.n = w.size(w.m.desc.Find(key), w.t); int16(key) == id {
			return true
		}
		w.pass(w.n)
	}
}

// value returns the value that was found, as FindFields does.
func (w *rootWalk) value() WireValue {
	w.m.buf.Lend()
	return WireValue{w.t, w.peek(w.n)}
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
	return b
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
	if p := w.pieces[0].pos; p != 0 {
		if n := w.m.indexed(w.m.root, f, p+uint32(w.at)); n > 0 {
			return n
		}
	}
	if n, err := parse.Skip(w.pieces[0].mem[w.at:], 0, t, parse.MaxBudget, 1); err == nil {
		return n
	}
	// It lies across pieces: the rest of the message is copied together, once
	w.pieces, w.at = []rootPiece{{0, w.peek(w.m.buf.Len() - w.off)}}, 0
	return parse.SkipValid(w.pieces[0].mem, 0, t)
}

// WireValue holds the wire bytes of a value: of a field that the IDL does not know, or of a value
// that Peek found. It aliases the message. Methods that read another type than the value's return
// zero.
type WireValue struct {
	Type wire.Type // 0 if there is no value
	b    []byte
}

// Cut is a part of a message's wire bytes, from one offset to another.
type Cut struct{ From, To int }
