package chain

// run is a sequence of wire bytes: a list of spans, in the order in which they were added. The
// message is a run, and so is the content of each node.
type run struct{ first, last uint32 }

// span is a part of a run that is contiguous in memory: the bytes [from, to). next is the run's
// next span, or 0. The position to belongs to the span, too; no other run uses it.
type span struct {
	from, to Pos
	next     uint32
}

func (s span) place() piece { return piece{s.from, s.to} }

// NodeID is the number of a node of a Buffer; 0 means no node.
type NodeID = uint32

// node replaces the bytes [at, end) of another run by its content.
type node struct {
	at, end Pos
	anchor  Pos // where the value starts that a node of kind grow extends; else 0
	content run
	kind    nodeKind
}

// nodeKind orders nodes at the same position: (1) nodes that extend a value that ends there; (2)
// nodes that omit or replace a value that begins there; (3) nodes that insert before a byte that
// ends a value.
type nodeKind uint8

const (
	grow nodeKind = iota
	vacate
	replace
	atStop
)

// changedAtOnce is the text of panics when a Buffer contradicts itself, as it may after two
// goroutines have changed it at once.
const changedAtOnce = "nocopy: message was changed by several goroutines at once"

// StartChange notes the beginning of a change that takes some time. It returns false if another
// change is under way; the usual cause is several goroutines that change the message at once. The
// change must not call StartChange again, nor functions of the program. Call EndChange at its end,
// also before a panic that leaves the message usable.
func (b *Buffer) StartChange() bool {
	if b.changing {
		return false
	}
	b.changing = true
	return true
}

// EndChange notes that the change has ended.
func (b *Buffer) EndChange() { b.changing = false }

// span returns span i.
func (b *Buffer) span(i uint32) *span {
	if uint(i) >= uint(len(b.spans)) {
		panic(changedAtOnce)
	}
	return &b.spans[i]
}

// node returns the node with this number.
func (b *Buffer) node(id NodeID) *node {
	if uint(id) >= uint(len(b.nodes)) {
		panic(changedAtOnce)
	}
	return &b.nodes[id]
}

// noNodes is the node table of a Buffer without nodes: number 0 is unused.
var noNodes [1]node

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

// SetRoot makes the bytes [from, to), from AddForeign, the whole message, and seals it.
func (b *Buffer) SetRoot(from, to Pos) {
	if cap(b.spans) < 2 || cap(b.pieces) < 1 {
		b.spans = append(make([]span, 0, 8), span{})
		b.pieces = make([]piece, 0, 8)
	}
	b.spans, b.pieces = b.spans[:2], b.pieces[:1]
	b.spans[1], b.pieces[0] = span{from: from, to: to}, piece{from, to}
	b.root = run{1, 1}
	b.size = int(to - from)
	b.sealed = true
}

// OpenRoot opens the message's run at the tail: Extend appends to it from now on. The first call
// leaves headroom bytes before it, for Prepend.
func (b *Buffer) OpenRoot(headroom int) {
	if b.root.first != 0 {
		headroom = 0
	}
	b.Close()
	b.gap(headroom)
	b.used += headroom
	b.headroom = uint32(headroom)
	b.owner = 0
	b.openSpan()
	b.sealed = false
}

// Prepend puts n bytes of the headroom before the message and returns them to be filled. It
// returns nil if the headroom is smaller.
func (b *Buffer) Prepend(n int) []byte {
	if n > int(b.headroom) {
		return nil
	}
	b.headroom -= uint32(n)
	b.sealed = false
	s := &b.spans[b.root.first]
	s.from -= Pos(n)
	return b.At(s.from)[:n]
}

// OpenContent opens the node's content at the tail: Extend appends to it from now on.
func (b *Buffer) OpenContent(id NodeID) {
	b.Close()
	b.gap(0)
	b.owner = id
	b.openSpan()
	b.sealed = false
}

// Close ends the open run, if there is one.
func (b *Buffer) Close() {
	b.Sync()
	b.open = 0
}

// Sync updates the end of the open span, which Extend has moved.
func (b *Buffer) Sync() {
	if b.open != 0 {
		b.span(b.open).to = b.Tail()
	}
}

func (b *Buffer) openSpan() {
	b.open = b.addSpan(b.Tail(), b.Tail())
	b.link(b.run(b.owner), b.open)
}

// gap leaves one byte unused, because no two runs may share a position. It makes sure that the
// tail has writable room for n+1 bytes.
func (b *Buffer) gap(n int) {
	// The tail has no segment yet, or was shared in the meantime: continue in a new segment
	if len(b.tail) > 0 && !b.Writable(b.tailPos) {
		b.checkRoom(len(b.tail) - b.used)
		b.tail = b.tail[b.used:]
		b.used = 0
		b.addTail()
	}
	if b.used+n+2 > len(b.tail) {
		b.newTail(n + 2)
	}
	b.used++
}

// Place returns n contiguous bytes at the tail, and their position. They are in no run yet. The
// open run continues after them.
func (b *Buffer) Place(n int) (Pos, []byte) {
	b.Sync()
	b.gap(n)
	p, mem := b.Tail(), b.tail[b.used:b.used+n:b.used+n]
	b.used += n
	b.sealed = false
	if b.open == 0 {
		return p, mem
	}
	b.used++
	b.openSpan() // even if the previous one is empty: a value may begin there
	return p, mem
}

// MostRewritten returns the most bytes by which Rewrite may replace [from, to). It is negative if
// a node always costs less: if the message is large, has nodes, or was rewritten often.
func (b *Buffer) MostRewritten(from, to Pos) int {
	// Values that were stitched of two blocks, outside the piece, would have added segments.
	if len(b.nodes) > 1 || len(b.spans) != 2 || !b.sealed || len(b.segs) > 3 || b.headroom > 0 || b.used > 4*adopted || to > b.spans[1].to {
		return -1
	}
	return adopted - int(b.spans[1].to-b.spans[1].from) + int(to-from)
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
