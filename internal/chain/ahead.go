package chain

// Writing ahead: a caller that knows all that it is about to append writes it after the bytes in
// use, at Ahead, and makes it the message's by Commit at the end. Until then the Buffer is as it
// was. If Commit is not called, or if the Buffer is changed before, nothing of it is in the
// message.

// ahead is a span that Commit makes longer: what was written in a block that became full.
type ahead struct {
	span uint32
	to   Pos
}

// Ahead returns the block at the tail, its position and how much of it is in use. The open run
// goes on there. It forgets what was written ahead and not committed.
func (b *Buffer) Ahead() (mem []byte, p Pos, used int) {
	b.aheads = b.aheads[:0]
	return b.tail, b.tailPos, b.used
}

// Unmoved reports whether p and used are still what Ahead or GrowAhead has returned.
func (b *Buffer) Unmoved(p Pos, used int) bool { return b.tailPos == p && b.used == used }

// Stamp tells states of a Buffer apart, but for values of fixed size that were stored in place.
type Stamp struct {
	tail         Pos
	used         int
	nodes, spans int
	open         uint32
}

// Stamp returns the Stamp of the state that the Buffer is in.
func (b *Buffer) Stamp() Stamp { return Stamp{b.tailPos, b.used, len(b.nodes), len(b.spans), b.open} }

// GrowAhead makes a new block of at least n bytes the tail, for what comes after the first used
// bytes of the block at the tail. It returns the same as Ahead.
func (b *Buffer) GrowAhead(used, n int) (mem []byte, p Pos, now int) {
	b.Sync()
	b.aheads = append(b.aheads, ahead{b.open, b.tailPos + Pos(used)})
	b.newTail(n)
	b.openSpan()
	return b.tail, b.tailPos, b.used
}

// Commit makes what was written ahead the message's: used bytes of the block at the tail are in
// use now.
func (b *Buffer) Commit(used int) {
	for _, a := range b.aheads {
		b.spans[a.span].to = a.to
	}
	b.aheads = b.aheads[:0]
	b.used = len(b.tail[:used])
}
