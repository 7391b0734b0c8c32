package memory

// All sizes that depend on each other stand here. The assertions at the end fail to compile if a
// change breaks a relation that other code relies on.

// Slabs are garbage-collected blocks that messages share, one after the other.
const (
	// SlabSize is the size of the garbage-collected slabs in which small messages are built. A
	// string that was read from a small message keeps at most one slab alive.
	SlabSize = 64 << 10

	// MaxSlabSize is the size that slabs grow to within one large message, and that of a segment of a
	// Space. Values of that size are large to the engine: it looks for positions before it sets one.
	MaxSlabSize = 1 << 20

	// smallPart is the largest part of a shared slab that is taken at once. A message is built in
	// the rest of a shared slab if that has at least as many bytes.
	smallPart = SlabSize / 4

	// leastShared is the smallest rest of a slab that a Receiver puts back for others to use.
	leastShared = 1 << 10
)

// The tail of a Space is the block that is being filled.
const (
	// keepTail is the smallest rest of a slab in which the next message may begin.
	keepTail = 512

	// afterLarge is how much room a block for a large value has after it. Often only the byte that
	// ends the message follows, which would otherwise need another large block. It is less than
	// keepTail: otherwise a later message could be built in the rest of a large block and keep it
	// alive.
	afterLarge = 256

	// keepRewound is the largest slab that is used again from its beginning. It allows for slabs
	// of MaxSlabSize, and for a value of that size with a few bytes around it.
	keepRewound = MaxSlabSize + SlabSize

	// ownBlockFrom is the size from which on a stitched value takes a block of its own.
	ownBlockFrom = 4 << 10

	// AdoptFrom is the size from which on a Draft becomes the tail. Smaller ones are copied.
	AdoptFrom = SlabSize / 4

	// SmallForeign is the size up to which foreign memory is copied when it is edited, because a
	// node would cost as much.
	SmallForeign = 2 << 10

	// MaxShort is the largest n for which Fits can be true.
	MaxShort = 256
	// maxLead bounds the head that AppendShort appends, in bytes.
	maxLead = 8
	// TextLength is the size of a text's length, which precedes the text.
	TextLength = 4
)

// Recycled blocks come in classes: class c has the blocks of more than 1<<(c-1) and at most 1<<c
// bytes. Larger blocks are spare ones.
const (
	page      = 8 << 10   // the unit in which Go's runtime allocates large memory
	minClass  = 12        // the smallest recycled block: 4 KiB
	maxClass  = 20        // the largest block that is kept in pools: 1 MiB
	mostSpare = 128 << 20 // the largest block that is kept in spareBlocks
)

// A Receiver allocates in proportion to what has arrived.
const (
	// Claim bounds the memory that is allocated when a length has arrived, but not yet its bytes.
	Claim = 4 << 10

	// firstSlab is the size of a Receiver's first block. Blocks double until they have SlabSize.
	firstSlab = Claim

	// trust bounds the memory that is allocated for expected bytes: at most trust times the bytes
	// that have arrived, or Claim.
	trust = 32

	// large is the size from which on contiguous bytes that do not fit into the current block get
	// a block of their own, because too much of a slab would stay unused. After a chunk of that
	// size, the next one is expected to be large, too: only shortRead bytes of it are read at
	// first, since they will have to be moved.
	large     = 24 << 10
	shortRead = 4 << 10

	// restPart: the rest of an old block is used instead of a new one if it is at least 1/restPart
	// of the new one's size.
	restPart = 32
)

// Positions.
const (
	segBits = 20
	segSize = 1 << segBits
	segMask = segSize - 1

	// maxSegments keeps the top bit of positions free. Callers that store positions use it as a
	// flag.
	maxSegments = 1 << (31 - segBits)

	// MaxSize is the largest size of a message: 1 GiB. There are positions for twice as many
	// bytes, so that a message of this size can still be edited.
	MaxSize = 1 << 30

	// fewSegs is never too many segments: half a mebibyte in blocks.
	fewSegs = 6
	// manySegs is the number of segments from which on positions may run out: the rest is only
	// slightly more than a message of MaxSize takes. From there on small texts are copied, not
	// referred to, so that each further segment holds 1 MiB.
	manySegs = maxSegments - MaxSize>>segBits - moreSegs
	moreSegs = 8
	// lastSegs is the number of segments from which on no change begins that may need segments.
	// The rest is for changes that have begun; each of their parts needs one.
	lastSegs    = maxSegments - reserveSegs
	reserveSegs = 32
)

// Each line is a constant of type uint, which can't be negative: it does not compile unless the
// left side is at least the right one.
const (
	// A slab that is taken in parts has room for several parts, and is no larger than others.
	_ uint = SlabSize - 4*smallPart
	_ uint = MaxSlabSize - SlabSize
	// To be put back, a slab's rest must be larger than a message needs to begin in it, but may be
	// smaller than those that messages are built in.
	_ uint = smallPart - leastShared
	_ uint = leastShared - keepTail
	// What follows a large value in its block is not used for another message.
	_ uint = keepTail - 1 - afterLarge
	// What may be copied when it is edited fits into a part of a slab, after what it replaces.
	_ uint = smallPart - 2*SmallForeign
	// A slab of MaxSlabSize is used again with the room after a value of that size.
	_ uint = keepRewound - MaxSlabSize - afterLarge - keepTail
	// A short append fits into any tail that is kept.
	_ uint = keepTail - 1 - MaxShort - maxLead
	// A Draft that becomes the tail uses a good part of its block, which has at least SlabSize.
	_ uint = AdoptFrom - SlabSize/4
	// A slab of a recycling message is a block of the pools, and so is a Receiver's.
	_ uint = 1<<maxClass - MaxSlabSize
	_ uint = SlabSize - 1<<minClass
	_ uint = mostSpare - 1<<maxClass
	// A Receiver's first block is the smallest of the pools, and may be allocated at once.
	_ uint = 1<<minClass - firstSlab
	_ uint = Claim - firstSlab
	// Chunks with a block of their own would leave much of a slab unused, and fit into one.
	_ uint = large - SlabSize/4
	_ uint = SlabSize - large
	// What is read of a large chunk before it has its block is little of that.
	_ uint = large/4 - shortRead
	// A slab takes one segment, and the largest message half of all.
	_ uint = segSize - MaxSlabSize
	_ uint = maxSegments/2 - MaxSize>>segBits
	_ uint = lastSegs - manySegs - moreSegs
)
