package engine

import (
	"errors"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Parse bounds how many structs may be nested. Building is bounded likewise, when the message is
// finished: by then every struct is in its place.

// maxNesting is how many structs may be nested in the message when it is finished: as many as
// Parse accepts by default, or more if it was made with such Limits.
func (m *Message) maxNesting() int { return max(m.limits.MaxDepth, parse.MaxDepth) }

// checkNesting returns an error if structs are nested too deeply in the message. All of the
// message is complete. Only types that may contain themselves need a look, and only when entries
// were added since the last one.
func (m *Message) checkNesting() error {
	if m.ix.Used == m.ix.Levelled || m.desc.Nesting() <= m.maxNesting() {
		return nil
	}
	if most := m.maxNesting(); m.exceeds(m.desc.Type(), m.root, most) {
		return &wire.Error{Path: m.desc.Name(), Err: parse.DepthError(most)}
	}
	m.ix.Levelled = m.ix.Used
	return nil
}

// exceeds reports whether more than left structs are nested in the value of entry e.
func (m *Message) exceeds(t *schema.Type, e uint32, left int) bool {
	switch {
	case t.Nesting() <= left:
		return false
	case t.Kind() == schema.Record:
		return left == 0 || m.fieldExceeds(t.Struct(), e, left-1)
	}
	for i := range m.ix.Words[e+listCount] {
		if t.Kind() == schema.List {
			if m.exceeds(t.Elem(), m.elementEntry(e, t.Elem(), i), left) {
				return true
			}
			continue
		}
		pair := m.ix.Words[m.ix.Words[e+listElems]+i*pairWords:][:pairWords]
		if key, value := pair[pairKey], pair[pairValue]; key != 0 && // it was not deleted
			(t.Key().Kind() >= schema.Record && m.exceeds(t.Key(), key, left) || t.Elem().Kind() >= schema.Record && m.exceeds(t.Elem(), value, left)) {
			return true
		}
	}
	return false
}

// fieldExceeds reports whether more than left structs are nested in a field of the struct of entry
// e.
func (m *Message) fieldExceeds(d *schema.Struct, e uint32, left int) bool {
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		f := &d.Fields()[i]
		word := m.ix.At(e, f.Ref())
		if word == 0 || f.Kind() < schema.Record || f.Type.Nesting() <= left {
			continue
		}
		if p := word &^ index.NotIndexed; p != word {
			if _, err := parse.Skip(m.buf.At(p), 0, f.Type.Wire(), parse.BudgetOf(left), 1); err == nil {
				continue
			}
			word = m.indexLazily(f, e)
		}
		if m.exceeds(f.Type, word, left) {
			return true
		}
	}
	return false
}

// toSend links at most so many pieces, of messages of at most so many bytes. Each piece takes up
// to 2 MiB of positions, and there are 2 GiB of them. It copies the rest.
const (
	mostLinks  = 500
	mostLinked = 512 << 20
)

// toSend returns a message with the wire bytes that the message of s has now, and room for n bytes
// before them. s is the root, and finished. The message can be sent and released, and nothing
// else: it has no index. Pieces of 4 KiB and more are linked. Smaller pieces are copied, and so is
// memory of the caller's. Neither message sees changes of the other, and any number of goroutines
// may call toSend of one message.
func (s Struct) toSend(flags Flags, limits Limits, n int) *Message {
	from := s.m
	r := from.rangeOf(from.root, from.desc.Type(), chain.Range{})
	m := takeParsed(from.desc, flags, limits)
	m.buf.Begin(flags&Recycle != 0, n)
	m.root = m.ix.Alloc(from.desc.Words())
	m.ix.Levelled = m.ix.Used // how deep structs are nested was found out when s was finished
	if from.pending&(carriesIndex|placedIndex) != 0 {
		m.guarded, m.pending = true, carriesIndex
	}
	if n := r.Len(); n < ReferSize || n > mostLinked {
		_, b := m.buf.Extend(r.Len())
		r.AppendTo(b[:0])
		m.buf.Close()
		return m
	}
	m.buf.Close()
	links := 0
	r.Pieces(func(at chain.Pos, mem []byte) bool {
		if len(mem) >= ReferSize && links < mostLinks && !from.buf.Foreign(at) {
			links++
			p := m.buf.Share(&from.buf, at, len(mem))
			m.buf.AddRoot(p, p+chain.Pos(len(mem)))
			return true
		}
		p, b := m.buf.Place(len(mem))
		copy(b, mem)
		m.buf.AddRoot(p, p+chain.Pos(len(mem)))
		return true
	})
	return m
}

// This file is for packages that put messages into the buffers of other libraries.

// AppendPieces appends the parts of the message's wire bytes that are contiguous in memory, in
// wire order. The message has been finished; its memory is not used again when it is released,
// unless it recycles.
func (m *Message) AppendPieces(dst [][]byte) [][]byte {
	m.Finish()
	m.buf.Lend()
	m.buf.Freeze()
	return m.buf.AppendPieces(dst)
}

// Detach finishes the message and returns its wire bytes, in pieces that do not change after
// Release, which must come next. Pieces of less than below bytes are copied together, and so are
// pieces of the message's own memory of less than long bytes. Other pieces are referred to.
func (m *Message) Detach(below, long int) [][]byte {
	m.Finish()
	return m.buf.Detach(below, long)
}

// WireLen returns the number of bytes that AppendStruct appends. It finishes the message;
// therefore any number of goroutines may call it and AppendStruct. d describes s.
func (s Struct) WireLen(d *schema.Struct) int {
	s = s.orAbsent()
	s.alive()
	if s.m.isEmpty() {
		return len(schema.AppendZero(nil, d.Type()))
	}
	if err := s.Sendable(); err != nil {
		panic("nocopy: message can't be finished: " + err.Error())
	}
	if s.m.pending != 0 { // AppendStruct may leave an index out
		return len(s.AppendStruct(nil, d))
	}
	if uint32(s.k) == s.m.root && s.m.desc == d {
		return s.m.buf.Len()
	}
	return s.m.rangeOf(s.entry(), d.Type(), chain.Range{}).Len()
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
	c := chain.NewChunk(n, false)
	copy(c.Mem, b[:n])
	s, err := ParseChunk(d, c, Limits{}, false, false)
	return s, n, err
}

// ParseEncoded parses pieces of wire bytes that a message of type d has had, of any size, into a
// held message. It refers to the pieces and never changes them.
func ParseEncoded(d *schema.Struct, pieces [][]byte) (*Message, error) {
	s, err := parseBlocks(d, pieces, held|limited, Limits{chain.MaxSize, parse.MaxDepth, math.MaxInt})
	return s.m, err
}

// Reparse returns the root of a message of type d with these wire bytes, which it takes over. They
// were put together from bytes of messages and may have any size. Required fields may be missing,
// as in a message parsed with Lazy. It returns the zero handle if structs are nested deeper than
// this.
func Reparse(d *schema.Struct, data []byte, depth int) Struct {
	m := takeParsed(d, limited, Limits{MaxDepth: depth}.orElse(Limits{chain.MaxSize, 0, math.MaxInt}))
	p := m.parserOf(data, m.buf.Refer(data, false, true))
	p.Trusted = true
	s, err := m.parsed(p, m.indexFrom(p))
	if err != nil && !errors.Is(err, wire.ErrLimit) {
		panic("nocopy: internal error: " + err.Error())
	}
	return s
}

// Recycles reports whether s is a handle in a message whose memory is recycled.
func Recycles(s Struct) bool { return s.m != nil && s.m.flags&Recycle != 0 }

// Buffer returns what the message's bytes are in.
func Buffer(m *Message) *chain.Buffer { return &m.buf }
