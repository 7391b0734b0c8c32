package chain

// Draft is memory for bytes that are written before they belong to a message. It is a block of its
// own. Ahead makes the block the tail of a Buffer, or copies from it. The zero Draft stands for
// the free memory at the tail.
type Draft struct {
	mem   []byte
	block *Block // nil if the garbage collector owns the memory
}

// adoptFrom is the size from which on a Draft becomes the tail. Smaller ones are copied.
const adoptFrom = 16 << 10

// FreeTail returns the unused memory of the block at the tail.
func (b *Buffer) FreeTail() []byte { return b.tail[b.used:] }

// NewDraft returns a Draft for at least n bytes. Only b can adopt it.
func (b *Buffer) NewDraft(n int) Draft { return b.draft(max(n, SlabSize)) }

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
func (d *Draft) Mem() []byte { return d.mem }

// Drop gives the Draft's memory up. It does nothing for a zero Draft.
func (d *Draft) Drop() {
	if d.block != nil {
		d.block.release()
	}
	*d = Draft{}
}

// Ahead moves the first n bytes of d to the tail and returns their position and memory. Call
// Advance(n) next, which appends them to the open run; until then the message is unchanged. d is
// zero afterwards.
func (b *Buffer) Ahead(d *Draft, n int) (Pos, []byte) {
	switch {
	case d.mem == nil:
	case n >= adoptFrom:
		b.adopt(d)
	default:
		b.Reserve(n)
		copy(b.tail[b.used:], d.mem[:n])
		d.Drop()
	}
	return b.Tail(), b.tail[b.used : b.used+n]
}

// Advance appends to the open run the n bytes that Ahead has returned.
func (b *Buffer) Advance(n int) { b.used += n }

// adopt makes d the tail, none of whose bytes are in use yet.
func (b *Buffer) adopt(d *Draft) {
	b.checkRoom(len(d.mem))
	b.Sync()
	b.reserved += uint32(len(d.mem))
	b.setTail(*d)
	*d = Draft{}
	b.used = 0
	b.ownTail()
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
