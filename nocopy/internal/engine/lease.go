package engine

import (
	"errors"
	"runtime"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// ParseInto parses b, a struct that d describes, into m, a message of the program's own, and
// returns its root. The previous contents of m end.
func ParseInto(d *schema.Struct, m *Message, b []byte, opts []Option) (Struct, error) {
	if m == nil || m.own != m {
		m.adopt()
	}
	if m.ix.Used != 0 {
		m.end()
	}
	if len(opts) > 0 || unusual(d, b, 0) {
		return m.parseWith(d, b, opts)
	}
	return m.parse(d, b, 0)
}

// parseWith parses b, a struct that d describes, into m with any options, and returns its root.
func (m *Message) parseWith(d *schema.Struct, b []byte, opts []Option) (Struct, error) {
	flags := flagsOf(opts)
	if !unusual(d, b, flags) {
		return m.parse(d, b, flags)
	}
	flags, limits := ConfigOf(opts)
	if len(b) > limits.MaxBytes {
		return Struct{}, TooLong(d, int64(len(b)), limits.MaxBytes)
	}
	m.expect(d, flags, limits)
	if flags&Compact != 0 {
		m.buf.Reset(flags&Recycle != 0)
		return m.parseCompact(b)
	}
	return m.parseFrom(b, m.buf.Refer(b, flags&Recycle != 0, flags&Own != 0))
}

// NewInto begins a struct that d describes in m, a message of the program's own, and returns its
// root. The previous contents of m end.
func NewInto(d *schema.Struct, m *Message, opts []Option) Struct {
	m.Reset()
	flags := builtFlags(opts)
	s := m.begin(d, flags, headroom)
	if flags&limited != 0 {
		m.limit(limitsOf(opts))
	}
	return s
}

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

// claimCopy returns what make makes of s, owned by the caller. The error tells why there is none:
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

// NewHeld is like NewWithRoom, but makes a held message, to which the limits apply. Its Root is
// the only handle.
func NewHeld(d *schema.Struct, n int, l Limits, recycle bool) *Message {
	checkRoom(n)
	m := beginMessage(d, held|flagIf(recycle, Recycle), n).m
	if l != (Limits{}) {
		m.flags |= limited
		m.limit(l.orElse(usualLimits))
	}
	return m
}

// ParseHeld is like ParseChunk, but makes a held message.
func ParseHeld(d *schema.Struct, c chain.Chunk, l Limits, recycle, lazy bool) (*Message, error) {
	s, err := parseChunk(d, c, l, Own|held|flagIf(recycle, Recycle)|flagIf(lazy, Lazy))
	return s.m, err
}

// CopyHeld returns a held message with the present contents of v and room for n bytes before them:
// it can be sent, and nothing else. v may be a part of any message. CopyHeld finishes it and
// changes nothing else. The error tells why v can't be sent as a struct of type d.
func CopyHeld(d *schema.Struct, v Struct, n int, l Limits, recycle bool) (*Message, error) {
	checkRoom(n)
	if err := v.Sendable(); err != nil {
		return nil, err
	}
	limits := l.orElse(usualLimits)
	if v.Is(d) && v.m.maxNesting() <= limits.MaxDepth {
		return v.toSend(held|limited|flagIf(recycle, Recycle), limits, n), nil
	}
	if v.gone() {
		return nil, errAbsent
	}
	r := v.m.rangeOf(v.entry(), d.Type(), chain.Range{})
	m := takeParsed(d, held|limited|flagIf(recycle, Recycle), limits)
	m.buf.Begin(recycle, n)
	p, b := m.buf.Extend(r.Len())
	r.AppendTo(b[:0])
	m.buf.Close()
	m.beginTrusted(p)
	m.p.B, m.p.Trusted, m.p.MaxDepth = b, false, m.limits.MaxDepth // the bytes may be of another type
	if _, err := m.parsed(m.p, m.indexFrom(m.p)); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		m.EndHeld()
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
	return s.m.rangeOf(s.entry(), d.Type(), chain.Range{}).Len()
}

// IsDisowned reports whether Release was called for a held message.
func (m *Message) IsDisowned() bool { return m.noted.Load()&disowned != 0 }

// parse.Root indexes the root of a clone, whose bytes are at position p, and finishes the
// message.
func (m *Message) indexRoot(d *schema.Struct, p uint32) {
	m.beginTrusted(p)
	m.p.EndTrusted(m.p.Structure(d, m.root, 0))
	m.Finish()
}

// validInner reports whether the bytes of the struct of entry e, which is not the root, are a
// valid struct of type d. Getters may have passed over the values in it by the index.
func (m *Message) validInner(e uint32, d *schema.Struct) bool {
	l := m.landing
	from, to := m.extent(e, d.Type())
	b := l.b[from-l.base : to-l.base]
	limits := m.limits
	limits.MaxIndex = 4 * int(l.maxIndex)
	plain := takeParsed(d, m.flags&ValidUTF8|limited, limits)
	s, err := plain.parseFrom(b, plain.buf.Refer(b, false, false))
	if err != nil {
		l.misfit(m.desc, int(from-l.base))
		return false
	}
	s.m.Release()
	return true
}

// OwnPiece finishes the message and returns its place in the memory that NewIn was given: n bytes
// from byte at, and the owner of that memory. It returns nil if part of the message is elsewhere.
func OwnPiece(m *Message) (owner chain.Owner, at, n int) {
	m.Finish()
	return m.buf.OwnPiece()
}

// Error names the type, if it is still known. The message may belong to another goroutine by now.
//
//go:norace
func (s staleUse) Error() string {
	if s.m == nil { // the zero handle of a list, in which At looks for nothing else
		return "nocopy: index out of range with length 0"
	}
	d, since, gen := s.m.past, uint64(s.m.since), s.k>>32
	if now := s.m.gen; d == nil || gen < since || gen >= now {
		return panicStale + findWhere
	}
	what := d.Name()
	if uint32(s.k) != index.First {
		what = "part of " + what
	}
	return s.m.staleText(what, gen)
}

// RuntimeError makes it a runtime.Error, as an IndexError is.
func (staleUse) RuntimeError() {}

var _ runtime.Error = staleUse{}
