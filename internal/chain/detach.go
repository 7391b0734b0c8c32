package chain

// HoldPieces returns a chunk of pieces of memory that belong to somebody else, such as a network
// library's buffers. They may be stored into. free is called once, when nobody holds any of them
// any more: by whoever releases them last, in its goroutine. There must be at least one piece,
// and only a Buffer that recycles can take the chunk over.
func HoldPieces(pieces [][]byte, free func()) Chunk {
	b := &Block{free: free}
	b.adopted()
	b.refs.Store(int32(len(pieces)))
	c := Chunk{pieces[0], b, nil}
	for last, i := &c, 1; i < len(pieces); i++ {
		last.next = &Chunk{pieces[i], b, nil}
		last = last.next
	}
	return c
}

// ChunkOf returns a chunk of pieces of memory that the garbage collector owns. There must be at
// least one piece. They may be stored into by whoever takes the chunk over.
func ChunkOf(pieces ...[]byte) Chunk {
	c := Chunk{Mem: pieces[0]}
	for last, i := &c, 1; i < len(pieces); i++ {
		last.next = &Chunk{Mem: pieces[i]}
		last = last.next
	}
	return c
}

// Detach returns the message in pieces of memory that the garbage collector owns and nobody
// stores into. They stay as they are when the Buffer is freed or used again. Bytes of the Buffer's
// own, and all pieces of less than below bytes, are copied together; other pieces are referred
// to, as are the Buffer's own if they are long. The Buffer must be sealed and not recycle.
func (b *Buffer) Detach(below, long int) [][]byte {
	if b.recycle {
		panic("nocopy: Detach of a Buffer that recycles")
	}
	if b.size == 0 {
		return nil
	}
	copies, count := 0, 1
	for _, p := range b.pieces {
		if n := int(p.to - p.from); b.detachable(p, below, long) {
			count += 2
		} else {
			copies += n
		}
	}
	copied := make([]byte, 0, copies)
	if copies == b.size {
		return [][]byte{b.AppendTo(copied)}
	}
	out, from := make([][]byte, 0, count), 0
	for _, p := range b.pieces {
		if !b.detachable(p, below, long) {
			copied = append(copied, b.mem(p)...)
			continue
		}
		if n := len(copied); n > from {
			out, from = append(out, copied[from:n:n]), n
		}
		out = append(out, b.mem(p))
	}
	if n := len(copied); n > from {
		out = append(out, copied[from:n:n])
	}
	b.Lend()
	b.Freeze()
	return out
}

// detachable reports whether Detach refers to a piece.
func (b *Buffer) detachable(p piece, below, long int) bool {
	n := int(p.to - p.from)
	return n >= below && (n >= long || !b.isOwn(p.from))
}

// isOwn reports whether the memory at p is a slab of the Buffer's, which it can use again.
func (b *Buffer) isOwn(p Pos) bool {
	block := b.meta[p>>segBits].block
	if block == nil {
		return false
	}
	for _, s := range b.slabs {
		if s == block {
			return true
		}
	}
	return false
}
