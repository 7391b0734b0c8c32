package engine

import (
	"errors"
	"io"
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// The entry points of parsing. Most messages are one []byte, have no options but Own, Recycle and
// Lazy, and are as their type's program (package program) foresees: Parse runs that at once. All
// others go through a Parser of package parse.

// Parse checks that b is exactly one struct of the type and returns its handle. The message refers
// to b, which must not change while the message, or anything read from it, is in use. Parse and
// later changes never write to b, except with the option Own. The error is an *Error.
func Parse(d *schema.Struct, b []byte, opts ...Option) (Struct, error) {
	return ParseIn(d, b, opts, nil)
}

// ParseInto parses b, a struct that d describes, into m, a message of the program, and
// returns its root. The previous contents of m end.
func ParseInto(d *schema.Struct, m *Message, b []byte, opts []Option) (Struct, error) {
	m.Reset()
	return ParseIn(d, b, opts, m)
}

// ParseIn parses b, a struct that d describes, into m, or into a message from the pool if m is
// nil.
func ParseIn(d *schema.Struct, b []byte, opts []Option, m *Message) (Struct, error) {
	flags := flagsOf(opts)
	if flags&^(Own|Recycle|Lazy) != 0 || len(b) > wire.DefaultMaxBytes || d.Programs() == nil {
		flags, limits := ConfigOf(opts)
		return parseWith(m, d, b, flags, limits)
	}
	if m == nil {
		m = fromPool(parsedHome + pool(flags))
	}
	m.desc, m.flags, m.root = d, flags, index.First
	if p := parse.Root(&m.buf, b, flags&Recycle != 0, flags&Own != 0, &m.ix, d, flags&Lazy != 0); p != nil {
		return m.parsed(p, p.End)
	}
	return m.handle(index.First), nil
}

// parseWith is ParseIn with any flags and limits. It has a parser from the beginning.
func parseWith(m *Message, d *schema.Struct, b []byte, flags Flags, limits Limits) (Struct, error) {
	if len(b) > limits.MaxBytes {
		return Struct{}, TooLong(d, int64(len(b)), limits.MaxBytes)
	}
	m = expecting(m, d, flags, limits)
	m.buf.Refer(b, flags&Recycle != 0, flags&Own != 0)
	return m.parseWhole()
}

// parseWhole parses the message, which is in one piece, in the protocol that its flags say.
func (m *Message) parseWhole() (Struct, error) {
	if m.flags&Compact != 0 {
		return m.parseCompact()
	}
	return m.parseBinary()
}

// OpenIndexed parses a message with the option ByIndex. Package nocopy documents it.
func OpenIndexed(d *schema.Struct, b []byte, opts ...Option) (Struct, error) {
	flags, limits := ConfigOf(opts)
	return parseWith(nil, d, b, (flags | ByIndex).settled(limits), limits)
}

// ParseBlocks parses a message whose bytes are in several blocks, cut anywhere. Package nocopy
// documents it.
func ParseBlocks(d *schema.Struct, blocks [][]byte, opts ...Option) (Struct, error) {
	flags, limits := ConfigOf(opts)
	total := int64(0) // the same block may come more than once
	for _, b := range blocks {
		total += int64(len(b))
	}
	switch {
	case total > int64(limits.MaxBytes):
		return Struct{}, TooLong(d, total, limits.MaxBytes)
	case flags&Compact != 0:
		return parseWith(nil, d, slices.Concat(blocks...), flags, limits)
	}
	m := newMessage(d, flags, limits)
	p := m.parser()
	for _, b := range blocks {
		if len(b) > 0 {
			p.Windows = append(p.Windows, parse.Window{Chunk: chain.Chunk{Mem: b}})
		}
	}
	return m.parseWindows(p, int(total))
}

// ParseEncoded parses pieces of wire bytes that a message of type d has had, of any size, into a
// message of a call. It refers to the pieces and never changes them.
func ParseEncoded(d *schema.Struct, pieces [][]byte) (*Message, error) {
	s, err := ParseBlocks(d, pieces, OfCall, Limits{MaxBytes: chain.MaxSize, MaxIndex: math.MaxInt})
	return s.m, err
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
	kept := false
	defer func() {
		if !kept { // also if r panics
			m.Release()
		}
	}()
	at, mem, err := m.buf.ReadN(r, n)
	switch {
	case err != nil:
		return Struct{}, err
	case flags&Compact != 0: // m has only held the bytes
		return parseWith(nil, d, mem, flags, limits)
	}
	kept = true
	m.buf.SetRoot(at, at+uint32(n))
	return m.parseWhole()
}

// ParseChunk checks that a chunk of received bytes is exactly one struct of the type and returns
// its handle. The message takes the chunk over, also when parsing fails: it may store into it. Of
// the flags, Lazy holds only for a chunk of one piece. With Recycle the chunk may be of recycled
// memory, which goes back on Release. MaxBytes is chain.MaxSize if the limits have none: the
// caller has bounded what it received.
func ParseChunk(d *schema.Struct, c memory.Chunk, l Limits, flags Flags) (Struct, error) {
	limits := usualLimits
	if l != (Limits{}) {
		flags, limits = flags|limited, l.orElse(usualLimits)
	}
	most := chain.MaxSize
	if l.MaxBytes > 0 {
		most = limits.MaxBytes
	}
	m := newMessage(d, (flags | Own).settled(limits), limits)
	return m.parseReceived(c, most)
}

// ParseOwn parses a chunk of received bytes, which the message takes over, also when that fails.
// Of the flags, Lazy holds only for a chunk of one piece, and Compact is only for one.
func ParseOwn(d *schema.Struct, c memory.Chunk, flags Flags, limits Limits) (Struct, error) {
	if flags&Compact != 0 { // no message has compact bytes
		defer c.Release()
		return parseWith(nil, d, c.Mem, flags, limits)
	}
	m := newMessage(d, flags, limits)
	return m.parseReceived(c, chain.MaxSize)
}

// parseReceived parses the bytes of c, at most so many. The message takes c over.
func (m *Message) parseReceived(c memory.Chunk, most int) (Struct, error) {
	m.buf.Receive(c)
	switch n := m.buf.Len(); {
	case n > most:
		d := m.desc
		m.release()
		return Struct{}, TooLong(d, int64(n), most)
	case m.buf.Sealed():
		return m.parseWhole()
	}
	m.flags &^= Lazy
	p := m.parser()
	for piece := &c; piece != nil; piece = piece.Next() {
		if len(piece.Mem) > 0 {
			p.Windows = append(p.Windows, parse.Window{Chunk: *piece, Received: true})
		}
	}
	return m.parseWindows(p, m.buf.Len())
}

// At most maxWindows blocks are parsed where they lie: each of them, and each value that crosses
// into the next one, takes positions. More blocks are copied together.
const maxWindows = 128

// parseWindows parses the n bytes in the windows of p where they lie. It copies them together if
// they would take too many positions there, or with an option that is for one piece.
func (m *Message) parseWindows(p *parse.Parser, n int) (Struct, error) {
	windows := p.Windows
	if len(windows) <= maxWindows && m.flags&(Lazy|ByIndex) == 0 {
		m.resetParser(n)
		p.Windows, p.After = windows, n
		i := p.Enter()
		if i >= 0 {
			i = m.indexFrom(p)
		}
		if i >= 0 || p.Err.Err != parse.ErrScattered {
			return m.parsed(p, i)
		}
		m.unindex()
	}
	m.buf.Join(func(yield func([]byte) bool) {
		for i := 0; i < len(windows) && yield(windows[i].Mem); i++ {
		}
	}, n)
	p.DropWindows()
	return m.parseWhole()
}

// ParsePrefix parses the struct that b begins with, and returns how many bytes it has. The message
// has a copy of these in memory of its own.
func ParsePrefix(d *schema.Struct, b []byte) (Struct, int, error) {
	var scan parse.Scanner
	n, need, err := scan.Scan(b)
	if err == nil && need > 0 {
		n = len(b) // parsing finds missing fields
	}
	if err != nil {
		var bad *wire.Error
		if errors.As(err, &bad) {
			bad.Path = d.Name()
		}
		return Struct{}, 0, err
	}
	c := memory.NewChunk(n, false)
	copy(c.Mem, b[:n])
	s, err := ParseChunk(d, c, Limits{}, 0)
	return s, n, err
}

// ParseBegun parses b, a struct in which required fields may be missing. The message takes b over.
func ParseBegun(d *schema.Struct, b []byte, flags Flags, limits Limits) (Struct, error) {
	m := expecting(nil, d, flags&^(Lazy|ByIndex|RequireIndex), limits)
	p := m.parserOf(b, m.buf.Refer(b, flags&Recycle != 0, true))
	p.Trusted = true
	return m.parsed(p, m.indexFrom(p))
}

// Reparse returns the root of a message of type d with these wire bytes, which it takes over. They
// were put together from bytes of messages and may have any size. Required fields may be missing,
// as in a message parsed with Lazy. It returns the zero handle if structs are nested deeper than
// this.
func Reparse(d *schema.Struct, data []byte, depth int) Struct {
	s, err := ParseBegun(d, data, limited, Limits{MaxDepth: depth}.orElse(Limits{chain.MaxSize, 0, math.MaxInt}))
	if err != nil && !errors.Is(err, wire.ErrLimit) {
		panic("nocopy: internal error: " + err.Error())
	}
	return s
}

// EndChange implements index.Owner.
func (m *owner) EndChange() { m.buf.EndChange() }

// MostWords implements index.Owner. If the message is read by its own index, its index may have
// twice as many words as the limit, where so many are enough.
func (m *owner) MostWords(n int) int {
	if m.pending&byIndex != 0 && n <= int(m.landing.mostUsed) {
		return int(m.landing.mostUsed)
	}
	return index.MaxWords
}

// Parser implements parse.Host.
func (m *owner) Parser(b []byte, base uint32) *parse.Parser { return (*Message)(m).parserOf(b, base) }

// NoteIndex implements parse.Host.
func (m *owner) NoteIndex(e uint32) {
	m.needsBeforeChange = true
	if e == m.root {
		m.pending |= carriesIndex
	} else {
		m.pending |= innerIndex
	}
}

// NoteDuplicate implements parse.Host.
func (m *owner) NoteDuplicate(t wire.Type, word uint32) (at, end uint32) {
	at, end = (*Message)(m).valuePlace(t, index.Word(word))
	at -= wire.FieldHeader
	(*Message)(m).ownSeldom()
	m.duplicates = append(m.duplicates, duplicate{at, end})
	m.ix.More = true
	return at, end
}

// EndByIndex implements parse.Host: it looks the end of a value up in the index that the message
// carries.
func (m *owner) EndByIndex(pos, header uint32, f *schema.Field) (end uint32, ok bool) {
	l := m.landing
	at, next := int(pos-l.base), l.x.Offset(l.next)
	if next != at {
		return 0, next > at // else it is in a value that has no entry
	}
	entry := l.x.Entry(l.next)
	fits := f != nil && isOf(f, entry)
	if typ, _ := wireindex.EntryField(entry); !fits && typ != header {
		return 0, false
	}
	to := int(wireindex.Number(entry[wireindex.EntryEndAt:]))
	if to <= at {
		return 0, false
	}
	l.next = l.x.Seek(l.next+1, to)
	if !fits && f != nil { // of another type than the IDL's
		return 0, true
	}
	l.passedOver += to - at
	return l.base + uint32(to), true
}

// Package compact converts messages in the compact protocol once to Thrift Binary, in memory of
// its own, before they are parsed. Afterwards they are like any other.

// parseCompact parses the message's bytes, which are in the compact protocol and in one piece. The
// message then has the Thrift Binary that they are converted to instead.
func (m *Message) parseCompact() (Struct, error) {
	_, b := m.buf.Whole()
	m.desc.Type().MustBeDefined()
	r := compact.TakeReader(len(b))
	defer r.Free()
	r.Reset(m.desc.Type(), compact.LimitsFor(m.limits.MaxBytes, m.limits.MaxDepth))
	end, status := r.Convert(b, 0, true)
	if status == compact.Done && end == len(b) {
		return m.parseConverted(r, b)
	}
	var err error
	if status == compact.Done {
		bad := &wire.Error{Offset: end, Path: m.desc.Name(), Err: wire.ErrTrailing}
		formats.ExplainCompact(bad, b, m.desc)
		err = bad
	} else {
		err = refuseCompact(r, m.desc, b, m.limits)
	}
	m.release()
	return Struct{}, err
}

// refuseCompact returns the error in b, which r could not read.
func refuseCompact(r *compact.Reader, d *schema.Struct, b []byte, limits Limits) error {
	if _, err := r.Fault(); err == compact.ErrDepth { // the parser knows where it is too deep
		if _, bad := newMessage(d, limited, limits).parseConverted(r, b); errors.Is(bad, wire.ErrLimit) {
			return bad
		}
	}
	return compactFault(r, d, b, limits)
}

// compactFault returns the error that r has found in its input, b.
func compactFault(r *compact.Reader, d *schema.Struct, b []byte, limits Limits) error {
	err := r.Error(d.Name(), limits.MaxDepth)
	switch {
	case err.Err == compact.ErrDepth:
		err.Err = parse.DepthError(limits.MaxDepth)
	case r.Offset(0) == 0: // b is the beginning of the struct
		formats.ExplainCompact(err, b, d)
	}
	return err
}

// parseConverted parses the Thrift Binary that r has made of b, instead of what the message had.
func (m *Message) parseConverted(r *compact.Reader, b []byte) (Struct, error) {
	d, limits := m.desc, m.limits
	m.flags &^= Compact
	m.buf.Reset(m.flags&Recycle != 0)
	at, mem := m.buf.Place(r.Len())
	copy(mem, r.Bytes())
	m.buf.SetRoot(at, at+uint32(len(mem)))
	s, err := m.parseBinary()
	var bad *wire.Error
	if errors.As(err, &bad) {
		bad.Offset = r.OffsetIn(b, d.Type(), compact.LimitsFor(limits.MaxBytes, limits.MaxDepth), bad.Offset)
	}
	return s, err
}

// ReceiveCompact receives a struct in the compact protocol from src and parses it. It returns the
// root and how many bytes the struct had. It reads at most ahead bytes more, which stay in in.
func ReceiveCompact(d *schema.Struct, in *memory.Receiver, src io.Reader, ahead int, flags Flags, limits Limits) (Struct, int, error) {
	d.Type().MustBeDefined()
	if err := in.FillTo(src, 1, ahead); err != nil {
		return Struct{}, 0, err
	}
	r := compact.TakeReader(len(in.Bytes()))
	defer r.Free()
	r.Reset(d.Type(), compact.LimitsFor(limits.MaxBytes, limits.MaxDepth))
	status, err := r.Receive(in, compact.Keep, func(n int) error { // its error needs the bytes
		if n > limits.MaxBytes {
			return TooLong(d, int64(n), limits.MaxBytes)
		}
		return in.FillTo(src, n, ahead)
	})
	switch {
	case err != nil:
		return Struct{}, 0, err
	case status == compact.Failed:
		return Struct{}, 0, refuseCompact(r, d, in.Bytes(), limits)
	}
	n := int(r.Passed())
	c := in.Take(n)
	defer c.Release()
	s, err := newMessage(d, flags, limits).parseConverted(r, c.Mem)
	return s, n, err
}
