package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Errors that Finish completes with the limit.
var (
	errDepth     = fmt.Errorf("%w: nested deeper than Limits.MaxDepth", wire.ErrLimit)
	errIndexSize = fmt.Errorf("%w: index of more than Limits.MaxIndex", wire.ErrLimit)
)

// Host is the message that a parser is for. It has one if it needs one.
type Host interface {
	// Parser returns the message's parser, ready for the bytes b at position base.
	Parser(b []byte, base uint32) *Parser
	// NoteIndex notes that the struct of entry e has a wire index among its unknown fields.
	NoteIndex(e uint32)
	// NoteDuplicate notes that the value of type t with this word does not count, since its field
	// comes again. It returns where the field begins and ends.
	NoteDuplicate(t wire.Type, word uint32) (at, end uint32)
	// EndByIndex returns the position after the value at position pos if the message's wire index
	// tells it, else 0. header is that of the value's field, f the field, nil if the IDL does not
	// have it. ok is false if the wire index does not fit.
	EndByIndex(pos, header uint32, f *schema.Field) (end uint32, ok bool)
}

// Settings are the options and limits of a message that affect parsing.
type Settings struct {
	MaxDepth int  // levels of structs in structs
	MaxIndex int  // Limits.MaxIndex, in bytes; 0 by default
	Lazy     bool // containers in fields are left for later. Then UTF8 and MaxIndex are zero
	UTF8     bool // strings must be UTF-8
}

// ReferredTexts is the texts that bytes refer to and do not contain. Such a text has a negative
// length.
type ReferredTexts interface {
	// Begin is called before the first text.
	Begin()
	// Word returns the word of the next text, whose length is at the beginning of b.
	Word(b []byte) uint32
}

// Parser validates a message and indexes it in one pass. It sees the bytes through a contiguous
// window: the whole message if that is in one piece. Where a value crosses from one block into the
// next, both parts are stitched: copied into a piece of their own, which takes the place of the
// originals in the chain.
//
// Methods take and return an index into the window. A negative one means that the parse has
// failed, or (mismatch) that the value is not of its declared type. A method that may move the
// window may set p.B to another one.
type Parser struct {
	x   *index.Index  // what the parser fills
	buf *chain.Buffer // has the bytes
	msg Host
	Settings
	windowState

	present []index.Present // the fields of wide structs that have not ended
	spare   []index.Present // memory for sorting them

	levels []level // of all machines under way, the outermost's first
	top    uint32
	few    [16]level

	mismatched uint32  // position of a field that turned out not to be of its type
	scan       Scanner // for values that are skipped across windows

	Growth   Growth
	depth    int
	MaxWords uint32 // what MaxIndex is, in words; with Lazy less, until values are indexed
	Trusted  bool   // the bytes were accepted before: required fields are not asked for again
	Slow     bool   // no programs are run: those take new words only, one after the other
	byIndex  bool   // the wire index of the message says where large values end, see ByIndex

	Referred ReferredTexts // of bytes that the program has written, else nil

	End  int // the index after the root of Root, or failed
	Err  *wire.Error
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
	p := new(Parser)
	p.levels = p.few[:]
	return p
}}

// New returns a parser for the index x of the message msg, whose bytes are in buf.
func New(x *index.Index, buf *chain.Buffer, msg Host) *Parser {
	p := parsers.Get().(*Parser)
	p.x, p.buf, p.msg = x, buf, msg
	return p
}

// keepMachine bounds the levels that are kept for the next message.
const keepMachine = 1 << 10

// Drop ends the use of the parser.
func (p *Parser) Drop() {
	p.x, p.buf, p.msg, p.Err, p.Referred = nil, nil, nil, nil, nil
	p.dropPresent()
	if len(p.levels) > keepMachine {
		p.levels = p.few[:]
	}
	parsers.Put(p)
}

// Reset prepares the parser for n bytes, which are not in B yet.
func (p *Parser) Reset(n int, s Settings) {
	p.Settings = s
	p.Err, p.Node = nil, 0
	p.off, p.from, p.stitched, p.After, p.depth, p.top = 0, 0, false, 0, 0, 0
	p.Growth = Growth{}
	p.Windows, p.path, p.next = p.Windows[:0], p.path[:0], place{}
	p.present = p.present[:0]
	p.Trusted, p.Slow, p.byIndex = false, false, false
	if p.MaxWords = index.Limit(p.MaxIndex, n); p.Lazy { // the rest is for the values that are left
		p.MaxWords = index.Floor / 4
	}
}

// Structure indexes the struct at i into the entry e, whose words may have any contents. It
// returns the index after the struct, or failed.
func (p *Parser) Structure(d *schema.Struct, e uint32, i int) int {
	if p.depth++; p.depth > p.MaxDepth {
		return p.Fail(i, errDepth)
	}
	p.x.SetStart(e, p.Base+uint32(i))
	if p.Slow {
		p.x.ClearWords(e+1, uint32(d.Words())-1)
		i = p.fields(d, e, i)
		p.depth--
		return i
	}
	p.depth--
	return p.Structures(d, e, 1, i)
}

// Structures indexes n structs at i, one after the other, into n entries that follow each other
// from e on. It returns the index after the structs, or failed.
func (p *Parser) Structures(d *schema.Struct, e, n uint32, i int) int {
	var s machine
	return p.structures(&s, d, e, n, i)
}

// structures is Structures by this machine.
func (p *Parser) structures(s *machine, d *schema.Struct, e, n uint32, i int) int {
	s.left = n - 1
	if p.depth++; p.depth > p.MaxDepth {
		return p.Fail(i, errDepth)
	}
	p.x.SetStart(e, p.Base+uint32(i))
	s.pc, s.entry, s.at = program.Of(d).Start, e, uint64(i)
	return p.runAll(s, 0)
}

// Prefix indexes up to n structs, which d describes, from the beginning of the window. Their
// entries follow each other from index.First on. They are nested in depth other structs. Prefix
// returns how many there are. If these are fewer than n, it has failed in the next one.
func (p *Parser) Prefix(d *schema.Struct, n uint32, depth int) (whole uint32) {
	d.Type().MustBeDefined()
	e := p.allot(0, int(n), d.Words(), 0)
	if e == 0 {
		return 0
	}
	var s machine
	p.depth = depth
	if p.structures(&s, d, e, n, 0) >= 0 {
		return n
	}
	left := s.left
	if s.top > 0 {
		left = p.levels[0].left
	}
	return n - 1 - left
}

// ByIndex indexes the struct at i into the entry e, whose words must be zero. It leaves structs
// and containers for later, and passes over those whose ends the message's wire index says. It
// returns the index after the struct, or failed. A struct in which a field comes twice fails.
func (p *Parser) ByIndex(d *schema.Struct, e uint32, i int) int {
	if p.depth++; p.depth > p.MaxDepth {
		return p.Fail(i, errDepth)
	}
	p.Lazy, p.byIndex = true, true
	p.x.SetStart(e, p.Base+uint32(i))
	return p.fields(d, e, i)
}

// endByIndex returns the index after the value at i if the wire index tells it, else 0, or failed.
// header is that of the value's field, f the field, nil if the IDL does not have it.
func (p *Parser) endByIndex(header uint32, f *schema.Field, i int) int {
	if !p.byIndex || !p.Lazy { // Lazy is off in structs that are indexed at once
		return 0
	}
	end, ok := p.msg.EndByIndex(p.Base+uint32(i), header, f)
	if !ok || end > p.Base+uint32(len(p.B)) {
		return p.Fail(i, wire.ErrIndex)
	}
	if end == 0 {
		return 0
	}
	return int(end - p.Base)
}

// Value indexes the struct or container of type t that stands after lead bytes at i. It returns
// the index after it, failed or mismatch, and its entry.
func (p *Parser) Value(t *schema.Type, i, lead int) (int, uint32) {
	if p.Slow {
		return p.slowValue(t, i, lead)
	}
	head := lead
	if t.Kind() > schema.Record {
		head += int(t.HeaderSize())
	}
	if i = p.need(i, head); i < 0 {
		return i, 0
	}
	if len(p.x.Words) == 0 {
		p.x.Grow(index.First, index.MaxWords)
	}
	var s machine
	s.pc, s.at = program.OfValue(t), uint64(i+lead)
	before := p.x.BeginValue()
	end := p.runAll(&s, lead)
	return end, p.x.EndValue(before)
}

// allot allocates head words of the index, and per words for each of n elements, and returns the
// number of the first. Their contents are undefined. It returns 0, having failed at i, if that is
// over the limit.
func (p *Parser) allot(head, n, per, i int) uint32 {
	words := uint64(head) + uint64(n)*uint64(per) // below 1<<48
	if !p.reserve(words, i) {
		return 0
	}
	e := p.x.Used
	p.x.Used += uint32(words)
	return e
}

// allotFor does what allot does, for the entry of a value of type t. It may return the words of a
// free entry, if the parser uses these again.
func (p *Parser) allotFor(t *schema.Type, head, n, per, i int) uint32 {
	if p.x.Reuses {
		return p.x.ReuseFor(t, uint32(head+n*per))
	}
	return p.allot(head, n, per, i)
}

// reserve makes room in the index for this many more words. It returns false, having failed at i,
// if that is over the limit.
func (p *Parser) reserve(words uint64, i int) bool {
	end := uint64(p.x.Used) + words
	if end > uint64(p.MaxWords) {
		p.Fail(i, errIndexSize)
		return false
	}
	if end > uint64(len(p.x.Words)) {
		p.growIndex(int(end), p.off+i, p.off+len(p.B)+p.After)
	}
	return true
}

// Fail notes the error err at i, unless an error was noted before. It returns failed.
//
//go:noinline
func (p *Parser) Fail(i int, err error) int {
	if p.Err == nil {
		p.Err = &wire.Error{Offset: p.off + i, Err: err}
	}
	return failed
}

// Full reports whether the parse has failed because the index would exceed its limit.
func (p *Parser) Full() bool { return p.Err != nil && p.Err.Err == errIndexSize }

// InField adds the name of a field to the path of the failure, and returns failed.
func (p *Parser) InField(name string) int {
	p.path = append(p.path, "."+name)
	return failed
}

// atElement adds the number of an element to the path of the failure.
func (p *Parser) atElement(k int) { p.path = append(p.path, "["+strconv.Itoa(k)+"]") }

// Finish returns the error of a failed parse, with its path.
func (p *Parser) Finish(d *schema.Struct) *wire.Error {
	p.path = append(p.path, d.Name())
	slices.Reverse(p.path)
	p.Err.Path = strings.Join(p.path, "")
	err := p.Err
	switch err.Err {
	case errDepth:
		err.Err = DepthError(p.MaxDepth)
	case errIndexSize:
		most := 4 * uint64(p.MaxWords)
		if given := p.MaxIndex; given > 0 && uint64(given)/4 == uint64(p.MaxWords) {
			most = uint64(given) // which need not be a multiple of 4
		}
		err.Err = fmt.Errorf("%w = %d bytes", errIndexSize, most)
	}
	p.path, p.Err = p.path[:0], nil
	return err
}

// FirstBytes returns the first bytes of the message that the parser has failed to parse, and how
// many it has: all of them if it is in one piece.
func (p *Parser) FirstBytes() ([]byte, int) {
	if len(p.Windows) == 0 {
		return p.B, len(p.B)
	}
	const enough = 1 << 10
	var b []byte
	size := 0
	for i := range p.Windows {
		size += len(p.Windows[i].Mem)
		if len(b) < enough {
			b = append(b, p.Windows[i].Mem...)
		}
	}
	return b, size
}

// Root indexes the root, a struct that d describes, from the beginning of the window. It returns
// the index after it, or failed.
func (p *Parser) Root(d *schema.Struct) int {
	d.Type().MustBeDefined()
	if p.allot(0, d.Words(), 1, 0) == 0 {
		return failed
	}
	return p.Structure(d, index.First, 0)
}

// Trust prepares the parser for bytes that have been checked before, and which are not in B yet.
// They are indexed at once, unless the caller sets Lazy afterwards.
func (p *Parser) Trust() {
	p.Reset(0, Settings{MaxDepth: TrustedDepth})
	p.MaxWords, p.Growth = index.MaxWords, doubling
	p.Trusted, p.Slow = true, p.x.Reuses
}

// EndTrusted ends the use of checked bytes. i is the index that the parser came to. EndTrusted
// panics if the parser failed.
func (p *Parser) EndTrusted(i int) {
	p.B, p.Referred = nil, nil
	switch {
	case i >= 0:
	case p.Full():
		panic("nocopy: message with an index of more than " + strconv.Itoa(index.MaxWords) + " words")
	default:
		panic("nocopy: internal error: bytes that were valid are not")
	}
}

// DepthError returns errDepth with the depth that would be accepted.
func DepthError(most int) error { return fmt.Errorf("%w = %d", errDepth, most) }

// keepPresent is for how many fields memory waits for the next message.
const keepPresent = 4 << 10

// dropPresent gives up memory for more fields than most messages have in structs that are nested.
func (p *Parser) dropPresent() {
	if cap(p.present) > keepPresent {
		p.present = nil
	}
	if cap(p.spare) > keepPresent {
		p.spare = nil
	}
}
