package chain

import (
	"encoding/binary"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// Batch writes several messages together, in as few writes or writevs as possible. It refers to
// the messages until they are written. The zero Batch is ready for use, by one goroutine.
type Batch struct {
	pieces []batchPiece
}

type batchPiece struct {
	mem    []byte
	copied bool // AddCopy has added it
}

// Add adds a message, which must be sealed, and neither changed nor freed until the Batch is
// written. With frame, its length comes first, as a big-endian int32.
func (t *Batch) Add(b *Buffer, frame bool) {
	lead := Pos(0)
	switch {
	case frame && b.framed:
		lead = frameHeader
	case frame:
		t.AddBytes(binary.BigEndian.AppendUint32(nil, uint32(b.size)))
	}
	for _, p := range b.pieces {
		p.from -= lead
		lead = 0
		t.AddBytes(b.mem(p))
	}
}

// AddBytes adds bytes, which must not be changed until the Batch is written.
func (t *Batch) AddBytes(mem []byte) { t.pieces = append(t.pieces, batchPiece{mem, false}) }

// AddCopy is AddBytes for bytes that are copies already: Stats does not count them as sent by
// reference.
func (t *Batch) AddCopy(mem []byte) { t.pieces = append(t.pieces, batchPiece{mem, true}) }

// Gather empties the Batch and returns its bytes in one piece. If there are several pieces, it
// copies them to the chunk. Release the chunk in any case, when the bytes are not used any more.
func (t *Batch) Gather() ([]byte, memory.Chunk) {
	if len(t.pieces) == 1 {
		mem := t.pieces[0].mem
		t.reset()
		return mem, memory.Chunk{}
	}
	c := memory.NewChunk(t.Len(), true)
	t.MoveTo(c.Mem)
	return c.Mem, c
}

// Len returns how many bytes were added and not written yet.
func (t *Batch) Len() (n int) {
	for _, p := range t.pieces {
		n += len(p.mem)
	}
	return n
}

// Write writes the Batch as Buffer.Write writes a message, and returns how. Afterwards the Batch
// is empty, even after an error.
func (t *Batch) Write(w io.Writer) (memory.Stats, error) {
	defer t.reset()
	if len(t.pieces) == 1 {
		p := t.pieces[0]
		return memory.WriteAlone(w, p.mem, p.copied)
	}
	g := memory.GathererFor(w, nil)
	defer g.Free()
	for _, p := range t.pieces {
		g.Add(p.mem, p.copied)
	}
	return g.End()
}

// MoveTo copies the bytes of the Batch to dst, which must have their length, and empties the
// Batch.
func (t *Batch) MoveTo(dst []byte) {
	for _, p := range t.pieces {
		dst = dst[memory.CopyWarm(dst, p.mem):]
	}
	t.reset()
}

func (t *Batch) reset() {
	clear(t.pieces)
	t.pieces = t.pieces[:0]
	if cap(t.pieces) > memory.MaxPieces {
		t.pieces = nil
	}
}

// AppendPieces appends the pieces of the Batch to dst, without copying their bytes, and empties
// the Batch.
func (t *Batch) AppendPieces(dst [][]byte) [][]byte {
	for _, p := range t.pieces {
		dst = append(dst, p.mem)
	}
	t.reset()
	return dst
}
