package chain

import "github.com/nocopythrift/nocopythrift/internal/hashmap"

func (b *Buffer) addNode(n node) NodeID {
	b.nodes = append(b.nodes, n)
	b.sealed = false
	return NodeID(len(b.nodes) - 1)
}

// AddReplace makes a node whose content replaces the bytes [at, end). The content is empty at
// first.
func (b *Buffer) AddReplace(at, end Pos) NodeID {
	return b.addNode(node{at: at, end: end, kind: replace})
}

// AddGrow makes a node whose content is sent after a value, such as a list, that starts at anchor
// and ends at at. If several such values end there, the one that starts last is innermost, and its
// content comes first.
func (b *Buffer) AddGrow(at, anchor Pos) NodeID {
	return b.addNode(node{at: at, end: at, anchor: anchor, kind: grow})
}

// AddAtStop makes a node whose content is sent before the byte at position at, and after
// everything that ends there.
func (b *Buffer) AddAtStop(at Pos) NodeID {
	return b.addNode(node{at: at, end: at, kind: atStop})
}

// AddVacate makes a node that removes the bytes [at, end), and the nodes in them, from their
// place. They are sent only as a Part of another node. The node comes before other nodes that
// begin at the same position.
func (b *Buffer) AddVacate(at, end Pos) NodeID {
	return b.addNode(node{at: at, end: end, kind: vacate})
}

// NodePlace returns the range [at, end) of bytes that the node replaces.
func (b *Buffer) NodePlace(id NodeID) (at, end Pos) {
	n := b.node(id)
	return n.at, n.end
}

// NodeStart returns the position of the first byte of the node's content.
func (b *Buffer) NodeStart(id NodeID) Pos { return b.spans[b.nodes[id].content.first].from }

// Content returns the bytes of the k-th span of the node's content, or nil if there is none.
func (b *Buffer) Content(id NodeID, k int) []byte {
	s := b.node(id).content.first
	for ; k > 0 && s != 0; k-- {
		s = b.spans[s].next
	}
	if s == 0 {
		return nil
	}
	return b.mem(b.spans[s].place())
}

// NodeCount returns the number of nodes made since Reset.
func (b *Buffer) NodeCount() int { return len(b.nodes) - 1 }

// SetEmpty removes the node's content: nothing is sent for the bytes that it replaces.
func (b *Buffer) SetEmpty(id NodeID) { b.setContent(id, 0, 0) }

// SetPlaced makes the bytes [from, to), from Place or AddForeign, the node's content.
func (b *Buffer) SetPlaced(id NodeID, from, to Pos) {
	s := b.addSpan(from, to)
	b.setContent(id, s, s)
}

func (b *Buffer) setContent(id NodeID, first, last uint32) {
	b.nodes[id].content = run{first, last}
	b.sealed = false
}

// AddContent adds the bytes [from, to), from Place or AddForeign, at the end of the node's
// content.
func (b *Buffer) AddContent(id NodeID, from, to Pos) {
	s := b.addSpan(from, to)
	b.link(&b.node(id).content, s)
	b.sealed = false
}

// ExtendContent makes the last span of the node's content n bytes longer. Place must have returned
// these bytes together with it.
func (b *Buffer) ExtendContent(id NodeID, n int) {
	b.span(b.node(id).content.last).to += Pos(n)
	b.sealed = false
}

// addSpan makes a span, which the caller links to a run, and returns its number.
func (b *Buffer) addSpan(from, to Pos) uint32 {
	b.spans = append(b.spans, span{from: from, to: to})
	return uint32(len(b.spans) - 1)
}

func (b *Buffer) link(r *run, s uint32) {
	if r.last == 0 {
		r.first = s
	} else {
		b.span(r.last).next = s
	}
	r.last = s
}

// AddRoot adds the bytes [from, to), from AddForeign or Place, at the end of the message.
func (b *Buffer) AddRoot(from, to Pos) {
	b.link(&b.root, b.addSpan(from, to))
	b.sealed = false
}

func (b *Buffer) run(id NodeID) *run {
	if id == 0 {
		return &b.root
	}
	return &b.node(id).content
}

// SetRoot makes the bytes [from, to), which lie in one piece, the whole message, and seals it.
func (b *Buffer) SetRoot(from, to Pos) {
	b.spans, b.pieces = b.spans[:2], b.pieces[:1]
	b.spans[1], b.pieces[0] = span{from: from, to: to}, piece{from, to}
	b.root = run{1, 1}
	b.size = int(to - from)
	b.sealed = true
}

// Slide makes [from, to) the whole message, instead of another part of the same memory, which
// began at position was. It does nothing and returns false if the message has been changed.
func (b *Buffer) Slide(was, from, to Pos) bool {
	if !b.sealed || len(b.nodes) > 1 || len(b.spans) != 2 || len(b.pieces) != 1 {
		return false
	}
	s, p := &b.spans[1], &b.pieces[0]
	if s.from != was {
		return false
	}
	s.from, s.to, p.from, p.to = from, to, from, to
	b.size = int(to - from)
	return true
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
