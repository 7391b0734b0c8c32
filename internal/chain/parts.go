package chain

import "github.com/nocopythrift/nocopythrift/internal/hashmap"

// Part is the range [From, To) of some run. With the nodes in it, it is sent as a part of a
// node's content, not where it lies.
type Part struct{ From, To Pos }

// AddVacate makes a node in the place of the bytes [at, end) that has no content: they, and the
// nodes in them, are sent only where they are a Part of another node. It comes before other nodes
// that begin at the same place.
func (b *Buffer) AddVacate(at, end Pos) NodeID {
	return b.addNode(node{at: at, end: end, kind: vacate})
}

// Parts returns the parts that the node's content begins with.
func (b *Buffer) Parts(id NodeID) []Part {
	if b.parts == nil {
		return nil
	}
	return b.parts.Get(id)
}

// SetParts makes the parts the node's whole content. The node must not lie in one of them. The
// Buffer keeps the slice.
func (b *Buffer) SetParts(id NodeID, parts []Part) {
	b.ownEdits()
	if b.parts == nil {
		b.parts = new(hashmap.Map[NodeID, []Part])
	}
	b.parts.Put(id, parts)
	b.setContent(id, 0, 0)
}

// walkParts appends the pieces of the parts to out. A part is sent with what has replaced it.
func (b *Buffer) walkParts(out []piece, parts []Part, depth uint32) []piece {
	for _, p := range parts {
		out = b.walk(out, b.spanAt(p.From), part{p.From, p.To, everyNode, depth})
	}
	return out
}
