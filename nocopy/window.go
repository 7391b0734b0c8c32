package nocopy

import "github.com/nocopythrift/nocopythrift/linkbuf"

// window is a block of a message that is not in one piece.
type window struct {
	mem []byte
	src *linkbuf.Buffer // whose memory it is; nil: nobody's
	pos uint32          // where in src
}

// place is a place in the windows: an index and an offset.
type place struct{ window, off int }

// need makes n bytes from i on contiguous.
func (p *parser) need(i, n int) int {
	if n <= len(p.b)-i {
		return i
	}
	if n > len(p.b)-i+p.rest {
		return p.short()
	}
	left := p.b[i:]
	p.endWindow(i)
	if p.copied > 0 && i >= p.copied { // out of the stitches again
		p.next = place{p.original.window, p.original.off + i - p.copied}
		p.rest += len(left)
		left = nil
	}
	if w := p.windows[p.next.window].mem; len(left) == 0 && n <= len(w)-p.next.off {
		p.nextWindow()
		return 0
	}
	pos, mem := p.m.buf.Stitch(n)
	c := copy(mem, left)
	if p.copied -= i; p.copied < 0 || p.original.window != p.next.window { // what is left is of another block
		p.copied, p.original = c, p.next
	}
	for {
		k := copy(mem[c:], p.windows[p.next.window].mem[p.next.off:])
		c += k
		p.advance(k)
		if c == n {
			break
		}
		p.copied, p.original = c, p.next
	}
	p.b, p.base, p.from = mem, pos, 0
	return 0
}

// advance takes k bytes from the window that comes next.
func (p *parser) advance(k int) {
	p.rest -= k
	p.next.off += k
	if p.next.off == len(p.windows[p.next.window].mem) {
		p.next = place{window: p.next.window + 1}
	}
}

// endWindow makes the window's bytes before i part of the chain. None may be: then its beginning still has to have
// a place there, since a struct may begin at it.
func (p *parser) endWindow(i int) {
	p.off += i
	if p.node != 0 {
		p.m.buf.AddContent(p.node, p.base+uint32(p.from), p.base+uint32(i))
	} else {
		p.m.buf.AddRoot(p.base+uint32(p.from), p.base+uint32(i))
	}
	p.from = i
}

// enter goes to the first window.
func (p *parser) enter() {
	for len(p.b) == 0 && p.rest > 0 {
		if len(p.windows[p.next.window].mem) == 0 {
			p.next.window++
			continue
		}
		p.nextWindow()
	}
}

// nextWindow goes on to the rest of the block that comes next.
func (p *parser) nextWindow() {
	w := &p.windows[p.next.window]
	off := p.next.off
	p.b, p.from, p.copied = w.mem[off:], 0, 0
	switch {
	case w.src == nil:
		p.base = p.m.buf.AddForeign(p.b, false)
	case w.src == &p.m.buf:
		p.base = w.src.Alias(w.pos+uint32(off), len(p.b))
	default:
		p.base = p.m.buf.Share(w.src, w.pos+uint32(off), len(p.b))
	}
	p.advance(len(p.b))
}
