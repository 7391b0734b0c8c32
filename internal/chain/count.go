package chain

import "sync/atomic"

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
