package chain

import (
	"math"

	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// Pos is the address of a byte in one Buffer, see memory.Pos.
type Pos = memory.Pos

// Chunk is received bytes, see memory.Chunk.
type Chunk = memory.Chunk

const (
	// FirstPos is the first position of a Buffer's own.
	FirstPos = memory.FirstPos

	// MaxSize is the largest size of a message: 1 GiB.
	MaxSize = memory.MaxSize
)

// Buffer holds the bytes of one message as a chain of pieces of memory, which is its Space. Nodes
// replace parts of the message by other bytes.
//
// A Buffer must be Reset before its first use. It is for one goroutine; any number of them may
// read it (At, Len, AppendTo, WriteTo, ShareFrom it) while none changes it.
//
// Methods do not check their arguments: positions and nodes must be those of this message.
type Buffer struct {
	memory.Space

	sealed    bool
	framed    bool   // the headroom ends with the message's length
	mostSpans uint32 // above these the Buffer is Crowded
	headroom  uint32 // bytes free before the root run

	spans []span
	nodes []node
	root  run
	open  uint32 // the span at the tail that grows with Extend, 0 = none
	owner NodeID // whose run it belongs to, 0 = the root

	pieces []piece // the message in wire order, once sealed
	size   int

	*edits
	few struct { // the first entries of the tables: most messages need no more
		spans  [2]span
		pieces [1]piece
	}
}

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

// everyNode stands for any node.
const everyNode = math.MaxUint32

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

// Part is a range [From, To) of a run that is sent as a part of a node's content, not in its own
// place. The nodes in it move with it.
type Part struct{ From, To Pos }

// piece is a range of wire bytes that is contiguous in memory: [from, to).
type piece struct{ from, to Pos }

// total returns the number of bytes in the pieces.
func total(pieces []piece) (n int) {
	for _, p := range pieces {
		n += int(p.to - p.from)
	}
	return n
}

func (b *Buffer) mem(p piece) []byte {
	n := p.to - p.from
	return b.At(p.from)[:n:n]
}

// changedAtOnce is the text of panics when a Buffer contradicts itself, as it may after two
// goroutines have changed it at once.
const changedAtOnce = "nocopy: message was changed by several goroutines at once"

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

// edits is the part of a Buffer that only edited messages need. Other Buffers share noEdits, which
// is read-only: call ownEdits before storing.
type edits struct {
	order     order // of nodes
	spanOrder order // of spans, if they are many

	parts *hashmap.Map[NodeID, []Part] // of nodes that have some; nil if none has
}

var noEdits edits

// ownEdits makes edits that are the Buffer's own.
func (b *Buffer) ownEdits() {
	if b.edits == &noEdits {
		b.edits = new(edits)
	}
}
