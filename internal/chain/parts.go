package chain

// Part is a stretch of some run, with the nodes in it, that stands elsewhere on the wire than there.
type Part struct{ From, To Pos }

// AddVacate makes a node that leaves out the bytes [at, end) and everything in them, but for what is a Part of some node.
// It comes before other nodes at its place.
func (b *Buffer) AddVacate(at, end Pos) NodeID {
	return b.addNode(node{at: at, end: end, kind: vacate})
}

// Parts returns the parts of the node's content, which come before the rest of it.
func (b *Buffer) Parts(id NodeID) []Part { return b.parts[id] }

// SetParts makes the node's content these parts and nothing else. The node must not lie in one of them. The Buffer keeps the slice.
func (b *Buffer) SetParts(id NodeID, parts []Part) {
	if b.parts == nil {
		b.parts = map[NodeID][]Part{}
	}
	b.parts[id] = parts
	b.setContent(id, 0, 0)
}

// walkParts appends the pieces of the parts.
func (b *Buffer) walkParts(out []piece, parts []Part) []piece {
	for _, p := range parts {
		out = b.walk(out, b.spanAt(p.From), part{p.From, p.To})
	}
	return out
}
