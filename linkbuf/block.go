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

	minClass = 12 // the smallest recycled block: 4 KiB
	maxClass = 24 // the largest one that a pool keeps: 16 MiB
)

// Block is a piece of memory that is used again after its last holder has released it.
type Block struct {
	blockDebug
	mem  []byte
	refs atomic.Int32
}

// pools holds the recycled blocks by size: pools[c] those of 1<<c bytes.
var pools [maxClass + 1]sync.Pool

// newBlock returns a block of at least n bytes with one reference. What it holds is left over from earlier use.
func newBlock(n int) *Block {
	c := max(bits.Len(uint(n-1)), minClass)
	if debugging {
		if c <= maxClass {
			n = 1 << c
		}
		b := new(Block)
		b.mapOwn(n)
		b.refs.Store(1)
		return b
	}
	if c > maxClass {
		b := &Block{mem: make([]byte, n)}
		b.refs.Store(1)
		return b
	}
	b, _ := pools[c].Get().(*Block)
	if b == nil {
		b = &Block{mem: make([]byte, 1<<c)}
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
	case n == 0:
		if c := bits.Len(uint(len(b.mem) - 1)); c <= maxClass {
			pools[c].Put(b)
		}
	}
}
