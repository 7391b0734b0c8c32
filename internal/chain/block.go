package chain

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/spare"
)

const (
	// SlabSize is the size of the garbage-collected slabs that small messages are carved from, and so
	// what a string that was read from a small message keeps alive at most: 64 KiB.
	SlabSize = 64 << 10

	// MaxSlabSize is the size that slabs grow to inside one large message: 1 MiB.
	MaxSlabSize = 1 << 20

	page      = 8 << 10 // of Go's memory
	minClass  = 12      // the smallest recycled block: 4 KiB
	maxClass  = 20      // up to 1 MiB blocks wait in pools
	mostSpare = 128 << 20
)

// Block is a piece of memory that is used again after its last holder has released it.
type Block struct {
	blockDebug
	mem  []byte
	refs atomic.Int32
	item spare.Item[*Block] // of spareBlocks, if it waits there
}

// pools holds recycled blocks by size: pools[c] those of at most 1<<c bytes, and more than half of that. What is larger, up to
// mostSpare, and what large messages are received into, is in spareBlocks.
var (
	pools       [maxClass + 1]sync.Pool
	spareBlocks spare.Pool[*Block]
)

// newBlock returns a block of at least n bytes with one reference. What it holds is left over from earlier use.
func newBlock(n int) *Block {
	c := classOf(n)
	return takeBlock(n, c, 1<<c)
}

// newSlab is newBlock for memory that may be lent and then is not used again: it is hardly larger than n.
func newSlab(n int) *Block {
	return takeBlock(n, classOf(n), (n+SlabSize-1)&^(SlabSize-1))
}

// newReceived is newBlock for what is received: a large one is hardly larger than n, and found again by whoever needs it next, however
// seldom that is.
func newReceived(n int) *Block {
	if n < SlabSize {
		return newBlock(n)
	}
	return takeSpare(n)
}

func classOf(n int) int { return max(bits.Len(uint(n-1)), minClass) }

// takeBlock is newBlock of a class. If the pool has none, it is of this size.
func takeBlock(n, c, size int) *Block {
	if c > maxClass {
		return takeSpare(n)
	}
	var b *Block
	if debugging {
		b = new(Block)
		b.mapOwn(size)
	} else if b, _ = pools[c].Get().(*Block); b == nil || len(b.mem) < n { // one that is smaller than its class: it is given up
		b = &Block{mem: fresh(size)}
	}
	b.refs.Store(1)
	return b
}

// takeSpare is newBlock of those that wait in spareBlocks.
func takeSpare(n int) *Block {
	var b *Block
	size := (n + page - 1) &^ (page - 1)
	if debugging {
		b = new(Block)
		b.mapOwn(size)
	} else if i := spareBlocks.Get(n, 2*n); i != nil {
		b = i.Value
	} else {
		b = &Block{mem: fresh(size)}
		b.item.Value, b.item.Size = b, size
	}
	b.refs.Store(1)
	return b
}

func (b *Block) retain() {
	if b.refs.Add(1) <= 1 {
		panic("nocopy: block retained after its last release")
	}
}

// release drops one reference; the last one gives the block back to its pool.
func (b *Block) release() {
	switch n := b.refs.Add(-1); {
	case n < 0:
		panic("nocopy: block released twice")
	case n == 0 && debugging:
		b.protect()
	case n == 0 && b.item.Value == nil:
		pools[bits.Len(uint(len(b.mem)-1))].Put(b)
	case n == 0 && len(b.mem) <= mostSpare:
		spareBlocks.Put(&b.item)
	}
}
