package chain

import "github.com/nocopythrift/nocopythrift/internal/memory"

// part limits a walk to the bytes [from, to) of a run, unless to is 0. own is the node that may
// replace all of them: 0 for none, everyNode for any.
type part struct {
	from, to Pos
	own      NodeID
	depth    uint32 // how deep the contents of nodes are nested so far
}

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

// walkParts appends the pieces of the parts to out. If a node replaces a part, its content is
// sent.
func (b *Buffer) walkParts(out []piece, parts []Part, depth uint32) []piece {
	for _, p := range parts {
		out = b.walk(out, b.spanAt(p.From), part{p.From, p.To, everyNode, depth})
	}
	return out
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
	if k := len(out) - 1; k >= 0 && out[k].to == from && !memory.Begins(from) {
		out[k].to = to
		return out
	}
	return append(out, piece{from, to})
}
