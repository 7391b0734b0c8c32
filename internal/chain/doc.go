// Package chain is the buffer below package nocopy. It holds the bytes of one message in any
// number of pieces of memory. Bytes can be appended, referred to in place, replaced in places, and
// written by writev. They may have any meaning.
//
// Its methods are fast because they do not check their arguments: a position or node of another
// message makes them read or store elsewhere. Package linkbuf is the one for users: it has the
// same blocks, of package memory, writes in the same way, and checks everything.
//
// # Runs and nodes
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
// # States
//
// A Buffer is free, in use, or sealed. Its memory and positions are those of a memory.Space, whose
// documentation says whom memory belongs to and what a free one keeps.
//
//	from            to       by
//	free            in use   Reset, Begin, BeginIn
//	free            sealed   Refer, Receive of one piece
//	in use          sealed   Seal, SetRoot
//	sealed          in use   all methods that change the message
//	in use, sealed  free     Free
//
// # Reading order
//
//	buffer.go radix.go order.go     what a Buffer is; nodes and spans in order
//	node.go find.go append.go       nodes and spans; where they are; the open run at the tail
//	walk.go seal.go range.go        the wire bytes of the message and of its parts
//	reset.go rewrite.go compact.go  the beginning and the end; changes that need no node
//	write.go batch.go               writing
//
// # Threads
//
// A Buffer is for one goroutine while it changes. A sealed one may be read, written to
// connections, and shared from by any number of goroutines at once.
package chain
