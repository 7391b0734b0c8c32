package linkbuf

import (
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// block is memory, or an exclusively owned part of it, with a count of its holders.
type block struct {
	chunk    memory.Chunk
	recycled bool // the chunk is from the pools
	holds    atomic.Int32
}

// hold takes over a chunk and holds it once. letGo gives that hold up.
func (c *content) hold(chunk memory.Chunk, recycled bool) *block {
	var m *block
	if k := len(c.spare) - 1; k >= 0 {
		m = c.spare[k]
		c.spare = c.spare[:k]
	} else {
		m = new(block)
	}
	m.chunk, m.recycled = chunk, recycled
	m.holds.Store(1)
	c.held = append(c.held, m)
	return m
}

// holdAgain adds a hold of memory that this or another Buffer holds.
func (c *content) holdAgain(m *block) {
	m.holds.Add(1)
	c.held = append(c.held, m)
}

const (
	// mostSpare is how many block structs a Buffer keeps for its next message.
	mostSpare = 16

	// mostKept bounds the tables that a Buffer keeps for its next message, in pieces.
	mostKept = 1024
)

// letGo gives up all holds. Memory without holders goes back to the pools. A Buffer that does not
// recycle has promised that slices of its memory stay valid: it leaves recycled memory to the
// garbage collector.
func (c *content) letGo() {
	for _, m := range c.held {
		if m.recycled && !c.recycle || m.holds.Add(-1) > 0 {
			continue
		}
		m.chunk.Release()
		m.chunk = memory.Chunk{}
		if len(c.spare) < mostSpare {
			c.spare = append(c.spare, m)
		}
	}
	clear(c.held)
	c.held = c.held[:0]
	if cap(c.held) > mostKept {
		c.held = nil
	}
}
