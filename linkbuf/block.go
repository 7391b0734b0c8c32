package linkbuf

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

const (
	// SlabSize is the size of the garbage-collected slabs that small messages are carved from, and so
	// what a string that was read from a small message keeps alive at most: 64 KiB.
	SlabSize = 64 << 10

	// MaxSlabSize is the size that slabs grow to inside one large message: 1 MiB.
	MaxSlabSize = 1 << 20

	minClass  = 12 // the smallest recycled block: 4 KiB
	evenClass = 24 // up to 16 MiB blocks that newBlock makes are of a power of two, beyond of whole MiB
	maxClass  = 27 // the largest one that a pool keeps: 128 MiB
)

// Block is a piece of memory that is used again after its last holder has released it.
type Block struct {
	blockDebug
	mem  []byte
	refs atomic.Int32
}

// pools holds the recycled blocks by size: pools[c] those of at most 1<<c bytes, and more than half of that.
var pools [maxClass + 1]sync.Pool

// newBlock returns a block of at least n bytes with one reference. What it holds is left over from earlier use.
func newBlock(n int) *Block {
	c := classOf(n)
	return takeBlock(n, c, blockSize(n, c))
}

// newSlab is newBlock for memory that may be lent and then is not used again: it is hardly larger than n.
func newSlab(n int) *Block {
	return takeBlock(n, classOf(n), (n+SlabSize-1)&^(SlabSize-1))
}

func classOf(n int) int { return max(bits.Len(uint(n-1)), minClass) }

// takeBlock is newBlock of a class. If the pool has none, it is of this size.
func takeBlock(n, c, size int) *Block {
	var b *Block
	switch {
	case debugging:
		b = new(Block)
		b.mapOwn(size)
	case c > maxClass:
		b = &Block{mem: fresh(size)}
	default:
		b, _ = pools[c].Get().(*Block)
		if b == nil || len(b.mem) < n { // one that is smaller than its class: it is given up
			b = &Block{mem: fresh(size)}
		}
	}
	b.refs.Store(1)
	return b
}

// blockSize returns the size of a block for n bytes, which are of class c.
func blockSize(n, c int) int {
	switch {
	case c <= evenClass:
		return 1 << c
	case c <= maxClass:
		return (n + MaxSlabSize - 1) &^ (MaxSlabSize - 1)
	}
	return n
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
	case n == 0:
		if c := bits.Len(uint(len(b.mem) - 1)); c <= maxClass {
			pools[c].Put(b)
		}
	}
}
