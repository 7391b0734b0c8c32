package chain

// Draft is memory for bytes that are written before they belong to a message. It is a block of its
// own, whose first draftLead bytes are free. Ahead makes the block the tail of a Buffer, or copies
// from it. The zero Draft stands for the free memory at the tail.
type Draft struct {
	mem   []byte
	block *Block // nil if the garbage collector owns the memory
}

const (
	// draftLead is free room before the bytes. If they begin a message, its headroom goes there.
	draftLead = 8

	// adoptFrom is the size from which on a Draft becomes the tail. Smaller ones are copied.
	adoptFrom = 16 << 10
)

// FreeTail returns the unused memory of the block at the tail.
func (b *Buffer) FreeTail() []byte { return b.tail[b.used:] }

// NewDraft returns a Draft for at least n bytes. Only b can adopt it.
func (b *Buffer) NewDraft(n int) Draft { return b.draft(max(n+draftLead, SlabSize)) }

// DraftIn returns a Draft in the caller's memory. It is never adopted: Ahead copies from it.
func DraftIn(mem []byte) Draft { return Draft{mem: mem} }

// draft returns memory of the given size.
func (b *Buffer) draft(size int) Draft {
	switch {
	case b.recycle:
		block := newBlock(size)
		return Draft{block.mem, block}
	case !debugging:
		block := newSlab(size)
		return Draft{block.mem, block}
	}
	return Draft{mem: fresh(size)}
}

// Mem returns the memory for the bytes.
func (d *Draft) Mem() []byte { return d.mem[draftLead:] }

// Drop gives the Draft's memory up. It does nothing for a zero Draft.
func (d *Draft) Drop() {
	if d.block != nil {
		d.block.release()
	}
	*d = Draft{}
}

// Ahead moves the first n bytes of d to the tail and returns their position and memory. Call
// Advance(n) next, which appends them to the open run; until then the message is unchanged. begins
// tells that the open run has no bytes yet, and that nothing refers to its position. d is zero
// afterwards.
func (b *Buffer) Ahead(d *Draft, n int, begins bool) (Pos, []byte) {
	if d.mem != nil {
		b.toTail(d, n, begins)
	}
	return b.Tail(), b.tail[b.used : b.used+n]
}

// toTail is the part of Ahead for a Draft that is not zero.
func (b *Buffer) toTail(d *Draft, n int, begins bool) {
	if n >= adoptFrom || begins {
		b.adopt(d, begins)
		return
	}
	b.Reserve(n)
	copy(b.tail[b.used:], d.Mem()[:n])
	d.Drop()
}

// Advance appends to the open run the n bytes that Ahead has returned.
func (b *Buffer) Advance(n int) { b.used += n }

// adopt makes d the tail, none of whose bytes are in use yet.
func (b *Buffer) adopt(d *Draft, begins bool) {
	b.checkRoom(len(d.mem))
	b.Sync()
	b.reserved += uint32(len(d.mem))
	b.setTail(*d)
	*d = Draft{}
	b.used = draftLead
	b.ownTail()
	if begins && b.headroom <= draftLead {
		s := b.span(b.open)
		s.from, s.to = b.Tail(), b.Tail()
		return
	}
	b.openSpan()
}

// Retract frees the last k bytes of the tail, and moves the n bytes that follow them down to their
// place.
func (b *Buffer) Retract(k, n int) {
	from := b.tail[b.used:][:n]
	b.used -= k
	copy(b.tail[b.used:], from)
}

// Zero reports whether d is zero: its bytes are in the free memory at the tail.
func (d *Draft) Zero() bool { return d.mem == nil }
