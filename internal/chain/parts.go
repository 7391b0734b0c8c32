package chain

import "github.com/nocopythrift/nocopythrift/internal/hashmap"

// Part is a range [From, To) of a run that is sent as a part of a node's content, not in its own
// place. The nodes in it move with it.
type Part struct{ From, To Pos }

// AddVacate makes a node that removes the bytes [at, end), and the nodes in them, from their
// place. They are sent only as a Part of another node. The node comes before other nodes that
// begin at the same position.
func (b *Buffer) AddVacate(at, end Pos) NodeID {
	return b.addNode(node{at: at, end: end, kind: vacate})
}

// Parts returns the parts at the beginning of the node's content.
func (b *Buffer) Parts(id NodeID) []Part {
	if b.parts == nil {
		return nil
	}
	return b.parts.Get(id)
}

// SetParts replaces the node's content by the parts. The node must not lie in one of them. The
// Buffer keeps the slice.
func (b *Buffer) SetParts(id NodeID, parts []Part) {
	b.ownEdits()
	if b.parts == nil {
		b.parts = new(hashmap.Map[NodeID, []Part])
	}
	b.parts.Put(id, parts)
	b.setContent(id, 0, 0)
}

// walkParts appends the pieces of the parts to out. If a node replaces a part, its content is
// sent.
func (b *Buffer) walkParts(out []piece, parts []Part, depth uint32) []piece {
	for _, p := range parts {
		out = b.walk(out, b.spanAt(p.From), part{p.From, p.To, everyNode, depth})
	}
	return out
}
