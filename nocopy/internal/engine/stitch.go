package engine

import (
	"errors"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// windowState is the window of a parser, which it sees bytes through, and where it is in a message
// that is in several blocks. A window is a block, or a stitched one: contiguous copies of bytes
// from the end of one block and the beginning of others.
type windowState struct {
	b    []byte // the window
	base uint32 // position of b[0]
	off  int    // offset in the message of b[0]

	from    int          // index in b at which the window's part of the chain begins
	node    chain.NodeID // whose content the chain is, 0 = the message
	windows []window
	next    place // the byte after the window
	after   int   // how many bytes follow the window
	// In a stitched window b[copied:] is a copy of the bytes at original; else copied is 0.
	copied   int
	original place
}

// window is a block of a message that is not in one piece. None is empty. Its memory is the
// caller's unless held or src is set.
type window struct {
	chain.Chunk
	held bool          // the message has taken the chunk over
	src  *chain.Buffer // the chunk is memory of another message,
	pos  uint32        // and is at this position there
}

// place is a place in windowState.windows: the number of a window, and an offset in it.
type place struct{ window, off int }

// waypoint is a place in the message that a parser may go back to.
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

// goBack makes the parser go back to w. Positions that memory was given meanwhile are not used
// again.
func (p *parser) goBack(w waypoint) {
	p.b, p.base, p.off, p.from, p.after = w.b, w.base, w.off, w.from, w.rest
	p.next, p.original, p.copied = w.next, w.original, w.copied
	p.m.buf.Rewind(w.chain)
}

// errScattered is the error of a parse that does not have enough positions for all pieces of the
// message. The message is copied into one piece then and parsed again.
var errScattered = errors.New("nocopy: too many pieces")

// editRoom is for how many more bytes there must be positions after parsing, for edits.
const editRoom = 256 << 20

// mayUse reports whether n bytes may be given positions.
func (p *parser) mayUse(n int) bool {
	if p.node != 0 { // a value is being linked: there was room for it
		return true
	}
	return p.m.buf.Room(n + editRoom)
}

// need makes n bytes from i on contiguous, and returns their index in the window, which may be
// another one then. It returns failed, with the error noted, if the message has fewer bytes, or
// not enough positions for copies.
func (p *parser) need(i, n int) int {
	if n <= len(p.b)-i {
		return i
	}
	return p.stitch(i, n)
}

// stitch does the work of need if the window has fewer than n bytes from i on.
func (p *parser) stitch(i, n int) int {
	if n > len(p.b)-i+p.after {
		return p.short()
	}
	left := p.b[i:]
	p.endWindow(i)
	if p.copied > 0 && i >= p.copied { // the rest is a copy of one block: go on in that
		p.next = place{p.original.window, p.original.off + i - p.copied}
		p.after += len(left)
		left = nil
	} else if p.copied == 0 && len(left) > 0 { // the rest gets other positions, in a stitch
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
	// mem[:c] is not a copy of bytes of the block that comes next
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

// short notes that the message ends before the value that the parser is at, and returns failed.
func (p *parser) short() int { return p.fail(len(p.b)+p.after, io.ErrUnexpectedEOF) }

// advance notes that the next k bytes, of the window that comes next, have been taken.
func (p *parser) advance(k int) {
	p.after -= k
	p.next.off += k
	if p.next.off == len(p.windows[p.next.window].Mem) {
		p.next = place{window: p.next.window + 1}
	}
}

// endWindow makes the window's bytes before i part of the chain. It does so even if there are
// none, since a struct may begin at that position.
func (p *parser) endWindow(i int) {
	p.off += i
	if p.node != 0 {
		p.m.buf.AddContent(p.node, p.base+uint32(p.from), p.base+uint32(i))
	} else {
		p.m.buf.AddRoot(p.base+uint32(p.from), p.base+uint32(i))
	}
	p.from = i
}

// keepWindows is the most windows for which memory is kept for the next message.
const keepWindows = 4 << 10

// dropWindows forgets the windows.
func (p *parser) dropWindows() {
	clear(p.windows)
	if p.windows = p.windows[:0]; cap(p.windows) > keepWindows {
		p.windows = nil
	}
}

// enter goes to the first window. It returns failed if there are not enough positions for it.
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
