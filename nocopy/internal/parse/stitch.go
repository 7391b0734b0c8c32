package parse

import (
	"errors"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// windowState is the window of a parser, which it sees bytes through, and where it is in a message
// that is in several blocks. A window is a block, or a stitched one: contiguous copies of bytes
// from the end of one block and the beginning of others.
type windowState struct {
	B    []byte // the window
	Base uint32 // position of b[0]
	off  int    // offset in the message of b[0]

	from     int          // index in b at which the window's part of the chain begins
	Node     chain.NodeID // whose content the chain is, 0 = the message
	Windows  []Window
	next     place // the byte after the window
	After    int   // how many bytes follow the window
	stitched bool  // the window is stitched
}

// Window is a block of a message that is not in one piece. None is empty. Its memory is the
// caller's unless Received or Src is set.
type Window struct {
	chain.Chunk               // the block; if it was not received, only Mem is set
	Received    bool          // the Buffer has taken the Chunk over
	Src         *chain.Buffer // it is memory of another message,
	Pos         uint32        // and is at this position there
}

// place is a place in windowState.windows: the number of a window, and an offset in it.
type place struct{ window, off int }

// ErrScattered is the error of a parse that can't go on with the message in pieces: there are not
// enough positions for them, or a container in several of them is not of its type. The message is
// copied into one piece then and parsed again.
var ErrScattered = errors.New("nocopy: too many pieces")

// editRoom is for how many more bytes there must be positions after parsing, for edits.
const editRoom = 256 << 20

// mayUse reports whether n bytes may be given positions.
func (p *Parser) mayUse(n int) bool {
	if p.Node != 0 { // a value is being linked: there was room for it
		return true
	}
	return p.buf.Room(n + editRoom)
}

// need makes n bytes from i on contiguous, and returns their index in the window, which may be
// another one then. It returns failed, with the error noted, if the message has fewer bytes, or
// not enough positions for copies.
func (p *Parser) need(i, n int) int {
	if n <= len(p.B)-i {
		return i
	}
	return p.stitch(i, n)
}

// stitch does the work of need if the window has fewer than n bytes from i on.
func (p *Parser) stitch(i, n int) int {
	if n > len(p.B)-i+p.After {
		return p.short()
	}
	left := p.B[i:]
	p.EndWindow(i)
	if len(left) > 0 && !p.stitched { // the rest gets other positions, in a stitch
		p.buf.TakeBack(p.Base+uint32(i), p.Base+uint32(len(p.B)))
	}
	if w := p.Windows[p.next.window].Mem; len(left) == 0 && n <= len(w)-p.next.off {
		return p.nextWindow()
	}
	if !p.mayUse(n) {
		return p.Fail(i, ErrScattered)
	}
	pos, mem := p.buf.Stitch(n)
	c := copy(mem, left)
	for c < n {
		k := copy(mem[c:], p.Windows[p.next.window].Mem[p.next.off:])
		c += k
		p.advance(k)
	}
	p.B, p.Base, p.from, p.stitched = mem, pos, 0, true
	return 0
}

// short notes that the message ends before the value that the parser is at, and returns failed.
func (p *Parser) short() int { return p.Fail(len(p.B)+p.After, io.ErrUnexpectedEOF) }

// advance notes that the next k bytes, of the window that comes next, have been taken.
func (p *Parser) advance(k int) {
	p.After -= k
	p.next.off += k
	if p.next.off == len(p.Windows[p.next.window].Mem) {
		p.next = place{window: p.next.window + 1}
	}
}

// EndWindow makes the window's bytes before i part of the chain. It does so even if there are
// none, since a struct may begin at that position.
func (p *Parser) EndWindow(i int) {
	p.off += i
	if p.Node != 0 {
		p.buf.AddContent(p.Node, p.Base+uint32(p.from), p.Base+uint32(i))
	} else {
		p.buf.AddRoot(p.Base+uint32(p.from), p.Base+uint32(i))
	}
	p.from = i
}

// keepWindows bounds the windows for which memory is kept for the next message.
const keepWindows = 4 << 10

// DropWindows forgets the windows.
func (p *Parser) DropWindows() {
	clear(p.Windows)
	if p.Windows = p.Windows[:0]; cap(p.Windows) > keepWindows {
		p.Windows = nil
	}
}

// Enter goes to the first window. It returns failed if there are not enough positions for it.
func (p *Parser) Enter() int {
	if p.After == 0 {
		return 0
	}
	return p.nextWindow()
}

// nextWindow goes on to the rest of the block that comes next. It returns the index there, or
// failed.
func (p *Parser) nextWindow() int {
	w := &p.Windows[p.next.window]
	off := p.next.off
	mem := w.Mem[off:]
	if !p.mayUse(len(mem)) {
		return p.Fail(0, ErrScattered)
	}
	switch {
	case w.Received:
		p.Base = p.buf.AddPiece(w.Chunk, off)
	case w.Src == nil:
		p.Base = p.buf.AddForeign(mem, false)
	default:
		p.Base = p.buf.ShareFrom(&w.Src.Space, w.Pos+uint32(off), len(mem))
	}
	p.B, p.from, p.stitched = mem, 0, false
	p.advance(len(mem))
	return 0
}
