// Package chain is a chained buffer: one message's bytes, in as many pieces of memory as they happen to lie in,
// that can be appended to, referred to, replaced in places, and sent by writev. It knows nothing of what the
// bytes mean.
//
// # The memory
//
// Memory has positions. A [Pos] is a segment number and an offset below 1 MiB; the table of segments turns it into bytes in
// two loads. Segment 0 is a page of zeroes. A block of more than 1 MiB takes several entries, each reaching to the block's end,
// so that whatever is contiguous in memory can be read from its position on.
//
//	segment   0          1                    2                      3
//	        zeroes   [ the tail block … ]  [ memory of the      ]  [ the next tail block … ]
//	                                         caller's, foreign
//
// A run is a sequence of wire bytes: a chain of spans, each contiguous. The message is one run, and every node has one.
//
//	root run:  [span: positions 100–180] → [span: 300–420]
//	                         ↑ node: [140,150) is replaced by its content
//	                           [span: 200–230] → [span: 2,000,000–2,500,000, foreign]
//
// A node stands in a run in the place of bytes: of those that are replaced, or of none, where something is
// added. Making one looks at no neighbour. [Buffer.Seal] sorts the nodes by place and walks the runs: a million edits
// cost n log n in all. Nothing is ever moved, and what is replaced is not sent.
//
// At one position several nodes may stand. First come those that make longer what ends there ([Buffer.AddGrow]), the
// innermost first: the one whose beginning, its anchor, is last. Then those that replace what begins there
// ([Buffer.AddReplace]), the one that covers most first, hiding the others. Then what is put in front of a
// byte that ends something ([Buffer.AddAtStop]). No two runs share a position, ends included: a byte is left unused between them.
//
// # The tail
//
// [Buffer.Extend] appends to the open run: contiguous bytes, to be filled by the caller. [Buffer.Place] hands out bytes that
// become some node's content; the open run goes on behind them in a new span.
//
// # Ownership
//
//   - Slabs are the default: garbage-collected, carved from front to back, never used twice once something was handed out
//     that may alias them ([Buffer.Lend]). What aliases them stays valid for ever and keeps at most one slab alive: [SlabSize], inside of a large message [MaxSlabSize].
//   - Recycled blocks (Reset with recycle) come from pools and go back when the last Buffer that holds them lets go. What
//     aliases them dies then.
//   - Foreign memory ([Buffer.AddForeign]) stays the caller's: it is referred to, and stored into only if it was given away.
//   - Shared memory ([Buffer.Share]) is that of another Buffer: neither stores into it any more, both hold it.
//
// # Threads
//
// A Buffer is for one goroutine while it changes. A sealed one may be read, written to connections, and shared from by any
// number of goroutines at once.
//
// Package nocopy puts Thrift into it.
package chain
