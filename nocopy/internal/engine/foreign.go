package engine

import (
	"errors"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

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

// Detach returns the message's wire bytes, having finished it, in pieces that stay as they are
// after Release, which must come next. Those of less than below bytes are copied together, as are
// those of the message's own memory of less than long; others are referred to.
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
	var scan Scanner
	n, need, err := scan.Scan(b)
	if err == nil && need > 0 {
		n = len(b) // parsing tells what is missing
	}
	if err != nil {
		var bad *Error
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

// ParseEncoded parses pieces of wire bytes that a message of type d has had, whatever its size,
// into a held message. It refers to the pieces and never changes them.
func ParseEncoded(d *schema.Struct, pieces [][]byte) (*Message, error) {
	s, err := parseBlocks(d, pieces, held|limited, Limits{chain.MaxSize, defaultMaxDepth, math.MaxInt})
	return s.m, err
}

// Reparse returns the root of a message of type d with these wire bytes, which it takes over. They
// were put together from those of messages and may have any size. Required fields may be missing,
// as in a message parsed with Lazy. It returns the zero handle if structs are nested deeper than
// this.
func Reparse(d *schema.Struct, wire []byte, depth int) Struct {
	m := takeParsed(d, limited, Limits{MaxDepth: depth}.orElse(Limits{chain.MaxSize, 0, math.MaxInt}))
	base, p := m.buf.Refer(wire, false, true), m.parser()
	p.reset(len(wire))
	p.b, p.base, p.trusted = wire, base, true
	s, err := m.parsed(p, m.indexFrom(p))
	if err != nil && !errors.Is(err, ErrLimit) {
		panic("nocopy: internal error: " + err.Error())
	}
	return s
}

// Recycles reports whether s is a handle in a message whose memory is recycled.
func Recycles(s Struct) bool { return s.m != nil && s.m.flags&Recycle != 0 }
