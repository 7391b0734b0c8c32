package engine

import (
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// This file gives a message's bytes away: to writers, to the buffers of other libraries, and to
// package rpc, which holds messages of programs while they are sent, and copies those that are
// still used.

// toSend returns a message with the wire bytes that the message of s has now, and room for n bytes
// before them. s is the root, and finished. The message can be sent and released, and nothing
// else: it has no index. Pieces of 4 KiB and more are linked. Smaller pieces are copied, and so is
// memory of the caller. Neither message sees changes of the other, and any number of goroutines
// may call toSend of one message.
func (s Struct) toSend(flags Flags, limits Limits, n int) *Message {
	from := s.m
	r := from.rangeOf(from.root, from.desc.Type())
	m := expecting(nil, from.desc, flags, limits)
	m.buf.Begin(flags&Recycle != 0, n)
	m.root = m.ix.Alloc(from.desc.Words())
	m.ix.Levelled = m.ix.Used // how deep structs are nested was found out when s was finished
	if from.pending&(carriesIndex|placedIndex) != 0 {
		m.needsBeforeChange, m.pending = true, carriesIndex
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
		if len(mem) >= ReferSize && links < MostLinks && !from.buf.Foreign(at) {
			links++
			p := m.buf.ShareFrom(&from.buf.Space, at, len(mem))
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

// Recycles reports whether s is a handle in a message whose memory is recycled.
func Recycles(s Struct) bool { return s.m != nil && s.m.flags&Recycle != 0 }

// Buffer returns what the message's bytes are in.
func Buffer(m *Message) *chain.Buffer { return &m.buf }

// AddTo adds the message's wire bytes to a batch, having finished it. With frame their length
// comes first. The message must not be changed or released before the batch is written.
func (m *Message) AddTo(b *chain.Batch, frame bool) {
	m.Finish()
	b.Add(&m.buf, frame)
}

// Len finishes the message and returns its length on the wire, in bytes. After a change it goes
// through all pieces of the message: don't call it after each of many changes.
func (m *Message) Len() int {
	m.Finish()
	return m.buf.Len()
}

// Bytes finishes the message and returns the wire bytes of the whole message.
func (m *Message) Bytes() []byte {
	m.Finish()
	if b, ok := m.buf.Bytes(); ok {
		m.buf.Lend()
		m.buf.Freeze()
		return b
	}
	return m.buf.AppendTo(make([]byte, 0, m.buf.Len()))
}

// AppendTo finishes the message and appends a copy of its wire bytes to dst.
func (m *Message) AppendTo(dst []byte) []byte {
	m.Finish()
	return m.buf.AppendTo(dst)
}

// WriteTo finishes the message and writes its wire bytes to w, by writev if w is a connection that
// supports it.
func (m *Message) WriteTo(w io.Writer) (int64, error) {
	if w == nil {
		panic("nocopy: WriteTo of a nil Writer")
	}
	if err := m.Check(); err != nil {
		return 0, err
	}
	return m.buf.WriteTo(w)
}

// WriteFrame writes the message as a frame of Thrift's framed transport: its length as a
// big-endian i32, then its bytes.
func (m *Message) WriteFrame(w io.Writer) (linkbuf.Stats, error) {
	if w == nil {
		panic("nocopy: WriteFrame of a nil Writer")
	}
	if err := m.Check(); err != nil {
		return linkbuf.Stats{}, err
	}
	stats, err := m.buf.WriteFrame(w)
	return linkbuf.Stats(stats), err
}

// Prepend puts n bytes before the message, in the room that NewIn left, and returns them to
// be filled; nil if there is no such room. They belong to the wire bytes from then on.
func (m *Message) Prepend(n int) []byte {
	checkRoom(n)
	return m.buf.Prepend(n)
}

// Nodes returns the number of values that are not stored in line: values that were changed after
// they were complete, and large ones that are referred to.
func (m *Message) Nodes() int { return m.buf.NodeCount() }

// claims returns the value of Message.claims for the handle's generation with these flags.
func (s Struct) claims(flags uint64) uint64 { return s.k>>32<<32 | flags }

// Offer makes the message available to Claim. s is its root.
func (s Struct) Offer() {
	s.alive()
	s.m.claims.Store(s.claims(isOffered))
}

// Claim makes the caller the owner of the message and reports whether it could. It succeeds if the
// message was offered and can be finished, s is its root and d its type. If several callers try,
// one succeeds. A claimed message is finished.
func (s Struct) Claim(d *schema.Struct) bool {
	if s.m == nil || !s.m.claims.CompareAndSwap(s.claims(isOffered), s.claims(isClaiming)) {
		return false
	}
	if !s.m.isRoot(s.k, d) || s.m.Check() != nil {
		s.m.claims.Store(s.claims(isOffered))
		return false
	}
	s.m.claims.Store(s.claims(isOwned))
	return true
}

// Retain keeps the message until Drop, and reports whether it could. It can as long as the message
// has an owner. It looks at nothing else, which makes it safe however stale s is.
func (s Struct) Retain() bool {
	if s.m == nil {
		return false
	}
	for {
		h := s.m.claims.Load()
		if h&^retainCount != s.claims(isOwned) {
			return false
		}
		if s.m.claims.CompareAndSwap(h, h+1) {
			return true
		}
	}
}

// Drop ends what Retain began. After the owner's Release, the last Drop releases the message.
func (s Struct) Drop() {
	if s.m.claims.Add(^uint64(0)) == s.claims(0) {
		s.m.release()
	}
}

// ClaimCopy returns the root of a copy that the caller owns. It returns an error if s can't be
// sent, or if Is reports false for s and d. Any number of goroutines may copy one message. A copy
// links the bytes if they are many, unless some of them are in the caller's memory.
func (s Struct) ClaimCopy(d *schema.Struct) (Struct, error) {
	return s.claimCopy(d, Struct.linkOrClone)
}

// ClaimToSend returns the root of a message with the same contents. The caller owns it and may
// only send and release it. Pieces of 4 KiB and more are not copied. The errors are the same as
// ClaimCopy's.
func (s Struct) ClaimToSend(d *schema.Struct) (Struct, error) {
	return s.claimCopy(d, func(s Struct, _ *schema.Struct) Struct {
		return Struct(s.toSend(s.m.flags&Recycle|limited, s.m.limits, 0).Root())
	})
}

// claimCopy returns what make makes of s, owned by the caller. The error says why there is none:
// s is not the root of a message of type d, was released, or can't be sent. The message is
// retained meanwhile.
func (s Struct) claimCopy(d *schema.Struct, make func(Struct, *schema.Struct) Struct) (Struct, error) {
	switch {
	case s.m == nil:
		return Struct{}, errNotWhole
	case s.Retain(): // or its owner might release it meanwhile
		defer s.Drop()
	case s.m.claims.Load()>>32 == s.k>>32 && s.m.claims.Load() != s.claims(isOffered):
		return Struct{}, errNotWhole // its owner has released it, or has only just become it
	}
	if !s.Is(d) {
		return Struct{}, errNotWhole
	}
	if err := s.Sendable(); err != nil {
		return Struct{}, err
	}
	c := make(s, d)
	c.Offer()
	c.Claim(d)
	return c, nil
}

var errNotWhole = errors.New("not a whole message of this type, or released")

// End releases a message that was offered or claimed, unless it was released already. If it is
// retained, the last Drop releases it.
func (s Struct) End() {
	if h := s.m.claims.Load(); h == s.claims(isOffered) || h&^retainCount == s.claims(isOwned) {
		s.m.Release()
	}
}

// Is reports whether s is the root of an unreleased message of type d. It is false for the handle
// of an absent struct. For a message that was offered, Is looks only at its claims, since the
// message may already be used for another one.
func (s Struct) Is(d *schema.Struct) bool {
	if s.m == nil {
		return false
	}
	h := s.m.claims.Load()
	switch age := int32(uint32(h>>32) - uint32(s.k>>32)); {
	case h == 0 || age < 0: // it was not offered
	case age > 0, h&(isOffered|isOwned) == 0:
		return false
	}
	return s.k>>32 == s.m.gen && s.m.isRoot(s.k, d)
}

// Freeze keeps the message's bytes as they are while they are being written. Later setters write
// elsewhere. Other goroutines may read the message meanwhile.
func (s Struct) Freeze() { s.m.buf.Freeze() }

// ParseForCall is like ParseChunk, but makes a message of a call.
func ParseForCall(d *schema.Struct, c memory.Chunk, l Limits, flags Flags) (*Message, error) {
	s, err := ParseChunk(d, c, l, flags|OfCall)
	return s.m, err
}

// CopyForCall returns a message of a call with the present contents of v and room for n bytes
// before them: it can be sent, and nothing else. v may be a part of any message. CopyForCall
// finishes it and changes nothing else. The error says why v can't be sent as a struct of type d.
func CopyForCall(d *schema.Struct, v Struct, n int, l Limits, flags Flags) (*Message, error) {
	checkRoom(n)
	if err := v.Sendable(); err != nil {
		return nil, err
	}
	flags |= OfCall | limited
	limits := l.orElse(usualLimits)
	if v.Is(d) && v.m.maxNesting() <= limits.MaxDepth {
		return v.toSend(flags, limits, n), nil
	}
	if v.gone() {
		return nil, errAbsent
	}
	r := v.m.rangeOf(v.entry(), d.Type())
	m := expecting(nil, d, flags, limits)
	m.buf.Begin(flags&Recycle != 0, n)
	p, b := m.buf.Extend(r.Len())
	r.AppendTo(b[:0])
	m.buf.Close()
	m.beginTrusted(p)
	m.p.B, m.p.Trusted, m.p.MaxDepth = b, false, m.limits.MaxDepth // the bytes may be of another type
	if _, err := m.parsed(m.p, m.indexFrom(m.p)); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		m.EndOfCall()
		return nil, err
	}
	return m, nil
}

// finishing is held while a message is finished that several goroutines may be about to send.
var finishing sync.Mutex

var errAbsent = errors.New("absent struct")

// Sendable finishes the message of s, before any number of goroutines send it. It returns an error
// if the message can't be sent: s is absent, the message was released, structs are nested too
// deeply (see Message.Check), or it was parsed with ByIndex and is invalid.
func (s Struct) Sendable() error {
	switch {
	case s.m == nil || s.m.absent:
		return errAbsent
	case s.k>>32 != s.m.gen:
		return errors.New("struct used after Release")
	}
	finishing.Lock()
	defer finishing.Unlock()
	if s.m.pending&byIndex != 0 {
		if err := s.m.Index(); err != nil {
			return err
		}
	}
	return s.m.Check()
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
	return s.m.rangeOf(s.entry(), d.Type()).Len()
}

// IsDisowned reports whether Release was called for a message of a call.
func (m *Message) IsDisowned() bool { return m.noted.Load()&disowned != 0 }

// OwnPiece finishes the message and returns its place in the memory that NewIn was given: n bytes
// from byte at, and the owner of that memory. It returns nil if part of the message is elsewhere.
func OwnPiece(m *Message) (owner memory.Owner, at, n int) {
	m.Finish()
	return m.buf.OwnPiece()
}

// panicStale begins the text if the type is no longer known.
const panicStale = "nocopy: handle used after Release"

// Error names the type, if it is still known. The message may belong to another goroutine by now.
//
//go:norace
func (s staleUse) Error() string {
	if s.m == nil { // the zero handle of a list, in which At looks for nothing else
		return "nocopy: index out of range with length 0"
	}
	d, since, gen := s.m.past, uint64(s.m.since), s.k>>32
	if now := s.m.gen; d == nil || gen < since || gen >= now {
		return panicStale + findWhere()
	}
	what := d.GoName()
	if uint32(s.k) != index.First {
		what = "part of " + what
	}
	return s.m.staleText(what, gen)
}

// RuntimeError makes it a runtime.Error, as an IndexError is.
func (staleUse) RuntimeError() {}

var _ runtime.Error = staleUse{}
