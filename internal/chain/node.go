package chain

import "encoding/binary"

// run is a sequence of wire bytes: spans in the order in which they were added. The message is a
// run, and the content of a node is one.
type run struct{ first, last uint32 }

// span is a part of a run that is contiguous in memory: the bytes [from, to). next is the run's
// next span, 0 if there is none. The position to belongs to the span, too: no other run has it.
type span struct {
	from, to Pos
	next     uint32
}

func (s span) place() piece { return piece{s.from, s.to} }

// NodeID is the number of a node of a Buffer; 0 is none.
type NodeID = uint32

// node puts its content in the place of the bytes [at, end) of another run.
type node struct {
	at, end Pos // of kind replace, end is 0 if it is to be found by endOf
	anchor  Pos // of kind grow: where the value that it makes longer starts; see endOf
	content run
	kind    nodeKind
}

// nodeKind orders nodes at the same position: first those that make a value longer that ends
// there, then those that leave out or replace a value that begins there, last those that insert
// before a byte that ends a value: of these first those of AddAtStop, then those of AddLast.
type nodeKind uint8

const (
	grow nodeKind = iota
	vacate
	replace
	atStop
	last
)

// changedAtOnce is the text of panics where the Buffer is found to contradict itself, as it may
// after two goroutines have changed it at once.
const changedAtOnce = "nocopy: message was changed by several goroutines at once"

// StartChange notes that a change has begun which takes some time, and does not call StartChange
// again, nor functions of the program. It reports whether no other one is under way: else several
// goroutines change the message at once, mostly. EndChange must follow, also before a panic after
// which the message stays usable.
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

// noNodes are the nodes of a Buffer that has none: number 0 is unused.
var noNodes [1]node

func (b *Buffer) addNode(n node) NodeID {
	b.nodes = append(b.nodes, n)
	b.placed, b.sealed = false, false
	return NodeID(len(b.nodes) - 1)
}

// AddReplace makes a node whose content is sent in the place of the bytes [at, end). It has none
// at first.
func (b *Buffer) AddReplace(at, end Pos) NodeID {
	return b.addNode(node{at: at, end: end, kind: replace})
}

// AddReplaceText makes a node in the place of a text and the lead bytes before it; its length is
// at position at. The length, which may be far in memory from all that was used last, is not
// loaded now.
func (b *Buffer) AddReplaceText(at Pos, lead int) NodeID {
	return b.addNode(node{at: at - Pos(lead), anchor: at, kind: replace})
}

// endOf returns the position after the bytes that the node replaces.
func (b *Buffer) endOf(n *node) Pos {
	if n.end != 0 || n.kind != replace {
		return n.end
	}
	return n.anchor + textLength + binary.BigEndian.Uint32(b.At(n.anchor))
}

// AddGrow makes a node whose content is sent after a value, such as a list, that starts at anchor
// and ends at at. Where several such values end, the one that starts last is the innermost, and
// its content comes first.
func (b *Buffer) AddGrow(at, anchor Pos) NodeID {
	return b.addNode(node{at: at, end: at, anchor: anchor, kind: grow})
}

// AddAtStop makes a node whose content is sent before the byte at position at, and after
// everything that ends there.
func (b *Buffer) AddAtStop(at Pos) NodeID {
	return b.addNode(node{at: at, end: at, kind: atStop})
}

// AddLast makes a node whose content is sent before the byte at position at, after the contents of
// all AddAtStop nodes there.
func (b *Buffer) AddLast(at Pos) NodeID {
	return b.addNode(node{at: at, end: at, kind: last})
}

// MoveGrow gives a node made by AddGrow another at and anchor.
func (b *Buffer) MoveGrow(id NodeID, at, anchor Pos) {
	placed := b.unplace(id)
	n := b.node(id)
	n.at, n.end, n.anchor = at, at, anchor
	if placed {
		b.order.insert(b.placeOf(id), b.comparePlaced)
	}
	b.sealed = false
}

// NodePlace returns the bytes [at, end) that the node's content takes the place of.
func (b *Buffer) NodePlace(id NodeID) (at, end Pos) {
	n := b.node(id)
	return n.at, b.endOf(n)
}

// NodeStart returns the position of the first byte of the node's content.
func (b *Buffer) NodeStart(id NodeID) Pos { return b.spans[b.nodes[id].content.first].from }

// Content returns the bytes of the k-th part of the node's content, nil if it has no such part.
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

// ReferAgain gives a node made by AddGrow, whose content is foreign memory, another at, anchor
// and memory. It reports whether it could; if not, nothing has changed.
func (b *Buffer) ReferAgain(id NodeID, at, anchor Pos, mem []byte) bool {
	n := b.node(id)
	if n.kind != grow || n.content.first == 0 {
		return false
	}
	s := &b.spans[n.content.first]
	if !b.ReplaceForeign(s.from, mem) {
		return false
	}
	s.to = s.from + Pos(len(mem))
	b.MoveGrow(id, at, anchor)
	return true
}

// NodeCount returns how many nodes have been made since Reset.
func (b *Buffer) NodeCount() int { return len(b.nodes) - 1 }

// SetEmpty removes the node's content: nothing is sent in the place of its bytes.
func (b *Buffer) SetEmpty(id NodeID) { b.setContent(id, 0, 0) }

// SetPlaced makes the bytes [from, to), which Place or AddForeign has returned, the node's
// content.
func (b *Buffer) SetPlaced(id NodeID, from, to Pos) {
	b.spans = append(b.spans, span{from: from, to: to})
	b.crowded = b.crowded || uint32(len(b.spans)) > b.mostSpans
	s := uint32(len(b.spans) - 1)
	b.setContent(id, s, s)
}

func (b *Buffer) setContent(id NodeID, first, last uint32) {
	b.nodes[id].content = run{first, last}
	b.sealed = false
}

// AddContent adds the bytes [from, to), which Place or AddForeign has returned, at the end of the
// node's content.
func (b *Buffer) AddContent(id NodeID, from, to Pos) {
	b.spans = append(b.spans, span{from: from, to: to})
	b.link(&b.node(id).content, uint32(len(b.spans)-1))
	b.sealed = false
}

// ExtendContent makes the last part of the node's content n bytes longer, by bytes that Place has
// returned together with it.
func (b *Buffer) ExtendContent(id NodeID, n int) {
	b.span(b.node(id).content.last).to += Pos(n)
	b.sealed = false
}

func (b *Buffer) link(r *run, s uint32) {
	if r.last == 0 {
		r.first = s
	} else {
		b.span(r.last).next = s
	}
	r.last = s
}

// AddRoot adds the bytes [from, to), which AddForeign or Place has returned, at the end of the
// message.
func (b *Buffer) AddRoot(from, to Pos) {
	b.spans = append(b.spans, span{from: from, to: to})
	b.link(&b.root, uint32(len(b.spans)-1))
	b.sealed = false
}

// Mark is the end of the message at some time, see Rewind.
type Mark struct {
	root  run
	spans int
}

// Mark returns the end of the message.
func (b *Buffer) Mark() Mark { return Mark{b.root, len(b.spans)} }

// Rewind removes what AddRoot has added since Mark returned m. Nothing else may have been added
// to the message or to a node since.
func (b *Buffer) Rewind(m Mark) {
	b.root, b.spans = m.root, b.spans[:m.spans]
	b.spans[m.root.last].next = 0
	b.ownEdits()
	b.spanOrder.reset()
	b.inOrder = 0
	b.sealed = false
}

func (b *Buffer) run(id NodeID) *run {
	if id == 0 {
		return &b.root
	}
	return &b.node(id).content
}

// SetRoot makes the bytes [from, to), which AddForeign has returned, the whole message, and seals
// it.
func (b *Buffer) SetRoot(from, to Pos) {
	if cap(b.spans) < 2 || cap(b.pieces) < 1 {
		b.spans = append(make([]span, 0, 8), span{})
		b.pieces = make([]piece, 0, 8)
	}
	b.spans, b.pieces = b.spans[:2], b.pieces[:1]
	b.spans[1], b.pieces[0] = span{from: from, to: to}, piece{from, to}
	b.root = run{1, 1}
	b.size = int(to - from)
	b.placed, b.sealed = true, true
}

// OpenRoot opens the message's run at the tail: Extend appends to it from now on. The first time,
// room for headroom bytes is left before it, for Prepend.
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

// Prepend adds n bytes of headroom before the message, and returns them to be filled; nil if
// there are not as many.
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

// OpenContent opens the node's content at the tail: Extend appends to what it has from now on.
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
		b.span(b.open).to = b.tailEnd()
	}
}

func (b *Buffer) openSpan() {
	b.spans = append(b.spans, span{from: b.tailEnd(), to: b.tailEnd()})
	b.open = uint32(len(b.spans) - 1)
	b.crowded = b.crowded || uint32(len(b.spans)) > b.mostSpans
	b.link(b.run(b.owner), b.open)
}

// gap leaves one byte unused, so that no two runs share a position. It makes sure that there is
// room for n bytes at the tail, and one more, in memory that may be stored into.
func (b *Buffer) gap(n int) {
	// It has none yet, or is shared meanwhile: go on in a segment of its own
	if len(b.tail) > 0 && !b.Writable(b.tailPos) {
		b.checkRoom(len(b.tail) - b.used)
		b.tail = b.tail[b.used:]
		b.used = 0
		b.addTail()
	}
	if b.used+n+2 > len(b.tail) {
		b.newTail(n + 1)
		return
	}
	b.used++
}

// Place returns n contiguous bytes at the tail, which are in no run yet, with their position. The
// open run goes on after them.
func (b *Buffer) Place(n int) (Pos, []byte) {
	b.Sync()
	b.gap(n)
	p, mem := b.tailEnd(), b.tail[b.used:b.used+n]
	b.used += n
	b.sealed = false
	if b.open == 0 {
		return p, mem
	}
	b.used++
	b.openSpan() // also when nothing was appended to the one before: something may begin there
	return p, mem
}

// Rewrite copies a received message in one piece to the tail, with n bytes in the place of [from,
// to). It returns those, to be filled, and by how much positions before them have moved.
// Positions after them have moved by n-(to-from) more. It returns nil, and nothing has changed,
// if a node would cost less: if the message is large, has nodes, or has been rewritten often.
func (b *Buffer) Rewrite(from, to Pos, n int) (mem []byte, moved Pos) {
	// If there were values outside of the piece, stitched of two blocks, there would be more
	// segments.
	if len(b.nodes) > 1 || len(b.spans) != 2 || !b.sealed || len(b.segs) > 3 || b.headroom > 0 || b.used > 4*adopted {
		return nil, 0
	}
	root := &b.spans[1]
	size := int(root.to-root.from) + n - int(to-from)
	if size > adopted || to > root.to {
		return nil, 0
	}
	old := b.mem(root.place())
	at, own := b.Place(size)
	head := from - root.from
	copy(own, old[:head])
	copy(own[int(head)+n:], old[to-root.from:])
	moved = at - root.from
	root.from, root.to = at, at+Pos(size)
	b.pieces[0], b.size, b.sealed = root.place(), size, true
	return own[head : int(head)+n : int(head)+n], moved
}
