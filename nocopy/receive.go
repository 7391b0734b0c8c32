package nocopy

import "github.com/nocopythrift/nocopythrift/internal/chain"

// What package rpc needs of messages besides what everybody does.

// newWithRoom is like newStruct, with room for n bytes in front of the message. The options are only Recycle or none.
func newWithRoom(d *XDesc, n int, recycle bool) XStruct {
	return beginMessage(d, recycling(recycle), n)
}

// parseReceived is like parseStruct for received bytes, which the message takes over, also when it fails:
// it may store into them. With recycle the chunk may be of recycled memory, which goes back on
// Release. MaxBytes is chain.MaxSize if the limits have none: whoever received the bytes has
// bounded them.
func parseReceived(d *XDesc, c chain.Chunk, l Limits, recycle bool) (XStruct, error) {
	return parseChunk(d, c, l, Own|recycling(recycle))
}

// recycling is Recycle if it is asked for.
func recycling(yes bool) flag {
	if yes {
		return Recycle
	}
	return 0
}

func parseChunk(d *XDesc, c chain.Chunk, l Limits, flags flag) (XStruct, error) {
	limits := usualLimits
	if l != (Limits{}) {
		flags, limits = flags|limited, l.orElse(usualLimits)
	}
	most := chain.MaxSize
	if l.MaxBytes > 0 {
		most = limits.MaxBytes
	}
	n := c.Len()
	if n > most {
		c.Release()
		return XStruct{}, tooLong(d, int64(n), most)
	}
	m := newMessage(d, flags, limits)
	if c.Next() == nil {
		return m.parseChunk(c)
	}
	return m.parsePieces(c, n)
}

// parsePieces parses a chunk of several pieces, which have n bytes.
func (m *Message) parsePieces(c chain.Chunk, n int) (XStruct, error) {
	m.buf.Hold(c)
	for w := &c; w != nil; w = w.Next() {
		if len(w.Mem) > 0 {
			m.p.windows = append(m.p.windows, window{Chunk: *w, held: true})
		}
	}
	return m.parseWindows(n)
}

// prepend puts n bytes in front of the message, in the room that newWithRoom left, and returns them to be filled;
// nil if there is no such room. They belong to the wire bytes from then on.
func (m *Message) prepend(n int) []byte { return m.buf.Prepend(n) }

// addTo adds the message's wire bytes to a batch, having finished it. With frame their length comes first. The message
// must not be changed or released before the batch is written.
func (m *Message) addTo(b *chain.Batch, frame bool) {
	m.Finish()
	b.Add(&m.buf, frame)
}
