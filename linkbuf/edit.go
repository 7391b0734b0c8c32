package linkbuf

import "slices"

// Put replaces the len(p) bytes from offset on by a copy of p, in place. If the bytes are the
// caller's, or another Buffer holds them, it works like Replace instead.
func (b *Buffer) Put(offset int, p []byte) {
	if offset < 0 || offset > b.Len()-len(p) {
		panicRange(offset, offset+len(p), b.Len())
	}
	if len(p) == 0 {
		return
	}
	c := b.c
	first, last := c.find(offset), c.find(offset+len(p)-1)
	for _, x := range c.pieces[first : last+1] {
		if x.in == nil || x.in.holds.Load() != 1 {
			b.Replace(offset, offset+len(p), p)
			return
		}
	}
	if first != last {
		p = slices.Clone(p) // it may alias a piece that is stored into before all of p is read
	}
	for _, x := range c.pieces[first : last+1] {
		n := copy(x.mem[len(x.mem)-(x.end-offset):], p)
		offset += n
		p = p[n:]
	}
}

// Replace replaces the bytes [from, to) by a copy of p, of any length. It inserts p if from equals
// to, and removes the bytes if p is empty. Its time is proportional to the number of the message's
// pieces. To change a message in many places, build another one: Share the unchanged parts and
// Write the new ones.
func (b *Buffer) Replace(from, to int, p []byte) {
	b.mustHave(from, to)
	c := b.content()
	if grown := len(p) - (to - from); grown > 0 {
		c.mustFit(grown)
	}
	// fresh replaces the pieces that [from, to) touches, or is inserted between two pieces.
	fresh := make([]piece, 0, 3)
	first, end := len(c.pieces), len(c.pieces)
	if from < c.size {
		first = c.find(from)
		end = first
		x := c.pieces[first]
		if keep := len(x.mem) - (x.end - from); keep > 0 {
			fresh = append(fresh, piece{mem: x.mem[:keep:keep], in: x.in})
			end++
		}
	}
	if len(p) > 0 {
		mem := c.room(len(p))
		copy(mem, p)
		fresh = append(fresh, piece{mem: mem, in: c.tailMem})
	}
	if first < len(c.pieces) {
		if to > from {
			end = c.find(to-1) + 1
		}
		if end > first {
			x := c.pieces[end-1]
			if keep := x.end - to; keep > 0 {
				fresh = append(fresh, piece{mem: x.mem[len(x.mem)-keep:], in: x.in})
			}
		}
	}
	c.open = false
	c.pieces = slices.Replace(c.pieces, first, end, fresh...)
	c.size = 0
	if first > 0 {
		c.size = c.pieces[first-1].end
	}
	for i := first; i < len(c.pieces); i++ {
		c.size += len(c.pieces[i].mem)
		c.pieces[i].end = c.size
	}
}
