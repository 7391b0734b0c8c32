package memory

import (
	"sync"
	"sync/atomic"
)

// With the tag nocopydebug, recycled memory is never used twice. Each block has pages of its own.
// They become inaccessible when its last holder releases it, and reading them faults. In other
// builds Debugging is false, and the linker leaves out what is here.

// blockDebug has the fields of a Block that only this build needs.
type blockDebug struct {
	pages     []byte
	abandoned atomic.Bool
}

var blocksInUse atomic.Int64

// mapOwn gives the block pages of its own for n bytes.
func (b *Block) mapOwn(n int) {
	b.pages = mapPages(n)
	b.mem = b.pages[:n:n]
	blocksInUse.Add(1)
}

// adopted counts a block with foreign memory.
func (b *Block) adopted() {
	if Debugging {
		blocksInUse.Add(1)
	}
}

// freed notes that the foreign memory of a block was given back.
func (b *Block) freed() {
	if Debugging {
		blocksInUse.Add(-1)
	}
}

// protect makes the pages inaccessible.
func (b *Block) protect() {
	protectPages(b.pages)
	blocksInUse.Add(-1)
	graves.bury(b.pages)
}

// abandon notes that the block will never be given back, because a Buffer that does not recycle
// held it: strings that alias it stay valid.
func (b *Block) abandon() {
	if Debugging && !b.abandoned.Swap(true) {
		blocksInUse.Add(-1)
	}
}

// BlocksInUse returns how many recycled blocks were taken and not given back. Blocks that were
// shared with a Buffer that does not recycle do not count. Builds without the tag nocopydebug
// return 0.
func BlocksInUse() int { return int(blocksInUse.Load()) }

// keepGraves is how many blocks stay inaccessible before their addresses may be used again.
const keepGraves = 4096

// graveyard keeps the addresses of the last dead blocks from being used again.
type graveyard struct {
	mu    sync.Mutex
	dead  [keepGraves][]byte
	count int
}

var graves graveyard

func (g *graveyard) bury(pages []byte) {
	g.mu.Lock()
	i := g.count % keepGraves
	oldest := g.dead[i]
	g.dead[i] = pages
	g.count++
	g.mu.Unlock()
	if oldest != nil {
		unmapPages(oldest)
	}
}
