package chain

import (
	"encoding/binary"
	"math"
	"slices"
)

// piece is a range of wire bytes that is contiguous in memory: [from, to).
type piece struct{ from, to Pos }

// total returns the number of bytes in the pieces.
func total(pieces []piece) (n int) {
	for _, p := range pieces {
		n += int(p.to - p.from)
	}
	return n
}

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

// Whole returns the message in one piece, as Bytes does, and the position of its first byte. The
// message must not be empty.
func (b *Buffer) Whole() (Pos, []byte, bool) {
	if len(b.pieces) != 1 {
		return 0, nil, false
	}
	return b.pieces[0].from, b.mem(b.pieces[0]), true
}

// AppendTo appends the message to dst, copying it. The Buffer must be sealed.
func (b *Buffer) AppendTo(dst []byte) []byte { return b.appendPieces(dst, b.pieces) }

func (b *Buffer) appendPieces(dst []byte, pieces []piece) []byte {
	if len(pieces) > 1 { // append makes room for a single piece itself
		dst = slices.Grow(dst, total(pieces))
	}
	for i, p := range pieces {
		b.loadNext(pieces, i)
		dst = append(dst, b.mem(p)...)
	}
	return dst
}

// Pieces calls f with each part of the message that is contiguous in memory, in wire order, until
// f returns false. The Buffer must be sealed; the bytes alias it.
func (b *Buffer) Pieces(f func(p Pos, mem []byte) bool) { Range{b, b.pieces}.Pieces(f) }

func (b *Buffer) mem(p piece) []byte {
	n := p.to - p.from
	return b.At(p.from)[:n:n]
}

// Range is the part of the wire bytes that is sent for the bytes [from, to) of a run, with all
// nodes applied.
type Range struct {
	b      *Buffer
	pieces []piece
}

// Range returns the wire bytes that are sent for the bytes [from, to), which must be in one run. A
// node that replaces all of them, or more, counts only if it is own; any other such node has
// replaced the value that the bytes are. The Range is valid until the next change.
func (b *Buffer) Range(from, to Pos, own NodeID) Range { return b.RangeAgain(from, to, own, Range{}) }

// RangeAgain is Range, but reuses the memory of old, which must not be used afterwards.
func (b *Buffer) RangeAgain(from, to Pos, own NodeID, old Range) Range {
	b.Sync()
	b.sortNodes()
	return Range{b, b.walk(old.pieces[:0], b.spanAt(from), part{from, to, own, 0})}
}

// Spent returns an empty Range with the memory of r, for RangeAgain.
func (r Range) Spent() Range { return Range{pieces: r.pieces} }

// Flat returns the bytes [from, to) and true if they are in one piece and no node changes them,
// otherwise nil and false. A node that replaces all of them, or more, counts only if it is own.
// The bytes alias the message, and are valid until the next change.
func (b *Buffer) Flat(from, to Pos, own NodeID) ([]byte, bool) {
	b.Sync()
	b.sortNodes()
	p := part{from, to, own, 0}
	c := b.order.from(from)
	for o, ok := b.order.next(&c); ok && o.at() <= to; o, ok = b.order.next(&c) {
		if !b.excludes(p, b.node(o.id())) {
			return nil, false
		}
	}
	if b.span(b.spanAt(from)).to < to {
		return nil, false
	}
	return b.mem(piece{from, to}), true
}

// Len returns the number of wire bytes of the range.
func (r Range) Len() int { return total(r.pieces) }

// Bytes returns the range and true if it is in one piece, otherwise nil and false. The bytes alias
// the message.
func (r Range) Bytes() ([]byte, bool) {
	if len(r.pieces) != 1 {
		return nil, false
	}
	return r.b.mem(r.pieces[0]), true
}

// Count returns the number of pieces of the range.
func (r Range) Count() int { return len(r.pieces) }

// AppendTo appends the range to dst, copying it.
func (r Range) AppendTo(dst []byte) []byte { return r.b.appendPieces(dst, r.pieces) }

// Pieces calls f with each part of the range that is contiguous in memory, in wire order, until f
// returns false. The bytes alias the message.
func (r Range) Pieces(f func(p Pos, mem []byte) bool) {
	for _, p := range r.pieces {
		if !f(p.from, r.b.mem(p)) {
			return
		}
	}
}

// part limits a walk to the bytes [from, to) of a run, unless to is 0. own is the node that may
// replace all of them: 0 for none, everyNode for any.
type part struct {
	from, to Pos
	own      NodeID
	depth    uint32 // how deep the contents of nodes are nested so far
}

// everyNode stands for any node.
const everyNode = math.MaxUint32

// hidden is the range [from, to) of bytes that was replaced last. Neither the bytes nor the nodes
// in them are sent.
type hidden struct{ from, to Pos }

// walk appends the pieces of the run that begins with span s to out, in wire order, including the
// contents of its nodes. Parameters are values, because pointers passed to a recursive function
// would move their targets to the heap.
func (b *Buffer) walk(out []piece, s uint32, p part) []piece {
	var h hidden
	if int(p.depth) > len(b.nodes) { // a node contains itself
		panic(changedAtOnce)
	}
	for left := len(b.spans); s != 0; s = b.span(s).next {
		if left--; left < 0 || b.tooMany(out) {
			panic(changedAtOnce)
		}
		sp := *b.span(s)
		if p.to != 0 && sp.from > p.to {
			break
		}
		out, h = b.walkSpan(out, sp, p, h)
		if p.to != 0 && sp.from <= p.to && p.to <= sp.to {
			break
		}
	}
	return out
}

// tooMany reports whether there are more pieces than the spans and nodes can make. Then a run or a
// node contains itself. It does not check Buffers with Parts.
func (b *Buffer) tooMany(pieces []piece) bool {
	return len(pieces) > len(b.spans)+2*len(b.nodes) && b.parts == nil
}

// walkSpan is walk for one span. It returns the hidden range that holds after the span.
func (b *Buffer) walkSpan(out []piece, sp span, p part, h hidden) ([]piece, hidden) {
	lo, hi := sp.from, sp.to
	if p.to != 0 {
		lo = max(lo, min(p.from, hi))
		hi = min(hi, p.to)
	}
	at := max(lo, min(h.to, hi)) // the next byte on the wire
	c := b.order.from(lo)
	last := b.order.last()
	for o, ok := b.order.next(&c); ok && o.at() <= hi; o, ok = b.order.next(&c) {
		n := b.node(o.id())
		if h.hides(n) || p.to != 0 && b.excludes(p, n) {
			continue
		}
		out = appendPiece(out, at, n.at)
		at = n.at
		if b.parts != nil {
			out = b.walkParts(out, b.parts.Get(o.id()), p.depth+1)
		}
		if s := n.content.first; s != 0 && b.span(s).next == 0 && b.span(s).from > last {
			out = appendPiece(out, b.span(s).from, b.span(s).to)
		} else if s != 0 {
			out = b.walk(out, s, part{depth: p.depth + 1})
		}
		if end := n.end; end > n.at {
			h = hidden{n.at, end}
			at = min(end, hi)
		}
	}
	return appendPiece(out, at, hi), h
}

const (
	// nearPieces is the number of pieces up to which successive ones are mostly near each other in
	// memory.
	nearPieces = 2 << 10
	// together is how many pieces are loaded at once above nearPieces. The processor then waits for
	// many at once, not for one after another.
	together = 32
)

// loadNext must be called before piece i of many is copied. Now and then it loads the first bytes
// of the next ones into the processor's caches.
func (b *Buffer) loadNext(pieces []piece, i int) {
	if i%together == 0 && len(pieces) > nearPieces {
		b.loadPieces(pieces[i:min(i+together, len(pieces))])
	}
}

// loadPieces loads the first byte of each piece.
//
//go:noinline
func (b *Buffer) loadPieces(pieces []piece) (sum int) {
	for _, p := range pieces {
		sum += int(b.At(p.from)[0])
	}
	return sum
}

// hides reports whether the node belongs to the hidden bytes. A node that extends a value ending
// at their end belongs to them if the value starts among them.
func (h hidden) hides(n *node) bool {
	return n.at < h.to || n.kind == grow && n.at == h.to && n.anchor >= h.from
}

// excludes reports whether a node at the beginning or end of the part does not belong to the part,
// but to the bytes around it. A node that replaces all of the part does not belong to it, unless
// it is the part's own.
func (b *Buffer) excludes(p part, n *node) bool {
	if n.kind == grow {
		return n.anchor < p.from
	}
	switch {
	case n.at >= p.to:
		return true
	case n.at > p.from:
		return false
	}
	return n.kind == vacate || n.kind == replace && p.own != everyNode && n != b.node(p.own) && n.end >= p.to
}

func appendPiece(out []piece, from, to Pos) []piece {
	if from >= to {
		return out
	}
	if k := len(out) - 1; k >= 0 && out[k].to == from && from&segMask != 0 {
		out[k].to = to
		return out
	}
	return append(out, piece{from, to})
}
