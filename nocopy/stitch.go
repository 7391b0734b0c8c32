package nocopy

import (
	"errors"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// stitches are the bytes that a parser sees, and where they are in the message.
type stitches struct {
	b    []byte // the window
	base uint32 // position of b[0]
	off  int    // offset in the message of b[0]

	from    int          // index in b at which the window's part of the chain begins
	node    chain.NodeID // whose content the chain is, 0 = the message
	windows []window
	next    place // what follows the window
	after   int   // bytes from next on
	// In a stitched window: b[copied:] is a copy of what stands at original.
	copied   int
	original place
}

// window is a block of a message that is not in one piece. None is empty.
type window struct {
	chain.Chunk               // its memory: foreign, or
	held        bool          // the message's, which holds it, or
	src         *chain.Buffer // that of another message,
	pos         uint32        // at this position there
}

// place is a place in the windows: an index and an offset.
type place struct{ window, off int }

// waypoint is where a parser has been, to go back there.
type waypoint struct {
	b               []byte
	base            uint32
	off, from, rest int
	next, original  place
	copied          int
	chain           chain.Mark
}

// waypoint returns where the parser is.
func (p *parser) waypoint() waypoint {
	return waypoint{p.b, p.base, p.off, p.from, p.after, p.next, p.original, p.copied, p.m.buf.Mark()}
}

// goBack returns to where the parser has been. Positions that were given meanwhile are not given
// again.
func (p *parser) goBack(w waypoint) {
	p.b, p.base, p.off, p.from, p.after = w.b, w.base, w.off, w.from, w.rest
	p.next, p.original, p.copied = w.next, w.original, w.copied
	p.m.buf.Rewind(w.chain)
}

// errScattered is the failure of a message for whose pieces there are not enough positions: it is
// to be copied together.
var errScattered = errors.New("nocopy: too many pieces")

// editRoom is for how many bytes more there must be positions, so that the message can be edited.
const editRoom = 256 << 20

// mayUse reports whether n bytes may be given positions.
func (p *parser) mayUse(n int) bool {
	if p.node != 0 { // linking has seen to it
		return true
	}
	return p.m.buf.Room(n + editRoom)
}

// need makes n bytes from i on contiguous, and returns their index in the window, which may be
// another one then; -1, with the error noted, if the message has fewer or may not be copied.
func (p *parser) need(i, n int) int {
	if n <= len(p.b)-i {
		return i
	}
	return p.stitch(i, n)
}

// stitch does what need does where the window ends before the n bytes do.
func (p *parser) stitch(i, n int) int {
	if n > len(p.b)-i+p.after {
		return p.short()
	}
	left := p.b[i:]
	p.endWindow(i)
	if p.copied > 0 && i >= p.copied { // out of the stitches again
		p.next = place{p.original.window, p.original.off + i - p.copied}
		p.after += len(left)
		left = nil
	} else if p.copied == 0 && len(left) > 0 { // they are given others
		p.m.buf.TakeBack(p.base+uint32(i), p.base+uint32(len(p.b)))
	}
	if w := p.windows[p.next.window].Mem; len(left) == 0 && n <= len(w)-p.next.off {
		return p.nextWindow()
	}
	if !p.mayUse(n) {
		return p.fail(i, errScattered)
	}
	pos, mem := p.m.buf.Stitch(n)
	c := copy(mem, left)
	// What is left is of another block
	if p.copied -= i; p.copied < 0 || p.original.window != p.next.window {
		p.copied, p.original = c, p.next
	}
	for {
		k := copy(mem[c:], p.windows[p.next.window].Mem[p.next.off:])
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

// short is the failure of a message that ends before the value at i does.
func (p *parser) short() int { return p.fail(len(p.b)+p.after, io.ErrUnexpectedEOF) }

// advance takes k bytes from the window that comes next.
func (p *parser) advance(k int) {
	p.after -= k
	p.next.off += k
	if p.next.off == len(p.windows[p.next.window].Mem) {
		p.next = place{window: p.next.window + 1}
	}
}

// endWindow makes the window's bytes before i part of the chain. None may be: then its beginning
// still has to have a place there, since a struct may begin at it.
func (p *parser) endWindow(i int) {
	p.off += i
	if p.node != 0 {
		p.m.buf.AddContent(p.node, p.base+uint32(p.from), p.base+uint32(i))
	} else {
		p.m.buf.AddRoot(p.base+uint32(p.from), p.base+uint32(i))
	}
	p.from = i
}

// keepWindows is for how many windows memory waits for the next message.
const keepWindows = 4 << 10

// dropWindows forgets the windows.
func (p *parser) dropWindows() {
	clear(p.windows)
	if p.windows = p.windows[:0]; cap(p.windows) > keepWindows {
		p.windows = nil
	}
}

// enter goes to the first window. It returns failed if there is no room for it.
func (p *parser) enter() int {
	if p.after == 0 {
		return 0
	}
	return p.nextWindow()
}

// nextWindow goes on to the rest of the block that comes next. It returns the index there, or
// failed.
func (p *parser) nextWindow() int {
	w := &p.windows[p.next.window]
	off := p.next.off
	mem := w.Mem[off:]
	if !p.mayUse(len(mem)) {
		return p.fail(0, errScattered)
	}
	switch {
	case w.held:
		p.base = p.m.buf.AddHeld(w.Chunk, off)
	case w.src == nil:
		p.base = p.m.buf.AddForeign(mem, false)
	default:
		p.base = p.m.buf.Share(w.src, w.pos+uint32(off), len(mem))
	}
	p.b, p.from, p.copied = mem, 0, 0
	p.advance(len(mem))
	return 0
}
