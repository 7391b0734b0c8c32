package chain

import (
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// The open run is the one that Extend appends to. Its last span is at the tail.

// OpenRoot opens the message's run at the tail: Extend appends to it from now on. The first call
// leaves headroom bytes before it, for Prepend.
func (b *Buffer) OpenRoot(headroom int) {
	if b.root.first != 0 {
		headroom = 0
	}
	b.Close()
	b.Gap(headroom)
	b.Advance(headroom)
	b.headroom = uint32(headroom)
	b.owner = 0
	b.openSpan()
	b.sealed = false
}

// Prepend puts n bytes of the headroom before the message and returns them to be filled. It
// returns nil if the headroom is smaller.
func (b *Buffer) Prepend(n int) []byte {
	if n > int(b.headroom) {
		return nil
	}
	b.headroom -= uint32(n)
	b.sealed = false
	s := &b.spans[b.root.first]
	s.from -= Pos(n)
	return b.At(s.from)[:n]
}

// OpenContent opens the node's content at the tail: Extend appends to it from now on.
func (b *Buffer) OpenContent(id NodeID) {
	b.Close()
	b.Gap(0)
	b.owner = id
	b.openSpan()
	b.sealed = false
}

// Close ends the open run, if there is one.
func (b *Buffer) Close() {
	b.Sync()
	b.open = 0
}

// Sync updates the end of the open span, which Extend has moved.
func (b *Buffer) Sync() {
	if b.open != 0 {
		b.span(b.open).to = b.Tail()
	}
}

func (b *Buffer) openSpan() {
	b.open = b.addSpan(b.Tail(), b.Tail())
	b.link(b.run(b.owner), b.open)
}

// newTail makes a new block of at least n bytes the tail, where the open run continues.
func (b *Buffer) newTail(n int) {
	b.Sync()
	b.NewTail(n)
	b.openSpan()
}

// Extend appends n contiguous bytes, contents undefined, to the open run, and returns them with
// their position.
func (b *Buffer) Extend(n int) (Pos, []byte) {
	if p, mem, ok := b.Take(n); ok {
		return p, mem
	}
	return b.extendToEnd(n)
}

// extendToEnd is Extend for n bytes that fill the block at the tail or are too many for it.
func (b *Buffer) extendToEnd(n int) (Pos, []byte) {
	if n != b.Left() {
		b.newTail(n)
	}
	p, mem := b.Tail(), b.FreeTail()[:n]
	b.Advance(n)
	return p, mem[:n:n]
}

// Reserve makes sure that the next n bytes, at most MaxSlabSize, go into one block.
func (b *Buffer) Reserve(n int) {
	if n > b.Left() {
		b.newTail(n)
	}
}

// MakeFit makes room at the tail for a short append of n bytes: Fits(n) is true afterwards. n must
// be at most MaxShort.
func (b *Buffer) MakeFit(n int) { b.Reserve(memory.ToFit(n)) }

// AppendByte appends one byte to the open run and returns its position.
func (b *Buffer) AppendByte(v byte) Pos {
	p, mem := b.Extend(1)
	mem[0] = v
	return p
}

// AppendWithHead appends the high lead bytes of head, at most 8, then v. It returns the position
// of the first byte.
func (b *Buffer) AppendWithHead(head uint64, lead int, v string) Pos {
	if !b.Fits(len(v)) {
		return b.appendLongWithHead(head, lead, v)
	}
	p := b.Tail()
	b.AppendShort(head, lead, v)
	return p
}

// appendLongWithHead appends the high lead bytes of head, then v, of any length, and returns the
// position of the first byte.
func (b *Buffer) appendLongWithHead(head uint64, lead int, v string) Pos {
	p, mem := b.Extend(lead + len(v))
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], head)
	copy(mem, bytes[:lead])
	copy(mem[lead:], v)
	return p
}

// Grow appends n bytes, contents undefined, to the open run, contiguous with the bytes of the run
// from position from on. If they do not fit, it moves the latter to a larger block. It returns all
// bytes from from on, and their position.
func (b *Buffer) Grow(from Pos, n int) (Pos, []byte) {
	if n <= b.Left() {
		b.Advance(n)
		return from, b.Since(from)
	}
	n += len(b.Since(from))
	room := n + max(0, min(n, MaxSize-n)) // twice that would overflow 32 bits
	b.TailSize(room)
	old := b.Rewind(from)
	b.newTail(room)
	p := b.Tail()
	b.Advance(n)
	mem := b.Since(p)
	copy(mem, old)
	return p, mem
}

// Place returns n contiguous bytes at the tail, and their position. They are in no run yet. The
// open run continues after them.
func (b *Buffer) Place(n int) (Pos, []byte) {
	b.Sync()
	b.Gap(n)
	p, mem := b.Tail(), b.FreeTail()[:n:n]
	b.Advance(n)
	b.sealed = false
	if b.open == 0 {
		return p, mem
	}
	b.Advance(1)
	b.openSpan() // even if the previous one is empty: a value may begin there
	return p, mem
}

// Stitch returns n contiguous bytes that are in no run yet, like Place, but at a position higher
// than all existing ones.
func (b *Buffer) Stitch(n int) (Pos, []byte) {
	if memory.NeedsBlock(n) {
		b.sealed = false
		return b.AddBlock(n)
	}
	_, mem := b.Place(n)
	return b.AddAgain(mem), mem
}

// Ahead moves the first n bytes of d to the tail and returns their position and memory. Call
// Advance(n) next, which appends them to the open run; until then the message is unchanged. d is
// zero afterwards.
func (b *Buffer) Ahead(d *memory.Draft, n int) (Pos, []byte) {
	switch {
	case d.Zero():
	case n >= memory.AdoptFrom:
		b.Sync()
		b.AdoptTail(d)
		b.openSpan()
	default:
		b.Reserve(n)
		copy(b.FreeTail(), d.Mem()[:n])
		d.Drop()
	}
	return b.Tail(), b.FreeTail()[:n]
}
