package chain

import "github.com/nocopythrift/nocopythrift/internal/memory"

// A text of a list that is set out of order is staged until its place in the open run is known:
// at the end of the block at the tail. It has a position there, but is in no run. When the list is
// completed, AppendStaged copies its texts in order to the open run. The staged bytes are then
// unused, like the rest of the block, until the Buffer is freed.

// MayStage reports whether Stage may be called: positions are also needed for the copies.
func (b *Buffer) MayStage() bool { return b.Ample() }

// Stage takes n bytes, fewer than SlabSize, for a staged text and returns them, to be filled, with
// their position. There must be an open run.
func (b *Buffer) Stage(n int) (Pos, []byte) {
	b.Reserve(n)
	return b.TakeEnd(n)
}

// AppendStaged appends texts, given by the positions of their lengths, to the open run, and stores
// their new positions in at. Position 0 stands for an empty text. It returns how many texts it has
// appended: at least one, if there are any, but not many at once. First it loads the lengths of
// all of them, which may be anywhere in memory: the processor then waits for many at once.
func (b *Buffer) AppendStaged(at []Pos) int {
	at = at[:min(len(at), 32)]
	n := 0
	for _, p := range at {
		n += memory.TextLength + int(b.Load4(p))
	}
	to, mem := b.Extend(n)
	for i, p := range at {
		n := copy(mem, b.At(p)[:memory.TextLength+b.Load4(p)])
		at[i] = to
		to, mem = to+Pos(n), mem[n:]
	}
	return len(at)
}
