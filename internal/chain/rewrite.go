package chain

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// Receive takes over a chunk, which becomes the whole message, of an empty Buffer. The message is
// sealed if it is in one piece. Otherwise only its Len is known: AddPiece and AddRoot are to be
// called for each piece.
func (b *Buffer) Receive(c memory.Chunk) {
	n := c.Len()
	if p := b.TakeOver(c); p != 0 {
		b.SetRoot(p, p+Pos(n))
	}
	b.size = n
}

// Join empties the Buffer and makes copies of these pieces, together n bytes, the whole message,
// in one piece. The pieces may be in the Buffer.
func (b *Buffer) Join(pieces iter.Seq[[]byte], n int) {
	c := memory.NewChunk(n, b.Recycles())
	mem := c.Mem[:0]
	for p := range pieces {
		mem = append(mem, p...)
	}
	b.Reset(b.Recycles())
	b.Receive(c)
}

// Exchangeable reports whether n bytes of the caller's memory can get the positions of those that
// the node's content ends with. There must not be so many spans that the Buffer is Crowded.
func (b *Buffer) Exchangeable(id NodeID, n int) bool {
	s := b.span(b.node(id).content.last)
	return uint32(len(b.spans)) <= b.mostSpans && b.Space.Exchangeable(s.from, s.to, n)
}

// Exchange gives mem the positions of the memory that the node's content ends with, which is in no
// run any more afterwards, and returns the first one. Exchangeable must have returned true.
func (b *Buffer) Exchange(id NodeID, mem []byte) Pos {
	s := b.span(b.node(id).content.last)
	b.Space.Exchange(s.from, s.to, mem)
	return s.from
}

// Adopt replaces the foreign memory that contains p by a writable copy, if the memory is so small
// that a node would cost as much. It reports whether it did.
func (b *Buffer) Adopt(p Pos) bool {
	mem := b.Small(p)
	if mem == nil {
		return false
	}
	sealed := b.sealed
	_, own := b.Place(len(mem))
	copy(own, mem)
	b.Replace(p, own)
	b.sealed = sealed // the chain is as it was
	return true
}

// MostRewritten returns the most bytes by which Rewrite may replace [from, to). It is negative if
// a node always costs less: if the message is large, has nodes, or was rewritten often.
func (b *Buffer) MostRewritten(from, to Pos) int {
	if len(b.nodes) > 1 || len(b.spans) != 2 || !b.sealed || b.headroom > 0 || !b.InSmall() || to > b.spans[1].to {
		return -1
	}
	return memory.SmallForeign - int(b.spans[1].to-b.spans[1].from) + int(to-from)
}

// Rewrite copies a received message in one piece to the tail, with [from, to) replaced by n bytes,
// at most MostRewritten. It returns these bytes, to be filled, and the distance by which positions
// before them have moved. Positions after them have moved by n-(to-from) more.
func (b *Buffer) Rewrite(from, to Pos, n int) (mem []byte, moved Pos) {
	root := &b.spans[1]
	old := b.mem(root.place())
	head, tail := old[:from-root.from], old[to-root.from:]
	size := len(head) + n + len(tail)
	at, own := b.Place(size)
	copy(own, head)
	copy(own[len(head)+n:], tail)
	moved = at - root.from
	root.from, root.to = at, at+Pos(size)
	b.pieces[0], b.size, b.sealed = root.place(), size, true
	return own[len(head) : len(head)+n : len(head)+n], moved
}
