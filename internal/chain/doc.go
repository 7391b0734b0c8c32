// Package chain is the buffer below package nocopy: the bytes of one message, in as many pieces
// of memory as they happen to lie in, that are appended to, referred to, replaced in places, and
// written by writev. It knows nothing of what the bytes mean.
//
// Its methods are fast because they do not check what they are given: whoever calls them with a
// position or node of another message reads or stores elsewhere. Package linkbuf is for users: it
// has the same blocks and writes in the same way, and checks everything.
//
// # The memory
//
// Memory has positions. A [Pos] is a segment number and an offset below 1 MiB; the table of
// segments turns it into bytes in two loads. Segment 0 is a page of zeroes. A block of more than
// 1 MiB takes several entries, each reaching to the block's end, so that whatever is contiguous
// in memory can be read from its position on.
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
// A node's content is sent in the place of bytes of a run: of those that are replaced, or of
// none, where something is added. Making a node looks at no other. [Buffer.Seal] sorts the nodes
// by the digits of their positions and walks the runs: time is in proportion to their number.
// Nothing is ever moved, and what is replaced is not sent.
//
// Several nodes may be at one position. First come those that make a value longer that ends there
// ([Buffer.AddGrow]); of these, the one whose value begins last, at the highest anchor, comes
// first, as that value is innermost. Then come those that replace what begins there
// ([Buffer.AddReplace]); the one that replaces most comes first and hides the others. Then come
// those that insert before a byte that ends a value ([Buffer.AddAtStop]). No two runs share a
// position, ends included: a byte is left unused between them.
//
// # The tail
//
// The tail is the block that is being filled. [Buffer.Extend] appends bytes to the open run
// there, to be filled by the caller. [Buffer.Place] returns bytes that become the content of a
// node; the open run goes on after them in a new span.
//
// # Ownership
//
//   - Slabs are the default: garbage-collected, and filled from front to back. They are not used
//     again once something was handed out that may alias them ([Buffer.Lend]). What aliases them
//     stays valid for ever and keeps at most one slab alive: [SlabSize], within a large message
//     [MaxSlabSize].
//   - Recycled blocks (Reset with recycle) come from pools and go back when the last Buffer that
//     holds them releases them. What aliases them must not be used then.
//   - Foreign memory ([Buffer.AddForeign]) stays the caller's: it is referred to, and stored into
//     only if it was given away.
//   - Shared memory ([Buffer.Share]) is that of another Buffer: neither stores into it any
//     more, both hold it.
//
// # Threads
//
// A Buffer is for one goroutine while it changes. A sealed one may be read, written to
// connections, and shared from by any number of goroutines at once.
package chain
