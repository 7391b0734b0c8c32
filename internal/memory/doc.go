// Package memory has the memory below package chain. It counts the holders of blocks, and its
// Receiver fills blocks from a stream. It does not know what the bytes mean. Package chain makes a
// message of them; package linkbuf, the one for users, makes other Buffers of them and checks
// everything.
//
//	sizes.go                        what is how large, and how the sizes depend on each other
//	block.go slab.go                blocks with a count of holders; slabs, which messages share
//	chunk.go receive.go read.go     received bytes, and how they come from a stream
//	gather.go                       how pieces of memory go to a connection
//	space.go segment.go tail.go     a Space: the memory of one message, its positions, its tail
//	hold.go free.go                 whom its memory belongs to, and what is kept once it is freed
//
// # Positions
//
// The memory of a [Space] has positions. A [Pos] is a segment number and an offset below 1 MiB;
// the table of segments turns it into bytes in two loads. Segment 0 is a page of zeroes. A block
// of more than 1 MiB takes several entries. Each reaches to the block's end. A contiguous value
// can therefore be read from its position on.
//
//	segment   0          1                    2                      3
//	        zeroes   [ the tail block … ]  [ memory of the      ]  [ the next tail block … ]
//	                                         caller's, foreign
//
// The tail is the block that is being filled, from front to back.
//
// # Ownership
//
//   - Slabs are the default: garbage-collected, and filled from front to back. Once aliases of a
//     slab may have escaped ([Space.Lend]), it is not used again. The aliases stay valid, and
//     each keeps at most one slab alive: [SlabSize], within a large message [MaxSlabSize].
//   - Recycled blocks (Start with recycle) come from pools and go back when the last Space that
//     holds them releases them. Aliases must not be used afterwards.
//   - Foreign memory ([Space.AddForeign]) stays the caller's. The Space refers to it, and stores
//     into it only if it was given away.
//   - Shared memory ([Space.ShareFrom]) belongs to two Spaces. Both hold it, and neither stores
//     into it any more.
//
// # States
//
// A Space is free or in use. The table of nextState says which memory a free one keeps.
//
//	from     to       by
//	free     in use   Start, Rebuild, BeginIn, ReferTo, ReferAgain
//	in use   free     Free, Forget
//
// Other facts about it, until Free or Move:
//
//	fact         since                       consequence
//	lent         Lend, by any goroutine      slabs are not used again
//	shared       ShareFrom it or Freeze,     stores go to other memory, and slabs are not used
//	             by any goroutine            again
//	changing     StartChange, until          a second StartChange fails
//	             EndChange
//	Crowded      many segments, until Mark   it may be worth compacting
package memory
