package engine

import (
	"io"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The entry points of parsing. Most messages are one []byte, have no options but Own, Recycle and
// Lazy, and are as their type's program (package program) foresees: Parse runs that at once. All
// others go through a parser (parser.go).

// unusual reports whether parsing b needs a parser from the beginning: all options but Own,
// Recycle and Lazy do, and a type that has no programs yet.
func unusual(d *schema.Struct, b []byte, flags Flags) bool {
	if flags&^(Own|Recycle|Lazy) != 0 || d.Programs() == nil {
		return true
	}
	return len(b) > defaultMaxBytes
}

// parse parses b into m by running the program of the type that d describes, and returns the root.
// Nothing may be unusual, see unusual. Mostly that is all that there is to do.
func (m *Message) parse(d *schema.Struct, b []byte, flags Flags) (Struct, error) {
	m.desc, m.flags, m.root = d, flags, index.First
	if p := parse.Root(&m.buf, b, flags&Recycle != 0, flags&Own != 0, &m.ix, d, flags&Lazy != 0); p != nil {
		return m.parsed(p, p.End)
	}
	return m.handle(index.First), nil
}

// parser returns the message's parser.
func (m *Message) parser() *parse.Parser {
	if m.p == nil {
		m.p, m.ix.More = parse.New(&m.ix, &m.buf, (*owner)(m)), true
	}
	return m.p
}

// resetParser returns the message's parser, reset for n bytes of the message, which it does not
// have yet.
func (m *Message) resetParser(n int) *parse.Parser {
	p := m.parser()
	p.Reset(n, parse.Settings{MaxDepth: m.limits.MaxDepth, MaxIndex: m.limits.MaxIndex, Lazy: m.flags&Lazy != 0, UTF8: m.flags&ValidUTF8 != 0})
	return p
}

// parserOf returns the message's parser, ready for the bytes b at position base.
func (m *Message) parserOf(b []byte, base uint32) *parse.Parser {
	p := m.resetParser(len(b))
	p.B, p.Base = b, base
	return p
}

// dropParser gives the message's parser up, if it has one.
func (m *Message) dropParser() {
	if m.p != nil {
		m.p.Drop()
		m.p = nil
	}
}

// parseWith is like Parse with these flags and limits, but has a parser from the beginning,
// which all options need.
func parseWith(d *schema.Struct, b []byte, flags Flags, limits Limits) (Struct, error) {
	if len(b) > limits.MaxBytes {
		return Struct{}, TooLong(d, int64(len(b)), limits.MaxBytes)
	}
	if flags&Compact != 0 {
		return newMessage(d, flags, limits).parseCompact(b)
	}
	m := takeParsed(d, flags, limits)
	return m.parseFrom(b, m.buf.Refer(b, flags&Recycle != 0, flags&Own != 0))
}

// parseFrom parses b, which is at this position, by its own index if that is asked for and fits,
// else from its beginning, unless RequireIndex was given.
func (m *Message) parseFrom(b []byte, base uint32) (Struct, error) {
	if m.flags&ByIndex != 0 && m.openByIndex(b, base) {
		return m.handle(m.root), nil
	}
	p := m.parserOf(b, base)
	if m.flags&RequireIndex != 0 {
		return m.parsed(p, p.Fail(len(b), wire.ErrIndex))
	}
	return m.parsed(p, m.indexFrom(p))
}

// TooLong returns the error of a message of n bytes that are more than most.
func TooLong(d *schema.Struct, n int64, most int) *wire.Error {
	return &wire.Error{Path: d.Name(), Err: wire.LimitError("message of " + strconv.FormatInt(n, 10) + " bytes, more than Limits.MaxBytes = " + strconv.Itoa(most))}
}

// ParseBlocks parses a message whose bytes are in several blocks, cut anywhere. Package nocopy
// documents it.
func ParseBlocks(d *schema.Struct, blocks [][]byte, opts ...Option) (Struct, error) {
	flags, limits := ConfigOf(opts)
	return parseBlocks(d, blocks, flags, limits)
}

// parseBlocks parses a message whose bytes lie in several blocks, cut anywhere, with these flags
// and limits, and returns its root.
func parseBlocks(d *schema.Struct, blocks [][]byte, flags Flags, limits Limits) (Struct, error) {
	total := int64(0) // the same block may come more than once
	for _, b := range blocks {
		total += int64(len(b))
	}
	if total > int64(limits.MaxBytes) {
		return Struct{}, TooLong(d, total, limits.MaxBytes)
	}
	n := int(total)
	m := newMessage(d, flags, limits)
	if flags&Compact != 0 {
		c := gathered(blocks, n)
		defer c.Release()
		return m.parseCompact(c.Mem)
	}
	p := m.parser()
	for _, b := range blocks {
		if len(b) > 0 {
			p.Windows = append(p.Windows, parse.Window{Chunk: chain.Chunk{Mem: b}})
		}
	}
	if len(p.Windows) > maxWindows || flags&(Lazy|ByIndex) != 0 {
		return m.parseGathered(n)
	}
	return m.parseWindows(n)
}

// Read reads a message of n bytes from r into one piece of new memory, and parses it. Package
// nocopy documents it.
func Read(d *schema.Struct, r io.Reader, n int, opts ...Option) (Struct, error) {
	if r == nil {
		panic("nocopy: Read of a nil Reader")
	}
	flags, limits := ConfigOf(opts)
	if n < 0 || n > limits.MaxBytes {
		return Struct{}, TooLong(d, int64(n), limits.MaxBytes)
	}
	m := newMessage(d, flags, limits)
	if flags&Compact != 0 {
		return m.readCompact(r, n)
	}
	at, mem, err := m.read(r, n)
	if err != nil {
		return Struct{}, err
	}
	return m.parseFrom(mem, at)
}

// read reads the n bytes of the message from r and returns them with their position. With an
// error, or if r panics, it releases the message.
func (m *Message) read(r io.Reader, n int) (at chain.Pos, mem []byte, err error) {
	done := false
	defer func() {
		if !done {
			m.Release()
		}
	}()
	if at, mem, err = m.buf.ReadN(r, n); err == nil {
		m.buf.SetRoot(at, at+uint32(n))
		done = true
	}
	return at, mem, err
}

// maxWindows is the most blocks that are parsed where they lie: each of them, and each value that
// crosses into the next one, takes positions. More are copied together.
const maxWindows = 128

// parseWindows parses the n bytes in the parser's windows where they lie, or copied together if
// they would take too many positions there.
func (m *Message) parseWindows(n int) (Struct, error) {
	p := m.parser()
	windows := p.Windows
	m.resetParser(n)
	p.Windows, p.After = windows, n
	i := p.Enter()
	if i >= 0 {
		i = m.indexFrom(p)
	}
	if i < 0 && p.Err.Err == parse.ErrScattered {
		return m.parseGathered(n)
	}
	return m.parsed(p, i)
}

// parseGathered parses the n bytes in the parser's windows after copying them together.
func (m *Message) parseGathered(n int) (Struct, error) {
	p := m.parser()
	recycle := m.flags&Recycle != 0
	c := chain.NewChunk(n, recycle)
	mem := c.Mem[:0]
	for i := range p.Windows {
		mem = append(mem, p.Windows[i].Mem...)
	}
	p.DropWindows()
	m.ix.ForgetTables()
	m.buf.Reset(recycle) // gives up the pieces
	m.ix.Used = index.First
	m.dropShadows(0)
	return m.parsePiece(c)
}

// parsePiece parses a chunk of one piece, which the message takes over.
func (m *Message) parsePiece(c chain.Chunk) (Struct, error) {
	base := m.buf.AddChunk(c)
	m.buf.SetRoot(base, base+uint32(len(c.Mem)))
	return m.parseFrom(c.Mem, base)
}

// indexFrom indexes the root, which begins at the parser's window, and returns the index after it,
// or failed.
func (m *Message) indexFrom(p *parse.Parser) int {
	m.root = index.First
	return p.Root(m.desc)
}

// parsed ends a parse. i is the index after the root, or failed: then it parses the message again
// without Lazy, if that may do with less index. It returns the root's handle or the error.
func (m *Message) parsed(p *parse.Parser, i int) (Struct, error) {
	if i >= 0 && len(p.B)-i+p.After > 0 {
		i = p.Fail(i, wire.ErrTrailing)
	}
	if i < 0 && p.Full && p.Err != nil && p.Promised > 0 {
		return m.parseEagerly(p)
	}
	if i < 0 {
		err := p.Finish(m.desc)
		if m.flags&Compact == 0 { // else these are not the bytes that were given
			b, size := p.FirstBytes()
			formats.Explain(err, b, size, m.desc)
		}
		p.B = nil
		if len(p.Windows) > 0 {
			p.DropWindows()
		}
		m.discard()
		return Struct{}, err
	}
	m.ix.Levelled = m.ix.Used
	if len(p.Windows) > 0 { // not in one piece
		p.EndWindow(i)
		p.DropWindows()
		m.Finish()
	}
	p.B = nil
	m.dropParser()
	if m.flags&WithIndex != 0 {
		m.addWireIndex()
		m.buf.Seal()
	}
	return m.handle(m.root), nil
}

// parseEagerly parses the message, which is the parser's window, from its beginning, and indexes
// everything at once. That takes less index than was promised to the values left for later.
func (m *Message) parseEagerly(p *parse.Parser) (Struct, error) {
	b, base := p.B, p.Base
	m.ix.ForgetTables()
	m.ix.Used = index.First
	m.dropShadows(0)
	m.parserOf(b, base)
	p.Lazy, p.Promised = false, 0
	return m.parsed(p, m.indexFrom(p))
}

// ParseChunk checks that a chunk of received bytes is exactly one struct of the type and
// returns its handle. The message takes the chunk over, also when parsing fails: it may store into
// it. With recycle the chunk may be of recycled memory, which goes back on Release. MaxBytes is
// chain.MaxSize if the limits have none: the caller has bounded what it received. With lazy a
// chunk of one piece is parsed as the option Lazy has it.
func ParseChunk(d *schema.Struct, c chain.Chunk, l Limits, recycle, lazy bool) (Struct, error) {
	return parseChunk(d, c, l, Own|flagIf(recycle, Recycle)|flagIf(lazy, Lazy))
}

// parseChunk checks that a chunk of received bytes is exactly one struct of the type and returns
// its handle. The message takes the chunk over, also when that fails. MaxBytes is chain.MaxSize if
// the limits have none.
func parseChunk(d *schema.Struct, c chain.Chunk, l Limits, flags Flags) (Struct, error) {
	limits := usualLimits
	if l != (Limits{}) {
		flags, limits = flags|limited, l.orElse(usualLimits)
	}
	most := chain.MaxSize
	if l.MaxBytes > 0 {
		most = limits.MaxBytes
	}
	if n := c.Len(); n > most {
		c.Release()
		return Struct{}, TooLong(d, int64(n), most)
	}
	return ParseOwn(d, c, flags, limits)
}

// ParseOwn parses a chunk of received bytes, which the message takes over, also when that fails.
// Of the flags, Lazy holds only for a chunk of one piece. In the compact protocol it is one piece.
func ParseOwn(d *schema.Struct, c chain.Chunk, flags Flags, limits Limits) (Struct, error) {
	switch {
	case flags&Compact != 0:
		defer c.Release()
		return newMessage(d, flags, limits).parseCompact(c.Mem)
	case c.Next() == nil:
		return newMessage(d, flags, limits).parsePiece(c)
	}
	return newMessage(d, flags&^Lazy, limits).parsePieces(c, c.Len())
}

// parsePieces parses a chunk of several pieces, of n bytes together, which the message takes over.
func (m *Message) parsePieces(c chain.Chunk, n int) (Struct, error) {
	m.buf.Hold(c)
	p := m.parser()
	for w := &c; w != nil; w = w.Next() {
		if len(w.Mem) > 0 {
			p.Windows = append(p.Windows, parse.Window{Chunk: *w, Held: true})
		}
	}
	if m.flags&ByIndex != 0 {
		return m.parseGathered(n)
	}
	return m.parseWindows(n)
}

// Parse checks that b is exactly one struct of the type and returns its handle. The message refers
// to b, which must not change while the message, or anything read from it, is in use. Parse and
// later changes never write to b, except with the option Own. The error is an *Error.
func Parse(d *schema.Struct, b []byte, opts ...Option) (Struct, error) {
	flags := flagsOf(opts)
	if unusual(d, b, flags) {
		flags, limits := ConfigOf(opts)
		return parseWith(d, b, flags, limits)
	}
	m := fromPool(parsedHome + pool(flags)) // and as Message.parse, without a call
	m.desc, m.flags, m.root = d, flags, index.First
	if p := parse.Root(&m.buf, b, flags&Recycle != 0, flags&Own != 0, &m.ix, d, flags&Lazy != 0); p != nil {
		return m.parsed(p, p.End)
	}
	return m.handle(index.First), nil
}
