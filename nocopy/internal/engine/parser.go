package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

var errDepth = fmt.Errorf("%w: nested deeper than Limits.MaxDepth", wire.ErrLimit)

// parser validates a message and indexes it in one pass. It sees the bytes through a contiguous
// window: the whole message if that is in one piece. Where a value crosses from one block into the
// next, both parts are stitched: copied into a piece of their own, which takes the place of the
// originals in the chain.
//
// Methods take and return an index into the window. A negative one means that the parse has
// failed, or (mismatch) that the value is not of its declared type. A method that may move the
// window may set p.b to another one.
type parser struct {
	m *Message
	windowState

	present []present // the fields of wide structs that have not ended
	spare   []present // memory for sorting them

	levels []level // of all machines under way, the outermost's first
	top    uint32
	few    [16]level

	mismatched uint32  // position of a field that turned out not to be of its type
	scan       Scanner // for values that are skipped across windows

	growth    growth
	depth     int
	maxDepth  int
	maxIndex  uint32 // words
	lazy      bool
	promised  uint64 // most words that indexing values left for later may take
	reserved  uint64 // how many of these are for values that are left without counting, see allow
	utf8      bool
	trusted   bool // the bytes were accepted before: required fields are not asked for again
	unlimited bool // the bytes were accepted before: the index has no limit
	reuse     bool // entries that are free are used again
	slow      bool // no programs are run: those take new words only, one after the other
	full      bool // the parse failed since the index would exceed its limit

	far *farTexts // of bytes that the program has written, see Draft; nil if there are none

	err  *wire.Error
	path []string // innermost first
}

const (
	failed   = -1
	mismatch = -2
)

// parseLevels is how many levels the usual parse has, which is done without a parser.
const parseLevels = 4

// parsers are the parsers that no message uses.
var parsers = sync.Pool{New: func() any {
	p := new(parser)
	p.levels = p.few[:]
	return p
}}

// parser returns the message's parser.
func (m *Message) parser() *parser {
	if m.p == nil {
		m.p, m.ix.More = parsers.Get().(*parser), true
		m.p.m = m
	}
	return m.p
}

// keepMachine is the most levels that wait for the next message.
const keepMachine = 1 << 10

// dropParser gives the message's parser up, if it has one.
func (m *Message) dropParser() {
	p := m.p
	if p == nil {
		return
	}
	m.p, p.m, p.err, p.far = nil, nil, nil, nil
	p.dropPresent()
	if len(p.levels) > keepMachine {
		p.levels = p.few[:]
	}
	parsers.Put(p)
}

// reset prepares the parser for n bytes, which are not in b yet.
func (p *parser) reset(n int) {
	m := p.m
	p.err, p.node = nil, 0
	p.off, p.from, p.copied, p.after, p.depth, p.top = 0, 0, 0, 0, 0, 0
	p.growth = growth{}
	p.windows, p.path, p.next = p.windows[:0], p.path[:0], place{}
	p.present = p.present[:0]
	p.trusted, p.unlimited, p.reuse, p.slow, p.full, p.promised = false, false, false, false, false, 0
	p.maxDepth = m.limits.MaxDepth
	p.lazy = m.flags&Lazy != 0
	p.utf8 = m.flags&ValidUTF8 != 0
	p.maxIndex = m.limits.maxIndex(n)
	if p.reserved = 0; p.lazy && m.limits.MaxIndex <= 0 {
		p.reserved = uint64(p.maxIndex - min(p.maxIndex, indexFloor/4))
		p.promised = p.reserved
	}
}

// structure indexes the struct at i into the entry e, whose words may have any contents. It
// returns the index after the struct, or failed.
func (p *parser) structure(d *schema.Struct, e uint32, i int) int {
	if p.depth++; p.depth > p.maxDepth {
		return p.fail(i, errDepth)
	}
	p.m.ix.Words[e+entry.Start] = p.base + uint32(i)
	if p.slow {
		clear(p.m.ix.Words[e+1 : e+uint32(d.Words())])
		i = p.fields(d, e, i)
		p.depth--
		return i
	}
	var s machine
	s.pc, s.entry, s.at = program.Of(d).Start, e, uint64(i)
	return p.runAll(&s, 0)
}

// value indexes the struct or container of type t that stands after lead bytes at i. It returns
// the index after it, failed or mismatch, and its entry.
func (p *parser) value(t *schema.Type, i, lead int) (int, uint32) {
	if p.slow {
		return p.slowValue(t, i, lead)
	}
	head := lead
	if t.Kind() > schema.Record {
		head += int(t.HeaderSize())
	}
	if i = p.need(i, head); i < 0 {
		return i, 0
	}
	if len(p.m.ix.Words) == 0 {
		p.m.ix.Grow(index.First, index.MaxWords)
	}
	var s machine
	s.pc, s.at = program.OfValue(t), uint64(i+lead)
	before := p.m.ix.Words[0] // no entry has this word: the program stores the value's entry in it
	end := p.runAll(&s, lead)
	word := p.m.ix.Words[0]
	p.m.ix.Words[0] = before
	return end, word
}

// allot allocates head words of the index, and per words for each of n elements, and returns the
// number of the first. Their contents are undefined. It returns 0, having failed at i, if that is
// over the limit.
func (p *parser) allot(head, n, per, i int) uint32 {
	words := uint64(head) + uint64(n)*uint64(per) // below 1<<48
	if !p.reserve(words, i) {
		return 0
	}
	e := p.m.ix.Used
	p.m.ix.Used += uint32(words)
	return e
}

// allotFor does what allot does, for the entry of a value of type t. It may return the words of a
// free entry, if the parser uses these again.
func (p *parser) allotFor(t *schema.Type, head, n, per, i int) uint32 {
	if p.reuse {
		return p.m.ix.ReuseFor(t, uint32(head+n*per))
	}
	return p.allot(head, n, per, i)
}

// reserve makes room in the index for this many more words. It returns false, having failed at i,
// if that is over the limit.
func (p *parser) reserve(words uint64, i int) bool {
	end := uint64(p.m.ix.Used) + words
	if end+p.promised > uint64(p.maxIndex) {
		p.full = true
		most := 4 * uint64(p.maxIndex)
		if given := p.m.limits.MaxIndex; given > 0 && uint64(given)/4 == uint64(p.maxIndex) {
			most = uint64(given) // which need not be a multiple of 4
		}
		p.fail(i, fmt.Errorf("%w: index of more than Limits.MaxIndex = %d bytes", wire.ErrLimit, most))
		return false
	}
	if end > uint64(len(p.m.ix.Words)) {
		p.growIndex(int(end), p.off+i, p.off+len(p.b)+p.after)
	}
	return true
}

// fail notes the error err at i, unless an error was noted before. It returns failed.
//
//go:noinline
func (p *parser) fail(i int, err error) int {
	if p.err == nil {
		p.err = &wire.Error{Offset: p.off + i, Err: err}
	}
	return failed
}

// inField adds the name of a field to the path of the failure, and returns failed.
func (p *parser) inField(name string) int {
	p.path = append(p.path, "."+name)
	return failed
}

// atElement adds the number of an element to the path of the failure, and returns failed.
func (p *parser) atElement(k int) int {
	p.path = append(p.path, "["+strconv.Itoa(k)+"]")
	return failed
}

// finish returns the error of a failed parse, with its path.
func (p *parser) finish(d *schema.Struct) *wire.Error {
	p.path = append(p.path, d.Name())
	slices.Reverse(p.path)
	p.err.Path = strings.Join(p.path, "")
	err := p.err
	if err.Err == errDepth {
		err.Err = depthError(p.maxDepth)
	}
	p.path, p.err = p.path[:0], nil
	return err
}

// firstBytes returns the first bytes of the message that the parser has failed to parse, and how
// many it has: all of them if it is in one piece.
func (p *parser) firstBytes() ([]byte, int) {
	if len(p.windows) == 0 {
		return p.b, len(p.b)
	}
	const enough = 1 << 10
	var b []byte
	size := 0
	for i := range p.windows {
		size += len(p.windows[i].Mem)
		if len(b) < enough {
			b = append(b, p.windows[i].Mem...)
		}
	}
	return b, size
}
