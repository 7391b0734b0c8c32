package chain

import (
	"encoding/binary"
	"math"
)

// Seal lists the pieces of the message in wire order. Afterwards Len, AppendTo, WriteTo and the
// like only read, until the next change.
func (b *Buffer) Seal() {
	if b.sealed {
		return
	}
	b.Sync()
	if len(b.nodes) == 1 && b.root.first == b.root.last && b.root.first != 0 { // only one span
		p := b.span(b.root.first).place()
		b.pieces = append(b.pieces[:0], p)
		b.size = int(p.to - p.from)
		b.sealed = true
		b.frame(p.from)
		return
	}
	b.sortNodes()
	b.sortSpans()
	if !b.flatten() {
		b.pieces = b.walk(b.pieces[:0], b.root.first, part{})
	}
	b.size = total(b.pieces)
	if uint(b.size) > 2*MaxSize { // more than there are positions
		panic(changedAtOnce)
	}
	b.sealed = true
	if len(b.pieces) > 0 && b.pieces[0].from == b.span(b.root.first).from {
		b.frame(b.pieces[0].from)
	} else {
		b.framed = false
	}
}

// fewNodes is the number of nodes up to which flatten is tried.
const fewNodes = 8

// flatten lists the pieces of an edited message in the usual case: one span and a few nodes.
// No node lies in the content of another node, or in bytes that another node replaces. It returns
// false in all other cases.
func (b *Buffer) flatten() bool {
	if b.order.n > fewNodes || b.root.first != b.root.last || b.parts != nil {
		return false
	}
	root := *b.span(b.root.first)
	out, at, replaced := b.pieces[:0], root.from, Pos(0)
	var c cursor
	for o, ok := b.order.next(&c); ok; o, ok = b.order.next(&c) {
		n := b.node(o.id())
		if n.at < at || n.at > root.to || n.kind == grow && n.at == replaced {
			return false
		}
		out = appendPiece(out, at, n.at)
		for s := n.content.first; s != 0; s = b.span(s).next {
			if b.tooMany(out) {
				panic(changedAtOnce)
			}
			out = appendPiece(out, b.span(s).from, b.span(s).to)
		}
		if at = n.end; at > n.at {
			replaced = at
		}
	}
	if at > root.to {
		return false
	}
	b.pieces = appendPiece(out, at, root.to)
	return true
}

const frameHeader = 4

// frame stores the message's length into the headroom before its first byte, which is at from, if
// there is headroom and it is writable. The message can then be written as a frame without a copy.
func (b *Buffer) frame(from Pos) {
	b.framed = b.headroom >= frameHeader && b.size > 0 && b.size <= math.MaxInt32
	if !b.framed {
		return
	}
	switch at := from - frameHeader; {
	case b.InTail(at, frameHeader):
		b.Put4(at, uint32(b.size))
	case b.Writable(at):
		binary.BigEndian.PutUint32(b.At(at), uint32(b.size))
	default: // it is shared or frozen
		b.framed = false
	}
}

// Sealed reports whether nothing has changed since Seal.
func (b *Buffer) Sealed() bool { return b.sealed }

// Len returns the number of wire bytes of the message. The Buffer must be sealed.
func (b *Buffer) Len() int { return b.size }

// Bytes returns the message and true if it is in one piece, otherwise nil and false. The bytes
// alias it. The Buffer must be sealed.
func (b *Buffer) Bytes() ([]byte, bool) {
	switch len(b.pieces) {
	case 0:
		return nil, true
	case 1:
		return b.mem(b.pieces[0]), true
	}
	return nil, false
}

// First returns the first piece of the message, aliasing it; nil if it has none. The Buffer must
// be sealed.
func (b *Buffer) First() []byte {
	if len(b.pieces) == 0 {
		return nil
	}
	return b.mem(b.pieces[0])
}

// Whole returns the message, which must be in one piece, and the position of its first byte.
func (b *Buffer) Whole() (Pos, []byte) { return b.pieces[0].from, b.mem(b.pieces[0]) }
