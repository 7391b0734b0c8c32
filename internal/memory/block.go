package memory

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/spare"
)

// Block is a piece of memory with a count of its holders. When the last holder releases it, it can
// be used again.
type Block struct {
	blockDebug // see debug.go
	mem        []byte
	refs       atomic.Int32
	item       spare.Item[*Block] // in spareBlocks, while the block is spare
	// owner of foreign memory, see HoldPieces; nil for memory of this package
	owner Owner
	// readOnly: storing into the memory would fault, see HoldOwned
	readOnly bool
}

// Owner owns memory that messages refer to and this package did not allocate.
type Owner interface {
	// Return takes the memory back. The goroutine that releases the memory last calls it, once.
	Return()
}

// pools holds free blocks by size: pools[c] holds blocks of more than 1<<(c-1) and at most 1<<c
// bytes. Larger blocks, and blocks that large messages are received into, are in spareBlocks.
var (
	pools       [maxClass + 1]sync.Pool
	spareBlocks spare.Pool[*Block]
)

// newBlock returns a block of at least n bytes, contents undefined, with one holder.
func newBlock(n int) *Block { return takeBlock(n, 1<<classOf(n), n > 1<<maxClass) }

// newSlab returns a block with one holder, for memory that may be lent. Lent memory is not used
// again. The block's size is n, rounded up to a multiple of SlabSize.
func newSlab(n int) *Block {
	return takeBlock(n, (n+SlabSize-1)&^(SlabSize-1), n > 1<<maxClass)
}

// newReceived returns a block of at least n bytes, with one holder, for received bytes. If n is at
// least SlabSize, the block's size is n, rounded up to a page, and the block is reused through
// spareBlocks. Blocks there survive garbage collections; blocks in pools do not.
func newReceived(n int) *Block { return takeBlock(n, 1<<classOf(n), n >= SlabSize) }

// classOf returns the index in pools of blocks for n bytes.
func classOf(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minClass) }

// takeBlock returns a block of at least n bytes from the pools or, with isSpare, from spareBlocks.
// If it finds none, it makes one: of the given size, or of n rounded up to a page for spareBlocks.
func takeBlock(n, size int, isSpare bool) *Block {
	if isSpare {
		size = (n + page - 1) &^ (page - 1)
	}
	var b *Block
	switch {
	case Debugging:
		b = new(Block)
		b.mapOwn(size)
	case isSpare:
		if i := spareBlocks.Get(n, 2*n); i != nil {
			b = i.Value
		}
	default:
		b, _ = pools[classOf(n)].Get().(*Block)
	}
	if b == nil || len(b.mem) < n { // a block of the class that is smaller than n is given up
		b = &Block{mem: fresh(size)}
		if isSpare {
			b.item.Value, b.item.Size = b, size
		}
	}
	b.refs.Store(1)
	if counting.Load() {
		taken.Add(1)
	}
	return b
}

// foreign holds Block structs for reuse. Their memory was given back to its owner.
var foreign = sync.Pool{New: func() any { return new(Block) }}

// newForeign returns a block with this many holders, for memory that belongs to owner.
func newForeign(owner Owner, holders int) *Block {
	b := foreign.Get().(*Block)
	b.adopted()
	b.owner = owner
	b.refs.Store(int32(holders))
	return b
}

// giveBack gives the memory back to its owner.
func (b *Block) giveBack() {
	owner := b.owner
	b.freed()
	if !Debugging {
		b.mem, b.owner, b.readOnly = nil, nil, false
		foreign.Put(b)
	}
	owner.Return()
}

// retain adds a holder.
func (b *Block) retain() {
	if b.refs.Add(1) <= 1 {
		panic("nocopy: block retained after its last release")
	}
}

// release removes a holder. The last one gives the block back to its pool.
func (b *Block) release() {
	n := b.refs.Add(-1)
	if n == 0 && b.owner == nil && counting.Load() {
		returned.Add(1)
	}
	switch {
	case n < 0:
		panic("nocopy: block released twice")
	case n == 0 && b.owner != nil:
		b.giveBack()
	case n == 0 && Debugging:
		b.protect()
	case n == 0 && b.item.Value == nil:
		pools[bits.Len(uint(len(b.mem)-1))].Put(b)
	case n == 0 && len(b.mem) <= mostSpare:
		spareBlocks.Put(&b.item)
	}
}

// reusable reports whether a Space that alone holds the block may begin its next message in it.
func (b *Block) reusable() bool {
	return !Debugging && b.refs.Load() == 1 && len(b.mem) <= MaxSlabSize && b.owner == nil
}

// Blocks are counted once CountBlocks has been called.
var (
	counting        atomic.Bool
	taken, returned atomic.Uint64
)

// CountBlocks makes Blocks count from now on.
func CountBlocks() { counting.Store(true) }

// Blocks returns how many blocks were taken from the pools or made, and how many were given back,
// since the first call of CountBlocks. A block that is left to the garbage collector does not
// count as given back.
func Blocks() (uint64, uint64) { return taken.Load(), returned.Load() }
