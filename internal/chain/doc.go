// Package chain is the buffer below package nocopy. It holds the bytes of one message in any
// number of pieces of memory. Bytes can be appended, referred to in place, replaced in places, and
// written by writev. They may have any meaning.
//
// Its methods are fast because they do not check their arguments: a position or node of another
// message makes them read or store elsewhere. Package linkbuf is the one for users: it has the
// same blocks, writes in the same way, and checks everything.
//
// # The memory
//
// Memory has positions. A [Pos] is a segment number and an offset below 1 MiB; the table of
// segments turns it into bytes in two loads. Segment 0 is a page of zeroes. A block of more than 1
// MiB takes several entries. Each reaches to the block's end. A contiguous value can
// therefore be read from its position on.
//
//	segment   0          1                    2                      3
//	        zeroes   [ the tail block … ]  [ memory of the      ]  [ the next tail block … ]
//	                                         caller's, foreign
//
// A run is a sequence of wire bytes: a list of spans, each contiguous in memory. The message is a
// run, and so is the content of each node.
//
//	root run:  [span: positions 100–180] → [span: 300–420]
//	                         ↑ node: [140,150) is replaced by its content
//	                           [span: 200–230] → [span: 2,000,000–2,500,000, foreign]
//
// A node's content is sent instead of some bytes of a run. These may be none: then the node
// inserts. Making a node looks at no other node. [Buffer.Seal] radix-sorts the nodes by position
// and walks the runs, in time proportional to their number. No bytes are ever moved, and replaced
// bytes are not sent.
//
// Nodes at one position have an order: (1) nodes that extend a value that ends there
// ([Buffer.AddGrow]), innermost value first: that is the one with the highest anchor; (2) nodes
// that omit or replace a value that begins there ([Buffer.AddVacate], [Buffer.AddReplace]),
// longest first, which hides the others; (3) nodes that insert before a byte that ends a value
// ([Buffer.AddAtStop]). No two runs share a position, ends included: one byte between them stays
// unused.
//
// # The tail
//
// The tail is the block that is being filled. [Buffer.Extend] appends bytes to the open run there,
// and the caller fills them. [Buffer.Place] returns bytes that become the content of a node; the
// open run continues after them in a new span.
//
// # Ownership
//
//   - Slabs are the default: garbage-collected, and filled from front to back. Once aliases of a
//     slab may have escaped ([Buffer.Lend]), it is not used again. The aliases stay valid, and
//     each keeps at most one slab alive: [SlabSize], within a large message [MaxSlabSize].
//   - Recycled blocks (Reset with recycle) come from pools and go back when the last Buffer that
//     holds them releases them. Aliases must not be used afterwards.
//   - Foreign memory ([Buffer.AddForeign]) stays the caller's. The Buffer refers to it, and stores
//     into it only if it was given away.
//   - Shared memory ([Buffer.Share]) belongs to two Buffers. Both hold it, and neither stores into
//     it any more.
//
// # States
//
// A Buffer is free, in use, or sealed. Type state tells which memory a free one keeps.
//
//	from            to       by
//	free            in use   Reset, Begin, BeginIn
//	free            sealed   Refer
//	in use          sealed   Seal, SetRoot
//	sealed          in use   all methods that change the message
//	in use, sealed  free     Free
//
// Other facts about it, until Free or Compact:
//
//	fact         since                       consequence
//	lent         Lend, by any goroutine      slabs are not used again
//	shared       Share from it or Freeze,    stores go to other memory, and slabs are not used
//	             by any goroutine            again
//	changing     StartChange, until          a second StartChange fails
//	             EndChange
//	Crowded      many segments or spans,     it may be worth compacting
//	             until Waste has looked
//
// # Threads
//
// A Buffer is for one goroutine while it changes. A sealed one may be read, written to
// connections, and shared from by any number of goroutines at once.
package chain
